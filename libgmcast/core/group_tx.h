/* SPDX-License-Identifier: BSD-2-Clause */
/* What a gateway sends to a group: windows that are open, how far each is, and which datagram goes
 * next. Each source fragment goes once; then repairs, as many as the node that lacks most asks for.
 * Repairs are rows of parity, which serve every node; when these are used up, fragments that
 * somebody lacks. The machine does not know where bytes are, nor who listens.
 *
 * A need is told as (seen, need): of `seen` repairs the node knows what became of them, and it
 * lacks `need` more. So a window is promised seen + need of them, however often that is said. */
#ifndef GMC_CORE_GROUP_TX_H
#define GMC_CORE_GROUP_TX_H

#include "base/list.h"
#include "base/time.h"
#include "core/group.h"
#include "wire/group.h"

/* Repairs that one window may get: all of parity, and then each fragment once more. */
#define GMC_GROUP_REPAIRS_MAX (GMC_FEC_PARITY_MAX + GMC_GROUP_SOURCES_MAX)

struct gmc_group_out {
    struct gmc_list node; /* tx->open, in order of opening */
    uint32_t window;
    uint64_t turn; /* counts the windows that were opened */
    uint32_t sources;
    uint32_t sources_sent;
    uint32_t promised, sent;              /* repairs */
    bool news;                            /* the group is to be told of it */
    uint64_t again[GMC_GROUP_MASK_WORDS]; /* fragments that somebody lacks, for when parity ends */
    uint32_t asked;                       /* repairs that needs called for, beyond the first ones */
    gmc_time sent_at;                     /* the last datagram of it */
};

struct gmc_group_tx {
    struct gmc_list open;
    uint32_t count;
    uint64_t turns;
    uint32_t expected_q4; /* repairs of a window, smoothed, in sixteenths */
};

enum gmc_group_piece { GMC_GROUP_SOURCE, GMC_GROUP_PARITY };

struct gmc_group_pick {
    struct gmc_group_out *out;
    enum gmc_group_piece piece;
    uint32_t index; /* of the source, or of the row of parity */
};

void gmc_group_tx_init(struct gmc_group_tx *tx);
/* Begins to send a window; takes the place in `out`, which is the caller's until it is closed. The
 * first repairs are promised at once: a little less than the windows before needed. */
void gmc_group_tx_open(struct gmc_group_tx *tx, struct gmc_group_out *out, gmc_time now,
                       uint32_t window, uint32_t sources);
void gmc_group_tx_close(struct gmc_group_tx *tx, struct gmc_group_out *out);

/* What to send next: repairs of the oldest window, then sources. False: nothing now. */
bool gmc_group_tx_next(const struct gmc_group_tx *tx, struct gmc_group_pick *pick);
void gmc_group_tx_sent(struct gmc_group_tx *tx, gmc_time now, const struct gmc_group_pick *pick);

struct gmc_group_out *gmc_group_tx_find(struct gmc_group_tx *tx, uint32_t window);
/* A node lacks so much. missing: of its fragments, or empty. False: that is promised already, or
 * more than GMC_GROUP_REPAIRS_MAX. */
bool gmc_group_tx_need(struct gmc_group_out *out, uint32_t seen, uint32_t need,
                       struct gmc_bytes missing);

/* Is there something that the group should hear at once? */
bool gmc_group_tx_has_news(const struct gmc_group_tx *tx);
/* The windows whose sources were all sent, at most GMC_GROUP_STATES_MAX, the oldest first; there is
 * no news then. */
void gmc_group_tx_state(struct gmc_group_tx *tx, struct gmc_group_state *state);

#endif
