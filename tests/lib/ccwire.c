/* SPDX-License-Identifier: BSD-2-Clause */
/* A bottleneck in virtual time: see the header. */
#include "tests/lib/ccwire.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim-wan/traffic/law.h"

#define FLOWS_MAX 8
#define RING (1u << 20) /* packets between the oldest open one and the newest */

enum kind { SEND, ARRIVE, ACK_TIMER, ACK, TIMEOUT };

struct event {
    gmc_time at;
    uint64_t order;
    enum kind kind;
    int flow;
    uint64_t packet;     /* ARRIVE: number; ACK: largest; timers: generation */
    uint64_t arrival_ns; /* ACK */
    uint64_t log_end;    /* ACK: how much of the receiver's log it tells */
    uint64_t ce;         /* ACK: how many marks have come; ARRIVE: whether it is marked */
};

enum fate { FREE, OPEN, LOST };

struct packet {
    gmc_time sent;
    enum fate fate;
    bool limited;
};

struct flow {
    struct ccwire_flow want;
    void *state;
    struct gmc_prng prng;
    /* sender */
    struct packet *packets; /* ring by number */
    uint64_t next, first_open, inflight, largest_acked, log_read, ce_read;
    uint64_t sent, delivered, dropped, spurious;
    gmc_time pace_at, supply_at, host_at, burst_at, late_at;
    uint64_t supply_packets;
    bool waiting, limited, any_acked;
    uint64_t wake_generation;
    gmc_duration srtt;
    uint32_t timeouts;
    gmc_time timeout_at;
    bool timer_armed;
    gmc_time done;
    /* receiver */
    uint64_t *log; /* ring of numbers as they arrived */
    uint64_t log_end, acked_end, largest_got, largest_arrival, ce;
    uint64_t ack_generation;
    gmc_time last_arrival;
    gmc_time stall_at, stalled_until;
    uint64_t waiting_packets; /* in the socket, while the receiver is stalled */
};

struct ccwire {
    struct ccwire_path path;
    struct gmc_prng prng;
    gmc_time now, busy_until;
    struct event *heap;
    size_t count, capacity;
    uint64_t order;
    struct flow flows[FLOWS_MAX];
    int flow_count;
    uint64_t queue_sum, queue_samples;
};

/* ------------------------------------------------------------------ events */

