/* SPDX-License-Identifier: BSD-2-Clause */
/* Case study 2: table, claims, pictures. Times are in units of what a message takes with flat and
 * SCI. */
#include <math.h>

#include "experiments/case2.h"

#define MESSAGE_BYTES 65536.0
#define TERABYTE 1e12
#define FARTHEST 3u       /* hops beyond the first, */
#define PUBLISHED_RATE 2u /* and the rate for which gains are published: 5 % */
#define DOMAINS_BEYOND 5.0

/* Published gains of caches there, percent; Myrinet and SCI alike. */
static const double published_gain[CASE2_LINKS] = {40, 50, 60, 60};

static double unit(const struct case2 *study, enum case2_window window)
{
    return case2_find(study, CASE2_FLAT, CASE2_SCI, window, 0, 0)->seconds;
}

/* Time per message; NAN when it was not run. */
static double units(const struct case2 *study, enum case2_tree tree, enum case2_link link,
                    enum case2_window window, unsigned hops, unsigned rate)
{
    const struct case2_result *result = case2_find(study, tree, link, window, hops, rate);
    return result != NULL ? result->seconds / unit(study, window) : NAN;
}

static double gain_percent(const struct case2 *study, enum case2_link link,
                           enum case2_window window)
{
    double lc = units(study, CASE2_LC, link, window, FARTHEST, PUBLISHED_RATE);
    double nc = units(study, CASE2_NC, link, window, FARTHEST, PUBLISHED_RATE);
    return 100 * (1 - lc / nc);
}

static void write_table(const struct case2 *study, struct ex_report *report)
{
    ex_row(report, "window,tree,local_link,hops_beyond_first,message_repair_rate,seconds,"
                   "time_per_message_units,first_hop_bytes_over_object,local_link_utilisation,"
                   "repaired_fragments,complete,events");
    for (size_t i = 0; i < study->count; i++) {
        const struct case2_point *p = &study->points[i];
        const struct case2_result *r = &study->results[i];
        ex_row(report, "%s,%s,%s,%u,%.2f,%.3f,%.4f,%.4f,%.4f,%llu,%s,%llu",
               case2_window_names[p->window], case2_tree_names[p->tree], case2_link_names[p->link],
               p->hops, case2_rates[p->rate] / 100, r->seconds, r->seconds / unit(study, p->window),
               r->first_hop, r->utilisation, (unsigned long long)r->repairs,
               r->complete ? "yes" : "no", (unsigned long long)r->events);
    }
}

/* ---- claims ---- */
struct range {
    double least, most;
};

static void stretch(struct range *range, double value)
{
    if (isnan(value))
        return;
    range->least = fmin(range->least, value);
    range->most = fmax(range->most, value);
}

static const struct range none = {INFINITY, -INFINITY};

/* A claim over all local links, hops and rates that were run: its ends, and how many say so. */
struct verdict {
    double least, most;
    struct case2_point at_least, at_most;
    unsigned count, held;
};

static const struct verdict unheard = {.least = INFINITY, .most = -INFINITY};

static void judge(struct verdict *verdict, const struct case2_point *at, double value, bool holds)
{
    if (isnan(value))
        return;
    verdict->count++;
    verdict->held += holds;
    if (value < verdict->least) {
        verdict->least = value;
        verdict->at_least = *at;
    }
    if (value > verdict->most) {
        verdict->most = value;
        verdict->at_most = *at;
    }
}

/* The first point of a window beyond the first hop; the next one; false behind the last. */
static struct case2_point first_point(enum case2_window window)
{
    return (struct case2_point){.window = window, .hops = 1, .rate = 1};
}

static bool next_point(struct case2_point *point)
{
    if (++point->rate == CASE2_RATES) {
        point->rate = 1;
        point->hops++;
    }
    if (point->hops == CASE2_HOPS) {
        point->hops = 1;
        point->link++;
    }
    return point->link < CASE2_LINKS;
}

static double at(const struct case2 *study, enum case2_tree tree, const struct case2_point *point)
{
    return units(study, tree, point->link, point->window, point->hops, point->rate);
}

