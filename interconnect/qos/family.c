/* SPDX-License-Identifier: BSD-2-Clause */
/* The QoS router, alone or in a hypercube, as a family. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interconnect/families.h"
#include "interconnect/qos/deadline.h"
#include "interconnect/qos/simulate.h"

enum {
    DIMENSION,
    LOAD,
    RATIO2,
    RATIO3,
    BE_LOAD,
    FLITS,
    BE_FLITS,
    STAGES,
    BUFFER,
    DEADLINE,
    HOPS,
    VARIANT,
    PORTS,
    SCHEDULER,
    EJECTION,
    PEAK,
    BURST,
    PARAMS
};

/* Three real-time classes at most, then BE. */
#define CLASSES 4
enum { NETWORK, WAIT = CLASSES, MISS = 2 * CLASSES, MISS_WHOLE = MISS + 3, OUTPUTS = MISS + 6 };

static const char *const variants[] = {
    [IC_QOS_STRETCH_WAIT] = "A", [IC_QOS_STRETCH_ALL] = "B", NULL};
static const char *const schedulers[] = {[IC_QOS_VIRTUAL_CLOCK] = "virtual-clock",
                                         [IC_QOS_FAIR_QUEUEING] = "fair-queueing",
                                         [IC_QOS_WEIGHTED_ROUND_ROBIN] = "weighted-round-robin",
                                         [IC_QOS_ROUND_ROBIN] = "round-robin",
                                         NULL};
static const char *const ejections[] = {
    [IC_QOS_EJECTION_YIELD] = "yield", [IC_QOS_EJECTION_HOLD] = "hold", NULL};

static const struct ic_param params[PARAMS] = {
    [DIMENSION] = {"n", "", "dimensions of the cube, 2 or more; 0: one router", IC_COUNT, 0,
                   IC_QOS_DIMENSION_MAX, 0, NULL, IC_BOTH},
    [LOAD] = {"load", "messages/cycle/node", "of the first real-time class, R1", IC_NUMBER,
              IC_QOS_RATE_LEAST, 1, 0.004, NULL, IC_BOTH},
    [RATIO2] = {"ratio2", "", "load of R1 over that of R2", IC_NUMBER, 0.001, 1000, 2, NULL,
                IC_BOTH},
    [RATIO3] = {"ratio3", "", "load of R1 over that of R3; 0: there is no R3", IC_NUMBER, 0, 1000,
                0, NULL, IC_BOTH},
    [BE_LOAD] = {"be_load", "messages/cycle/node",
                 "of best effort, BE; 0: as published, 0.01 of one router, 0.002 of a cube",
                 IC_NUMBER, 0, 1, 0, NULL, IC_BOTH},
    [FLITS] = {"flits", "flits", "length of a real-time message", IC_COUNT, 1, IC_QOS_FLITS_MAX, 32,
               NULL, IC_BOTH},
    [BE_FLITS] = {"be_flits", "flits", "length of a BE message", IC_COUNT, 1, IC_QOS_FLITS_MAX, 32,
                  NULL, IC_BOTH},
    [STAGES] = {"stages", "cycles", "stages of the router's pipeline", IC_COUNT, 1,
                IC_QOS_STAGES_MAX, 5, NULL, IC_BOTH},
    [BUFFER] = {"buffer", "flits", "of each virtual channel", IC_COUNT, 1, IC_QOS_FLITS_MAX, 32,
                NULL, IC_BOTH},
    [DEADLINE] = {"deadline", "cycles", "in the network; 0: none is looked at", IC_COUNT, 0,
                  IC_QOS_DEADLINE_MAX, 0, NULL, IC_BOTH},
    [HOPS] = {"hops", "", "of the messages whose deadline is looked at, in a cube", IC_COUNT, 1,
              IC_QOS_DIMENSION_MAX, 2, NULL, IC_BOTH},
    [VARIANT] = {"variant", "",
                 "sharing stretches waits alone (A), or the transfer too (B: nearer for BE)",
                 IC_CHOICE, 0, 0, IC_QOS_STRETCH_WAIT, variants, IC_MODEL},
    [PORTS] = {"ports", "", "of one router, each with a node", IC_COUNT, 2, IC_QOS_PORTS_MAX, 16,
               NULL, IC_SIMULATOR},
    [SCHEDULER] = {"scheduler", "", "of flits on links; all but the first serve BE by its rate",
                   IC_CHOICE, 0, 0, IC_QOS_VIRTUAL_CLOCK, schedulers, IC_SIMULATOR},
    [EJECTION] = {"ejection", "",
                  "a class of a link to a node whose next flit has not come serves another message "
                  "(yield) or waits (hold)",
                  IC_CHOICE, 0, 0, IC_QOS_EJECTION_YIELD, ejections, IC_SIMULATOR},
    [PEAK] = {"peak", "", "rate of a real-time source while it is on, over its load; 1: Poisson",
              IC_NUMBER, 1, IC_QOS_PEAK_MAX, 1, NULL, IC_SIMULATOR},
    [BURST] = {"burst", "messages", "mean number each time that a source is on", IC_NUMBER, 1,
               IC_QOS_BURST_MAX, 4, NULL, IC_SIMULATOR},
};

