/* SPDX-License-Identifier: BSD-2-Clause */
/* One transfer in a simulated world, measured: what most experiments do. */
#ifndef EXPERIMENTS_TRANSFER_H
#define EXPERIMENTS_TRANSFER_H

#include "sim-wan/scenario.h"

#define EX_MEMBERS_MAX 64

struct ex_member {
    bool verified;
    double seconds; /* from the command until it had proved the object */
    uint64_t repairs;
    uint32_t parent; /* host */
};

struct ex_result {
    bool complete;         /* at every target */
    double seconds;        /* from the command until its source knew the end */
    double setup_seconds;  /* to the first datagram of data */
    uint64_t events;       /* of the whole run */
    uint64_t source_bytes; /* that left the source on all its wires, heads included */
    uint64_t first_bytes;  /* that its busiest wire took from it */
    uint64_t wire_bytes;   /* of all wires, both ways: bytes times hops */
    uint64_t repairs;      /* fragments that parents sent again */
    uint32_t depth;        /* of the tree in the end */
    uint32_t violations;   /* of the oracles: 0 */
    size_t members;
    struct ex_member member[EX_MEMBERS_MAX]; /* host i + 1 */
};

struct ex_transfer {
    uint64_t bytes;
    enum gmc_tree_shape shape;
    gmc_duration limit; /* of virtual time */
    size_t targets;     /* hosts 1..targets; 0: all. What comes after them only passes packets on */
    /* Asked every 100 ms while it runs; may do something to the world. May be NULL. */
    void (*meanwhile)(void *ctx, struct sim_world *world, const struct gmc_channel_key *key);
    void *ctx;
};

/* Starts the world, connects the gateways with a transfer of one byte, then stages from host 0 to
 * the targets and measures that. The counts of wires begin with it. */
void ex_transfer_run(struct sim_world *world, const struct ex_transfer *transfer,
                     struct ex_result *result);

/* A wire of so many Mbit/s and ms one way, with a queue of 50 ms. */
struct sim_wire_config ex_wire(double mbps, double delay_ms, double loss_percent);

#endif