/* The next point along the rates or the hops that was run; hops or rate is beyond the end where
 * there is none. */
static struct case2_point along(const struct case2 *study, struct case2_point point, bool hops)
{
    do {
        point.hops += hops;
        point.rate += !hops;
    } while (point.hops < CASE2_HOPS && point.rate < CASE2_RATES &&
             isnan(at(study, CASE2_NC, &point)));
    return point;
}

static void put_verdict(struct ex_report *report, const struct verdict *verdict, const char *claim,
                        const char *of)
{
    const struct case2_point *least = &verdict->at_least, *most = &verdict->at_most;
    if (verdict->count > 0)
        ex_claim(report, verdict->held == verdict->count, claim,
                 "%s: %.3f (%s, hops %u, %g %%) to %.3f (%s, hops %u, %g %%) %s; so in %u of %u",
                 case2_window_names[least->window], verdict->least, case2_link_names[least->link],
                 least->hops, case2_rates[least->rate], verdict->most, case2_link_names[most->link],
                 most->hops, case2_rates[most->rate], of, verdict->held, verdict->count);
}

/* Within so much two times are the same. */
#define SAME 0.05
/* And with less than that more, nothing has become longer: so much varies how pipes fill. */
#define LONGER 1.01

static void claim_caches(const struct case2 *study, struct ex_report *report,
                         enum case2_window window)
{
    struct verdict flat = unheard, rates = unheard, hops = unheard;
    struct case2_point point = first_point(window);
    do {
        double here = at(study, CASE2_LC, &point), ratio = here / at(study, CASE2_FLAT, &point);
        struct case2_point least_rate = point, one_hop = point;
        least_rate.rate = 1;
        while (isnan(at(study, CASE2_LC, &least_rate)) && least_rate.rate < point.rate)
            least_rate.rate++;
        one_hop.hops = 1;
        judge(&flat, &point, ratio, fabs(ratio - 1) <= SAME);
        ratio = here / at(study, CASE2_LC, &least_rate);
        if (least_rate.rate < point.rate)
            judge(&rates, &point, ratio, fabs(ratio - 1) <= SAME);
        ratio = here / at(study, CASE2_LC, &one_hop);
        if (point.hops > 1)
            judge(&hops, &point, ratio, fabs(ratio - 1) <= SAME);
    } while (next_point(&point));
    put_verdict(report, &flat, "With local caching a tree completes as fast as flat.",
                "times flat");
    put_verdict(report, &rates, "Completion with local caching does not depend on the rate.",
                "times as long as at the least rate");
    put_verdict(report, &hops, "Completion with local caching does not depend on the hops.",
                "times as long as with one hop");
}

static void claim_no_caches(const struct case2 *study, struct ex_report *report,
                            enum case2_window window)
{
    struct verdict longer = unheard, rates = unheard, hops = unheard;
    struct case2_point point = first_point(window);
    do {
        double lc = at(study, CASE2_LC, &point), nc = at(study, CASE2_NC, &point), more;
        struct case2_point higher = along(study, point, false);
        struct case2_point farther = along(study, point, true);
        judge(&longer, &point, nc / lc, nc / lc > LONGER);
        if (higher.rate < CASE2_RATES) {
            more = at(study, CASE2_NC, &higher) / nc;
            judge(&rates, &higher, more, more > LONGER);
        }
        if (farther.hops < CASE2_HOPS) {
            /* A longer way takes longer to fill with caches too. */
            more = at(study, CASE2_NC, &farther) / at(study, CASE2_LC, &farther) / (nc / lc);
            judge(&hops, &farther, more, more > LONGER);
        }
    } while (next_point(&point));
    put_verdict(report, &longer, "Without caches it takes longer than with them.", "times as long");
    put_verdict(report, &rates, "Without caches, time grows with the rate.",
                "times from one rate to the next");
    put_verdict(report, &hops, "Without caches, time grows with the hops, more than with them.",
                "times from one number of hops to the next");
}

