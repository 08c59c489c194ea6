/* SPDX-License-Identifier: BSD-2-Clause */
/* Traffic, engine and statistics put together. */
#include "interconnect/qos/simulate.h"

#include <math.h>

#include "interconnect/qos/traffic.h"
#include "interconnect/stats.h"

#define PROGRESS_STEPS 100u
/* Messages per node and class that the shortest warm-up has. */
#define WARMUP_PER_SOURCE 20u
#define WARMUP_MOST 16u /* times what is measured */
/* Saturated: so much of what a class generates, and so many messages per node, came to its queues.
 */
#define GROWTH 0.02
#define EACH 4.0
#define WATCHED_LEAST 20u /* messages of a node */
#define WATCHED_MOST 8u   /* times the cycles before */

struct measures {
    struct ic_mean network, wait, miss;
    uint64_t waiting, generated; /* at its begin; since then */
};

struct simulator {
    const struct ic_qos_simulation *simulation;
    const struct ic_run *run;
    struct ic_qos_engine *engine;
    struct ic_qos_traffic traffic;
    struct ic_qos_rate rates[IC_QOS_CLASSES_MAX];
    struct ic_warmup warmup;
    struct measures measures[IC_QOS_CLASSES_MAX];
    uint64_t wanted, seen, warmed_up; /* messages */
    uint64_t began, hops_before;      /* of the measurement */
    bool is_watching;
    char *error;
};

static gmc_status check(const struct ic_qos_simulation *simulation, const struct ic_run *run,
                        char *error)
{
    const struct ic_qos *qos = &simulation->qos;
    gmc_status status = ic_qos_check(qos, error);
    if (status == GMC_OK && qos->dimension == 0)
        status =
            ic_check_range("the number of ports", simulation->ports, 2, IC_QOS_PORTS_MAX, error);
    for (uint64_t c = 0; c < qos->classes && status == GMC_OK; c++)
        status = ic_check_number(ic_qos_rate_words(qos, c), qos->rate[c], IC_QOS_SIMULATED_LEAST, 1,
                                 error);
    if (status == GMC_OK)
        status = ic_check_number("the peak rate over the mean rate", simulation->peak, 1,
                                 IC_QOS_PEAK_MAX, error);
    if (status == GMC_OK)
        status = ic_check_number("the messages of a burst", simulation->burst, 1, IC_QOS_BURST_MAX,
                                 error);
    if (status == GMC_OK && simulation->deadline != 0 && qos->dimension != 0)
        status = ic_check_range("the number of hops", simulation->hops, 1, qos->dimension, error);
    if (status == GMC_OK && run->messages != 0)
        status =
            ic_check_range("the number of messages", run->messages, 1, IC_QOS_MESSAGES_MAX, error);
    return status;
}

static gmc_status begin(struct simulator *s)
{
    const struct ic_qos *qos = &s->simulation->qos;
    struct ic_qos_engine_options options = {
        .qos = qos,
        .ports = (uint32_t)s->simulation->ports,
        .scheduler = s->simulation->scheduler,
        .ejection = s->simulation->ejection,
    };
    gmc_status status = ic_qos_engine_new(&options, &s->engine);
    if (status != GMC_OK)
        return status;
    uint32_t nodes = ic_qos_engine_nodes(s->engine), classes = (uint32_t)qos->classes;
    for (uint32_t c = 0; c < classes; c++) {
        bool real_time = c + 1 < classes;
        s->rates[c] =
            (struct ic_qos_rate){qos->rate[c], qos->rate[c] * (real_time ? s->simulation->peak : 1),
                                 real_time ? s->simulation->burst : 1};
    }
    s->wanted = s->run->messages != 0 ? s->run->messages : IC_QOS_MESSAGES;
    ic_warmup_init(&s->warmup, (uint64_t)nodes * classes * WARMUP_PER_SOURCE,
                   WARMUP_MOST * s->wanted);
    return ic_qos_traffic_init(&s->traffic, nodes, classes, s->rates, s->run->seed);
}

