/* SPDX-License-Identifier: BSD-2-Clause */
/* The local API: a ZeroMQ ROUTER for requests and a PUB for events. ZeroMQ's descriptor is
 * edge-triggered, and any call may consume its edge; only this file touches the sockets, and it
 * reads ZMQ_EVENTS until nothing is left after every call. */
#ifndef GWD_CTL_ZMQ_H
#define GWD_CTL_ZMQ_H

#include <event2/event.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/bytes.h"

#define GWD_CLIENT_ID_MAX 255

struct gwd_zmq;

/* Who asked; copied by those who answer later. */
struct gwd_client {
    uint8_t len;
    uint8_t id[GWD_CLIENT_ID_MAX];
};

struct gwd_zmq_config {
    struct event_base *base;
    const char *control; /* ipc:// endpoints */
    const char *events;
    uid_t uid; /* who owns socket and directory; (uid_t)-1: leave it */
    gid_t gid;
    void *ctx;
    void (*request)(void *ctx, const struct gwd_client *client, struct gmc_bytes request);
    /* A client of this user sent what is no frame or one longer than GMC_CTL_REQUEST_BYTES_MAX. */
    void (*refused)(void *ctx, uid_t uid);
    struct gmc_bytes last_word; /* the reply to such a one; borrowed */
};

/* Binds a socket as below; frames longer than frame_max end their connection. *bound: the path of
 * the socket, to be removed and freed by the caller, also where false is returned. */
bool gwd_zmq_bind(const struct gwd_zmq_config *config, void *socket, const char *endpoint,
                  size_t frame_max, char **bound, char *reason, size_t size);

/* Makes the sockets' directories (mode 0750) where they are missing, removes stale sockets, binds.
 * NULL with a reason, also when another gatewayd answers there. */
struct gwd_zmq *gwd_zmq_new(const struct gwd_zmq_config *config, char *reason, size_t size);
void gwd_zmq_free(struct gwd_zmq *zmq);
/* Takes requests from now on. */
bool gwd_zmq_start(struct gwd_zmq *zmq);
void gwd_zmq_stop(struct gwd_zmq *zmq);
/* To a client that has gone away: dropped. */
void gwd_zmq_reply(struct gwd_zmq *zmq, const struct gwd_client *client, struct gmc_bytes reply);
/* Two frames: topic and text (JSON). Dropped where a subscriber is too slow. */
void gwd_zmq_publish(struct gwd_zmq *zmq, const char *topic, const char *text);

#endif
