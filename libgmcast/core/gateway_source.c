/* SPDX-License-Identifier: BSD-2-Clause */
/* This gateway as the source of a channel: from the user's call to the last member's proof. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_impl.h"

#define GATHER_POLL GMC_MS(5) /* path MTUs settle without an event */
#define RUN_POLL GMC_MS(250)  /* patience and silence are looked at */

/* Up to so many members a step is taken at once; of more, steps are so far apart for each member,
 * which needs some 50 ns of it. */
#define STEP_AT_ONCE_MAX 256u
#define STEP_EVERY GMC_US(1)
#define PAYLOAD_UNKNOWN 1452u /* of UDP over IPv6 over Ethernet */

struct gwmember *gw_source_member(struct gwchannel *ch, gmc_peer peer)
{
    void *place = gmc_map_get(&ch->src->by_peer, (uint64_t)peer + 1);
    return place != NULL ? &ch->src->members[(uintptr_t)place - 1] : NULL;
}

void gw_source_free(struct gmc_gateway *gw, struct gwsource *src)
{
    (void)gw;
    for (size_t i = 0; i < src->path_count; i++)
        free(src->paths[i]);
    for (size_t i = 0; i < src->member_count; i++) {
        free(src->members[i].path);
        free(src->members[i].inside);
    }
    if (src->round != NULL)
        gw_round_free(src->round);
    gw_sparse_free(src->sparse);
    gw_roll_free(&src->roll);
    gmc_map_fini(&src->by_peer);
    free(src->paths);
    free(src->members);
    free(src->rates);
    free(src);
}

/* ---- the user's calls ---- */
gmc_status gw_say(struct gmc_gateway *gw, const char **error, gmc_status status, const char *text,
                  const char *what)
{
    gw_text(gw->error, sizeof(gw->error), text, what);
    *error = gw->error;
    return status;
}

static bool members_reserve(struct gwsource *src)
{
    if (src->member_count < src->member_capacity)
        return true;
    size_t capacity = src->member_capacity == 0 ? 8 : 2 * src->member_capacity;
    struct gwmember *grown = realloc(src->members, sizeof(*grown) * capacity);
    if (grown == NULL)
        return false;
    src->members = grown;
    src->member_capacity = capacity;
    return true;
}

gmc_status gw_source_add_member(struct gmc_gateway *gw, struct gwchannel *ch, const char *domain,
                                const char *path, const char *inside)
{
    struct gwsource *src = ch->src;
    struct gwpeer *peer = gw_peer_by_name(gw, domain);
    if (peer == NULL)
        return GMC_ERR_NOMEM;
    if (!members_reserve(src))
        return GMC_ERR_NOMEM;
    gmc_status status = gmc_map_put(&src->by_peer, (uint64_t)peer->number + 1,
                                    (void *)(uintptr_t)(src->member_count + 1));
    if (status != GMC_OK)
        return status;
    struct gwmember *member = &src->members[src->member_count];
    memset(member, 0, sizeof(*member));
    member->peer = peer->number;
    for (uint32_t k = 0; k < GMC_STRIPES_MAX; k++)
        member->actual_parent[k] = member->repairs_by[k] = GMC_PEER_NONE;
    member->path = (char *)gw_copy(gmc_bytes(path, strlen(path) + 1));
    member->inside = (char *)gw_copy(gmc_bytes(inside, strlen(inside) + 1));
    src->member_count++;
    return GMC_OK;
}

/* EXISTS: a domain is named twice. NOMEM. */
static gmc_status find_twice(const struct gmc_gateway *gw, const struct gmc_stage_target *targets,
                             size_t count, const char **twice)
{
    struct gmc_map seen;
    gmc_map_init(&seen, gw->names.seed);
    gmc_status status = gmc_map_reserve(&seen, count);
    for (size_t i = 0; i < count && status == GMC_OK; i++) {
        const struct gmc_stage_target *target = &targets[i], *other;
        uint64_t key = gw_name_key(gw, target->domain);
        while ((other = gmc_map_get(&seen, key)) != NULL &&
               strcmp(other->domain, target->domain) != 0)
            key++;
        *twice = target->domain;
        status =
            other != NULL ? GMC_ERR_EXISTS : gmc_map_put(&seen, key, (void *)(uintptr_t)target);
    }
    gmc_map_fini(&seen);
    return status;
}

