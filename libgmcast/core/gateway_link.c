/* SPDX-License-Identifier: BSD-2-Clause */
/* Sessions, links and datagrams of the composition: what comes in finds its link, what the links
 * owe goes out. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_impl.h"

/* Within a domain, where a round trip takes a millisecond and somebody else can feed whom a stopped
 * node fed: some ten probes go unanswered in that time, and a machine that is only busy mostly lets
 * a process run sooner. */
#define NODE_SILENT GMC_MS(250)

/* ---- sessions ---- */
static void keep_counts(struct gwpeer *peer)
{
    struct gmc_link_info info;
    gmc_link_info(peer->link, &info);
    peer->before_bytes_sent += info.bytes_sent;
    peer->before_bytes_received += info.bytes_received;
    peer->before_packets_sent += info.packets_sent;
    peer->before_packets_lost += info.packets_lost;
}

void gw_link_close(struct gmc_gateway *gw, struct gwpeer *peer, const char *reason)
{
    if (peer->link == NULL)
        return;
    bool was_up = peer->up;
    gmc_map_remove(&gw->sessions, gmc_link_session_id(peer->link));
    keep_counts(peer);
    gw_uplink_release(gw, peer);
    gmc_link_free(peer->link);
    peer->link = NULL;
    peer->up = false;
    peer->is_silent = false;
    peer->wanted = false;
    peer->dirty = false;
    gmc_list_remove(&peer->dirty_node);
    gw_set_timer(gw, &peer->timer, GMC_TIME_NEVER);
    gw_text(peer->reason, sizeof(peer->reason), "%s", reason);
    if (was_up) {
        peer->silent_since = gw->now;
        gw_event(gw, GMC_EVENT_LINK, NULL, peer->number, GMC_ERR_PEER_DOWN, "link to %s lost: %s",
                 peer->name, reason);
    }
    struct gmc_list *node, *after;
    GMC_LIST_FOREACH_SAFE(node, after, &peer->children)
    {
        gw_child_free(gw, GMC_CONTAINER_OF(node, struct gwchild, in_peer));
    }
    GMC_LIST_FOREACH_SAFE(node, after, &peer->hearers)
    {
        gw_child_free(gw, GMC_CONTAINER_OF(node, struct gwchild, in_peer));
    }
    peer->payload = 0;
    peer->domain_known = false;
    gw_domain_review(gw);
    gw_channel_on_link_down(gw, peer);
    gw_asked_lost(gw, peer);
    if (gw->started && gw->config.node_of != NULL && strcmp(peer->name, gw->config.node_of) == 0)
        gw_want_session(gw, peer);
}

static gmc_status keep_key(struct gmc_gateway *gw, struct gwpeer *peer, struct gmc_bytes spki)
{
    const struct gmc_crypto *crypto = gw->config.crypto;
    struct gmc_pubkey *key = crypto->ops->pubkey_new(crypto->ctx, spki);
    uint8_t *copy = malloc(spki.len + 1);
    if (key == NULL || copy == NULL) {
        if (key != NULL)
            crypto->ops->pubkey_free(key);
        free(copy);
        return GMC_ERR_INVALID;
    }
    memcpy(copy, spki.data, spki.len);
    if (peer->key != NULL)
        crypto->ops->pubkey_free(peer->key);
    free(peer->spki);
    peer->key = key;
    peer->spki = copy;
    peer->spki_len = spki.len;
    return GMC_OK;
}

static void make_way(struct gmc_gateway *gw, struct gwpeer *peer)
{
    peer->replaced = true;
    gw_link_close(gw, peer, "a new session took over");
    peer->replaced = false;
}

/* Datagrams find one link by its number: that of another peer which has it gives way. */
static void free_number(struct gmc_gateway *gw, uint32_t number)
{
    struct gwpeer *other = gmc_map_get(&gw->sessions, number);
    if (other == NULL)
        return;
    if (!other->is_neighbour)
        gw_out(gw, GMC_OUT_REJECT, other->number);
    gw_link_close(gw, other, "a newer session has its number");
}

bool gw_link_make(struct gmc_gateway *gw, struct gwpeer *peer, const struct gmc_session *session,
                  const struct gmc_addr *to)
{
    make_way(gw, peer);
    free_number(gw, session->local_id);
    struct gmc_link_config config = {
        .crypto = gw->config.crypto,
        .session = session,
        .cc = gw->config.fixed_rate_bps > 0 ? &gmc_cc_fixed : &gmc_cc_model,
        .fixed_rate_bps = gw->config.fixed_rate_bps,
        .trace = gw->config.trace,
        .virtual_bodies = gw->config.virtual_bodies,
        .silent_after = gw->config.node_of != NULL || peer->is_node ? NODE_SILENT : 0,
        .to = to != NULL ? *to : (struct gmc_addr){0},
    };
    gmc_prng_fork_nth(&gw->prng, "link", session->local_id, &config.prng);
    peer->link = gmc_link_new(&config, gw->now);
    if (peer->link == NULL || gmc_map_put(&gw->sessions, session->local_id, peer) != GMC_OK) {
        if (peer->link != NULL)
            gmc_link_free(peer->link);
        peer->link = NULL;
        gw_text(peer->reason, sizeof(peer->reason), "no memory for the link");
        return false;
    }
    peer->wanted = false;
    peer->unreachable = peer->stopped = false;
    gw_text(peer->reason, sizeof(peer->reason), "its path is being validated");
    gmc_link_set_watch(peer->link, gw->channel_count > 0);
    gw_touch(gw, peer);
    return true;
}

