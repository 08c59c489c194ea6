/* SPDX-License-Identifier: BSD-2-Clause */
/* What a packet costs on its way through switches: times that simulator and model share.
 *
 * A node's NIC injects into the node's own switch over a link, and a link ejects to the NIC. A
 * switch takes a packet when its head is there (cut-through) or its tail (store-and-forward).
 *
 * Source: Mehta 2005, chapter 6: 256 bytes at 1.4 Gb/s, channel 100 ns, switch 90 ns, NIC 500 ns.
 */
#ifndef INTERCONNECT_LDR_TIMING_H
#define INTERCONNECT_LDR_TIMING_H

#include <stddef.h>

#include "interconnect/error.h"

enum ic_switching { IC_CUT_THROUGH, IC_STORE_AND_FORWARD, IC_SWITCHINGS };

struct ic_packet_timing {
    double packet_bytes;
    double link_gbps;
    double channel_ns;
    double switch_ns;
    double send_ns, receive_ns; /* of the NIC */
};

#define IC_PACKET_TIMING_USUAL                                                                     \
    {                                                                                              \
        256, 1.4, 100, 90, 500, 500                                                                \
    }

/* INVALID names what is out of range: bytes 1 to 2^20, rate 0.001 to 10,000 Gb/s, times 0 to
 * 10^6 ns. */
GMC_NODISCARD gmc_status ic_packet_timing_check(const struct ic_packet_timing *timing, char *error);

/* Time in which a packet passes a point, ns. */
static inline double ic_packet_serial_ns(const struct ic_packet_timing *timing)
{
    return 8 * timing->packet_bytes / timing->link_gbps;
}

/* ns from the NIC that sends to the NIC that has received, without other packets; hops from switch
 * to switch, which may be a mean. */
double ic_packet_zero_load(const struct ic_packet_timing *timing, enum ic_switching switching,
                           double hops);

#endif