/* All that is generated until this cycle. */
static gmc_status generate(struct simulator *s)
{
    uint32_t nodes = ic_qos_engine_nodes(s->engine);
    if (ic_qos_engine_is_idle(s->engine)) {
        uint64_t due = (uint64_t)ceil(ic_qos_traffic_due(&s->traffic));
        if (due > ic_qos_engine_now(s->engine))
            ic_qos_engine_skip(s->engine, due);
    }
    while (ic_qos_traffic_due(&s->traffic) <= (double)ic_qos_engine_now(s->engine)) {
        uint32_t to;
        struct ic_qos_arrival arrival = ic_qos_traffic_next(&s->traffic, nodes, &to);
        gmc_status status =
            ic_qos_engine_send(s->engine, arrival.traffic_class, arrival.source, to, arrival.time);
        if (status != GMC_OK)
            return status;
        s->measures[arrival.traffic_class].generated++;
    }
    return GMC_OK;
}

static void start_measurement(struct simulator *s)
{
    s->warmed_up = s->seen;
    s->began = ic_qos_engine_now(s->engine);
    s->hops_before = ic_qos_engine_flit_hops(s->engine);
    ic_qos_engine_clear(s->engine);
    for (uint32_t c = 0; c < s->simulation->qos.classes; c++) {
        s->measures[c].generated = 0;
        s->measures[c].waiting = ic_qos_engine_waiting(s->engine, c);
    }
}

static void measure(struct simulator *s, const struct ic_qos_message *message)
{
    const struct ic_qos_simulation *simulation = s->simulation;
    struct measures *measures = &s->measures[message->traffic_class];
    double network = (double)(message->delivered - message->entered);
    bool is_hops = simulation->qos.dimension == 0 || message->hops == simulation->hops;
    ic_mean_add(&measures->network, network);
    ic_mean_add(&measures->wait, (double)message->entered - message->created);
    if (simulation->deadline != 0 && is_hops)
        ic_mean_add(&measures->miss, network > (double)simulation->deadline);
    if (s->run->on_message != NULL) {
        struct ic_message_record record = {
            .number = message->number,
            .from = message->from,
            .to = message->to,
            .traffic_class = message->traffic_class,
            .hops = message->hops,
            .created = message->created,
            .entered = (double)message->entered,
            .delivered = (double)message->delivered,
        };
        s->run->on_message(s->run->ctx, &record);
    }
}

static gmc_status progress(const struct simulator *s)
{
    uint64_t done = s->seen - s->warmed_up, step = s->wanted / PROGRESS_STEPS + 1;
    if (s->run->on_progress == NULL || done % step != 0 ||
        s->run->on_progress(s->run->ctx, (double)done / (double)s->wanted))
        return GMC_OK;
    ic_refuse(s->error, "ended after %.0f of %.0f messages", (double)done, (double)s->wanted);
    return GMC_ERR_STATE;
}

static bool is_warm(const struct simulator *s)
{
    return ic_warmup_state(&s->warmup) != IC_WARMUP_GOING;
}

/* Network latency decides on the warm-up: it settles also where queues at the sources do not, since
 * then buffers are full. */
static gmc_status see(struct simulator *s, const struct ic_qos_message *message)
{
    if (s->is_watching)
        return GMC_OK;
    s->seen++;
    if (is_warm(s)) {
        measure(s, message);
        return progress(s);
    }
    ic_warmup_add(&s->warmup, (double)(message->delivered - message->entered));
    if (is_warm(s))
        start_measurement(s);
    return GMC_OK;
}

static gmc_status step(struct simulator *s)
{
    struct ic_qos_message message;
    gmc_status status = generate(s);
    if (status != GMC_OK)
        return status;
    ic_qos_engine_step(s->engine);
    while (status == GMC_OK && ic_qos_engine_next(s->engine, &message))
        status = see(s, &message);
    return status;
}

