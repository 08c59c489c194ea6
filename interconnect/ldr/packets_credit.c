/* SPDX-License-Identifier: BSD-2-Clause */
/* Buffers with a bound. A link's buffer at its end has a lane for every number of hops, each for so
 * many packets, and a packet is sent only when there is a place for it in the lane of one hop more;
 * so what waits, waits for lanes of more hops, and nothing waits for itself (hop-indexed virtual
 * channels: Merlin, Schweitzer, Deadlock Avoidance in Store-and-Forward Networks, IEEE Trans.
 * Communications 28(3), 1980). A place is free again when a packet's tail has left it, and that is
 * known at the link's beginning after the link's delay.
 *
 * When an output or a place gets free is known when a packet begins to leave. It is noted, and an
 * event of its own only where somebody waits for it: packets that meet nobody are one event per
 * link.
 *
 *   output  a packet asks for its output at once
 *   input   the first packet of a lane does; an input sends one packet at a time
 *
 * An output serves, of the packets that it has a place for, the one that asked first. Hosts' own
 * queues have no bound, and what arrives at a host is taken at once.
 */
#include <stdlib.h>

#include "interconnect/ldr/packets_internal.h"

#define LANES_MAX 67108864u

static uint32_t lane_of(const struct credits *credits, uint32_t channel, uint32_t hops)
{
    return channel * credits->classes + hops;
}

static bool is_input_buffered(const struct packets *sim)
{
    return sim->config->buffering == IC_INPUT_BUFFERED;
}

gmc_status ic_packets_credit_init(struct packets *sim, char *error)
{
    struct credits *credits = &sim->credits;
    if (sim->config->buffer_packets == 0)
        return GMC_OK;
    credits->classes = sim->config->routes->diameter + 1;
    credits->unused_due = NONE;
    uint64_t lanes = (uint64_t)sim->channel_count * credits->classes;
    if (lanes > LANES_MAX)
        return ic_refuse(error,
                         "%u links with %u virtual channels each, one per hop, are more than %u: "
                         "buffers of such a network cannot have a bound",
                         sim->channel_count, credits->classes, LANES_MAX);
    credits->lanes = calloc((size_t)lanes, sizeof(*credits->lanes));
    credits->outputs = calloc(sim->channel_count, sizeof(*credits->outputs));
    if (is_input_buffered(sim))
        credits->queues = calloc((size_t)lanes, sizeof(*credits->queues));
    if (credits->lanes == NULL || credits->outputs == NULL ||
        (is_input_buffered(sim) && credits->queues == NULL))
        return GMC_ERR_NOMEM;
    for (uint64_t i = 0; i < lanes; i++) {
        credits->lanes[i] = (struct lane){sim->config->buffer_packets, NONE, NONE};
        if (credits->queues != NULL)
            credits->queues[i] = (struct lane_queue){NONE, NONE, false};
    }
    for (uint32_t i = 0; i < sim->channel_count; i++)
        credits->outputs[i] =
            (struct credit_output){.due_first = NONE, .due_last = NONE, .served = NONE};
    return GMC_OK;
}

void ic_packets_credit_fini(struct packets *sim)
{
    free(sim->credits.lanes);
    free(sim->credits.queues);
    free(sim->credits.outputs);
    free(sim->credits.waiters);
    free(sim->credits.dues);
}

gmc_status ic_packets_credit_grow(struct packets *sim, uint32_t capacity)
{
    struct waiter *waiters =
        realloc(sim->credits.waiters, (size_t)capacity * sizeof(*sim->credits.waiters));
    if (waiters == NULL)
        return GMC_ERR_NOMEM;
    sim->credits.waiters = waiters;
    return GMC_OK;
}

/* ---- places that get free ---- */
static bool grow_dues(struct packets *sim)
{
    struct credits *credits = &sim->credits;
    uint32_t capacity = credits->due_capacity > 0 ? 2 * credits->due_capacity : 1024;
    struct due *dues = realloc(credits->dues, (size_t)capacity * sizeof(*dues));
    if (dues == NULL) {
        sim->status = GMC_ERR_NOMEM;
        sim->is_over = true;
        return false;
    }
    for (uint32_t i = credits->due_capacity; i < capacity; i++)
        dues[i].next = i + 1 < capacity ? i + 1 : NONE;
    credits->unused_due = credits->due_capacity;
    credits->dues = dues;
    credits->due_capacity = capacity;
    return true;
}