static const struct ic_output outputs[OUTPUTS] = {
    {"network_R1", "cycles", "from the first router to the last flit's arrival", IC_BOTH},
    {"network_R2", "cycles", "the same of R2", IC_BOTH},
    {"network_R3", "cycles", "the same of R3", IC_BOTH},
    {"network_BE", "cycles", "the same of best effort", IC_BOTH},
    {"wait_R1", "cycles", "in the source's queue", IC_BOTH | IC_SMALL},
    {"wait_R2", "cycles", "the same of R2", IC_BOTH | IC_SMALL},
    {"wait_R3", "cycles", "the same of R3", IC_BOTH | IC_SMALL},
    {"wait_BE", "cycles", "the same of best effort", IC_BOTH | IC_SMALL},
    {"miss_R1", "", "share of messages that are later than the deadline; model: as printed",
     IC_BOTH | IC_SMALL},
    {"miss_R2", "", "the same of R2", IC_BOTH | IC_SMALL},
    {"miss_R3", "", "the same of R3", IC_BOTH | IC_SMALL},
    {"miss_whole_R1", "", "the share by whole messages: their flits add up", IC_MODEL},
    {"miss_whole_R2", "", "the same of R2", IC_MODEL},
    {"miss_whole_R3", "", "the same of R3", IC_MODEL},
};

static const char *const names[CLASSES] = {"R1", "R2", "R3", "BE"};

static double be_load_of(const double *values)
{
    if (values[BE_LOAD] != 0)
        return values[BE_LOAD];
    return values[DIMENSION] == 0 ? 0.01 : 0.002;
}

static void settle(double *values, const struct ic_setting *setting)
{
    (void)setting;
    values[BE_LOAD] = be_load_of(values);
}

static struct ic_qos qos_of(const double *values)
{
    bool three = values[RATIO3] > 0;
    uint64_t be = three ? 3 : 2;
    struct ic_qos qos = {
        .dimension = (uint64_t)values[DIMENSION],
        .classes = be + 1,
        .stages = (uint64_t)values[STAGES],
        .buffer_flits = (uint64_t)values[BUFFER],
        .variant = (enum ic_qos_variant)values[VARIANT],
    };
    qos.rate[0] = values[LOAD];
    qos.rate[1] = values[LOAD] / values[RATIO2];
    if (three)
        qos.rate[2] = values[LOAD] / values[RATIO3];
    for (uint64_t c = 0; c < be; c++)
        qos.flits[c] = (uint64_t)values[FLITS];
    qos.rate[be] = be_load_of(values);
    qos.flits[be] = (uint64_t)values[BE_FLITS];
    return qos;
}

/* Place of a class among the outputs: R3 may be missing, BE stands last. */
static size_t place(const struct ic_qos *qos, uint64_t c)
{
    return c + 1 < qos->classes ? c : CLASSES - 1;
}

