/* SPDX-License-Identifier: BSD-2-Clause */
/* The generator. */
#include "interconnect/ldr/generate.h"

#include <stdlib.h>

#include "base/heap.h"
#include "base/prng.h"

#define TRIES 100u         /* graphs, before giving up */
#define DRAWS 64u          /* of random candidates, before all are looked at */
#define SEARCH_STEPS 4096u /* draws of a link to open, where few fit */

struct lacking {
    struct gmc_heap_node heap; /* by links, the fewest first, then by number */
    uint32_t place;            /* in the list */
};

struct build {
    uint32_t nodes, degree;
    struct gmc_prng prng;
    struct ic_graph_link *links;
    size_t link_count;
    uint32_t *neighbours; /* degree for each */
    uint32_t *counts;     /* links that each has */
    struct lacking *lacking;
    struct gmc_heap heap;
    uint32_t *list; /* nodes that lack links, in no order */
    uint32_t list_count;
};

gmc_status ic_ldr_check(uint64_t nodes, uint64_t degree, char *error)
{
    gmc_status status = ic_check_range("the number of nodes", nodes, 4, IC_GRAPH_NODES_MAX, error);
    if (status == GMC_OK)
        status = ic_check_range("the degree", degree, 2,
                                nodes > IC_LDR_DEGREE_MAX ? IC_LDR_DEGREE_MAX : nodes - 1, error);
    if (status != GMC_OK)
        return status;
    if (nodes * degree % 2 != 0)
        return ic_refuse(error, "nodes and degree are both odd: %u nodes cannot have %u links each",
                         (uint32_t)nodes, (uint32_t)degree);
    if (nodes * degree / 2 > IC_GRAPH_LINKS_MAX)
        return ic_refuse(error, "%u nodes of degree %u have more than %u links", (uint32_t)nodes,
                         (uint32_t)degree, IC_GRAPH_LINKS_MAX);
    return GMC_OK;
}

static void release(struct build *build)
{
    gmc_heap_fini(&build->heap);
    free(build->links);
    free(build->neighbours);
    free(build->counts);
    free(build->lacking);
    free(build->list);
}

static gmc_status prepare(struct build *build, uint32_t nodes, uint32_t degree)
{
    *build = (struct build){
        .nodes = nodes,
        .degree = degree,
        .links = calloc((size_t)nodes * degree / 2 + 1, sizeof(*build->links)),
        .neighbours = calloc((size_t)nodes * degree, sizeof(*build->neighbours)),
        .counts = calloc(nodes, sizeof(*build->counts)),
        .lacking = calloc(nodes, sizeof(*build->lacking)),
        .list = calloc(nodes, sizeof(*build->list)),
    };
    gmc_heap_init(&build->heap);
    if (build->links != NULL && build->neighbours != NULL && build->counts != NULL &&
        build->lacking != NULL && build->list != NULL &&
        gmc_heap_reserve(&build->heap, nodes) == GMC_OK)
        return GMC_OK;
    release(build);
    return GMC_ERR_NOMEM;
}

/* ---- links ---- */
static bool is_joined(const struct build *build, uint32_t a, uint32_t b)
{
    const uint32_t *neighbours = build->neighbours + (size_t)a * build->degree;
    for (uint32_t i = 0; i < build->counts[a]; i++)
        if (neighbours[i] == b)
            return true;
    return false;
}

/* A node that has its links lacks no more. */
static void settle(struct build *build, uint32_t node)
{
    struct lacking *lacking = &build->lacking[node];
    if (build->counts[node] < build->degree) {
        gmc_heap_update(&build->heap, &lacking->heap, build->counts[node], node);
        return;
    }
    gmc_heap_remove(&build->heap, &lacking->heap);
    uint32_t last = build->list[--build->list_count];
    build->list[lacking->place] = last;
    build->lacking[last].place = lacking->place;
}

static void add_neighbour(struct build *build, uint32_t of, uint32_t neighbour)
{
    build->neighbours[(size_t)of * build->degree + build->counts[of]++] = neighbour;
}

