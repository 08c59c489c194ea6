/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether UDP gets through, each direction by itself: what was heard, what was answered. */
#include "core/link_impl.h"

#define ASKED_MIN 3 /* challenges; fewer may have been lost */
#define ANSWER_WAIT GMC_S(1)

static void begin(struct gmc_link *link, gmc_time now)
{
    link->reach.since = now;
    link->reach.asked = 0;
}

void gmc_link_reach_asks(struct gmc_link *link)
{
    link->reach.asked++;
}

/* From now on the peer can tell that our datagrams came although its own do not. */
void gmc_link_reach_may_be_told(struct gmc_link *link, gmc_time now)
{
    if (!link->reach.arrived)
        begin(link, now);
}

void gmc_link_test(struct gmc_link *link, gmc_time now)
{
    link->now = now;
    if (link->transport == GMC_TRANSPORT_TCP || link->state == GMC_LINK_DEAD)
        return;
    link->wakes = true;
    link->reach.heard = link->reach.arrived = false;
    begin(link, now);
    if (link->active == ROUTE_UDP) {
        link->reach.first = link->loss.next;
        link->pings_owed = link->pings_owed > 0 ? link->pings_owed : 1;
    } else {
        gmc_link_path_test(link, now);
    }
}

void gmc_link_reach_acked(struct gmc_link *link, enum gmc_path path, uint64_t largest)
{
    if (link->active == ROUTE_UDP && path == GMC_PATH_UDP && largest >= link->reach.first)
        link->reach.arrived = true;
}

void gmc_link_reach(const struct gmc_link *link, gmc_time now, enum gmc_reach *out,
                    enum gmc_reach *in)
{
    const struct link_reach *reach = &link->reach;
    gmc_duration wait = ANSWER_WAIT + 2 * link->loss.rtt.smoothed;
    /* Where UDP is in use and nothing comes back the link ends, and the next one looks. */
    bool is_over = reach->asked >= ASKED_MIN && gmc_time_add(reach->since, wait) <= now &&
                   link->active != ROUTE_UDP;

    *out = *in = GMC_REACH_UNKNOWN;
    if (reach->heard)
        *in = GMC_REACH_ARRIVES;
    else if (is_over)
        *in = GMC_REACH_LOST;
    /* Whoever is heard has answered what came there, and over TLS tells of what came as well. */
    if (reach->arrived)
        *out = GMC_REACH_ARRIVES;
    else if (is_over && (reach->heard || link->routes[ROUTE_STREAM].valid))
        *out = GMC_REACH_LOST;
}
