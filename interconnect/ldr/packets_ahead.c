/* SPDX-License-Identifier: BSD-2-Clause */
/* Fetches into the cache what events need that come soon. What one record leads to is fetched when
 * that one is there: a few events later, each. */
#include "base/near.h"
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
        gmc_near_fetch_line(ic_packets_channel(sim, sim->first_ejection + p->to));
        gmc_near_fetch_line(&sim->times[p - sim->packets]);
    }
    for (; ports != 0; ports &= ports - 1)
        gmc_near_fetch_line(ic_packets_channel(sim, first + (uint32_t)__builtin_ctzll(ports)));
}

void ic_packets_ahead(const struct packets *sim)
{
    if (ic_calendar_ahead(&sim->calendar, ARRIVALS, PACKET) == NULL)
        return;
    gmc_near_fetch_line(coming(sim, PACKET));

    const struct ic_routes *routes = sim->config->routes;
    const struct packet *p = coming(sim, INPUT);
    gmc_near_fetch_line(ic_routes_place(routes, p->row, p->at));
    gmc_near_fetch_line(&sim->credits.inputs[p->input]);

    p = coming(sim, OUTPUT);
    fetch_outputs(sim, p);
    /* Where a place will be free. */
    gmc_near_fetch_line(ic_packets_channel(sim, p->input));
}

void ic_packets_ahead_released(const struct packets *sim)
{
    const struct ic_calendar_event *event = ic_calendar_ahead(&sim->calendar, RELEASES, RELEASE);
    if (event == NULL)
        return;
    gmc_near_fetch_line(ic_packets_channel(sim, event->event - sim->first_output));

    event = ic_calendar_ahead(&sim->calendar, RELEASES, SERVED);
    const struct credit_output *out =
        ic_packets_credit_output(sim, event->event - sim->first_output);
    if (out->served != NONE)
        gmc_near_fetch_line(&sim->credits.inputs[out->served]);
    if (out->first != NONE)
        gmc_near_fetch_line(&sim->packets[out->first]);
}

/* ---- input buffers without bounds ---- */
void ic_packets_ahead_queued(const struct packets *sim)
{
    if (ic_calendar_ahead(&sim->calendar, ARRIVALS, PACKET) == NULL)
        return;
    gmc_near_fetch_line(coming(sim, PACKET));
    gmc_near_fetch_line(&sim->port_inputs[coming(sim, INPUT)->input]);

    const struct packet *p = coming(sim, OUTPUT);
    const struct port_input *in = &sim->port_inputs[p->input];
    if (in->head != NONE)
        gmc_near_fetch_line(&sim->packets[in->tail]);
    else
        gmc_near_fetch_line(ic_routes_place(sim->config->routes, p->row, p->at));
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
    gmc_near_fetch_line(released(sim, OUT));

    const struct port_output *out = released(sim, QUEUES);
    gmc_near_fetch_line(&sim->port_inputs[out->served]);
    if (out->waiting > 0)
        gmc_near_fetch_line(&sim->port_inputs[out->first]);

    out = released(sim, HEADS);
    const struct packet *p = asking(sim, HEADS);
    if (p != NULL)
        gmc_near_fetch_line(p);
    if (out->waiting > 0)
        gmc_near_fetch_line(&sim->packets[sim->port_inputs[out->first].head]);

    p = asking(sim, ROUTES);
    if (p != NULL)
        gmc_near_fetch_line(ic_routes_place(sim->config->routes, p->row, p->at));
    p = asking(sim, PORTS);
    if (p != NULL)
        fetch_outputs(sim, p);
}
