/* SPDX-License-Identifier: BSD-2-Clause */
/* What bounded probing costs in quality: the eco tree of all pairs beside that of the pairs which
 * core/probe_plan.h chooses, with as many of them as large groups measure.
 *
 *   bench_probe [GRAPHS]       means over so many graphs of each kind and size (10)
 *
 * plane: points in a square, delays of light in fibre over 4000 km plus a last mile of up to 2 ms.
 * waxman: shortest paths in a Waxman graph (alpha 0.4, beta 0.15) over the same square. random:
 * every delay drawn for itself from 1 to 100 ms, so that nothing can be told from landmarks: the
 * worst case.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/prng.h"
#include "core/probe_plan.h"
#include "core/tree.h"
#include "core/tree_sparse.h"
#include "sim-wan/mem.h"

#define SIDE_KM 4000.0
#define NS_PER_KM 5000.0

struct quality {
    double mean_depth, worst_depth; /* latency from the source down the tree, ms */
    double sum;                     /* of the tree's links, ms */
    double children;                /* of the source */
    double hops;                    /* of the deepest gateway */
    double pairs;                   /* measured, per gateway */
};

static double unit(struct gmc_prng *prng)
{
    return (double)(gmc_prng_u64(prng) >> 11) / 9007199254740992.0;
}

static void draw_points(size_t n, double (*at)[2], struct gmc_prng *prng)
{
    for (size_t i = 0; i < n; i++) {
        at[i][0] = unit(prng) * SIDE_KM;
        at[i][1] = unit(prng) * SIDE_KM;
    }
}

static double apart_km(const double *a, const double *b)
{
    return hypot(a[0] - b[0], a[1] - b[1]);
}

/* ---- graphs: round trips in ns, n * n ---- */
static void plane(size_t n, uint64_t *rtt, struct gmc_prng *prng)
{
    double(*at)[2] = sim_alloc(n * sizeof(*at));
    double *last_mile = sim_alloc(n * sizeof(*last_mile));
    draw_points(n, at, prng);
    for (size_t i = 0; i < n; i++)
        last_mile[i] = unit(prng) * 2e6;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            rtt[i * n + j] =
                (uint64_t)(2 * NS_PER_KM * apart_km(at[i], at[j]) + last_mile[i] + last_mile[j]);
    free(at);
    free(last_mile);
}

static void relax_from(size_t n, const uint64_t *edge, uint64_t *far, size_t from, bool *done)
{
    for (size_t i = 0; i < n; i++) {
        far[i] = UINT64_MAX;
        done[i] = false;
    }
    far[from] = 0;
    for (size_t round = 0; round < n; round++) {
        size_t at = n;
        for (size_t i = 0; i < n; i++)
            if (!done[i] && (at == n || far[i] < far[at]))
                at = i;
        done[at] = true;
        for (size_t i = 0; i < n; i++)
            if (edge[at * n + i] != 0 && far[at] + edge[at * n + i] < far[i])
                far[i] = far[at] + edge[at * n + i];
    }
}

static void waxman(size_t n, uint64_t *rtt, struct gmc_prng *prng)
{
    double(*at)[2] = sim_alloc(n * sizeof(*at));
    uint64_t *edge = sim_calloc(n * n, sizeof(*edge));
    bool *done = sim_alloc(n);
    /* Sparser as it grows, so that hosts keep a few wires each. */
    double alpha = 0.4 * (n > 100 ? 100.0 / (double)n : 1);
    draw_points(n, at, prng);
    for (size_t i = 1; i < n; i++) {
        size_t near = 0; /* connected by a wire to the nearest one before it */
        for (size_t j = 1; j < i; j++)
            if (apart_km(at[i], at[j]) < apart_km(at[i], at[near]))
                near = j;
        for (size_t j = 0; j < i; j++) {
            double km = apart_km(at[i], at[j]);
            bool drawn = unit(prng) < alpha * exp(-km / (0.15 * SIDE_KM * sqrt(2)));
            if (drawn || j == near)
                edge[i * n + j] = edge[j * n + i] = (uint64_t)(2 * NS_PER_KM * km) + 100000;
        }
    }
    for (size_t i = 0; i < n; i++)
        relax_from(n, edge, rtt + i * n, i, done);
    free(at);
    free(edge);
    free(done);
}

static void random_delays(size_t n, uint64_t *rtt, struct gmc_prng *prng)
{
    for (size_t i = 0; i < n; i++) {
        rtt[i * n + i] = 0;
        for (size_t j = 0; j < i; j++)
            rtt[i * n + j] = rtt[j * n + i] = 1000000 + gmc_prng_below(prng, 99000000);
    }
}

/* ---- trees ---- */
static struct quality judge(size_t n, const uint64_t *rtt, const int32_t *parent)
{
    struct quality q = {0};
    for (size_t i = 1; i < n; i++) {
        double depth = 0, hops = 0;
        for (size_t at = i; at != 0; at = (size_t)parent[at], hops++)
            depth += (double)rtt[at * n + (size_t)parent[at]] / 1e6;
        q.mean_depth += depth / (double)(n - 1);
        q.worst_depth = depth > q.worst_depth ? depth : q.worst_depth;
        q.hops = hops > q.hops ? hops : q.hops;
        q.sum += (double)rtt[i * n + (size_t)parent[i]] / 1e6;
        q.children += parent[i] == 0;
    }
    return q;
}

