/* SPDX-License-Identifier: BSD-2-Clause */
/* P-cube routing in a wormhole n-cube: the rule, the rates of the channels, and the analytic model
 * of latency under uniform traffic.
 *
 * At node c for destination d any set bit of c & ~d is a legal dimension (negative phase); when
 * there is none, any set bit of ~c & d (positive phase). A channel joins nodes that differ in one
 * bit; its class is its direction and z, the zeros among the other n - 1 bits of the address. The
 * negative and the positive channel of a link carry the same rate, lambda f(z).
 *
 *   f(z)  = sum_{i<=n-1-z} sum_{j<=z} C(n-1-z,i) C(z,j) 2^(z-j) / [(i+j+1) C(i+j,i) (2^n - 1)]
 *                                                                            (1), (2), corrected
 *   pair  = (hn, hp, c11, c00): bits to clear, to set, ones and zeros in common; all pairs of one
 *           kind have the same latency
 *   S     = hn + hp + M + W_ej + sum over hops P_V^alternatives w              (11)-(18)
 *   W_ej  = M^2 l / 2 (1 - M l)                                              (25)
 *   w     = rate [Sc^2 + (Sc - M)^2] / 2 (1 - rho), rho = rate Sc             (22)
 *   Sc    = mean of S over pairs through the class, by their number of minimal legal paths through
 *           the channel                                                      (21)
 *   P_v   = (1 - rho) rho^v, v < V; P_V = rho^V                              (19), (20)
 *   Vbar  = sum v^2 P_v / sum v P_v, per class; mean over hops, then pairs   (6)-(8)
 *   W_s   = (l/V) [S_s^2 + (S_s - M)^2] / 2 (1 - l S_s/V)                    (23), (24)
 *   latency = (Sbar + Wbar) Vbar                                             (3)
 *
 * S is the least fixed point, to which plain substitution grows. Beyond some load there is none:
 * the solution vanishes by a fold, at a latency that is still finite (1.2 to 2.4 times that without
 * load).
 *
 * Source: Patooghy, Sarbazi-Azad, on P-cube routing; misprints of (1), (2), (4), (5), (14) and (20)
 * corrected.
 */
#ifndef INTERCONNECT_HYPERCUBE_PCUBE_H
#define INTERCONNECT_HYPERCUBE_PCUBE_H

#include <stdbool.h>
#include <stdint.h>

#include "interconnect/error.h"

#define IC_PCUBE_N_MAX 12u
#define IC_PCUBE_VC_MAX 64u
#define IC_PCUBE_FLITS_MAX 65536u

/* Legal dimensions as a bitmask; 0 at the destination. */
static inline uint32_t ic_pcube_dimensions(uint32_t at, uint32_t destination)
{
    uint32_t negative = at & ~destination;
    return negative != 0 ? negative : ~at & destination;
}

/* f(z), the rate of a channel over that of a node's source; n 1..12, z 0..n-1. INVALID with words.
 */
GMC_NODISCARD gmc_status ic_pcube_rate(uint64_t n, uint64_t z, double *rate, char *error);

struct ic_pcube {
    uint32_t n;        /* dimensions, 1..12 */
    uint32_t channels; /* V, virtual channels, 1..64 */
    uint32_t flits;    /* M, of a message, 1..65536 */
};

struct ic_pcube_latency {
    bool saturated;     /* no fixed point: the rest is 0 */
    double latency;     /* cycles, source queue among them */
    double network;     /* Sbar */
    double source_wait; /* Wbar */
    double sharing;     /* Vbar, 1..V */
    double ejection;    /* W_ej */
};

/* load: messages per node and cycle, 0 to 1/M. INVALID with words. */
GMC_NODISCARD gmc_status ic_pcube_latency(const struct ic_pcube *cube, double load,
                                          struct ic_pcube_latency *out, char *error);

/* The largest load with a fixed point, to 1e-7 of itself. INVALID with words. */
GMC_NODISCARD gmc_status ic_pcube_saturation(const struct ic_pcube *cube, double *load,
                                             char *error);

#endif