struct delays_of {
    const struct ic_qos *qos;
    uint64_t traffic_class, hops, width;
    enum ic_qos_miss kind;
};

static gmc_status make_delays(const void *ctx, void **what, size_t *bytes, char *error)
{
    const struct delays_of *of = ctx;
    struct ic_qos_delays *delays;
    (void)error;
    gmc_status status =
        ic_qos_delays_new(of->qos, of->traffic_class, of->kind, of->hops, of->width, &delays);
    if (status != GMC_OK)
        return status;
    *what = delays;
    *bytes = ic_qos_delays_bytes(delays);
    return GMC_OK;
}

static void release_delays(void *what)
{
    ic_qos_delays_free(what);
}

/* Stays with the memo: all loads have the same. */
static gmc_status find_delays(const double *values, const struct ic_setting *setting,
                              const struct ic_qos *qos, uint64_t c, enum ic_qos_miss kind,
                              void **delays, char *error)
{
    struct delays_of of = {.qos = qos, .traffic_class = c, .kind = kind};
    const struct ic_memo_maker maker = {make_delays, release_delays, &of};
    of.hops = qos->dimension == 0 ? 0 : (uint64_t)values[HOPS];
    of.width = ic_qos_deadline_width(qos, c, of.hops, (uint64_t)values[DEADLINE]);
    const double key[] = {values[RATIO2],  values[RATIO3],   values[FLITS], values[BUFFER],
                          (double)of.hops, (double)of.width, (double)c,     (double)kind};
    return ic_memo_get(setting->memo, key, sizeof(key) / sizeof(key[0]), &maker, delays, error);
}

static gmc_status misses(const double *values, const struct ic_setting *setting,
                         const struct ic_qos *qos, const struct ic_qos_solution *solution,
                         struct ic_result *result, char *error)
{
    gmc_status status = GMC_OK;
    uint64_t hops = qos->dimension == 0 ? 0 : (uint64_t)values[HOPS];
    uint64_t deadline = (uint64_t)values[DEADLINE];
    for (uint64_t c = 0; c + 1 < qos->classes; c++)
        for (int kind = IC_QOS_MISS_LITERAL; kind <= IC_QOS_MISS_CONSTRAINED; kind++) {
            size_t figure = kind == IC_QOS_MISS_LITERAL ? MISS : MISS_WHOLE;
            void *delays;
            double miss;
            status = find_delays(values, setting, qos, c, (enum ic_qos_miss)kind, &delays, error);
            if (status == GMC_OK)
                status = ic_qos_deadline_miss(qos, solution, delays, c, hops, deadline,
                                              (enum ic_qos_miss)kind, &miss, error);
            if (status != GMC_OK)
                return status;
            ic_result_set(result, figure + c, miss);
        }
    return status;
}

static gmc_status limit(const double *values, const struct ic_setting *setting, double *load,
                        char *error)
{
    const struct ic_qos qos = qos_of(values);
    gmc_status status = ic_qos_check(&qos, error);
    (void)setting;
    if (status == GMC_OK)
        *load = ic_qos_saturation(&qos);
    return status;
}

/* The last class whose source cannot keep up, and from which load on. */
static gmc_status name_saturation(const double *values, const struct ic_setting *setting,
                                  const struct ic_qos *qos, const struct ic_qos_solution *solution,
                                  struct ic_result *result, char *error)
{
    for (uint64_t c = qos->classes; c-- > 0;) {
        double from;
        if (isfinite(solution->latency[c].wait))
            continue;
        gmc_status status = ic_limit_find(&ic_family_qos, values, setting, &from, error);
        if (status != GMC_OK)
            return status;
        ic_result_saturated(result, "the source's queue of %s, from load %.4g on",
                            names[place(qos, c)], from);
        /* Other classes have their figures, and R3 may be none. */
        result->is_saturated = false;
        return GMC_OK;
    }
    return GMC_OK;
}

