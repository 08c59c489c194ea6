/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of the packet simulator share.
 *
 * A large network's state does not fit into a core's cache, and what a packet costs is what it
 * misses there. So what is needed together is one record, of 64 bytes or a part of that, and there
 * are records for packets that wait, not for all places where they could.
 */
#ifndef INTERCONNECT_LDR_PACKETS_INTERNAL_H
#define INTERCONNECT_LDR_PACKETS_INTERNAL_H

#include "interconnect/ldr/calendar.h"
#include "interconnect/ldr/multicast.h"
#include "interconnect/ldr/packets.h"
#include "interconnect/stats.h"

#define PS_PER_NS 1000.0
#define NONE UINT32_MAX
/* Destination of a packet that goes along the tree. */
#define TO_ALL UINT32_MAX
#define LINE_BYTES 64u /* of caches, as a rule */

/* Events in order: packets at switches, output channels that become free. */
enum { ARRIVALS, RELEASES };

/* Channels of the network, then injection links, then ejection links, host by host. Some kinds of
 * switches have more of each: what begins with this. */
struct channel {
    uint64_t free_at; /* ps */
    uint64_t busy;    /* ps since the measurement began */
};

/* ---- without a bound, switches with input buffers: packets_input.c ---- */
struct port_output {
    struct channel channel;
    uint32_t first, last, waiting; /* inputs that wait for it */
    uint32_t served : 31;          /* the input that is being served */
    bool has_release : 1;          /* an event that is to come */
};

/* The first packet has an output, or waits for one: until a time, and for ever while it waits. */
struct port_input {
    uint64_t until;
    uint32_t head, tail; /* packets that wait */
    uint32_t output;
    uint32_t next; /* the input behind it there */
};

/* ---- packets ---- */
/* Lists by number of hops, of packets that wait (packets_lists.h). */
struct listed {
    uint32_t behind; /* of as many hops */
    /* Of the first of so many hops: */
    uint32_t last, other; /* of as many hops; the first of more */
};

enum {
    LANE, /* at an input, where switches have buffers there */
    LINE, /* for an output */
    LISTS
};

struct packet {
    union {
        uint64_t asked; /* for its output, in which order */
        uint64_t ports; /* with bounds, until it asks: those on shortest ways */
    };
    uint32_t from, to; /* hosts */
    uint32_t at;       /* switch */
    uint32_t input;    /* channel by which it came there; NONE: it is at its host */
    uint32_t row;      /* of its destination, in the tables of routes */
    uint32_t hops;
    uint32_t output; /* for which it waits */
    uint32_t next;   /* free ones, or the queue of an input without a bound */
    struct listed lists[LISTS];
};

/* Beside it: not needed on the way. */
struct packet_times {
    uint64_t created, entered; /* ps */
};

/* ---- buffers with a bound: packets_credit.c, packets_place.c ---- */
struct credit_output {
    struct channel channel;
    uint32_t waiting;                /* packets that ask for it */
    uint32_t first;                  /* their lists, LINE */
    uint32_t served;                 /* where the packet on it comes from; NONE: from a host */
    uint16_t served_hops;            /* of that packet, there */
    bool has_release : 1;            /* events that are to come */
    bool has_wake : 1, is_stuck : 1; /* it is free, and nobody who waits can go */
    uint16_t space[];                /* by number of hops: places in the buffer at the end */
};

#define DUES 3u

/* The end of a channel: an input, where switches have buffers there. One line of the cache: first
 * places of its buffer that get free are here, as few ever are at a time. */
struct credit_input {
    /* The output that it sends on, NONE, with the packet's hops and until when. What nobody waits
     * for ends without an event, and is seen to have ended by the next who comes. */
    uint64_t sending_until;
    uint32_t sending;
    uint32_t first;          /* lists of packets, LANE */
    uint64_t due_when[DUES]; /* as in struct due */
    uint16_t due_hops[DUES];
    uint16_t sending_hops;
    uint32_t due_first, due_last; /* those after DUES */
    uint8_t due_count;            /* of those here */
    bool is_stuck;                /* the channel's beginning */
};

/* A place of a buffer that gets free, as its channel's beginning knows it. */
struct due {
    uint64_t when;
    uint32_t hops;
    uint32_t next; /* of the same channel; free ones */
};

struct credits {
    uint32_t classes;            /* numbers of hops; 0: buffers have no bound */
    struct credit_input *inputs; /* by channel */
    uint64_t asked;
    struct due *dues;
    uint32_t due_capacity, free_due;
};

struct broadcast {
    struct ic_tree tree;
    uint32_t *first_child, *next_child; /* by node */
    uint64_t created, last;             /* ps; when the last packet so far was delivered */
    uint32_t *group;                    /* hosts that it goes to, of a multicast; else NULL */
    bool *is_member;                    /* by host, with the group */
    uint64_t left;                      /* packets at switches that they have not got to yet */
    struct ic_mean latency;
};

