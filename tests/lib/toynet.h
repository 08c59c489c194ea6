/* SPDX-License-Identifier: BSD-2-Clause */
/* A few whole gateways in virtual time, without wires: datagrams arrive after a fixed delay or are
 * lost by chance, a wanted session is there after two delays, and the store is an object in memory
 * whose bytes follow from the seed, so that every byte that is written can be checked. */
#ifndef GMC_TESTS_TOYNET_H
#define GMC_TESTS_TOYNET_H

#include <stdbool.h>
#include <stdint.h>

#include "core/gateway.h"

#define TOYNET_NODES_MAX 16
#define TOYNET_START GMC_S(100)

/* What may differ between the gateways; changed at any time. */
struct toynet_node_config {
    gmc_duration store_delay; /* from a store operation to its answer */
    uint32_t loss_ppm;        /* of the datagrams to and from this gateway, each way */
    gmc_status refuse_open;   /* the store answers OPEN with this */
    gmc_status fail_writes;   /* the store answers WRITE with this */
    uint32_t corrupt_ppm;     /* of its data datagrams: a byte of the body is flipped */
    uint32_t rot_ppm;         /* of its reads: a byte is flipped before it is hashed */
    bool cut;                 /* nothing comes in or goes out */
};

struct toynet_config {
    uint64_t seed;
    gmc_duration delay;     /* of every datagram */
    uint64_t listing_bytes; /* of every object that is scanned */
    uint64_t total_bytes;
    uint64_t fixed_rate_bps;               /* of every link */
    uint64_t uplink_bps[TOYNET_NODES_MAX]; /* that its gateway is told */
    size_t cache_bytes;
    uint32_t children_max;
    gmc_duration patience;
    bool pass_repairs;
    struct toynet_node_config node; /* of all gateways, to begin with */
};

struct toynet_stats {
    uint64_t datagrams_sent, bytes_sent;
    uint64_t data_sent[TOYNET_NODES_MAX]; /* bytes of data datagrams, by receiver */
    uint64_t blocks_written;
    uint64_t blocks_rewritten; /* a block that was there already */
    uint64_t wrong_bytes;      /* blocks that passed for whole and were not the object's */
    uint64_t finished, closed, discarded;
    uint64_t rejects;
    uint64_t saves;
};

struct toynet;

/* Names the gateways n0.example, n1.example, ... */
struct toynet *toynet_new(const struct toynet_config *config, size_t nodes);
void toynet_free(struct toynet *net);

gmc_time toynet_now(const struct toynet *net);
struct gmc_gateway *toynet_gateway(struct toynet *net, size_t node);
const char *toynet_name(const struct toynet *net, size_t node);
struct toynet_node_config *toynet_node(struct toynet *net, size_t node);
const struct toynet_stats *toynet_stats(const struct toynet *net, size_t node);

/* Begins a transfer from one gateway to others (a mask of nodes). */
gmc_status toynet_stage(struct toynet *net, size_t source, uint32_t targets,
                        enum gmc_tree_shape shape, struct gmc_channel_key *key);
/* To be called after each input that a test gives to a gateway itself. */
void toynet_drain(struct toynet *net, size_t node);
/* The gateway is dropped and, at once, made anew from what it saved; its sessions break. */
void toynet_restart(struct toynet *net, size_t node);
/* The sessions between two gateways break; they are made anew when wanted. */
void toynet_break(struct toynet *net, size_t a, size_t b);

void toynet_run_until(struct toynet *net, gmc_time until);
/* Until the channel's state at this gateway is none of SCANNING, PROBING and RUNNING; false when
 * it is not by `limit`. */
bool toynet_run_over(struct toynet *net, size_t node, const struct gmc_channel_key *key,
                     gmc_time limit);
/* What the gateway tells of a channel; false if it knows none. */
bool toynet_channel(struct toynet *net, size_t node, const struct gmc_channel_key *key,
                    struct gmc_channel_info *info);
/* What the source tells of a member. */
bool toynet_member(struct toynet *net, size_t source, const struct gmc_channel_key *key,
                   size_t node, struct gmc_member_info *info);
/* The value of one of the gateway's counters. */
uint64_t toynet_counter(struct toynet *net, size_t node, const char *name);

#endif