static bool before(const struct event *a, const struct event *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void push(struct ccwire *w, struct event event)
{
    size_t i = w->count++;

    if (w->count > w->capacity) {
        w->capacity = w->capacity * 2 + 1024;
        w->heap = realloc(w->heap, w->capacity * sizeof *w->heap);
        assert(w->heap != NULL);
    }
    event.order = w->order++;
    while (i > 0 && before(&event, &w->heap[(i - 1) / 2])) {
        w->heap[i] = w->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    w->heap[i] = event;
}

static struct event pop(struct ccwire *w)
{
    struct event top = w->heap[0], last = w->heap[--w->count];
    size_t i = 0;

    for (;;) {
        size_t child = 2 * i + 1;

        if (child >= w->count)
            break;
        if (child + 1 < w->count && before(&w->heap[child + 1], &w->heap[child]))
            child++;
        if (!before(&w->heap[child], &last))
            break;
        w->heap[i] = w->heap[child];
        i = child;
    }
    w->heap[i] = last;
    return top;
}

/* ------------------------------------------------------------------ the path */

static gmc_duration jitter(struct ccwire *w)
{
    return w->path.jitter == 0 ? 0 : gmc_prng_below(&w->prng, w->path.jitter + 1);
}

static void transmit(struct ccwire *w, int id, uint64_t packet)
{
    struct flow *f = &w->flows[id];
    gmc_duration wait = gmc_time_sub(w->busy_until, w->now);
    uint64_t queued = wait / 1000 * (w->path.rate_bps / 1000) / 8000;
    gmc_time at;

    w->queue_sum += wait;
    w->queue_samples++;
    f->sent++;
    if (queued + f->want.packet_bytes > w->path.queue_bytes) {
        f->dropped++;
        return;
    }
    w->busy_until = gmc_time_max(w->busy_until, w->now) +
                    gmc_duration_of_bytes(f->want.packet_bytes, w->path.rate_bps);
    if (gmc_prng_chance_ppm(&w->prng, w->path.loss_ppm))
        return;
    at = w->busy_until + w->path.delay + f->want.extra_delay + jitter(w);
    if (!w->path.reorder)
        at = gmc_time_max(at, f->last_arrival);
    f->last_arrival = at;
    push(w, (struct event){.at = at,
                           .kind = ARRIVE,
                           .flow = id,
                           .packet = packet,
                           .ce = f->want.ops->takes_ecn && w->path.mark_bytes > 0 &&
                                 queued > w->path.mark_bytes});
}

/* ------------------------------------------------------------------ receiver */

static void send_ack(struct ccwire *w, int id)
{
    struct flow *f = &w->flows[id];

    f->acked_end = f->log_end;
    f->ack_generation++;
    if (gmc_prng_chance_ppm(&w->prng, w->path.loss_ppm))
        return;
    push(w, (struct event){.at = w->now + w->path.delay + f->want.extra_delay + jitter(w),
                           .kind = ACK,
                           .flow = id,
                           .packet = f->largest_got,
                           .arrival_ns = f->largest_arrival,
                           .log_end = f->log_end,
                           .ce = f->ce});
}

static uint64_t receiver_clock(const struct ccwire *w)
{
    int64_t drift = (int64_t)(w->now / 1000) * w->path.drift_ppm / 1000;

    return (uint64_t)((int64_t)w->now + drift) + UINT64_C(77777777777);
}

/* The receiving host does something else: the packet waits in the socket, or finds it full. */
static bool is_stalled(struct ccwire *w, int id, uint64_t packet)
{
    struct flow *f = &w->flows[id];

    if (w->path.stall == 0)
        return false;
    while (w->now >= f->stall_at) {
        f->stalled_until = f->stall_at + gmc_prng_below(&w->prng, w->path.stall);
        f->stall_at = f->stalled_until + 1 + gmc_prng_below(&w->prng, 2 * w->path.stall_every);
        f->waiting_packets = 0;
    }
    if (w->now >= f->stalled_until)
        return false;
    if (++f->waiting_packets * f->want.packet_bytes > w->path.socket_bytes)
        f->dropped++;
    else
        push(w,
             (struct event){.at = f->stalled_until, .kind = ARRIVE, .flow = id, .packet = packet});
    return true;
}

static void on_arrive(struct ccwire *w, int id, uint64_t packet, uint64_t ce)
{
    struct flow *f = &w->flows[id];

    if (is_stalled(w, id, packet))
        return;
    f->ce += ce;
    f->log[f->log_end++ % RING] = packet;
    if (f->log_end == 1 || packet > f->largest_got) {
        f->largest_got = packet;
        f->largest_arrival = receiver_clock(w);
    }
    if (++f->delivered == f->want.packets)
        f->done = w->now;
    if (f->log_end - f->acked_end >= f->want.ack_every)
        send_ack(w, id);
    else if (f->log_end - f->acked_end == 1)
        push(w, (struct event){.at = w->now + f->want.ack_delay,
                               .kind = ACK_TIMER,
                               .flow = id,
                               .packet = f->ack_generation});
}

/* ------------------------------------------------------------------ sender */

static uint64_t inflight_bytes(const struct flow *f)
{
    return f->inflight * f->want.packet_bytes;
}

static void arm_timeout(struct ccwire *w, int id)
{
    struct flow *f = &w->flows[id];
    gmc_duration wait = 3 * f->srtt + GMC_MS(20);

    f->timeout_at = w->now + (wait << (f->timeouts > 6 ? 6 : f->timeouts));
    if (!f->timer_armed)
        push(w, (struct event){.at = f->timeout_at, .kind = TIMEOUT, .flow = id});
    f->timer_armed = true;
}

static bool supplied(struct ccwire *w, struct flow *f)
{
    if (f->want.supply_bps == 0)
        return true;
    while (f->supply_at <= w->now && f->supply_packets < 1000) {
        f->supply_packets++;
        f->supply_at += gmc_duration_of_bytes(f->want.packet_bytes, f->want.supply_bps);
    }
    return f->supply_packets > 0;
}

static void wake(struct ccwire *w, int id, gmc_time at)
{
    struct flow *f = &w->flows[id];

    if (f->waiting)
        return;
    f->waiting = true;
    push(w, (struct event){.at = at, .kind = SEND, .flow = id, .packet = f->wake_generation});
}

static void send_one(struct ccwire *w, int id)
{
    struct flow *f = &w->flows[id];
    struct packet *p = &f->packets[f->next % RING];

    assert(f->next - f->first_open < RING - 1);
    *p = (struct packet){.sent = w->now, .fate = OPEN, .limited = f->limited};
    f->want.ops->on_sent(f->state, w->now, f->next, f->want.packet_bytes, f->limited);
    f->limited = false;
    f->inflight++;
    if (f->want.supply_bps != 0)
        f->supply_packets--;
    if (f->inflight == 1 || !f->timer_armed)
        arm_timeout(w, id);
    transmit(w, id, f->next++);
}

/* Linux: tcp_tso_autosize and tcp_tso_should_defer. */
static void send_bursts(struct ccwire *w, int id)
{
    struct flow *f = &w->flows[id];
    const struct gmc_cc_ops *ops = f->want.ops;
    uint64_t bytes = f->want.packet_bytes;

    for (;;) {
        uint64_t rate = ops->rate_bps(f->state);
        uint64_t window = ops->window_bytes(f->state) / bytes;
        uint64_t room = window > f->inflight ? window - f->inflight : 0;
        uint64_t goal = rate / 8 / 1024 / bytes;

        goal = goal < 2 ? 2 : goal > 43 ? 43 : goal;
        if (room == 0)
            return;
        if (!f->want.unpaced && f->pace_at > w->now) {
            wake(w, id, f->pace_at);
            return;
        }
        if (room < goal && room < window / 3 && f->inflight > 0 &&
            w->now < f->burst_at + GMC_MS(1)) {
            wake(w, id, f->burst_at + GMC_MS(1));
            return;
        }
        f->burst_at = w->now;
        for (uint64_t i = 0; i < goal && i < room; i++) {
            send_one(w, id);
            f->pace_at =
                gmc_time_max(f->pace_at, i == 0 ? w->now : 0) + gmc_duration_of_bytes(bytes, rate);
        }
    }
}

/* What may be sent late: 1 ms, and by a host that is late what the law allows. */
static gmc_duration credit(const struct flow *f)
{
    gmc_duration slack = f->want.late > 0 ? f->want.ops->slack(f->state) : 0;
    return slack > GMC_MS(1) ? slack : GMC_MS(1);
}

/* Sends what pace, window, supply and host let go now. */
static void try_send(struct ccwire *w, int id)
{
    struct flow *f = &w->flows[id];
    gmc_duration tick = f->want.tick;

    if (w->now < f->want.start || f->done != GMC_TIME_NEVER)
        return;
    if (f->want.bursts) {
        if (f->waiting && f->want.unpaced) {
            f->waiting = false; /* an acknowledgement may make enough room before the wake-up */
            f->wake_generation++;
        }
        if (!f->waiting)
            send_bursts(w, id);
        return;
    }
    if (f->waiting)
        return;
    if (f->want.late > 0 && w->now >= f->late_at + f->want.late_every) {
        f->late_at = w->now;
        wake(w, id, w->now + f->want.late);
        return;
    }
    if (w->now > credit(f) && f->pace_at < w->now - credit(f))
        f->pace_at = w->now - credit(f);
    while (inflight_bytes(f) + f->want.packet_bytes <= f->want.ops->window_bytes(f->state)) {
        if (f->pace_at > w->now) {
            wake(w, id, gmc_time_max(f->pace_at, w->now + tick));
            return;
        }
        if (f->host_at > w->now) {
            wake(w, id, f->host_at);
            return;
        }
        if (!supplied(w, f)) {
            f->limited = true;
            wake(w, id, gmc_time_max(f->supply_at, w->now + tick));
            return;
        }
        send_one(w, id);
        f->pace_at += gmc_duration_of_bytes(f->want.packet_bytes, f->want.ops->rate_bps(f->state));
        if (f->want.sender_bps != 0)
            f->host_at = gmc_time_max(f->host_at, w->now) +
                         gmc_duration_of_bytes(f->want.packet_bytes, f->want.sender_bps);
    }
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static void ack_packet(struct ccwire *w, struct flow *f, uint64_t number)
{
    struct packet *p = &f->packets[number % RING];

    if (number < f->first_open && p->fate != LOST)
        return;
    if (p->fate == OPEN) {
        f->inflight--;
        f->want.ops->on_acked(f->state, w->now, number, f->want.packet_bytes, p->sent);
    } else if (p->fate == LOST) {
        f->spurious++;
        f->want.ops->on_spurious(f->state, w->now, number, f->want.packet_bytes);
    }
    p->fate = FREE;
}

static void lose_packet(struct ccwire *w, struct flow *f, uint64_t number)
{
    struct packet *p = &f->packets[number % RING];

    if (p->fate != OPEN)
        return;
    p->fate = LOST;
    f->inflight--;
    f->want.ops->on_lost(f->state, w->now, number, f->want.packet_bytes, p->sent);
}

/* Three packets behind the largest: lost. */
static void detect_losses(struct ccwire *w, struct flow *f)
{
    while (f->first_open + 3 <= f->largest_acked)
        lose_packet(w, f, f->first_open++);
}

static void on_ack(struct ccwire *w, int id, const struct event *event)
{
    struct flow *f = &w->flows[id];
    struct packet *largest = &f->packets[event->packet % RING];
    static uint64_t batch[RING];
    size_t count = 0;
    bool news = !f->any_acked || event->packet > f->largest_acked;
    struct gmc_cc_ack ack = {.now = w->now,
                             .largest = event->packet,
                             .largest_sent = largest->sent,
                             .largest_arrival_ns = event->arrival_ns,
                             .app_limited = largest->limited};

    if (event->log_end <= f->log_read)
        return;
    while (f->log_read < event->log_end)
        batch[count++] = f->log[f->log_read++ % RING];
    qsort(batch, count, sizeof batch[0], by_number);
    for (size_t i = 0; i < count; i++)
        ack_packet(w, f, batch[i]);
    if (news)
        f->largest_acked = event->packet;
    f->any_acked = true;
    detect_losses(w, f);
    if (news) {
        /* The acknowledgement left when its last packet came or up to ack_delay later; the path
         * back is as long as the path there. */
        gmc_duration held = w->now - w->path.delay - f->want.extra_delay;
        int64_t arrival = (int64_t)event->arrival_ns - (int64_t)UINT64_C(77777777777);

        arrival -= (int64_t)(w->now / 1000) * w->path.drift_ppm / 1000;
        held = (int64_t)held > arrival ? (gmc_duration)((int64_t)held - arrival) : 0;
        if (held > f->want.ack_delay)
            held = f->want.ack_delay;
        ack.rtt = w->now - largest->sent - held;
        f->srtt = f->srtt == 0 ? ack.rtt : f->srtt - f->srtt / 8 + ack.rtt / 8;
        ack.inflight_bytes = inflight_bytes(f);
        ack.ce = (uint32_t)(event->ce - f->ce_read);
        f->ce_read = event->ce;
        f->want.ops->on_ack(f->state, &ack);
    }
    f->timeouts = 0;
    arm_timeout(w, id);
    try_send(w, id);
}

static void on_timeout(struct ccwire *w, int id)
{
    struct flow *f = &w->flows[id];

    f->timer_armed = false;
    if (f->inflight == 0)
        return;
    if (w->now < f->timeout_at) {
        push(w, (struct event){.at = f->timeout_at, .kind = TIMEOUT, .flow = id});
        f->timer_armed = true;
        return;
    }
    f->want.ops->on_timeout(f->state, w->now, ++f->timeouts);
    while (f->first_open < f->next)
        lose_packet(w, f, f->first_open++);
    arm_timeout(w, id);
    try_send(w, id);
}

/* ------------------------------------------------------------------ the engine */

struct ccwire *ccwire_new(const struct ccwire_path *path, uint64_t seed)
{
    struct ccwire *w = calloc(1, sizeof *w);

    assert(w != NULL);
    w->path = *path;
    gmc_prng_init(&w->prng, seed);
    return w;
}

void ccwire_free(struct ccwire *w)
{
    for (int i = 0; i < w->flow_count; i++) {
        free(w->flows[i].state);
        free(w->flows[i].packets);
        free(w->flows[i].log);
    }
    free(w->heap);
    free(w);
}

int ccwire_add(struct ccwire *w, const struct ccwire_flow *flow)
{
    int id = w->flow_count++;
    struct flow *f = &w->flows[id];
    struct gmc_cc_params params = {.packet_bytes = 1500};

    assert(id < FLOWS_MAX);
    f->want = *flow;
    if (f->want.packet_bytes == 0)
        f->want.packet_bytes = 1500;
    if (f->want.ack_every == 0)
        f->want.ack_every = 32;
    if (f->want.ack_delay == 0)
        f->want.ack_delay = GMC_MS(4);
    if (f->want.tick == 0)
        f->want.tick = GMC_US(250);
    params.packet_bytes = f->want.told_bytes != 0 ? f->want.told_bytes : f->want.packet_bytes;
    params.initial_rtt = 2 * (w->path.delay + f->want.extra_delay) + jitter(w);
    params.fixed_rate_bps = w->path.rate_bps;
    f->srtt = params.initial_rtt;
    f->state = calloc(1, flow->ops->state_size);
    f->packets = calloc(RING, sizeof *f->packets);
    f->log = calloc(RING, sizeof *f->log);
    assert(f->state != NULL && f->packets != NULL && f->log != NULL);
    gmc_prng_fork_nth(&w->prng, "flow", (uint64_t)id, &f->prng);
    flow->ops->init(f->state, &params, &f->prng, flow->start);
    if (flow->expect_bps > 0)
        flow->ops->expect(f->state, flow->start, flow->expect_bps);
    f->done = GMC_TIME_NEVER;
    f->supply_at = flow->start;
    wake(w, id, flow->start);
    return id;
}

int ccwire_add_tcp(struct ccwire *w, const struct gmc_cc_ops *ops, gmc_time start)
{
    return ccwire_add(w, &(struct ccwire_flow){.ops = ops,
                                               .start = start,
                                               .ack_every = 2,
                                               .tick = 1,
                                               .bursts = true,
                                               .unpaced = ops == &sim_law_cubic});
}

static void step(struct ccwire *w)
{
    struct event event = pop(w);
    struct flow *f = &w->flows[event.flow];

    w->now = event.at;
    switch (event.kind) {
    case SEND:
        if (event.packet != f->wake_generation)
            break; /* the supply has changed since */
        f->waiting = false;
        try_send(w, event.flow);
        break;
    case ARRIVE:
        on_arrive(w, event.flow, event.packet, event.ce);
        break;
    case ACK_TIMER:
        if (event.packet == f->ack_generation && f->log_end > f->acked_end)
            send_ack(w, event.flow);
        break;
    case ACK:
        on_ack(w, event.flow, &event);
        break;
    case TIMEOUT:
        on_timeout(w, event.flow);
        break;
    }
}

void ccwire_run_until(struct ccwire *w, gmc_time until)
{
    while (w->count > 0 && w->heap[0].at <= until)
        step(w);
    w->now = until;
}

gmc_time ccwire_run_flow(struct ccwire *w, int flow, gmc_time until)
{
    while (w->count > 0 && w->heap[0].at <= until && w->flows[flow].done == GMC_TIME_NEVER)
        step(w);
    return w->flows[flow].done;
}

void ccwire_set_path(struct ccwire *w, const struct ccwire_path *path)
{
    gmc_duration wait = gmc_time_sub(w->busy_until, w->now);

    if (wait > 0 && path->rate_bps != w->path.rate_bps)
        w->busy_until =
            w->now + wait / 1000 * (w->path.rate_bps / 1000) / (path->rate_bps / 1000) * 1000;
    w->path = *path;
}

void ccwire_expect(struct ccwire *w, int flow, uint64_t rate_bps)
{
    w->flows[flow].want.ops->expect(w->flows[flow].state, w->now, rate_bps);
}

void ccwire_set_supply(struct ccwire *w, int flow, uint64_t supply_bps)
{
    struct flow *f = &w->flows[flow];

    f->want.supply_bps = supply_bps;
    f->supply_packets = 0;
    f->supply_at = w->now;
    f->waiting = false;
    f->wake_generation++;
    try_send(w, flow);
}

void ccwire_stats(const struct ccwire *w, int flow, struct ccwire_stats *stats)
{
    const struct flow *f = &w->flows[flow];

    *stats =
        (struct ccwire_stats){.sent = f->sent,
                              .delivered = f->delivered,
                              .dropped = f->dropped,
                              .marked = f->ce,
                              .spurious = f->spurious,
                              .rate_bps = f->want.ops->rate_bps(f->state),
                              .loss_ppm = f->want.ops->loss_ppm(f->state),
                              .slack =
                                  f->want.ops->slack == NULL ? 0 : f->want.ops->slack(f->state),
                              .done = f->done};
}

gmc_time ccwire_now(const struct ccwire *w)
{
    return w->now;
}

gmc_duration ccwire_mean_queue(struct ccwire *w)
{
    gmc_duration mean = w->queue_samples == 0 ? 0 : w->queue_sum / w->queue_samples;

    w->queue_sum = w->queue_samples = 0;
    return mean;
}
