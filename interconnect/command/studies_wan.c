/* SPDX-License-Identifier: BSD-2-Clause */
/* Oral 2003, chapter 5: clusters that a wide area network joins, by closed forms. */
#include <math.h>

#include "base/assert.h"
#include "interconnect/command/studies.h"
#include "interconnect/wan/cases.h"

#define WAN_US 30000.0
#define DOMAINS 6 /* that receive */

static double remote_us(double gateway_us, double remote)
{
    struct ic_wan_case1 out;
    char error[IC_ERROR_MAX];
    gmc_status status = ic_wan_case1(gateway_us, WAN_US, remote, 0, &out, error);
    GMC_ASSERT(status == GMC_OK);
    return out.all_remote;
}

static double mixed_us(double local)
{
    struct ic_wan_case1 out;
    char error[IC_ERROR_MAX];
    gmc_status status = ic_wan_case1(0, WAN_US, 100, local, &out, error);
    GMC_ASSERT(status == GMC_OK);
    return out.mixed;
}

/* Of the first hop, over what a transfer without losses has there; all other domains behind it. */
static double impact_of(enum ic_wan_topology topology, double rate)
{
    double impact;
    char error[IC_ERROR_MAX];
    gmc_status status = ic_wan_case2_impact(topology, rate, DOMAINS - 1, &impact, error);
    GMC_ASSERT(status == GMC_OK);
    return impact;
}

static struct ic_wan_case2 case2_of(enum ic_wan_topology topology, enum ic_wan_link link,
                                    double hops, double rate)
{
    struct ic_wan_case2 out;
    char error[IC_ERROR_MAX];
    gmc_status status = ic_wan_case2(topology, link, hops, rate, &out, error);
    GMC_ASSERT(status == GMC_OK);
    return out;
}

static double time_of(enum ic_wan_topology topology, enum ic_wan_link link, double hops,
                      double rate)
{
    return case2_of(topology, link, hops, rate).time_per_message;
}

static double gain(enum ic_wan_link link)
{
    return 100 * (1 - time_of(IC_WAN_LC, link, 3, 0.05) / time_of(IC_WAN_NC, link, 3, 0.05));
}

/* Both parts of a mixed call run at once, so it takes as long as the longer one. */
static void judge_mixed(double remote, struct ex_report *report)
{
    unsigned follows = 0, exceeds = 0;
    for (unsigned ms = 1; ms <= 60; ms++) {
        double local = 1000.0 * ms, mixed = mixed_us(local);
        follows += local <= remote && mixed == remote;
        exceeds += local > remote && mixed == local;
    }
    ex_claim(
        report, follows + exceeds == 60,
        "case 1: a mixed call takes as long as its remote part, until the local part exceeds it",
        "%.1f ms with a local part of 1 to %u ms, the local part from %u to 60 ms", remote / 1000,
        follows, follows + 1);
}

static void judge_first_hop(struct ex_report *report)
{
    static const double rates[] = {0.01, 0.05, 0.1, 0.2};
    bool is_linear = true, is_constant = true;
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        double per_rate = (impact_of(IC_WAN_NC, rates[i]) - 1) / rates[i];
        is_linear = is_linear && fabs(per_rate - (DOMAINS - 1)) < 1e-9;
        is_constant = is_constant && impact_of(IC_WAN_LC, rates[i]) == 1;
    }
    ex_claim(report, is_constant,
             "case 2: with caches the first hop's traffic does not depend on the rate",
             "%.2f of it without losses at 1 %%, %.2f at 20 %%", impact_of(IC_WAN_LC, 0.01),
             impact_of(IC_WAN_LC, 0.2));
    ex_claim(report, is_linear, "case 2: without caches it grows about linearly in the rate",
             "%.2f at 1 %%, %.2f at 5 %%, %.2f at 20 %%, with %d domains behind it",
             impact_of(IC_WAN_NC, 0.01), impact_of(IC_WAN_NC, 0.05), impact_of(IC_WAN_NC, 0.2),
             DOMAINS - 1);
}

static void judge_links(struct ex_report *report)
{
    double cached = case2_of(IC_WAN_LC, IC_WAN_FE, 3, 0.05).utilisation;
    double plain = case2_of(IC_WAN_NC, IC_WAN_FE, 3, 0.05).utilisation;
    double san = fmax(case2_of(IC_WAN_LC, IC_WAN_MYRINET, 3, 0.05).utilisation,
                      case2_of(IC_WAN_LC, IC_WAN_SCI, 3, 0.05).utilisation);
    ex_claim(report, cached > plain,
             "case 2: caches keep the local link of Fast Ethernet busier than none",
             "%.0f and %.0f %% of the time at 3 hops and 5 %%", 100 * cached, 100 * plain);
    ex_claim(report, san < 0.05, "case 2: links of SANs are nearly idle", "%.0f %% of the time",
             100 * san);
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
    judge_mixed(none, report);
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
    ex_claim(report,
             time_of(IC_WAN_LC, IC_WAN_FE, 3, 0.05) == time_of(IC_WAN_FLAT, IC_WAN_FE, 3, 0.05) &&
                 time_of(IC_WAN_LC, IC_WAN_FE, 3, 0.05) < time_of(IC_WAN_NC, IC_WAN_FE, 3, 0.05),
             "case 2: a tree with caches is as fast as flat, one without is slower",
             "%.2f, %.2f and %.2f at 3 hops and 5 %%", time_of(IC_WAN_LC, IC_WAN_FE, 3, 0.05),
             time_of(IC_WAN_FLAT, IC_WAN_FE, 3, 0.05), time_of(IC_WAN_NC, IC_WAN_FE, 3, 0.05));
    judge_first_hop(report);
    judge_links(report);
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
