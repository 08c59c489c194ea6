/* SPDX-License-Identifier: BSD-2-Clause */
/* Oral 2003, chapter 5: clusters that a wide area network joins, by closed forms. */
#include <math.h>

#include "base/assert.h"
#include "interconnect/command/studies.h"
#include "interconnect/wan/cases.h"

#define WAN_US 30000.0

static double remote_us(double gateway_us, double remote)
{
    struct ic_wan_case1 out;
    char error[IC_ERROR_MAX];
    gmc_status status = ic_wan_case1(gateway_us, WAN_US, remote, 0, &out, error);
    GMC_ASSERT(status == GMC_OK);
    return out.all_remote;
}

static double time_of(enum ic_wan_topology topology, enum ic_wan_link link, double hops,
                      double rate)
{
    struct ic_wan_case2 out;
    char error[IC_ERROR_MAX];
    gmc_status status = ic_wan_case2(topology, link, hops, rate, &out, error);
    GMC_ASSERT(status == GMC_OK);
    return out.time_per_message;
}

static double gain(enum ic_wan_link link)
{
    return 100 * (1 - time_of(IC_WAN_LC, link, 3, 0.05) / time_of(IC_WAN_NC, link, 3, 0.05));
}

static void judge(const struct ic_points *tables, struct ex_report *report)
{
    double none = remote_us(0, 100), gige = remote_us(1200, 100), fe = remote_us(12000, 100);
    (void)tables;
    ex_row(report, "FE adds,ms,%.10g", (fe - none) / 1000);
    ex_row(report, "GigE adds,ms,%.10g", (gige - none) / 1000);
    ex_claim(report, fabs(fe - none - 24000) < 1 && fabs((fe - none) / WAN_US - 0.8) < 0.01,
             "case 1: Fast Ethernet before the gateway adds 24 ms to 64 KB, 80 % of the WAN's time",
             "%.1f ms, %.0f %%", (fe - none) / 1000, 100 * (fe - none) / WAN_US);
    ex_claim(report, fabs(gige - none - 2400) < 1 && fabs((gige - none) / WAN_US - 0.08) < 0.01,
             "case 1: Gigabit Ethernet adds 2.4 ms, 8 %", "%.1f ms, %.0f %%", (gige - none) / 1000,
             100 * (gige - none) / WAN_US);
    ex_claim(report, none < 1.01 * (WAN_US + 100), "case 1: the WAN dominates for small groups",
             "100 us of a cluster beside %.1f ms of the WAN", WAN_US / 1000);
    ex_claim(report, gain(IC_WAN_FE) < gain(IC_WAN_GIGE) && gain(IC_WAN_GIGE) < gain(IC_WAN_SCI),
             "case 2: caches in the relays gain 40, 50 and 60 % at 3 hops and 5 %",
             "Fast Ethernet %.0f %%, Gigabit Ethernet %.0f %%, SAN %.0f %%: calibrated to this",
             gain(IC_WAN_FE), gain(IC_WAN_GIGE), gain(IC_WAN_SCI));
    ex_claim(report,
             time_of(IC_WAN_LC, IC_WAN_FE, 1, 0.01) == time_of(IC_WAN_LC, IC_WAN_FE, 3, 0.2),
             "case 2: with caches the time depends neither on hops nor on the rate",
             "%.2f services of the WAN per message", time_of(IC_WAN_LC, IC_WAN_FE, 3, 0.2));
    ex_claim(report,
             time_of(IC_WAN_NC, IC_WAN_FE, 3, 0.2) > time_of(IC_WAN_NC, IC_WAN_FE, 1, 0.2) &&
                 time_of(IC_WAN_NC, IC_WAN_FE, 3, 0.2) > time_of(IC_WAN_NC, IC_WAN_FE, 3, 0.01),
             "case 2: without caches it grows with both",
             "%.2f at 1 hop and 1 %%, %.2f at 3 and "
             "20 %%",
             time_of(IC_WAN_NC, IC_WAN_FE, 1, 0.01), time_of(IC_WAN_NC, IC_WAN_FE, 3, 0.2));
    ex_note(report, "The same case studies with the gateways themselves, packet by packet: make "
                    "experiments.");
}

const struct ic_study ic_study_wan = {
    "wan",
    "Clusters across a WAN (Oral 2003, chapter 5)",
    "<p>Closed forms of the two case studies. Those of the second are phenomenological: the source "
    "prints none.</p>",
    NULL,
    0,
    judge,
};
