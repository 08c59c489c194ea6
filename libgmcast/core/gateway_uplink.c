/* SPDX-License-Identifier: BSD-2-Clause */
/* The uplink that all links of a gateway share, where its rate is known: data leaves at that rate
 * and no faster, and who has data to send has it in turn, by deficit round robin, in proportion to
 * its children. In trees of shape bulk each child of a stripe is planned the same rate, so these
 * are the shares of the plan; what one cannot use the others get. Left to congestion control alone,
 * each link would get the same, however many stripes it carries, or less the longer its round trip
 * is, and queues would stand. A link that has nobody to share with is left to it: probes above the
 * rate are how it finds rivals of other hosts, in a queue too short to show them otherwise. Where
 * the rate is not configured it is learnt, and where it is no queue is to stand (uplink.h): one too
 * short for that to be seen, which a burst leaves, stood for ever at the very rate of the wire.
 * Each link then took it for a full one of others, no longer believed what the wire loses, and gave
 * up its part for losses. So a little of the rate stays unused, which drains 2 ms in a second. */
#include "core/gateway_impl.h"

#define PACKET_BYTES 1500u /* of a turn and of the pace; what paths carry at least, about */
#define RATE_MAX UINT64_C(10000000000000)
#define PATH_LOOK GMC_MS(100)
#define UNUSED_PART 512u    /* of what is configured */
#define SLACK_MEMORY 512u   /* packets */
#define LATE_MAX GMC_MS(10) /* at a time: who was stopped shows nothing of the rate */
#define TURN_TIME GMC_MS(1) /* of all turns together, unless packets take longer */

void gw_uplink_init(struct gmc_gateway *gw)
{
    uint64_t limit = gw->config.uplink_bps - gw->config.uplink_bps / UNUSED_PART;

    gmc_list_init(&gw->turns);
    if (limit > 0)
        gmc_pace_set(&gw->uplink, limit, PACKET_BYTES);
    gw->learnt.limit_bps = limit;
    gw->uplink.held_since = GMC_TIME_NEVER;
}

static bool is_known(const struct gmc_gateway *gw)
{
    return gw->uplink.rate_bps > 0;
}

static void forget(struct gmc_gateway *gw)
{
    gw->uplink.rate_bps = 0;
    while (!gmc_list_is_empty(&gw->turns)) {
        struct gwpeer *peer =
            GMC_CONTAINER_OF(gmc_list_first(&gw->turns), struct gwpeer, turn_node);
        gw_uplink_release(gw, peer);
        gw_touch(gw, peer);
    }
}

void gw_uplink_pay(struct gmc_gateway *gw, size_t udp_payload)
{
    gmc_duration lost;

    if (!is_known(gw))
        return;
    lost = gmc_pace_pay(&gw->uplink, gw->now, udp_payload + GMC_LINK_WIRE_BYTES);
    if (gw->uplink_waits)
        gw->uplink_late += lost < LATE_MAX ? lost : LATE_MAX;
    gw->uplink_waits = false;
}

gmc_time gw_uplink_deadline(const struct gmc_gateway *gw)
{
    return gmc_list_is_empty(&gw->turns) ? GMC_TIME_NEVER : gmc_pace_batch_time(&gw->uplink);
}

bool gw_uplink_is_held(const struct gwpeer *peer)
{
    return peer->in_turn;
}

bool gw_uplink_hold(struct gmc_gateway *gw, struct gwpeer *peer)
{
    /* Nodes are on this side of it. */
    if (!is_known(gw) || peer->is_node || gw->feeding < 2 || gmc_list_is_empty(&peer->children))
        return false;
    if (peer->in_turn)
        return true;
    peer->in_turn = true;
    peer->turn_bytes = 0;
    gmc_list_push_back(&gw->turns, &peer->turn_node);
    gw->turn_count++;
    gmc_link_hold(peer->link, gw->now);
    return true;
}