static gmc_status simulate(struct simulator *s)
{
    gmc_status status = GMC_OK;
    while (status == GMC_OK && (!is_warm(s) || s->seen < s->warmed_up + s->wanted))
        status = step(s);
    return status;
}

/* ---- saturation ---- */
/* Messages of a class that wait, more than when measuring began. */
static double grown(const struct simulator *s, uint32_t c)
{
    return (double)ic_qos_engine_waiting(s->engine, c) - (double)s->measures[c].waiting;
}

static bool is_saturated(const struct simulator *s, uint32_t c)
{
    return grown(s, c) > GROWTH * (double)s->measures[c].generated &&
           grown(s, c) > EACH * ic_qos_engine_nodes(s->engine);
}

/* A queue has grown, but not by more than chance may have made it, or not for long enough; or
 * nearly nothing was seen at all. */
static bool is_open(const struct simulator *s)
{
    bool grows = false, all_sure = true;
    uint64_t generated = 0;
    for (uint32_t c = 0; c < s->simulation->qos.classes; c++) {
        bool has_grown = grown(s, c) > GROWTH * (double)s->measures[c].generated;
        generated += s->measures[c].generated;
        grows |= has_grown;
        all_sure &= !has_grown || is_saturated(s, c);
    }
    if (generated < (uint64_t)WATCHED_LEAST * ic_qos_engine_nodes(s->engine))
        return true;
    return grows && (!all_sure || generated < s->run->watched);
}

/* Few messages cannot tell growth from chance: it goes on without measuring. */
static gmc_status watch(struct simulator *s)
{
    gmc_status status = GMC_OK;
    uint64_t end = WATCHED_MOST * ic_qos_engine_now(s->engine);
    if (s->run->watched > s->wanted)
        end *= s->run->watched / s->wanted;
    s->is_watching = true;
    while (status == GMC_OK && is_open(s) && ic_qos_engine_now(s->engine) < end)
        status = step(s);
    return status;
}

static void describe(const struct simulator *s, struct ic_qos_simulated *out)
{
    *out = (struct ic_qos_simulated){
        .warmup = s->warmed_up,
        .cycles = ic_qos_engine_now(s->engine) - s->began,
        .flit_hops = ic_qos_engine_flit_hops(s->engine) - s->hops_before,
    };
    for (uint32_t c = 0; c < s->simulation->qos.classes; c++) {
        out->classes[c].network = ic_mean_value(&s->measures[c].network);
        out->classes[c].wait = ic_mean_value(&s->measures[c].wait);
        out->classes[c].miss = ic_mean_value(&s->measures[c].miss);
    }
    for (uint32_t i = 0; s->run->on_channel != NULL && i < ic_qos_engine_links(s->engine); i++) {
        struct ic_qos_link_record link;
        ic_qos_engine_link(s->engine, i, &link);
        struct ic_channel_record record = {
            .from = link.from,
            .to = link.to,
            .what = link.what,
            .load = (double)link.flits / (double)out->cycles,
        };
        s->run->on_channel(s->run->ctx, &record);
    }
}

gmc_status ic_qos_simulate(const struct ic_qos_simulation *simulation, const struct ic_run *run,
                           struct ic_qos_simulated *out, char *error)
{
    struct simulator s = {.simulation = simulation, .run = run, .error = error};
    gmc_status status = check(simulation, run, error);
    if (status != GMC_OK)
        return status;
    status = begin(&s);
    if (status == GMC_OK)
        status = simulate(&s);
    if (status == GMC_OK) {
        describe(&s, out);
        if (!run->only_measures)
            status = watch(&s);
        for (uint32_t c = 0; c < simulation->qos.classes; c++)
            out->classes[c].is_saturated = !run->only_measures && is_saturated(&s, c);
    }
    ic_qos_traffic_fini(&s.traffic);
    ic_qos_engine_free(s.engine);
    return status;
}
