/* SPDX-License-Identifier: BSD-2-Clause */
/* One multicast through a switch, event by event.
 *
 * Costs, of the source's testbed: the host takes 9.864 us + 31.5 ns m, the interface 0.697 us +
 * 8.3325 us m; that rate cannot hold beyond a few bytes, where the wire's takes its place, 6.25 ns
 * m. Copies between host and interface 26 and 28 us; beyond a few bytes with 7.6 ns m, a PCI bus
 * of 132 MB/s. Per message, or once at a node that forwards: host-based and NIC-assisted 19.2,
 * 12.2, 7.2, 22.2 us for binomial, binary, serial, separate; NIC-based 145.2, 92.2, 79.2, 233.1.
 * Links 1.28 Gbit/s, 0.5 us through the switch, 21 ns per cable.
 *
 * Source: Oral 2003, chapter 3.
 */
#ifndef INTERCONNECT_STAR_SIMULATE_H
#define INTERCONNECT_STAR_SIMULATE_H

#include "interconnect/multicast.h"
#include "interconnect/star/latency.h"

#define IC_MYRINET_LINK_GBPS 1.28

struct ic_star_run {
    enum ic_myrinet_scheme scheme;
    enum ic_star_algorithm algorithm;
    uint32_t members;
    uint32_t bytes;
    uint32_t packet_bytes; /* 0: store and forward */
    bool by_turns;         /* see struct ic_multicast */
    bool is_at_wire_rate;  /* the interface, instead of as printed */
    void (*on_message)(void *ctx, const struct ic_send *send, uint32_t hops, double created,
                       double entered, double delivered);
    void *ctx;
};

/* link_us is NULL or has room for 2 * members: link 2 m leads from member m to the switch, 2 m + 1
 * from there. INVALID with words, NOMEM. */
GMC_NODISCARD gmc_status ic_star_simulate(const struct ic_star_run *run,
                                          struct ic_multicast_times *times, double *link_us,
                                          char *error);

#endif
