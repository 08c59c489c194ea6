/* SPDX-License-Identifier: BSD-2-Clause */
/* Oral 2003, chapter 2: multicast on SCI tori. */
#include <math.h>
#include <stdio.h>

#include "base/assert.h"
#include "interconnect/command/studies.h"
#include "interconnect/torus/latency.h"

static const char *const names[] = {"separate", "U-torus", "S-torus", "Md-torus", "Mu-torus"};

#define NAMES (sizeof(names) / sizeof(names[0]))

enum { SEPARATE, U, S, MD, MU };

/* ---- 2 bytes ---- */
static double small(const struct ic_points *t, int algorithm, unsigned group)
{
    return ic_study_model(t, "latency", "algorithm=%s group=%u", names[algorithm], group);
}

static double farthest_from_line(const struct ic_points *t, int algorithm, unsigned first,
                                 unsigned last, unsigned step)
{
    double worst = 0, a = small(t, algorithm, first), b = small(t, algorithm, last);
    for (unsigned group = first; group <= last; group += step)
        worst = fmax(worst, fabs(small(t, algorithm, group) - a -
                                 (b - a) * (group - first) / (last - first)));
    return worst / b;
}

/* Simulated: microseconds of the root's processor, and percent of the time. */
static double root_us(const struct ic_points *t, int algorithm, unsigned group)
{
    return ic_study_simulated(t, "root_busy", "algorithm=%s group=%u", names[algorithm], group) *
           ic_study_simulated(t, "latency", "algorithm=%s group=%u", names[algorithm], group) / 100;
}

static double root_share(const struct ic_points *t, int algorithm, unsigned group)
{
    return ic_study_simulated(t, "root_busy", "algorithm=%s group=%u", names[algorithm], group);
}

static void judge_roots(const struct ic_points *t, struct ex_report *report)
{
    unsigned as_steps = 0;
    double least = INFINITY, most = 0;
    for (unsigned group = 3; group <= 16; group++) {
        bool is_new_step = ((group - 1) & (group - 2)) == 0; /* one more than a power of two */
        double grows = root_us(t, U, group) / root_us(t, U, group - 1) - 1;
        as_steps += is_new_step == (grows > 0.1);
    }
    for (unsigned group = 8; group <= 16; group++)
        for (int a = MD; a <= MU; a++) {
            least = fmin(least, root_share(t, a, group));
            most = fmax(most, root_share(t, a, group));
        }
    ex_claim(report, as_steps == 14,
             "the load of U-torus's root steps where the number of steps changes",
             "simulated, at %u of 14 sizes: %.1f us at 8 nodes, %.1f at 9, %.1f at 16", as_steps,
             root_us(t, U, 8), root_us(t, U, 9), root_us(t, U, 16));
    ex_claim(report, most - least < 2,
             "the load of the root of Md-torus and Mu-torus is constant for small messages",
             "simulated, 8 to 16 nodes: %.1f to %.1f %% of the time, less than 2 of 100 apart",
             least, most);
}

/* At 16 nodes, in percent of the simulator. */
static double error_of(const struct ic_points *t, int algorithm)
{
    return 100 * (small(t, algorithm, 16) /
                      ic_study_simulated(t, "latency", "algorithm=%s group=16", names[algorithm]) -
                  1);
}

static void judge_errors(const struct ic_points *t, struct ex_report *report)
{
    double trees = fmax(fabs(error_of(t, MD)), fmax(fabs(error_of(t, MU)), fabs(error_of(t, U))));
    ex_claim(report, fabs(error_of(t, SEPARATE)) < 3 && trees < 2 && fabs(error_of(t, S)) > 3,
             "the model is off by 3 % for separate, 2 % for Md, Mu and U-torus, more for S-torus",
             "of the simulator, in place of the testbed, at 16 nodes: %+.1f %% separate, %+.0f %% "
             "Md, %+.0f %% Mu, %+.0f %% U, %+.1f %% S-torus",
             error_of(t, SEPARATE), error_of(t, MD), error_of(t, MU), error_of(t, U),
             error_of(t, S));
}

struct span {
    double least, most;
};

