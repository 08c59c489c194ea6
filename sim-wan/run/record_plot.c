/* SPDX-License-Identifier: BSD-2-Clause */
/* The recorder of pictures, PREFIX-tree, PREFIX-wires, PREFIX-completion and PREFIX-traffic: who
 * gave the object to whom on the map, rate and queue of the busiest wires over time, how much of
 * the object each domain had when, and the rates of transfers and background traffic. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim-wan/mem.h"
#include "sim-wan/plot/map.h"
#include "sim-wan/run/limit.h"
#include "sim-wan/run/record_file.h"
#include "sim-wan/run/recorders.h"
#include "sim-wan/run/series.h"
#include "sim-wan/topo/index.h"

#define WIDTH 1200u
#define HEIGHT 800u
#define TREE_HEIGHT 900u
#define WIRES_MAX 6u  /* drawn */
#define LINES_MAX 12u /* of domains; more are drawn as a band */

struct plotter {
    const struct sim_run *run;
    char *prefix;
    struct sim_series series;
};

static bool check_plot(const struct sim_topo *topo, const char *target, char *error)
{
    (void)topo;
    return sim_plot_check(target, error);
}

static void *open_plot(const struct sim_run *run, const char *target, char *error)
{
    struct plotter *plotter = sim_calloc(1, sizeof(*plotter));
    (void)error;
    plotter->run = run;
    plotter->prefix = sim_strdup(target);
    sim_series_init(&plotter->series, run);
    return plotter;
}

static void sample_plot(void *state)
{
    struct plotter *plotter = state;
    sim_series_take(&plotter->series, false);
}

static void put_title(struct sim_plot *plot, const struct sim_run *run, const char *what)
{
    char title[256];
    snprintf(title, sizeof(title), "%.120s: %s", run->plan->title, what);
    sim_gnuplot_text(plot->script, title);
}

/* ---- the tree ---- */
/* What arrows leave free at each end, so that the points and heads are seen: a part of the map. */
static double free_end(const struct sim_topo *topo, const struct sim_spot *spots)
{
    struct sim_spot low = spots[0], high = spots[0];
    for (size_t i = 1; i < topo->node_count; i++) {
        low = (struct sim_spot){fmin(low.x, spots[i].x), fmin(low.y, spots[i].y)};
        high = (struct sim_spot){fmax(high.x, spots[i].x), fmax(high.y, spots[i].y)};
    }
    return 0.014 * fmax(high.x - low.x, high.y - low.y);
}

static void write_arrow(FILE *out, const struct sim_spot *from, const struct sim_spot *to,
                        double free_end)
{
    double x = to->x - from->x, y = to->y - from->y, length = hypot(x, y);
    double part = length > 0 ? fmin(free_end / length, 0.3) : 0;
    fprintf(out, "%.5f %.5f %.5f %.5f\n", from->x + part * x, from->y + part * y,
            (1 - 2 * part) * x, (1 - 2 * part) * y);
}

/* Arrows of the first transfer, from parents to children, and its source. */
static void write_tree(const struct plotter *plotter, FILE *out, const struct sim_spot *spots)
{
    const struct sim_run *run = plotter->run;
    struct sim_topo_index index;
    struct gmc_member_info info;
    double gap = free_end(&run->plan->topo, spots);
    sim_topo_index_init(&index, &run->plan->topo);
    fputs("\n\n# tree\n", out);
    for (size_t n = 0; sim_sample_member(run, 0, n, &info); n++) {
        uint32_t child = sim_topo_index_find(&index, info.domain);
        uint32_t parent =
            info.parent != NULL ? sim_topo_index_find(&index, info.parent) : UINT32_MAX;
        if (child != UINT32_MAX && parent != UINT32_MAX)
            write_arrow(out, &spots[parent], &spots[child], gap);
    }
    const struct sim_spot *source = &spots[run->plan->transfers[0].source];
    fprintf(out, "\n\n# source\n%.5f %.5f\n", source->x, source->y);
    sim_topo_index_fini(&index);
}

static bool has_tree(const struct sim_run *run)
{
    struct gmc_member_info info;
    bool found = false;
    for (size_t n = 0; sim_sample_member(run, 0, n, &info); n++)
        found = found || info.parent != NULL;
    return found;
}