struct packets {
    const struct ic_packets_config *config;
    const struct ic_run *run;
    const struct ic_network *network;
    struct ic_calendar calendar;
    /* Events: hosts create packets, output channels become free (input buffers, or bounds), places
     * in buffers behind them do (bounds), a broadcast begins, packets are at switches (with bounds:
     * at their hosts' links, first). */
    uint32_t first_output, first_wake, broadcast_event, first_packet;
    struct packet *packets;
    struct packet_times *times;
    uint32_t capacity, free_packet, in_flight;
    uint8_t *channels; /* each of channel_bytes */
    size_t channel_bytes;
    struct port_input *port_inputs; /* NULL: output buffers, or bounds */
    struct credits credits;
    uint32_t releasing; /* output whose event it is, of switches with input buffers; else NONE */
    uint32_t channel_count, first_injection, first_ejection;
    struct gmc_prng arrivals, destinations, routing, roots;
    uint64_t now, serial, hop, store, send, channel, receive; /* ps; hop is what lies between the
        start on a link and the decision behind it, store the serial time where it is needed */
    double between;                                           /* ps between packets of a host */
    struct broadcast broadcast;
    struct ic_warmup warmup;
    bool is_measuring, is_watching; /* the second with the first, after it is done */
    uint64_t measured_from, in_flight_from, delivered_from;
    uint32_t growths; /* looks in a row that have seen it grow */
    struct ic_mean latency, in_network;
    uint64_t delivered, hops, events, wanted, watched_to;
    bool is_over, is_saturated, is_stopped;
    gmc_status status;
};

static inline struct channel *ic_packets_channel(const struct packets *sim, uint32_t channel)
{
    return (void *)(sim->channels + channel * sim->channel_bytes);
}

/* Takes a link for one packet, from a time on that is not before now: when it begins. */
static inline uint64_t ic_packets_reserve(struct packets *sim, uint32_t channel, uint64_t from)
{
    struct channel *link = ic_packets_channel(sim, channel);
    uint64_t start = link->free_at > from ? link->free_at : from;
    link->free_at = start + sim->serial;
    link->busy += sim->serial;
    return start;
}

/* Of switches with input buffers, which have an event after each packet, also when it was not worth
 * noting: it is still to come when one of a lower number is being dealt with. */
static inline bool ic_packets_is_taken(const struct packets *sim, uint32_t output)
{
    uint64_t free_at = ic_packets_channel(sim, output)->free_at;
    return free_at > sim->now || (free_at == sim->now && output > sim->releasing);
}

/* A packet that is not in use, NONE: no memory, or too many are under way; said in sim. */
uint32_t ic_packets_take(struct packets *sim);
void ic_packets_drop(struct packets *sim, uint32_t packet);
/* Puts a packet onto a link at a time that is not before now: it is at the other end's switch, or
 * delivered, later. */
void ic_packets_send(struct packets *sim, uint32_t packet, uint32_t channel, uint64_t start);
void ic_packets_deliver(struct packets *sim, uint32_t packet, uint64_t start);
/* Of its switch, that are on shortest ways for a packet; none: it is there. */
static inline uint64_t ic_packets_ports(const struct packets *sim, const struct packet *packet)
{
    const struct ic_routes *routes = sim->config->routes;
    return ic_routes_at(routes, ic_routes_place(routes, packet->row, packet->at));
}
/* The channel that a packet takes from its switch, by one of these ports. */
uint32_t ic_packets_route(struct packets *sim, const struct packet *packet, uint64_t ports);

/* ---- packets_input.c: switches with input buffers ---- */
/* NOMEM. */
GMC_NODISCARD gmc_status ic_packets_input_init(struct packets *sim);
void ic_packets_input_fini(struct packets *sim);
void ic_packets_input_arrive(struct packets *sim, uint32_t packet);
void ic_packets_input_release(struct packets *sim, uint32_t output);
static inline uint64_t ic_packets_input_backlog(const struct packets *sim, uint32_t output)
{
    const struct port_output *out = (void *)ic_packets_channel(sim, output);
    return out->waiting + (uint64_t)ic_packets_is_taken(sim, output);
}

/* ---- packets_credit.c: buffers with a bound ---- */
/* INVALID: too many numbers of hops for so many channels. */
GMC_NODISCARD gmc_status ic_packets_credit_check(const struct packets *sim, char *error);
/* Of a channel's record. */
size_t ic_packets_credit_bytes(const struct packets *sim);
/* Nothing without a bound. NOMEM. */
GMC_NODISCARD gmc_status ic_packets_credit_init(struct packets *sim);
void ic_packets_credit_fini(struct packets *sim);
void ic_packets_credit_arrive(struct packets *sim, uint32_t packet);
void ic_packets_credit_release(struct packets *sim, uint32_t output);
void ic_packets_credit_wake(struct packets *sim, uint32_t output);

/* ---- packets_ahead.c: what comes soon, with bounds; with input buffers without them ---- */
void ic_packets_ahead(const struct packets *sim);
void ic_packets_ahead_released(const struct packets *sim);
void ic_packets_ahead_queued(const struct packets *sim);
void ic_packets_ahead_served(const struct packets *sim);

/* ---- packets_tree.c: broadcasts ---- */
GMC_NODISCARD gmc_status ic_packets_broadcast_init(struct packets *sim);
void ic_packets_broadcast_fini(struct packets *sim);
void ic_packets_broadcast_begin(struct packets *sim);
/* At a switch: copies to its host and to the children. The packet ends here. */
void ic_packets_broadcast_copy(struct packets *sim, uint32_t packet);
void ic_packets_broadcast_deliver(struct packets *sim, uint64_t delivered);

#endif
