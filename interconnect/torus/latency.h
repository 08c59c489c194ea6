/* SPDX-License-Identifier: BSD-2-Clause */
/* Latency of a multicast of small messages on an SCI torus, microseconds.
 *
 *   o(M)      = 1.994 + 0.00315 (M - 128), of sender and receiver alike
 *   L_i       = t_process + 2 o
 *   separate  = (G - 1)(o + 7) + o                                  (2-8), (2-10)
 *   Md        = 2 o + ceil(G / k) L_i                               (2-11)
 *   Mu        = 2 o + [G - r (p - 1) + |r - k|] L_i, p = floor(G/r) (2-12), for p >= 2
 *             = 2 o + (G - 2) L_i                                   for p < 2
 *   U         = 2 o + ceil(log2 G) ((G mod k) + k)/k L_i            (2-13)
 *   S         = 2 o + (G - 2) L_i                                   (2-14)
 *
 * (2-12) as printed has the bracket G - r (1 - p + |r - k|), which gets negative; it is here beside
 * the form above. (2-13) is with real and with integer division: which was plotted is not known.
 *
 * Source: Oral 2003, chapter 2; the constants are those of its testbed.
 */
#ifndef INTERCONNECT_TORUS_LATENCY_H
#define INTERCONNECT_TORUS_LATENCY_H

#include "interconnect/torus/multicast.h"

#define IC_SCI_BYTES_MAX 1048576u

/* Propagation per hop, forwarding at a node on the ring, switching between rings; these tiny terms
 * stand in (2-6) and are left out of the closed forms. */
#define IC_SCI_PROPAGATION_US 0.014
#define IC_SCI_FORWARD_US 0.060
#define IC_SCI_SWITCH_US 0.670

struct ic_sci_latency {
    double overhead; /* o(M) */
    double separate;
    double md;
    double mu;         /* the form that agrees with the text */
    double mu_printed; /* may be negative */
    double u;          /* real division */
    double u_floor;    /* integer division */
    double s;
};

/* o(M). */
double ic_sci_overhead_us(double message_bytes);
/* What an algorithm costs at each message (separate) or intermediate node (others). */
double ic_sci_process_us(enum ic_torus_algorithm algorithm);

/* k 2..1024; M 1 byte to 1 MiB; r 1..2^20; G 2..2^20. The formulas know no N: G may be larger than
 * one plane. INVALID with words. */
GMC_NODISCARD gmc_status ic_sci_latency(uint64_t k, uint64_t message_bytes, uint64_t r,
                                        uint64_t group, struct ic_sci_latency *out, char *error);

#endif
