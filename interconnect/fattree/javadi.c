/* SPDX-License-Identifier: BSD-2-Clause */
/* The model of clusters of fat trees. */
#include "interconnect/fattree/javadi.h"

#include <math.h>

/* What does not depend on the load. */
struct setup {
    const struct ic_javadi *system;
    struct ic_fat_tree trees[IC_JAVADI_KINDS_MAX];
    struct ic_fat_tree top; /* ICN2; unused with one cluster */
    uint64_t nodes;         /* N */
    uint32_t clusters;      /* C */
};

gmc_status ic_javadi_system(struct ic_javadi *system, uint64_t nodes, char *error)
{
    static const struct ic_javadi_kind large[] = {{1, 12}, {2, 16}, {3, 4}};
    static const struct ic_javadi_kind small[] = {{3, 8}, {4, 3}, {5, 5}};
    if (nodes != 1120 && nodes != 544)
        return ic_refuse(error, "N, nodes of a system in print, is %llu; it must be 1120 or 544",
                         (unsigned long long)nodes);
    system->ports = nodes == 1120 ? 8 : 4;
    system->kind_count = 3;
    for (uint32_t i = 0; i < 3; i++)
        system->kinds[i] = nodes == 1120 ? large[i] : small[i];
    return GMC_OK;
}

void ic_javadi_times(struct ic_javadi *system, double flit_bytes)
{
    system->node_time = 0.02 / 2 + flit_bytes / 500;
    system->switch_time = 0.01 + flit_bytes / 500;
}

/* The tree of C concentrators. */
static gmc_status top_tree(const struct ic_javadi *system, uint32_t clusters,
                           struct ic_fat_tree *top, char *error)
{
    uint64_t half = system->ports / 2, size = 2 * half;
    uint32_t levels = 1;
    while (size < clusters) {
        size *= half;
        levels++;
    }
    if (size != clusters)
        return ic_refuse(
            error, "C, clusters, is %u; with m = %u it must be 1, %u, %u or a larger 2 (m/2)^k",
            clusters, system->ports, system->ports, (unsigned)(2 * half * half));
    return ic_fat_tree_init(top, system->ports, levels, error);
}

gmc_status ic_javadi_trees(const struct ic_javadi *system, struct ic_fat_tree *trees,
                           struct ic_fat_tree *top, uint32_t *clusters, uint64_t *nodes,
                           char *error)
{
    gmc_status status =
        ic_check_range("kinds of clusters", system->kind_count, 1, IC_JAVADI_KINDS_MAX, error);
    *clusters = 0;
    *nodes = 0;
    for (uint32_t i = 0; status == GMC_OK && i < system->kind_count; i++) {
        const struct ic_javadi_kind *kind = &system->kinds[i];
        status =
            ic_check_range("clusters of a kind", kind->clusters, 1, IC_JAVADI_CLUSTERS_MAX, error);
        if (status == GMC_OK)
            status = ic_fat_tree_init(&trees[i], system->ports, kind->levels, error);
        if (status != GMC_OK)
            return status;
        *clusters += kind->clusters;
        *nodes += (uint64_t)kind->clusters * trees[i].nodes;
    }
    if (status == GMC_OK && *clusters > 1)
        status = top_tree(system, *clusters, top, error);
    return status;
}

static gmc_status setup_init(struct setup *setup, const struct ic_javadi *system, char *error)
{
    *setup = (struct setup){.system = system};
    gmc_status status =
        ic_check_range("M, flits of a message,", system->flits, 1, IC_JAVADI_FLITS_MAX, error);
    if (status == GMC_OK)
        status =
            ic_check_number("t_cn, time of a flit to a node,", system->node_time, 1e-9, 1e9, error);
    if (status == GMC_OK)
        status = ic_check_number("t_cs, time of a flit between switches,", system->switch_time,
                                 1e-9, 1e9, error);
    if (status == GMC_OK && system->divisor != 2 && system->divisor != 4)
        status = ic_refuse(error, "D, divisor of channel rates, is %u; it must be 2 or 4",
                           system->divisor);
    if (status == GMC_OK)
        status = ic_javadi_trees(system, setup->trees, &setup->top, &setup->clusters, &setup->nodes,
                                 error);
    return status;
}

