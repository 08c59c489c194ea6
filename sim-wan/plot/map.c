/* SPDX-License-Identifier: BSD-2-Clause */
/* The topology as a picture; see map.h. */
#include "sim-wan/plot/map.h"

#include <math.h>
#include <stdlib.h>

#include "sim-wan/mem.h"

/* More names than that cover each other. */
#define NAMES_MAX 80u
#define WIDTH 1200u
#define HEIGHT 900u

/* Arrow styles: wires of up to 10 Mbit/s are the thinnest, ten times as much is a step thicker. */
#define THICKNESSES 5

static unsigned thickness(const struct sim_topo_link *link)
{
    uint64_t rate_bps = link->a_to_b.rate_bps < link->b_to_a.rate_bps ? link->a_to_b.rate_bps
                                                                      : link->b_to_a.rate_bps;
    unsigned step = 1;
    if (rate_bps == 0)
        return THICKNESSES;
    for (uint64_t limit = 10000000; step < THICKNESSES && rate_bps > limit; limit *= 10)
        step++;
    return step;
}

static void write_nodes(FILE *out, const struct sim_topo *topo, const struct sim_spot *spots,
                        bool gateways)
{
    fprintf(out, "\n\n# %s\n", gateways ? "gateways" : "routers");
    for (size_t i = 0; i < topo->node_count; i++)
        if (topo->nodes[i].has_gateway == gateways)
            fprintf(out, "%.5f %.5f \"%s\"\n", spots[i].x, spots[i].y, topo->nodes[i].name);
}

static size_t count_gateways(const struct sim_topo *topo)
{
    size_t count = 0;
    for (size_t i = 0; i < topo->node_count; i++)
        count += topo->nodes[i].has_gateway;
    return count;
}

/* Some room around all nodes; a line of them gets height too. */
static void set_ranges(FILE *out, const struct sim_spot *spots, size_t count)
{
    struct sim_spot low = spots[0], high = spots[0];
    for (size_t i = 1; i < count; i++) {
        low = (struct sim_spot){fmin(low.x, spots[i].x), fmin(low.y, spots[i].y)};
        high = (struct sim_spot){fmax(high.x, spots[i].x), fmax(high.y, spots[i].y)};
    }
    double extent = fmax(fmax(high.x - low.x, high.y - low.y), 0.01), room = 0.07 * extent;
    double x = fmax(0.15 * extent - (high.x - low.x) / 2, 0) + room;
    double y = fmax(0.15 * extent - (high.y - low.y) / 2, 0) + room;
    fprintf(out, "set xrange [%.5f:%.5f]\nset yrange [%.5f:%.5f]\n", low.x - x, high.x + x,
            low.y - y, high.y + y);
}

void sim_map_begin(struct sim_plot *plot, const struct sim_topo *topo, const struct sim_spot *spots)
{
    fputs("# links\n# x y dx dy thickness\n", plot->data);
    for (size_t i = 0; i < topo->link_count; i++) {
        const struct sim_spot *a = &spots[topo->links[i].a], *b = &spots[topo->links[i].b];
        fprintf(plot->data, "%.5f %.5f %.5f %.5f %u\n", a->x, a->y, b->x - a->x, b->y - a->y,
                thickness(&topo->links[i]));
    }
    write_nodes(plot->data, topo, spots, false);
    write_nodes(plot->data, topo, spots, true);
    for (unsigned step = 1; step <= THICKNESSES; step++)
        fprintf(plot->script,
                "set style arrow %u nohead linewidth %.1f linecolor rgb \"#b8b8b8\"\n", step,
                0.5 + 0.75 * step);
    set_ranges(plot->script, spots, topo->node_count);
    fputs("unset border; unset tics\nset size ratio -1\n"
          "set margins 1, 1, 3, 3\nset key at screen 0.5, 0.03 center center horizontal\n",
          plot->script);
}

void sim_map_layers(struct sim_plot *plot, const struct sim_topo *topo)
{
    FILE *out = plot->script;
    size_t gateways = count_gateways(topo);
    /* Something that is always there, so that commas are easy. */
    fputs("  NaN notitle", out);
    if (topo->link_count > 0)
        fputs(", \\\n  data index \"links\" using 1:2:3:4:5 with vectors arrowstyle variable "
              "notitle, \\\n  keyentry with lines linewidth 3 linecolor rgb \"#b8b8b8\" "
              "title \"wires, thicker with the rate\"",
              out);
    if (gateways < topo->node_count)
        fputs(", \\\n  data index \"routers\" using 1:2 with points pointtype 5 pointsize 0.7 "
              "linecolor rgb \"#777777\" title \"routers\"",
              out);
    if (gateways > 0)
        fprintf(out,
                ", \\\n  data index \"gateways\" using 1:2 with points pointtype 7 pointsize %s "
                "linecolor rgb \"#1f5fa8\" title \"gateways\"",
                topo->node_count > NAMES_MAX ? "0.6" : "1.1");
    if (gateways > 0 && topo->node_count <= NAMES_MAX)
        fputs(", \\\n  data index \"gateways\" using 1:2:3 with labels offset 0,0.9 "
              "textcolor rgb \"#222222\" notitle",
              out);
}

gmc_status sim_map_draw(const char *prefix, const char *title, const struct sim_topo *topo,
                        char *error)
{
    struct sim_plot plot;
    gmc_status status = sim_plot_open(&plot, prefix, "map", WIDTH, HEIGHT, error);
    if (status != GMC_OK)
        return status;
    struct sim_spot *spots = sim_alloc(topo->node_count * sizeof(*spots));
    sim_layout(topo, spots);
    sim_map_begin(&plot, topo, spots);
    fputs("set title ", plot.script);
    sim_gnuplot_text(plot.script, title);
    fputs("\nplot \\\n", plot.script);
    sim_map_layers(&plot, topo);
    fputs("\n", plot.script);
    free(spots);
    return sim_plot_close(&plot, error);
}