void gw_uplink_release(struct gmc_gateway *gw, struct gwpeer *peer)
{
    if (!peer->in_turn)
        return;
    peer->in_turn = false;
    gmc_list_remove(&peer->turn_node);
    gw->turn_count--;
    gmc_link_hold(peer->link, GMC_TIME_NEVER);
}

/* ---- what it was seen to carry ---- */
static void learn(struct gmc_gateway *gw, const struct gwpeer *peer, uint64_t bytes, bool held)
{
    if (gw->config.fixed_rate_bps > 0 || gw->feeding < 2)
        return;
    uint32_t lost_ppm = gmc_link_loss_ppm(peer->link); /* the uplink has carried that as well */
    struct gmc_uplink_ack ack = {.now = gw->now,
                                 .link = peer->number,
                                 .bytes = bytes * UINT64_C(1000000) / (1000000 - lost_ppm),
                                 .held = held,
                                 .late = gw->uplink_late,
                                 .queue = gmc_link_queue(peer->link),
                                 .rtt = gmc_link_least_rtt(peer->link)};
    gw->uplink_late = 0;
    if (!gmc_uplink_on_ack(&gw->learnt, &ack))
        return;
    if (gw->learnt.rate_bps > 0)
        gmc_pace_set(&gw->uplink, gw->learnt.rate_bps, PACKET_BYTES);
    else
        forget(gw);
}

/* Much less than its share of the uplink, though there is more for it: what holds it back is the
 * path, or where that ends. */
static bool is_held_by_path(const struct gmc_gateway *gw, struct gwpeer *peer)
{
    if (gmc_time_sub(gw->now, peer->path_looked_at) >= PATH_LOOK) {
        uint64_t uplink = gw->config.uplink_bps;
        if (uplink == 0)
            uplink = gw_uplink_measured(gw).limit;
        peer->path_looked_at = gw->now;
        peer->held_by_path =
            gmc_link_rate(peer->link) < uplink / (gw->feeding > 0 ? gw->feeding : 1) / 4 * 3;
    }
    return peer->held_by_path;
}

/* The limit of the uplink shows when two or more could get more, and wait for one another: one
 * alone may be slow itself, and each of several may have a path of its own. Those that have nothing
 * to get, or are not to get more, are seen when they are heard of. Counted is what arrives: what a
 * path is said to lose is not sure enough to be added. */
void gw_uplink_delivered(struct gmc_gateway *gw, struct gwpeer *peer, const struct gwdelivered *got)
{
    if (peer->is_node)
        return;
    bool is_limit = gw->feeding > 1 && gw->learnt.is_shared;
    enum gmc_peak_held held = !got->was_waiting                    ? GMC_PEAK_SHORT
                              : is_limit                           ? GMC_PEAK_ALL
                              : gmc_link_rate_is_found(peer->link) ? GMC_PEAK_ONE
                                                                   : GMC_PEAK_START;
    struct gmc_peak_ack ack = {.now = gw->now,
                               .sent = got->newest,
                               .bytes = got->bytes,
                               .held = held};
    gmc_peak_add(&gw->peak, &ack, gw->config.probe_age_max);
    if (held > GMC_PEAK_SHORT)
        ack.held = is_held_by_path(gw, peer) ? GMC_PEAK_ALL : GMC_PEAK_SHORT;
    gmc_peak_add(&peer->path, &ack, gw->config.probe_age_max);
    /* The packet that ends a period is of it, and those that came with it are of the next one. */
    learn(gw, peer, got->first, got->was_waiting);
    if (got->bytes > got->first)
        learn(gw, peer, got->bytes - got->first, got->was_waiting);
}

uint64_t gw_uplink_path(const struct gmc_gateway *gw, const struct gwpeer *peer)
{
    gmc_duration age = gw->config.probe_age_max;
    uint64_t limit = gmc_peak_limit(&peer->path, gw->now, age);
    /* What it has carried besides is more than a limit would let it. */
    bool is_limit = limit >= gmc_peak_most(&peer->path, gw->now, age) / 8 * 7;
    return is_limit && gmc_peak_is_sure(&peer->path, gw->now, age) ? limit : 0;
}

