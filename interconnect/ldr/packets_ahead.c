/* SPDX-License-Identifier: BSD-2-Clause */
/* Fetches into the cache what events need that come soon. What one record leads to is fetched when
 * that one is there: a few events later, each. In a file of its own: to a compiler that sees them
 * together with their caller these functions have no effect, and gcc leaves calls of such out. */
#include "interconnect/ldr/packets_place.h"

/* Events ahead. */
#define PACKET 12u
#define INPUT 8u
#define OUTPUT 4u
#define RELEASE 6u
#define SERVED 3u
/* Without bounds: of releases, to what each record leads. */
#define OUT 12u
#define QUEUES 9u
#define HEADS 6u
#define ROUTES 3u
#define PORTS 1u

static const struct packet *coming(const struct packets *sim, uint32_t ahead)
{
    const struct ic_calendar_event *event = ic_calendar_ahead(&sim->calendar, ARRIVALS, ahead);
    return &sim->packets[event->event - sim->first_packet];
}

/* Channels that a packet may take; where it is delivered, what is measured then. */
static void fetch_outputs(const struct packets *sim, const struct packet *p)
{
    uint64_t ports = ic_packets_ports(sim, p);
    uint32_t first = sim->network->first[p->at];
    if (ports == 0) {
        __builtin_prefetch(ic_packets_channel(sim, sim->first_ejection + p->to));
        __builtin_prefetch(&sim->times[p - sim->packets]);
    }
    for (; ports != 0; ports &= ports - 1)
        __builtin_prefetch(ic_packets_channel(sim, first + (uint32_t)__builtin_ctzll(ports)));
}

void ic_packets_ahead(const struct packets *sim)
{
    if (ic_calendar_ahead(&sim->calendar, ARRIVALS, PACKET) == NULL)
        return;
    __builtin_prefetch(coming(sim, PACKET));

    const struct ic_routes *routes = sim->config->routes;
    const struct packet *p = coming(sim, INPUT);
    __builtin_prefetch(ic_routes_place(routes, p->row, p->at));
    __builtin_prefetch(&sim->credits.inputs[p->input]);

    p = coming(sim, OUTPUT);
    fetch_outputs(sim, p);
    /* Where a place will be free. */
    __builtin_prefetch(ic_packets_channel(sim, p->input));
}

void ic_packets_ahead_released(const struct packets *sim)
{
    const struct ic_calendar_event *event = ic_calendar_ahead(&sim->calendar, RELEASES, RELEASE);
    if (event == NULL)
        return;
    __builtin_prefetch(ic_packets_channel(sim, event->event - sim->first_output));

    event = ic_calendar_ahead(&sim->calendar, RELEASES, SERVED);
    const struct credit_output *out =
        ic_packets_credit_output(sim, event->event - sim->first_output);
    if (out->served != NONE)
        __builtin_prefetch(&sim->credits.inputs[out->served]);
    if (out->first != NONE)
        __builtin_prefetch(&sim->packets[out->first]);
}

/* ---- input buffers without bounds ---- */
void ic_packets_ahead_queued(const struct packets *sim)
{
    if (ic_calendar_ahead(&sim->calendar, ARRIVALS, PACKET) == NULL)
        return;
    __builtin_prefetch(coming(sim, PACKET));
    __builtin_prefetch(&sim->port_inputs[coming(sim, INPUT)->input]);

    const struct packet *p = coming(sim, OUTPUT);
    const struct port_input *in = &sim->port_inputs[p->input];
    if (in->head != NONE)
        __builtin_prefetch(&sim->packets[in->tail]);
    else
        __builtin_prefetch(ic_routes_place(sim->config->routes, p->row, p->at));
}

static const struct port_output *released(const struct packets *sim, uint32_t ahead)
{
    const struct ic_calendar_event *event = ic_calendar_ahead(&sim->calendar, RELEASES, ahead);
    return (void *)ic_packets_channel(sim, event->event - sim->first_output);
}

/* The first packet of the input that was served, which asks next; NULL. */
static const struct packet *asking(const struct packets *sim, uint32_t ahead)
{
    uint32_t head = sim->port_inputs[released(sim, ahead)->served].head;
    return head != NONE ? &sim->packets[head] : NULL;
}

void ic_packets_ahead_served(const struct packets *sim)
{
    if (ic_calendar_ahead(&sim->calendar, RELEASES, OUT) == NULL)
        return;
    __builtin_prefetch(released(sim, OUT));

    const struct port_output *out = released(sim, QUEUES);
    __builtin_prefetch(&sim->port_inputs[out->served]);
    if (out->waiting > 0)
        __builtin_prefetch(&sim->port_inputs[out->first]);

    out = released(sim, HEADS);
    const struct packet *p = asking(sim, HEADS);
    if (p != NULL)
        __builtin_prefetch(p);
    if (out->waiting > 0)
        __builtin_prefetch(&sim->packets[sim->port_inputs[out->first].head]);

    p = asking(sim, ROUTES);
    if (p != NULL)
        __builtin_prefetch(ic_routes_place(sim->config->routes, p->row, p->at));
    p = asking(sim, PORTS);
    if (p != NULL)
        fetch_outputs(sim, p);
}