static void widen(struct span *span, double value)
{
    span->least = fmin(span->least, value);
    span->most = fmax(span->most, value);
}

static void judge_small(const struct ic_points *t, struct ex_report *report)
{
    unsigned u_slower = 0, s_slowest = 0, separate_fastest = 0, together = 0;
    struct span flat[] = {{INFINITY, 0}, {INFINITY, 0}};
    for (unsigned group = 3; group <= 16; group++) {
        u_slower += small(t, U, group) > small(t, S, group);
        s_slowest += small(t, S, group) > small(t, SEPARATE, group) &&
                     small(t, S, group) > small(t, MD, group) &&
                     small(t, S, group) > small(t, MU, group);
        separate_fastest +=
            small(t, SEPARATE, group) < fmin(fmin(small(t, U, group), small(t, S, group)),
                                             fmin(small(t, MD, group), small(t, MU, group)));
        together += fabs(small(t, MU, group) / small(t, MD, group) - 1) < 0.05;
        if (group < 5)
            continue;
        widen(&flat[0], small(t, U, group));
        widen(&flat[1],
              ic_study_model(t, "latency_other_form", "algorithm=U-torus group=%u", group));
    }
    double apart = fabs(small(t, MU, 16) / small(t, MD, 16) - 1);
    ex_claim(report, farthest_from_line(t, S, 2, 16, 1) < 1e-9, "S-torus is linear in the group",
             "no point is off the line by more than %.1g", farthest_from_line(t, S, 2, 16, 1));
    ex_claim(report, s_slowest >= 13,
             "S-torus is slowest of all (against separate, Md-torus, Mu-torus)",
             "at %u of 14 group sizes from 3 on", s_slowest);
    ex_claim(report, u_slower == 0, "S-torus is slowest of all (against U-torus)",
             "U-torus is slower at %u of 14 sizes: its processing takes 629 us a step", u_slower);
    ex_claim(report, separate_fastest == 14, "separate addressing is fastest",
             "at %u of 14 group sizes", separate_fastest);
    ex_claim(report, apart < 0.05, "Md-torus and Mu-torus are on one level (at full size)",
             "%.1f %% apart at 16 nodes", 100 * apart);
    ex_claim(report, together == 14, "Md-torus and Mu-torus are on one level (at all sizes)",
             "within 5 %% at %u of 14 group sizes from 3 on; %.0f and %.0f us at 8 nodes", together,
             small(t, MD, 8), small(t, MU, 8));
    ex_claim(report, flat[1].most / flat[1].least < 1.5,
             "U-torus is nearly flat (integer division)",
             "from 5 nodes on the longest time is %.2f times the shortest",
             flat[1].most / flat[1].least);
    ex_claim(report, flat[0].most / flat[0].least < 1.5,
             "U-torus is nearly flat (real division, as printed)",
             "from 5 nodes on the longest time is %.2f times the shortest: a saw-tooth",
             flat[0].most / flat[0].least);
    ex_claim(report,
             fmin(small(t, MU, 10), small(t, MU, 14)) >
                 fmax(small(t, MU, 8), fmax(small(t, MU, 12), small(t, MU, 16))),
             "Mu-torus takes longer with 10 and 14 nodes than with 8, 12 and 16",
             "%.0f and %.0f us, against %.0f, %.0f and %.0f", small(t, MU, 10), small(t, MU, 14),
             small(t, MU, 8), small(t, MU, 12), small(t, MU, 16));
    judge_roots(t, report);
    judge_errors(t, report);
}

static const struct ic_study_table small_tables[] = {
    {"latency", "torus", IC_BOTH, "algorithm=all group=2..16 k=4 bytes=2", NULL,
     "2 bytes on a 4 x 4 torus: model, and simulator over random groups", 0},
};
const struct ic_study ic_study_sci_small = {
    "sci-small",
    "Small messages on a 4 x 4 SCI torus (Oral 2003, chapter 2)",
    "<p>Five multicast algorithms, 2 bytes to 2 to 16 nodes.</p>",
    IC_STUDY_TABLES(small_tables),
    NULL,
    judge_small,
};