static struct quality of_all_pairs(size_t n, const uint64_t *rtt)
{
    struct gmc_tree_graph graph = {.n = n, .latency = rtt};
    int32_t *parent = sim_alloc(n * sizeof(*parent) * GMC_TREE_STRIPES_MAX);
    uint32_t stripes;
    if (gmc_tree_ops(GMC_TREE_ECO)->build(&graph, parent, &stripes) != GMC_OK)
        abort();
    struct quality q = judge(n, rtt, parent);
    q.pairs = (double)(n - 1);
    free(parent);
    return q;
}

/* As the gateways do it: the landmarks are measured by all and so are links too. */
static struct quality of_some_pairs(size_t n, const uint64_t *rtt, struct gmc_prng *prng)
{
    size_t columns = GMC_PROBE_LANDMARKS + 1;
    size_t max = n * (GMC_PROBE_LANDMARKS + GMC_PROBE_NEAR), count = 0;
    uint64_t *marks = sim_alloc(n * columns * sizeof(*marks));
    uint64_t *far = sim_alloc(n * sizeof(*far));
    int32_t *near = sim_alloc(n * GMC_PROBE_NEAR * sizeof(*near));
    int32_t *parent = sim_alloc(n * sizeof(*parent));
    struct gmc_tree_link *links = sim_alloc(max * sizeof(*links));
    size_t mark[GMC_PROBE_LANDMARKS + 1] = {0};
    for (size_t m = 1; m < columns; m++)
        mark[m] = 1 + gmc_prng_below(prng, n - 1);
    for (size_t i = 0; i < n; i++)
        for (size_t m = 0; m < columns; m++)
            marks[i * columns + m] = rtt[i * n + mark[m]];
    struct gmc_probe_marks of = {.n = n, .columns = columns, .latency = marks};
    if (gmc_probe_plan(&of, GMC_PROBE_NEAR, near) != GMC_OK)
        abort();
    for (size_t i = 1; i < n; i++) {
        far[i] = rtt[i * n];
        for (size_t m = 1; m < columns; m++)
            if (mark[m] != i)
                links[count++] =
                    (struct gmc_tree_link){(int32_t)i, (int32_t)mark[m], rtt[i * n + mark[m]]};
        for (size_t k = 0; k < GMC_PROBE_NEAR; k++) {
            int32_t v = near[i * GMC_PROBE_NEAR + k];
            if (v > 0)
                links[count++] = (struct gmc_tree_link){(int32_t)i, v, rtt[i * n + (size_t)v]};
        }
    }
    struct gmc_tree_sparse graph = {.n = n,
                                    .from_source = far,
                                    .links = links,
                                    .link_count = count};
    if (gmc_tree_eco_sparse(&graph, parent) != GMC_OK)
        abort();
    struct quality q = judge(n, rtt, parent);
    q.pairs = (double)count / (double)n + 1;
    free(marks);
    free(far);
    free(near);
    free(parent);
    free(links);
    return q;
}

static void add(struct quality *to, const struct quality *q, double weight)
{
    to->mean_depth += q->mean_depth * weight;
    to->worst_depth += q->worst_depth * weight;
    to->sum += q->sum * weight;
    to->children += q->children * weight;
    to->hops += q->hops * weight;
    to->pairs += q->pairs * weight;
}

static void print(const char *kind, size_t n, const char *probed, const struct quality *q)
{
    printf("%-8s %6zu %-6s %8.1f %10.1f %10.1f %10.0f %9.1f %6.1f\n", kind, n, probed, q->pairs,
           q->mean_depth, q->worst_depth, q->sum, q->children, q->hops);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*fill)(size_t n, uint64_t *rtt, struct gmc_prng *prng);
    } kinds[] = {{"plane", plane}, {"waxman", waxman}, {"random", random_delays}};
    static const size_t sizes[] = {100, 300, 1000};
    int graphs = argc > 1 ? atoi(argv[1]) : 10;
    printf("The eco tree of all pairs, and of %u landmarks and %u near gateways; %d graphs each\n",
           GMC_PROBE_LANDMARKS, GMC_PROBE_NEAR, graphs);
    printf("depth: latency from the source down the tree, ms; sum: of the links' latencies, ms\n");
    printf("%-8s %6s %-6s %8s %10s %10s %10s %9s %6s\n", "delays", "n", "probed", "pairs/n",
           "mean depth", "worst", "sum", "source's", "hops");
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
            struct quality all = {0}, some = {0};
            size_t n = sizes[s];
            uint64_t *rtt = sim_alloc(n * n * sizeof(*rtt));
            for (int g = 0; g < graphs; g++) {
                struct gmc_prng prng;
                gmc_prng_init(&prng, (uint64_t)g + 1);
                kinds[k].fill(n, rtt, &prng);
                struct quality q = of_all_pairs(n, rtt);
                add(&all, &q, 1.0 / graphs);
                q = of_some_pairs(n, rtt, &prng);
                add(&some, &q, 1.0 / graphs);
            }
            print(kinds[k].name, n, "all", &all);
            print(kinds[k].name, n, "some", &some);
            free(rtt);
        }
    }
    return 0;
}
