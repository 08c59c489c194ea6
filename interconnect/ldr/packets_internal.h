/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of the packet simulator share. */
#ifndef INTERCONNECT_LDR_PACKETS_INTERNAL_H
#define INTERCONNECT_LDR_PACKETS_INTERNAL_H

#include "interconnect/ldr/calendar.h"
#include "interconnect/ldr/multicast.h"
#include "interconnect/ldr/packets.h"

#define PS_PER_NS 1000.0
#define NONE UINT32_MAX
/* Destination of a packet that goes along the tree. */
#define TO_ALL UINT32_MAX

/* Channels of the network, then injection links, then ejection links, host by host. */
struct channel {
    uint64_t free_at; /* ps */
    uint64_t busy;    /* ps since the measurement began */
};

/* Of a channel as an output and an input, for switches with input buffers. */
struct port {
    uint32_t head, tail; /* as an input: packets that wait */
    bool is_asking;      /* as an input: its first packet has an output, or waits for one */
    bool is_taken;       /* as an output */
    uint32_t first, last, waiting; /* as an output: inputs that wait for it */
    uint32_t next;                 /* as an input: the one behind it there */
    uint32_t served;               /* as an output: the input that is being served */
};

struct packet {
    uint64_t created, entered; /* ps */
    const void *route;         /* place in the tables, of its switch */
    uint32_t from, to;         /* hosts */
    uint32_t at;               /* switch */
    uint32_t input;            /* channel by which it came there */
    uint32_t next;             /* free ones, or the queue of an input */
    uint32_t hops;
    /* Where buffers have a bound, of one that waits for an output: */
    uint32_t output, behind; /* the one behind it there */
    uint64_t asked;          /* in which order */
};

/* ---- buffers with a bound: packets_credit.c ---- */
/* Of a channel and a number of hops: packets of so many hops that ask for the channel. */
struct lane {
    uint32_t asking, asking_last;
};

/* Packets in a lane's buffer, of switches with input buffers. */
struct lane_queue {
    uint32_t first, last;
    bool is_going; /* one of them asks, or is being sent */
};

/* Beside a channel. */
struct credit_output {
    uint64_t lines, queues; /* those that are not empty, as bits, by number of hops; those of many
                               hops share the last bit, which stays */
    uint32_t waiting;       /* packets that ask for it */
    uint32_t dues, due_first, due_last; /* places of its buffers that will be known to be free */
    uint32_t served, served_lane;       /* where the packet on it comes from; NONE: from a host */
    bool has_release, has_wake;         /* events that are to come */
    /* As an input: the output that it sends on, NONE, with the lane and until when. What nobody
     * waits for ends without an event, and is seen to have ended by the next who comes. */
    uint32_t sending, sending_lane;
    uint64_t sending_until;
};

/* A place of a buffer that will be known to be free. */
struct due {
    uint64_t when;
    uint32_t lane, output;
    uint32_t next; /* of the same output */
};

struct credits {
    uint32_t classes; /* lanes of a channel; 0: buffers have no bound */
    uint16_t *space;  /* by lane: places in the buffer at the channel's end */
    struct lane *lanes;
    struct lane_queue *queues;     /* by lane; NULL: output buffers */
    struct credit_output *outputs; /* by channel */
    uint64_t asked;
    uint32_t releasing; /* output whose event it is, of switches with input buffers; else NONE */
    struct due *dues;   /* a ring in the order of time; numbers go on, and around */
    uint32_t due_capacity, due_first, due_end;
};

struct broadcast {
    struct ic_tree tree;
    uint32_t *first_child, *next_child; /* by node */
    uint64_t created, last;             /* ps; when the last packet so far was delivered */
    uint64_t left;                      /* deliveries */
    struct ic_batches latency;
    uint64_t count;
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
    uint32_t capacity, free_packet, in_flight;
    struct channel *channels;
    struct port *ports; /* NULL: output buffers, or bounds */
    struct credits credits;
    uint32_t channel_count, first_injection, first_ejection;
    struct gmc_prng arrivals, destinations, routing, roots;
    uint64_t now, serial, hop, store, send, channel, receive; /* ps; hop is what lies between the
        start on a link and the decision behind it, store the serial time where it is needed */
    double between;                                           /* ps between packets of a host */
    struct broadcast broadcast;
    struct ic_warmup warmup;
    bool is_measuring;
    uint64_t measured_from, in_flight_from;
    struct ic_batches latency, in_network;
    uint64_t delivered, hops, events, wanted;
    bool is_over, is_saturated, is_stopped;
    gmc_status status;
};

/* A packet that is not in use, NONE: no memory, or too many are under way; said in sim. */
uint32_t ic_packets_take(struct packets *sim);
void ic_packets_drop(struct packets *sim, uint32_t packet);
/* Takes a link for one packet, from a time on that is not before now: when it begins. */
uint64_t ic_packets_reserve(struct packets *sim, uint32_t channel, uint64_t from);
/* Puts a packet onto a link at a time that is not before now: it is at the other end's switch, or
 * delivered, later. */
void ic_packets_send(struct packets *sim, uint32_t packet, uint32_t channel, uint64_t start);
void ic_packets_deliver(struct packets *sim, uint32_t packet, uint64_t start);
/* The channel that a packet takes from its switch. */
uint32_t ic_packets_route(struct packets *sim, const struct packet *packet);

/* ---- packets_input.c: switches with input buffers ---- */
void ic_packets_input_arrive(struct packets *sim, uint32_t packet);
void ic_packets_input_release(struct packets *sim, uint32_t output);

/* ---- packets_credit.c: buffers with a bound ---- */
/* Nothing without a bound. INVALID, NOMEM. */
GMC_NODISCARD gmc_status ic_packets_credit_init(struct packets *sim, char *error);
void ic_packets_credit_fini(struct packets *sim);
/* Before an event: places that are free by its time. */
void ic_packets_credit_advance(struct packets *sim);
void ic_packets_credit_arrive(struct packets *sim, uint32_t packet);
void ic_packets_credit_release(struct packets *sim, uint32_t output);
void ic_packets_credit_wake(struct packets *sim, uint32_t output);

/* ---- packets_tree.c: broadcasts ---- */
GMC_NODISCARD gmc_status ic_packets_broadcast_init(struct packets *sim);
void ic_packets_broadcast_fini(struct packets *sim);
void ic_packets_broadcast_begin(struct packets *sim);
/* At a switch: copies to its host and to the children. The packet ends here. */
void ic_packets_broadcast_copy(struct packets *sim, uint32_t packet);
void ic_packets_broadcast_deliver(struct packets *sim, uint64_t delivered);

#endif