static gmc_status draw_tree(const struct plotter *plotter, char *error)
{
    const struct sim_topo *topo = &plotter->run->plan->topo;
    struct sim_plot plot;
    gmc_status status = sim_plot_open(&plot, plotter->prefix, "tree", WIDTH, TREE_HEIGHT, error);
    if (status != GMC_OK)
        return status;
    struct sim_spot *spots = sim_alloc(topo->node_count * sizeof(*spots));
    sim_layout(topo, spots);
    sim_map_begin(&plot, topo, spots);
    write_tree(plotter, plot.data, spots);
    free(spots);
    fputs("set title ", plot.script);
    put_title(&plot, plotter->run, "who sent the object to whom");
    fputs("\nplot \\\n", plot.script);
    sim_map_layers(&plot, topo);
    if (has_tree(plotter->run))
        fputs(", \\\n  data index \"tree\" using 1:2:3:4 with vectors head filled "
              "size screen 0.011,18 linewidth 2 linecolor rgb \"#d9480f\" title \"tree\"",
              plot.script);
    fputs(", \\\n  data index \"source\" using 1:2 with points pointtype 13 pointsize 2.4 "
          "linecolor rgb \"#d9480f\" title \"source\"\n",
          plot.script);
    return sim_plot_close(&plot, error);
}

/* ---- wires ---- */
/* Lanes by what they carried, the busiest first; how many carried anything, at most WIRES_MAX. */
static size_t busiest(const struct plotter *plotter, uint32_t list[WIRES_MAX])
{
    uint64_t bytes[WIRES_MAX] = {0};
    size_t count = 0;
    for (uint32_t lane = 0; lane < plotter->series.lane_count; lane++) {
        uint64_t carried = sim_run_lane(plotter->run, lane / 2, (int)(lane % 2)).delivered_bytes;
        size_t at = count < WIRES_MAX ? count : WIRES_MAX;
        while (at > 0 && bytes[at - 1] < carried)
            at--;
        if (carried == 0 || at == WIRES_MAX)
            continue;
        count += count < WIRES_MAX;
        for (size_t i = count - 1; i > at; i--) {
            bytes[i] = bytes[i - 1];
            list[i] = list[i - 1];
        }
        bytes[at] = carried;
        list[at] = lane;
    }
    return count;
}

static void write_lane(const struct plotter *plotter, FILE *out, uint32_t lane)
{
    const struct sim_series *series = &plotter->series;
    for (size_t i = 0; i < series->count; i++)
        fprintf(out, "%.6f %.6g %.6g\n", series->seconds[i],
                (double)series->rates[lane * SIM_SERIES_SAMPLES + i] / 1e6,
                (double)series->queues[lane * SIM_SERIES_SAMPLES + i] / 1e3);
    fputs("\n\n", out);
}

static void name_lane(const struct plotter *plotter, FILE *out, uint32_t lane)
{
    const struct sim_topo *topo = &plotter->run->plan->topo;
    const struct sim_topo_link *link = &topo->links[lane / 2];
    char name[160];
    snprintf(name, sizeof(name), "%.60s to %.60s",
             topo->nodes[lane % 2 == 0 ? link->a : link->b].name,
             topo->nodes[lane % 2 == 0 ? link->b : link->a].name);
    sim_gnuplot_text(out, name);
}

static void plot_lanes(const struct plotter *plotter, FILE *out, const uint32_t *lanes,
                       size_t count, int column)
{
    fputs("plot \\\n", out);
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "%s  data index %zu using 1:%d with lines linewidth 2 linecolor %zu title ",
                i > 0 ? ", \\\n" : "", i, column, i + 1);
        name_lane(plotter, out, lanes[i]);
    }
    fputs("\n", out);
}

static gmc_status draw_wires(const struct plotter *plotter, char *error)
{
    struct sim_plot plot;
    uint32_t lanes[WIRES_MAX];
    size_t count = busiest(plotter, lanes);
    if (count == 0)
        return GMC_OK;
    gmc_status status = sim_plot_open(&plot, plotter->prefix, "wires", WIDTH, HEIGHT, error);
    if (status != GMC_OK)
        return status;
    fputs("# seconds rate (Mbit/s) queue (kB)\n", plot.data);
    for (size_t i = 0; i < count; i++)
        write_lane(plotter, plot.data, lanes[i]);
    fputs("set multiplot layout 2,1 title ", plot.script);
    put_title(&plot, plotter->run, "the busiest wires");
    fputs("\nset key outside right top\nset lmargin 10\n"
          "set rmargin 34\nset yrange [0:*]\nset ylabel \"rate, Mbit/s\"\n",
          plot.script);
    plot_lanes(plotter, plot.script, lanes, count, 2);
    fputs("set xlabel \"seconds\"\nset ylabel \"queue, kB\"\nunset key\n", plot.script);
    plot_lanes(plotter, plot.script, lanes, count, 3);
    fputs("unset multiplot\n", plot.script);
    return sim_plot_close(&plot, error);
}

/* ---- completion ---- */
static int by_share(const void *left, const void *right)
{
    float a = *(const float *)left, b = *(const float *)right;
    return (a > b) - (a < b);
}

