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

#include "interconnect/ldr/packets_lists.h"
#include "interconnect/ldr/packets_place.h"

#define LANES_MAX 67108864u

static bool is_input_buffered(const struct packets *sim)
{
    return sim->config->buffering == IC_INPUT_BUFFERED;
}

size_t ic_packets_credit_bytes(const struct packets *sim)
{
    size_t bytes = sizeof(struct credit_output) +
                   (sim->config->routes->diameter + (size_t)1) * sizeof(uint16_t);
    return (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
}

/* A network has more channels than numbers of hops: these have 16 bits. */
gmc_status ic_packets_credit_check(const struct packets *sim, char *error)
{
    uint32_t classes = sim->config->routes->diameter + 1;
    if (sim->config->buffer_packets == 0 || (uint64_t)sim->channel_count * classes <= LANES_MAX)
        return GMC_OK;
    return ic_refuse(error,
                     "%u links with %u virtual channels each, one per hop, are more than %u: "
                     "buffers of such a network cannot have a bound",
                     sim->channel_count, classes, LANES_MAX);
}

gmc_status ic_packets_credit_init(struct packets *sim)
{
    struct credits *credits = &sim->credits;
    if (sim->config->buffer_packets == 0)
        return GMC_OK;
    credits->classes = sim->config->routes->diameter + 1;
    credits->free_due = NONE;
    credits->inputs = aligned_alloc(LINE_BYTES, sim->channel_count * sizeof(*credits->inputs));
    if (credits->inputs == NULL)
        return GMC_ERR_NOMEM;
    for (uint32_t i = 0; i < sim->channel_count; i++) {
        struct credit_output *out = ic_packets_credit_output(sim, i);
        out->first = out->served = NONE;
        for (uint32_t hops = 0; hops < credits->classes; hops++)
            out->space[hops] = (uint16_t)sim->config->buffer_packets;
        credits->inputs[i] =
            (struct credit_input){.sending = NONE, .first = NONE, .due_first = NONE};
    }
    return GMC_OK;
}

void ic_packets_credit_fini(struct packets *sim)
{
    free(sim->credits.inputs);
    free(sim->credits.dues);
}

/* ---- outputs ---- */
/* Of a packet behind an output that is not its host's; lines of injection links have no hops. */
static uint32_t next_hops(const struct packets *sim, uint32_t output, uint32_t hops)
{
    return output < sim->first_injection ? hops + 1 : 0;
}

static bool can_go(struct packets *sim, uint32_t packet, uint32_t output)
{
    const struct packet *p = &sim->packets[packet];
    if (output < sim->first_ejection &&
        !ic_packets_place_is_free(sim, output, next_hops(sim, output, p->hops)))
        return false;
    return !is_input_buffered(sim) || p->input == NONE ||
           sim->credits.inputs[p->input].sending == NONE;
}

static void set_stuck(struct packets *sim, uint32_t output, bool is_stuck)
{
    struct credit_output *out = ic_packets_credit_output(sim, output);
    if (out->is_stuck != is_stuck)
        sim->credits.inputs[output].is_stuck = out->is_stuck = is_stuck;
}

/* Who waits for an output tries it again when it is free; what its input has to be told then is
 * there in any case. */
static void await_output(struct packets *sim, uint32_t output)
{
    struct credit_output *out = ic_packets_credit_output(sim, output);
    if (out->has_release)
        return;
    out->has_release = true;
    ic_calendar_push_in_order(&sim->calendar, RELEASES, sim->first_output + output,
                              out->channel.free_at);
}

/* An input begins to send a packet, the first of its hops. */
static void leave_input(struct packets *sim, uint32_t packet, uint32_t output)
{
    const struct packet *p = &sim->packets[packet];
    struct credit_input *in = &sim->credits.inputs[p->input];
    in->sending = output;
    in->sending_hops = (uint16_t)p->hops;
    in->sending_until = sim->now + sim->serial;
    ic_packets_unlink(sim, ic_packets_list(sim, &in->first, LANE, p->hops), LANE);
    if (in->first != NONE)
        await_output(sim, output);
}

/* A packet that can go, on an output that is free. */
static void go(struct packets *sim, uint32_t packet, uint32_t output)
{
    struct credit_output *out = ic_packets_credit_output(sim, output);
    struct packet *p = &sim->packets[packet];
    if (output < sim->first_ejection)
        out->space[next_hops(sim, output, p->hops)]--;
    ic_packets_reserve(sim, output, sim->now);
    set_stuck(sim, output, false);
    out->served = p->input;
    if (p->input != NONE) {
        out->served_hops = (uint16_t)p->hops;
        ic_packets_place_leave(sim, p->input, p->hops);
        if (is_input_buffered(sim))
            leave_input(sim, packet, output);
    }
    if (out->waiting > 0)
        await_output(sim, output);
    if (output >= sim->first_ejection) {
        ic_packets_deliver(sim, packet, sim->now);
        return;
    }
    if (output >= sim->first_injection)
        sim->times[packet].entered = sim->now;
    ic_packets_send(sim, packet, output, sim->now);
}

/* Of the first packets of each number of hops, the one that asked first of those that can go, taken
 * out of its line; NONE. */
static uint32_t take_first(struct packets *sim, uint32_t output)
{
    struct credit_output *out = ic_packets_credit_output(sim, output);
    uint64_t first = UINT64_MAX;
    uint32_t *best = NULL;
    for (uint32_t *link = &out->first; *link != NONE; link = &sim->packets[*link].lists[LINE].other)
        if (sim->packets[*link].asked < first && can_go(sim, *link, output)) {
            first = sim->packets[*link].asked;
            best = link;
        }
    if (best == NULL)
        return NONE;
    uint32_t packet = *best;
    ic_packets_unlink(sim, best, LINE);
    out->waiting--;
    return packet;
}

/* For those that wait. */
static void try_output(struct packets *sim, uint32_t output)
{
    if (ic_packets_credit_output(sim, output)->waiting == 0)
        return;
    if (ic_packets_is_taken(sim, output)) {
        await_output(sim, output);
        return;
    }
    uint32_t packet = take_first(sim, output);
    if (packet != NONE) {
        go(sim, packet, output);
        return;
    }
    set_stuck(sim, output, true);
    ic_packets_place_await(sim, output);
}

/* At once where nobody was before it, otherwise to the end of the line of its output. */
static void ask(struct packets *sim, uint32_t packet, uint32_t output)
{
    struct credit_output *out = ic_packets_credit_output(sim, output);
    if (out->waiting == 0 && !ic_packets_is_taken(sim, output) && can_go(sim, packet, output)) {
        go(sim, packet, output);
        return;
    }
    struct packet *p = &sim->packets[packet];
    p->asked = sim->credits.asked++;
    p->output = output;
    (void)ic_packets_append(sim, &out->first, LINE, packet);
    out->waiting++;
    try_output(sim, output);
}

static void ask_way(struct packets *sim, uint32_t packet)
{
    const struct packet *p = &sim->packets[packet];
    ask(sim, packet, ic_packets_route(sim, p, p->ports));
}

/* ---- events ---- */
/* It may have ended without an event: that of this instant would have come before a packet's. */
static bool is_sending(struct packets *sim, uint32_t input)
{
    struct credit_input *in = &sim->credits.inputs[input];
    if (in->sending_until <= sim->now)
        in->sending = NONE;
    return in->sending != NONE;
}

void ic_packets_credit_arrive(struct packets *sim, uint32_t packet)
{
    struct packet *p = &sim->packets[packet];
    ic_packets_ahead(sim);
    if (p->input == NONE) {
        ask(sim, packet, sim->first_injection + p->from);
        return;
    }
    ic_packets_place_count(sim, p->input);
    p->ports = ic_packets_ports(sim, p);
    if (!is_input_buffered(sim)) {
        ask_way(sim, packet);
        return;
    }
    struct credit_input *in = &sim->credits.inputs[p->input];
    bool is_after_same = false;
    if (is_sending(sim, p->input)) {
        await_output(sim, in->sending);
        is_after_same = in->sending_hops == p->hops;
    }
    if (ic_packets_append(sim, &in->first, LANE, packet) && !is_after_same)
        ask_way(sim, packet);
}

/* The tail has left an input: the next packet of as many hops asks, and the first ones of others
 * may go to outputs that are free. */
static void free_input(struct packets *sim, uint32_t input, uint32_t hops)
{
    struct credit_input *in = &sim->credits.inputs[input];
    in->sending = NONE;
    uint32_t next = *ic_packets_list(sim, &in->first, LANE, hops);
    if (next != NONE && sim->packets[next].hops == hops)
        ask_way(sim, next);
    for (uint32_t first = in->first; first != NONE && in->sending == NONE;) {
        uint32_t other = sim->packets[first].lists[LANE].other;
        try_output(sim, sim->packets[first].output);
        first = other;
    }
}

void ic_packets_credit_release(struct packets *sim, uint32_t output)
{
    struct credit_output *out = ic_packets_credit_output(sim, output);
    ic_packets_ahead_released(sim);
    out->has_release = false;
    if (is_input_buffered(sim)) {
        sim->releasing = output;
        if (out->served != NONE)
            free_input(sim, out->served, out->served_hops);
    }
    try_output(sim, output);
    sim->releasing = NONE;
}

void ic_packets_credit_wake(struct packets *sim, uint32_t output)
{
    ic_packets_credit_output(sim, output)->has_wake = false;
    try_output(sim, output);
}
