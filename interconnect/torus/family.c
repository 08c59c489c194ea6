/* SPDX-License-Identifier: BSD-2-Clause */
/* The torus as a family: multicast on SCI rings. */
#include <stdlib.h>

#include "interconnect/families.h"
#include "interconnect/stats.h"
#include "interconnect/torus/latency.h"
#include "interconnect/torus/simulate.h"

enum { ALGORITHM, K, DIMENSIONS, R, GROUP, BYTES, PACKET, ROUTING, REST, PARAMS };
enum {
    LATENCY,
    LATENCY_PRINTED,
    OVERHEAD,
    CONCENTRATION,
    CONCURRENCY,
    STEP_CONCURRENCY,
    ROOT_BUSY,
    BUSIEST_LINK,
    OUTPUTS
};

/* Random groups of a simulation, when it is not said how many. */
#define GROUPS 40u

static const char *const algorithms[] = {
    [IC_TORUS_SEPARATE] = "separate", [IC_TORUS_U] = "U-torus",   [IC_TORUS_S] = "S-torus",
    [IC_TORUS_MD] = "Md-torus",       [IC_TORUS_MU] = "Mu-torus", [IC_TORUS_ALGORITHMS] = NULL,
};

enum { REST_JOINS, REST_OWN };

static const char *const rests[] = {[REST_JOINS] = "joins", [REST_OWN] = "own", NULL};
static const char *const routings[] = {
    [IC_TORUS_BY_DIMENSION] = "dimension", [IC_TORUS_BY_RANK] = "rank", NULL};

static const struct ic_param params[PARAMS] = {
    [ALGORITHM] = {"algorithm", "", "multicast algorithm", IC_CHOICE, 0, 0, IC_TORUS_MD, algorithms,
                   IC_BOTH},
    [K] = {"k", "nodes", "nodes per ring", IC_COUNT, 2, IC_TORUS_K_MAX, 4, NULL, IC_BOTH},
    [DIMENSIONS] = {"N", "dimensions", "dimensions of the torus; the model has 2", IC_COUNT, 1,
                    IC_TORUS_DIMENSIONS_MAX, 2, NULL, IC_SIMULATOR},
    [R] = {"r", "nodes", "partition length of Mu-torus; 0: k", IC_COUNT, 0, IC_GROUP_MAX, 0, NULL,
           IC_BOTH},
    [GROUP] = {"group", "nodes", "members, the root among them", IC_COUNT, 2, IC_GROUP_MAX, 16,
               NULL, IC_BOTH},
    [BYTES] = {"bytes", "bytes", "length of the message", IC_COUNT, 1, IC_SCI_BYTES_MAX, 128, NULL,
               IC_BOTH},
    [PACKET] = {"packet", "bytes", "pipelined in packets of so many; 0: store and forward",
                IC_COUNT, 0, IC_SCI_BYTES_MAX, 0, NULL, IC_SIMULATOR},
    [ROUTING] = {"routing", "", "along the dimensions, or along the ranks", IC_CHOICE, 0, 0,
                 IC_TORUS_BY_DIMENSION, routings, IC_SIMULATOR},
    [REST] = {"rest", "",
              "of Mu-torus: joins the last run, as the model counts; or a run of its own",
              IC_CHOICE, 0, 0, REST_JOINS, rests, IC_SIMULATOR},
};

static const struct ic_output outputs[OUTPUTS] = {
    [LATENCY] = {"latency", "us", "until the last member has the message", IC_BOTH},
    [LATENCY_PRINTED] = {"latency_other_form", "us",
                         "Mu-torus as printed, U-torus with integer division", IC_MODEL},
    [OVERHEAD] = {"overhead", "us", "o of the sender, and of the receiver", IC_MODEL},
    [CONCENTRATION] = {"link_concentration", "", "visits to links over links used", IC_SIMULATOR},
    [CONCURRENCY] = {"concurrency", "messages", "most messages that are on their way at once",
                     IC_SIMULATOR},
    [STEP_CONCURRENCY] = {"step_concurrency", "messages",
                          "most messages of one step of the schedule", IC_SIMULATOR},
    [ROOT_BUSY] = {"root_busy", "%", "share of the time in which the root's processor works",
                   IC_SIMULATOR},
    [BUSIEST_LINK] = {"busiest_link", "%", "share of the time in which the busiest link is taken",
                      IC_SIMULATOR},
};