static gmc_status check_request(struct gmc_gateway *gw, const struct gmc_stage_request *request,
                                const char **error)
{
    if (request->source_count == 0)
        return gw_say(gw, error, GMC_ERR_INVALID, "no source given%s", "");
    if (request->target_count == 0)
        return gw_say(gw, error, GMC_ERR_INVALID, "no target given%s", "");
    if ((unsigned)request->shape >= GMC_TREE_SHAPES)
        return gw_say(gw, error, GMC_ERR_INVALID, "unknown tree shape%s", "");
    return GMC_OK;
}

#define BAD_INSIDE                                                                                 \
    "a domain does not deliver to \"%.64s\": write DOMAIN/gateway, DOMAIN/nodes, DOMAIN/shared, "  \
    "or "                                                                                          \
    "DOMAIN/NODE+NODE"

static bool inside_ok(const struct gmc_stage_target *target)
{
    return target->inside == NULL || target->inside[0] == '\0' ||
           gmc_inside_kind(target->inside) != GMC_INSIDE_NONE;
}

static gmc_status check_targets(struct gmc_gateway *gw, const struct gmc_stage_target *targets,
                                size_t count, const char **error)
{
    if (count >= GMC_MEMBERS_MAX)
        return gw_say(gw, error, GMC_ERR_LIMIT, "too many targets%s", "");
    for (size_t i = 0; i < count; i++) {
        const char *domain = targets[i].domain;
        if (strlen(domain) == 0 || strlen(domain) > GMC_DOMAIN_NAME_MAX)
            return gw_say(gw, error, GMC_ERR_INVALID, "bad domain name \"%s\"", domain);
        if (strcmp(domain, gw->domain) == 0)
            return gw_say(gw, error, GMC_ERR_INVALID,
                          "%s is the source; a target must be another domain", domain);
        if (!inside_ok(&targets[i]))
            return gw_say(gw, error, GMC_ERR_INVALID, BAD_INSIDE, targets[i].inside);
    }
    const char *twice = "";
    gmc_status status = find_twice(gw, targets, count, &twice);
    if (status == GMC_ERR_EXISTS)
        return gw_say(gw, error, GMC_ERR_INVALID, "%s is named twice", twice);
    return status == GMC_OK ? GMC_OK : gw_say(gw, error, status, "no memory for the targets%s", "");
}

static gmc_status copy_sources(struct gwsource *src, const struct gmc_stage_request *request)
{
    src->paths = calloc(request->source_count, sizeof(*src->paths));
    if (src->paths == NULL)
        return GMC_ERR_NOMEM;
    for (size_t i = 0; i < request->source_count; i++) {
        const char *path = request->sources[i];
        src->paths[i] = (char *)gw_copy(gmc_bytes(path, strlen(path) + 1));
        src->path_count++;
    }
    return GMC_OK;
}

static void want_members(struct gmc_gateway *gw, struct gwchannel *ch)
{
    for (size_t i = 0; i < ch->src->member_count; i++) {
        const struct gwmember *member = &ch->src->members[i];
        struct gwpeer *peer = gw_peer(gw, member->peer);
        if (member->state != GMC_MEMBER_FAILED && !member->closed && !peer->is_node)
            gw_want_session(gw, peer); /* nodes dial by themselves */
    }
}

struct gwchannel *gw_source_new(struct gmc_gateway *gw, const struct gmc_stage_target *targets,
                                size_t count, gmc_status *status, const char **error)
{
    *status = check_targets(gw, targets, count, error);
    if (*status != GMC_OK)
        return NULL;
    uint64_t e;
    do {
        e = gw_random64(gw);
    } while (e == 0 || gw_channel_find(gw, gw->domain, e) != NULL);
    struct gwchannel *ch = gw_channel_new(gw, gw->domain, e, true);
    if (ch == NULL) {
        *status = gw_say(gw, error, GMC_ERR_LIMIT, "too many transfers are open; cancel one%s", "");
        return NULL;
    }
    *status = gw_channel_set_source_key(gw, ch, gw->config.spki);
    for (size_t i = 0; i < count && *status == GMC_OK; i++)
        *status = gw_source_add_member(gw, ch, targets[i].domain, targets[i].path,
                                       targets[i].inside != NULL ? targets[i].inside : "");
    if (*status != GMC_OK) {
        gw_channel_free(gw, ch);
        gw_say(gw, error, *status, "no memory for another transfer%s", "");
        return NULL;
    }
    ch->src->asked_at = gw->now;
    ch->src->gather_until = gmc_time_add(gw->now, GW_GATHER_WAIT);
    return ch;
}

