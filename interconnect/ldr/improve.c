/* SPDX-License-Identifier: BSD-2-Clause */
/* The annealing. */
#include "interconnect/ldr/improve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interconnect/ldr/generate.h"
#include "interconnect/ldr/lift.h"
#include "interconnect/random.h"

#define REPORTS 100u
#define STARTS 1000u /* random graphs, until one is connected */
#define LEVELS_MAX 1024u
/* Costs are sums of distances from one node of each orbit. */
#define TEMPERATURE_FIRST 12.0
#define TEMPERATURE_LAST 0.7
#define TEMPERATURE_GIVEN 2.0 /* from a graph that is good already */

struct search {
    struct ic_lift lift;
    struct ic_reach reach;
    struct gmc_prng prng;
    uint64_t steps;
    double first, last; /* temperatures */
    uint64_t cost, floor;
    uint32_t diameter; /* that belongs to cost */
    struct {
        uint64_t cost;
        uint32_t diameter;
        struct ic_lift_orbit *orbits;
    } best; /* by diameter, then by cost */
    const struct ic_improve_config *config;
};

uint64_t ic_improve_order(uint64_t nodes)
{
    uint64_t best = 1;
    for (uint64_t order = 2; order <= IC_REACH_ORDER_MAX && order * order <= 4 * nodes; order++)
        if (nodes % order == 0)
            best = order;
    return best;
}

/* A step costs about four hops of nodes / order rows of as many arcs, for each block of sources. */
uint64_t ic_improve_steps(uint64_t nodes, uint64_t degree, uint64_t order)
{
    double rows = (double)nodes / (double)order;
    double words = ceil(rows / floor(64.0 / (double)order));
    double steps = 4e10 / (1000 + rows * ((double)degree + 4) * words * 3);
    return (uint64_t)fmin(fmax(steps, 1000), 3e6);
}

static struct ic_reach_sum measure(struct search *search, uint64_t limit)
{
    const struct ic_reach_arcs arcs = ic_lift_arcs(&search->lift);
    return ic_reach_run(&search->reach, &arcs, limit, LEVELS_MAX);
}

static void keep_best(struct search *search)
{
    search->best.cost = search->cost;
    search->best.diameter = search->diameter;
    memcpy(search->best.orbits, search->lift.orbits,
           search->lift.count * sizeof(*search->best.orbits));
}

/* The limit is drawn before the swap is tried: so what is beyond it need not be measured to its
 * end. */
static void step(struct search *search, double temperature)
{
    struct ic_lift_swap swap;
    double rise = ic_random_exponential(&search->prng, temperature);
    uint64_t limit = search->cost + (uint64_t)rise;
    if (!ic_lift_swap(&search->lift, &search->prng, &swap))
        return;
    struct ic_reach_sum now = measure(search, limit);
    if (!now.is_complete || now.distances > limit) {
        ic_lift_undo(&search->lift, &swap);
        return;
    }
    search->cost = now.distances;
    search->diameter = now.diameter;
    if (now.diameter < search->best.diameter ||
        (now.diameter == search->best.diameter && now.distances < search->best.cost))
        keep_best(search);
}

static double mean(const struct search *search)
{
    const struct ic_lift *lift = &search->lift;
    return (double)search->best.cost / lift->rows / ((double)lift->rows * lift->order - 1);
}

static void anneal(struct search *search)
{
    const struct ic_improve_config *config = search->config;
    uint64_t reports = 0;
    double temperature = search->first;
    const double fall = pow(search->last / search->first, 1.0 / (double)search->steps);
    for (uint64_t i = 0; i < search->steps && search->best.cost > search->floor; i++) {
        step(search, temperature);
        temperature *= fall;
        if (config->on_progress == NULL || i * REPORTS < reports * search->steps)
            continue;
        reports++;
        if (!config->on_progress(config->ctx, (double)i / (double)search->steps, mean(search)))
            return;
    }
}

