/* SPDX-License-Identifier: BSD-2-Clause */
/* What carries messages: they are handed over, and are over later. The one that there is speaks to
 * libfabric (fabric/ofi.h); tests have one of their own. Nothing here waits or has a thread. */
#ifndef FAB_WIRE_H
#define FAB_WIRE_H

#include "base/bytes.h"

enum fab_posted {
    FAB_POSTED, /* it is under way; poll says when it is over */
    FAB_BUSY,   /* not now: again after a poll */
    FAB_FAILED  /* never */
};

/* A message under way: it and its data stay where they are until it is over. */
struct fab_op {
    void *of_wire[8]; /* the wire's */
    bool is_send;
};

struct fab_done {
    struct fab_op *op;
    size_t len;        /* of what came */
    const char *error; /* NULL: it went well; borrowed until the next poll */
};

struct fab_wire_ops {
    /* All data of messages lies in this memory; called once, before the first message. */
    bool (*use_memory)(void *wire, void *data, size_t len);
    /* The number of a receiver by the bytes of its address, which somebody else wrote. */
    bool (*find)(void *wire, struct gmc_bytes address, uint64_t *to);
    void (*forget)(void *wire, uint64_t to);
    enum fab_posted (*send)(void *wire, uint64_t to, const uint8_t *data, size_t len,
                            struct fab_op *op);
    enum fab_posted (*receive)(void *wire, uint8_t *data, size_t len, struct fab_op *op);
    /* Moves what is under way and says what is over, at most max of it. -1: nothing will be any
     * more. */
    int (*poll)(void *wire, struct fab_done *done, int max);
    /* Whether fd tells when to poll again; false: poll again at once. */
    bool (*may_sleep)(void *wire);
    const char *(*error)(void *wire); /* of the last FAILED or -1, in words */
    void (*free)(void *wire);
};

struct fab_wire {
    const struct fab_wire_ops *ops;
    void *ctx;
    const char *name;    /* of both ends it has to be the same */
    int fd;              /* readable when there is something to poll; -1: nothing tells */
    size_t message_max;  /* bytes */
    size_t message_good; /* up to which a message is copied at once; longer ones need both ends */
    struct gmc_bytes address; /* of this end, for others */
    bool shares_memory;       /* with peers, whose end can then be this one's (fabric/ofi.h) */
};

#endif
