/* SPDX-License-Identifier: BSD-2-Clause */
/* Oral 2003, chapters 3 and 4: multicast through a Myrinet switch, and against SCI. */
#include <math.h>

#include "base/assert.h"
#include "interconnect/command/bars.h"
#include "interconnect/command/studies.h"
#include "interconnect/star/latency.h"

static const char *const algorithms[] = {"binomial", "binary", "serial", "separate"};

static const char *const schemes[] = {"HB", "NB", "NA"};

#define ALGORITHMS (sizeof(algorithms) / sizeof(algorithms[0]))
#define GROUP_MAX 256u

static double latency(const struct ic_points *t, const char *scheme, const char *algorithm,
                      unsigned group)
{
    return ic_study_model(t, "latency", "scheme=%s algorithm=%s group=%u", scheme, algorithm,
                          group);
}

/* How much less NA takes than NB, percent, of 16 nodes. */
static double gain(const struct ic_points *t, const char *algorithm)
{
    return 100 * (1 - latency(t, "NA", algorithm, 16) / latency(t, "NB", algorithm, 16));
}

/* ---- schedules ---- */
static void measure(uint64_t group, enum ic_star_algorithm algorithm,
                    struct ic_schedule_metrics *metrics, struct ic_star_links *links)
{
    struct ic_schedule schedule;
    char error[IC_ERROR_MAX];
    gmc_status status = ic_star_multicast(group, algorithm, &schedule, error);
    GMC_ASSERT(status == GMC_OK);
    status = ic_schedule_measure(&schedule, metrics);
    GMC_ASSERT(status == GMC_OK);
    ic_star_measure_links(&schedule, links);
    ic_schedule_fini(&schedule);
}

static void judge_links(struct ex_report *report)
{
    double cable_most = 0, serial_least = INFINITY, serial_most = 0, serial_directed = 0;
    struct ic_star_links links;
    for (uint64_t group = 3; group <= GROUP_MAX; group++)
        for (int a = 0; a < IC_STAR_ALGORITHMS; a++) {
            struct ic_schedule_metrics metrics;
            measure(group, (enum ic_star_algorithm)a, &metrics, &links);
            cable_most = fmax(cable_most, links.concentration_cable);
            if (a != IC_STAR_SERIAL)
                continue;
            serial_least = fmin(serial_least, links.concentration_cable);
            serial_most = fmax(serial_most, links.concentration_cable);
            serial_directed = fmax(serial_directed, links.concentration_directed);
        }
    ex_claim(report, cable_most < 2,
             "link concentration is bounded by 2 for binomial, binary and separate",
             "cables counted once: at most %.3f up to %u nodes, of all four", cable_most,
             GROUP_MAX);
    ex_claim(report, serial_most - serial_least < 1e-9 && fabs(serial_most - 2) < 1e-9,
             "and constant 2 for serial",
             "%.3f to %.3f by cables, %.0f by directed links: neither counting gives it",
             serial_least, serial_most, serial_directed);
}

static double at_once(const struct ic_points *t, const char *figure, const char *algorithm)
{
    return ic_study_simulated(t, figure, "algorithm=%s group=16", algorithm);
}

/* By the steps of the schedule, or by the simulator's time. */
static void judge_concurrency(const struct ic_points *t, const char *figure, const char *how,
                              struct ex_report *report)
{
    double binomial = at_once(t, figure, "binomial"), binary = at_once(t, figure, "binary");
    double serial = at_once(t, figure, "serial"), separate = at_once(t, figure, "separate");
    ex_claim(report, binomial > binary && binary > fmax(serial, separate),
             "most messages are on their way at once with binomial, then with binary",
             "%s, 16 nodes: binomial %.0f, binary %.0f, separate %.0f, serial %.0f", how, binomial,
             binary, separate, serial);
    ex_claim(report, separate > serial, "separate has slightly more of them than serial",
             "%s, 16 nodes: %.0f and %.0f", how, separate, serial);
}