static gmc_status model(const double *values, const struct ic_setting *setting,
                        struct ic_result *result, char *error)
{
    (void)setting;
    struct ic_sci_latency t;
    uint64_t k = (uint64_t)values[K], r = (uint64_t)values[R], group = (uint64_t)values[GROUP];
    if (values[DIMENSIONS] != 2)
        return GMC_OK; /* the closed forms know two dimensions */
    gmc_status status = ic_check_range("group, of the k x k nodes,", group, 2, k * k, error);
    if (status == GMC_OK && r > 0)
        status = ic_check_range("r, the partition length,", r, 1, k * k, error);
    if (status == GMC_OK)
        status = ic_sci_latency(k, (uint64_t)values[BYTES], r > 0 ? r : k, group, &t, error);
    if (status != GMC_OK)
        return status;
    const double latency[IC_TORUS_ALGORITHMS] = {
        [IC_TORUS_SEPARATE] = t.separate,
        [IC_TORUS_U] = t.u,
        [IC_TORUS_S] = t.s,
        [IC_TORUS_MD] = t.md,
        [IC_TORUS_MU] = t.mu,
    };
    enum ic_torus_algorithm algorithm = (enum ic_torus_algorithm)values[ALGORITHM];
    ic_result_set(result, LATENCY, latency[algorithm]);
    if (algorithm == IC_TORUS_MU)
        ic_result_set(result, LATENCY_PRINTED, t.mu_printed);
    if (algorithm == IC_TORUS_U)
        ic_result_set(result, LATENCY_PRINTED, t.u_floor);
    ic_result_set(result, OVERHEAD, t.overhead);
    return GMC_OK;
}

/* ---- simulation: the mean over random groups ---- */
struct simulation {
    const struct ic_run *run;
    struct ic_torus torus;
    struct ic_torus_group group;
    uint32_t *nodes;
    struct ic_torus_run one;
    double *link_us, *link_sums; /* of one multicast, and of all */
    double time;                 /* of all */
    struct ic_batches figures[OUTPUTS];
    uint64_t messages;
};

static void on_message(void *ctx, const struct ic_send *send, uint32_t hops, double created,
                       double entered, double delivered)
{
    struct simulation *simulation = ctx;
    const struct ic_message_record record = {
        .number = simulation->messages++,
        .from = simulation->nodes[send->from],
        .to = simulation->nodes[send->to],
        .hops = hops,
        .created = created,
        .entered = entered,
        .delivered = delivered,
    };
    simulation->run->on_message(simulation->run->ctx, &record);
}

static gmc_status prepare(struct simulation *simulation, const double *values, char *error)
{
    gmc_status status =
        ic_torus_init(&simulation->torus, (uint64_t)values[K], (uint64_t)values[DIMENSIONS], error);
    uint64_t group = (uint64_t)values[GROUP], r = (uint64_t)values[R];
    if (status == GMC_OK)
        status = ic_check_range("G, the group's size,", group, 2, simulation->torus.nodes, error);
    if (status != GMC_OK)
        return status;
    size_t links = (size_t)simulation->torus.nodes * simulation->torus.dimensions;
    simulation->one = (struct ic_torus_run){
        .torus = &simulation->torus,
        .group = &simulation->group,
        .algorithm = (enum ic_torus_algorithm)values[ALGORITHM],
        .r = r > 0 ? (uint32_t)r : simulation->torus.k,
        .joins_rest = values[REST] == REST_JOINS,
        .routing = (enum ic_torus_routing)values[ROUTING],
        .bytes = (uint32_t)values[BYTES],
        .packet_bytes = (uint32_t)values[PACKET],
        .on_message = simulation->run->on_message != NULL ? on_message : NULL,
        .ctx = simulation,
    };
    for (size_t i = 0; i < OUTPUTS; i++)
        ic_batches_init(&simulation->figures[i]);
    simulation->group.count = (uint32_t)group;
    simulation->nodes = calloc(group, sizeof(*simulation->nodes));
    simulation->link_us = calloc(links, sizeof(*simulation->link_us));
    simulation->link_sums = calloc(links, sizeof(*simulation->link_sums));
    return simulation->nodes != NULL && simulation->link_us != NULL && simulation->link_sums != NULL
               ? GMC_OK
               : GMC_ERR_NOMEM;
}