static void claim_completion(const struct case2 *study, struct ex_report *report)
{
    for (enum case2_window w = CASE2_WIDE; w < CASE2_WINDOWS; w++) {
        claim_caches(study, report, w);
        claim_no_caches(study, report, w);
    }
}

static void claim_gains(const struct case2 *study, struct ex_report *report)
{
    for (enum case2_window w = CASE2_WIDE; w < CASE2_WINDOWS; w++) {
        double gain[CASE2_LINKS];
        bool near = true;
        for (enum case2_link link = CASE2_FE; link < CASE2_LINKS; link++) {
            gain[link] = gain_percent(study, link, w);
            near = near && fabs(gain[link] - published_gain[link]) <= 10;
        }
        const char *name = case2_window_names[w];
        ex_claim(report,
                 gain[CASE2_FE] < gain[CASE2_GIGE] && gain[CASE2_GIGE] <= gain[CASE2_MYRINET] + 1 &&
                     gain[CASE2_GIGE] <= gain[CASE2_SCI] + 1,
                 "Caches gain least with Fast Ethernet, then Gigabit, most with SANs (ordering; "
                 "a point apart counts as equal).",
                 "%s: %.0f, %.0f, %.0f (Myrinet), %.0f %% (SCI), at 3 hops and 5 %%", name,
                 gain[CASE2_FE], gain[CASE2_GIGE], gain[CASE2_MYRINET], gain[CASE2_SCI]);
        ex_claim(report, near, "They gain 40, 50 and 60 %, within 10 points.",
                 "%s: %.0f, %.0f, %.0f and %.0f %%", name, gain[CASE2_FE], gain[CASE2_GIGE],
                 gain[CASE2_MYRINET], gain[CASE2_SCI]);
    }
}

static double first_hop(const struct case2 *study, enum case2_tree tree, unsigned rate)
{
    const struct case2_result *baseline =
        case2_find(study, CASE2_LC, CASE2_SCI, CASE2_WIDE, FARTHEST, 0);
    const struct case2_result *result =
        case2_find(study, tree, CASE2_SCI, CASE2_WIDE, FARTHEST, rate);
    return result != NULL ? result->first_hop / baseline->first_hop : NAN;
}

static void claim_backbone(const struct case2 *study, struct ex_report *report)
{
    struct range cached = none, slope = none;
    for (unsigned rate = 1; rate < CASE2_RATES; rate++) {
        stretch(&cached, first_hop(study, CASE2_LC, rate));
        stretch(&slope, (first_hop(study, CASE2_NC, rate) - 1) / (case2_rates[rate] / 100));
    }
    ex_claim(report, cached.least >= 0.98 && cached.most <= 1.02,
             "First-hop traffic with caches does not depend on the rate.",
             "%.3f to %.3f of what it is without loss", cached.least, cached.most);
    ex_claim(report, slope.least > 0 && slope.most / slope.least <= 1.3,
             "First-hop traffic without caches grows about linearly in the rate.",
             "by %.1f to %.1f times the rate; five domains lie beyond the first hop", slope.least,
             slope.most);
}

static void claim_utilisation(const struct case2 *study, struct ex_report *report)
{
    const struct case2_result *lc =
        case2_find(study, CASE2_LC, CASE2_FE, CASE2_WIDE, FARTHEST, PUBLISHED_RATE);
    const struct case2_result *nc =
        case2_find(study, CASE2_NC, CASE2_FE, CASE2_WIDE, FARTHEST, PUBLISHED_RATE);
    struct range san = none;
    for (enum case2_tree tree = CASE2_FLAT; tree < CASE2_TREES; tree++)
        for (enum case2_link link = CASE2_MYRINET; link < CASE2_LINKS; link++)
            stretch(&san, case2_find(study, tree, link, CASE2_WIDE, FARTHEST, PUBLISHED_RATE)
                              ->utilisation);
    ex_claim(report, lc->utilisation > nc->utilisation,
             "Fast Ethernet is used better with caches than without.",
             "%.1f %% with, %.1f %% without, at 3 hops and 5 %%", 100 * lc->utilisation,
             100 * nc->utilisation);
    ex_claim(report, san.most < 0.1, "SAN links are nearly idle.", "at most %.1f %% used",
             100 * san.most);
}