/* A route from its end back: each stage waits for those behind it. */
struct route {
    double flits, switch_time;
    double service; /* S of the stage added last */
    double waits;   /* sum of W */
};

static struct route route_end(const struct ic_javadi *system, double rate)
{
    double service = system->flits * system->node_time;
    return (struct route){.flits = system->flits,
                          .switch_time = system->switch_time,
                          .service = service,
                          .waits = rate * service * service / 2};
}

static void route_extend(struct route *route, double rate, uint32_t stages)
{
    for (uint32_t i = 0; i < stages; i++) {
        route->service = route->flits * route->switch_time + route->waits;
        route->waits += rate * route->service * route->service / 2;
    }
}

/* Means over the routes of a source. */
struct means {
    double service; /* S */
    double tail;    /* R */
};

static void means_add(struct means *means, const struct ic_javadi *system, double share,
                      const struct route *route, uint32_t stages)
{
    means->service += share * route->service;
    means->tail += share * ((stages - 1) * system->switch_time + system->node_time);
}

static struct means intra_means(const struct setup *setup, const struct ic_fat_tree *tree,
                                double rate)
{
    struct means means = {0, 0};
    struct route route = route_end(setup->system, rate);
    for (uint32_t j = 1; j <= tree->levels; j++) {
        if (j > 1)
            route_extend(&route, rate, 2);
        means_add(&means, setup->system, ic_fat_tree_share(tree, j), &route, 2 * j - 1);
    }
    return means;
}

/* From the end: l stages of ECN1, 2h - 1 of ICN2, j of ECN1. */
static struct means inter_means(const struct setup *setup, const struct ic_fat_tree *from,
                                const struct ic_fat_tree *to, double outer, double top)
{
    struct means means = {0, 0};
    struct route end = route_end(setup->system, outer);
    for (uint32_t l = 1; l <= to->levels; l++) {
        if (l > 1)
            route_extend(&end, outer, 1);
        struct route middle = end;
        for (uint32_t h = 1; h <= setup->top.levels; h++) {
            route_extend(&middle, top, h == 1 ? 1 : 2);
            struct route route = middle;
            for (uint32_t j = 1; j <= from->levels; j++) {
                double share = ic_fat_tree_share(from, j) * ic_fat_tree_share(to, l) *
                               ic_fat_tree_share(&setup->top, h);
                route_extend(&route, outer, 1);
                means_add(&means, setup->system, share, &route, j + 2 * h + l - 1);
            }
        }
    }
    return means;
}

/* W(l, x) into *wait; false when the queue is full. */
static bool queue_wait(double rate, double x, double least, double *wait)
{
    *wait = rate * (x * x + (x - least) * (x - least)) / (2 * (1 - rate * x));
    return rate * x < 1;
}

static bool intra_time(const struct setup *setup, uint32_t i, double load,
                       struct ic_javadi_part *part)
{
    const struct ic_javadi *system = setup->system;
    const struct ic_fat_tree *tree = &setup->trees[i];
    double node = (1 - part->outgoing) * load, wait;
    double channel = node * ic_fat_tree_distance(tree) / (system->divisor * tree->levels);
    struct means means = intra_means(setup, tree, channel);
    double source = system->queue == IC_JAVADI_QUEUE_NODE ? node : node * tree->nodes;
    bool is_stable = queue_wait(source, means.service, system->flits * system->node_time, &wait);
    part->intra = wait + means.service + means.tail;
    return is_stable;
}

