/* SPDX-License-Identifier: BSD-2-Clause */
/* Latency in clusters of clusters: C clusters, each an m-port n_i-tree of its own (ICN1) with a
 * second one for traffic that leaves (ECN1), concentrators, and a tree of C concentrators (ICN2).
 * Uniform traffic over all nodes, wormhole switching, no virtual channels.
 *
 *   Po_i   = (N - N_i)/(N - 1); C = 2 q^nc                                          (13)
 *   rates  intra, per channel: N_i (1 - Po_i) l d(n_i) / (D n_i N_i)                  (5), (10)
 *          ECN1: (N_i Po_i + N_v Po_v) l d(n_i) / (D n_i N_i)                         (6), (11)
 *          ICN2: lC d(nc) / (D nc), lC = (N_i^2 Po_i + N_v^2 Po_v) l / (N_i + N_v)    (7), (12)
 *   route  of K stages, from the last back: S = M t_cn, then S_k = M t_cs + sum of W behind,
 *          W_k = rate S_k^2/2; K = 2j - 1 intra, j + 2h + l - 1 inter           (16)-(18), (28),
 * (29) W(l,x) = l [x^2 + (x - M t_cn)^2] / 2 (1 - l x)                                   (19)-(23)
 *   R      = mean of (K - 1) t_cs + t_cn                                              (24), (32)
 *   T_i    = W(ls, S_i) + S_i + R_i                                                   (25)
 *   TE_i   = mean over the other clusters of W(le, S_iv) + S_iv + R_iv                (31)
 *   Wd_i   = mean over them of 2 lC (M t_cs)^2 / 2 (1 - lC M t_cs)                    (33), (34)
 *   latency_i = (1 - Po_i) T_i + Po_i (TE_i + Wd_i), mean over nodes                  (35), (36)
 *
 * Two readings are options: the source queue is that of a node (ls = (1 - Po_i) l, le = Po_i l), or
 * has the rate of the whole network as printed, which cannot be, as one cluster would saturate far
 * below where it does; and the divisor D of channel rates is 4 as printed, or 2, which is exact
 * (a tree has n N cables, 2 n N channels).
 *
 * Source: Javadi, Abawajy, Akbari, Nahavandi 2006.
 */
#ifndef INTERCONNECT_FATTREE_JAVADI_H
#define INTERCONNECT_FATTREE_JAVADI_H

#include <stdbool.h>

#include "interconnect/fattree/tree.h"

#define IC_JAVADI_KINDS_MAX 8u
#define IC_JAVADI_CLUSTERS_MAX 1048576u /* of one kind */
#define IC_JAVADI_FLITS_MAX 65536u

enum ic_javadi_queue { IC_JAVADI_QUEUE_NODE, IC_JAVADI_QUEUE_NETWORK };

/* Clusters of one size. */
struct ic_javadi_kind {
    uint32_t levels; /* n_i */
    uint32_t clusters;
};

struct ic_javadi {
    uint32_t ports; /* m, of every tree */
    struct ic_javadi_kind kinds[IC_JAVADI_KINDS_MAX];
    uint32_t kind_count;
    uint32_t flits;     /* M, of a message, 1..65536 */
    double node_time;   /* t_cn: a flit between node and switch, time units */
    double switch_time; /* t_cs: between switches */
    uint32_t divisor;   /* D: 4 or 2 */
    enum ic_javadi_queue queue;
};

/* Clusters and ports of the systems in print: 1120 nodes (32 clusters, m = 8) or 544 (16, m = 4);
 * the other members are left as they are. INVALID with words. */
GMC_NODISCARD gmc_status ic_javadi_system(struct ic_javadi *system, uint64_t nodes, char *error);
/* Times of flits of so many bytes: t_cn = 0.02/2 + bytes/500, t_cs = 0.01 + bytes/500. (14), (15)
 */
void ic_javadi_times(struct ic_javadi *system, double flit_bytes);

/* Trees of the kinds, ICN2 (not set with one cluster), and what there is in all; for simulators.
 * INVALID with words. */
GMC_NODISCARD gmc_status ic_javadi_trees(const struct ic_javadi *system, struct ic_fat_tree *trees,
                                         struct ic_fat_tree *top, uint32_t *clusters,
                                         uint64_t *nodes, char *error);

struct ic_javadi_part {
    double outgoing; /* Po_i */
    double intra;    /* T_i; time units, as all that follow */
    double inter;    /* TE_i; 0 when there is one cluster */
    double wait;     /* Wd_i, concentrator and dispatcher */
    double latency;
};

struct ic_javadi_latency {
    bool saturated; /* some queue is full: the rest is 0 */
    double latency;
    struct ic_javadi_part parts[IC_JAVADI_KINDS_MAX]; /* by kind */
};

/* load: messages per node and time unit, 0 to 1/(M t_cn). INVALID with words. */
GMC_NODISCARD gmc_status ic_javadi_latency(const struct ic_javadi *system, double load,
                                           struct ic_javadi_latency *out, char *error);

/* The supremum of loads that have a solution. INVALID with words. */
GMC_NODISCARD gmc_status ic_javadi_saturation(const struct ic_javadi *system, double *load,
                                              char *error);

#endif
