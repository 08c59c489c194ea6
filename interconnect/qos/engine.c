/* SPDX-License-Identifier: BSD-2-Clause */
/* The flit engine of QoS routers.
 *
 * Each link out of a router knows which of its router's inputs want it (a bit per input, by class);
 * a bit stands from the arrival of a header at the head of its virtual channel until the tail has
 * left. Routers with such bits and nodes with messages to send are found by bitmaps, so what is
 * empty costs nothing. Room behind a link is judged by what was there when the cycle began, so the
 * order of routers within a cycle does not matter.
 */
#include "interconnect/qos/engine.h"

#include <math.h>
#include <stdlib.h>

#include "base/assert.h"

#define NONE UINT32_MAX
#define INDEX_BITS 24
#define MESSAGES_MAX (1u << INDEX_BITS)
#define CLASSES IC_QOS_CLASSES_MAX

/* A flit in a buffer: 40 bits of cycles and the message's index. */
struct flit {
    uint64_t ready_message;
    double stamp;
};

struct message {
    double created;
    uint64_t entered, number;
    uint32_t from, to;
    uint32_t next; /* in its source's queue, or free */
    uint32_t traffic_class;
};

struct vc {
    uint32_t head, count; /* flits in the ring */
    uint32_t sent;        /* of the message at its head */
    uint64_t popped;      /* cycle of the last departure, + 1 */
};

struct link {
    uint32_t wanted[CLASSES]; /* bits of inputs */
    uint32_t owner[CLASSES];  /* input, or NONE */
    uint32_t classes;         /* bits of classes that are wanted */
    double clock[CLASSES];    /* last stamps that flits got */
    uint32_t turn, credit;    /* round robin: class, flits that it may still send */
    double virtual_time;      /* fair queueing: last stamp that was served */
    uint64_t flits;
};

struct source {
    uint32_t first[CLASSES], last[CLASSES]; /* messages */
    uint32_t sent[CLASSES];                 /* flits of the first */
    uint32_t classes;                       /* bits of queues that are not empty */
    struct link link;
};

struct ic_qos_engine {
    uint32_t dimension, routers, ports, nodes, classes, stages, capacity;
    uint32_t flits_of[CLASSES], quantum[CLASSES];
    double tick[CLASSES]; /* 1/weight */
    enum ic_qos_scheduler scheduler;
    bool yields;
    uint64_t now, numbers, hops, waiting[CLASSES], there;
    struct vc *vcs; /* by router, input, class */
    struct flit *flits;
    struct link *links;     /* by router, output */
    uint32_t *busy;         /* bits of outputs, by router */
    uint64_t *busy_routers; /* bits */
    struct source *sources;
    uint64_t *busy_sources;
    struct message *messages;
    uint32_t message_room, message_count, free_message;
    uint32_t *delivered, delivered_count, delivered_next;
};

static void options_read(struct ic_qos_engine *e, const struct ic_qos_engine_options *options)
{
    const struct ic_qos *qos = options->qos;
    double least = INFINITY;
    e->dimension = (uint32_t)qos->dimension;
    e->routers = 1u << e->dimension;
    e->ports = e->dimension == 0 ? options->ports : e->dimension + 1;
    e->nodes = e->dimension == 0 ? e->ports : e->routers;
    e->classes = (uint32_t)qos->classes;
    e->stages = (uint32_t)qos->stages;
    e->capacity = (uint32_t)qos->buffer_flits;
    if (e->capacity < e->stages + 1)
        e->capacity = e->stages + 1;
    e->scheduler = options->scheduler;
    e->yields = options->ejection == IC_QOS_EJECTION_YIELD;
    e->free_message = NONE;
    for (uint32_t c = 0; c < e->classes; c++) {
        e->flits_of[c] = (uint32_t)qos->flits[c];
        e->tick[c] = 1 / (qos->rate[c] * (double)qos->flits[c]);
        least = fmin(least, 1 / e->tick[c]);
    }
    for (uint32_t c = 0; c < e->classes; c++)
        e->quantum[c] = (uint32_t)fmin(round(1 / e->tick[c] / least), 1e6);
}

static void link_init(struct link *link)
{
    for (uint32_t c = 0; c < CLASSES; c++)
        link->owner[c] = NONE;
}