static void replace_neighbour(struct build *build, uint32_t of, uint32_t old, uint32_t by)
{
    uint32_t *at = build->neighbours + (size_t)of * build->degree;
    while (*at != old)
        at++;
    *at = by;
}

static void join(struct build *build, uint32_t a, uint32_t b)
{
    build->links[build->link_count++] = (struct ic_graph_link){a, b};
    add_neighbour(build, a, b);
    add_neighbour(build, b, a);
    settle(build, a);
    settle(build, b);
}

/* ---- the steps ---- */
static gmc_status begin(struct build *build)
{
    build->link_count = 0;
    build->list_count = 0;
    while (gmc_heap_pop(&build->heap) != NULL)
        continue;
    for (uint32_t i = 0; i < build->nodes; i++) {
        build->counts[i] = 0;
        build->lacking[i] = (struct lacking){.place = i};
        build->list[build->list_count++] = i;
        gmc_status status = gmc_heap_push(&build->heap, &build->lacking[i].heap, 0, i);
        if (status != GMC_OK)
            return status;
    }
    return GMC_OK;
}

static void grow_tree(struct build *build)
{
    uint32_t found = 1;
    for (uint32_t i = 0; found < build->nodes; i++)
        for (uint32_t j = 0; j < build->degree - 1 && found < build->nodes; j++)
            join(build, i, found++);
}

static uint32_t draw(struct build *build, uint32_t bound)
{
    return (uint32_t)gmc_prng_below(&build->prng, bound);
}

/* A random node that lacks links and is no neighbour of a; IC_GRAPH_NONE. */
static uint32_t draw_partner(struct build *build, uint32_t a)
{
    uint32_t fitting = 0;
    for (uint32_t i = 0; i < DRAWS; i++) {
        uint32_t b = build->list[draw(build, build->list_count)];
        if (b != a && !is_joined(build, a, b))
            return b;
    }
    for (uint32_t i = 0; i < build->list_count; i++)
        fitting += build->list[i] != a && !is_joined(build, a, build->list[i]);
    if (fitting == 0)
        return IC_GRAPH_NONE;
    uint32_t chosen = draw(build, fitting);
    for (uint32_t i = 0;; i++)
        if (build->list[i] != a && !is_joined(build, a, build->list[i]) && chosen-- == 0)
            return build->list[i];
}

/* x and y are joined: they become neighbours of a and of b instead. */
static bool open_link(struct build *build, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < SEARCH_STEPS; i++) {
        struct ic_graph_link *link = &build->links[draw(build, (uint32_t)build->link_count)];
        bool is_turned = draw(build, 2) == 1;
        uint32_t x = is_turned ? link->b : link->a, y = is_turned ? link->a : link->b;
        if (x == a || x == b || y == a || y == b || is_joined(build, a, x) ||
            is_joined(build, b, y))
            continue;
        replace_neighbour(build, x, y, a);
        replace_neighbour(build, y, x, b);
        *link = (struct ic_graph_link){a, x};
        build->links[build->link_count++] = (struct ic_graph_link){b, y};
        add_neighbour(build, a, x);
        add_neighbour(build, b, y);
        settle(build, a);
        if (b != a)
            settle(build, b);
        return true;
    }
    return false;
}

static bool fill_up(struct build *build)
{
    struct gmc_heap_node *first;
    while ((first = gmc_heap_peek(&build->heap)) != NULL) {
        uint32_t a = (uint32_t)first->seq, b = draw_partner(build, a);
        if (b != IC_GRAPH_NONE) {
            join(build, a, b);
            continue;
        }
        b = build->list[draw(build, build->list_count)];
        if (b == a && build->degree - build->counts[a] < 2) {
            if (build->list_count == 1)
                return false;
            continue;
        }
        if (!open_link(build, a, b))
            return false;
    }
    return true;
}

static gmc_status is_connected(const struct ic_graph *graph, bool *result)
{
    uint32_t *hops = calloc(graph->nodes, sizeof(*hops));
    uint32_t *order = calloc(graph->nodes, sizeof(*order));
    gmc_status status = hops != NULL && order != NULL ? GMC_OK : GMC_ERR_NOMEM;
    if (status == GMC_OK)
        *result = ic_graph_search(graph, 0, hops, NULL, order) == graph->nodes;
    free(hops);
    free(order);
    return status;
}

