/* SPDX-License-Identifier: BSD-2-Clause */
/* What the ways of P-cube routing cross, whatever the load: counted by classes of channels and by
 * sources of equal weight, which pcube.h explains. */
#ifndef INTERCONNECT_HYPERCUBE_PCUBE_WAYS_H
#define INTERCONNECT_HYPERCUBE_PCUBE_WAYS_H

#include "interconnect/hypercube/pcube.h"

#define IC_PCUBE_CLASSES_MAX (2 * IC_PCUBE_N_MAX)
#define IC_PCUBE_ROWS_MAX (IC_PCUBE_CLASSES_MAX + IC_PCUBE_N_MAX + 1)

/* A row is a mean over pairs: of class 0..2n - 1 (negative z = 0..n-1, then positive) those through
 * one of its channels by their path counts, then for weights 0..n of a source all its
 * destinations. */
struct ic_pcube_ways {
    uint32_t n, classes;
    double rate[IC_PCUBE_CLASSES_MAX];           /* f(z) */
    uint32_t alternatives[IC_PCUBE_CLASSES_MAX]; /* most that there are at a hop of a class */
    double sources[IC_PCUBE_N_MAX + 1];          /* share of sources of a weight */
    double hops[IC_PCUBE_ROWS_MAX];
    /* Hops in a class with alternatives 1 and more, by row. */
    double uses[IC_PCUBE_CLASSES_MAX][IC_PCUBE_N_MAX][IC_PCUBE_ROWS_MAX];
    /* Of a source's ways: the share of hops in a class, each way counting the same. */
    double part[IC_PCUBE_CLASSES_MAX][IC_PCUBE_N_MAX + 1];
};

/* n 1..12. */
void ic_pcube_ways_init(struct ic_pcube_ways *ways, uint32_t n);

#endif
