/* SPDX-License-Identifier: BSD-2-Clause */
/* What the points of a curve have in common, kept by a family from one point for the next: a graph
 * and its routes, the load at which a model ends. Values that it was made with are its key; figures
 * may not depend on whether something was kept.
 *
 * The last few are kept, as long as they are small together; sweeps that change something large
 * with every point make it anew each time. Makers may get other things from the memo, and use them
 * until they return.
 */
#ifndef INTERCONNECT_MEMO_H
#define INTERCONNECT_MEMO_H

#include <stddef.h>

#include "base/status.h"

#define IC_MEMO_KEPT_MAX 8u
#define IC_MEMO_BYTES_MAX 536870912u /* together; a larger one is kept alone */
#define IC_MEMO_KEY_MAX 32u

struct ic_kept {
    double key[IC_MEMO_KEY_MAX];
    size_t key_length, bytes;
    void *what;
    void (*release)(void *what);
};

/* Begins with zeros, for one family in one setting. */
struct ic_memo {
    struct ic_kept kept[IC_MEMO_KEPT_MAX]; /* the last one that was used first */
    size_t count;
};

void ic_memo_fini(struct ic_memo *memo);

/* How something is made that may be kept. */
struct ic_memo_maker {
    /* Gives it, and about how many bytes it has. */
    gmc_status (*make)(const void *ctx, void **what, size_t *bytes, char *error);
    void (*release)(void *what);
    const void *ctx;
};

/* What was made with this key of up to KEY_MAX values, or is made now. It stays until something
 * else is made. Errors are those of make, and then nothing is kept. */
GMC_NODISCARD gmc_status ic_memo_get(struct ic_memo *memo, const double *key, size_t length,
                                     const struct ic_memo_maker *maker, void **what, char *error);

#endif