gmc_status ic_qos_engine_new(const struct ic_qos_engine_options *options,
                             struct ic_qos_engine **engine)
{
    struct ic_qos_engine *e = calloc(1, sizeof(*e));
    if (e == NULL)
        return GMC_ERR_NOMEM;
    options_read(e, options);
    uint32_t links = e->routers * e->ports, vcs = links * e->classes;
    e->vcs = calloc(vcs, sizeof(*e->vcs));
    e->flits = calloc((size_t)vcs * e->capacity, sizeof(*e->flits));
    e->links = calloc(links, sizeof(*e->links));
    e->busy = calloc(e->routers, sizeof(*e->busy));
    e->busy_routers = calloc(e->routers / 64 + 1, sizeof(*e->busy_routers));
    e->sources = calloc(e->nodes, sizeof(*e->sources));
    e->busy_sources = calloc(e->nodes / 64 + 1, sizeof(*e->busy_sources));
    e->delivered = calloc(links, sizeof(*e->delivered));
    if (e->vcs == NULL || e->flits == NULL || e->links == NULL || e->busy == NULL ||
        e->busy_routers == NULL || e->sources == NULL || e->busy_sources == NULL ||
        e->delivered == NULL) {
        ic_qos_engine_free(e);
        return GMC_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < links; i++)
        link_init(&e->links[i]);
    *engine = e;
    return GMC_OK;
}

void ic_qos_engine_free(struct ic_qos_engine *e)
{
    if (e == NULL)
        return;
    free(e->vcs);
    free(e->flits);
    free(e->links);
    free(e->busy);
    free(e->busy_routers);
    free(e->sources);
    free(e->busy_sources);
    free(e->messages);
    free(e->delivered);
    free(e);
}

/* ---- messages ---- */

static gmc_status grow(struct ic_qos_engine *e)
{
    uint32_t room = e->message_room == 0 ? 256 : 2 * e->message_room;
    struct message *messages;
    if (e->message_room == MESSAGES_MAX)
        return GMC_ERR_FULL;
    messages = realloc(e->messages, room * sizeof(*messages));
    if (messages == NULL)
        return GMC_ERR_NOMEM;
    e->messages = messages;
    e->message_room = room;
    return GMC_OK;
}

static gmc_status message_new(struct ic_qos_engine *e, uint32_t *index)
{
    if (e->free_message != NONE) {
        *index = e->free_message;
        e->free_message = e->messages[*index].next;
        return GMC_OK;
    }
    gmc_status status = e->message_count == e->message_room ? grow(e) : GMC_OK;
    if (status == GMC_OK)
        *index = e->message_count++;
    return status;
}

gmc_status ic_qos_engine_send(struct ic_qos_engine *e, uint32_t traffic_class, uint32_t from,
                              uint32_t to, double created)
{
    struct source *source = &e->sources[from];
    uint32_t index, bit = 1u << traffic_class;
    gmc_status status = message_new(e, &index);
    if (status != GMC_OK)
        return status;
    GMC_ASSERT(from != to && from < e->nodes && to < e->nodes);
    e->messages[index] = (struct message){
        .created = created,
        .number = e->numbers++,
        .from = from,
        .to = to,
        .next = NONE,
        .traffic_class = traffic_class,
    };
    if ((source->classes & bit) == 0)
        source->first[traffic_class] = index;
    else
        e->messages[source->last[traffic_class]].next = index;
    source->last[traffic_class] = index;
    source->classes |= bit;
    e->busy_sources[from / 64] |= UINT64_C(1) << from % 64;
    e->waiting[traffic_class]++;
    e->there++;
    return GMC_OK;
}

/* ---- virtual channels ---- */

static inline uint32_t vc_index(const struct ic_qos_engine *e, uint32_t router, uint32_t input,
                                uint32_t c)
{
    return (router * e->ports + input) * e->classes + c;
}

static inline struct flit *vc_head(const struct ic_qos_engine *e, uint32_t vc)
{
    return &e->flits[(size_t)vc * e->capacity + e->vcs[vc].head];
}

static inline uint64_t flit_ready(const struct flit *flit)
{
    return flit->ready_message >> INDEX_BITS;
}

static inline uint32_t flit_message(const struct flit *flit)
{
    return (uint32_t)(flit->ready_message & (MESSAGES_MAX - 1));
}

