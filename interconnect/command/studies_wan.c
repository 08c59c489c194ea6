/* SPDX-License-Identifier: BSD-2-Clause */
/* Oral 2003, chapter 5: clusters that a wide area network joins, by closed forms. */
#include <math.h>

#include "base/assert.h"
#include "interconnect/command/studies.h"
#include "interconnect/torus/latency.h"
#include "interconnect/wan/cases.h"

#define WAN_US 30000.0
#define DOMAINS 6 /* that receive */

/* Hops, and shares that are sent again, of the second case. */
#define HOPS 3
static const double rates[] = {0.01, 0.05, 0.1, 0.2};

#define RATES (sizeof(rates) / sizeof(rates[0]))

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

/* Percent that caches gain at 3 hops and 5 %. */
static double gain(enum ic_wan_link link)
{
    return 100 * (1 - time_of(IC_WAN_LC, link, 3, 0.05) / time_of(IC_WAN_NC, link, 3, 0.05));
}

/* Of 64 KB inside a 4 x 4 SCI torus, in microseconds. */
static double cluster_us(uint64_t group)
{
    struct ic_sci_latency out;
    char error[IC_ERROR_MAX];
    gmc_status status = ic_sci_latency(4, 65536, 4, group, &out, error);
    GMC_ASSERT(status == GMC_OK);
    return out.md;
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
    bool is_linear = true, is_constant = true;
    for (size_t i = 0; i < RATES; i++) {
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

static void judge_case1(struct ex_report *report)
{
    double none = remote_us(0, 100), gige = remote_us(1200, 100), fe = remote_us(12000, 100);
    ex_claim(report, fabs(fe - none - 24000) < 1 && fabs((fe - none) / WAN_US - 0.8) < 0.01,
             "case 1: Fast Ethernet before the gateway adds 24 ms to 64 KB, 80 % of the WAN's time",
             "%.1f ms, %.0f %%", (fe - none) / 1000, 100 * (fe - none) / WAN_US);
    ex_claim(report, fabs(gige - none - 2400) < 1 && fabs((gige - none) / WAN_US - 0.08) < 0.01,
             "case 1: Gigabit Ethernet adds 2.4 ms, 8 %", "%.1f ms, %.0f %%", (gige - none) / 1000,
             100 * (gige - none) / WAN_US);
    double small = cluster_us(4), large = cluster_us(16);
    ex_claim(report, WAN_US > 0.9 * remote_us(0, small),
             "case 1: the WAN dominates for small groups",
             "64 KB by Md-torus: %.0f %% of the time are the WAN's with 4 nodes behind it, %.0f %% "
             "with 16",
             100 * WAN_US / remote_us(0, small), 100 * WAN_US / remote_us(0, large));
    judge_mixed(none, report);
}

static void judge_growth(struct ex_report *report)
{
    unsigned same = 0, grows = 0, as_flat = 0, slower = 0, cases = 0;
    for (int link = 0; link < IC_WAN_LINKS; link++)
        for (int hops = 1; hops <= HOPS; hops++)
            for (size_t i = 0; i < RATES; i++, cases++) {
                enum ic_wan_link at = (enum ic_wan_link)link;
                double cached = time_of(IC_WAN_LC, at, hops, rates[i]);
                double plain = time_of(IC_WAN_NC, at, hops, rates[i]);
                same += cached == time_of(IC_WAN_LC, at, 1, rates[0]);
                as_flat += cached == time_of(IC_WAN_FLAT, at, hops, rates[i]);
                slower += plain > cached;
                grows += (hops == 1 || plain > time_of(IC_WAN_NC, at, hops - 1, rates[i])) &&
                         (i == 0 || plain > time_of(IC_WAN_NC, at, hops, rates[i - 1]));
            }
    ex_claim(report, same == cases,
             "case 2: with caches the time depends neither on hops nor on the rate",
             "in %u of %u cases; Fast Ethernet: %.2f services of the WAN per message", same, cases,
             time_of(IC_WAN_LC, IC_WAN_FE, HOPS, 0.2));
    ex_claim(report, grows == cases, "case 2: without caches it grows with both",
             "in %u of %u cases; Fast Ethernet: %.2f at 1 hop and 1 %%, %.2f at 3 and 20 %%", grows,
             cases, time_of(IC_WAN_NC, IC_WAN_FE, 1, 0.01),
             time_of(IC_WAN_NC, IC_WAN_FE, HOPS, 0.2));
    ex_claim(report, as_flat == cases && slower == cases,
             "case 2: a tree with caches is as fast as flat, one without is slower",
             "as fast in %u, slower in %u of %u cases; Fast Ethernet at 3 hops and 5 %%: %.2f, "
             "%.2f and %.2f",
             as_flat, slower, cases, time_of(IC_WAN_LC, IC_WAN_FE, HOPS, 0.05),
             time_of(IC_WAN_FLAT, IC_WAN_FE, HOPS, 0.05),
             time_of(IC_WAN_NC, IC_WAN_FE, HOPS, 0.05));
}

static void judge_case2(struct ex_report *report)
{
    ex_claim(report,
             fabs(gain(IC_WAN_FE) - 40) < 0.5 && fabs(gain(IC_WAN_GIGE) - 50) < 0.5 &&
                 fabs(gain(IC_WAN_MYRINET) - 60) < 0.5 && fabs(gain(IC_WAN_SCI) - 60) < 0.5,
             "case 2: caches in the relays gain 40, 50 and 60 % at 3 hops and 5 %",
             "Fast Ethernet %.0f %%, Gigabit Ethernet %.0f %%, SAN %.0f %%: calibrated to this, no "
             "finding",
             gain(IC_WAN_FE), gain(IC_WAN_GIGE), gain(IC_WAN_SCI));
    judge_growth(report);
    judge_first_hop(report);
    judge_links(report);
}

static void judge(const struct ic_points *tables, struct ex_report *report)
{
    (void)tables;
    judge_case1(report);
    judge_case2(report);
    ex_note(report, "The same case studies with the gateways themselves, packet by packet: make "
                    "experiments.");
}

static const struct ic_study_table tables[] = {
    {.what = "remote",
     .family = "wan-pair",
     .side = IC_MODEL,
     .arguments = "gateway=0,1200,12000 local=0 remote=0..60000/1000",
     .figure = "all_remote",
     .caption = "Case 1, all in the other cluster; no link before the gateway, Gigabit Ethernet, "
                "Fast Ethernet"},
    {.what = "mixed",
     .family = "wan-pair",
     .side = IC_MODEL,
     .arguments = "gateway=0,1200,12000 remote=1000 local=0..80000/1000",
     .figure = "mixed",
     .caption = "Case 1, members in both clusters"},
    {.what = "hops",
     .family = "wan-relays",
     .side = IC_MODEL,
     .arguments = "relays=all link=FE hops=1,2,3 rate=0.01..0.2/0.01",
     .figure = "time utilisation",
     .caption = "Case 2 by hops, Fast Ethernet"},
    {.what = "links",
     .family = "wan-relays",
     .side = IC_MODEL,
     .arguments = "relays=LC,NC link=all hops=3 rate=0.01..0.2/0.01",
     .figure = "time utilisation",
     .caption = "Case 2 by links, 3 hops"},
    {.what = "first-hop",
     .family = "wan-relays",
     .side = IC_MODEL,
     .arguments = "relays=LC,NC beyond=1,3,5 rate=0.01..0.2/0.01",
     .figure = "first_hop",
     .caption = "Case 2, traffic of the first hop by domains behind it"},
};
const struct ic_study ic_study_wan = {
    "wan",
    "Clusters across a WAN (Oral 2003, chapter 5)",
    "<p>Closed forms of the two case studies. Those of the second are phenomenological: the source "
    "prints none.</p>",
    IC_STUDY_TABLES(tables),
    NULL,
    judge,
};