gmc_status gmc_gateway_stage(struct gmc_gateway *gw, gmc_time now,
                             const struct gmc_stage_request *request, struct gmc_channel_key *key,
                             const char **error)
{
    gw_begin_input(gw, now);
    gmc_status status = check_request(gw, request, error);
    if (status != GMC_OK)
        return status;
    struct gwchannel *ch =
        gw_source_new(gw, request->targets, request->target_count, &status, error);
    if (ch == NULL)
        return status;
    status = copy_sources(ch->src, request);
    if (status != GMC_OK) {
        gw_channel_free(gw, ch);
        return gw_say(gw, error, status, "no memory for another transfer%s", "");
    }
    ch->src->shape = request->shape;
    ch->src->rate_bps = request->rate_bps;
    ch->src->background = request->background;
    ch->src->plan = request->plan;
    ch->state = GMC_CHANNEL_SCANNING;
    struct gmc_store_op *op;
    gw_store(gw, ch, GMC_STORE_SCAN, &op);
    op->paths = (const char *const *)ch->src->paths;
    op->path_count = ch->src->path_count;
    *key = ch->key;
    gw_event(gw, GMC_EVENT_CHANNEL, ch, gw->self, GMC_OK, "scanning");
    want_members(gw, ch);
    return GMC_OK;
}

static struct gwchannel *own_channel(struct gmc_gateway *gw, const struct gmc_channel_key *key,
                                     const char **error)
{
    struct gwchannel *ch = gw_channel_find(gw, key->source, key->e);
    if (ch == NULL)
        gw_say(gw, error, GMC_ERR_NOT_FOUND, "there is no such transfer here%s", "");
    else if (!ch->is_source)
        gw_say(gw, error, GMC_ERR_ACCESS, "only its source, %s, can do that", ch->key.source);
    return ch != NULL && ch->is_source ? ch : NULL;
}

gmc_status gmc_gateway_add(struct gmc_gateway *gw, gmc_time now, const struct gmc_channel_key *key,
                           const struct gmc_stage_target *target, const char **error)
{
    gw_begin_input(gw, now);
    struct gwchannel *ch = own_channel(gw, key, error);
    if (ch == NULL)
        return GMC_ERR_NOT_FOUND;
    if (ch->closing || ch->state > GMC_CHANNEL_RUNNING)
        return gw_say(gw, error, GMC_ERR_STATE, "the transfer is over; stage it anew%s", "");
    const char *domain = target->domain;
    if (strlen(domain) == 0 || strlen(domain) > GMC_DOMAIN_NAME_MAX ||
        strcmp(domain, gw->domain) == 0)
        return gw_say(gw, error, GMC_ERR_INVALID, "%s cannot be a target", domain);
    if (!inside_ok(target))
        return gw_say(gw, error, GMC_ERR_INVALID, BAD_INSIDE, target->inside);
    if (gw_source_member(ch, gmc_gateway_peer(gw, domain)) != NULL)
        return gw_say(gw, error, GMC_ERR_EXISTS, "%s is a target already", domain);
    if (gw_source_add_member(gw, ch, domain, target->path,
                             target->inside != NULL ? target->inside : "") != GMC_OK)
        return gw_say(gw, error, GMC_ERR_NOMEM, "no memory for another target%s", "");
    want_members(gw, ch);
    gw_source_step(gw, ch);
    return GMC_OK;
}

gmc_status gmc_gateway_cancel(struct gmc_gateway *gw, gmc_time now,
                              const struct gmc_channel_key *key, const char **error)
{
    gw_begin_input(gw, now);
    struct gwchannel *ch = own_channel(gw, key, error);
    if (ch == NULL)
        return GMC_ERR_NOT_FOUND;
    if (ch->closing)
        return gw_say(gw, error, GMC_ERR_STATE, "the transfer is over already%s", "");
    gw_source_close_members(gw, ch, GMC_ERR_CANCELLED, "cancelled at the source");
    gw_channel_end(gw, ch, GMC_CHANNEL_CANCELLED, true, "cancelled at the source");
    return GMC_OK;
}

