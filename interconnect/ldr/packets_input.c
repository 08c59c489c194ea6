/* SPDX-License-Identifier: BSD-2-Clause */
/* Switches with input buffers: the first packet of each input asks for an output; outputs serve
 * inputs in the order in which they asked. When an output gets free is known when it is taken: it
 * is an event only where somebody waits for it, or for the input. */
#include <stdlib.h>

#include "interconnect/ldr/packets_internal.h"

gmc_status ic_packets_input_init(struct packets *sim)
{
    if (sim->config->buffering != IC_INPUT_BUFFERED || sim->config->buffer_packets > 0)
        return GMC_OK;
    sim->port_inputs = malloc(sim->channel_count * sizeof(*sim->port_inputs));
    if (sim->port_inputs == NULL)
        return GMC_ERR_NOMEM;
    for (uint32_t i = 0; i < sim->channel_count; i++)
        sim->port_inputs[i] = (struct port_input){.head = NONE};
    return GMC_OK;
}

void ic_packets_input_fini(struct packets *sim)
{
    free(sim->port_inputs);
}

static struct port_output *output_of(const struct packets *sim, uint32_t output)
{
    return (void *)ic_packets_channel(sim, output);
}

static void await_release(struct packets *sim, uint32_t output)
{
    struct port_output *out = output_of(sim, output);
    if (out->has_release)
        return;
    out->has_release = true;
    ic_calendar_push_in_order(&sim->calendar, RELEASES, sim->first_output + output,
                              out->channel.free_at);
}

/* The first packet of the input goes; input and output are taken until its tail has left. */
static void serve(struct packets *sim, uint32_t input, uint32_t output)
{
    struct port_input *in = &sim->port_inputs[input];
    struct port_output *out = output_of(sim, output);
    uint32_t packet = in->head;
    in->head = sim->packets[packet].next;
    ic_packets_reserve(sim, output, sim->now);
    out->served = input & INT32_MAX;
    in->until = out->channel.free_at;
    in->output = output;
    if (in->head != NONE || out->waiting > 0)
        await_release(sim, output);
    if (output >= sim->first_ejection)
        ic_packets_deliver(sim, packet, sim->now);
    else
        ic_packets_send(sim, packet, output, sim->now);
}

static void ask(struct packets *sim, uint32_t input)
{
    struct port_input *in = &sim->port_inputs[input];
    const struct packet *p = &sim->packets[in->head];
    uint32_t output = ic_packets_route(sim, p, ic_packets_ports(sim, p));
    struct port_output *out = output_of(sim, output);
    if (!ic_packets_is_taken(sim, output)) {
        serve(sim, input, output);
        return;
    }
    in->until = UINT64_MAX;
    in->next = NONE;
    if (out->waiting == 0)
        out->first = input;
    else
        sim->port_inputs[out->last].next = input;
    out->last = input;
    out->waiting++;
    await_release(sim, output);
}

void ic_packets_input_arrive(struct packets *sim, uint32_t packet)
{
    uint32_t input = sim->packets[packet].input;
    struct port_input *in = &sim->port_inputs[input];
    ic_packets_ahead_queued(sim);
    sim->packets[packet].next = NONE;
    if (in->head == NONE)
        in->head = packet;
    else
        sim->packets[in->tail].next = packet;
    in->tail = packet;
    if (in->until <= sim->now)
        ask(sim, input);
    else if (in->until != UINT64_MAX)
        await_release(sim, in->output);
}

void ic_packets_input_release(struct packets *sim, uint32_t output)
{
    struct port_output *out = output_of(sim, output);
    uint32_t input = out->served;
    ic_packets_ahead_served(sim);
    out->has_release = false;
    sim->releasing = output;
    if (out->waiting > 0) {
        uint32_t next = out->first;
        out->first = sim->port_inputs[next].next;
        out->waiting--;
        serve(sim, next, output);
    }
    if (sim->port_inputs[input].head != NONE)
        ask(sim, input);
    sim->releasing = NONE;
}