/* When this cycle began. */
static inline bool vc_has_room(const struct ic_qos_engine *e, uint32_t vc)
{
    return e->vcs[vc].count + (e->vcs[vc].popped == e->now + 1) < e->capacity;
}

static inline uint32_t output_of(const struct ic_qos_engine *e, uint32_t router, uint32_t message)
{
    uint32_t to = e->messages[message].to, differ = router ^ to;
    if (e->dimension == 0)
        return to;
    return differ == 0 ? e->dimension : (uint32_t)__builtin_ctz(differ);
}

/* A header has come to the head of a virtual channel. */
static void want(struct ic_qos_engine *e, uint32_t router, uint32_t input, uint32_t c)
{
    uint32_t vc = vc_index(e, router, input, c);
    uint32_t output = output_of(e, router, flit_message(vc_head(e, vc)));
    struct link *link = &e->links[router * e->ports + output];
    link->wanted[c] |= 1u << input;
    link->classes |= 1u << c;
    e->busy[router] |= 1u << output;
    e->busy_routers[router / 64] |= UINT64_C(1) << router % 64;
}

/* The tail has left. */
static void want_no_more(struct ic_qos_engine *e, uint32_t router, uint32_t output, uint32_t input,
                         uint32_t c)
{
    struct link *link = &e->links[router * e->ports + output];
    link->owner[c] = NONE;
    link->wanted[c] &= ~(1u << input);
    if (link->wanted[c] != 0)
        return;
    link->classes &= ~(1u << c);
    if (link->classes == 0)
        e->busy[router] &= ~(1u << output);
    if (e->busy[router] == 0)
        e->busy_routers[router / 64] &= ~(UINT64_C(1) << router % 64);
}

/* Of a flit that comes to a link's scheduler now. */
static double next_stamp(const struct ic_qos_engine *e, const struct link *link, uint32_t c)
{
    double now = e->scheduler == IC_QOS_VIRTUAL_CLOCK ? (double)e->now : link->virtual_time;
    return fmax(now, link->clock[c]) + e->tick[c];
}

static void push(struct ic_qos_engine *e, uint32_t router, uint32_t input, uint32_t c,
                 uint32_t message, uint64_t ready, bool is_header)
{
    uint32_t index = vc_index(e, router, input, c);
    struct vc *vc = &e->vcs[index];
    uint32_t at = vc->head + vc->count;
    if (at >= e->capacity)
        at -= e->capacity;
    struct link *link = &e->links[router * e->ports + output_of(e, router, message)];
    double stamp = next_stamp(e, link, c);
    link->clock[c] = stamp;
    e->flits[(size_t)index * e->capacity + at] =
        (struct flit){ready << INDEX_BITS | message, stamp};
    vc->count++;
    if (is_header && vc->count == 1)
        want(e, router, input, c);
}

/* ---- scheduling ---- */

static uint32_t smallest(uint32_t classes, const double *stamps)
{
    uint32_t best = (uint32_t)__builtin_ctz(classes);
    for (uint32_t left = classes & (classes - 1); left != 0; left &= left - 1) {
        uint32_t c = (uint32_t)__builtin_ctz(left);
        if (stamps[c] < stamps[best])
            best = c;
    }
    return best;
}

/* The next class in turn, from the one that has it; each may send its quantum. */
static uint32_t in_turn(const struct ic_qos_engine *e, struct link *link, uint32_t classes)
{
    bool weighted = e->scheduler == IC_QOS_WEIGHTED_ROUND_ROBIN;
    while ((classes >> link->turn & 1) == 0 || link->credit == 0) {
        link->turn = (link->turn + 1) % e->classes;
        link->credit = weighted ? e->quantum[link->turn] : 1;
    }
    link->credit--;
    return link->turn;
}

/* Which of these classes (bits, at least one) sends a flit. */
static uint32_t schedule(const struct ic_qos_engine *e, struct link *link, uint32_t classes,
                         const double *stamps)
{
    uint32_t real_time = classes & ~(1u << (e->classes - 1)), best;
    switch (e->scheduler) {
    case IC_QOS_VIRTUAL_CLOCK:
        return smallest(real_time != 0 ? real_time : classes, stamps);
    case IC_QOS_FAIR_QUEUEING:
        best = smallest(classes, stamps);
        link->virtual_time = stamps[best];
        return best;
    default:
        return in_turn(e, link, classes);
    }
}

