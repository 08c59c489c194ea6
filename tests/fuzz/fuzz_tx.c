/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the operation fuzzer of core/tx. The oracle knows of each of 128 blocks whether it is
 * missing, open or had, and of each fragment whether it has to be sent; in the end everything that
 * is missing must be sent and nothing else.
 *
 * Input   byte 0: window; then triples (operation, block, argument)
 */
#include <string.h>

#include "base/assert.h"
#include "core/tx.h"

enum { BLOCKS = 128, FRAGMENTS = 5 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum where { MISSING, OPEN, HAD };

struct known {
    enum where where;
    unsigned unsent, lost, acked, at_hand;
    uint16_t marks[FRAGMENTS]; /* of the copy sent last */
    unsigned marked;
};

static struct gmc_tx tx;
static struct known known[BLOCKS];

static void check_all(void)
{
    uint32_t open = 0, at_hand = 0, missing = BLOCKS, block;
    for (uint32_t i = BLOCKS; i-- > 0;) {
        const struct known *k = &known[i];
        GMC_ASSERT(gmc_tx_is_open(&tx, i) == (k->where == OPEN));
        open += k->where == OPEN;
        at_hand += k->where == OPEN && (k->unsent & k->at_hand) != 0;
        missing = k->where == MISSING ? i : missing;
    }
    GMC_ASSERT(tx.open_count == open && tx.fresh_count == at_hand);
    GMC_ASSERT(gmc_tx_next_missing(&tx, 0, &block) == (missing < BLOCKS));
    GMC_ASSERT(gmc_tx_is_all_taken(&tx) == (missing == BLOCKS));
    GMC_ASSERT(missing == BLOCKS || block == missing);
    GMC_ASSERT(gmc_tx_is_complete(&tx) == (missing == BLOCKS && open == 0));
    GMC_ASSERT(gmc_tx_may_open(&tx) == (open < tx.window));
}

/* The lowest block with something lost at hand, else the lowest with something unsent. */
static bool wanted(uint32_t *block, uint16_t *fragment)
{
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < BLOCKS; i++) {
            unsigned mask = (pass == 0 ? known[i].lost : known[i].unsent) & known[i].at_hand;
            if (known[i].where != OPEN || mask == 0)
                continue;
            *block = i;
            *fragment = (uint16_t)__builtin_ctz(mask);
            return true;
        }
    }
    return false;
}

static void send_next(void)
{
    uint32_t block, want_block = 0;
    uint16_t fragment, want_fragment = 0;
    bool any = wanted(&want_block, &want_fragment);
    GMC_ASSERT(gmc_tx_next(&tx, &block, &fragment) == any);
    if (!any)
        return;
    GMC_ASSERT(block == want_block && fragment == want_fragment);
    struct known *k = &known[block];
    k->marks[fragment] = gmc_tx_mark(&tx, block, fragment);
    k->marked |= 1u << fragment;
    gmc_tx_sent(&tx, block, fragment);
    k->unsent &= ~(1u << fragment);
    k->lost &= ~(1u << fragment);
}

static void fate(uint32_t block, unsigned fragment, bool acked)
{
    struct known *k = &known[block];
    unsigned bit = 1u << fragment;
    if ((k->marked & bit) == 0) {
        gmc_tx_fate(&tx, block, (uint16_t)(0xffc0 | fragment), acked); /* of another turn */
        return;
    }
    gmc_tx_fate(&tx, block, k->marks[fragment], acked);
    if (k->where != OPEN || (k->acked & bit) != 0)
        return;
    if (acked) {
        k->acked |= bit;
        k->unsent &= ~bit;
        k->lost &= ~bit;
    } else {
        k->unsent |= bit;
        k->lost |= bit;
    }
}

static void have(uint32_t first, uint64_t last)
{
    gmc_tx_have(&tx, first, last);
    for (uint32_t i = first; i <= last && i < BLOCKS; i++)
        known[i] = (struct known){.where = HAD};
}

static void next_waiting(void)
{
    uint32_t block;
    bool any = false;
    for (uint32_t i = 0; i < BLOCKS; i++)
        any = any || (known[i].where == OPEN && known[i].unsent != 0 &&
                      (known[i].unsent & known[i].at_hand) == 0);
    GMC_ASSERT(gmc_tx_next_waiting(&tx, &block) == any);
    GMC_ASSERT(!any || known[block].where == OPEN);
}

static void operate(uint8_t op, uint32_t block, uint8_t argument)
{
    struct known *k = &known[block];
    switch (op % 10) {
    case 0:
    case 1:
        if (k->where == MISSING && tx.turn < 1000) { /* marks that do not wrap */
            GMC_ASSERT(gmc_tx_open(&tx, block, FRAGMENTS) == GMC_OK);
            *k = (struct known){.where = OPEN, .unsent = (1u << FRAGMENTS) - 1};
        }
        break;
    case 2:
        gmc_tx_at_hand(&tx, block, argument);
        k->at_hand |= k->where == OPEN ? argument & ((1u << FRAGMENTS) - 1) : 0;
        break;
    case 3:
        gmc_tx_out_of_hand(&tx, block);
        k->at_hand = 0;
        break;
    case 4:
    case 5:
        send_next();
        break;
    case 6:
        fate(block, argument % FRAGMENTS, argument >= 128);
        break;
    case 7:
        have(block, argument < 200 ? (uint64_t)block + argument % 4 : (uint64_t)block + argument);
        break;
    case 8:
        gmc_tx_want(&tx, block);
        *k = (struct known){.where = MISSING};
        break;
    default:
        next_waiting();
        break;
    }
}

/* Everything that is at hand goes out, and every block becomes had. */
static void finish(void)
{
    for (uint32_t i = 0; i < BLOCKS; i++) {
        if (known[i].where == MISSING)
            operate(0, i, 0);
        operate(2, i, 0xff);
    }
    uint32_t block;
    uint16_t fragment;
    for (uint32_t sent = 0; gmc_tx_next(&tx, &block, &fragment); sent++) {
        GMC_ASSERT(sent < BLOCKS * FRAGMENTS);
        send_next();
    }
    have(0, UINT64_MAX);
    check_all();
    GMC_ASSERT(gmc_tx_is_complete(&tx));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    gmc_tx_init(&tx, BLOCKS, data[0], 1);
    memset(known, 0, sizeof(known));
    for (size_t i = 1; i + 3 <= size; i += 3) {
        operate(data[i], data[i + 1] % BLOCKS, data[i + 2]);
        check_all();
    }
    finish();
    gmc_tx_fini(&tx);
    return 0;
}