/* ---- pictures ---- */
static void plot_time(const struct case2 *study, struct ex_report *report)
{
    ex_figure_begin(report, "time",
                    "Time per message over the rate of repairs, local link SCI, wide windows. With "
                    "caches a repair is between neighbours; without, it takes the source's wire "
                    "once more.");
    FILE *out = report->plot;
    for (unsigned hops = 1; hops < CASE2_HOPS; hops++) {
        fprintf(out, "$h%u << END\n", hops);
        for (unsigned rate = 1; rate < CASE2_RATES; rate++) {
            double lc = units(study, CASE2_LC, CASE2_SCI, CASE2_WIDE, hops, rate);
            double nc = units(study, CASE2_NC, CASE2_SCI, CASE2_WIDE, hops, rate);
            if (!isnan(lc) && !isnan(nc))
                fprintf(out, "%g %g %g\n", case2_rates[rate], lc, nc);
        }
        if (isnan(units(study, CASE2_LC, CASE2_SCI, CASE2_WIDE, hops, PUBLISHED_RATE)))
            fputs("0 NaN NaN\n", out);
        fputs("END\n", out);
    }
    fputs("set title 'What caches in relays save'\nset xlabel 'messages that need a repair, %'\n"
          "set ylabel 'time per message (flat = 1)'\nset yrange [0.8:*]\nset xrange [0:21]\n"
          "plot 1 with lines dt 2 lc rgb '#999999' lw 1.5 title 'flat', \\\n"
          " $h1 using 1:3 with linespoints lt 2 title 'no caches, 1 hop', \\\n"
          " $h2 using 1:3 with linespoints lt 5 title 'no caches, 2 hops', \\\n"
          " $h3 using 1:3 with linespoints lt 4 title 'no caches, 3 hops', \\\n"
          " $h1 using 1:2 with linespoints lt 1 title 'caches, 1 hop', \\\n"
          " $h2 using 1:2 with linespoints lt 6 title 'caches, 2 hops', \\\n"
          " $h3 using 1:2 with linespoints lt 3 title 'caches, 3 hops'\n",
          out);
    ex_figure_end(report);
}

static void plot_gains(const struct case2 *study, struct ex_report *report)
{
    ex_figure_begin(
        report, "gain",
        "What caches gain at 3 hops and 5 %, beside the published gains. Our core sends "
        "on while repairs are under way, so that they cost bytes, not round trips.");
    FILE *out = report->plot;
    fputs("$gain << END\n", out);
    for (enum case2_link link = CASE2_FE; link < CASE2_LINKS; link++)
        fprintf(out, "\"%s\" %g %g %g\n", case2_link_names[link],
                gain_percent(study, link, CASE2_WIDE), gain_percent(study, link, CASE2_NARROW),
                published_gain[link]);
    fputs("END\nset title 'Gain of local caching by local link'\nset ylabel 'time saved, %'\n"
          "set yrange [0:70]\nset style data histograms\nset style histogram clustered gap 1.5\n"
          "set style fill solid 0.85 noborder\nset boxwidth 0.9\n"
          "plot $gain using 2:xtic(1) lt 1 title 'wide windows', \\\n"
          " '' using 3 lt 5 title 'narrow windows', \\\n"
          " '' using 4 lt 7 title 'published'\n",
          out);
    ex_figure_end(report);
}