/* One attempt. NOT_FOUND: it did not work out. */
static gmc_status attempt(struct build *build, struct ic_graph *graph, char *error)
{
    bool is_good = false;
    gmc_status status = begin(build);
    if (status != GMC_OK)
        return status;
    grow_tree(build);
    if (!fill_up(build))
        return GMC_ERR_NOT_FOUND;
    status = ic_graph_init(graph, build->nodes, build->links, build->link_count, error);
    if (status != GMC_OK)
        return status;
    status = is_connected(graph, &is_good);
    if (status == GMC_OK && is_good)
        return GMC_OK;
    ic_graph_fini(graph);
    return status != GMC_OK ? status : GMC_ERR_NOT_FOUND;
}

gmc_status ic_ldr_generate(uint64_t nodes, uint64_t degree, uint64_t seed, struct ic_graph *graph,
                           char *error)
{
    struct build build;
    gmc_status status = ic_ldr_check(nodes, degree, error);
    if (status == GMC_OK)
        status = prepare(&build, (uint32_t)nodes, (uint32_t)degree);
    if (status != GMC_OK)
        return status;
    gmc_prng_init(&build.prng, seed);
    status = GMC_ERR_NOT_FOUND;
    for (uint32_t i = 0; i < TRIES && status == GMC_ERR_NOT_FOUND; i++)
        status = attempt(&build, graph, error);
    if (status == GMC_ERR_NOT_FOUND)
        status = ic_refuse(error, "no connected graph of %u nodes and degree %u was found",
                           (uint32_t)nodes, (uint32_t)degree);
    release(&build);
    return status;
}

/* ---- several ---- */
static void spread_add(struct ic_ldr_spread *spread, const struct ic_distances *distances,
                       uint64_t before)
{
    double mean = distances->mean_self;
    uint32_t diameter = distances->diameter;
    if (before == 0)
        *spread = (struct ic_ldr_spread){mean, 0, mean, diameter, diameter};
    spread->least = mean < spread->least ? mean : spread->least;
    spread->most = mean > spread->most ? mean : spread->most;
    spread->mean += (mean - spread->mean) / (double)(before + 1);
    if (diameter < spread->diameter_least)
        spread->diameter_least = diameter;
    if (diameter > spread->diameter_most)
        spread->diameter_most = diameter;
}

uint64_t ic_ldr_usual_samples(uint64_t nodes)
{
    uint64_t samples = 20480 / (nodes > 0 ? nodes : 1);
    return samples > 100 ? samples : 100;
}

gmc_status ic_ldr_select(uint64_t nodes, uint64_t degree, uint64_t seed, uint64_t samples,
                         struct ic_ldr_spread *spread, struct ic_graph *graph, char *error)
{
    struct gmc_prng root;
    struct ic_graph best = {0};
    struct ic_ldr_spread all = {0};
    gmc_status status =
        ic_check_range("the number of samples", samples, 1, IC_LDR_SAMPLES_MAX, error);
    uint64_t least = UINT64_MAX;
    gmc_prng_init(&root, seed);
    for (uint64_t i = 0; i < samples && status == GMC_OK; i++) {
        struct gmc_prng prng;
        struct ic_distances distances;
        struct ic_graph next;
        gmc_prng_fork_nth(&root, "sample", i, &prng);
        status = ic_ldr_generate(nodes, degree, gmc_prng_u64(&prng), &next, error);
        if (status != GMC_OK)
            break;
        status = ic_graph_distances(&next, &distances);
        if (status == GMC_OK)
            spread_add(&all, &distances, i);
        struct ic_graph worse = next;
        if (status == GMC_OK && distances.sum < least) {
            least = distances.sum;
            worse = best;
            best = next;
        }
        ic_graph_fini(&worse);
    }
    if (status == GMC_OK && spread != NULL)
        *spread = all;
    if (status == GMC_OK && graph != NULL)
        *graph = best;
    else
        ic_graph_fini(&best);
    return status;
}