/* ---- table 3.3 ---- */
static const char *const table_rows[] = {"HB binomial", "HB binary", "HB serial",
                                         "NB binomial", "NB binary", "NB serial",
                                         "NA binomial", "NA binary", "NA serial"};

#define FORWARDING IC_STAR_SEPARATE /* algorithms before it have nodes that forward */

/* Of a node that forwards 2 bytes: as tabulated, and as (3-8) to (3-10) give it. */
static void per_node(enum ic_myrinet_scheme scheme, int algorithm, double *both)
{
    struct ic_myrinet_latency out;
    char error[IC_ERROR_MAX];
    gmc_status status = ic_myrinet_latency(scheme, (enum ic_star_algorithm)algorithm,
                                           IC_MYRINET_TABLE_BYTES, 16, &out, error);
    GMC_ASSERT(status == GMC_OK && out.has_table);
    both[0] = out.per_node_by_table;
    both[1] = out.per_node;
}

static bool add_table(const struct ic_points *t, struct ex_report *report)
{
    struct ic_bars bars = {.what = "per-node",
                           .caption = "Table 3.3: time at a node that forwards 2 bytes",
                           .row = "scheme and algorithm",
                           .unit = "us",
                           .series = {"tabulated", "by (3-8) to (3-10)"},
                           .series_count = 2};
    (void)t;
    for (int scheme = 0; scheme < IC_MYRINET_SCHEMES; scheme++)
        for (int a = 0; a < FORWARDING; a++) {
            double both[2];
            per_node((enum ic_myrinet_scheme)scheme, a, both);
            ic_bars_add(&bars, table_rows[scheme * FORWARDING + a], both);
        }
    return ic_bars_end(&bars, report);
}

static void judge_table(struct ex_report *report)
{
    double off[IC_MYRINET_SCHEMES] = {0};
    for (int scheme = 0; scheme < IC_MYRINET_SCHEMES; scheme++)
        for (int a = 0; a < FORWARDING; a++) {
            double both[2];
            per_node((enum ic_myrinet_scheme)scheme, a, both);
            off[scheme] = fmax(off[scheme], 100 * fabs(both[1] / both[0] - 1));
        }
    ex_claim(report, off[IC_MYRINET_HB] < 0.1,
             "table 3.3, host-based: times of nodes that forward follow from the equations",
             "for 2 bytes within %.2f %%", off[IC_MYRINET_HB]);
    ex_claim(report, off[IC_MYRINET_NA] < 0.1,
             "table 3.3, NIC-assisted: times of nodes that forward follow from the equations",
             "for 2 bytes they are off by up to %.1f %%", off[IC_MYRINET_NA]);
    ex_claim(report, off[IC_MYRINET_NB] < 0.1,
             "table 3.3, NIC-based: times of nodes that forward follow from the equations",
             "for 2 bytes they are off by up to %.1f %%, and no other length gives all three",
             off[IC_MYRINET_NB]);
}

/* What the equations leave to the root's host: to send each message (HB), only to choose whom it
 * goes to (NA), nothing (NB). */
static double host_us(enum ic_myrinet_scheme scheme, enum ic_star_algorithm algorithm)
{
    struct ic_schedule_metrics metrics;
    struct ic_star_links links;
    measure(16, algorithm, &metrics, &links);
    double choices = algorithm == IC_STAR_SEPARATE ? metrics.root_sends : 1;
    double choosing = choices * ic_myrinet_process_us(scheme, algorithm);
    if (scheme == IC_MYRINET_HB)
        return metrics.root_sends * ic_myrinet_host_us(2) +
               (algorithm == IC_STAR_SEPARATE ? choosing : 0);
    return scheme == IC_MYRINET_NA ? choosing : 0;
}

