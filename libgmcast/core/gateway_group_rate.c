/* SPDX-License-Identifier: BSD-2-Clause */
/* What the nodes that the groups wait for lose, round by round, and the rate that follows from it.
 * All groups go through one port to one network, so they have one rate; one node that loses far
 * more than the others is not waited for and has no say (gateway_group_listen.c). */
#include "core/gateway_group_impl.h"

#define ROUND_MAX GMC_MS(500) /* then whoever told too little in it is not waited for */
#define SAID_PERCENT 75u      /* of the rate that was said last: it is said again */
#define PPM 1000000u
#define PACKET_BYTES 1500u /* of the pace */
#define RATE_TEXT_MAX 32
#define RATE_IN_KBIT 10000000u /* below it */

void gw_group_rate_reset(struct gmc_gateway *gw, uint64_t rate_bps)
{
    gmc_group_rate_init(&gw->group_rate, rate_bps);
    gmc_pace_set(&gw->group_pace, rate_bps, PACKET_BYTES);
    gw->group_round.said_bps = 0;
}

/* The worst of those that count and have told enough. False: others that have spoken in the round
 * are still to tell more. Whoever has not may be in a group that sends nothing. */
static bool worst_of_round(const struct gmc_gateway *gw, uint32_t *loss_ppm)
{
    bool any = false, all = true;
    *loss_ppm = 0;
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &gw->groups)
    {
        const struct gwgroup *group = GMC_CONTAINER_OF(node, struct gwgroup, node);
        for (size_t i = 0; i < group->count; i++) {
            const struct gwlistener *each = &group->listeners[i];
            if (!gw_listener_counts(each) || each->round.number != gw->group_round.number)
                continue;
            if (!each->round.loss_known)
                all = false;
            else if (each->round.loss_ppm >= *loss_ppm)
                *loss_ppm = each->round.loss_ppm;
            any = any || each->round.loss_known;
        }
    }
    return any && (all || gw->now >= gmc_time_add(gw->group_round.began, ROUND_MAX));
}

static void rate_text(uint64_t bps, char out[RATE_TEXT_MAX])
{
    bool is_slow = bps < RATE_IN_KBIT;
    gw_text(out, RATE_TEXT_MAX, "%llu %s", (unsigned long long)(bps / (is_slow ? 1000 : 1000000)),
            is_slow ? "kbit/s" : "Mbit/s");
}

static void say(struct gmc_gateway *gw)
{
    const struct gmc_group_rate *rate = &gw->group_rate;
    uint64_t *said = &gw->group_round.said_bps;
    bool at_most = rate->bps == rate->most_bps;
    char now[RATE_TEXT_MAX], most[RATE_TEXT_MAX];
    if (rate->trial != GMC_GROUP_STEADY || (at_most && *said == 0) ||
        (!at_most && *said != 0 && rate->bps > *said / 100 * SAID_PERCENT))
        return;
    *said = at_most ? 0 : rate->bps;
    rate_text(rate->bps, now);
    rate_text(rate->most_bps, most);
    if (at_most)
        gw_event(gw, GMC_EVENT_LINK, NULL, gw->self, GMC_OK, "multicast to the nodes is back at %s",
                 most);
    else
        gw_event(gw, GMC_EVENT_LINK, NULL, gw->self, GMC_OK,
                 "multicast to the nodes goes at %s of %s: at more they lose it", now, most);
}

static void end_round(struct gmc_gateway *gw, uint32_t loss_ppm)
{
    struct gwgroup_round *round = &gw->group_round;
    gmc_duration took = gmc_time_sub(gw->now, round->began);
    uint64_t us = took / GMC_US(1);
    uint64_t sent_bps = us > 0 ? round->sent * 8 * (GMC_S(1) / GMC_US(1)) / us : 0;
    gmc_group_rate_round(&gw->group_rate, gw->now, sent_bps, loss_ppm);
    gmc_pace_set(&gw->group_pace, gw->group_rate.bps, PACKET_BYTES);
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &gw->groups)
    {
        struct gwgroup *group = GMC_CONTAINER_OF(node, struct gwgroup, node);
        group->rate_from = group->next_packet;
    }
    say(gw);
    round->number++;
    round->is_open = false;
}

static uint32_t packet_bytes(const struct gwgroup *group)
{
    return group->channel->object.fragment_bytes + GMC_DATA_OVERHEAD_BYTES + GMC_LINK_WIRE_BYTES;
}

void gw_group_rate_heard(struct gmc_gateway *gw, const struct gwgroup *group,
                         struct gwlistener *listener, const struct gmc_msg *msg)
{
    struct gwgroup_round *round = &gw->group_round;
    struct gwlistener_round *told = &listener->round;
    uint32_t worst;
    if (msg->next <= group->rate_from)
        return; /* it went at another rate */
    if (!round->is_open)
        *round = (struct gwgroup_round){.number = round->number + (round->number == 0),
                                        .is_open = true,
                                        .began = gw->now,
                                        .said_bps = round->said_bps};
    if (told->number != round->number || msg->next < told->next || msg->received < told->received) {
        *told = (struct gwlistener_round){.number = round->number,
                                          .received = msg->received,
                                          .next = msg->next};
        return;
    }
    uint64_t expected = msg->next - told->next;
    uint64_t received = msg->received - told->received;
    if (expected < gmc_group_rate_sample(&gw->group_rate, packet_bytes(group)))
        return;
    told->loss_ppm = received < expected ? (uint32_t)((expected - received) * PPM / expected) : 0;
    told->loss_known = true;
    if (worst_of_round(gw, &worst))
        end_round(gw, worst);
}
