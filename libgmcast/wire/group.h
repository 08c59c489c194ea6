/* SPDX-License-Identifier: BSD-2-Clause */
/* What a gateway tells its group of how far it is: bytes <-> fields, nothing else. It stands in the
 * content of a GMC_KIND_GROUP_STATE datagram, all numbers big-endian:
 *
 *   0..1   members   nodes that the group counts on
 *   2..5   backoff   the longest wait before a need is told, us
 *   6      count     of windows that follow, at most GMC_GROUP_STATES_MAX
 *
 * and for each window 8 bytes:
 *
 *   0..3   window
 *   4..5   promised  repairs, those that were sent too
 *   6..7   sent      of these
 */
#ifndef GMC_WIRE_GROUP_H
#define GMC_WIRE_GROUP_H

#include "base/bytes.h"
#include "base/status.h"

#define GMC_GROUP_STATES_MAX 64u
#define GMC_GROUP_STATE_BYTES_MAX (7u + 8u * GMC_GROUP_STATES_MAX)

struct gmc_group_window {
    uint32_t window;
    uint16_t promised, sent; /* repairs; all source fragments of the window were sent before */
};

struct gmc_group_state {
    uint16_t members;
    uint32_t backoff_us;
    uint8_t count;
    struct gmc_group_window windows[GMC_GROUP_STATES_MAX];
};

/* Returns the length. count is within its bound (asserted). */
size_t gmc_group_state_put(const struct gmc_group_state *state,
                           uint8_t out[GMC_GROUP_STATE_BYTES_MAX]);
/* TRUNCATED; INVALID when count is too large, more is sent than was promised, or bytes are left. */
GMC_NODISCARD gmc_status gmc_group_state_get(struct gmc_bytes bytes, struct gmc_group_state *state);

#endif
