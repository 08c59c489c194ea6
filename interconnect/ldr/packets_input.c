/* SPDX-License-Identifier: BSD-2-Clause */
/* Switches with input buffers: the first packet of each input asks for an output; outputs serve
 * inputs in the order in which they asked. */
#include "interconnect/ldr/packets_internal.h"

/* The first packet of the input goes; input and output are taken until its tail has left. */
static void serve(struct packets *sim, uint32_t input, uint32_t output)
{
    struct port *in = &sim->ports[input], *out = &sim->ports[output];
    uint32_t packet = in->head;
    in->head = sim->packets[packet].next;
    in->tail = in->head == NONE ? NONE : in->tail;
    out->is_taken = true;
    out->served = input;
    sim->channels[output].busy += sim->serial;
    ic_calendar_push(&sim->calendar, sim->first_output + output, sim->now + sim->serial);
    if (output >= sim->first_ejection)
        ic_packets_deliver(sim, packet, sim->now);
    else
        ic_packets_send(sim, packet, output, sim->now);
}

static void ask(struct packets *sim, uint32_t input)
{
    struct port *in = &sim->ports[input];
    uint32_t output = ic_packets_route(sim, &sim->packets[in->head]);
    struct port *out = &sim->ports[output];
    in->is_asking = true;
    if (!out->is_taken) {
        serve(sim, input, output);
        return;
    }
    in->next = NONE;
    if (out->first == NONE)
        out->first = input;
    else
        sim->ports[out->last].next = input;
    out->last = input;
    out->waiting++;
}

void ic_packets_input_arrive(struct packets *sim, uint32_t packet)
{
    uint32_t input = sim->packets[packet].input;
    struct port *in = &sim->ports[input];
    sim->packets[packet].next = NONE;
    if (in->head == NONE)
        in->head = packet;
    else
        sim->packets[in->tail].next = packet;
    in->tail = packet;
    if (!in->is_asking)
        ask(sim, input);
}

void ic_packets_input_release(struct packets *sim, uint32_t output)
{
    struct port *out = &sim->ports[output];
    uint32_t input = out->served;
    out->is_taken = false;
    if (out->first != NONE) {
        uint32_t next = out->first;
        out->first = sim->ports[next].next;
        out->waiting--;
        serve(sim, next, output);
    }
    sim->ports[input].is_asking = false;
    if (sim->ports[input].head != NONE)
        ask(sim, input);
}
