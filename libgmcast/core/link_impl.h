/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the link share, and nobody else includes: link.c (life, messages, fates,
 * information), link_path.c (routes, challenges, MTU), link_reach.c (UDP in each direction),
 * link_send.c, link_recv.c, link_timer.c. */
#ifndef GMC_CORE_LINK_IMPL_H
#define GMC_CORE_LINK_IMPL_H

#include "core/ackrange.h"
#include "core/ecn.h"
#include "core/gate.h"
#include "core/link.h"
#include "core/loss.h"
#include "core/pace.h"
#include "core/stream.h"

#define LINK_ACK_DELAY GMC_MS(4)
#define LINK_ACK_PACKETS 32
#define LINK_ACK_BYTES 262144u
#define LINK_WIRE_BYTES GMC_LINK_WIRE_BYTES
#define LINK_STREAM_MTU 16000       /* over TLS, whose records hold 16384 bytes */
#define LINK_MTU_MIN 1200           /* what every path is expected to carry */
#define LINK_AUTO_WAIT GMC_MS(1500) /* unanswered on UDP for so long: try the TLS connection */
#define LINK_UDP_AGAIN GMC_S(10)    /* from then on UDP is tried so often, ... */
#define LINK_HEARD_AGAIN GMC_S(1)   /* ... or while the peer is heard there */
#define LINK_VALIDATE_MAX GMC_S(10)
#define LINK_KEEPALIVE GMC_MS(400)
#define LINK_KEEPALIVE_QUIET GMC_S(15) /* when nobody watches: keeps a NAT's mapping */
#define LINK_DEAD_AFTER GMC_MS(1500)
#define LINK_PTO_MAX 10 /* probe timeouts in a row that end the link */
#define LINK_MTU_SIZES 5
#define LINK_MTU_ROUNDS 2
#define LINK_MTU_COPIES 3
#define LINK_MTU_AGAIN GMC_S(1)     /* from then on the search is repeated, less and less often */
#define LINK_MTU_WANTED GMC_MS(100) /* and two round trips: so long a search counts */
#define LINK_CHALLENGES 32
#define LINK_RESPONSES 8
#define LINK_TOKEN_BYTES 8
#define LINK_STREAM_DEAD_AFTER GMC_S(10) /* a TCP connection may stall for seconds and live */
#define LINK_BURST_PACKETS 32            /* control may run ahead of the pacing by so much */

/* A way to the peer that is, or may become, the one in use. */
enum { ROUTE_UDP, ROUTE_NEW /* an address that the peer was seen at */, ROUTE_STREAM, ROUTES };

struct link_route {
    bool open; /* being challenged, or validated */
    bool valid;
    struct gmc_addr to;
    uint32_t mtu;      /* UDP payload that is known to arrive; 0 before validation */
    uint32_t attempts; /* challenges of the current series */
    gmc_time next;     /* the next challenge, or end of the MTU round; NEVER */
    bool challenge_due;
    /* MTU */
    bool settled;
    bool searched; /* settled once: what it takes is known, also while more is looked for */
    gmc_time settled_at;
    gmc_duration again;             /* the last wait until the search was repeated; 0: none */
    uint32_t round;                 /* 0: not begun */
    uint8_t copies[LINK_MTU_SIZES]; /* probes still to be sent in this round, by size */
    gmc_duration rtt;               /* of the first answer */
};

struct link_challenge {
    uint8_t token[LINK_TOKEN_BYTES];
    gmc_time sent;
    uint32_t size;
    uint8_t route; /* ROUTES: free */
};

struct link_response {
    uint8_t token[LINK_TOKEN_BYTES];
    enum gmc_path path;
    struct gmc_addr to;
};

/* What is known of UDP in each direction, since the link began or it was tested last. */
struct link_reach {
    gmc_time since;
    uint32_t asked; /* challenges that went out over UDP */
    uint64_t first; /* packet of a test where UDP is in use: it or a later one is acknowledged */
    bool arrived;   /* the peer answered one, on whichever way */
    bool heard;     /* a datagram of the peer came over UDP */
};

struct link_feedback {
    struct gmc_ackrange set; /* packets received; data only when it was kept */
    uint64_t largest;        /* of those that want an acknowledgement, and when it came */
    gmc_time largest_at;
    uint32_t unacked; /* since the last ACK */
    uint64_t unacked_bytes;
    gmc_time due;  /* NEVER: no ACK owed */
    gmc_time last; /* when the last of them came */
    struct gmc_ecn_counts ecn;
};

struct link_arrival {
    uint64_t number;
    gmc_duration waited; /* at this host, until it was looked at */
    uint32_t bytes;
    enum gmc_ecn_mark ecn;
};

struct gmc_link {
    const struct gmc_crypto *crypto;
    const struct gmc_trace_sink *trace;
    const struct gmc_cc_ops *cc;
    uint64_t cc_first; /* packet: what was sent before is not the law's, which began anew */
    void *cc_state;    /* initialised when the link is up */
    uint64_t fixed_rate_bps;
    struct gmc_prng prng;
    struct gmc_prng cc_prng;
    gmc_peer peer;
    enum gmc_transport transport;
    uint32_t udp_max;                   /* what the local interface takes */
    gmc_duration dead_after, keepalive; /* dead_after 0: computed */
    gmc_duration silent_after;          /* over UDP; 0: silence is not told there */
    bool watch;

    enum gmc_link_state state;
    gmc_time created;
    gmc_time now; /* of the last call */
    bool bye;     /* a farewell is owed */
    gmc_status bye_status;