static void end(struct search *search)
{
    ic_lift_fini(&search->lift);
    ic_reach_fini(&search->reach);
    free(search->best.orbits);
    search->best.orbits = NULL;
}

/* Room for a search, and its first measure; the lift is there. */
static gmc_status begin(struct search *search, bool *is_connected, char *error)
{
    const struct ic_lift *lift = &search->lift;
    const struct ic_improve_config *config = search->config;
    uint64_t nodes = (uint64_t)lift->rows * lift->order;
    struct ic_distance_bounds bounds;
    gmc_status status =
        ic_check_range("the number of steps", config->steps, 0, IC_IMPROVE_STEPS_MAX, error);
    if (status == GMC_OK)
        status = ic_distance_bounds(nodes, lift->degree, &bounds, error);
    if (status != GMC_OK)
        return status;
    search->steps =
        config->steps > 0 ? config->steps : ic_improve_steps(nodes, lift->degree, lift->order);
    search->floor = bounds.sum * lift->rows;
    search->best.orbits = calloc(lift->count, sizeof(*search->best.orbits));
    if (search->best.orbits == NULL)
        return GMC_ERR_NOMEM;
    status = ic_reach_init(&search->reach, lift->rows, lift->order);
    if (status != GMC_OK)
        return status;
    struct ic_reach_sum sum = measure(search, UINT64_MAX);
    search->cost = sum.distances;
    search->diameter = sum.diameter;
    *is_connected = sum.is_complete;
    return GMC_OK;
}

static gmc_status finish(struct search *search, struct ic_graph *graph, char *error)
{
    keep_best(search);
    anneal(search);
    memcpy(search->lift.orbits, search->best.orbits,
           search->lift.count * sizeof(*search->best.orbits));
    return ic_lift_graph(&search->lift, graph, error);
}

gmc_status ic_improve_random(uint64_t nodes, uint64_t degree,
                             const struct ic_improve_config *config, struct ic_graph *graph,
                             char *error)
{
    struct search search = {.config = config, .first = TEMPERATURE_FIRST, .last = TEMPERATURE_LAST};
    bool is_connected = false;
    gmc_status status = ic_ldr_check(nodes, degree, error);
    if (status != GMC_OK)
        return status;
    gmc_prng_init(&search.prng, config->seed);
    for (uint32_t i = 0; i < STARTS && status == GMC_OK && !is_connected; i++) {
        end(&search);
        status = ic_lift_random(&search.lift, nodes, degree,
                                config->order > 0 ? config->order : ic_improve_order(nodes),
                                &search.prng, error);
        if (status == GMC_OK)
            status = begin(&search, &is_connected, error);
    }
    if (status == GMC_OK && !is_connected)
        status = ic_refuse(error,
                           "no connected graph of %u nodes and degree %u was found; try another "
                           "order of the rotation",
                           (uint32_t)nodes, (uint32_t)degree);
    if (status == GMC_OK)
        status = finish(&search, graph, error);
    end(&search);
    return status;
}

gmc_status ic_improve_graph(const struct ic_graph *from, const struct ic_improve_config *config,
                            struct ic_graph *graph, char *error)
{
    struct search search = {.config = config, .first = TEMPERATURE_GIVEN, .last = TEMPERATURE_LAST};
    bool is_connected = false;
    gmc_status status =
        ic_check_range("the order of the rotation of a given graph", config->order, 0, 1, error);
    if (status != GMC_OK)
        return status;
    gmc_prng_init(&search.prng, config->seed);
    status = ic_lift_of_graph(&search.lift, from, error);
    if (status == GMC_OK)
        status = begin(&search, &is_connected, error);
    if (status == GMC_OK && !is_connected)
        status = ic_refuse(error, "the graph is not connected");
    if (status == GMC_OK)
        status = finish(&search, graph, error);
    end(&search);
    return status;
}