/* ---- 64 KB ---- */
static double large(const struct ic_points *t, int algorithm, unsigned group)
{
    return ic_study_simulated(t, "latency", "algorithm=%s group=%u", names[algorithm], group);
}

static void judge_way(const struct ic_points *t, const char *way, struct ex_report *report)
{
    unsigned md_best = 0, s_worst = 0;
    double least = INFINITY, most = 0;
    for (unsigned group = 4; group <= 16; group += 2) {
        bool is_worst = true;
        for (size_t i = 0; i < NAMES; i++)
            is_worst = is_worst && large(t, S, group) >= large(t, (int)i, group);
        s_worst += is_worst;
        if (group >= 12)
            md_best +=
                large(t, MD, group) < fmin(fmin(large(t, SEPARATE, group), large(t, U, group)),
                                           fmin(large(t, S, group), large(t, MU, group)));
        if (group > 4) {
            double grows = large(t, SEPARATE, group) - large(t, SEPARATE, group - 2);
            least = fmin(least, grows);
            most = fmax(most, grows);
        }
    }
    ex_claim(report, md_best == 3, "Md-torus is best for large groups",
             "%s: at %u of 3 sizes from 12 on; at 16 it takes %.0f us, Mu-torus %.0f", way, md_best,
             large(t, MD, 16), large(t, MU, 16));
    ex_claim(report, most / least < 1.01, "separate addressing is linear in the group",
             "%s: two more nodes take %.0f to %.0f us", way, least, most);
    ex_claim(report, s_worst == 7, "S-torus is worst", "%s: at %u of 7 sizes from 4 on", way,
             s_worst);
    ex_claim(report, large(t, MU, 10) > large(t, MD, 10) && large(t, MU, 14) > large(t, MD, 14),
             "Mu-torus is worse than Md-torus at 10 and 14 nodes",
             "%s: %.0f against %.0f us, %.0f against %.0f us", way, large(t, MU, 10),
             large(t, MD, 10), large(t, MU, 14), large(t, MD, 14));
}

static void judge_large(const struct ic_points *t, struct ex_report *report)
{
    judge_way(&t[0], "store and forward", report);
    judge_way(&t[1], "in packets of 4 KB", report);
    ex_note(report, "Mu-torus is cut as its model (2-12) counts: what is left over joins the last "
                    "run. As a run of its own it is no slower than Md-torus at 14 nodes.");
}

static const struct ic_study_table large_tables[] = {
    {"whole", "torus", IC_SIMULATOR, "algorithm=all group=4..16/2 k=4 bytes=64K", NULL,
     "64 KB on a 4 x 4 torus, store and forward, simulated", 40},
    {"packets", "torus", IC_SIMULATOR, "algorithm=all group=4..16/2 k=4 bytes=64K packet=4K", NULL,
     "64 KB on a 4 x 4 torus, pipelined in packets of 4 KB, simulated", 40},
};
const struct ic_study ic_study_sci_large = {
    "sci-large",
    "64 KB on a 4 x 4 SCI torus (Oral 2003, chapter 2)",
    "<p>Means over random groups; processors and ring links are busy for as long as the testbed's "
    "were. The source measured this.</p>",
    IC_STUDY_TABLES(large_tables),
    NULL,
    judge_large,
};

/* ---- projections ---- */
/* The widths of the steps of Md-torus: 0 when they are not all k. */
static unsigned stairs(const struct ic_points *t, unsigned k)
{
    for (unsigned group = k + 1; group < k * k; group++) {
        bool rises = small(t, MD, group + 1) > small(t, MD, group);
        if (rises != (group % k == 0))
            return 0;
    }
    return k;
}

/* Mu-torus with partitions of r, over all group sizes, or those that are multiples of k. */
static double sum_of_mu(unsigned k, unsigned r, unsigned step)
{
    double sum = 0;
    for (unsigned group = step; group <= k * k; group += step) {
        struct ic_sci_latency out;
        char error[IC_ERROR_MAX];
        if (group < 2)
            continue;
        gmc_status status = ic_sci_latency(k, 128, r, group, &out, error);
        GMC_ASSERT(status == GMC_OK);
        sum += out.mu;
    }
    return sum;
}

