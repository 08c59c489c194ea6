/* SPDX-License-Identifier: BSD-2-Clause */
/* What stories of a domain share whose gateway reaches its nodes by multicast: S far away - A -
 * switch - n1 to n<nodes>, every port of the switch at LAN_RATE_BPS. */
#ifndef TESTS_SCENARIOS_LAN_H
#define TESTS_SCENARIOS_LAN_H

#include "tests/scenarios/story.h"

#define LAN_RATE_BPS UINT64_C(200000000)

struct lan {
    struct story story;
    size_t nodes;
};

struct lan_loss {
    uint32_t all_ppm;  /* that each node loses of what is sent to it */
    uint32_t last_ppm; /* that the last one does */
};

/* What is unusual of a domain; zeros: nothing. */
struct lan_unusual {
    size_t cache_bytes;
    uint32_t mtu;
    bool beyond;            /* B is behind A */
    uint64_t port_bps;      /* of the ports to nodes: multicast is configured for more */
    size_t wide;            /* so many nodes have ports like the gateway's nevertheless */
    uint64_t multicast_bps; /* that is configured; 0: what ports carry */
    size_t deaf;            /* so many nodes, the first ones, do not hear multicast */
    struct gmc_inside_tree tree;
};

void lan_begin(struct lan *lan, uint64_t seed, size_t nodes, const struct lan_loss *loss);
void lan_begin_with(struct lan *lan, uint64_t seed, size_t nodes, const struct lan_loss *loss,
                    const struct lan_unusual *unusual);
/* The i-th node, from 1. */
struct sim_host *lan_node(struct lan *lan, size_t i);
bool lan_has_it(struct lan *lan, size_t i);
/* Seconds from the stage until these nodes have it. */
double lan_run_to(struct lan *lan, size_t first, size_t last, gmc_duration limit);
/* Seconds that the object's bytes alone take over the gateway's wire. */
double lan_at_rate(uint64_t bytes);
/* Until the source has ended the channel; all have it. */
void lan_end(struct lan *lan);

#endif
