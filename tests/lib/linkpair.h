/* SPDX-License-Identifier: BSD-2-Clause */
/* Two links back to back over a small wire in virtual time: rate, delay, drop-tail queue, loss,
 * jitter and MTU in each direction, all from one seed. Side 0 and side 1 are alike; wire i carries
 * what side i sends. Data that a link reports lost is sent again, as a composition would. */
#ifndef GMC_TESTS_LINKPAIR_H
#define GMC_TESTS_LINKPAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "core/link.h"

/* What the wire does to the ECN field. */
enum linkpair_ecn { LINKPAIR_KEEPS, LINKPAIR_BLEACHES, LINKPAIR_FORCES, LINKPAIR_DROPS };

struct linkpair_wire {
    uint64_t rate_bps;    /* IP and UDP heads counted; 0: no limit */
    gmc_duration delay;   /* one way */
    gmc_duration jitter;  /* added, uniform in [0, jitter]; packets may overtake */
    uint64_t queue_bytes; /* 0: no limit */
    uint64_t mark_bytes;  /* of queue, above which capable packets are marked; 0: never */
    enum linkpair_ecn ecn;
    uint32_t loss_ppm;
    uint32_t mtu;     /* UDP payload; larger datagrams vanish; 0: no limit */
    bool udp_blocked; /* only the TLS connection works */
    bool down;        /* nothing works */
};

struct linkpair_config {
    struct linkpair_wire wires[2];
    const struct gmc_cc_ops *cc; /* NULL: fixed */
    uint64_t fixed_rate_bps;
    uint64_t fixed_back_bps; /* of side 1; 0: the same */
    enum gmc_transport transport;
    gmc_duration silent_after;
    uint32_t udp_payload_max;
    bool unconfigured;   /* side 1 does not know side 0's address */
    gmc_duration waited; /* what is said of how long each datagram lay at its host */
    gmc_duration late;   /* side 1's session is made so much after side 0's */
    uint64_t seed;
};

struct linkpair_stats {
    uint64_t queued, acked, lost;   /* data packets by fate, as the sender sees them */
    uint64_t delivered, duplicates; /* data packets at the other side */
    uint64_t messages;              /* that came in here */
    uint64_t datagrams, bytes;      /* sent from here, with IP and UDP heads */
    uint64_t kinds[64];             /* datagrams sent by kind */
    uint64_t dropped;               /* of them, by queue, loss or MTU */
    uint64_t capable, marked;       /* of them, sent as capable of ECN; CE when they arrive */
    uint64_t errors;                /* datagrams that the link here refused */
    uint64_t turns;                 /* times that the link here was woken */
    uint64_t wakes;                 /* data that came and made it look at what it owes */
    gmc_time up;                    /* when the link here came up; NEVER */
    gmc_time settled;               /* when its MTU search ended; NEVER */
    gmc_time last_message;          /* when the last message came in */
};

struct linkpair;

#define LINKPAIR_START GMC_S(100)

struct linkpair *linkpair_new(const struct linkpair_config *config);
void linkpair_free(struct linkpair *pair);
struct gmc_link *linkpair_link(struct linkpair *pair, int side);
const struct linkpair_stats *linkpair_stats(const struct linkpair *pair, int side);
gmc_time linkpair_now(const struct linkpair *pair);
struct linkpair_wire *linkpair_wire(struct linkpair *pair, int side);
/* From now on the datagrams of `side` come from another address. */
void linkpair_move(struct linkpair *pair, int side);
/* While set, each datagram of `side` seems to come from another address, where nobody is. */
void linkpair_disguise(struct linkpair *pair, int side, bool disguise);
/* While set, the composition of `side` cannot keep the data that comes in. */
void linkpair_refuse(struct linkpair *pair, int side, bool refuse);

/* So many more data packets with bodies of this size are to go out; UINT64_MAX: without end. */
void linkpair_supply(struct linkpair *pair, int side, uint64_t packets, size_t body_bytes);
/* A message of len bytes with a pattern that the other side checks. */
gmc_status linkpair_message(struct linkpair *pair, int side, size_t len);

void linkpair_run_until(struct linkpair *pair, gmc_time until);
/* Until `side` has come up, or all data supplied there has arrived, or so many messages came in
 * there; false when that is not reached by `limit`. */
bool linkpair_run_up(struct linkpair *pair, int side, gmc_time limit);
bool linkpair_run_delivered(struct linkpair *pair, int side, gmc_time limit);
bool linkpair_run_messages(struct linkpair *pair, int side, uint64_t count, gmc_time limit);

/* Puts bytes into side's link as if they had come from the other side. */
gmc_status linkpair_inject(struct linkpair *pair, int side, struct gmc_bytes bytes);
/* The last datagram that was delivered to `side`. */
struct gmc_bytes linkpair_last(const struct linkpair *pair, int side);

#endif