static void judge_partitions(unsigned k, struct ex_report *report)
{
    static const unsigned lengths[] = {4, 8, 16, 32};
    bool best_of_multiples = true, best_of_all = true;
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        if (lengths[i] == k)
            continue;
        best_of_multiples = best_of_multiples && sum_of_mu(k, k, k) < sum_of_mu(k, lengths[i], k);
        best_of_all = best_of_all && sum_of_mu(k, k, 1) < sum_of_mu(k, lengths[i], 1);
    }
    ex_claim(report, best_of_multiples, "the best partitions of Mu-torus have k nodes",
             "groups of a multiple of k = %u: %.0f us in all, %.0f with 4 nodes, %.0f with %u", k,
             sum_of_mu(k, k, k), sum_of_mu(k, 4, k), sum_of_mu(k, 2 * k, k), 2 * k);
    ex_claim(report, best_of_all, "the best partitions of Mu-torus have k nodes",
             "groups of all sizes, k = %u: %.0f us on average, %.0f with 4 nodes", k,
             sum_of_mu(k, k, 1) / (k * k - 1), sum_of_mu(k, 4, 1) / (k * k - 1));
}

static void judge_worst(const struct ic_points *t, unsigned k, struct ex_report *report)
{
    unsigned worst = 0, u_slower = 0, sizes = k * k - 8;
    for (unsigned group = 9; group <= k * k; group++) {
        double s = small(t, S, group);
        worst +=
            s > small(t, SEPARATE, group) && s > small(t, MD, group) && s > small(t, MU, group);
        u_slower += small(t, U, group) > s;
    }
    ex_claim(report, worst == sizes,
             "S-torus is worst beyond 8 nodes (against separate, Md-torus, Mu-torus)",
             "k = %u: at %u of %u sizes", k, worst, sizes);
    ex_claim(report, u_slower == 0, "S-torus is worst beyond 8 nodes (against U-torus)",
             "k = %u: U-torus is slower at %u of %u sizes", k, u_slower, sizes);
}

static void judge_projection(const struct ic_points *t, unsigned k, double bound,
                             struct ex_report *report)
{
    unsigned full = k * k;
    char claim[96];
    double least = fmin(fmin(small(t, MD, full), small(t, MU, full)), small(t, U, full));
    double most = fmax(fmax(small(t, MD, full), small(t, MU, full)), small(t, U, full));
    ex_claim(report, stairs(t, k) == k, "Md-torus is a staircase of width k", "k = %u: %s", k,
             stairs(t, k) == k ? "every step" : "not every step");
    snprintf(claim, sizeof(claim),
             "Md, Mu and U-torus stay within a factor of %.2f of each other at full size", bound);
    ex_claim(report, most / least < bound + 0.005, claim, "%u nodes: %.3f", full, most / least);
    ex_claim(report,
             farthest_from_line(t, SEPARATE, 2, full, 1) < 1e-9 &&
                 farthest_from_line(t, S, 2, full, 1) < 1e-9,
             "separate addressing and S-torus are linear", "k = %u: no point is off the line", k);
    ex_claim(
        report, small(t, SEPARATE, full) > fmin(small(t, MD, full), small(t, MU, full)),
        "separate addressing loses its advantage",
        "%u nodes: separate %.0f us, Md-torus %.0f us, Mu-torus %.0f us; of the slopes only it "
        "is true",
        full, small(t, SEPARATE, full), small(t, MD, full), small(t, MU, full));
    judge_worst(t, k, report);
    judge_partitions(k, report);
}

static void judge_projections(const struct ic_points *t, struct ex_report *report)
{
    judge_projection(&t[0], 8, 2.31, report);
    judge_projection(&t[1], 16, 1.55, report);
}

static const struct ic_study_table tori_tables[] = {
    {"8x8", "torus", IC_MODEL, "algorithm=all group=2..64 k=8", NULL, "64 nodes, model", 0},
    {"16x16", "torus", IC_MODEL, "algorithm=all group=2..256 k=16", NULL, "256 nodes, model", 0},
};
const struct ic_study ic_study_sci_large_tori = {
    "sci-tori",
    "Projections to 64 and 256 nodes (Oral 2003, chapter 2)",
    "<p>The closed forms for 8 x 8 and 16 x 16 tori, 128 bytes.</p>",
    IC_STUDY_TABLES(tori_tables),
    NULL,
    judge_projections,
};