/* The n-th group is the same whatever is sent to it. */
static gmc_status multicast_once(struct simulation *simulation, uint64_t n, char *error)
{
    struct ic_multicast_times times;
    struct gmc_prng all, own;
    size_t links = (size_t)simulation->torus.nodes * simulation->torus.dimensions;
    gmc_prng_init(&all, simulation->run->seed);
    gmc_prng_fork_nth(&all, "group", n, &own);
    ic_torus_draw_group(&simulation->torus, simulation->group.count, &own, simulation->nodes,
                        &simulation->group);
    gmc_status status = ic_torus_simulate(&simulation->one, &times, simulation->link_us, error);
    if (status != GMC_OK)
        return status;
    for (size_t i = 0; i < links; i++)
        simulation->link_sums[i] += simulation->link_us[i];
    simulation->time += times.latency_us;
    ic_batches_add(&simulation->figures[LATENCY], times.latency_us);
    ic_batches_add(&simulation->figures[CONCENTRATION], (double)times.visits / times.used_links);
    ic_batches_add(&simulation->figures[CONCURRENCY], times.concurrency);
    ic_batches_add(&simulation->figures[STEP_CONCURRENCY], times.step_concurrency);
    ic_batches_add(&simulation->figures[ROOT_BUSY], 100 * times.root_busy_us / times.latency_us);
    ic_batches_add(&simulation->figures[BUSIEST_LINK],
                   100 * times.busiest_link_us / times.latency_us);
    return GMC_OK;
}

static void tell_channels(const struct simulation *simulation)
{
    const struct ic_torus *torus = &simulation->torus;
    for (uint32_t node = 0; node < torus->nodes; node++)
        for (uint32_t i = 0; i < torus->dimensions; i++) {
            size_t link = (size_t)node * torus->dimensions + i;
            const struct ic_channel_record record = {node, ic_torus_next(torus, node, i), "link",
                                                     simulation->link_sums[link] /
                                                         simulation->time};
            simulation->run->on_channel(simulation->run->ctx, &record);
        }
}

static gmc_status run_groups(struct simulation *simulation, struct ic_result *result, char *error)
{
    static const size_t measured[] = {LATENCY,          CONCENTRATION, CONCURRENCY,
                                      STEP_CONCURRENCY, ROOT_BUSY,     BUSIEST_LINK};
    const struct ic_run *run = simulation->run;
    uint64_t groups = run->messages > 0 ? run->messages : GROUPS;
    gmc_status status = GMC_OK;
    for (uint64_t i = 0; i < groups && status == GMC_OK; i++) {
        if (run->on_progress != NULL && !run->on_progress(run->ctx, (double)i / (double)groups))
            return ic_stopped(error);
        status = multicast_once(simulation, i, error);
    }
    if (status != GMC_OK)
        return status;
    for (size_t i = 0; i < sizeof(measured) / sizeof(measured[0]); i++) {
        struct ic_interval interval = ic_batches_interval(&simulation->figures[measured[i]]);
        ic_result_set_interval(result, measured[i], interval.mean, interval.half_width);
    }
    if (run->on_channel != NULL)
        tell_channels(simulation);
    return GMC_OK;
}

static gmc_status simulate(const double *values, const struct ic_setting *setting,
                           const struct ic_run *run, struct ic_result *result, char *error)
{
    (void)setting;
    struct simulation simulation = {.run = run};
    gmc_status status = prepare(&simulation, values, error);
    if (status == GMC_OK)
        status = run_groups(&simulation, result, error);
    free(simulation.nodes);
    free(simulation.link_us);
    free(simulation.link_sums);
    return status;
}

const struct ic_family ic_family_torus = {
    .name = "torus",
    .title = "multicast on tori of unidirectional rings (SCI)",
    .source = "Oral 2003, chapter 2",
    .params = params,
    .param_count = PARAMS,
    .outputs = outputs,
    .output_count = OUTPUTS,
    .model = model,
    .simulate = simulate,
};
