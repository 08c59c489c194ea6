/* SPDX-License-Identifier: BSD-2-Clause */
/* Buffers with a bound. A link's buffer at its end has a lane for every number of hops, each for so
 * many packets, and a packet is sent only when there is a place for it in the lane of one hop more;
 * so what waits, waits for lanes of more hops, and nothing waits for itself (hop-indexed virtual
 * channels: Merlin, Schweitzer, Deadlock Avoidance in Store-and-Forward Networks, IEEE Trans.
 * Communications 28(3), 1980). A place is free again when a packet's tail has left it, and that is
 * known at the link's beginning after the link's delay.
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
    uint64_t lanes = (uint64_t)sim->channel_count * credits->classes;
    if (lanes > LANES_MAX)
        return ic_refuse(error,
                         "%u links with %u virtual channels each, one per hop, are more than %u: "
                         "buffers of such a network cannot have a bound",
                         sim->channel_count, credits->classes, LANES_MAX);
    credits->lanes = calloc((size_t)lanes, sizeof(*credits->lanes));
    credits->outputs = calloc(sim->channel_count, sizeof(*credits->outputs));
    if (credits->lanes == NULL || credits->outputs == NULL)
        return GMC_ERR_NOMEM;
    for (uint64_t i = 0; i < lanes; i++)
        credits->lanes[i] = (struct lane){.space = sim->config->buffer_packets,
                                          .first = NONE,
                                          .last = NONE,
                                          .asking = NONE,
                                          .asking_last = NONE};
    for (uint32_t i = 0; i < sim->channel_count; i++)
        credits->outputs[i].served = NONE;
    return GMC_OK;
}

void ic_packets_credit_fini(struct packets *sim)
{
    free(sim->credits.lanes);
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
static void give_place(struct packets *sim, uint32_t lane);

static bool grow_dues(struct packets *sim)
{
    struct credits *credits = &sim->credits;
    uint32_t size = credits->due_size > 0 ? 2 * credits->due_size : 256;
    struct due *dues = malloc(size * sizeof(*dues));
    if (dues == NULL) {
        sim->status = GMC_ERR_NOMEM;
        sim->is_over = true;
        return false;
    }
    for (uint32_t i = 0; i < credits->due_count; i++)
        dues[i] = credits->dues[(credits->due_first + i) % credits->due_size];
    free(credits->dues);
    credits->dues = dues;
    credits->due_size = size;
    credits->due_first = 0;
    return true;
}

/* All have the same delay, so they come back in this order. */
static void return_place(struct packets *sim, uint32_t lane)
{
    struct credits *credits = &sim->credits;
    uint64_t when = sim->now + sim->channel;
    if (sim->channel == 0) {
        give_place(sim, lane);
        return;
    }
    if (credits->due_count == credits->due_size && !grow_dues(sim))
        return;
    uint32_t at = (credits->due_first + credits->due_count++) % credits->due_size;
    credits->dues[at] = (struct due){when, lane};
    if (credits->due_count == 1)
        ic_calendar_push(&sim->calendar, sim->credit_event, when);
}

void ic_packets_credit_return(struct packets *sim)
{
    struct credits *credits = &sim->credits;
    while (credits->due_count > 0 && credits->dues[credits->due_first].when <= sim->now) {
        uint32_t lane = credits->dues[credits->due_first].lane;
        credits->due_first = (credits->due_first + 1) % credits->due_size;
        credits->due_count--;
        give_place(sim, lane);
    }
    if (credits->due_count > 0)
        ic_calendar_push(&sim->calendar, sim->credit_event, credits->dues[credits->due_first].when);
}

/* ---- outputs ---- */
/* Where a packet of so many hops goes behind an output; NONE: it has arrived. */
static uint32_t next_lane(const struct packets *sim, uint32_t output, uint32_t hops)
{
    if (output >= sim->first_ejection)
        return NONE;
    return lane_of(&sim->credits, output, output < sim->first_injection ? hops + 1 : 0);
}

