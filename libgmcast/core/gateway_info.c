/* SPDX-License-Identifier: BSD-2-Clause */
/* What is going on, for status, tree, peers and counters: reads the composition, changes nothing.
 */
#include <string.h>

#include "core/gateway_impl.h"

static struct gwchannel *nth(const struct gmc_gateway *gw, size_t index)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &gw->channels)
    {
        if (index-- == 0)
            return GMC_CONTAINER_OF(node, struct gwchannel, node);
    }
    return NULL;
}

size_t gmc_gateway_channel_count(const struct gmc_gateway *gw)
{
    size_t count = 0;
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &gw->channels)
    {
        count++;
    }
    return count;
}

static void describe_plan(const struct gmc_gateway *gw, const struct gwchannel *ch,
                          struct gmc_plan_info *plan)
{
    const struct gmc_tree_prediction *p = &ch->src->prediction;
    bool of_domain = p->limit == GMC_TREE_LIMIT_UPLINK || p->limit == GMC_TREE_LIMIT_DOWNLINK;
    *plan = (struct gmc_plan_info){.time = p->time,
                                   .bound = p->bound,
                                   .rate_bps = p->rate_bps,
                                   .limit = p->limit,
                                   .copies = p->copies,
                                   .assumed = p->assumed,
                                   .measured = ch->src->limit_measured,
                                   .rates = ch->src->rates,
                                   .rate_count = ch->src->rate_count};
    if (of_domain) {
        plan->limit_domain = gw->peers[ch->src->limit_at]->name;
        plan->limit_bps = ch->src->limit_bps;
    }
}

/* Why it ended; while it runs, that it would not survive a restart, or cannot go on. */
static const char *reason_of(const struct gwchannel *ch)
{
    if (ch->reason[0] != '\0' || ch->ended_at != 0)
        return ch->reason;
    if (ch->is_source)
        return ch->src->save_error;
    return ch->dst->phase == GW_DONE ? "" : ch->dst->unheard;
}

bool gmc_gateway_channel_info(const struct gmc_gateway *gw, gmc_time now, size_t index,
                              struct gmc_channel_info *info)
{
    const struct gwchannel *ch = nth(gw, index);
    if (ch == NULL)
        return false;
    gmc_time end = ch->ended_at != 0 ? ch->ended_at : now;
    *info = (struct gmc_channel_info){.key = ch->key,
                                      .is_source = ch->is_source,
                                      .state = ch->state,
                                      .name = ch->talk != NULL ? ch->talk->name : NULL,
                                      .messages = ch->talk != NULL ? ch->talk->sequence : 0,
                                      .total_bytes = ch->object.total_bytes,
                                      .file_count = ch->file_count,
                                      .bytes = ch->stored_bytes,
                                      .rate_cap_bps = ch->record.rate_bps,
                                      .background = ch->record.background,
                                      .elapsed = gmc_time_sub(end, ch->opened_at),
                                      .tree_version = ch->record.version,
                                      .reason = reason_of(ch)};
    info->shape = ch->is_source ? ch->src->shape : (enum gmc_tree_shape)ch->record.shape;
    if (ch->digest_known)
        memcpy(info->digest, ch->digest, GMC_HASH_BYTES);
    if (ch->is_source) {
        info->member_count = ch->src->member_count;
        info->rate_cap_bps = ch->src->rate_bps;
        info->background = ch->src->background;
        info->is_saving = ch->talk == NULL && !ch->src->plan && !ch->src->is_on_disk;
        info->bytes = info->total_bytes;
        if (ch->src->setup_end != 0)
            info->setup = gmc_time_sub(ch->src->setup_end, ch->opened_at);
        if (ch->state == GMC_CHANNEL_PLANNED)
            describe_plan(gw, ch, &info->plan);
    } else if (ch->recorded) {
        info->member_count = ch->record.members + ch->dst->node_count;
        if (info->state == GMC_CHANNEL_RUNNING && ch->dst->phase == GW_DONE &&
            gw_nodes_are_settled(ch))
            info->state = GMC_CHANNEL_COMPLETE;
    }
    return true;
}

static uint64_t latency_between(const struct gmc_gateway *gw, const char *a, const char *b)
{
    const struct gwpeer *one = gw_peer_known(gw, a), *other = gw_peer_known(gw, b);
    return one != NULL && other != NULL ? gmc_gateway_latency(gw, one->number, other->number) : 0;
}

/* As it reports, before that as the tree says. */
static const char *parent_of(const struct gmc_gateway *gw, const struct gwchannel *ch,
                             const struct gwmember *member, uint32_t stripe)
{
    gmc_peer parent = member->actual_parent[stripe];
    int32_t place = member->parent[stripe];
    bool is_planned = ch->state == GMC_CHANNEL_PLANNED && member->placed;
    if (parent == GMC_PEER_NONE && (ch->recorded || is_planned))
        parent = place > 0 ? ch->src->members[place - 1].peer : gw->self;
    return parent != GMC_PEER_NONE ? gw->peers[parent]->name : NULL;
}

