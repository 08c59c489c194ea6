/* SPDX-License-Identifier: BSD-2-Clause */
/* This gateway as the source of a channel: set-up, from the scanned sources to the first record. */
#include "core/gateway_source_impl.h"

#define GATHER_POLL GMC_MS(5) /* path MTUs settle without an event */
#define PAYLOAD_UNKNOWN 1452u /* of UDP over IPv6 over Ethernet */

void gw_source_read_paths(struct gmc_gateway *gw, struct gwchannel *ch, enum gmc_store_kind kind)
{
    struct gmc_store_op *op;
    gw_store(gw, ch, kind, &op);
    op->paths = (const char *const *)ch->src->paths;
    op->path_count = ch->src->path_count;
}

void gw_source_scan(struct gmc_gateway *gw, struct gwchannel *ch)
{
    ch->state = GMC_CHANNEL_SCANNING;
    gw_source_read_paths(gw, ch, GMC_STORE_SCAN);
    gw_event(gw, GMC_EVENT_CHANNEL, ch, gw->self, GMC_OK, "scanning");
    gw_source_want_members(gw, ch);
}

void gw_source_scanned(struct gmc_gateway *gw, struct gwchannel *ch,
                       const struct gmc_store_result *result)
{
    if (result->status != GMC_OK) {
        gw_source_fail(gw, ch, result->status,
                       result->reason != NULL ? result->reason : gmc_status_text(result->status));
        return;
    }
    struct gwsource *src = ch->src;
    src->scanned = true;
    if (ch->object_known) { /* reopened after a restart */
        gw_build_pages(gw, ch);
        gw_source_step(gw, ch);
        return;
    }
    struct gmc_object object = {.listing_bytes = result->listing_bytes,
                                .total_bytes = result->total_bytes,
                                .block_bytes = gw->config.block_bytes,
                                .fragment_bytes = GW_BLOCK_BYTES / GMC_FRAGMENTS_MAX};
    if (gw->config.virtual_bodies)
        object.fragment_bytes = GMC_VIRTUAL_DATAGRAM_BYTES;
    if (gmc_object_check(&object) != GMC_OK) {
        gw_source_fail(gw, ch, GMC_ERR_LIMIT, "the sources are too large for one transfer");
        return;
    }
    ch->file_count = result->file_count;
    gw_channel_set_object(ch, &object);
    src->build.target = 1;
    if (!src->plan)
        gw_build_pages(gw, ch);
    gw_source_probe(gw, ch);
}

/* The members with sessions. */
static size_t count_sessions(const struct gmc_gateway *gw, const struct gwsource *src)
{
    size_t count = 0;
    for (size_t i = 0; i < src->member_count; i++)
        count += gw->peers[src->members[i].peer]->link != NULL;
    return count;
}

void gw_source_probe(struct gmc_gateway *gw, struct gwchannel *ch)
{
    ch->state = GMC_CHANNEL_PROBING;
    ch->src->gathering = true;
    if (ch->src->gather_until < gw->now)
        ch->src->gather_until = gw->now;
    ch->src->linked_count = count_sessions(gw, ch->src);
    gw_event(gw, GMC_EVENT_CHANNEL, ch, gw->self, GMC_OK, "probing");
    gw_source_step(gw, ch);
}

/* A host that is down, or behind a wire that is cut, answers nothing, and so is not unreachable
 * until the shell gives up its dial, which takes it longer than others wait. Who was away when the
 * others came, and half as long again, is a newcomer when it comes. A plan ends here, and waits for
 * it. */
static bool awaits_sessions(const struct gmc_gateway *gw, const struct gwsource *src)
{
    gmc_duration took = gmc_time_sub(src->linked_at, src->asked_at);
    return src->plan || src->linked_count == 0 ||
           gw->now < gmc_time_add(src->asked_at, gmc_time_max(GW_AWAY_WAIT, took / 2 * 3));
}

/* Are the members' links there, with what they and their nodes take? up counts those that are. */
static bool gathered(struct gmc_gateway *gw, const struct gwchannel *ch, size_t *up)
{
    bool all = true, awaits = awaits_sessions(gw, ch->src);
    *up = 0;
    for (size_t i = 0; i < ch->src->member_count; i++) {
        const struct gwmember *member = &ch->src->members[i];
        const struct gwpeer *peer = gw_peer(gw, member->peer);
        if (member->state == GMC_MEMBER_FAILED)
            continue;
        if (!peer->up) {
            bool is_away = peer->link == NULL && !awaits;
            all = all && (peer->unreachable || peer->is_node || is_away);
            continue;
        }
        struct gmc_link_info info;
        gmc_link_info(peer->link, &info);
        all = all && info.mtu_settled && (peer->is_node || peer->domain_known);
        ++*up;
    }
    return all;
}

