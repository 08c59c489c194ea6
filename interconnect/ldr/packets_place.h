/* SPDX-License-Identifier: BSD-2-Clause */
/* Places of buffers with a bound. */
#ifndef INTERCONNECT_LDR_PACKETS_PLACE_H
#define INTERCONNECT_LDR_PACKETS_PLACE_H

#include "interconnect/ldr/packets_internal.h"

static inline struct credit_output *ic_packets_credit_output(const struct packets *sim,
                                                             uint32_t channel)
{
    return (void *)ic_packets_channel(sim, channel);
}

/* The first place that gets free at a channel's end is counted, and any others that are free. */
void ic_packets_place_count_due(struct packets *sim, uint32_t channel);

/* Those that are free by now, of the buffer at a channel's end. */
static inline void ic_packets_place_count(struct packets *sim, uint32_t channel)
{
    const struct credit_input *end = &sim->credits.inputs[channel];
    if (end->due_count > 0 && end->due_when[0] <= sim->now)
        ic_packets_place_count_due(sim, channel);
}

/* There is one for a packet of so many hops. */
static inline bool ic_packets_place_is_free(struct packets *sim, uint32_t channel, uint32_t hops)
{
    struct credit_output *out = ic_packets_credit_output(sim, channel);
    if (out->space[hops] == 0)
        ic_packets_place_count(sim, channel);
    return out->space[hops] > 0;
}

/* A packet of so many hops begins to leave its place. */
void ic_packets_place_leave(struct packets *sim, uint32_t channel, uint32_t hops);
/* Who waits for the channel tries it again when the next place is free. */
void ic_packets_place_await(struct packets *sim, uint32_t channel);

#endif
