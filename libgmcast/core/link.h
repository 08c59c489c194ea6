/* SPDX-License-Identifier: BSD-2-Clause */
/* One session's link to a neighbour: packet numbers, sealing, acknowledgements, loss detection
 * and probe timeouts after RFC 9002, path validation, path MTU, keep-alive, pacing under a
 * congestion control, and one reliable ordered stream of control messages in each direction.
 *
 * A link is one session: when the session is made anew, a new link is made and the old one is
 * freed. What was queued on it is lost with it; the composition says again what still matters.
 *
 * The composition gives every datagram that carries this link's session id to gmc_link_receive,
 * drains messages and fates, and asks for packets with gmc_link_next_packet (control, feedback)
 * and gmc_link_send_data (fragments).
 */
#ifndef GMC_CORE_LINK_H
#define GMC_CORE_LINK_H

#include "base/near.h"
#include "base/prng.h"
#include "base/time.h"
#include "base/trace.h"
#include "core/cc.h"
#include "core/io.h"
#include "wire/head.h"

struct gmc_link;

/* Any datagram that a link makes itself (all but data) fits here. */
#define GMC_LINK_PACKET_MAX 1472
#define GMC_LINK_MESSAGE_MAX (1u << 20) /* bytes of one control message */
#define GMC_LINK_WIRE_BYTES 28          /* IPv4 and UDP heads, counted with each packet */

struct gmc_link_config {
    const struct gmc_crypto *crypto;
    const struct gmc_session *session; /* borrowed for the call; keys are derived and kept */
    const struct gmc_cc_ops *cc;
    uint64_t fixed_rate_bps;
    struct gmc_prng prng; /* own stream */
    const struct gmc_trace_sink *trace;
    struct gmc_addr to; /* where the first datagrams go; len 0: the peer's configured address */
    gmc_duration dead_after; /* silence that ends the link; 0: 1.5 s plus 3 PTO */
    gmc_duration keepalive;  /* idle time after which a ping goes out; 0: 400 ms */
    /* Silence over UDP that is told, though it does not end the link: so much and 3 PTO; 0: none
     * is. For peers that are near and can be done without. */
    gmc_duration silent_after;
    bool virtual_bodies; /* padding of path probes is left out, see gate.h */
};

/* NULL when out of memory or when the keys cannot be prepared. */
struct gmc_link *gmc_link_new(const struct gmc_link_config *config, gmc_time now);
void gmc_link_free(struct gmc_link *link);
/* What its next calls will look at. */
void gmc_link_near(const struct gmc_link *link, struct gmc_near *near);

/* A fragment that passed the link's tag; still sealed under the content key. */
struct gmc_link_data {
    uint16_t handle;
    uint32_t block;
    uint16_t fragment;
    struct gmc_bytes body;   /* ciphertext, borrowed from the datagram */
    const uint8_t *seal_tag; /* 16 bytes behind it */
};

/* Checks replay and tags, then handles the datagram or, for data, fills *data and sets *is_data.
 * Errors (AUTH, REPLAY, TRUNCATED, TYPE, ...) drop the datagram and change nothing; one that has
 * passed the tag and is wrong in itself (TRUNCATED, INVALID, FULL) only cannot be replayed. STATE:
 * the link is dead. A peer that acknowledges what was never sent, or breaks the control stream,
 * makes it so. A data packet
 * is acknowledged only after gmc_link_accept_data, to be called before the next input: one that
 * the composition could not keep stays unacknowledged, as if lost. */
GMC_NODISCARD gmc_status gmc_link_receive(struct gmc_link *link, gmc_time now,
                                          const struct gmc_dgram_in *in, struct gmc_link_data *data,
                                          bool *is_data);

void gmc_link_accept_data(struct gmc_link *link, gmc_time now);
/* After data: is there something to send now, or does the deadline come earlier than it did? Most
 * data is acknowledged later together with more, and its link needs no look until then. Asking
 * makes it false. */
