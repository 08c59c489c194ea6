/* SPDX-License-Identifier: BSD-2-Clause */
/* The replay window: a ring of bits behind the highest number seen. */
#include "crypto/replay.h"

#include <string.h>

#define WORDS (GMC_REPLAY_WINDOW / 64)

void gmc_replay_init(struct gmc_replay *replay)
{
    memset(replay, 0, sizeof *replay);
}

gmc_status gmc_replay_check(const struct gmc_replay *replay, uint64_t number)
{
    if (number >= replay->next)
        return number == UINT64_MAX ? GMC_ERR_REPLAY : GMC_OK;
    if (replay->next - number > GMC_REPLAY_WINDOW)
        return GMC_ERR_REPLAY;
    uint64_t word = replay->bits[number / 64 % WORDS];
    return (word >> (number % 64)) & 1 ? GMC_ERR_REPLAY : GMC_OK;
}

/* Forgets what the window leaves behind, so that its bits can stand for [next, number]. */
static void advance(struct gmc_replay *replay, uint64_t number)
{
    if (number - replay->next >= GMC_REPLAY_WINDOW) {
        memset(replay->bits, 0, sizeof replay->bits);
    } else {
        for (uint64_t n = replay->next; n <= number; n++)
            replay->bits[n / 64 % WORDS] &= ~(UINT64_C(1) << (n % 64));
    }
    replay->next = number + 1;
}

void gmc_replay_mark(struct gmc_replay *replay, uint64_t number)
{
    if (gmc_replay_check(replay, number) != GMC_OK)
        return;
    if (number >= replay->next)
        advance(replay, number);
    replay->bits[number / 64 % WORDS] |= UINT64_C(1) << (number % 64);
}
