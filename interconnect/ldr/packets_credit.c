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
#define CLASSES_APART 63u /* that have a bit of their own */

static uint32_t lane_of(const struct credits *credits, uint32_t channel, uint32_t hops)
{
    return channel * credits->classes + hops;
}

static uint64_t bit_of(uint32_t class)
{
    return (uint64_t)1 << (class < CLASSES_APART ? class : CLASSES_APART);
}

/* The first number of hops from one on that bits have; `classes`: none. */
static uint32_t next_class(const struct credits *credits, uint64_t bits, uint32_t class)
{
    if (class > CLASSES_APART)
        return (bits & bit_of(class)) != 0 ? class : credits->classes;
    bits >>= class;
    return bits != 0 ? class + (uint32_t)__builtin_ctzll(bits) : credits->classes;
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
    credits->releasing = NONE;
    uint64_t lanes = (uint64_t)sim->channel_count * credits->classes;
    if (lanes > LANES_MAX)
        return ic_refuse(error,
                         "%u links with %u virtual channels each, one per hop, are more than %u: "
                         "buffers of such a network cannot have a bound",
                         sim->channel_count, credits->classes, LANES_MAX);
    credits->space = malloc((size_t)lanes * sizeof(*credits->space));
    credits->lanes = malloc((size_t)lanes * sizeof(*credits->lanes));
    credits->outputs = calloc(sim->channel_count, sizeof(*credits->outputs));
    if (is_input_buffered(sim))
        credits->queues = calloc((size_t)lanes, sizeof(*credits->queues));
    if (credits->space == NULL || credits->lanes == NULL || credits->outputs == NULL ||
        (is_input_buffered(sim) && credits->queues == NULL))
        return GMC_ERR_NOMEM;
    for (uint64_t i = 0; i < lanes; i++) {
        credits->space[i] = (uint16_t)sim->config->buffer_packets;
        credits->lanes[i] = (struct lane){NONE, NONE};
        if (credits->queues != NULL)
            credits->queues[i] = (struct lane_queue){NONE, NONE, false};
    }
    for (uint32_t i = 0; i < sim->channel_count; i++)
        credits->outputs[i] = (struct credit_output){.served = NONE, .sending = NONE};
    return GMC_OK;
}

void ic_packets_credit_fini(struct packets *sim)
{
    free(sim->credits.space);
    free(sim->credits.lanes);
    free(sim->credits.queues);
    free(sim->credits.outputs);
    free(sim->credits.dues);
}

/* ---- places that get free ---- */
/* All places are free so long after a packet began to leave them, so one ring has them in the order
 * of time. Those of an output are linked in it, for who waits there. */
static bool grow_dues(struct packets *sim)
{
    struct credits *credits = &sim->credits;
    uint32_t old = credits->due_capacity, capacity = old > 0 ? 2 * old : 1024;
    struct due *dues = malloc((size_t)capacity * sizeof(*dues));
    if (dues == NULL) {
        sim->status = GMC_ERR_NOMEM;
        sim->is_over = true;
        return false;
    }
    for (uint32_t i = credits->due_first; i != credits->due_end; i++)
        dues[i & (capacity - 1)] = credits->dues[i & (old - 1)];
    free(credits->dues);
    credits->dues = dues;
    credits->due_capacity = capacity;
    return true;
}

static struct due *due_at(const struct credits *credits, uint32_t number)
{
    return &credits->dues[number & (credits->due_capacity - 1)];
}

void ic_packets_credit_advance(struct packets *sim)
{
    struct credits *credits = &sim->credits;
    for (; credits->due_first != credits->due_end; credits->due_first++) {
        const struct due *due = due_at(credits, credits->due_first);
        if (due->when > sim->now)
            return;
        struct credit_output *out = &credits->outputs[due->output];
        credits->space[due->lane]++;
        out->due_first = due->next;
        out->dues--;
    }
}

/* Who waits for an output tries it again when the next place is free. */
static void await_place(struct packets *sim, uint32_t output)
{
    struct credit_output *out = &sim->credits.outputs[output];
    if (out->has_wake || out->dues == 0)
        return;
    out->has_wake = true;
    ic_calendar_push(&sim->calendar, sim->first_wake + output,
                     due_at(&sim->credits, out->due_first)->when);
}

/* Until the event that it is free, where there is one: others of that instant may come before it.
 * Switches with input buffers have one after each packet, also when it was not worth noting: it is
 * still to come when one of a lower number is being dealt with. */
static bool is_taken(const struct packets *sim, uint32_t output)
{
    const struct credits *credits = &sim->credits;
    uint64_t free_at = sim->channels[output].free_at;
    return free_at > sim->now || credits->outputs[output].has_release ||
           (free_at == sim->now && output > credits->releasing);
}

