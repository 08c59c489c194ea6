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

static const struct packet *coming(const struct packets *sim, uint32_t ahead)
{
    const struct ic_calendar_event *event = ic_calendar_ahead(&sim->calendar, ARRIVALS, ahead);
    return &sim->packets[event->event - sim->first_packet];
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
    uint64_t ports = ic_packets_ports(sim, p);
    uint32_t first = sim->network->first[p->at];
    if (ports == 0) {
        __builtin_prefetch(ic_packets_channel(sim, sim->first_ejection + p->to));
        __builtin_prefetch(&sim->times[p - sim->packets]);
    }
    for (; ports != 0; ports &= ports - 1)
        __builtin_prefetch(ic_packets_channel(sim, first + (uint32_t)__builtin_ctzll(ports)));
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
