/* SPDX-License-Identifier: BSD-2-Clause */
/* What one child still needs of one channel, and which fragment goes to it next: fan-out of fresh
 * fragments, repair of lost ones and serving of late or returning children are one machine.
 *
 * A block is missing, open (fragments are being sent; it counts against the child's window), or
 * had (the child verified and stored it). Repairs go before fresh fragments; open
 * blocks are sent in the order of their numbers, so a page goes before its blocks also when it
 * comes to hand after them. Which block is opened next, and which fragments of an open block are at
 * hand, the composition says: the machine does not know where bytes are.
 */
#ifndef GMC_CORE_TX_H
#define GMC_CORE_TX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/interval.h"
#include "base/list.h"
#include "base/map.h"
#include "base/status.h"

struct gmc_tx_block;

struct gmc_tx {
    struct gmc_interval_set taken; /* had or open */
    struct gmc_map open;           /* block -> struct gmc_tx_block */
    struct gmc_tx_block *recent;   /* of open, the one looked at last; NULL */
    struct gmc_list repairs;       /* open blocks with lost fragments at hand, by number */
    struct gmc_list fresh;         /* open blocks with unsent fragments at hand, by number */
    struct gmc_list waiting;       /* open blocks with unsent fragments, none at hand */
    struct gmc_list resting;       /* the other open blocks: all sent */
    struct gmc_list spares;        /* records to use again */
    uint64_t blocks;               /* size of the block space */
    uint32_t window;               /* open blocks the child allows */
    uint8_t copied;                /* all of the resting blocks was sent again so often */
    uint16_t turn;                 /* counts the blocks wanted again, in 10 bits */
    uint32_t open_count;
    uint32_t fresh_count; /* blocks in fresh and repairs: the backlog at hand */
    uint64_t fragments_sent;
    uint64_t repairs_sent;
};

void gmc_tx_init(struct gmc_tx *tx, uint64_t blocks, uint32_t window, uint64_t seed);
void gmc_tx_fini(struct gmc_tx *tx);
/* What will be looked at next, beside the structure itself. */
void gmc_tx_near(const struct gmc_tx *tx, struct gmc_near *near);

/* The child has the blocks [first, last]. Out-of-range numbers are cut. FULL when the set would
 * need too many ranges: nothing is claimed then that the child lacks, it is only sent again. */
void gmc_tx_have(struct gmc_tx *tx, uint64_t first, uint64_t last);
/* The child lacks a block after all: it is missing again. */
void gmc_tx_want(struct gmc_tx *tx, uint32_t block);
/* Every block of the channel is had. */
bool gmc_tx_is_complete(const struct gmc_tx *tx);

/* May another block be opened? */
bool gmc_tx_may_open(const struct gmc_tx *tx);
/* No block is missing: each is open or had. */
static inline bool gmc_tx_is_all_taken(const struct gmc_tx *tx)
{
    return gmc_interval_count(&tx->taken) == tx->blocks;
}
/* The first missing block at or after from; false when there is none. */
bool gmc_tx_next_missing(const struct gmc_tx *tx, uint64_t from, uint32_t *block);
/* Opens a missing block of so many fragments, none at hand yet. NOMEM, FULL. */
GMC_NODISCARD gmc_status gmc_tx_open(struct gmc_tx *tx, uint32_t block, uint32_t fragments);
bool gmc_tx_is_open(const struct gmc_tx *tx, uint32_t block);
/* These fragments of an open block are at hand (others stay as they were). */
void gmc_tx_at_hand(struct gmc_tx *tx, uint32_t block, uint64_t mask);
/* No fragment of the block is at hand any more. */
void gmc_tx_out_of_hand(struct gmc_tx *tx, uint32_t block);

/* An open block of which nothing is at hand but something is to be sent; the next call gives the
 * next one, in turn. False when there is none. */
bool gmc_tx_next_waiting(struct gmc_tx *tx, uint32_t *block);

/* The fragment to send next; false when nothing is at hand. */
bool gmc_tx_next(struct gmc_tx *tx, uint32_t *block, uint16_t *fragment);
/* Where everything was sent and is not had yet: the fragment to send once more before the fate of
 * the last copy is known, until each was sent `copies` times (at most 4). A path that loses packets
 * would else take several round trips over its last window. The newest go first: what became of the
 * oldest will be known before another copy of them is there. False: there is none. */
bool gmc_tx_next_copy(struct gmc_tx *tx, unsigned copies, uint32_t *block, uint16_t *fragment);
void gmc_tx_sent(struct gmc_tx *tx, uint32_t block, uint16_t fragment);
/* By what gmc_tx_fate will know a fragment of an open block that is sent now. */
uint16_t gmc_tx_mark(const struct gmc_tx *tx, uint32_t block, uint16_t fragment);
/* What became of a fragment that was sent. Fates of blocks no longer open are ignored, and so are
 * those from before the child wanted the block again: such an acknowledgement is of bytes that the
 * child has thrown away. */
void gmc_tx_fate(struct gmc_tx *tx, uint32_t block, uint16_t mark, bool acked);

#endif
