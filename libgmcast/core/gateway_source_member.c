/* SPDX-License-Identifier: BSD-2-Clause */
/* This gateway as the source of a channel: who its members are, and what they say. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_source_impl.h"

struct gwmember *gw_source_member(struct gwchannel *ch, gmc_peer peer)
{
    void *place = gmc_map_get(&ch->src->by_peer, (uint64_t)peer + 1);
    return place != NULL ? &ch->src->members[(uintptr_t)place - 1] : NULL;
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
    if (member->began_at == 0 && msg->bytes > 0) {
        member->began_at = gw->now;
        member->bytes_then = msg->bytes;
    }
    member->bytes = msg->bytes;
    gw_trial_heard(gw, ch, member);
    member->nodes = msg->nodes;
    member->nodes_verified = msg->nodes_verified;
    member->nodes_failed = msg->nodes_failed;
    member->nodes_left = msg->nodes_left;
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
        struct gmc_path_seen seen = {msg->children[i].loss_ppm,
                                     gw_rate_bounded(msg->children[i].path_bps)};
        if (child->peer != member->peer)
            gmc_latency_cache_put_seen(gw->latencies, member->peer, child->peer, gw->now, &seen);
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
    /* What was said before it knew of all its nodes it says again. */
    if (member->state == GMC_MEMBER_VERIFIED || member->grown > 0)
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
    gw_text(member->reason, sizeof(member->reason), "%s", msg->text);
    gw_event(gw, GMC_EVENT_MEMBER, ch, member->peer, GMC_OK,
             ch->talk != NULL ? "ended at %s%s%s" : "verified at %s%s%s",
             gmc_gateway_peer_name(gw, member->peer), member->reason[0] != '\0' ? ": " : "",
             member->reason);
    ch->src->save_due = true;
    gw_source_soon(gw, ch);
}

static void answered(struct gmc_gateway *gw, struct gwchannel *ch, struct gwmember *member)
{
    if (member->state != GMC_MEMBER_WAITING)
        return;
    member->state = GMC_MEMBER_RECEIVING;
    if (ch->talk != NULL)
        gw_source_soon(gw, ch); /* its end may wait for this */
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
        if (msg->version >= member->grown)
            member->grown = 0;
        answered(gw, ch, member);
        break;
    case GMC_MSG_LEAVE:
        gw_source_member_failed(gw, ch, member, msg->text);
        break;
    case GMC_MSG_STATUS:
        on_status(gw, ch, member, msg);
        answered(gw, ch, member);
        break;
    case GMC_MSG_COMPLETE:
        on_complete(gw, ch, member, msg);
        break;
    default:
        break;
    }
}

/* A member reports to a transfer or message channel that is over here, or that this gateway does
 * not know (any more), as after a restart: it is told to let go of it. */
void gw_source_over(struct gmc_gateway *gw, struct gwpeer *peer, const struct gwchannel *ch,
                    const struct gmc_msg *msg)
{
    if (strcmp(msg->source, gw->domain) != 0)
        return;
    struct gmc_msg reply = {.type = GMC_MSG_CLOSE,
                            .source = msg->source,
                            .e = msg->e,
                            .status = GMC_ERR_NOT_FOUND,
                            .text = "it is over at its source, or was lost there in a restart",
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
