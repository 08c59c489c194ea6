/* SPDX-License-Identifier: BSD-2-Clause */
/* A multicast inside a cluster, event by event: processors, network interfaces and links are busy
 * for a time with each message, a message waits for what is busy, and who has received it sends it
 * on as the schedule says. Nothing is known here of closed forms.
 *
 * Costs per message, M bytes, of the sources' testbeds (Oral 2003, chapters 2 and 3):
 *   SCI      processor 1.994 us + 3.15 ns (M - 128) to send and to receive; at a node that
 * forwards, once: Md 206, Mu 201, U 629, S 265 us; separate: 7 us with each message Myrinet
 * host 9.864 us + 31.5 ns M; interface 0.697 us + 6.25 ns M (the wire's rate: the printed 8.33 us
 * per byte holds for a few bytes only); copies between them 26 and 28 us + 7.6 ns M (a PCI bus of
 * 132 MB/s); host-based and NIC-assisted: 19.2, 12.2, 7.2, 22.2 us for binomial, binary, serial,
 * separate; NIC-based: 145.2, 92.2, 79.2, 233.1 us links    SCI 5.3 Gbit/s, 14 ns per hop, 60 ns
 * per node passed, 670 ns where the ring changes; Myrinet 1.28 Gbit/s, 0.5 us through the switch
 *
 * A message leaves while the processor copies it, so its end is on the wire when the copy ends; at
 * each link it waits for those before it. It is forwarded when it was received as a whole.
 */
#ifndef EXPERIMENTS_SAN_H
#define EXPERIMENTS_SAN_H

#include <stdbool.h>

#include "interconnect/schedule.h"
#include "interconnect/star/multicast.h"
#include "interconnect/torus/multicast.h"
#include "sim-wan/engine.h"

enum ex_san_kind { EX_SCI, EX_MYRINET_HOST, EX_MYRINET_NIC, EX_MYRINET_ASSISTED, EX_SAN_KINDS };

struct ex_san_config {
    enum ex_san_kind kind;
    int algorithm;    /* enum ic_torus_algorithm or ic_star_algorithm */
    uint32_t group;   /* members, the root among them */
    uint32_t k;       /* SCI: a torus of k x k, */
    uint32_t draw;    /* of whose nodes the group is the draw-th random choice */
    uint32_t message; /* bytes */
};

/* "SCI Md-torus", "Myrinet NIC binary". */
void ex_san_name(const struct ex_san_config *config, char *out, size_t size);

struct ex_san;

/* Schedules a multicast on the engine: the root has the message at `when`. done is called when the
 * last member has it. Aborts on a config that is none. Free it after done. */
struct ex_san *ex_san_start(struct sim_engine *engine, const struct ex_san_config *config,
                            gmc_time when, void (*done)(void *ctx, gmc_time now), void *ctx);
void ex_san_free(struct ex_san *san);

#endif