static void judge_hosts(struct ex_report *report)
{
    bool is_so = true;
    for (int a = 0; a < IC_STAR_ALGORITHMS; a++) {
        enum ic_star_algorithm algorithm = (enum ic_star_algorithm)a;
        is_so = is_so && host_us(IC_MYRINET_HB, algorithm) > host_us(IC_MYRINET_NA, algorithm) &&
                host_us(IC_MYRINET_NA, algorithm) > host_us(IC_MYRINET_NB, algorithm);
    }
    ex_claim(report, is_so, "the load of the root's processor: most host-based, least NIC-based",
             "16 nodes, what the equations leave to the host: binomial %.1f, %.1f and %.0f us, "
             "separate %.0f, %.0f and %.0f us",
             host_us(IC_MYRINET_HB, IC_STAR_BINOMIAL), host_us(IC_MYRINET_NA, IC_STAR_BINOMIAL),
             host_us(IC_MYRINET_NB, IC_STAR_BINOMIAL), host_us(IC_MYRINET_HB, IC_STAR_SEPARATE),
             host_us(IC_MYRINET_NA, IC_STAR_SEPARATE), host_us(IC_MYRINET_NB, IC_STAR_SEPARATE));
}

static void judge_myrinet(const struct ic_points *t, struct ex_report *report)
{
    unsigned ordered = 0, nb_slowest = 0, cases = 0;
    for (unsigned group = 3; group <= GROUP_MAX; group++) {
        ordered += group >= 4 &&
                   latency(t, "HB", "binary", group) < latency(t, "HB", "binomial", group) &&
                   latency(t, "HB", "binomial", group) < latency(t, "HB", "serial", group) &&
                   latency(t, "HB", "serial", group) < latency(t, "HB", "separate", group);
        for (size_t i = 0; i < ALGORITHMS; i++, cases++)
            nb_slowest +=
                latency(t, "HB", algorithms[i], group) < latency(t, "NA", algorithms[i], group) &&
                latency(t, "NA", algorithms[i], group) < latency(t, "NB", algorithms[i], group);
    }
    ex_claim(report, ordered == GROUP_MAX - 3,
             "host-based: binary, binomial, serial, separate, from the fastest to the slowest",
             "at %u of %u group sizes from 4 on", ordered, GROUP_MAX - 3);
    ex_claim(report, nb_slowest == cases,
             "NIC-based is slowest with every algorithm, NIC-assisted between",
             "in %u of %u cases from 3 nodes on", nb_slowest, cases);
    ex_claim(report,
             gain(t, "separate") > fmax(gain(t, "binomial"), gain(t, "binary")) &&
                 gain(t, "serial") < fmin(gain(t, "binomial"), gain(t, "binary")),
             "the host's assistance helps separate addressing most, serial least",
             "16 nodes: separate %.0f %%, binomial %.0f %%, binary %.0f %%, serial %.0f %%",
             gain(t, "separate"), gain(t, "binomial"), gain(t, "binary"), gain(t, "serial"));
    judge_hosts(report);
    judge_links(report);
    judge_concurrency(&t[2], "step_concurrency", "by steps of the schedules", report);
    judge_concurrency(&t[2], "concurrency", "simulated", report);
    judge_table(report);
}

static const struct ic_study_table myrinet_tables[] = {
    {"latency", "star", IC_MODEL, "scheme=all algorithm=all group=3..256 bytes=2", NULL,
     "2 bytes through one Myrinet switch, model", 0},
    {"both", "star", IC_BOTH, "scheme=HB algorithm=all group=3..32 bytes=2", NULL,
     "Host-based: model and simulator", 0},
    {"links", "star", IC_SIMULATOR, "scheme=HB algorithm=all group=2..64 bytes=2",
     "cable_concentration link_concentration concurrency step_concurrency",
     "Links visited over links used, and messages on their way at once", 0},
};
const struct ic_study ic_study_myrinet = {
    "myrinet",
    "NIC-based and host-based multicast (Oral 2003, chapter 3)",
    "<p>Binomial, binary, serial and separate addressing, by the host (HB), the interface (NB), or "
    "the interface with the host choosing (NA).</p>",
    IC_STUDY_TABLES(myrinet_tables),
    add_table,
    judge_myrinet,
};