static gmc_status make_solution(const void *ctx, void **what, size_t *bytes, char *error)
{
    struct ic_qos_solution *solution = malloc(sizeof(*solution));
    if (solution == NULL)
        return GMC_ERR_NOMEM;
    gmc_status status = ic_qos_model(ctx, solution, error);
    if (status != GMC_OK) {
        free(solution);
        return status;
    }
    *what = solution;
    *bytes = sizeof(*solution);
    return GMC_OK;
}

/* All deadlines have the same. It is none of the memo's: what is found next may end it. */
static gmc_status find_solution(const double *values, const struct ic_setting *setting,
                                const struct ic_qos *qos, struct ic_qos_solution *solution,
                                char *error)
{
    const struct ic_memo_maker maker = {make_solution, free, qos};
    double key[PARAMS];
    void *kept;
    memcpy(key, values, sizeof(key));
    key[DEADLINE] = key[HOPS] = -1;
    gmc_status status = ic_memo_get(setting->memo, key, PARAMS, &maker, &kept, error);
    if (status == GMC_OK)
        *solution = *(const struct ic_qos_solution *)kept;
    return status;
}

static gmc_status model(const double *values, const struct ic_setting *setting,
                        struct ic_result *result, char *error)
{
    struct ic_qos qos = qos_of(values);
    struct ic_qos_solution solution;
    gmc_status status = ic_qos_check(&qos, error);
    if (status == GMC_OK)
        status = find_solution(values, setting, &qos, &solution, error);
    for (uint64_t c = 0; status == GMC_OK && c < qos.classes; c++) {
        ic_result_set(result, NETWORK + place(&qos, c), solution.latency[c].network);
        ic_result_set(result, WAIT + place(&qos, c), solution.latency[c].wait);
    }
    if (status == GMC_OK && solution.has_solution && values[DEADLINE] > 0)
        status = misses(values, setting, &qos, &solution, result, error);
    if (status == GMC_OK)
        status = name_saturation(values, setting, &qos, &solution, result, error);
    return status;
}

static gmc_status simulate(const double *values, const struct ic_setting *setting,
                           const struct ic_run *run, struct ic_result *result, char *error)
{
    (void)setting;
    struct ic_qos_simulated out;
    struct ic_qos_simulation simulation = {
        .qos = qos_of(values),
        .ports = (uint64_t)values[PORTS],
        .scheduler = (enum ic_qos_scheduler)values[SCHEDULER],
        .ejection = (enum ic_qos_ejection)values[EJECTION],
        .peak = values[PEAK],
        .burst = values[BURST],
        .deadline = (uint64_t)values[DEADLINE],
        .hops = (uint64_t)values[HOPS],
    };
    const struct ic_qos *qos = &simulation.qos;
    gmc_status status = ic_qos_simulate(&simulation, run, &out, error);
    if (status == GMC_OK)
        result->warmup = out.warmup;
    for (uint64_t c = 0; status == GMC_OK && c < qos->classes; c++) {
        double network = out.classes[c].network, wait = out.classes[c].wait;
        double miss = out.classes[c].miss;
        size_t at = place(qos, c);
        if (!isnan(network))
            ic_result_set_measured(result, NETWORK + at, network);
        if (out.classes[c].is_saturated) {
            ic_result_set(result, WAIT + at, INFINITY);
            ic_result_saturated(result, "the sources' queues of %s grow at load %g", names[at],
                                values[LOAD]);
            result->is_saturated = false; /* as in name_saturation */
        } else if (!isnan(wait)) {
            ic_result_set_measured(result, WAIT + at, wait);
        }
        if (!isnan(miss) && c + 1 < qos->classes)
            ic_result_set_measured(result, MISS + c, miss);
    }
    return status;
}

const struct ic_family ic_family_qos = {
    .name = "qos",
    .title = "classes of service in a pipelined router with VirtualClock, alone or in a hypercube",
    .source = "Kim, Yum, Das 2005",
    .params = params,
    .param_count = PARAMS,
    .outputs = outputs,
    .output_count = OUTPUTS,
    .load = "load",
    .messages = IC_QOS_MESSAGES,
    .model = model,
    .simulate = simulate,
    .limit = limit,
    .settle = settle,
};
