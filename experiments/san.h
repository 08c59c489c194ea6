/* SPDX-License-Identifier: BSD-2-Clause */
/* A multicast inside a cluster, as interconnect/torus/simulate.h and interconnect/star/simulate.h
 * do it event by event (their heads list all costs), at a time of the WAN's engine. Messages are
 * stored and forwarded; the Myrinet interface works at the wire's rate. Nothing is taken from
 * closed forms.
 */
#ifndef EXPERIMENTS_SAN_H
#define EXPERIMENTS_SAN_H

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
