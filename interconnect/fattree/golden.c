/* SPDX-License-Identifier: BSD-2-Clause */
/* The reference tables of fat trees and clusters of them. */
#include "interconnect/golden.h"

#include <string.h>

#include "interconnect/families.h"
#include "interconnect/fattree/javadi.h"
#include "interconnect/golden_point.h"

static gmc_status structure_row(struct ic_row *row)
{
    struct ic_fat_tree tree;
    uint64_t ports = ic_row_count(row, "m"), levels = ic_row_count(row, "n");
    gmc_status status = row->status;
    if (status == GMC_OK)
        status = ic_fat_tree_init(&tree, ports, levels, row->error);
    if (status != GMC_OK)
        return status;
    ic_row_put(row, "N", tree.nodes);
    ic_row_put(row, "Nsw", (double)tree.switches);
    ic_row_put(row, "d_avg", ic_fat_tree_distance(&tree));
    ic_row_put(row, "P_1", ic_fat_tree_share(&tree, 1));
    ic_row_put(row, "P_n", ic_fat_tree_share(&tree, tree.levels));
    return GMC_OK;
}

/* A system in print with what the table says of it. */
static gmc_status read_system(struct ic_row *row, struct ic_javadi *system)
{
    const char *queue = ic_row_text(row, "source_queue");
    uint64_t nodes = ic_row_count(row, "N");
    double bytes = ic_row_number(row, "Lm_bytes");
    *system = (struct ic_javadi){.flits = ic_row_u32(row, "M"),
                                 .divisor = ic_row_u32(row, "chan_divisor")};
    if (strcmp(queue, "network") == 0)
        system->queue = IC_JAVADI_QUEUE_NETWORK;
    else if (strcmp(queue, "node") != 0)
        return ic_row_unknown(row, "source_queue");
    gmc_status status = row->status;
    if (status == GMC_OK) /* the range of the family's parameter --flit */
        status = ic_check_number("Lm_bytes, the length of a flit,", bytes, 1, 1048576, row->error);
    if (status != GMC_OK)
        return status;
    ic_javadi_times(system, bytes);
    return ic_javadi_system(system, nodes, row->error);
}

/* A load beyond the source's own channel has no solution either, as far as tables go. */
static gmc_status solve(struct ic_row *row, const struct ic_javadi *system, double load,
                        struct ic_javadi_latency *out)
{
    *out = (struct ic_javadi_latency){.saturated = true};
    if (load * system->flits * system->node_time >= 1)
        return GMC_OK;
    return ic_javadi_latency(system, load, out, row->error);
}

static const char *const latency_outputs[] = {"latency",     "cluster_n", "Po", "T_I1",
                                              "T_E1I2_mean", "W_d",       NULL};

static gmc_status latency_row(struct ic_row *row)
{
    struct ic_javadi system;
    struct ic_javadi_latency out;
    gmc_status status = read_system(row, &system);
    double load = ic_row_number(row, "lambda_g");
    if (status == GMC_OK)
        status = row->status;
    if (status == GMC_OK)
        status = solve(row, &system, load, &out);
    if (status != GMC_OK)
        return status;
    uint32_t largest = system.kind_count - 1;
    const struct ic_javadi_part *part = &out.parts[largest];
    const double values[] = {out.latency,    system.kinds[largest].levels,
                             part->outgoing, part->intra,
                             part->inter,    part->wait};
    ic_row_put_all(row, out.saturated ? NULL : values);
    return GMC_OK;
}

static gmc_status saturation_row(struct ic_row *row)
{
    struct ic_javadi system;
    double load;
    gmc_status status = read_system(row, &system);
    if (status == GMC_OK)
        status = ic_javadi_saturation(&system, &load, row->error);
    if (status == GMC_OK)
        ic_row_put(row, "lambda_sat", load);
    return status;
}

static gmc_status single_row(struct ic_row *row)
{
    struct ic_javadi system = {.kind_count = 1,
                               .kinds = {{.clusters = 1}},
                               .node_time = 1,
                               .switch_time = 1};
    struct ic_javadi_latency out;
    double load = ic_row_number(row, "lambda_per_cycle");
    system.ports = ic_row_u32(row, "m");
    system.kinds[0].levels = ic_row_u32(row, "n");
    system.flits = ic_row_u32(row, "M");
    system.divisor = ic_row_u32(row, "chan_divisor");
    gmc_status status = row->status;
    if (status == GMC_OK)
        status = solve(row, &system, load, &out);
    if (status != GMC_OK)
        return status;
    ic_row_put_all(row, out.saturated ? NULL : &out.latency);
    return GMC_OK;
}