/* Places of an output that are known to be free by now. */
static void take_dues(struct packets *sim, struct credit_output *out)
{
    struct credits *credits = &sim->credits;
    while (out->due_first != NONE && credits->dues[out->due_first].when <= sim->now) {
        uint32_t first = out->due_first;
        struct due *due = &credits->dues[first];
        credits->lanes[due->lane].space++;
        out->due_first = due->next;
        due->next = credits->unused_due;
        credits->unused_due = first;
    }
}

/* Who waits for an output tries it again when the next place is free. */
static void await_place(struct packets *sim, uint32_t output)
{
    struct credit_output *out = &sim->credits.outputs[output];
    if (out->has_wake || out->due_first == NONE)
        return;
    out->has_wake = true;
    ic_calendar_push(&sim->calendar, sim->first_wake + output,
                     sim->credits.dues[out->due_first].when);
}

/* Until the event, where there is one: others of that instant may come before it. */
static bool is_taken(const struct packets *sim, uint32_t output)
{
    return sim->channels[output].free_at > sim->now || sim->credits.outputs[output].has_release;
}

/* A packet begins to leave its place. All places are free so long after that, so they are noted in
 * the order of time. */
static void return_place(struct packets *sim, uint32_t lane)
{
    struct credits *credits = &sim->credits;
    uint32_t output = lane / credits->classes;
    struct credit_output *out = &credits->outputs[output];
    if (credits->unused_due == NONE && !grow_dues(sim))
        return;
    uint32_t place = credits->unused_due;
    credits->unused_due = credits->dues[place].next;
    credits->dues[place] = (struct due){sim->now + sim->serial + sim->channel, lane, NONE};
    if (out->due_first == NONE)
        out->due_first = place;
    else
        credits->dues[out->due_last].next = place;
    out->due_last = place;
    if (out->waiting > 0 && !is_taken(sim, output))
        await_place(sim, output);
}

/* ---- outputs ---- */
/* Where a packet of so many hops goes behind an output; NONE: it has arrived. */
static uint32_t next_lane(const struct packets *sim, uint32_t output, uint32_t hops)
{
    if (output >= sim->first_ejection)
        return NONE;
    return lane_of(&sim->credits, output, output < sim->first_injection ? hops + 1 : 0);
}

static bool can_go(const struct packets *sim, uint32_t packet, uint32_t output)
{
    const struct credits *credits = &sim->credits;
    uint32_t next = next_lane(sim, output, sim->packets[packet].hops);
    uint32_t input = sim->packets[packet].input;
    return (next == NONE || credits->lanes[next].space > 0) &&
           (input == NONE || !credits->outputs[input].is_sending);
}

/* Who waits for an output tries it again when it is free; what its input has to be told then is
 * there in any case. */
static void await_output(struct packets *sim, uint32_t output)
{
    struct credit_output *out = &sim->credits.outputs[output];
    if (out->has_release)
        return;
    out->has_release = true;
    ic_calendar_push(&sim->calendar, sim->first_output + output, sim->channels[output].free_at);
}

/* A packet that can go, on an output that is free. */
static void go(struct packets *sim, uint32_t packet, uint32_t output)
{
    struct credits *credits = &sim->credits;
    struct credit_output *out = &credits->outputs[output];
    uint32_t hops = sim->packets[packet].hops, input = sim->packets[packet].input;
    uint32_t next = next_lane(sim, output, hops);
    if (next != NONE)
        credits->lanes[next].space--;
    ic_packets_reserve(sim, output, sim->now);
    out->served = input != NONE ? lane_of(credits, input, hops) : NONE;
    if (input != NONE)
        return_place(sim, out->served);
    if (input != NONE && is_input_buffered(sim)) {
        credits->outputs[input].is_sending = true;
        credits->queues[out->served].first = sim->packets[packet].next;
    }
    if (out->waiting > 0 || is_input_buffered(sim))
        await_output(sim, output);
    if (output >= sim->first_ejection) {
        ic_packets_deliver(sim, packet, sim->now);
        return;
    }
    if (output >= sim->first_injection)
        sim->packets[packet].entered = sim->now;
    ic_packets_send(sim, packet, output, sim->now);
}