/* The packet that asked first of those that can be sent, NONE; and its hops. */
static uint32_t choose(const struct packets *sim, uint32_t output, uint32_t *hops)
{
    const struct credits *credits = &sim->credits;
    uint32_t best = NONE;
    for (uint32_t class = 0; class < credits->classes; class ++) {
        uint32_t packet = credits->lanes[lane_of(credits, output, class)].asking;
        if (packet == NONE)
            continue;
        uint32_t next = next_lane(sim, output, class), input = sim->packets[packet].input;
        bool has_place = next == NONE || credits->lanes[next].space > 0;
        bool is_held =
            is_input_buffered(sim) && input != NONE && credits->outputs[input].is_sending;
        if (!has_place || is_held ||
            (best != NONE && credits->waiters[packet].asked >= credits->waiters[best].asked))
            continue;
        best = packet;
        *hops = class;
    }
    return best;
}

static void try_output(struct packets *sim, uint32_t output)
{
    struct credits *credits = &sim->credits;
    struct credit_output *out = &credits->outputs[output];
    bool is_idle = out->is_taken || out->waiting == 0;
    uint32_t hops = 0, packet = is_idle ? NONE : choose(sim, output, &hops);
    if (packet == NONE)
        return;
    struct lane *line = &credits->lanes[lane_of(credits, output, hops)];
    line->asking = credits->waiters[packet].behind;
    out->waiting--;
    uint32_t next = next_lane(sim, output, hops), input = sim->packets[packet].input;
    if (next != NONE)
        credits->lanes[next].space--;
    out->is_taken = true;
    out->served = input != NONE ? lane_of(credits, input, hops) : NONE;
    if (input != NONE && is_input_buffered(sim)) {
        struct lane *lane = &credits->lanes[out->served];
        credits->outputs[input].is_sending = true;
        lane->first = sim->packets[packet].next;
    }
    sim->channels[output].busy += sim->serial;
    ic_calendar_push(&sim->calendar, sim->first_output + output, sim->now + sim->serial);
    if (output >= sim->first_ejection) {
        ic_packets_deliver(sim, packet, sim->now);
        return;
    }
    if (output >= sim->first_injection)
        sim->packets[packet].entered = sim->now;
    ic_packets_send(sim, packet, output, sim->now);
}

static void give_place(struct packets *sim, uint32_t lane)
{
    sim->credits.lanes[lane].space++;
    try_output(sim, lane / sim->credits.classes);
}

/* To the end of the line of its output; lines of injection links have no hops. */
static void ask(struct packets *sim, uint32_t packet, uint32_t output)
{
    struct credits *credits = &sim->credits;
    struct lane *line = &credits->lanes[lane_of(credits, output, sim->packets[packet].hops)];
    credits->waiters[packet] =
        (struct waiter){.asked = credits->asked++, .behind = NONE, .output = output};
    if (line->asking == NONE)
        line->asking = packet;
    else
        credits->waiters[line->asking_last].behind = packet;
    line->asking_last = packet;
    credits->outputs[output].waiting++;
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
    struct lane *lane = &sim->credits.lanes[lane_of(&sim->credits, p->input, p->hops)];
    bool is_first = lane->first == NONE && !lane->is_going;
    p->next = NONE;
    if (lane->first == NONE)
        lane->first = packet;
    else
        sim->packets[lane->last].next = packet;
    lane->last = packet;
    if (is_first) {
        lane->is_going = true;
        ask(sim, packet, ic_packets_route(sim, p));
    }
}

/* The tail has left an input: the next packet of its lane asks, and what other lanes have may go to
 * outputs that are free. */
static void free_input(struct packets *sim, uint32_t lane_number)
{
    struct credits *credits = &sim->credits;
    uint32_t input = lane_number / credits->classes;
    struct lane *lane = &credits->lanes[lane_number];
    credits->outputs[input].is_sending = false;
    lane->is_going = lane->first != NONE;
    if (lane->is_going)
        ask(sim, lane->first, ic_packets_route(sim, &sim->packets[lane->first]));
    for (uint32_t class = 0; class < credits->classes && !credits->outputs[input].is_sending;
         class ++) {
        uint32_t first = credits->lanes[lane_of(credits, input, class)].first;
        if (first != NONE)
            try_output(sim, credits->waiters[first].output);
    }
}

void ic_packets_credit_release(struct packets *sim, uint32_t output)
{
    struct credit_output *out = &sim->credits.outputs[output];
    uint32_t lane = out->served;
    out->is_taken = false;
    if (lane != NONE) {
        return_place(sim, lane);
        if (is_input_buffered(sim))
            free_input(sim, lane);
    }
    try_output(sim, output);
}
