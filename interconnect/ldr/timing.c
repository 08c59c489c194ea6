/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets without company. */
#include "interconnect/ldr/timing.h"

gmc_status ic_packet_timing_check(const struct ic_packet_timing *timing, char *error)
{
    gmc_status status =
        ic_check_number("the packet's bytes", timing->packet_bytes, 1, 1048576, error);
    if (status == GMC_OK)
        status = ic_check_number("the link's rate in Gb/s", timing->link_gbps, 0.001, 1e4, error);
    const struct {
        const char *what;
        double ns;
    } times[] = {{"the channel's delay in ns", timing->channel_ns},
                 {"the switch's delay in ns", timing->switch_ns},
                 {"the NIC's time to send in ns", timing->send_ns},
                 {"the NIC's time to receive in ns", timing->receive_ns}};
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]) && status == GMC_OK; i++)
        status = ic_check_number(times[i].what, times[i].ns, 0, 1e6, error);
    return status;
}

double ic_packet_zero_load(const struct ic_packet_timing *timing, enum ic_switching switching,
                           double hops)
{
    double hop = timing->switch_ns + timing->channel_ns;
    double serial = ic_packet_serial_ns(timing);
    double head = timing->send_ns + timing->channel_ns + hop * (hops + 1) + timing->receive_ns;
    return head + serial * (switching == IC_STORE_AND_FORWARD ? hops + 2 : 1);
}
