/* SPDX-License-Identifier: BSD-2-Clause */
/* Closed forms for multicast to clusters that a wide area network joins.
 *
 * Case 1, two clusters:
 *   t_all_remote = 2 t_gw + 2 t_conv + t_WAN + t_remote               (5-1)
 *   t_mixed      = max(t_local, t_all_remote)                         (5-2)
 * Case 2, a large object in 64 KB messages to six domains; the unit is the WAN's service time of
 * one message on one hop, r the share of messages that are sent again, h the hops:
 *   f(flat) = f(LC) = 1, f(NC) = 1 + 2 w h r, w = 5
 *   time per message  T = f + l(link); utilisation of the local link l / T
 *   traffic of the first hop over the baseline: LC 1, NC 1 + r D, D domains beyond the first hop
 *
 * Source: Oral 2003, chapter 5, for case 1. Case 2 has no printed equations: the form follows from
 * what its text claims, and w and l are calibrated to its "LC better than NC by 40, 50, 60 % for
 * Fast Ethernet, Gigabit Ethernet and SAN at 3 hops and 5 %". See experiments/ for both, simulated
 * with the gateways themselves.
 */
#ifndef INTERCONNECT_WAN_CASES_H
#define INTERCONNECT_WAN_CASES_H

#include "interconnect/error.h"

#define IC_WAN_CONVERSION_US 3.0

enum ic_wan_topology { IC_WAN_FLAT, IC_WAN_LC, IC_WAN_NC, IC_WAN_TOPOLOGIES };
enum ic_wan_link { IC_WAN_FE, IC_WAN_GIGE, IC_WAN_MYRINET, IC_WAN_SCI, IC_WAN_LINKS };

/* "flat", "LC" (local caching), "NC" (none); "FE", "GigE", "Myrinet", "SCI". NOT_FOUND. */
GMC_NODISCARD gmc_status ic_wan_topology_from_name(const char *name,
                                                   enum ic_wan_topology *topology);
GMC_NODISCARD gmc_status ic_wan_link_from_name(const char *name, enum ic_wan_link *link);

struct ic_wan_case1 {
    double all_remote, mixed;
};

/* Times in one unit, microseconds as IC_WAN_CONVERSION_US; 0 or more. INVALID with words. */
GMC_NODISCARD gmc_status ic_wan_case1(double gateway, double wan, double remote, double local,
                                      struct ic_wan_case1 *out, char *error);

struct ic_wan_case2 {
    double time_per_message; /* in service times of the WAN */
    double utilisation;      /* of the local link */
};

/* hops 0..64, rate 0..1. INVALID with words. */
GMC_NODISCARD gmc_status ic_wan_case2(enum ic_wan_topology topology, enum ic_wan_link link,
                                      double hops, double rate, struct ic_wan_case2 *out,
                                      char *error);
/* Traffic of the first hop over the baseline; beyond: domains 0..2^20. INVALID with words. */
GMC_NODISCARD gmc_status ic_wan_case2_impact(enum ic_wan_topology topology, double rate,
                                             double beyond, double *impact, char *error);

#endif