static void source_member(const struct gmc_gateway *gw, const struct gwchannel *ch, gmc_time now,
                          const struct gwmember *member, struct gmc_member_info *info)
{
    const struct gwpeer *peer = gw->peers[member->peer];
    uint64_t repairs = member->repairs_before;
    for (uint32_t k = 0; k < ch->stripe_count; k++)
        repairs += member->repairs_now[k];
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &ch->children)
    {
        const struct gwchild *child = GMC_CONTAINER_OF(node, struct gwchild, in_channel);
        if (child->peer == peer)
            repairs += child->tx.repairs_sent;
    }
    gmc_time end = member->verified_at != 0 ? member->verified_at
                   : ch->ended_at != 0      ? ch->ended_at
                                            : now;
    *info = (struct gmc_member_info){.domain = peer->name,
                                     .is_node = peer->is_node,
                                     .path = member->path,
                                     .state = member->state,
                                     .bytes = member->bytes,
                                     .repairs = repairs,
                                     .nodes = member->nodes,
                                     .nodes_verified = member->nodes_verified,
                                     .nodes_failed = member->nodes_failed,
                                     .nodes_left = member->nodes_left,
                                     .elapsed = gmc_time_sub(end, ch->opened_at),
                                     .reason = member->reason};
    memcpy(info->digest, member->digest, GMC_HASH_BYTES);
    info->stripes = ch->stripe_count;
    info->parent = parent_of(gw, ch, member, 0);
    for (uint32_t k = 1; k < ch->stripe_count; k++)
        info->more_parents[k - 1] = parent_of(gw, ch, member, k);
    if (info->parent != NULL)
        info->latency_ns = latency_between(gw, info->parent, peer->name);
}

/* A target knows its own way up, and of the members on it no more than that they are. */
static const char *above(const struct gmc_gateway *gw, const struct gwchannel *ch, size_t i,
                         uint32_t stripe)
{
    const struct gmc_overlay *overlay = &ch->stripes[stripe].overlay;
    gmc_peer parent = i == 0 ? gmc_overlay_parent(overlay) : GMC_PEER_NONE;
    if (parent == GMC_PEER_NONE)
        parent = overlay->ancestors[i];
    return gmc_gateway_peer_name(gw, parent);
}

static void self_info(const struct gmc_gateway *gw, const struct gwchannel *ch,
                      struct gmc_member_info *info)
{
    info->domain = gw->domain;
    info->path = ch->dst->dest;
    info->reason = ch->reason;
    struct gwnode_counts nodes = gw_nodes_count(ch);
    info->nodes = nodes.all;
    info->nodes_verified = nodes.verified;
    info->nodes_failed = nodes.failed;
    info->nodes_left = nodes.left;
    info->bytes = ch->stored_bytes;
    info->parent = above(gw, ch, 0, 0);
    for (uint32_t k = 1; k < ch->stripe_count; k++)
        info->more_parents[k - 1] = above(gw, ch, 0, k);
    if (ch->dst->phase == GW_DONE) {
        info->state = GMC_MEMBER_VERIFIED;
        memcpy(info->digest, ch->digest, GMC_HASH_BYTES);
    } else if (ch->closing) {
        info->state = GMC_MEMBER_FAILED;
    }
}

/* A node is told of one parent, for all stripes. */
static void node_info(const struct gmc_gateway *gw, const struct gwnode *node,
                      struct gmc_member_info *info)
{
    info->domain = node->peer->name;
    info->is_node = true;
    info->parent = node->fed_by != GMC_PEER_NONE ? gw->peers[node->fed_by]->name : gw->domain;
    for (uint32_t k = 1; k < info->stripes; k++)
        info->more_parents[k - 1] = info->parent;
    info->state = node->left ? GMC_MEMBER_LEFT : node->state;
    info->bytes = node->bytes;
    info->reason = node->reason;
    if (node->state == GMC_MEMBER_VERIFIED)
        memcpy(info->digest, node->digest, GMC_HASH_BYTES);
}

/* This gateway first, then the nodes of its domain, then those above it in the first tree; the
 * source is no member. */
static bool target_member(const struct gmc_gateway *gw, const struct gwchannel *ch, gmc_time now,
                          size_t i, struct gmc_member_info *info)
{
    size_t nodes = ch->dst->node_count;
    gmc_time end = ch->ended_at != 0 ? ch->ended_at : now;
    if (!ch->recorded || i >= nodes + ch->stripes[0].overlay.depth)
        return false;
    *info = (struct gmc_member_info){.path = "",
                                     .state = GMC_MEMBER_RECEIVING,
                                     .elapsed = gmc_time_sub(end, ch->opened_at),
                                     .stripes = ch->stripe_count,
                                     .reason = ""};
    if (i == 0) {
        self_info(gw, ch, info);
        return true;
    }
    if (i <= nodes) {
        node_info(gw, &ch->dst->nodes[i - 1], info);
        return true;
    }
    i -= nodes;
    info->domain = gmc_gateway_peer_name(gw, ch->stripes[0].overlay.ancestors[i - 1]);
    info->parent = above(gw, ch, i, 0);
    return true;
}