bool gmc_link_wakes(struct gmc_link *link);

/* Control messages, in order. send copies; FULL when more than 4 MiB are queued. next borrows
 * until the next call. */
GMC_NODISCARD gmc_status gmc_link_send_message(struct gmc_link *link, gmc_time now,
                                               struct gmc_bytes message);
bool gmc_link_next_message(struct gmc_link *link, struct gmc_bytes *message);

/* What became of a data packet. cookie is the sender's. Every data packet gets exactly one fate
 * while the link lives; a late acknowledgement after LOST is not reported. */
struct gmc_link_fate {
    uint64_t cookie;
    gmc_time sent;
    bool acked; /* false: lost, or given up at a probe timeout */
};
bool gmc_link_next_fate(struct gmc_link *link, struct gmc_link_fate *fate);

/* Sending data. ready: the path is validated and pacing and window let a packet of this many
 * payload bytes go now. One call of send_data makes one datagram; out borrows body and tail. The
 * link writes head (with link tag). */
bool gmc_link_ready(const struct gmc_link *link, gmc_time now, size_t udp_payload);
GMC_NODISCARD gmc_status gmc_link_send_data(struct gmc_link *link, gmc_time now,
                                            const struct gmc_data_head *head, struct gmc_bytes body,
                                            const uint8_t *seal_tag, uint64_t cookie,
                                            struct gmc_dgram_out *out);
/* Bytes of messages that the peer was told so far, and those of them that it has. */
uint64_t gmc_link_told(const struct gmc_link *link);
uint64_t gmc_link_told_acked(const struct gmc_link *link);
/* The same for data that control's rule holds for, which goes before all other: it is not held back
 * by the pace of that, only by itself. When may it go; NEVER while the window is full. */
gmc_time gmc_link_urgent_time(const struct gmc_link *link);
/* Such data goes out. */
void gmc_link_note_urgent(struct gmc_link *link, gmc_time now);
/* The sender ran out of data although the link was ready (marks samples as application
 * limited, and makes tails be probed early). */
void gmc_link_set_idle(struct gmc_link *link, gmc_time now);

/* How often in all what is on the way is worth being sent when nothing else is to be, so that most
 * likely all of it arrives: 1 on a path without base loss, up to GMC_LINK_COPIES_MAX. */
#define GMC_LINK_COPIES_MAX 4u
unsigned gmc_link_copies(const struct gmc_link *link);

/* Base loss of the path, as congestion control estimates it; at most nine in ten. */
uint32_t gmc_link_loss_ppm(const struct gmc_link *link);
/* What congestion control sends at, bit/s; 0 before the link is up. */
uint64_t gmc_link_rate(const struct gmc_link *link);
/* Of what was acknowledged last, in queues on the way; 0 not known. */
gmc_duration gmc_link_queue(const struct gmc_link *link);
gmc_duration gmc_link_least_rtt(const struct gmc_link *link); /* 0 not known */
/* Congestion control has found what the path carries, and does not come from less. */
bool gmc_link_rate_is_found(const struct gmc_link *link);

/* Data waits, since then, for something that links share: what the pace would have let go meanwhile
 * may go at once when the wait is over. NEVER: it does not wait. */
void gmc_link_hold(struct gmc_link *link, gmc_time since);
/* For how long without sending the pace makes up at most, if something waited. */
gmc_duration gmc_link_slack(const struct gmc_link *link);

/* The next packet that the link itself owes now: feedback, control stream, ping, path challenge.
 * Writes into buffer (capacity at least GMC_LINK_PACKET_MAX; larger path probes are sent only when
 * capacity allows) and describes it in out, as body. False: nothing due. */
bool gmc_link_next_packet(struct gmc_link *link, gmc_time now, uint8_t *buffer, size_t capacity,
                          struct gmc_dgram_out *out);

/* Ends the session: the next packet tells the peer, then the link is dead. */
void gmc_link_bye(struct gmc_link *link, gmc_time now, gmc_status status);