static void session_up(struct gmc_gateway *gw, struct gwpeer *peer,
                       const struct gmc_session *session)
{
    make_way(gw, peer);
    if (keep_key(gw, peer, session->spki) != GMC_OK) {
        gw_text(peer->reason, sizeof(peer->reason), "its public key cannot be used");
        gw_out(gw, GMC_OUT_REJECT, peer->number);
        return;
    }
    if (!gw_link_make(gw, peer, session, NULL))
        gw_out(gw, GMC_OUT_REJECT, peer->number);
    if (gw->config.node_of != NULL)
        gw->neighbour_payload = session->udp_payload_max; /* the same interface, as a rule */
}

void gw_on_peer(struct gmc_gateway *gw, const struct gmc_peer_change *change)
{
    struct gwpeer *peer = gw_peer(gw, change->peer);
    if (peer == NULL || change->peer == gw->self)
        return;
    const char *reason = change->reason != NULL ? change->reason : "";
    switch (change->event) {
    case GMC_PEER_SESSION_UP:
        session_up(gw, peer, &change->session);
        break;
    case GMC_PEER_SESSION_STOPPED:
        peer->stopped = true;
        /* fallthrough */
    case GMC_PEER_SESSION_DOWN:
        gw_link_close(gw, peer, reason);
        break;
    case GMC_PEER_UNREACHABLE:
        peer->unreachable = true;
        gw_text(peer->reason, sizeof(peer->reason), "%s", reason);
        break;
    case GMC_PEER_REFUSED:
        gw_link_close(gw, peer, reason);
        gw_text(peer->reason, sizeof(peer->reason), "%s", reason);
        gw_channel_on_refused(gw, peer, reason);
        break;
    }
}

gmc_status gmc_gateway_test(struct gmc_gateway *gw, gmc_time now, gmc_peer number)
{
    gw_begin_input(gw, now);
    if (number >= gw->peer_count || number == gw->self)
        return GMC_ERR_NOT_FOUND;
    struct gwpeer *peer = gw->peers[number];
    if (peer->link != NULL) {
        gmc_link_test(peer->link, now);
        gw_touch(gw, peer);
    } else if (!peer->is_node) {
        peer->wanted = false; /* a peer that refused us is dialled once more */
        gw_want_session(gw, peer);
    }
    return GMC_OK;
}

/* Links are watched (kept alive, and their silence noticed) while any transfer is open. */
void gw_watch_links(struct gmc_gateway *gw)
{
    for (size_t i = 0; i < gw->peer_count; i++) {
        if (gw->peers[i]->link == NULL)
            continue;
        gmc_link_set_watch(gw->peers[i]->link, gw->channel_count > 0);
        gw_touch(gw, gw->peers[i]);
    }
}

/* One that is stopped or dead, or goes on: whom it feeds can be fed by others meanwhile. */
static void check_silence(struct gmc_gateway *gw, struct gwpeer *peer)
{
    bool is_silent = gmc_link_is_silent(peer->link);
    if (is_silent != peer->is_silent) {
        peer->is_silent = is_silent;
        gw_tree_silence(gw, peer);
    }
    if (is_silent)
        gw_channel_on_silent(gw, peer);
}

/* A link that came up or died since the last look. */
void gw_link_check(struct gmc_gateway *gw, struct gwpeer *peer)
{
    enum gmc_link_state state = gmc_link_state(peer->link);
    if (state == GMC_LINK_UP && !peer->up) {
        peer->up = true;
        peer->silent_since = GMC_TIME_NEVER;
        peer->reason[0] = '\0';
        struct gmc_link_info info;
        gmc_link_info(peer->link, &info);
        gw_event(gw, GMC_EVENT_LINK, NULL, peer->number, GMC_OK, "link to %s is up (%s)",
                 peer->name, info.path == GMC_PATH_UDP ? "udp" : "within TLS");
        gw_channel_on_link_up(gw, peer);
        gw_domain_link_up(gw, peer);
    } else if (state == GMC_LINK_UP) {
        check_silence(gw, peer);
    } else if (state == GMC_LINK_DEAD) {
        if (!peer->is_neighbour) /* of whose session the shell knows nothing */
            gw_out(gw, GMC_OUT_REJECT, peer->number);
        gw_link_close(gw, peer, "nothing heard any more");
        return;
    }
    if (peer->is_node && peer->payload != gmc_link_payload(peer->link)) {
        peer->payload = gmc_link_payload(peer->link);
        gw_domain_review(gw);
    }
}