static bool all_failed(const struct gwchannel *ch)
{
    for (size_t i = 0; i < ch->src->member_count; i++)
        if (ch->src->members[i].state != GMC_MEMBER_FAILED)
            return false;
    return true;
}

/* The largest fragment that fits every member's path, and its nodes', cut so that all of a block
 * are equal. */
static void choose_fragment(struct gmc_gateway *gw, struct gwchannel *ch)
{
    uint32_t payload = UINT32_MAX;
    if (gw->config.virtual_bodies)
        return; /* as it is: a block is one fragment */
    for (size_t i = 0; i < ch->src->member_count; i++) {
        const struct gwpeer *peer = gw_peer(gw, ch->src->members[i].peer);
        if (!peer->up)
            continue;
        struct gmc_link_info info;
        gmc_link_info(peer->link, &info);
        if (info.udp_payload_max < payload)
            payload = info.udp_payload_max;
        if (peer->nodes_payload > 0 && peer->nodes_payload < payload)
            payload = peer->nodes_payload;
    }
    /* Nodes may come later, over a path of which nothing is known yet. */
    if (payload == UINT32_MAX && ch->src->home[0] != '\0')
        payload = PAYLOAD_UNKNOWN;
    uint32_t room = payload - GMC_DATA_OVERHEAD_BYTES;
    if (room > GW_BLOCK_BYTES)
        room = GW_BLOCK_BYTES;
    uint32_t count = (GW_BLOCK_BYTES + room - 1) / room;
    if (count > GMC_FRAGMENTS_MAX)
        count = GMC_FRAGMENTS_MAX;
    ch->object.fragment_bytes = (GW_BLOCK_BYTES + count - 1) / count;
}

/* The trees are chosen, over those that are here: that is all. */
static void end_plan(struct gmc_gateway *gw, struct gwchannel *ch)
{
    size_t lacking = 0;
    for (size_t i = 0; i < ch->src->member_count; i++) {
        struct gwmember *member = &ch->src->members[i];
        const struct gwpeer *peer = gw_peer(gw, member->peer);
        if (member->placed)
            continue;
        lacking++;
        member->state = GMC_MEMBER_SILENT;
        gw_text(member->reason, sizeof(member->reason), "not reachable: %s", peer->reason);
    }
    if (lacking > 0)
        gw_text(ch->reason, sizeof(ch->reason), "planned without %zu of %zu domains", lacking,
                ch->src->member_count);
    gw_channel_end(gw, ch, GMC_CHANNEL_PLANNED, true, NULL);
}

void gw_source_gather(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwsource *src = ch->src;
    size_t up;
    size_t linked = count_sessions(gw, src);
    if (linked > src->linked_count)
        src->linked_at = gw->now;
    src->linked_count = linked;
    bool all = gathered(gw, ch, &up);
    bool is_alone = src->member_count == src->node_count;
    if (all_failed(ch) && !is_alone) {
        gw_source_fail(gw, ch, GMC_ERR_PEER_DOWN, "no target takes part");
        return;
    }
    if (!all && gw->now < src->gather_until) {
        gmc_duration wait = src->member_count * GW_STEP_EVERY;
        gw_set_timer(gw, &ch->timer,
                     gmc_time_add(gw->now, wait > GATHER_POLL ? wait : GATHER_POLL));
        return;
    }
    if (up == 0 && !is_alone) {
        if (gw->now >= gw_patience_ends(gw, ch->opened_at))
            gw_source_fail(gw, ch, GMC_ERR_PEER_DOWN, "no target could be reached");
        else
            gw_set_timer(gw, &ch->timer, gmc_time_add(gw->now, GMC_MS(50)));
        return;
    }
    if (!gw_source_measured(gw, ch))
        return;
    src->gathering = false;
    choose_fragment(gw, ch);
    if (!is_alone)
        gw_source_place(gw, ch);
    if (src->plan) {
        end_plan(gw, ch);
        return;
    }
    src->partly_known = ch->talk == NULL && !gw_source_knows_latencies(gw, ch);
    ch->state = GMC_CHANNEL_RUNNING;
    if (!gw_source_make_record(gw, ch))
        return;
    gw_event(gw, GMC_EVENT_CHANNEL, ch, gw->self, GMC_OK, "running");
    gw_source_step(gw, ch);
}
