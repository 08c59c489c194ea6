/* SPDX-License-Identifier: BSD-2-Clause */
/* The cluster simulator. Each message is one event after another: copied out, over each link,
 * copied in; each member has an event for what it does before it sends on. */
#include "experiments/san.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/prng.h"
#include "interconnect/torus/links.h"
#include "sim-wan/mem.h"

#define HOPS_MAX 64

struct costs {
    double root;    /* once, before the root's first message */
    double send;    /* of each message, at its sender */
    double receive; /* until the receiver has it for forwarding */
    double forward; /* once, at a member that forwards */
    double deliver; /* from there to the member's host; forwards nothing, delays nothing */
    double link_ns; /* of a message on a link, ns */
};

struct member {
    struct sim_event event; /* its next message may be copied out */
    struct ex_san *san;
    size_t first, count, sent; /* in `order`: what it sends, by step */
};

struct message {
    struct sim_event event;
    struct ex_san *san;
    uint32_t to;
    uint32_t hops, at;
    uint32_t links[HOPS_MAX]; /* resources, in order */
    uint64_t latency_ns[HOPS_MAX];
    enum { ON_THE_WAY, BEING_RECEIVED, TO_BE_DELIVERED } stage;
};

struct ex_san {
    struct sim_engine *engine;
    struct ex_san_config config;
    struct costs costs;
    struct ic_torus torus;
    struct ic_torus_group group;
    uint32_t *nodes;
    struct ic_schedule schedule;
    struct ic_send *order; /* by sender, then step */
    struct member *members;
    struct message *messages; /* by place in `order` */
    gmc_time *link_free;      /* by link */
    uint32_t missing;
    void (*done)(void *ctx, gmc_time now);
    void *ctx;
};

static gmc_duration us(double value)
{
    return (gmc_duration)(value * 1000 + 0.5);
}

/* ---- what things cost ---- */
static struct costs sci_costs(const struct ex_san_config *config)
{
    static const double process[IC_TORUS_ALGORITHMS] = {
        [IC_TORUS_SEPARATE] = 7, [IC_TORUS_MD] = 206, [IC_TORUS_MU] = 201,
        [IC_TORUS_U] = 629,      [IC_TORUS_S] = 265,
    };
    double copy = 1.994 + 0.00315 * ((double)config->message - 128);
    struct costs costs = {.send = copy, .receive = copy, .link_ns = config->message * 8 / 5.3};
    if (config->algorithm == IC_TORUS_SEPARATE)
        costs.send += process[IC_TORUS_SEPARATE];
    else
        costs.forward = process[config->algorithm];
    return costs;
}

static struct costs myrinet_costs(const struct ex_san_config *config)
{
    static const double host_process[IC_STAR_ALGORITHMS] = {19.2, 12.2, 7.2, 22.2};
    static const double nic_process[IC_STAR_ALGORITHMS] = {145.2, 92.2, 79.2, 233.1};
    double bytes = config->message;
    double host = 9.864 + 0.0315 * bytes, nic = 0.697 + 0.00625 * bytes;
    double in = 26 + 0.0076 * bytes, out = 28 + 0.0076 * bytes; /* SDMA, RDMA */
    double process = config->kind == EX_MYRINET_NIC ? nic_process[config->algorithm]
                                                    : host_process[config->algorithm];
    bool separate = config->algorithm == IC_STAR_SEPARATE;
    struct costs costs = {.link_ns = bytes * 8 / 1.28};
    switch (config->kind) {
    case EX_MYRINET_HOST:
        costs.send = host + (separate ? process : 0);
        costs.receive = host;
        costs.forward = process;
        break;
    case EX_MYRINET_NIC:
        costs.root = in + (separate ? 0 : process);
        costs.send = nic + (separate ? process : 0);
        costs.receive = nic;
        costs.forward = process;
        costs.deliver = out;
        break;
    default:
        costs.root = separate ? 0 : in;
        costs.send = nic + (separate ? process + in : 0);
        costs.receive = nic + out;
        costs.forward = process + in;
        break;
    }
    return costs;
}

/* ---- the way of a message ---- */
static void add_hop(void *ctx, uint32_t node, uint32_t dimension)
{
    struct message *message = ctx;
    const struct ic_torus *torus = &message->san->torus;
    GMC_ASSERT(message->hops < HOPS_MAX);
    uint32_t link = node * torus->dimensions + dimension;
    uint64_t latency = 14; /* of the cable; then what it costs to come on from the hop before */
    if (message->hops > 0)
        latency += message->links[message->hops - 1] % torus->dimensions == dimension ? 60 : 670;
    message->links[message->hops] = link;
    message->latency_ns[message->hops++] = latency;
}

static void find_way(struct message *message, uint32_t from, uint32_t to)
{
    struct ex_san *san = message->san;
    if (san->config.kind == EX_SCI) {
        ic_torus_route(&san->torus, IC_TORUS_BY_DIMENSION, san->nodes[from], san->nodes[to],
                       add_hop, message);
        return;
    }
    /* To the switch, and from it; 3 m of cable are 21 ns. */
    message->hops = 2;
    message->links[0] = 2 * from;
    message->links[1] = 2 * to + 1;
    message->latency_ns[0] = 21;
    message->latency_ns[1] = 500 + 21;
}

static void member_begins(struct ex_san *san, uint32_t number, gmc_time when)
{
    struct member *member = &san->members[number];
    if (member->sent < member->count)
        sim_engine_at(san->engine, &member->event, when);
}

static void on_member(struct sim_event *event, gmc_time now)
{
    struct member *member = SIM_OWNER(event, struct member, event);
    struct ex_san *san = member->san;
    struct message *message = &san->messages[member->first + member->sent++];
    gmc_time copied = now + us(san->costs.send);
    sim_engine_at(san->engine, &message->event, copied);
    if (member->sent < member->count)
        sim_engine_at(san->engine, &member->event, copied);
}