static void plot_backbone(const struct case2 *study, struct ex_report *report)
{
    ex_figure_begin(report, "backbone",
                    "What the source's first wire carries, over what it carries without loss, at 3 "
                    "hops. The line is 1 + 5 r: each of the five wires beyond asks once per lost "
                    "message.");
    FILE *out = report->plot;
    fputs("$traffic << END\n0 1 1\n", out);
    for (unsigned rate = 1; rate < CASE2_RATES; rate++)
        if (!isnan(first_hop(study, CASE2_LC, rate)))
            fprintf(out, "%g %g %g\n", case2_rates[rate], first_hop(study, CASE2_LC, rate),
                    first_hop(study, CASE2_NC, rate));
    fprintf(
        out,
        "END\nset title 'Impact on the backbone'\nset xlabel 'messages that need a repair, %%'\n"
        "set ylabel 'bytes on the first wire (no loss = 1)'\nset yrange [0.8:*]\n"
        "set xrange [0:21]\n"
        "plot 1 + %g * x / 100 with lines dt 2 lc rgb '#999999' lw 1.5 title '1 + 5 r', \\\n"
        " $traffic using 1:3 with linespoints lt 2 title 'no caches', \\\n"
        " '' using 1:2 with linespoints lt 1 title 'caches'\n",
        DOMAINS_BEYOND);
    ex_figure_end(report);
}

static void plot_utilisation(const struct case2 *study, struct ex_report *report)
{
    ex_figure_begin(
        report, "utilisation",
        "Use of the local link of the farthest domain at 3 hops and 5 %, wide windows.");
    FILE *out = report->plot;
    fputs("$use << END\n", out);
    for (enum case2_link link = CASE2_FE; link < CASE2_LINKS; link++) {
        fprintf(out, "\"%s\"", case2_link_names[link]);
        for (enum case2_tree tree = CASE2_FLAT; tree < CASE2_TREES; tree++)
            fprintf(out, " %g",
                    100 * case2_find(study, tree, link, CASE2_WIDE, FARTHEST, PUBLISHED_RATE)
                              ->utilisation);
        fputc('\n', out);
    }
    fputs("END\nset title 'Use of local links'\nset ylabel 'busy, %'\nset yrange [0:105]\n"
          "set style data histograms\nset style histogram clustered gap 1.5\n"
          "set style fill solid 0.85 noborder\nset boxwidth 0.9\n"
          "plot $use using 2:xtic(1) lt 7 title 'flat', '' using 3 lt 1 title 'tree, caches', \\\n"
          " '' using 4 lt 2 title 'tree, no caches'\n",
          out);
    ex_figure_end(report);
}

void case2_report(const struct case2 *study, struct ex_report *report)
{
    size_t incomplete = 0;
    for (size_t i = 0; i < study->count; i++)
        incomplete += !study->results[i].complete;
    write_table(study, report);
    ex_claim(report, incomplete == 0, "Every run completes, over the tree that is studied.",
             "%zu of %zu did", study->count - incomplete, study->count);
    claim_completion(study, report);
    claim_gains(study, report);
    claim_backbone(study, report);
    claim_utilisation(study, report);
    plot_time(study, report);
    plot_gains(study, report);
    plot_backbone(study, report);
    plot_utilisation(study, report);
    double per_message = unit(study, CASE2_WIDE) / ((double)study->bytes / MESSAGE_BYTES);
    if (study->quick)
        ex_note(report,
                "The short version's object is so small that filling a longer way is a good "
                "part of its time: claims about flat and hops may be missed by it.");
    ex_note(
        report,
        "The object is %.0f MB in the proportions of the study (time per message does not hang on "
        "the number of messages once windows are full); a terabyte at the measured %.2f ms per "
        "message would take %.1f hours with flat or caches.",
        (double)study->bytes / 1e6, per_message * 1e3,
        per_message * TERABYTE / MESSAGE_BYTES / 3600);
    ex_note(report,
            "A message's repair is what is counted: with caches a parent sends the datagrams again "
            "that were lost, without caches the whole message comes from the source again. Local "
            "links carry what the study measured for Ethernet (64 KB in 12 and 1.2 ms), and the "
            "SANs' own rates.");
    ex_note(report,
            "The reference model's weight of a repair, w = 5, is about the ratio of the WAN's "
            "latency to a message's time on the wire (30 ms / 5.2 ms = 5.7): its gateways "
            "wait for each repair. A gateway that sends on meanwhile loses the bytes only, "
            "which may be why the gains here are smaller.");
}