gmc_status gmc_gateway_resume(struct gmc_gateway *gw, gmc_time now,
                              const struct gmc_channel_key *key, const char **error)
{
    gw_begin_input(gw, now);
    struct gwchannel *ch = own_channel(gw, key, error);
    if (ch == NULL)
        return GMC_ERR_NOT_FOUND;
    if (ch->closing)
        return gw_say(gw, error, GMC_ERR_STATE, "the transfer is over; stage it anew%s", "");
    if (ch->state != GMC_CHANNEL_PARTIAL)
        return GMC_OK; /* it is going on by itself */
    for (size_t i = 0; i < ch->src->member_count; i++) {
        struct gwmember *member = &ch->src->members[i];
        if (member->state == GMC_MEMBER_VERIFIED)
            continue;
        member->state = GMC_MEMBER_WAITING;
        member->reason[0] = '\0';
        member->closed = false;
        memset(member->parent, 0, sizeof(member->parent));
    }
    ch->ended_at = 0;
    ch->reason[0] = '\0';
    ch->state = GMC_CHANNEL_RUNNING;
    ch->src->asked_at = gw->now;
    ch->src->read_again_at = gw->now;
    want_members(gw, ch);
    if (gw_source_make_record(gw, ch))
        gw_source_step(gw, ch);
    return GMC_OK;
}

/* ---- set-up ---- */
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
                                .block_bytes = GW_BLOCK_BYTES,
                                .fragment_bytes = GW_BLOCK_BYTES / GMC_FRAGMENTS_MAX};
    if (gw->config.virtual_bodies)
        object.fragment_bytes = GW_BLOCK_BYTES;
    if (gmc_object_check(&object) != GMC_OK) {
        gw_source_fail(gw, ch, GMC_ERR_LIMIT, "the sources are too large for one transfer");
        return;
    }
    src->file_count = result->file_count;
    gw_channel_set_object(ch, &object);
    src->build.target = 1;
    if (!src->plan)
        gw_build_pages(gw, ch);
    gw_source_probe(gw, ch);
}

void gw_source_probe(struct gmc_gateway *gw, struct gwchannel *ch)
{
    ch->state = GMC_CHANNEL_PROBING;
    ch->src->gathering = true;
    if (ch->src->gather_until < gw->now)
        ch->src->gather_until = gw->now;
    gw_event(gw, GMC_EVENT_CHANNEL, ch, gw->self, GMC_OK, "probing");
    gw_source_step(gw, ch);
}