/* ---- links ---- */
static double link_figure(const struct ic_points *t, const char *figure, int algorithm,
                          unsigned group)
{
    return ic_study_simulated(t, figure, "algorithm=%s group=%u", names[algorithm], group);
}

static void judge_concentration(const struct ic_points *t, struct ex_report *report)
{
    struct span ranks = {INFINITY, 0};
    unsigned lowest = 0, falls = 0;
    for (unsigned group = 4; group <= 16; group += 2) {
        double rank = ic_study_simulated(&t[1], "link_concentration", "group=%u", group);
        bool is_lowest = true;
        for (size_t i = 0; i < NAMES; i++)
            is_lowest =
                is_lowest && rank <= link_figure(t, "link_concentration", (int)i, group) + 1e-9;
        lowest += is_lowest;
        widen(&ranks, rank);
        falls += group > 4 && link_figure(t, "link_concentration", MD, group) <
                                  link_figure(t, "link_concentration", MD, group - 2);
    }
    ex_claim(report, lowest == 7 && ranks.most - ranks.least < 1e-9,
             "the link concentration of S-torus is lowest and constant",
             "routed along the ranks: %.3f to %.3f, lowest at %u of 7 sizes", ranks.least,
             ranks.most, lowest);
    ex_claim(report, falls == 6, "that of Md-torus falls slowly with the group",
             "from each of 7 sizes to the next in %u of 6 cases: %.3f at 4 nodes, %.3f at 8, %.3f "
             "at 16",
             falls, link_figure(t, "link_concentration", MD, 4),
             link_figure(t, "link_concentration", MD, 8),
             link_figure(t, "link_concentration", MD, 16));
}

/* By the steps of the schedule, or by the simulator's time. */
static void judge_concurrency(const struct ic_points *t, const char *figure, const char *how,
                              struct ex_report *report)
{
    double md_most = 0;
    unsigned u_largest = 0;
    for (unsigned group = 4; group <= 16; group += 2) {
        double most = 0;
        md_most = fmax(md_most, link_figure(t, figure, MD, group));
        for (size_t i = 0; i < NAMES; i++)
            most = fmax(most, link_figure(t, figure, (int)i, group));
        u_largest += link_figure(t, figure, U, group) > most - 1e-9;
    }
    ex_claim(report, md_most <= 4, "at most k messages of Md-torus are on their way at once",
             "%s, k = 4: at most %.2f, means over groups", how, md_most);
    ex_claim(report, u_largest == 7, "U-torus has most messages on their way at once",
             "%s: at %u of 7 sizes; at 8 nodes %.1f and Md-torus %.1f, at 16 %.1f and %.1f", how,
             u_largest, link_figure(t, figure, U, 8), link_figure(t, figure, MD, 8),
             link_figure(t, figure, U, 16), link_figure(t, figure, MD, 16));
}

static void judge_links(const struct ic_points *t, struct ex_report *report)
{
    judge_concentration(t, report);
    judge_concurrency(t, "step_concurrency", "by steps of the schedules", report);
    judge_concurrency(t, "concurrency", "simulated, 64 KB", report);
}

static const struct ic_study_table link_tables[] = {
    {"concentration", "torus", IC_SIMULATOR, "algorithm=all group=4..16/2 k=4 bytes=64K",
     "link_concentration concurrency step_concurrency",
     "Link visits over links used, and messages on their way at once, along the dimensions", 200},
    {"ranks", "torus", IC_SIMULATOR, "algorithm=S-torus group=4..16/2 k=4 bytes=64K routing=rank",
     "link_concentration", "S-torus, routed along the ranks", 200},
};
const struct ic_study ic_study_sci_links = {
    "sci-links",
    "Link concentration and concurrency (Oral 2003, chapter 2)",
    "<p>What the schedules make of the ring links of a 4 x 4 torus; means over random groups.</p>",
    IC_STUDY_TABLES(link_tables),
    NULL,
    judge_links,
};