/* Whether the composition cares if the peer is alive while nothing moves: then a ping goes out
 * after each `keepalive` of silence. Off (as at the start), every 15 s. */
void gmc_link_set_watch(struct gmc_link *link, bool watch);

/* Another congestion control from now on; it begins anew. Where there is no memory for it the old
 * one goes on. */
void gmc_link_set_cc(struct gmc_link *link, gmc_time now, const struct gmc_cc_ops *cc);

/* The path is said to carry so much (bit/s of IP packets): data that is to come may begin at that
 * rate, if congestion control knows no better. What the path shows counts from then on. */
void gmc_link_expect(struct gmc_link *link, gmc_time now, uint64_t rate_bps);

/* Datagrams of this many payload bytes are wanted. Where the path is not known to carry them, and
 * the search for its MTU is over, it begins once more: all its probes may have been lost. If it was
 * over only within the last two round trips and 100 ms, then after such a wish: the link goes over
 * to its TLS connection, if it has one, until it is no longer watched. False: they will not be
 * carried. */
bool gmc_link_want_payload(struct gmc_link *link, gmc_time now, size_t udp_payload);

/* UDP payload that the path is known to take, once the first search for it is over; else 0. */
uint32_t gmc_link_payload(const struct gmc_link *link);

/* When next_packet or pacing wants attention; on_timer then runs loss and probe timeouts.
 * `want_data`: the composition has data waiting, so pacing counts too. */
gmc_time gmc_link_deadline(const struct gmc_link *link, bool want_data);
void gmc_link_on_timer(struct gmc_link *link, gmc_time now);

enum gmc_link_state {
    GMC_LINK_VALIDATING, /* session up, path not yet answered */
    GMC_LINK_UP,
    GMC_LINK_DEAD /* silence; stays so */
};
enum gmc_link_state gmc_link_state(const struct gmc_link *link);
/* Nothing was heard for so long that the peer may be stopped or dead: within TLS, whose TCP
 * connection may stall for seconds and live, for as long as ends a link over UDP; over UDP as the
 * configuration says. The link goes on; the next datagram ends the silence. */
bool gmc_link_is_silent(const struct gmc_link *link);

/* Do UDP datagrams get through to the peer (out) and from it (in)? The peer's are heard; ours are
 * known to arrive because it answers challenges, over its TLS connection too where its own UDP may
 * not come back. LOST: for a second after challenges nothing of that was seen. With transport TCP
 * nothing is known. */
void gmc_link_reach(const struct gmc_link *link, gmc_time now, enum gmc_reach *out,
                    enum gmc_reach *in);
/* Finds that out anew where UDP is not in use, from both ends; where it is, the peer has to show
 * that it is alive. */
void gmc_link_test(struct gmc_link *link, gmc_time now);

struct gmc_link_info {
    enum gmc_path path;
    gmc_duration srtt, min_rtt, pto;
    uint64_t rate_bps;
    uint32_t udp_payload_max; /* validated; grows while larger probes are answered */
    bool mtu_settled;         /* probing of larger sizes is over */
    uint64_t inflight_bytes;
    uint64_t packets_sent, packets_lost, data_sent;
    uint64_t packets_marked;             /* of those sent, by congestion, as the peer says */
    bool ecn;                            /* marks are used on this path */
    uint64_t bytes_sent, bytes_received; /* UDP payload */
    uint64_t streamed_bytes_queued;      /* control bytes not yet acknowledged */
    uint32_t loss_ppm;                   /* as congestion control estimates it */
    struct gmc_addr from; /* of the peer's UDP datagrams; len 0: none was validated */
};
void gmc_link_info(const struct gmc_link *link, struct gmc_link_info *info);
/* Where the peer's UDP datagrams come from; len 0: none was validated. */
struct gmc_addr gmc_link_from(const struct gmc_link *link);
uint32_t gmc_link_session_id(const struct gmc_link *link); /* local id */

#endif