/* Seconds and, in per cent, the least, the middle and the most that a domain has. */
static void write_band(const struct sim_series *series, FILE *out)
{
    float *shares = sim_alloc(series->target_count * sizeof(*shares));
    for (size_t i = 0; i < series->count; i++) {
        for (size_t n = 0; n < series->target_count; n++)
            shares[n] = series->shares[n * SIM_SERIES_SAMPLES + i] * 100;
        qsort(shares, series->target_count, sizeof(*shares), by_share);
        fprintf(out, "%.6f %.4g %.4g %.4g\n", series->seconds[i], (double)shares[0],
                (double)shares[series->target_count / 2], (double)shares[series->target_count - 1]);
    }
    free(shares);
}

static void write_lines(const struct sim_series *series, FILE *out)
{
    for (size_t n = 0; n < series->target_count; n++) {
        for (size_t i = 0; i < series->count; i++)
            fprintf(out, "%.6f %.4g\n", series->seconds[i],
                    (double)series->shares[n * SIM_SERIES_SAMPLES + i] * 100);
        fputs("\n\n", out);
    }
}

static void plot_band(FILE *out)
{
    fputs(
        "plot \\\n"
        "  data using 1:2:4 with filledcurves linecolor rgb \"#c5d9ee\" title "
        "\"all domains\", \\\n"
        "  data using 1:4 with lines linewidth 2 linecolor rgb \"#2b8a3e\" title \"fastest\", \\\n"
        "  data using 1:3 with lines linewidth 2 linecolor rgb \"#1f5fa8\" title \"middle\", \\\n"
        "  data using 1:2 with lines linewidth 2 linecolor rgb \"#d9480f\" title \"slowest\"\n",
        out);
}

static void plot_lines(const struct plotter *plotter, FILE *out)
{
    const struct sim_plan *plan = plotter->run->plan;
    size_t line = 0;
    fputs("plot \\\n", out);
    for (size_t i = 0; i < plan->transfer_count; i++)
        for (size_t n = 0; n < plan->transfers[i].target_count; n++, line++) {
            struct gmc_member_info info;
            char name[200];
            const char *domain = sim_sample_member(plotter->run, i, n, &info)
                                     ? info.domain
                                     : plan->topo.nodes[plan->transfers[i].targets[n]].name;
            snprintf(name, sizeof(name), "%.60s%s%.60s",
                     plan->transfer_count > 1 ? plan->transfers[i].name : "",
                     plan->transfer_count > 1 ? ": " : "", domain);
            fprintf(out, "%s  data index %zu using 1:2 with lines linewidth 2 title ",
                    line > 0 ? ", \\\n" : "", line);
            sim_gnuplot_text(out, name);
        }
    fputs("\n", out);
}

/* Where the last transfer could have ended at best, after the times at which they began. */
static void draw_bound(const struct plotter *plotter, FILE *out)
{
    const struct sim_run *run = plotter->run;
    struct sim_limits limits;
    double bound = 0;
    sim_limits_init(&limits, run->plan, &run->world->net);
    for (size_t i = 0; i < run->plan->transfer_count; i++) {
        double begin = (double)gmc_time_sub(run->transfers[i].begin, run->zero) / 1e9;
        bound = fmax(bound, begin + sim_limits_of(&limits, &run->plan->transfers[i]));
    }
    sim_limits_fini(&limits);
    if (!isfinite(bound) || bound <= 0)
        return;
    bool is_late = bound > plotter->series.seconds[plotter->series.count - 1] / 2;
    fprintf(out,
            "set arrow from %.6f, graph 0 to %.6f, graph 1 nohead dashtype 2 "
            "linecolor rgb \"#555555\"\n"
            "set label \" bound of the wires, %.3g s \" at %.6f, graph 0.03 %s "
            "textcolor rgb \"#555555\"\n",
            bound, bound, bound, bound, is_late ? "right" : "left");
}

static gmc_status draw_completion(const struct plotter *plotter, char *error)
{
    const struct sim_series *series = &plotter->series;
    struct sim_plot plot;
    gmc_status status = sim_plot_open(&plot, plotter->prefix, "completion", WIDTH, HEIGHT, error);
    if (status != GMC_OK)
        return status;
    bool is_band = series->target_count > LINES_MAX;
    fputs("# seconds, per cent\n", plot.data);
    if (is_band)
        write_band(series, plot.data);
    else
        write_lines(series, plot.data);
    fputs("set title ", plot.script);
    put_title(&plot, plotter->run, "what each domain has over time");
    fputs("\nset key outside right top\n"
          "set xlabel \"seconds\"\nset ylabel \"stored and verified, %\"\nset yrange [0:102]\n"
          "set xrange [0:*]\n",
          plot.script);
    draw_bound(plotter, plot.script);
    if (is_band)
        plot_band(plot.script);
    else
        plot_lines(plotter, plot.script);
    return sim_plot_close(&plot, error);
}