/* ---- into the network ---- */

static void inject(struct ic_qos_engine *e, uint32_t node)
{
    struct source *source = &e->sources[node];
    uint32_t router = e->dimension == 0 ? 0 : node, input = e->dimension == 0 ? node : e->dimension;
    uint32_t able = 0;
    double stamps[CLASSES] = {0};
    for (uint32_t left = source->classes; left != 0; left &= left - 1) {
        uint32_t c = (uint32_t)__builtin_ctz(left);
        if (!vc_has_room(e, vc_index(e, router, input, c)))
            continue;
        able |= 1u << c;
        stamps[c] = next_stamp(e, &source->link, c);
    }
    if (able == 0)
        return;
    uint32_t c = schedule(e, &source->link, able, stamps), index = source->first[c];
    bool is_header = source->sent[c] == 0;
    source->link.clock[c] = stamps[c];
    source->link.flits++;
    if (is_header) {
        e->messages[index].entered = e->now;
        e->waiting[c]--;
    }
    push(e, router, input, c, index, e->now + e->stages - 1, is_header);
    if (++source->sent[c] < e->flits_of[c])
        return;
    source->sent[c] = 0;
    source->first[c] = e->messages[index].next;
    if (source->first[c] != NONE)
        return;
    source->classes &= ~(1u << c);
    if (source->classes == 0)
        e->busy_sources[node / 64] &= ~(UINT64_C(1) << node % 64);
}

/* ---- through a router ---- */

/* The input whose flit has been ready for longest. */
static uint32_t oldest(const struct ic_qos_engine *e, const struct link *link, uint32_t router,
                       uint32_t c)
{
    uint64_t since = e->now + 1;
    uint32_t best = NONE;
    for (uint32_t left = link->wanted[c]; left != 0; left &= left - 1) {
        uint32_t input = (uint32_t)__builtin_ctz(left), vc = vc_index(e, router, input, c);
        uint64_t ready;
        if (e->vcs[vc].count == 0)
            continue;
        ready = flit_ready(vc_head(e, vc));
        if (ready < since) {
            since = ready;
            best = input;
        }
    }
    return best;
}

static bool is_ready(const struct ic_qos_engine *e, uint32_t vc)
{
    return e->vcs[vc].count > 0 && flit_ready(vc_head(e, vc)) <= e->now;
}

/* Whether a class of a link has a flit to send: *vc. */
static bool is_able(const struct ic_qos_engine *e, struct link *link, uint32_t router,
                    uint32_t output, uint32_t c, uint32_t *vc)
{
    bool ejects = e->dimension == 0 || output == e->dimension;
    uint32_t owner = link->owner[c];
    bool ready = owner != NONE && is_ready(e, vc_index(e, router, owner, c));
    if (owner == NONE || (!ready && ejects && e->yields)) {
        uint32_t other = oldest(e, link, router, c);
        if (other == NONE)
            return false;
        link->owner[c] = owner = other;
        ready = true;
    }
    *vc = vc_index(e, router, owner, c);
    return ready && (ejects || vc_has_room(e, vc_index(e, router ^ 1u << output, output, c)));
}

static void deliver(struct ic_qos_engine *e, uint32_t message)
{
    e->delivered[e->delivered_count++] = message;
    e->there--;
}

/* One flit of class c over an output. */
static void forward(struct ic_qos_engine *e, uint32_t router, uint32_t output, uint32_t c,
                    uint32_t index)
{
    struct link *link = &e->links[router * e->ports + output];
    struct vc *vc = &e->vcs[index];
    uint32_t input = link->owner[c], message = flit_message(vc_head(e, index));
    bool is_header = vc->sent == 0, is_tail = ++vc->sent == e->flits_of[c];
    vc->head = vc->head + 1 == e->capacity ? 0 : vc->head + 1;
    vc->count--;
    vc->popped = e->now + 1;
    link->flits++;
    e->hops++;
    if (e->dimension != 0 && output < e->dimension)
        push(e, router ^ 1u << output, output, c, message, e->now + e->stages, is_header);
    else if (is_tail)
        deliver(e, message);
    if (!is_tail)
        return;
    vc->sent = 0;
    want_no_more(e, router, output, input, c);
    if (vc->count > 0)
        want(e, router, input, c);
}