/* A packet begins to leave its place. */
static void return_place(struct packets *sim, uint32_t output, uint32_t lane)
{
    struct credits *credits = &sim->credits;
    struct credit_output *out = &credits->outputs[output];
    if (credits->due_end - credits->due_first == credits->due_capacity && !grow_dues(sim))
        return;
    uint32_t place = credits->due_end++;
    *due_at(credits, place) =
        (struct due){.when = sim->now + sim->serial + sim->channel, .lane = lane, .output = output};
    if (out->dues++ == 0)
        out->due_first = place;
    else
        due_at(credits, out->due_last)->next = place;
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
    return (next == NONE || credits->space[next] > 0) &&
           (input == NONE || credits->outputs[input].sending == NONE);
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
        credits->space[next]--;
    ic_packets_reserve(sim, output, sim->now);
    out->served = input;
    if (input != NONE) {
        out->served_lane = lane_of(credits, input, hops);
        return_place(sim, input, out->served_lane);
    }
    if (input != NONE && is_input_buffered(sim)) {
        struct credit_output *in = &credits->outputs[input];
        uint32_t behind = sim->packets[packet].next;
        in->sending = output;
        in->sending_lane = out->served_lane;
        in->sending_until = sim->channels[output].free_at;
        credits->queues[out->served_lane].first = behind;
        if (behind == NONE && hops < CLASSES_APART)
            in->queues &= ~bit_of(hops);
        if (in->queues != 0)
            await_output(sim, output);
    }
    if (out->waiting > 0)
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
    struct credit_output *out = &credits->outputs[output];
    uint64_t first = UINT64_MAX;
    uint32_t best = NONE;
    for (uint32_t class = next_class(credits, out->lines, 0); class < credits->classes;
         class = next_class(credits, out->lines, class + 1)) {
        uint32_t packet = credits->lanes[lane_of(credits, output, class)].asking;
        if (packet != NONE && sim->packets[packet].asked < first && can_go(sim, packet, output)) {
            first = sim->packets[packet].asked;
            best = packet;
        }
    }
    if (best != NONE) {
        const struct packet *p = &sim->packets[best];
        credits->lanes[lane_of(credits, output, p->hops)].asking = p->behind;
        if (p->behind == NONE && p->hops < CLASSES_APART)
            out->lines &= ~bit_of(p->hops);
        out->waiting--;
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
    if (out->waiting == 0 && !is_taken(sim, output) && can_go(sim, packet, output)) {
        go(sim, packet, output);
        return;
    }
    struct packet *p = &sim->packets[packet];
    struct lane *line = &credits->lanes[lane_of(credits, output, p->hops)];
    p->asked = credits->asked++;
    p->behind = NONE;
    p->output = output;
    if (line->asking == NONE)
        line->asking = packet;
    else
        sim->packets[line->asking_last].behind = packet;
    out->lines |= bit_of(p->hops);
    line->asking_last = packet;
    out->waiting++;
    try_output(sim, output);
}

/* ---- events ---- */
/* It may have ended without an event; not at the instant at which one is still to come. */
static bool is_sending(struct packets *sim, uint32_t input)
{
    struct credit_output *in = &sim->credits.outputs[input];
    if (in->sending == NONE)
        return false;
    const struct credit_output *out = &sim->credits.outputs[in->sending];
    if (in->sending_until > sim->now || (out->has_release && out->served == input))
        return true;
    in->sending = NONE;
    sim->credits.queues[in->sending_lane].is_going = false;
    return false;
}

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
    if (is_sending(sim, p->input))
        await_output(sim, sim->credits.outputs[p->input].sending);
    p->next = NONE;
    if (queue->first == NONE)
        queue->first = packet;
    else
        sim->packets[queue->last].next = packet;
    queue->last = packet;
    sim->credits.outputs[p->input].queues |= bit_of(p->hops);
    if (!queue->is_going) {
        queue->is_going = true;
        ask(sim, packet, ic_packets_route(sim, p));
    }
}

/* The tail has left an input: the next packet of its lane asks, and what other lanes have may go to
 * outputs that are free. */
static void free_input(struct packets *sim, uint32_t input, uint32_t lane)
{
    struct credits *credits = &sim->credits;
    struct credit_output *in = &credits->outputs[input];
    struct lane_queue *queue = &credits->queues[lane];
    in->sending = NONE;
    queue->is_going = queue->first != NONE;
    if (queue->is_going)
        ask(sim, queue->first, ic_packets_route(sim, &sim->packets[queue->first]));
    for (uint32_t class = next_class(credits, in->queues, 0);
         class < credits->classes && in->sending == NONE;
         class = next_class(credits, in->queues, class + 1)) {
        uint32_t first = credits->queues[lane_of(credits, input, class)].first;
        if (first != NONE)
            try_output(sim, sim->packets[first].output);
    }
}

void ic_packets_credit_release(struct packets *sim, uint32_t output)
{
    struct credit_output *out = &sim->credits.outputs[output];
    out->has_release = false;
    if (is_input_buffered(sim)) {
        sim->credits.releasing = output;
        if (out->served != NONE)
            free_input(sim, out->served, out->served_lane);
    }
    try_output(sim, output);
    sim->credits.releasing = NONE;
}

void ic_packets_credit_wake(struct packets *sim, uint32_t output)
{
    sim->credits.outputs[output].has_wake = false;
    try_output(sim, output);
}
