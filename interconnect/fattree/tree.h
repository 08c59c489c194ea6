/* SPDX-License-Identifier: BSD-2-Clause */
/* The m-port n-tree: a fat tree of n levels of switches with m ports each, q = m/2 of them down.
 *
 *   N           = 2 q^n nodes                                                  (1)
 *   switches    = (2n - 1) q^(n-1)                                             (2)
 *   P(j)        = (q - 1) q^(j-1) / (N - 1) for j < n, (m - 1) q^(n-1) / (N - 1) for j = n:
 *                 share of destinations whose route goes up j links and down j   (4)
 *   d           = sum 2 j P(j), the mean number of links of a route            (8)
 *
 * Source: Javadi, Abawajy, Akbari, Nahavandi 2006.
 */
#ifndef INTERCONNECT_FATTREE_TREE_H
#define INTERCONNECT_FATTREE_TREE_H

#include <stdint.h>

#include "interconnect/error.h"

#define IC_FAT_TREE_PORTS_MAX 128u
#define IC_FAT_TREE_LEVELS_MAX 29u
#define IC_FAT_TREE_NODES_MAX 1073741824u

struct ic_fat_tree {
    uint32_t ports;  /* m */
    uint32_t levels; /* n */
    uint32_t half;   /* q */
    uint32_t nodes;  /* N */
    uint64_t switches;
};

/* m even, 4..128; n 1..29; N at most 2^30. INVALID with words. */
GMC_NODISCARD gmc_status ic_fat_tree_init(struct ic_fat_tree *tree, uint64_t ports, uint64_t levels,
                                          char *error);
/* P(j), j 1..n. */
double ic_fat_tree_share(const struct ic_fat_tree *tree, uint32_t j);
/* d. */
double ic_fat_tree_distance(const struct ic_fat_tree *tree);

#endif
