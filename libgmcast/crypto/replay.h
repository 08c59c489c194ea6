/* SPDX-License-Identifier: BSD-2-Clause */
/* The replay window of one receiving direction: which packet numbers were seen already.
 *
 * A ring of bits, like RFC 6479: the highest number moves a window of GMC_REPLAY_WINDOW numbers;
 * what falls behind it counts as seen. Checking and marking are two calls, because a number is
 * marked only after its tag proved right. */
#ifndef GMC_CRYPTO_REPLAY_H
#define GMC_CRYPTO_REPLAY_H

#include <stdint.h>

#include "base/status.h"

/* Numbers behind the highest one that are still told apart. A path that reorders by more loses
 * those packets; 4096 full packets are 5 ms at 10 Gbit/s and half a second at 100 Mbit/s. */
#define GMC_REPLAY_WINDOW 4096

struct gmc_replay {
    uint64_t next; /* one above the highest number seen; 0: none yet */
    uint64_t bits[GMC_REPLAY_WINDOW / 64];
};

void gmc_replay_init(struct gmc_replay *replay);
/* OK, or REPLAY when the number was seen or is too old to know. Changes nothing. */
GMC_NODISCARD gmc_status gmc_replay_check(const struct gmc_replay *replay, uint64_t number);
/* Marks a number that passed the check; others are ignored. */
void gmc_replay_mark(struct gmc_replay *replay, uint64_t number);

#endif