static gmc_status put_model(struct ic_golden_point *point, const char *divisor, const char *column)
{
    ic_golden_point_set(point, "divisor", divisor);
    gmc_status status = ic_golden_point_model(point);
    if (status == GMC_OK)
        ic_golden_point_put(point, "latency", column, NULL);
    return status;
}

static gmc_status simulated_tree_row(struct ic_row *row)
{
    struct ic_golden_point point;
    ic_golden_point_init(&point, &ic_family_fattree, row);
    ic_golden_point_take(&point, "m", "m");
    ic_golden_point_take(&point, "n", "n");
    ic_golden_point_take(&point, "M", "M");
    ic_golden_point_take(&point, "load", "lambda");
    gmc_status status = ic_golden_point_simulate(&point);
    if (status != GMC_OK)
        return status;
    ic_golden_point_put(&point, "latency", "sim_latency", "ci95");
    status = put_model(&point, "4", "model_chan4");
    if (status == GMC_OK)
        status = put_model(&point, "2", "model_chan2");
    return status;
}

static gmc_status simulated_clusters_row(struct ic_row *row)
{
    struct ic_golden_point point;
    ic_golden_point_init(&point, &ic_family_multicluster, row);
    ic_golden_point_take(&point, "system", "N");
    ic_golden_point_take(&point, "M", "M");
    ic_golden_point_take(&point, "flit", "Lm_bytes");
    ic_golden_point_take(&point, "load", "lambda_g");
    gmc_status status = ic_golden_point_simulate(&point);
    if (status != GMC_OK)
        return status;
    ic_golden_point_put(&point, "latency", "sim_latency", "ci95");
    return put_model(&point, "4", "model_node_chan4");
}

static const char *const structure_inputs[] = {"m", "n", NULL};
static const char *const structure_outputs[] = {"N", "Nsw", "d_avg", "P_1", "P_n", NULL};
const struct ic_golden ic_golden_javadi_structure = {
    "javadi_structure", structure_inputs, structure_outputs, structure_row, 0, false};

static const char *const latency_inputs[] = {
    "N", "M", "Lm_bytes", "source_queue", "chan_divisor", "lambda_g", NULL};
const struct ic_golden ic_golden_javadi_latency = {
    "javadi_latency", latency_inputs, latency_outputs, latency_row, 0, false};

static const char *const saturation_inputs[] = {
    "N", "M", "Lm_bytes", "source_queue", "chan_divisor", NULL};
static const char *const saturation_outputs[] = {"lambda_sat", NULL};
const struct ic_golden ic_golden_javadi_saturation = {
    "javadi_saturation", saturation_inputs, saturation_outputs, saturation_row, 0, false};

static const char *const single_inputs[] = {"m", "n", "M", "chan_divisor", "lambda_per_cycle",
                                            NULL};
static const char *const single_outputs[] = {"latency_cycles", NULL};
const struct ic_golden ic_golden_javadi_single_cluster = {
    "javadi_single_cluster", single_inputs, single_outputs, single_row, 0, false};

static const char *const simulated_tree_inputs[] = {"m", "n", "M", "lambda", NULL};
static const char *const simulated_tree_outputs[] = {"sim_latency", "ci95", "model_chan4",
                                                     "model_chan2", NULL};
const struct ic_golden ic_golden_sim_fattree = {
    "sim_fattree", simulated_tree_inputs, simulated_tree_outputs, simulated_tree_row, 0, true};

static const char *const simulated_clusters_inputs[] = {"N", "M", "Lm_bytes", "lambda_g", NULL};
static const char *const simulated_clusters_outputs[] = {"sim_latency", "ci95", "model_node_chan4",
                                                         NULL};
const struct ic_golden ic_golden_sim_multicluster = {"sim_multicluster",
                                                     simulated_clusters_inputs,
                                                     simulated_clusters_outputs,
                                                     simulated_clusters_row,
                                                     0,
                                                     true};