/* Are the members' links there, with their path MTU known? up counts those that are. */
static bool gathered(struct gmc_gateway *gw, const struct gwchannel *ch, size_t *up)
{
    bool all = true;
    *up = 0;
    for (size_t i = 0; i < ch->src->member_count; i++) {
        const struct gwmember *member = &ch->src->members[i];
        const struct gwpeer *peer = gw_peer(gw, member->peer);
        if (member->state == GMC_MEMBER_FAILED)
            continue;
        if (!peer->up) {
            all = all && (peer->unreachable || peer->is_node);
            continue;
        }
        struct gmc_link_info info;
        gmc_link_info(peer->link, &info);
        all = all && info.mtu_settled;
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

/* The largest fragment that fits every member's path, cut so that all of a block are equal. */
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

static void step_gather(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwsource *src = ch->src;
    size_t up;
    bool all = gathered(gw, ch, &up);
    bool is_alone = src->member_count == src->node_count;
    if (all_failed(ch) && !is_alone) {
        gw_source_fail(gw, ch, GMC_ERR_PEER_DOWN, "no target takes part");
        return;
    }
    if (!all && gw->now < src->gather_until) {
        gmc_duration wait = src->member_count * STEP_EVERY;
        gw_set_timer(gw, &ch->timer,
                     gmc_time_add(gw->now, wait > GATHER_POLL ? wait : GATHER_POLL));
        return;
    }
    if (up == 0 && !is_alone) {
        if (gw->now >= gmc_time_add(ch->opened_at, gw->config.patience))
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
    ch->state = GMC_CHANNEL_RUNNING;
    if (!gw_source_make_record(gw, ch))
        return;
    gw_event(gw, GMC_EVENT_CHANNEL, ch, gw->self, GMC_OK, "running");
    gw_source_step(gw, ch);
}

/* ---- the run ---- */
static void tell(struct gmc_gateway *gw, struct gwchannel *ch, struct gwmember *member)
{
    uint8_t siblings[GMC_MERKLE_HEIGHT_MAX][GMC_HASH_BYTES];
    struct gmc_msg msg = gw_about(ch, GMC_MSG_CHANNEL);
    msg.secret = ch->secret;
    msg.place = gw_roll_place(ch, member, siblings);
    if (gw_peer(gw, member->peer)->is_node)
        msg.source_key = gmc_bytes(ch->source_spki, ch->source_spki_len);
    gw_send(gw, gw_peer(gw, member->peer), &msg);
    member->told = true;
}

/* A member that is here and has no place in the tree yet: added late, or reachable late. */
static bool has_newcomer(struct gmc_gateway *gw, const struct gwchannel *ch)
{
    for (size_t i = 0; i < ch->src->member_count; i++) {
        const struct gwmember *member = &ch->src->members[i];
        const struct gwpeer *peer = gw_peer(gw, member->peer);
        if (peer->up && member->state != GMC_MEMBER_FAILED && !member->closed &&
            (!member->placed || !member->recorded))
            return true;
    }
    return false;
}

static void look_at_member(struct gmc_gateway *gw, struct gwchannel *ch, struct gwmember *member)
{
    struct gwpeer *peer = gw_peer(gw, member->peer);
    if (member->state == GMC_MEMBER_FAILED || member->closed)
        return;
    if (peer->up) {
        if (member->state == GMC_MEMBER_SILENT) {
            member->state = GMC_MEMBER_WAITING;
            member->reason[0] = '\0';
        }
        /* A source that crashes knows every record that it ever sent. */
        if (!member->told && member->placed && member->recorded && !ch->src->unsaved)
            tell(gw, ch, member);
        return;
    }
    if (!peer->is_node)
        gw_want_session(gw, peer);
    if (member->state != GMC_MEMBER_VERIFIED &&
        gw->now >= gmc_time_add(peer->silent_since, GMC_S(1))) {
        if (member->state != GMC_MEMBER_SILENT)
            gw_event(gw, GMC_EVENT_MEMBER, ch, peer->number, GMC_ERR_PEER_DOWN,
                     "%s is not heard: %s", peer->name, peer->reason);
        member->state = GMC_MEMBER_SILENT;
        gw_text(member->reason, sizeof(member->reason), "not reachable: %s", peer->reason);
    }
}

/* Rule for the end: every member has proved the digest, failed, or been silent beyond patience
 * while nobody else is still receiving. */
static bool is_finished(const struct gmc_gateway *gw, const struct gwchannel *ch, size_t *verified)
{
    *verified = 0;
    if (ch->talk != NULL && !ch->talk->ended)
        return false;
    for (size_t i = 0; i < ch->src->member_count; i++) {
        const struct gwmember *member = &ch->src->members[i];
        const struct gwpeer *peer = gw->peers[member->peer];
        if (member->state == GMC_MEMBER_VERIFIED)
            ++*verified;
        else if (member->state == GMC_MEMBER_SILENT &&
                 gw->now >= gmc_time_add(gmc_time_max(peer->silent_since, ch->src->asked_at),
                                         gw->config.patience))
            continue;
        else if (member->state != GMC_MEMBER_FAILED)
            return false;
    }
    return true;
}

void gw_source_close_members(struct gmc_gateway *gw, struct gwchannel *ch, gmc_status status,
                             const char *reason)
{
    for (size_t i = 0; i < ch->src->member_count; i++) {
        struct gwmember *member = &ch->src->members[i];
        struct gwpeer *peer = gw_peer(gw, member->peer);
        if (!peer->up || member->closed)
            continue;
        struct gmc_msg msg = {.type = GMC_MSG_CLOSE,
                              .source = ch->key.source,
                              .e = ch->key.e,
                              .status = status,
                              .text = reason,
                              .discard = member->state != GMC_MEMBER_VERIFIED};
        gw_send(gw, peer, &msg);
        member->closed = true;
    }
}

/* The store stays open and the state saved: the user may resume. */
static void end_partial(struct gmc_gateway *gw, struct gwchannel *ch)
{
    ch->state = GMC_CHANNEL_PARTIAL;
    ch->ended_at = gw->now;
    gw_source_save(gw, ch);
    gw_event(gw, GMC_EVENT_CHANNEL, ch, gw->self, GMC_OK, "partial: %s", ch->reason);
}

static void finish(struct gmc_gateway *gw, struct gwchannel *ch, size_t verified)
{
    size_t lacking = ch->src->member_count - verified;
    if (lacking == 0) {
        gw_source_close_members(gw, ch, GMC_OK, "complete everywhere");
        gw_channel_end(gw, ch, GMC_CHANNEL_COMPLETE, false, NULL);
        return;
    }
    for (size_t i = 0; i < ch->src->member_count; i++) {
        struct gwmember *member = &ch->src->members[i];
        if (member->state == GMC_MEMBER_SILENT)
            member->state = GMC_MEMBER_FAILED;
        else if (member->state == GMC_MEMBER_VERIFIED && !member->closed &&
                 gw_peer(gw, member->peer)->up) {
            struct gmc_msg msg = {.type = GMC_MSG_CLOSE,
                                  .source = ch->key.source,
                                  .e = ch->key.e,
                                  .text = "complete here"};
            gw_send(gw, gw_peer(gw, member->peer), &msg);
            member->closed = true;
        }
    }
    gw_text(ch->reason, sizeof(ch->reason), "complete at %zu of %zu", verified,
            ch->src->member_count);
    if (ch->talk != NULL)
        gw_channel_end(gw, ch, GMC_CHANNEL_PARTIAL, true, NULL);
    else
        end_partial(gw, ch);
}

static void step_run(struct gmc_gateway *gw, struct gwchannel *ch)
{
    if (!ch->src->scanned)
        return; /* the store is being opened again after a restart */
    if (ch->talk == NULL)
        gw_blocks_read_again(gw, ch);
    /* Newcomers are measured first, so that they find the place that the tree's rules give. */
    if (has_newcomer(gw, ch) && gw_source_measured(gw, ch) && !gw_source_make_record(gw, ch))
        return;
    if (ch->talk == NULL) {
        gw_build_pages(gw, ch); /* what found no room in the cache, or too many reads, before */
        gw_page_want(gw, ch);
    }
    for (size_t i = 0; i < ch->src->member_count && !ch->closing; i++)
        look_at_member(gw, ch, &ch->src->members[i]);
    size_t verified;
    if (!ch->closing && is_finished(gw, ch, &verified))
        finish(gw, ch, verified);
    else if (!ch->closing)
        gw_set_timer(gw, &ch->timer,
                     gmc_time_add(gw->now, ch->src->round != NULL ? GMC_MS(20) : RUN_POLL));
}

void gw_source_saved(struct gmc_gateway *gw, struct gwchannel *ch)
{
    if (!ch->src->unsaved)
        return;
    ch->src->unsaved = false;
    gw_source_step(gw, ch);
}

void gw_source_step(struct gmc_gateway *gw, struct gwchannel *ch)
{
    if (ch->closing)
        return;
    if (ch->src->save_due && ch->state == GMC_CHANNEL_RUNNING)
        gw_source_save(gw, ch);
    want_members(gw, ch);
    if (ch->state == GMC_CHANNEL_PROBING && ch->src->gathering)
        step_gather(gw, ch);
    else if (ch->state == GMC_CHANNEL_RUNNING)
        step_run(gw, ch);
    if (ch->talk != NULL)
        gw_talk_look_for_room(gw, ch);
}

void gw_source_soon(struct gmc_gateway *gw, struct gwchannel *ch)
{
    size_t count = ch->src->member_count;
    if (count <= STEP_AT_ONCE_MAX || ch->closing) {
        gw_source_step(gw, ch);
        return;
    }
    gmc_time when = gmc_time_add(gw->now, count * STEP_EVERY);
    if (!gmc_heap_node_is_queued(&ch->timer.node) || ch->timer.node.key > when)
        gw_set_timer(gw, &ch->timer, when);
}

/* Returns how many have everything. */
static size_t give_up_members(struct gmc_gateway *gw, struct gwchannel *ch, const char *text)
{
    size_t verified = 0;
    for (size_t i = 0; i < ch->src->member_count; i++) {
        struct gwmember *member = &ch->src->members[i];
        if (member->state == GMC_MEMBER_VERIFIED) {
            verified++;
        } else if (member->state != GMC_MEMBER_FAILED) {
            const struct gwpeer *peer = gw_peer(gw, member->peer);
            if (!peer->up && peer->reason[0] != '\0')
                gw_text(member->reason, sizeof(member->reason), "not reachable: %s", peer->reason);
            else if (member->state != GMC_MEMBER_SILENT)
                gw_text(member->reason, sizeof(member->reason), "the source gave up: %.400s", text);
            member->state = GMC_MEMBER_FAILED;
        }
    }
    return verified;
}

void gw_source_fail(struct gmc_gateway *gw, struct gwchannel *ch, gmc_status status,
                    const char *reason)
{
    if (ch->closing)
        return;
    char text[GMC_REASON_BYTES_MAX];
    gw_text(text, sizeof(text), "%s", reason);
    if (ch->recorded)
        gw_source_close_members(gw, ch, status, text);
    size_t verified = give_up_members(gw, ch, text);
    gw_channel_end(gw, ch, verified > 0 ? GMC_CHANNEL_PARTIAL : GMC_CHANNEL_FAILED, true, text);
}

void gw_source_stop(struct gmc_gateway *gw, struct gwchannel *ch, gmc_status status,
                    const char *reason)
{
    if (ch->state == GMC_CHANNEL_PARTIAL)
        return;
    if (ch->state != GMC_CHANNEL_RUNNING) { /* nothing has been sent yet */
        gw_source_fail(gw, ch, status, reason);
        return;
    }
    gw_text(ch->reason, sizeof(ch->reason), "%s", reason);
    give_up_members(gw, ch, ch->reason);
    end_partial(gw, ch);
}

/* ---- what members say ---- */
void gw_source_member_failed(struct gmc_gateway *gw, struct gwchannel *ch, struct gwmember *member,
                             const char *reason)
{
    if (member->state == GMC_MEMBER_VERIFIED || member->state == GMC_MEMBER_FAILED)
        return;
    member->state = GMC_MEMBER_FAILED;
    gw_text(member->reason, sizeof(member->reason), "%s", reason);
    gw_event(gw, GMC_EVENT_MEMBER, ch, member->peer, GMC_ERR_REFUSED, "%s failed: %s",
             gmc_gateway_peer_name(gw, member->peer), reason);
    ch->src->save_due = true;
    gw_source_soon(gw, ch);
}

static void on_status(struct gmc_gateway *gw, struct gwchannel *ch, struct gwmember *member,
                      const struct gmc_msg *msg)
{
    member->bytes = msg->bytes;
    member->nodes = msg->nodes;
    member->nodes_verified = msg->nodes_verified;
    member->nodes_failed = msg->nodes_failed;
    gw_uplink_heard(gw, gw->peers[member->peer], msg);
    for (uint32_t k = 0; k <= msg->name_count && k < ch->stripe_count; k++) {
        const char *name = k == 0 ? msg->parent : msg->names[k - 1];
        const struct gwpeer *parent = name != NULL ? gw_peer_known(gw, name) : NULL;
        if (parent != NULL)
            member->actual_parent[k] = parent->number;
    }
    for (size_t i = 0; i < msg->child_count; i++) {
        const struct gwpeer *known = gw_peer_known(gw, msg->children[i].domain);
        struct gwmember *child = known != NULL ? gw_source_member(ch, known->number) : NULL;
        if (child == NULL)
            continue;
        uint32_t k = msg->children[i].stripe;
        if (child->repairs_by[k] != member->peer ||
            msg->children[i].repairs < child->repairs_now[k]) {
            child->repairs_before += child->repairs_now[k];
            child->repairs_by[k] = member->peer;
        }
        child->repairs_now[k] = msg->children[i].repairs;
    }
}

static void on_complete(struct gmc_gateway *gw, struct gwchannel *ch, struct gwmember *member,
                        const struct gmc_msg *msg)
{
    if (member->state == GMC_MEMBER_VERIFIED)
        return;
    if (!ch->digest_known && ch->src->build.reloading)
        return; /* after a restart the digest is not read yet: gw_source_reloaded asks again */
    if (!ch->digest_known || msg->digest == NULL ||
        memcmp(ch->digest, msg->digest, GMC_HASH_BYTES) != 0) {
        gw_source_member_failed(gw, ch, member, "it reports another digest than the source's");
        return;
    }
    member->state = GMC_MEMBER_VERIFIED;
    member->verified_at = gw->now;
    member->bytes = msg->bytes;
    memcpy(member->digest, msg->digest, GMC_HASH_BYTES);
    member->reason[0] = '\0';
    gw_event(gw, GMC_EVENT_MEMBER, ch, member->peer, GMC_OK,
             ch->talk != NULL ? "ended at %s" : "verified at %s",
             gmc_gateway_peer_name(gw, member->peer));
    ch->src->save_due = true;
    gw_source_soon(gw, ch);
}

/* All pages of before the restart are known: members are told of the record once more, which makes
 * them report again what could not be judged before. */
void gw_source_reloaded(struct gmc_gateway *gw, struct gwchannel *ch)
{
    for (size_t i = 0; i < ch->src->member_count; i++)
        ch->src->members[i].told = false;
    if (ch->state == GMC_CHANNEL_RUNNING)
        gw_set_timer(gw, &ch->timer, gw->now);
}

void gw_source_message(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                       const struct gmc_msg *msg)
{
    struct gwmember *member = gw_source_member(ch, peer->number);
    if (member == NULL) {
        gw->counts.messages_refused++;
        return;
    }
    if (member->state == GMC_MEMBER_FAILED || ch->state != GMC_CHANNEL_RUNNING)
        return;
    switch (msg->type) {
    case GMC_MSG_TREE_READY:
        if (member->state == GMC_MEMBER_WAITING)
            member->state = GMC_MEMBER_RECEIVING;
        break;
    case GMC_MSG_LEAVE:
        gw_source_member_failed(gw, ch, member, msg->text);
        break;
    case GMC_MSG_STATUS:
        on_status(gw, ch, member, msg);
        if (member->state == GMC_MEMBER_WAITING)
            member->state = GMC_MEMBER_RECEIVING;
        break;
    case GMC_MSG_COMPLETE:
        on_complete(gw, ch, member, msg);
        break;
    default:
        break;
    }
}

/* A member reports to a transfer that is over here, or that this gateway does not know (any
 * more): it is told to let go of it. */
void gw_source_over(struct gmc_gateway *gw, struct gwpeer *peer, const struct gwchannel *ch,
                    const struct gmc_msg *msg)
{
    if (strcmp(msg->source, gw->domain) != 0)
        return;
    struct gmc_msg reply = {.type = GMC_MSG_CLOSE,
                            .source = msg->source,
                            .e = msg->e,
                            .status = GMC_ERR_NOT_FOUND,
                            .text = "the transfer is over at its source",
                            .discard = true};
    if (ch != NULL && ch->state == GMC_CHANNEL_COMPLETE) {
        reply.status = GMC_OK;
        reply.discard = false;
    }
    gw_send(gw, peer, &reply);
}

void gw_source_link_down(struct gmc_gateway *gw, struct gwchannel *ch, struct gwpeer *peer)
{
    struct gwmember *member = gw_source_member(ch, peer->number);
    if (member == NULL)
        return;
    member->told = false;
    gw_source_soon(gw, ch);
}

void gw_source_restart(struct gmc_gateway *gw, struct gwchannel *ch)
{
    if (gw_channel_set_source_key(gw, ch, gw->config.spki) != GMC_OK) {
        gw_source_fail(gw, ch, GMC_ERR_INVALID, "this domain's key cannot be used");
        return;
    }
    ch->src->asked_at = gw->now;
    ch->src->build.reloading = true;
    ch->src->build.target = 1;
    struct gmc_store_op *op;
    gw_store(gw, ch, GMC_STORE_REOPEN, &op);
    op->paths = (const char *const *)ch->src->paths;
    op->path_count = ch->src->path_count;
    if (ch->state == GMC_CHANNEL_PARTIAL)
        return;
    ch->state = GMC_CHANNEL_RUNNING;
    if (gw_source_make_record(gw, ch))
        want_members(gw, ch);
}