/* ---- datagrams in ---- */
static void count_drop(struct gmc_gateway *gw, gmc_status status)
{
    switch (status) {
    case GMC_ERR_AUTH:
        gw->counts.dropped_auth++;
        break;
    case GMC_ERR_REPLAY:
        gw->counts.dropped_replay++;
        break;
    default:
        gw->counts.dropped_malformed++;
        break;
    }
}

gmc_status gw_on_datagram(struct gmc_gateway *gw, const struct gmc_dgram_in *in)
{
    uint8_t kind;
    gmc_status status = gmc_head_kind(in->bytes, &kind);
    if (status != GMC_OK) {
        gw->counts.dropped_malformed++;
        return status;
    }
    if (kind >= GMC_KIND_ECHO && kind <= GMC_KIND_TRAIN_SEEN)
        return gw_on_echo(gw, in, kind);
    if (kind >= GMC_KIND_GROUP_DATA && kind <= GMC_KIND_GROUP_STATE)
        return gw_hear(gw, in);
    struct gmc_head head;
    status = gmc_head_get(in->bytes, &head);
    if (status != GMC_OK) {
        gw->counts.dropped_malformed++;
        return status;
    }
    struct gwpeer *peer = gmc_map_get(&gw->sessions, head.session);
    if (peer == NULL || (in->path == GMC_PATH_STREAM && in->peer != peer->number)) {
        gw->counts.dropped_session++;
        return GMC_ERR_UNKNOWN;
    }
    struct gmc_link_data data;
    bool is_data = false;
    status = gmc_link_receive(peer->link, gw->now, in, &data, &is_data);
    if (status != GMC_OK) {
        count_drop(gw, status);
        gw_link_check(gw, peer);
        return status;
    }
    if (is_data) {
        status = gw_rx_data(gw, peer, &data);
        if (status == GMC_OK && peer->link != NULL)
            gmc_link_accept_data(peer->link, gw->now);
        if (peer->link != NULL && gmc_link_wakes(peer->link))
            gw_touch(gw, peer);
        if (peer->link != NULL && peer->is_silent)
            gw_link_check(gw, peer);
        return status;
    }
    gw_touch(gw, peer);
    gw_link_drain(gw, peer);
    return status;
}

/* Takes what the link has for us: fates, messages, a change of its state. */
void gw_link_drain(struct gmc_gateway *gw, struct gwpeer *peer)
{
    struct gmc_link_fate fate;
    struct gwdelivered got = {0};
    while (gmc_link_next_fate(peer->link, &fate))
        gw_child_fate(gw, peer, &fate, &got);
    if (got.bytes > 0)
        gw_uplink_delivered(gw, peer, &got);
    struct gmc_link *link = peer->link;
    gw_link_check(gw, peer);
    struct gmc_bytes message;
    while (peer->link == link && link != NULL && gmc_link_next_message(link, &message))
        gw_message(gw, peer, message);
    if (peer->link == link && link != NULL)
        gw_link_check(gw, peer); /* a broken control stream has ended it just now */
}

/* ---- datagrams out ---- */
bool gw_has_room(struct gmc_gateway *gw, size_t bytes)
{
    if (gw->arena == NULL) {
        gw->arena = malloc(GMC_GATEWAY_ARENA_BYTES);
        GMC_ASSERT(gw->arena != NULL);
    }
    gw->arena_full =
        GMC_GATEWAY_ARENA_BYTES - gw->arena_used < bytes || gw->pin_count == GW_PINS_MAX;
    return !gw->arena_full;
}

void gw_lend(struct gmc_gateway *gw, struct gmc_block *block)
{
    if (gw->pin_count > 0 && gw->pins[gw->pin_count - 1] == block)
        return;
    gmc_block_pin(gw->cache, block);
    gw->pins[gw->pin_count++] = block;
}

static struct gmc_dgram_out *begin_dgram(struct gmc_output *out, const struct gwpeer *peer)
{
    struct gmc_dgram_out *dgram = &out->u.dgram;
    memset(dgram, 0, sizeof(*dgram));
    out->kind = GMC_OUT_DATAGRAM;
    out->peer = peer->number;
    dgram->peer = peer->number;
    return dgram;
}

bool gw_pump_data(struct gmc_gateway *gw, struct gwpeer *peer, struct gmc_output *out)
{
    return gw_has_room(gw, GMC_LINK_PACKET_MAX) &&
           gw_children_send(gw, peer, begin_dgram(out, peer));
}

bool gw_pump(struct gmc_gateway *gw, struct gwpeer *peer, struct gmc_output *out)
{
    if (!gw_has_room(gw, GMC_LINK_PACKET_MAX))
        return false;
    struct gmc_dgram_out *dgram = begin_dgram(out, peer);
    if (gmc_link_next_packet(peer->link, gw->now, gw->arena + gw->arena_used,
                             GMC_GATEWAY_ARENA_BYTES - gw->arena_used, dgram)) {
        gw->arena_used += gmc_dgram_out_len(dgram);
        return true;
    }
    if (gw_hearers_send(gw, peer, dgram)) {
        gw_groups_yield(gw, peer);
        return true;
    }
    return (!gw_uplink_hold(gw, peer) && gw_children_send(gw, peer, dgram));
}
