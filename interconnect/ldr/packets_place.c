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

/* The first one goes: those behind it move up. */
static void drop_first(struct credits *credits, struct credit_input *end)
{
    end->due_count--;
    for (uint32_t i = 0; i < end->due_count; i++) {
        end->due_when[i] = end->due_when[i + 1];
        end->due_hops[i] = end->due_hops[i + 1];
    }
    if (end->due_first == NONE)
        return;
    uint32_t number = end->due_first;
    struct due *due = &credits->dues[number];
    end->due_when[end->due_count] = due->when;
    end->due_hops[end->due_count++] = (uint16_t)due->hops;
    end->due_first = due->next;
    due->next = credits->free_due;
    credits->free_due = number;
}

void ic_packets_place_count_due(struct packets *sim, uint32_t channel)
{
    struct credit_input *end = &sim->credits.inputs[channel];
    do {
        ic_packets_credit_output(sim, channel)->space[end->due_hops[0]]++;
        drop_first(&sim->credits, end);
    } while (end->due_count > 0 && end->due_when[0] <= sim->now);
}

void ic_packets_place_await(struct packets *sim, uint32_t channel)
{
    struct credit_output *out = ic_packets_credit_output(sim, channel);
    const struct credit_input *end = &sim->credits.inputs[channel];
    if (out->has_wake)
        return;
    ic_packets_place_count(sim, channel);
    if (end->due_count == 0)
        return;
    out->has_wake = true;
    ic_calendar_push(&sim->calendar, sim->first_wake + channel, end->due_when[0]);
}

static void append(struct packets *sim, struct credit_input *end, uint64_t when, uint32_t hops)
{
    struct credits *credits = &sim->credits;
    if (end->due_count < DUES) {
        end->due_when[end->due_count] = when;
        end->due_hops[end->due_count++] = (uint16_t)hops;
        return;
    }
    if (credits->free_due == NONE && !grow(sim))
        return;
    uint32_t number = credits->free_due;
    struct due *due = &credits->dues[number];
    credits->free_due = due->next;
    *due = (struct due){.when = when, .hops = hops, .next = NONE};
    if (end->due_first == NONE)
        end->due_first = number;
    else
        credits->dues[end->due_last].next = number;
    end->due_last = number;
}

void ic_packets_place_leave(struct packets *sim, uint32_t channel, uint32_t hops)
{
    struct credit_input *end = &sim->credits.inputs[channel];
    append(sim, end, sim->now + sim->serial + sim->channel, hops);
    if (end->is_stuck)
        ic_packets_place_await(sim, channel);
}