/* ---- traffic ---- */
/* Mbit/s that the targets of a transfer got in the mean before a sample; `first`: the first one. */
static double transfer_mbps(const struct sim_series *series, const struct sim_plan_transfer *plan,
                            size_t first, size_t sample)
{
    double share = 0, time;
    if (sample == 0 || plan->target_count == 0)
        return 0;
    time = series->seconds[sample] - series->seconds[sample - 1];
    for (size_t n = first; n < first + plan->target_count; n++)
        share += (double)series->shares[n * SIM_SERIES_SAMPLES + sample] -
                 (double)series->shares[n * SIM_SERIES_SAMPLES + sample - 1];
    return time > 0 ? share / (double)plan->target_count * (double)plan->bytes * 8e-6 / time : 0;
}

static void write_rates(const struct plotter *plotter, FILE *out)
{
    const struct sim_series *series = &plotter->series;
    const struct sim_plan *plan = plotter->run->plan;
    size_t first = 0;
    for (size_t t = 0; t < plan->transfer_count; t++) {
        for (size_t i = 0; i < series->count; i++)
            fprintf(out, "%.6f %.6g\n", series->seconds[i],
                    transfer_mbps(series, &plan->transfers[t], first, i));
        fputs("\n\n", out);
        first += plan->transfers[t].target_count;
    }
    for (size_t t = 0; t < plan->traffic_count; t++) {
        for (size_t i = 0; i < series->count; i++)
            fprintf(out, "%.6f %.6g\n", series->seconds[i],
                    (double)series->arrivals[t * SIM_SERIES_SAMPLES + i] / 1e6);
        fputs("\n\n", out);
    }
}

/* The first of each kind, as many as can be told apart. */
static void plot_rates(const struct plotter *plotter, FILE *out)
{
    const struct sim_plan *plan = plotter->run->plan;
    size_t lines = 0;
    fputs("plot \\\n", out);
    for (size_t i = 0; i < plan->transfer_count + plan->traffic_count; i++) {
        bool is_traffic = i >= plan->transfer_count;
        size_t n = is_traffic ? i - plan->transfer_count : i;
        if (n >= LINES_MAX / 2)
            continue;
        char name[200];
        if (is_traffic)
            snprintf(name, sizeof(name), "%.60s (%s)", plan->traffic[n].name,
                     sim_plan_traffic_names[plan->traffic[n].config.kind]);
        else
            snprintf(name, sizeof(name), "%.60s (transfer)", plan->transfers[n].name);
        fprintf(out, "%s  data index %zu using 1:2 with lines linewidth 2 linecolor %zu title ",
                lines > 0 ? ", \\\n" : "", i, lines + 1);
        sim_gnuplot_text(out, name);
        lines++;
    }
    fputs("\n", out);
}

static gmc_status draw_traffic(const struct plotter *plotter, char *error)
{
    struct sim_plot plot;
    gmc_status status = sim_plot_open(&plot, plotter->prefix, "traffic", WIDTH, HEIGHT, error);
    if (status != GMC_OK)
        return status;
    fputs("# seconds, Mbit/s\n", plot.data);
    write_rates(plotter, plot.data);
    fputs("set title ", plot.script);
    put_title(&plot, plotter->run, "what arrives of transfers (per domain) and of traffic");
    fputs("\nset key outside right top\nset xlabel \"seconds\"\nset ylabel \"Mbit/s\"\n"
          "set yrange [0:*]\nset xrange [0:*]\n",
          plot.script);
    plot_rates(plotter, plot.script);
    return sim_plot_close(&plot, error);
}

/* ---- the end ---- */
/* Each is tried: without gnuplot all scripts and data are there. */
static bool draw_all(struct plotter *plotter, char *error)
{
    sim_series_take(&plotter->series, true);
    bool ok = draw_wires(plotter, error) == GMC_OK;
    if (plotter->run->plan->traffic_count > 0)
        ok = draw_traffic(plotter, error) == GMC_OK && ok;
    if (plotter->series.target_count > 0) {
        ok = draw_completion(plotter, error) == GMC_OK && ok;
        ok = draw_tree(plotter, error) == GMC_OK && ok;
    }
    return ok;
}

static bool close_plot(void *state, bool keep, char *error)
{
    struct plotter *plotter = state;
    bool ok = !keep || draw_all(plotter, error);
    sim_series_fini(&plotter->series);
    free(plotter->prefix);
    free(plotter);
    return ok;
}

const struct sim_recorder_ops sim_record_plot = {
    .name = "plot",
    .target = "PREFIX",
    .summary = "pictures: PREFIX-tree, -wires, -completion, -traffic (gnuplot)",
    .check = check_plot,
    .open = open_plot,
    .sample = sample_plot,
    .close = close_plot,
};
