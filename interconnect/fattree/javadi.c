/* SPDX-License-Identifier: BSD-2-Clause */
/* The model of clusters of fat trees. */
#include "interconnect/fattree/javadi.h"

#include <math.h>

#define LEVELS IC_FAT_TREE_LEVELS_MAX
#define LIMIT_PART 1e-10 /* of a load at which a queue becomes full */

/* A tree, and how long routes through it are. */
struct shares {
    struct ic_fat_tree tree;
    double share[LEVELS + 1]; /* P(j) */
    double distance;          /* d */
};

/* What does not depend on the load. */
struct setup {
    const struct ic_javadi *system;
    struct shares kinds[IC_JAVADI_KINDS_MAX];
    struct shares top; /* ICN2; unused with one cluster */
    double outgoing[IC_JAVADI_KINDS_MAX];
    uint64_t nodes;    /* N */
    uint32_t clusters; /* C */
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

static void find_shares(struct shares *shares, const struct ic_fat_tree *tree)
{
    shares->tree = *tree;
    shares->distance = ic_fat_tree_distance(tree);
    for (uint32_t j = 1; j <= tree->levels; j++)
        shares->share[j] = ic_fat_tree_share(tree, j);
}

static void find_all_shares(struct setup *setup, const struct ic_fat_tree *trees,
                            const struct ic_fat_tree *top)
{
    for (uint32_t i = 0; i < setup->system->kind_count; i++) {
        find_shares(&setup->kinds[i], &trees[i]);
        setup->outgoing[i] = (double)(setup->nodes - trees[i].nodes) / (double)(setup->nodes - 1);
    }
    if (setup->clusters > 1)
        find_shares(&setup->top, top);
}

static gmc_status setup_init(struct setup *setup, const struct ic_javadi *system, char *error)
{
    struct ic_fat_tree trees[IC_JAVADI_KINDS_MAX], top;
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
        status = ic_javadi_trees(system, trees, &top, &setup->clusters, &setup->nodes, error);
    if (status == GMC_OK)
        find_all_shares(setup, trees, &top);
    return status;
}

/* A route from its end back: each stage waits for those behind it. */
struct route {
    double service; /* S of the stage added last */
    double waits;   /* sum of W */
};

static struct route route_end(const struct ic_javadi *system, double rate)
{
    double service = system->flits * system->node_time;
    return (struct route){.service = service, .waits = rate * service * service / 2};
}

/* message: M t_cs. */
static inline void route_extend(struct route *route, double message, double rate, uint32_t stages)
{
    for (uint32_t i = 0; i < stages; i++) {
        route->service = message + route->waits;
        route->waits += rate * route->service * route->service / 2;
    }
}

/* Means over the routes of a source. */
struct means {
    double service; /* S */
    double tail;    /* R */
};

static struct means intra_means(const struct setup *setup, const struct shares *shares, double rate)
{
    const struct ic_javadi *system = setup->system;
    struct means means = {0, (shares->distance - 2) * system->switch_time + system->node_time};
    struct route route = route_end(system, rate);
    for (uint32_t j = 1; j <= shares->tree.levels; j++) {
        if (j > 1)
            route_extend(&route, system->flits * system->switch_time, rate, 2);
        means.service += shares->share[j] * route.service;
    }
    return means;
}

/* From the end: l stages of ECN1, 2h - 1 of ICN2, j of ECN1. Each stage needs the one behind it;
 * those of routes that differ in l or h are computed side by side. */
static struct means inter_means(const struct setup *setup, const struct shares *from,
                                const struct shares *to, double outer, double top)
{
    const struct ic_javadi *system = setup->system;
    const double message = system->flits * system->switch_time;
    struct means means = {0, (from->distance / 2 + setup->top.distance + to->distance / 2 - 2) *
                                     system->switch_time +
                                 system->node_time};
    struct route end = route_end(system, outer), routes[LEVELS * LEVELS];
    double shares[LEVELS * LEVELS];
    uint32_t count = 0;
    for (uint32_t l = 1; l <= to->tree.levels; l++) {
        if (l > 1)
            route_extend(&end, message, outer, 1);
        struct route middle = end;
        for (uint32_t h = 1; h <= setup->top.tree.levels; h++) {
            route_extend(&middle, message, top, h == 1 ? 1 : 2);
            shares[count] = to->share[l] * setup->top.share[h];
            routes[count++] = middle;
        }
    }
    for (uint32_t j = 1; j <= from->tree.levels; j++) {
        double sum = 0;
        for (uint32_t i = 0; i < count; i++) {
            route_extend(&routes[i], message, outer, 1);
            sum += shares[i] * routes[i].service;
        }
        means.service += from->share[j] * sum;
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
    const struct shares *shares = &setup->kinds[i];
    double node = (1 - part->outgoing) * load, wait;
    double channel = node * shares->distance / (system->divisor * shares->tree.levels);
    struct means means = intra_means(setup, shares, channel);
    double source = system->queue == IC_JAVADI_QUEUE_NODE ? node : node * shares->tree.nodes;
    bool is_stable = queue_wait(source, means.service, system->flits * system->node_time, &wait);
    part->intra = wait + means.service + means.tail;
    return is_stable;
}

/* lC: what a concentrator carries, of a load of 1, between kinds i and v. */
static double concentrated(const struct setup *setup, uint32_t i, uint32_t v)
{
    double from = setup->kinds[i].tree.nodes, to = setup->kinds[v].tree.nodes;
    return (from * from * setup->outgoing[i] + to * to * setup->outgoing[v]) / (from + to);
}

/* From a cluster of one kind to another of kind v: their part of the means. */
static bool inter_time(const struct setup *setup, uint32_t i, uint32_t v, double load,
                       double *inter, double *concentrator)
{
    const struct ic_javadi *system = setup->system;
    const struct shares *from = &setup->kinds[i], *to = &setup->kinds[v], *over = &setup->top;
    double both =
        (from->tree.nodes * setup->outgoing[i] + to->tree.nodes * setup->outgoing[v]) * load;
    double middle = concentrated(setup, i, v) * load;
    double outer =
        both * from->distance / ((double)system->divisor * from->tree.levels * from->tree.nodes);
    double top = middle * over->distance / (system->divisor * over->tree.levels);
    double message = system->flits * system->switch_time, wait;
    if (!(middle * message < 1))
        return false;
    struct means means = inter_means(setup, from, to, outer, top);
    double source = system->queue == IC_JAVADI_QUEUE_NODE ? setup->outgoing[i] * load : both;
    if (!queue_wait(source, means.service, system->flits * system->node_time, &wait))
        return false;
    *inter = wait + means.service + means.tail;
    *concentrator = 2 * middle * message * message / (2 * (1 - middle * message));
    return true;
}

/* A cluster of one kind has another of kind v. */
static double others_of(const struct setup *setup, uint32_t i, uint32_t v)
{
    return setup->system->kinds[v].clusters - (v == i ? 1 : 0);
}

/* Means over the other clusters, each counting the same. */
static bool inter_times(const struct setup *setup, uint32_t i, double load,
                        struct ic_javadi_part *part)
{
    for (uint32_t v = 0; v < setup->system->kind_count; v++) {
        double share = others_of(setup, i, v) / (setup->clusters - 1), inter, concentrator;
        if (share == 0)
            continue;
        if (!inter_time(setup, i, v, load, &inter, &concentrator))
            return false;
        part->inter += share * inter;
        part->wait += share * concentrator;
    }
    return true;
}

static bool solve(const struct setup *setup, double load, struct ic_javadi_latency *out)
{
    const struct ic_javadi *system = setup->system;
    *out = (struct ic_javadi_latency){0};
    for (uint32_t i = 0; i < system->kind_count; i++) {
        struct ic_javadi_part *part = &out->parts[i];
        double share =
            (double)system->kinds[i].clusters * setup->kinds[i].tree.nodes / (double)setup->nodes;
        part->outgoing = setup->outgoing[i];
        if (!intra_time(setup, i, load, part) ||
            (setup->clusters > 1 && !inter_times(setup, i, load, part)))
            return false;
        part->latency =
            (1 - part->outgoing) * part->intra + part->outgoing * (part->inter + part->wait);
        out->latency += share * part->latency;
    }
    return true;
}

/* The load at which the first concentrator is full, or a node's own link. */
static double concentrator_limit(const struct setup *setup)
{
    const struct ic_javadi *system = setup->system;
    double most = 1 / (system->flits * system->node_time);
    double message = system->flits * system->switch_time;
    for (uint32_t i = 0; i < system->kind_count && setup->clusters > 1; i++)
        for (uint32_t v = 0; v < system->kind_count; v++)
            if (others_of(setup, i, v) > 0)
                most = fmin(most, 1 / (concentrated(setup, i, v) * message));
    return most;
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
    double most = concentrator_limit(&setup), least = (1 - LIMIT_PART / 2) * most;
    if (!solve(&setup, least, &out))
        least = 0;
    while (most - least > LIMIT_PART * most) {
        double middle = (least + most) / 2;
        if (solve(&setup, middle, &out))
            least = middle;
        else
            most = middle;
    }
    *load = least;
    return GMC_OK;
}
