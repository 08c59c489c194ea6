/* SPDX-License-Identifier: BSD-2-Clause */
/* Latency of a multicast of small messages through one Myrinet switch, microseconds, by who does
 * the work: the host's processor (HB), the network interface (NB), or the interface with the host's
 * processor choosing (NA).
 *
 *   h = floor(log2 G) - 1 (binomial, binary), G - 2 (serial): nodes that forward on the deepest
 * path L_i: HB host_recv + tp + host_send                     (3-8) NB nic_recv + tp + nic_send
 * (3-9) NA nic_recv + RDMA + tp + SDMA + nic_send         (3-10) trees and serial: HB host_send + h
 * L_i + host_recv                            (3-11), (3-12) NB SDMA + tp + nic_send + h L_i +
 * nic_recv + RDMA           (3-14), (3-15) NA SDMA + nic_send + h L_i + nic_recv + RDMA (3-17),
 * (3-18) separate:         HB (G - 1)(tp + host_send) + host_recv                      (3-13) NB
 * SDMA + (G - 1)(tp + nic_send) + nic_recv + RDMA          (3-16) NA (G - 1)(tp + SDMA + nic_send)
 * + nic_recv + RDMA          (3-19)
 *
 * (3-18) and (3-19) have each other's label in print. The time per byte in the interface cannot
 * hold for large messages: m is a few bytes.
 *
 * Source: Oral 2003, chapter 3; constants of its testbed.
 */
#ifndef INTERCONNECT_STAR_LATENCY_H
#define INTERCONNECT_STAR_LATENCY_H

#include <stdbool.h>

#include "interconnect/star/multicast.h"

enum ic_myrinet_scheme { IC_MYRINET_HB, IC_MYRINET_NB, IC_MYRINET_NA, IC_MYRINET_SCHEMES };

/* Beyond, 8.3 us for a byte in the interface cannot hold. */
#define IC_MYRINET_BYTES_MAX 64u
/* Message size of the tabulated L_i. */
#define IC_MYRINET_TABLE_BYTES 2u
#define IC_MYRINET_SDMA_US 26.0
#define IC_MYRINET_RDMA_US 28.0
#define IC_MYRINET_SWITCH_US 0.5
#define IC_MYRINET_PROPAGATION_US 0.021

/* "HB", "NB", "NA". */
const char *ic_myrinet_scheme_name(enum ic_myrinet_scheme scheme);
/* NOT_FOUND. */
GMC_NODISCARD gmc_status ic_myrinet_scheme_from_name(const char *name,
                                                     enum ic_myrinet_scheme *scheme);

/* Sending or receiving m bytes, by the host's processor or the interface. */
double ic_myrinet_host_us(double message_bytes);
double ic_myrinet_nic_us(double message_bytes);
/* What an algorithm costs per message, besides. */
double ic_myrinet_process_us(enum ic_myrinet_scheme scheme, enum ic_star_algorithm algorithm);

struct ic_myrinet_latency {
    double time;
    double per_node;          /* L_i; 0 for separate, which has none */
    bool has_table;           /* m is 2 and L_i is tabulated */
    double per_node_by_table; /* which does not follow from the equations for NB */
    double time_by_table;     /* with it */
};

/* The equations as they stand: m 0..2^20 bytes, G 2..2^20. INVALID with words. */
GMC_NODISCARD gmc_status ic_myrinet_latency(enum ic_myrinet_scheme scheme,
                                            enum ic_star_algorithm algorithm,
                                            uint64_t message_bytes, uint64_t group,
                                            struct ic_myrinet_latency *out, char *error);

#endif