bool gmc_gateway_member_info(const struct gmc_gateway *gw, gmc_time now, size_t index, size_t i,
                             struct gmc_member_info *info)
{
    const struct gwchannel *ch = nth(gw, index);
    if (ch == NULL)
        return false;
    if (ch->is_source) {
        if (i >= ch->src->member_count)
            return false;
        source_member(gw, ch, now, &ch->src->members[i], info);
        return true;
    }
    return target_member(gw, ch, now, i, info);
}

size_t gmc_gateway_peer_count(const struct gmc_gateway *gw)
{
    return gw->peer_count;
}

bool gmc_gateway_peer_info(const struct gmc_gateway *gw, gmc_time now, gmc_peer number,
                           struct gmc_peer_info *info)
{
    if (number >= gw->peer_count)
        return false;
    const struct gwpeer *peer = gw->peers[number];
    *info = (struct gmc_peer_info){.domain = peer->name,
                                   .up = peer->up,
                                   .is_node = peer->is_node,
                                   .forges = peer->forges,
                                   .is_suspect = gw_is_suspect(gw, now, peer),
                                   .wait = GMC_WAIT_NOTHING,
                                   .reason = peer->reason,
                                   .bytes_sent = peer->before_bytes_sent,
                                   .bytes_received = peer->before_bytes_received,
                                   .packets_sent = peer->before_packets_sent,
                                   .packets_lost = peer->before_packets_lost};
    if (peer->link == NULL)
        return true;
    struct gmc_link_info link;
    gmc_link_info(peer->link, &link);
    info->path = link.path;
    info->rtt_ns = link.srtt;
    info->min_rtt_ns = link.min_rtt;
    info->rate_bps = link.rate_bps;
    info->bytes_sent += link.bytes_sent;
    info->bytes_received += link.bytes_received;
    info->packets_sent += link.packets_sent;
    info->packets_lost += link.packets_lost;
    info->payload_max = link.udp_payload_max;
    info->loss_ppm = link.loss_ppm;
    gmc_link_reach(peer->link, now, &info->udp_out, &info->udp_in);
    info->wait = gw_peer_wait(gw, now, peer);
    return true;
}

uint64_t gmc_gateway_latency(const struct gmc_gateway *gw, gmc_peer a, gmc_peer b)
{
    struct gmc_latency latency;
    if (a >= gw->peer_count || b >= gw->peer_count || a == b)
        return 0;
    if (gmc_latency_cache_get(gw->latencies, a, b, gw->now, GMC_TIME_NEVER, &latency))
        return latency.rtt_min;
    const struct gwpeer *peer = gw->peers[a == gw->self ? b : a];
    if ((a != gw->self && b != gw->self) || peer->link == NULL)
        return 0;
    struct gmc_link_info link;
    gmc_link_info(peer->link, &link);
    return link.min_rtt;
}

size_t gmc_gateway_counters(const struct gmc_gateway *gw, struct gmc_counter *out, size_t max)
{
    const struct gwcounts *c = &gw->counts;
    const struct gmc_counter all[] = {
        {"datagrams_in", c->datagrams_in},
        {"datagrams_out", c->datagrams_out},
        {"dropped_session", c->dropped_session},
        {"dropped_auth", c->dropped_auth},
        {"dropped_replay", c->dropped_replay},
        {"dropped_malformed", c->dropped_malformed},
        {"dropped_handle", c->dropped_handle},
        {"dropped_full", c->dropped_full},
        {"dropped_duplicate", c->dropped_duplicate},
        {"dropped_seal", c->dropped_seal},
        {"group_sent", c->group_sent},
        {"group_repairs", c->group_repairs},
        {"group_received", c->group_received},
        {"group_recovered", c->group_recovered},
        {"group_dropped", c->group_dropped},
        {"group_forged", c->group_forged},
        {"echoes_refused", c->echoes_refused},
        {"messages_in", c->messages_in},
        {"messages_bad", c->messages_bad},
        {"messages_unknown", c->messages_unknown},
        {"messages_refused", c->messages_refused},
        {"blocks_stored", c->blocks_stored},
        {"blocks_bad", c->blocks_bad},
        {"blocks_read", c->blocks_read},
        {"blocks_sealed", c->blocks_sealed},
        {"blocks_forgotten", c->blocks_forgotten},
        {"checkpoints", c->checkpoints},
        {"repairs_passed", c->repairs_passed},
        {"transfers_left", c->transfers_left},
        {"data_bytes_in", c->data_bytes_in},
        {"data_bytes_out", c->data_bytes_out},
        {"cache_bytes", gmc_cache_bytes_used(gw->cache)},
    };
    size_t n = sizeof(all) / sizeof(all[0]);
    if (n > max)
        n = max;
    memcpy(out, all, n * sizeof(all[0]));
    return n;
}
