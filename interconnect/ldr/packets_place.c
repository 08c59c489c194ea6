/* SPDX-License-Identifier: BSD-2-Clause */
/* Places of buffers that get free. Those of a channel are in the order of time in a list of its
 * own. They are counted when somebody asks, and when a packet comes out of the channel: the records
 * are in the cache then. No event has to do with them. */
#include <stdlib.h>

#include "interconnect/ldr/packets_place.h"

static bool grow(struct packets *sim)
{
    struct credits *credits = &sim->credits;
    uint32_t old = credits->due_capacity, capacity = old > 0 ? 2 * old : 1024;
    struct due *dues = realloc(credits->dues, (size_t)capacity * sizeof(*dues));
    if (dues == NULL) {
        sim->status = GMC_ERR_NOMEM;
        sim->is_over = true;
        return false;
    }
    for (uint32_t i = capacity; i-- > old;) {
        dues[i].next = credits->free_due;
        credits->free_due = i;
    }
    credits->dues = dues;
    credits->due_capacity = capacity;
    return true;
}

void ic_packets_place_count(struct packets *sim, uint32_t channel)
{
    struct credits *credits = &sim->credits;
    struct credit_input *end = &credits->inputs[channel];
    while (end->due_first != NONE && credits->dues[end->due_first].when <= sim->now) {
        uint32_t number = end->due_first;
        struct due *due = &credits->dues[number];
        ic_packets_credit_output(sim, channel)->space[due->hops]++;
        end->due_first = due->next;
        due->next = credits->free_due;
        credits->free_due = number;
    }
}

void ic_packets_place_await(struct packets *sim, uint32_t channel)
{
    struct credit_output *out = ic_packets_credit_output(sim, channel);
    if (out->has_wake)
        return;
    ic_packets_place_count(sim, channel);
    uint32_t first = sim->credits.inputs[channel].due_first;
    if (first == NONE)
        return;
    out->has_wake = true;
    ic_calendar_push(&sim->calendar, sim->first_wake + channel, sim->credits.dues[first].when);
}

void ic_packets_place_leave(struct packets *sim, uint32_t channel, uint32_t hops)
{
    struct credits *credits = &sim->credits;
    struct credit_input *end = &credits->inputs[channel];
    if (credits->free_due == NONE && !grow(sim))
        return;
    uint32_t number = credits->free_due;
    struct due *due = &credits->dues[number];
    credits->free_due = due->next;
    *due = (struct due){.when = sim->now + sim->serial + sim->channel, .hops = hops, .next = NONE};
    if (end->due_first == NONE) {
        end->due_first = end->due_last = number;
    } else {
        credits->dues[end->due_last].next = number;
        end->due_last = number;
    }
    if (end->is_stuck)
        ic_packets_place_await(sim, channel);
}
