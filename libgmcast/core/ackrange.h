/* SPDX-License-Identifier: BSD-2-Clause */
/* Acknowledgements: the set of received packet numbers, and how it is told to the sender.
 *
 * The plaintext of a GMC_KIND_ACK datagram; every v is a variable-length number as in RFC 9000,
 * section 16:
 *
 *   v largest     highest packet number received that wants an acknowledgement
 *   8 arrival     when it came, on the receiver's monotonic clock, ns, big-endian
 *   v delay       from then until this ACK was made, us
 *   v count       number of ranges, 1..GMC_ACK_RANGES_MAX
 *   v length - 1  of the newest range, which ends at largest
 *   then count - 1 times, from new to old:
 *   v gap - 1     numbers missing between this range and the one before
 *   v length - 1
 *   and at the end, where any of the packets counted by `set` had an ECN mark, as many as came
 *   since the session began with (RFC 9000, 19.3.2):
 *   v ect0, v ect1, v ce
 *
 * There is no acknowledgement of an acknowledgement: every ACK repeats what it can of the last
 * GMC_ACK_WINDOW numbers, so that a lost one costs nothing but time.
 */
#ifndef GMC_CORE_ACKRANGE_H
#define GMC_CORE_ACKRANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"

#define GMC_ACK_WINDOW 4096   /* numbers behind the highest that are remembered */
#define GMC_ACK_RANGES_MAX 64 /* newest first; 12 ACKs repeat each number at 20 % loss */
/* An upper bound of an encoded ACK: the head, then two numbers below 2^14 for each range, then the
 * counts. */
#define GMC_ACK_BYTES_MAX (8 + 8 + 8 + 2 + 4 * GMC_ACK_RANGES_MAX + 3 * 8)

struct gmc_ackrange {
    uint64_t next; /* one above the highest number received; 0: none yet */
    uint64_t bits[GMC_ACK_WINDOW / 64];
};

struct gmc_ack_range {
    uint64_t first, last; /* both inside */
};

/* Packets by the mark with which they came. */
struct gmc_ecn_counts {
    uint64_t ect0, ect1, ce;
};

struct gmc_ack {
    uint64_t largest;
    uint64_t arrival_ns;
    uint64_t delay_us;
    size_t count;
    struct gmc_ack_range ranges[GMC_ACK_RANGES_MAX]; /* newest first; [0].last is largest */
    bool has_ecn;
    struct gmc_ecn_counts ecn;
};

void gmc_ackrange_init(struct gmc_ackrange *set);
/* False: the number is too old to be told, so its sender will take the packet for lost. */
bool gmc_ackrange_insert(struct gmc_ackrange *set, uint64_t number);
/* Of the numbers below `end`: fills largest, count and ranges, and no ECN counts; count 0 when
 * nothing was received. */
void gmc_ackrange_collect(const struct gmc_ackrange *set, uint64_t end, struct gmc_ack *ack);

/* Returns the bytes written, at most GMC_ACK_BYTES_MAX; ranges that do not fit are left out. The
 * ack holds at least one range, and capacity is at least 64 (both asserted). */
size_t gmc_ack_put(const struct gmc_ack *ack, uint8_t *out, size_t capacity);
/* TRUNCATED, or INVALID for ranges that cross zero, too many of them, or other bytes behind them.
 */
GMC_NODISCARD gmc_status gmc_ack_get(struct gmc_bytes bytes, struct gmc_ack *ack);

#endif