/* A limit that transfers have shown is known better than by a train, which may have met a bucket
 * full of tokens. */
struct gwmeasured gw_uplink_measured(const struct gmc_gateway *gw)
{
    gmc_duration age = gw->config.probe_age_max;
    struct gwmeasured shown = {.most = gmc_peak_most(&gw->peak, gw->now, age),
                               .busy = gmc_peak_busy(&gw->peak, gw->now, age),
                               .limit = gmc_peak_limit(&gw->peak, gw->now, age)};
    bool is_sure = gmc_peak_is_sure(&gw->peak, gw->now, age);
    if (!is_sure && gw->trained.at != 0 && gmc_time_sub(gw->now, gw->trained.at) <= age) {
        if (gw->trained.rate_bps > shown.most)
            shown.most = gw->trained.rate_bps;
        shown.busy = shown.limit = shown.most;
    }
    return shown;
}

/* Into a JOIN or STATUS. */
void gw_uplink_say(const struct gmc_gateway *gw, struct gmc_msg *msg)
{
    struct gwmeasured shown = gw_uplink_measured(gw);
    msg->measured_bps = shown.most;
    msg->measured_busy_bps = shown.busy;
    msg->measured_limit_bps = shown.limit;
}

uint64_t gw_rate_bounded(uint64_t rate_bps)
{
    return rate_bps < RATE_MAX ? rate_bps : RATE_MAX;
}

/* Who has measured nothing lately says nothing, and what it said before grows old. */
void gw_uplink_heard(struct gmc_gateway *gw, struct gwpeer *peer, const struct gmc_msg *msg)
{
    if (msg->measured_bps == 0)
        return;
    peer->measured_bps = gw_rate_bounded(msg->measured_bps);
    peer->measured_busy_bps = gw_rate_bounded(msg->measured_busy_bps);
    peer->measured_limit_bps = gw_rate_bounded(msg->measured_limit_bps);
    peer->measured_at = gw->now;
}

/* ---- turns ---- */
/* Bytes that one child may send in a turn. */
static size_t turn_bytes(const struct gmc_gateway *gw)
{
    uint64_t all = gw->uplink.rate_bps / 8 / (GMC_S(1) / TURN_TIME);
    uint64_t bytes = all / gw->turn_count;
    if (bytes > 65536)
        bytes = 65536;
    return bytes < 2 * PACKET_BYTES ? 2 * PACKET_BYTES : (size_t)bytes;
}

void gw_uplink_sent(struct gmc_gateway *gw, struct gwpeer *peer, size_t bytes)
{
    size_t turn = turn_bytes(gw) * gw_children_sending(peer);

    peer->turn_bytes += bytes;
    if (peer->turn_bytes < turn)
        return;
    peer->turn_bytes -= turn; /* what was too much is missing the next time */
    gmc_list_remove(&peer->turn_node);
    gmc_list_push_back(&gw->turns, &peer->turn_node);
    gmc_link_hold(peer->link, gw->now);
}

/* Who was late makes up for it here as on its links, or they could not: all go through one queue,
 * which has the room that any of them has seen lately. */
static void note_slack(struct gmc_gateway *gw, const struct gwpeer *peer)
{
    gmc_duration before = gw->uplink.slack - gw->uplink.slack / SLACK_MEMORY;

    gw->uplink.slack = gmc_time_max(before, gmc_link_slack(peer->link));
}

struct gwpeer *gw_uplink_next(struct gmc_gateway *gw)
{
    bool nobody = gmc_list_is_empty(&gw->turns);

    if (nobody || gw->uplink.paid_until > gw->now) {
        gw->uplink_waits = !nobody;
        return NULL;
    }
    struct gwpeer *peer = GMC_CONTAINER_OF(gmc_list_first(&gw->turns), struct gwpeer, turn_node);
    note_slack(gw, peer);
    return peer;
}
