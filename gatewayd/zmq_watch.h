/* SPDX-License-Identifier: BSD-2-Clause */
/* Why connections of a bound ZeroMQ socket end. ZeroMQ ends one on which comes what it does not
 * take (a frame over ZMQ_MAXMSGSIZE, bytes that are no frame), and tells nobody: its monitor
 * reports the same as for a client that closes. Here each connection's descriptor has a duplicate,
 * made before any of its frames is read, so that the two can be told apart, and the client can be
 * given a last word. */
#ifndef GWD_ZMQ_WATCH_H
#define GWD_ZMQ_WATCH_H

#include <event2/event.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/bytes.h"

struct gwd_zmq_watch;

struct gwd_zmq_watch_config {
    struct event_base *base;
    void *context;        /* of ZeroMQ; of no other watch */
    void *socket;         /* not bound yet */
    const char *endpoint; /* ipc://, where it will be; borrowed */
    void *ctx;
    /* ZeroMQ ended the connection of a client of this user, and the client had not. */
    void (*refused)(void *ctx, uid_t uid);
    struct gmc_bytes last_word; /* one frame, for such a client; borrowed */
};

/* The socket is to be bound after this, and closed after the watch is freed. NULL: out of memory or
 * descriptors. */
struct gwd_zmq_watch *gwd_zmq_watch_new(const struct gwd_zmq_watch_config *config);
void gwd_zmq_watch_free(struct gwd_zmq_watch *watch);
/* From now on. */
bool gwd_zmq_watch_start(struct gwd_zmq_watch *watch);

#endif
