/* SPDX-License-Identifier: BSD-2-Clause */
/* What became of sent packets: round-trip time, loss detection and the probe timeout of one link.
 *
 * Source    RFC 9002: 5 (round-trip time), 6.1 (loss by 3 packets or 9/8 RTT), 6.2 (probe timeout)
 * Departure both thresholds grow when a packet turns out to have been late and not lost (as
 *           RACK-TLP, RFC 8985, 6.2 does), and fall back after 10 s without such a packet;
 *           the variance begins at a quarter of the first sample, not half of it (that sample is
 *           a path challenge, answered at once), and the back-off of the probe timeout begins
 *           with the third: probes are small, and loss here is rarely congestion
 * Memory    a ring indexed by packet number; it doubles when more than half of it is undecided,
 *           so a steady flow allocates nothing
 *
 * An acknowledgement or a timer opens a pass; gmc_loss_next then yields each packet that it
 * decides, in growing order of number.
 */
#ifndef GMC_CORE_LOSS_H
#define GMC_CORE_LOSS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/near.h"
#include "base/status.h"
#include "base/time.h"
#include "core/ackrange.h"

#define GMC_LOSS_PACKETS 3 /* RFC 9002, 6.1.1 */
/* The longest that a receiver waits with an ACK (4 ms), and what its timers may add. */
#define GMC_LOSS_ACK_DELAY GMC_MS(6)
#define GMC_LOSS_PTO_MAX GMC_S(1) /* bound of the probe timeout with its back-off */
#define GMC_LOSS_SKIPPED_MAX 8    /* skipped numbers that are remembered */

enum gmc_sent_state {
    GMC_SENT_UNTRACKED, /* needs no acknowledgement */
    GMC_SENT_PENDING,
    GMC_SENT_ACKED,
    GMC_SENT_LOST
};

struct gmc_sent {
    gmc_time sent;
    uint64_t cookie;      /* the link's: what the packet carried */
    uint32_t bytes;       /* on the wire */
    uint16_t length;      /* the link's */
    uint8_t kind;         /* enum gmc_kind */
    uint8_t state : 6;    /* enum gmc_sent_state */
    bool app_limited : 1; /* the sender had nothing to send before */
    bool ecn : 1;         /* sent as capable of ECN */
};
_Static_assert(sizeof(struct gmc_sent) == 24, "there is one for every packet on the way");

enum gmc_loss_fate { GMC_FATE_ACKED, GMC_FATE_LOST, GMC_FATE_SPURIOUS /* acked after LOST */ };

struct gmc_loss_decision {
    enum gmc_loss_fate fate;
    uint64_t number;
    struct gmc_sent packet; /* as it was before the decision */
};

struct gmc_rtt {
    gmc_duration latest, smoothed, variance, min; /* smoothed 0: no sample yet */
};

struct gmc_loss {
    struct gmc_sent *ring;  /* number n stands at n % capacity */
    size_t capacity;        /* a power of two */
    uint64_t base;          /* lowest number still in the ring */
    uint64_t next;          /* lowest number not yet sent */
    uint64_t first_pending; /* everything below is decided; next when nothing is pending */
    uint64_t lost_end;      /* one above the highest number that was taken for lost */
    size_t pending;
    uint64_t inflight_bytes;
    bool any_acked;
    uint64_t largest_acked;
    gmc_time largest_sent; /* when it was sent */
    gmc_time last_sent;    /* of the tracked packets */
    gmc_time loss_time;    /* when the oldest gap becomes a loss; NEVER */
    uint32_t pto_count;    /* probe timeouts in a row */
    struct gmc_rtt rtt;
    uint64_t rtt_first;        /* packets before this one went another way, and give no sample */
    uint64_t reorder_packets;  /* packet threshold, >= GMC_LOSS_PACKETS */
    gmc_duration reorder_time; /* added to the time threshold */
    gmc_time reorder_seen;     /* when a packet was last late */
    uint64_t skipped[GMC_LOSS_SKIPPED_MAX];
    size_t skipped_count; /* ever; the newest are kept */
    /* the pass */
    const struct gmc_ack *ack; /* NULL: a timer's */
    gmc_time pass_now;
    uint64_t pass_at, pass_end;
    size_t pass_range;
};

/* NOMEM. */
GMC_NODISCARD gmc_status gmc_loss_init(struct gmc_loss *loss);
void gmc_loss_fini(struct gmc_loss *loss);
/* What packets will look at, beside the structure itself. */
void gmc_loss_near(const struct gmc_loss *loss, struct gmc_near *near);

/* Makes room for `count` more numbers; NOMEM. To be called before they are used. */
GMC_NODISCARD gmc_status gmc_loss_reserve(struct gmc_loss *loss, size_t count);
/* The next number was used for a packet (state PENDING or UNTRACKED), or is skipped. Room was
 * reserved (asserted). */
void gmc_loss_on_sent(struct gmc_loss *loss, const struct gmc_sent *packet);
void gmc_loss_on_skipped(struct gmc_loss *loss);

/* A round trip measured elsewhere (path challenge). */
void gmc_loss_rtt_sample(struct gmc_loss *loss, gmc_duration sample);
/* The same of another path, which is used from now on: RFC 9000, 9.4. */
void gmc_loss_rtt_restart(struct gmc_loss *loss, gmc_duration sample);

/* Opens the pass of an acknowledgement (borrowed until the pass ends). INVALID, and nothing
 * changes, when it names a number that was never used: the peer makes acknowledgements up.
 * *rtt: the sample that it gave with the ack delay removed, 0 if none. */
GMC_NODISCARD gmc_status gmc_loss_on_ack(struct gmc_loss *loss, gmc_time now,
                                         const struct gmc_ack *ack, gmc_duration *rtt);
/* Opens the pass of the loss timer; nothing is yielded when it is not due. */
void gmc_loss_on_timer(struct gmc_loss *loss, gmc_time now);
/* A packet that is still remembered; NULL. */
const struct gmc_sent *gmc_loss_find(const struct gmc_loss *loss, uint64_t number);
/* The next packet that the open pass decides; false at its end. */
bool gmc_loss_next(struct gmc_loss *loss, struct gmc_loss_decision *decision);

/* The probe timeout without back-off, and the time at which it ends with it; NEVER when nothing is
 * pending. `tail`: nothing follows, so probe after 5/4 RTT if that is earlier. */
gmc_duration gmc_loss_pto(const struct gmc_loss *loss);
gmc_time gmc_loss_pto_time(const struct gmc_loss *loss, bool tail);
/* Gives back memory that an idle link does not need. */
void gmc_loss_trim(struct gmc_loss *loss);

#endif