static void route(struct ic_qos_engine *e, uint32_t router)
{
    for (uint32_t outputs = e->busy[router]; outputs != 0; outputs &= outputs - 1) {
        uint32_t output = (uint32_t)__builtin_ctz(outputs), able = 0, vcs[CLASSES];
        struct link *link = &e->links[router * e->ports + output];
        double stamps[CLASSES];
        for (uint32_t left = link->classes; left != 0; left &= left - 1) {
            uint32_t c = (uint32_t)__builtin_ctz(left);
            if (!is_able(e, link, router, output, c, &vcs[c]))
                continue;
            able |= 1u << c;
            stamps[c] = vc_head(e, vcs[c])->stamp;
        }
        if (able == 0)
            continue;
        uint32_t c = schedule(e, link, able, stamps);
        forward(e, router, output, c, vcs[c]);
    }
}

/* ---- cycles ---- */

/* What was delivered in the last cycle is free now. */
static void forget(struct ic_qos_engine *e)
{
    for (uint32_t i = 0; i < e->delivered_count; i++) {
        e->messages[e->delivered[i]].next = e->free_message;
        e->free_message = e->delivered[i];
    }
    e->delivered_count = e->delivered_next = 0;
}

void ic_qos_engine_step(struct ic_qos_engine *e)
{
    forget(e);
    for (uint32_t word = 0; word <= e->nodes / 64; word++)
        for (uint64_t left = e->busy_sources[word]; left != 0; left &= left - 1)
            inject(e, word * 64 + (uint32_t)__builtin_ctzll(left));
    for (uint32_t word = 0; word <= e->routers / 64; word++)
        for (uint64_t left = e->busy_routers[word]; left != 0; left &= left - 1)
            route(e, word * 64 + (uint32_t)__builtin_ctzll(left));
    e->now++;
}

bool ic_qos_engine_next(struct ic_qos_engine *e, struct ic_qos_message *message)
{
    if (e->delivered_next == e->delivered_count)
        return false;
    const struct message *m = &e->messages[e->delivered[e->delivered_next++]];
    *message = (struct ic_qos_message){
        .number = m->number,
        .from = m->from,
        .to = m->to,
        .traffic_class = m->traffic_class,
        .hops = e->dimension == 0 ? 0 : (uint32_t)__builtin_popcount(m->from ^ m->to),
        .created = m->created,
        .entered = m->entered,
        .delivered = e->now,
    };
    return true;
}

bool ic_qos_engine_is_idle(const struct ic_qos_engine *e)
{
    return e->there == 0;
}

void ic_qos_engine_skip(struct ic_qos_engine *e, uint64_t now)
{
    GMC_ASSERT(e->there == 0 && now >= e->now);
    e->now = now;
}

uint64_t ic_qos_engine_now(const struct ic_qos_engine *e)
{
    return e->now;
}

uint32_t ic_qos_engine_nodes(const struct ic_qos_engine *e)
{
    return e->nodes;
}

uint64_t ic_qos_engine_waiting(const struct ic_qos_engine *e, uint32_t traffic_class)
{
    return e->waiting[traffic_class];
}

uint64_t ic_qos_engine_flit_hops(const struct ic_qos_engine *e)
{
    return e->hops;
}

uint32_t ic_qos_engine_links(const struct ic_qos_engine *e)
{
    return e->routers * e->ports + e->nodes;
}

void ic_qos_engine_link(const struct ic_qos_engine *e, uint32_t index,
                        struct ic_qos_link_record *record)
{
    uint32_t outputs = e->routers * e->ports;
    if (index >= outputs) {
        uint32_t node = index - outputs;
        *record = (struct ic_qos_link_record){node, node, "injection", e->sources[node].link.flits};
        return;
    }
    uint32_t router = index / e->ports, output = index % e->ports;
    bool ejects = e->dimension == 0 || output == e->dimension;
    record->from = e->dimension == 0 ? output : router;
    record->to = ejects ? record->from : router ^ 1u << output;
    record->what = ejects ? "ejection" : "link";
    record->flits = e->links[index].flits;
}

void ic_qos_engine_clear(struct ic_qos_engine *e)
{
    for (uint32_t i = 0; i < e->routers * e->ports; i++)
        e->links[i].flits = 0;
    for (uint32_t i = 0; i < e->nodes; i++)
        e->sources[i].link.flits = 0;
}
