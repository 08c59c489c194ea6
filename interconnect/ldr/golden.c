/* SPDX-License-Identifier: BSD-2-Clause */
/* The reference tables of low-diameter regular graphs. */
#include "interconnect/golden.h"

#include <stdlib.h>
#include <string.h>

#include "interconnect/families.h"
#include "interconnect/golden_point.h"
#include "interconnect/ldr/generate.h"
#include "interconnect/ldr/multicast.h"
#include "interconnect/ldr/timing.h"

static gmc_status moore_row(struct ic_row *row)
{
    uint64_t degree = ic_row_count(row, "d"), third = ic_row_count(row, "k_or_n"), bound;
    struct ic_distance_bounds bounds;
    gmc_status status = row->status;
    if (status == GMC_OK)
        status = ic_moore_bound(degree, third, &bound, row->error);
    if (status == GMC_OK)
        status = ic_check_range("d, dimensions of the hypercube,", degree, 1, 63, row->error);
    if (status == GMC_OK)
        status = ic_distance_bounds((uint64_t)1 << degree, degree, &bounds, row->error);
    if (status != GMC_OK)
        return status;
    ic_row_put(row, "moore_bound", (double)bound);
    ic_row_put(row, "hypercube_nodes", (double)((uint64_t)1 << degree));
    ic_row_put(row, "hypercube_diameter", (double)degree);
    ic_row_put(row, "hypercube_avg_N2", (double)degree / 2);
    ic_row_put(row, "min_possible_avg_N2_at_2^d_nodes", bounds.mean_self);
    return GMC_OK;
}

/* What is printed, and how many graphs the reference drew. */
static const struct printed {
    uint32_t nodes, degree, diameter;
    double mean;
    uint32_t samples;
} printed[] = {
    {8, 3, 2, 1.375, 200}, {16, 4, 3, 1.77, 200},  {32, 5, 3, 2.11, 100},
    {64, 6, 4, 2.45, 50},  {128, 7, 4, 2.65, 20},  {256, 8, 4, 2.87, 10},
    {512, 9, 5, 3.09, 5},  {1024, 10, 5, 3.30, 3}, {2048, 11, 5, 3.48, 2},
};

#define SAMPLES 5u /* of what is not printed */

static const struct printed *find_printed(uint64_t nodes, uint64_t degree)
{
    for (size_t i = 0; i < sizeof(printed) / sizeof(printed[0]); i++)
        if (printed[i].nodes == nodes && printed[i].degree == degree)
            return &printed[i];
    return NULL;
}

/* As many graphs as the table says; where it does not, as the reference drew. */
static uint64_t samples_of(struct ic_row *row, const struct printed *known)
{
    const char *text = ic_row_given(row, "samples");
    char *end;
    if (text == NULL)
        return known != NULL ? known->samples : SAMPLES;
    unsigned long long samples = strtoull(text, &end, 10);
    if ((text[0] < '0' || text[0] > '9' || *end != '\0') && row->status == GMC_OK)
        row->status =
            ic_refuse(row->error, "samples is \"%.60s\"; it must be a whole number", text);
    return samples;
}

static gmc_status generated_row(struct ic_row *row)
{
    uint64_t nodes = ic_row_count(row, "nodes"), degree = ic_row_count(row, "degree");
    const struct printed *known = find_printed(nodes, degree);
    uint64_t samples = samples_of(row, known);
    struct ic_ldr_spread spread;
    struct ic_distance_bounds bounds;
    gmc_status status = row->status;
    if (status == GMC_OK)
        status = ic_ldr_select(nodes, degree, 1, samples, &spread, NULL, row->error);
    if (status == GMC_OK)
        status = ic_distance_bounds(nodes, degree, &bounds, row->error);
    if (status != GMC_OK)
        return status;
    if (known != NULL) {
        ic_row_put(row, "paper_diameter", known->diameter);
        ic_row_put(row, "paper_avg", known->mean);
    } else {
        ic_row_put_none(row, "paper_diameter");
        ic_row_put_none(row, "paper_avg");
    }
    ic_row_put(row, "samples", (double)samples);
    ic_row_put(row, "avg_min", spread.least);
    ic_row_put(row, "avg_mean", spread.mean);
    ic_row_put(row, "avg_max", spread.most);
    ic_row_put(row, "dia_min", spread.diameter_least);
    ic_row_put(row, "dia_max", spread.diameter_most);
    ic_row_put(row, "avg_lower_bound", bounds.mean_self);
    return GMC_OK;
}

/* ---- subcubes ---- */
#define TREE_MEMBERS_MAX 32u /* larger ones are left out of the table */

/* "5 68 221" */
static gmc_status read_group(struct ic_row *row, uint32_t *group, size_t *count)
{
    const char *text = ic_row_text(row, "group");
    for (*count = 0; *text != '\0'; (*count)++) {
        char *end;
        unsigned long node = strtoul(text, &end, 10);
        if (*text < '0' || *text > '9' || node >= IC_GRAPH_NODES_MAX ||
            (*end != ' ' && *end != '\0') || *count == IC_GRAPH_NODES_MAX)
            return ic_refuse(row->error,
                             "\"%.40s\" begins with no node; a group is node numbers with spaces "
                             "between them",
                             text);
        group[*count] = (uint32_t)node;
        text = *end == ' ' ? end + 1 : end;
    }
    return GMC_OK;
}

static void put_tree(struct ic_row *row, const struct ic_tree *tree)
{
    struct ic_text *text = ic_row_put_text(row, "child<parent");
    const char *separator = "";
    if (tree->count > TREE_MEMBERS_MAX) {
        ic_text_add(text, "-");
        return;
    }
    for (uint32_t i = 0; i < tree->nodes; i++) {
        if (tree->parents[i] == IC_GRAPH_NONE)
            continue;
        if (i == tree->parents[i])
            ic_text_add(text, "%s%u<-1", separator, i);
        else
            ic_text_add(text, "%s%u<%u", separator, i, tree->parents[i]);
        separator = " ";
    }
}