    struct gmc_gate gate;
    struct gmc_loss loss;
    struct gmc_stream_tx tx;
    struct gmc_stream_rx rx;
    struct link_feedback feedback;
    struct gmc_ecn ecn; /* of the UDP path */
    uint64_t ecn_acked; /* packets sent as capable, acknowledged in this pass */
    uint64_t skip_at;   /* packet number to leave out */

    /* path */
    struct link_route routes[ROUTES];
    uint8_t active;          /* index of the route in use; ROUTES: none */
    struct gmc_addr from;    /* where the peer's UDP datagrams came from when validated */
    struct gmc_addr refused; /* address that did not answer lately */
    gmc_time refused_until;
    struct link_challenge challenges[LINK_CHALLENGES];
    uint32_t challenge_next;
    struct link_response responses[LINK_RESPONSES];
    uint32_t response_count;
    struct link_reach reach;

    /* sending */
    struct gmc_pace pace;
    uint32_t ack_budget; /* bytes that acknowledgements may take of it; see is_paced */
    bool idle;           /* nothing to send since the last packet */
    uint32_t pings_owed;
    uint32_t echoes;    /* how often the first stream bytes are yet to be repeated unasked */
    unsigned echoed;    /* times since something new was queued */
    gmc_time echo_time; /* when one more of these is due, because the path loses packets; NEVER */
    uint64_t repeated;  /* what packets below this number carried of the stream below */
    uint64_t repeated_end; /* this offset was queued again already */
    uint32_t data_max;     /* largest data datagram so far */

    /* liveness */
    gmc_time heard;
    gmc_time unanswered; /* first packet after `heard` that wants an answer; NEVER */
    gmc_time asked;      /* the last ping that the silence of a busy peer was answered with */
    gmc_time doubted;    /* since when it is asked once more whether the peer is silent; NEVER */
    bool silent;         /* for so long that the peer may be dead */

    /* data waiting for the composition's word */
    bool offered;
    struct link_arrival offered_arrival;
    bool wakes; /* see gmc_link_wakes */

    /* fates */
    struct gmc_link_fate *fates;
    size_t fate_capacity; /* a power of two, or 0 */
    size_t fate_head, fate_count;
    size_t data_pending;

    uint64_t decided; /* packets acknowledged or lost */
    uint64_t packets_sent, packets_lost, packets_marked, data_sent, bytes_sent, bytes_received;
};

/* link.c */
void gmc_link_die(struct gmc_link *link, gmc_time now, gmc_status status);
void gmc_link_push_fate(struct gmc_link *link, const struct gmc_sent *packet, bool acked);
/* Room for the fate of one more data packet. */
bool gmc_link_reserve_fate(struct gmc_link *link);
/* Works off the pass that the loss detection has open. */
void gmc_link_run_pass(struct gmc_link *link, gmc_time now);

/* link_path.c */
void gmc_link_path_init(struct gmc_link *link, const struct gmc_addr *to, gmc_time now);
/* Congestion control begins, on the route in use. */
void gmc_link_start_cc(struct gmc_link *link, gmc_time now);
const struct link_route *gmc_link_active(const struct gmc_link *link);
/* An authenticated datagram came in, number `newest` above all before it or not. */
void gmc_link_path_heard(struct gmc_link *link, gmc_time now, const struct gmc_dgram_in *in,
                         bool newest);
void gmc_link_path_challenged(struct gmc_link *link, const struct gmc_dgram_in *in,
                              struct gmc_bytes content);
void gmc_link_path_answered(struct gmc_link *link, gmc_time now, const struct gmc_dgram_in *in,
                            struct gmc_bytes content);
void gmc_link_path_on_timer(struct gmc_link *link, gmc_time now);
/* Somebody cares again: do not wait for the slow retries of a quiet link. */
void gmc_link_path_hurry(struct gmc_link *link);
gmc_time gmc_link_path_deadline(const struct gmc_link *link);
/* The next challenge or response; capacity bounds MTU probes. */
bool gmc_link_path_next(struct gmc_link *link, gmc_time now, uint8_t *buffer, size_t capacity,
                        struct gmc_dgram_out *out);

/* The ways that are not in use are looked at now, by the peer too. */
void gmc_link_path_test(struct gmc_link *link, gmc_time now);

/* link_reach.c */
void gmc_link_reach_asks(struct gmc_link *link);
void gmc_link_reach_acked(struct gmc_link *link, enum gmc_path path, uint64_t largest);
void gmc_link_reach_may_be_told(struct gmc_link *link, gmc_time now);

/* link_send.c */
/* Seals len bytes of plaintext at buffer + GMC_HEAD_BYTES as a packet that wants no
 * acknowledgement, and describes it. False: it could not be made. */
bool gmc_link_emit(struct gmc_link *link, gmc_time now, enum gmc_kind kind, uint8_t *buffer,
                   size_t len, struct gmc_dgram_out *out);
/* Takes over what congestion control wants now. */
void gmc_link_update_pace(struct gmc_link *link);
/* Queues the first unacknowledged bytes of the stream again. */
void gmc_link_repeat_stream(struct gmc_link *link, size_t max);
/* When the stream may send; NEVER when it has nothing to. */
gmc_time gmc_link_stream_time(const struct gmc_link *link);
/* When pacing and window let a batch of data go; NEVER while the window is full. */
gmc_time gmc_link_data_time(const struct gmc_link *link);

#endif