/* From a cluster of one kind to another of kind v: their part of the means. */
static bool inter_time(const struct setup *setup, uint32_t i, uint32_t v, const double *outgoing,
                       double load, double *inter, double *concentrator)
{
    const struct ic_javadi *system = setup->system;
    const struct ic_fat_tree *from = &setup->trees[i], *to = &setup->trees[v];
    double both = (from->nodes * outgoing[i] + to->nodes * outgoing[v]) * load;
    double squares = (double)from->nodes * from->nodes * outgoing[i] +
                     (double)to->nodes * to->nodes * outgoing[v];
    double middle = squares * load / ((double)from->nodes + to->nodes);
    double outer =
        both * ic_fat_tree_distance(from) / ((double)system->divisor * from->levels * from->nodes);
    double top = middle * ic_fat_tree_distance(&setup->top) / (system->divisor * setup->top.levels);
    struct means means = inter_means(setup, from, to, outer, top);
    double source = system->queue == IC_JAVADI_QUEUE_NODE ? outgoing[i] * load : both, wait;
    if (!queue_wait(source, means.service, system->flits * system->node_time, &wait))
        return false;
    double message = system->flits * system->switch_time;
    *inter = wait + means.service + means.tail;
    *concentrator = 2 * middle * message * message / (2 * (1 - middle * message));
    return middle * message < 1;
}

/* Means over the other clusters, each counting the same. */
static bool inter_times(const struct setup *setup, uint32_t i, const double *outgoing, double load,
                        struct ic_javadi_part *part)
{
    for (uint32_t v = 0; v < setup->system->kind_count; v++) {
        double others = setup->system->kinds[v].clusters - (v == i ? 1 : 0);
        double share = others / (setup->clusters - 1), inter, concentrator;
        if (others == 0)
            continue;
        if (!inter_time(setup, i, v, outgoing, load, &inter, &concentrator))
            return false;
        part->inter += share * inter;
        part->wait += share * concentrator;
    }
    return true;
}

static bool solve(const struct setup *setup, double load, struct ic_javadi_latency *out)
{
    const struct ic_javadi *system = setup->system;
    double outgoing[IC_JAVADI_KINDS_MAX];
    *out = (struct ic_javadi_latency){0};
    for (uint32_t i = 0; i < system->kind_count; i++)
        outgoing[i] = (double)(setup->nodes - setup->trees[i].nodes) / (double)(setup->nodes - 1);
    for (uint32_t i = 0; i < system->kind_count; i++) {
        struct ic_javadi_part *part = &out->parts[i];
        double share =
            (double)system->kinds[i].clusters * setup->trees[i].nodes / (double)setup->nodes;
        part->outgoing = outgoing[i];
        if (!intra_time(setup, i, load, part) ||
            (setup->clusters > 1 && !inter_times(setup, i, outgoing, load, part)))
            return false;
        part->latency =
            (1 - part->outgoing) * part->intra + part->outgoing * (part->inter + part->wait);
        out->latency += share * part->latency;
    }
    return true;
}

gmc_status ic_javadi_latency(const struct ic_javadi *system, double load,
                             struct ic_javadi_latency *out, char *error)
{
    struct setup setup;
    gmc_status status = setup_init(&setup, system, error);
    if (status == GMC_OK)
        status = ic_check_number("lambda_g, messages per node and time unit,", load, 0,
                                 1 / (system->flits * system->node_time), error);
    if (status == GMC_OK && !solve(&setup, load, out))
        *out = (struct ic_javadi_latency){.saturated = true};
    return status;
}

gmc_status ic_javadi_saturation(const struct ic_javadi *system, double *load, char *error)
{
    struct setup setup;
    struct ic_javadi_latency out;
    gmc_status status = setup_init(&setup, system, error);
    if (status != GMC_OK)
        return status;
    double least = 0, most = 1 / (system->flits * system->node_time);
    while (most - least > 1e-10 * most) {
        double middle = (least + most) / 2;
        if (solve(&setup, middle, &out))
            least = middle;
        else
            most = middle;
    }
    *load = least;
    return GMC_OK;
}