/* The packet that asked first of those that can go, taken out of its line; NONE. */
static uint32_t take_first(struct packets *sim, uint32_t output)
{
    struct credits *credits = &sim->credits;
    uint32_t best = NONE;
    for (uint32_t class = 0; class < credits->classes; class ++) {
        uint32_t packet = credits->lanes[lane_of(credits, output, class)].asking;
        if (packet != NONE && can_go(sim, packet, output) &&
            (best == NONE || credits->waiters[packet].asked < credits->waiters[best].asked))
            best = packet;
    }
    if (best != NONE) {
        credits->lanes[lane_of(credits, output, sim->packets[best].hops)].asking =
            credits->waiters[best].behind;
        credits->outputs[output].waiting--;
    }
    return best;
}

/* For those that wait. */
static void try_output(struct packets *sim, uint32_t output)
{
    struct credit_output *out = &sim->credits.outputs[output];
    if (out->waiting == 0)
        return;
    if (is_taken(sim, output)) {
        await_output(sim, output);
        return;
    }
    take_dues(sim, out);
    uint32_t packet = take_first(sim, output);
    if (packet != NONE)
        go(sim, packet, output);
    else
        await_place(sim, output);
}

/* At once where nobody was before it, otherwise to the end of the line of its output; lines of
 * injection links have no hops. */
static void ask(struct packets *sim, uint32_t packet, uint32_t output)
{
    struct credits *credits = &sim->credits;
    struct credit_output *out = &credits->outputs[output];
    take_dues(sim, out);
    if (out->waiting == 0 && !is_taken(sim, output) && can_go(sim, packet, output)) {
        go(sim, packet, output);
        return;
    }
    struct lane *line = &credits->lanes[lane_of(credits, output, sim->packets[packet].hops)];
    credits->waiters[packet] =
        (struct waiter){.asked = credits->asked++, .behind = NONE, .output = output};
    if (line->asking == NONE)
        line->asking = packet;
    else
        credits->waiters[line->asking_last].behind = packet;
    line->asking_last = packet;
    out->waiting++;
    try_output(sim, output);
}

/* ---- events ---- */
void ic_packets_credit_arrive(struct packets *sim, uint32_t packet)
{
    struct packet *p = &sim->packets[packet];
    if (p->input == NONE) {
        ask(sim, packet, sim->first_injection + p->from);
        return;
    }
    if (!is_input_buffered(sim)) {
        ask(sim, packet, ic_packets_route(sim, p));
        return;
    }
    struct lane_queue *queue = &sim->credits.queues[lane_of(&sim->credits, p->input, p->hops)];
    p->next = NONE;
    if (queue->first == NONE)
        queue->first = packet;
    else
        sim->packets[queue->last].next = packet;
    queue->last = packet;
    if (!queue->is_going) {
        queue->is_going = true;
        ask(sim, packet, ic_packets_route(sim, p));
    }
}

/* The tail has left an input: the next packet of its lane asks, and what other lanes have may go to
 * outputs that are free. */
static void free_input(struct packets *sim, uint32_t lane)
{
    struct credits *credits = &sim->credits;
    uint32_t input = lane / credits->classes;
    struct lane_queue *queue = &credits->queues[lane];
    credits->outputs[input].is_sending = false;
    queue->is_going = queue->first != NONE;
    if (queue->is_going)
        ask(sim, queue->first, ic_packets_route(sim, &sim->packets[queue->first]));
    for (uint32_t class = 0; class < credits->classes && !credits->outputs[input].is_sending;
         class ++) {
        uint32_t first = credits->queues[lane_of(credits, input, class)].first;
        if (first != NONE)
            try_output(sim, credits->waiters[first].output);
    }
}

void ic_packets_credit_release(struct packets *sim, uint32_t output)
{
    struct credit_output *out = &sim->credits.outputs[output];
    uint32_t served = out->served;
    out->has_release = false;
    if (served != NONE && is_input_buffered(sim))
        free_input(sim, served);
    try_output(sim, output);
}

void ic_packets_credit_wake(struct packets *sim, uint32_t output)
{
    sim->credits.outputs[output].has_wake = false;
    try_output(sim, output);
}