static gmc_status subcube_row(struct ic_row *row)
{
    uint64_t dimensions = ic_row_count(row, "n");
    uint32_t *group = calloc(IC_GRAPH_NODES_MAX, sizeof(*group));
    size_t count = 0;
    struct ic_subcube subcube;
    struct ic_tree tree;
    gmc_status status = group != NULL ? row->status : GMC_ERR_NOMEM;
    if (status == GMC_OK)
        status = read_group(row, group, &count);
    if (status == GMC_OK)
        status = ic_subcube_enclose(dimensions, group, count, &subcube, row->error);
    if (status == GMC_OK)
        status = ic_subcube_tree(dimensions, &subcube, group[0], &tree, row->error);
    free(group);
    if (status != GMC_OK)
        return status;
    ic_row_put(row, "fixed_bits", subcube.fixed);
    ic_row_put(row, "free_mask", subcube.free);
    ic_row_put(row, "members", subcube.members);
    ic_row_put(row, "tree_depth", tree.depth);
    put_tree(row, &tree);
    ic_tree_fini(&tree);
    return GMC_OK;
}

static gmc_status zero_load_row(struct ic_row *row)
{
    const struct ic_packet_timing timing = IC_PACKET_TIMING_USUAL;
    double hops = ic_row_number(row, "hops");
    gmc_status status = row->status;
    if (status == GMC_OK)
        status = ic_check_number("the number of hops", hops, 0, 1e9, row->error);
    if (status != GMC_OK)
        return status;
    ic_row_put(row, "cut_through_ns", ic_packet_zero_load(&timing, IC_CUT_THROUGH, hops));
    ic_row_put(row, "store_and_forward_ns",
               ic_packet_zero_load(&timing, IC_STORE_AND_FORWARD, hops));
    return GMC_OK;
}

/* Switching by the reference's words. */
static void take_switching(struct ic_golden_point *point)
{
    const char *text = ic_row_text(point->row, "switching");
    if (strcmp(text, "vct") == 0)
        ic_golden_point_set(point, "switching", "cut-through");
    else if (strcmp(text, "saf") == 0)
        ic_golden_point_set(point, "switching", "store-and-forward");
    else
        point->row->status = ic_row_unknown(point->row, "switching");
}

/* The mean hops of the reference at 64 nodes are those of a graph that was selected, and its fixed
 * ways carry load 0.8. Those of one selected graph in fifteen do; this one has as many hops. */
#define REFERENCE_GRAPH "348"

static gmc_status simulation_row(struct ic_row *row)
{
    struct ic_golden_point point;
    ic_golden_point_init(&point, &ic_family_ldr, row);
    ic_golden_point_set(&point, "samples", "50");
    ic_golden_point_set(&point, "graph-seed", REFERENCE_GRAPH);
    ic_golden_point_take(&point, "topology", "topology");
    ic_golden_point_take(&point, "nodes", "nodes");
    ic_golden_point_take(&point, "routing", "routing");
    ic_golden_point_take(&point, "load", "load_factor");
    take_switching(&point);
    gmc_status status = ic_golden_point_simulate(&point);
    if (status != GMC_OK)
        return status;
    ic_golden_point_put(&point, "latency", "latency_ns", NULL);
    ic_golden_point_put(&point, "hops", "mean_hops", NULL);
    return GMC_OK;
}

static const char *const moore_inputs[] = {"d", "k_or_n", NULL};
static const char *const moore_outputs[] = {"moore_bound",
                                            "hypercube_nodes",
                                            "hypercube_diameter",
                                            "hypercube_avg_N2",
                                            "min_possible_avg_N2_at_2^d_nodes",
                                            NULL};
const struct ic_golden ic_golden_ldr_hypercube_moore = {
    "ldr_hypercube_moore", moore_inputs, moore_outputs, moore_row, 0, false};

static const char *const generated_inputs[] = {"nodes", "degree", NULL};
static const char *const generated_outputs[] = {"paper_diameter",  "paper_avg",
                                                "samples",         "avg_min",
                                                "avg_mean",        "avg_max",
                                                "dia_min",         "dia_max",
                                                "avg_lower_bound", NULL};
/* Random graphs: means of few samples, and of a diameter of 5 hops one more or less
 * (test_ic_ldr is stricter). */
const struct ic_golden ic_golden_ldr_generated = {
    "ldr_generated", generated_inputs, generated_outputs, generated_row, 0.25, false};

static const char *const subcube_inputs[] = {"n", "group", NULL};
static const char *const subcube_outputs[] = {"fixed_bits", "free_mask",    "members",
                                              "tree_depth", "child<parent", NULL};
const struct ic_golden ic_golden_ldr_enclosing_subcube = {
    "ldr_enclosing_subcube", subcube_inputs, subcube_outputs, subcube_row, 0, false};

static const char *const zero_load_inputs[] = {"hops", NULL};
static const char *const zero_load_outputs[] = {"cut_through_ns", "store_and_forward_ns", NULL};
const struct ic_golden ic_golden_ldr_zero_load = {
    "ldr_zero_load", zero_load_inputs, zero_load_outputs, zero_load_row, 0, false};

static const char *const simulation_inputs[] = {"topology",  "nodes",       "routing",
                                                "switching", "load_factor", NULL};
static const char *const simulation_outputs[] = {"latency_ns", "mean_hops", NULL};
const struct ic_golden ic_golden_sim_ldr = {
    "sim_ldr", simulation_inputs, simulation_outputs, simulation_row, 0, true};
