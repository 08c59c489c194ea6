/* SPDX-License-Identifier: BSD-2-Clause */
/* Topologies as text; see write.h. */
#include "sim-wan/topo/write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim-wan/mem.h"
#include "sim-wan/topo/units.h"

/* Points of Graphviz for a degree: Europe becomes a page. */
#define POINTS_PER_DEGREE 20.0

/* ---- our own format ---- */
static void write_share(FILE *out, const char *name, uint32_t ppm)
{
    if (ppm > 0)
        fprintf(out, " %s = %" PRIu32 "ppm", name, ppm);
}

static void write_delay(FILE *out, const char *name, gmc_duration delay)
{
    char text[SIM_UNITS_TEXT_MAX];
    if (delay > 0)
        fprintf(out, " %s = %s", name, sim_format_delay(delay, text));
}

static void write_queue(FILE *out, const struct sim_wire_config *wire)
{
    static const char *const ecn_paths[] = {"kept", "bleached", "forced"};
    if (wire->queue_packets > 0)
        fprintf(out, " queue = %" PRIu32 "packets", wire->queue_packets);
    else if (wire->queue_bytes > 0)
        fprintf(out, " queue = %" PRIu64 "B", wire->queue_bytes);
    write_delay(out, "codel-target", wire->codel.target);
    write_delay(out, "codel-interval", wire->codel.interval);
    if (wire->codel.target > 0 && wire->codel.ecn)
        fputs(" codel-ecn = yes", out);
    if (wire->mark_bytes > 0)
        fprintf(out, " mark-above = %" PRIu64 "B", wire->mark_bytes);
    if (wire->ecn_path != SIM_ECN_KEPT)
        fprintf(out, " ecn = %s", ecn_paths[wire->ecn_path]);
}

/* By its whole path, so that it is found wherever the topology is written to. */
static void write_trace(FILE *out, const struct sim_topo *topo, const struct sim_loss_trace *trace)
{
    for (size_t i = 0; i < topo->trace_count; i++) {
        if (topo->traces[i].trace != trace)
            continue;
        char *path = realpath(topo->traces[i].path, NULL);
        fprintf(out, " loss-trace = \"%s\"", path != NULL ? path : topo->traces[i].path);
        free(path);
    }
}

static void write_wire(FILE *out, const struct sim_topo *topo, const struct sim_wire_config *wire)
{
    char text[SIM_UNITS_TEXT_MAX];
    if (wire->rate_bps > 0)
        fprintf(out, " rate = %s", sim_format_rate(wire->rate_bps, text));
    write_delay(out, "delay", wire->delay);
    write_delay(out, "jitter", wire->jitter);
    write_share(out, "loss", wire->loss_ppm);
    write_share(out, "burst-enter", wire->gilbert.to_bad_ppm);
    if (wire->gilbert.to_bad_ppm > 0) {
        write_share(out, "burst-leave", wire->gilbert.to_good_ppm);
        write_share(out, "burst-loss", wire->gilbert.bad_loss_ppm);
    }
    write_trace(out, topo, wire->loss_trace);
    write_share(out, "duplicate", wire->duplicate_ppm);
    write_share(out, "reorder", wire->reorder_ppm);
    if (wire->reorder_ppm > 0)
        write_delay(out, "reorder-by", wire->reorder_by);
    write_queue(out, wire);
    if (wire->mtu > 0)
        fprintf(out, " mtu = %" PRIu32 "B", wire->mtu);
}

/* To be given back with free. */
static char *wire_text(const struct sim_topo *topo, const struct sim_wire_config *wire)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (out == NULL)
        return sim_strdup("");
    write_wire(out, topo, wire);
    fclose(out);
    return text;
}

static void write_node(FILE *out, const struct sim_topo_node *node)
{
    fprintf(out, "node \"%s\" {", node->name);
    if (!node->has_gateway)
        fputs(" gateway = no", out);
    if (node->is_placed)
        fprintf(out, " longitude = %.5f latitude = %.5f", node->longitude, node->latitude);
    fputs(" }\n", out);
}

static void write_link(FILE *out, const struct sim_topo *topo, const struct sim_topo_link *link)
{
    const char *a = topo->nodes[link->a].name, *b = topo->nodes[link->b].name;
    char *forth = wire_text(topo, &link->a_to_b), *back = wire_text(topo, &link->b_to_a);
    bool is_even = strcmp(forth, back) == 0;
    if (!is_even)
        fprintf(out, "wire \"%s to %s\" {%s }\nwire \"%s to %s\" {%s }\n", a, b, forth, b, a, back);
    fprintf(out, "link { between = {\"%s\", \"%s\"}", a, b);
    if (is_even)
        fputs(forth, out);
    else
        fprintf(out, " wire = \"%s to %s\" back = \"%s to %s\"", a, b, b, a);
    fputs(" }\n", out);
    free(forth);
    free(back);
}

void sim_topo_write_conf(const struct sim_topo *topo, FILE *out)
{
    fputs("# A topology for sim-wan; see sim-wan(1).\n", out);
    for (size_t i = 0; i < topo->node_count; i++)
        write_node(out, &topo->nodes[i]);
    for (size_t i = 0; i < topo->link_count; i++)
        write_link(out, topo, &topo->links[i]);
}

/* ---- Graphviz ---- */
void sim_topo_write_dot(const struct sim_topo *topo, FILE *out)
{
    char rate[SIM_UNITS_TEXT_MAX], delay[SIM_UNITS_TEXT_MAX];
    fputs("graph topology {\n    node [fontsize=10];\n", out);
    for (size_t i = 0; i < topo->node_count; i++) {
        const struct sim_topo_node *node = &topo->nodes[i];
        fprintf(out, "    \"%s\" [shape=%s", node->name, node->has_gateway ? "ellipse" : "point");
        if (node->is_placed)
            fprintf(out, ", pos=\"%.2f,%.2f\"", node->longitude * POINTS_PER_DEGREE,
                    node->latitude * POINTS_PER_DEGREE);
        fputs("];\n", out);
    }
    for (size_t i = 0; i < topo->link_count; i++) {
        const struct sim_topo_link *link = &topo->links[i];
        fprintf(out, "    \"%s\" -- \"%s\" [tooltip=\"%s %s\"];\n", topo->nodes[link->a].name,
                topo->nodes[link->b].name,
                link->a_to_b.rate_bps > 0 ? sim_format_rate(link->a_to_b.rate_bps, rate)
                                          : "no limit",
                sim_format_delay(link->a_to_b.delay, delay));
    }
    fputs("}\n", out);
}