/* ---- against SCI ---- */
static double sci(const struct ic_points *t, const char *algorithm, unsigned group)
{
    return ic_study_model(t, "latency", "algorithm=%s group=%u", algorithm, group);
}

static double best_myrinet(const struct ic_points *t, unsigned group)
{
    double best = INFINITY;
    for (int s = 0; s < 3; s++)
        for (size_t i = 0; i < ALGORITHMS; i++)
            best = fmin(best, latency(t, schemes[s], algorithms[i], group));
    return best;
}

/* The best of 64 KB to 16 nodes, simulated. */
static double best_large_sci(const struct ic_points *t)
{
    static const char *const tori[] = {"separate", "U-torus", "S-torus", "Md-torus", "Mu-torus"};
    double best = INFINITY;
    for (int i = 0; i < 5; i++)
        best = fmin(best, ic_study_simulated(t, "latency", "algorithm=%s bytes=64K", tori[i]));
    return best;
}

static double best_large_myrinet(const struct ic_points *t)
{
    double best = INFINITY;
    for (int s = 0; s < 3; s++)
        for (size_t i = 0; i < ALGORITHMS; i++)
            best = fmin(best, ic_study_simulated(t, "latency", "scheme=%s algorithm=%s bytes=64K",
                                                 schemes[s], algorithms[i]));
    return best;
}

static void judge_head_to_head(const struct ic_points *t, struct ex_report *report)
{
    static const char *const tori[] = {"U-torus", "Md-torus", "Mu-torus"};
    unsigned wins = 0, trees = 0, cases = 0;
    for (unsigned group = 4; group <= 16; group++) {
        wins += sci(&t[0], "separate", group) < best_myrinet(&t[1], group);
        for (int i = 0; i < 3; i++, cases++)
            trees += fmax(latency(&t[1], "HB", "binary", group),
                          latency(&t[1], "HB", "binomial", group)) < sci(&t[0], tori[i], group);
    }
    ex_claim(report, wins == 13,
             "separate addressing on SCI beats all Myrinet algorithms at 2 bytes",
             "at %u of 13 group sizes from 4 to 16; at 16: %.1f against %.1f us", wins,
             sci(&t[0], "separate", 16), best_myrinet(&t[1], 16));
    ex_claim(report, trees == cases,
             "host-based binary and binomial are faster than U, Md and Mu-torus at 2 bytes",
             "in %u of %u cases", trees, cases);
    double torus = best_large_sci(&t[2]), star = best_large_myrinet(&t[3]);
    ex_claim(report, torus < star, "with 64 KB SCI beats Myrinet",
             "16 nodes, simulated: the best %.0f against %.0f us", torus, star);
}

static const struct ic_study_table head_tables[] = {
    {"sci", "torus", IC_MODEL, "algorithm=all group=4..16 k=4 bytes=2", NULL, "SCI, 2 bytes, model",
     0},
    {"myrinet", "star", IC_MODEL, "scheme=all algorithm=all group=4..16 bytes=2", NULL,
     "Myrinet, 2 bytes, model", 0},
    {"sci-large", "torus", IC_SIMULATOR, "algorithm=all bytes=2,16K,32K,48K,64K group=16 k=4", NULL,
     "SCI, 16 nodes, by length, simulated", 40},
    {"myrinet-large", "star", IC_SIMULATOR,
     "scheme=all algorithm=all bytes=2,16K,32K,48K,64K group=16 nic_rate=wire", NULL,
     "Myrinet, 16 nodes, by length, simulated at the wire's rate", 0},
};
const struct ic_study ic_study_head_to_head = {
    "sci-myrinet",
    "SCI and Myrinet side by side (Oral 2003, chapter 4)",
    "<p>The same multicasts on a 4 x 4 torus and through one switch.</p>",
    IC_STUDY_TABLES(head_tables),
    NULL,
    judge_head_to_head,
};