/* The message's end stands before its next link, or is through. */
static void on_link(struct message *message, gmc_time now)
{
    struct ex_san *san = message->san;
    if (message->at < message->hops) {
        gmc_time *link_free = &san->link_free[message->links[message->at]];
        gmc_time leaves = *link_free + (gmc_duration)san->costs.link_ns;
        if (leaves < now)
            leaves = now;
        *link_free = leaves;
        sim_engine_at(san->engine, &message->event, leaves + message->latency_ns[message->at++]);
        return;
    }
    message->stage = BEING_RECEIVED;
    sim_engine_at(san->engine, &message->event, now + us(san->costs.receive));
}

static void on_message(struct sim_event *event, gmc_time now)
{
    struct message *message = SIM_OWNER(event, struct message, event);
    struct ex_san *san = message->san;
    if (message->stage == ON_THE_WAY) {
        on_link(message, now);
    } else if (message->stage == BEING_RECEIVED) {
        member_begins(san, message->to, now + us(san->costs.forward));
        message->stage = TO_BE_DELIVERED;
        sim_engine_at(san->engine, &message->event, now + us(san->costs.deliver));
    } else if (--san->missing == 0) {
        san->done(san->ctx, now);
    }
}

/* ---- setting up ---- */
static int by_sender(const void *left, const void *right)
{
    const struct ic_send *a = left, *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->step > b->step) - (a->step < b->step);
}

/* Every choice of so many nodes, and of the root among them, is as likely as any other. */
static void draw_group(struct ex_san *san)
{
    struct gmc_prng seed, prng;
    uint32_t size = san->config.group, chosen = 0;
    gmc_prng_init(&seed, size);
    gmc_prng_fork_nth(&seed, "group", san->config.draw, &prng);
    san->nodes = sim_calloc(size, sizeof(*san->nodes));
    for (uint32_t node = 0; node < san->torus.nodes && chosen < size; node++)
        if (gmc_prng_below(&prng, san->torus.nodes - node) < size - chosen)
            san->nodes[chosen++] = node;
    san->group = (struct ic_torus_group){san->nodes, size, (uint32_t)gmc_prng_below(&prng, size)};
}

static void make_schedule(struct ex_san *san)
{
    const struct ex_san_config *config = &san->config;
    char error[IC_ERROR_MAX] = "";
    gmc_status status;
    if (config->kind == EX_SCI) {
        status = ic_torus_init(&san->torus, config->k, 2, error);
        if (status == GMC_OK)
            draw_group(san);
        if (status == GMC_OK)
            status = ic_torus_multicast(&san->torus, &san->group,
                                        (enum ic_torus_algorithm)config->algorithm, config->k,
                                        &san->schedule, error);
    } else {
        status = ic_star_multicast(config->group, (enum ic_star_algorithm)config->algorithm,
                                   &san->schedule, error);
    }
    if (status != GMC_OK) {
        fprintf(stderr, "experiments: no such multicast: %s\n", error);
        abort();
    }
}

static void make_messages(struct ex_san *san)
{
    size_t count = san->schedule.count;
    uint32_t links = san->config.kind == EX_SCI ? san->torus.nodes * 2 : san->config.group * 2;
    san->order = sim_calloc(count, sizeof(*san->order));
    memcpy(san->order, san->schedule.sends, count * sizeof(*san->order));
    qsort(san->order, count, sizeof(*san->order), by_sender);
    san->members = sim_calloc(san->config.group, sizeof(*san->members));
    san->messages = sim_calloc(count, sizeof(*san->messages));
    san->link_free = sim_calloc(links, sizeof(*san->link_free));
    for (uint32_t i = 0; i < san->config.group; i++) {
        san->members[i].san = san;
        sim_event_init(&san->members[i].event, on_member);
    }
    for (size_t i = 0; i < count; i++) {
        struct message *message = &san->messages[i];
        struct member *sender = &san->members[san->order[i].from];
        message->san = san;
        message->to = san->order[i].to;
        sim_event_init(&message->event, on_message);
        find_way(message, san->order[i].from, message->to);
        if (sender->count++ == 0)
            sender->first = i;
    }
}

struct ex_san *ex_san_start(struct sim_engine *engine, const struct ex_san_config *config,
                            gmc_time when, void (*done)(void *ctx, gmc_time now), void *ctx)
{
    struct ex_san *san = sim_calloc(1, sizeof(*san));
    san->engine = engine;
    san->config = *config;
    san->costs = config->kind == EX_SCI ? sci_costs(config) : myrinet_costs(config);
    san->done = done;
    san->ctx = ctx;
    san->missing = config->group - 1;
    make_schedule(san);
    make_messages(san);
    member_begins(san, san->schedule.root, when + us(san->costs.root));
    return san;
}

void ex_san_free(struct ex_san *san)
{
    ic_schedule_fini(&san->schedule);
    free(san->nodes);
    free(san->order);
    free(san->members);
    free(san->messages);
    free(san->link_free);
    free(san);
}

void ex_san_name(const struct ex_san_config *config, char *out, size_t size)
{
    static const char *const kinds[EX_SAN_KINDS] = {"SCI", "Myrinet host", "Myrinet NIC",
                                                    "Myrinet assisted"};
    snprintf(out, size, "%s %s", kinds[config->kind],
             config->kind == EX_SCI
                 ? ic_torus_algorithm_name((enum ic_torus_algorithm)config->algorithm)
                 : ic_star_algorithm_name((enum ic_star_algorithm)config->algorithm));
}
