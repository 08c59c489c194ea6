/* SPDX-License-Identifier: BSD-2-Clause */
/* Publishing and receiving messages through the gateway of this domain, or a node of it.
 *
 * A channel is named by its publisher's domain and a name. A message has 0 to GMC_PUBLISH_MAX bytes
 * and arrives whole or not at all; messages of a channel are numbered from 0. One publisher or
 * subscriber is for one thread. Link with libgmcast and libzmq (pkg-config libgmcast). */
#ifndef GMCAST_MESSAGES_H
#define GMCAST_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gmcast/client.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GMC_PUBLISH_MAX (1u << 20) /* bytes of one message */

enum gmc_client_order {
    GMC_CLIENT_ORDERED,   /* all, in the order of publishing */
    GMC_CLIENT_UNORDERED, /* all, each as soon as it is here */
    GMC_CLIENT_LATEST     /* the newest; what is older when it is sent or comes is left out */
};

/* ---- publishing ---- */
struct gmc_publisher;

struct gmc_publisher_config {
    const char *gateway; /* control endpoint of the local gateway or node, ipc://...; NULL: the
                            usual one */
    const char *channel; /* name: up to 128 printable characters, no space, no slash */
    /* Where subscribers are, besides at this domain's gateway: DOMAIN, DOMAIN/nodes, DOMAIN/gateway
     * or DOMAIN/NODE+NODE, also of this domain. DOMAIN alone: at the nodes that it is configured to
     * deliver to. */
    const char *const *domains;
    size_t domain_count;
    enum gmc_client_order order;
    int timeout_ms; /* for the gateway's answer; 0: 5000 */
    /* Called from within gmc_publisher_send and gmc_publisher_close with a sentence about a domain
     * or a node that is refused what is published (a node that does not exist, say), or is not
     * heard; the latter gets what it can when it comes back. NULL: nobody is told but the
     * gateway's log. */
    void (*warn)(void *ctx, const char *text);
    void *warn_ctx;
};

/* Opens the channel. Programs that open the same channel with the same domains, in whatever order
 * and by whatever names, and the same order of messages publish on it together; it ends with the
 * last of them. NULL with the reason in error. */
struct gmc_publisher *gmc_publisher_open(const struct gmc_publisher_config *config, char *error,
                                         size_t error_len);
/* Publishes; waits at most timeout_ms (-1: for ever) while the gateway takes no more, because links
 * are slower than publishers. OK: the gateway will have it. AGAIN: not now, nothing was done.
 * INVALID: too long. REFUSED: the channel has ended. NO_GATEWAY: the gateway is gone; open anew.
 * INTERRUPTED. */
enum gmc_client_result gmc_publisher_send(struct gmc_publisher *publisher, const void *bytes,
                                          size_t len, int timeout_ms);
/* Readable when there is something to be looked at: then gmc_publisher_send with a timeout of 0
 * may succeed where it was AGAIN. Call it until AGAIN before waiting: the descriptor tells of
 * changes only. */
int gmc_publisher_fd(const struct gmc_publisher *publisher);
/* Ends it and waits until the gateway has taken all: OK; otherwise as for send. In any case the
 * publisher is freed; what was accepted still goes to the domains. reason is told to subscribers;
 * NULL: "closed". */
enum gmc_client_result gmc_publisher_close(struct gmc_publisher *publisher, const char *reason,
                                           int timeout_ms);
const char *gmc_publisher_error(const struct gmc_publisher *publisher);

/* ---- receiving ---- */
struct gmc_subscriber;

struct gmc_received {
    const char *source;  /* domain */
    const char *channel; /* name */
    uint64_t opening;    /* differs each time that the source opens the channel */
    uint64_t sequence;
    uint64_t missed; /* messages before it that did not come, since the last one of this opening;
                        what is late in an unordered channel counts as missed first */
    bool end;        /* the channel has ended: bytes say why, not terminated */
    const void *bytes;
    size_t len;
};

/* Everything on channels of this name from now on; source: of this domain only; NULL: of all. */
struct gmc_subscriber *gmc_subscriber_open(const char *gateway, const char *source,
                                           const char *channel, char *error, size_t error_len);
/* The next message, borrowed until the next call; waits at most timeout_ms (-1: for ever). AGAIN:
 * none. NO_GATEWAY: open anew. REFUSED, BAD_REPLY, INTERRUPTED. */
enum gmc_client_result gmc_subscriber_receive(struct gmc_subscriber *subscriber,
                                              struct gmc_received *received, int timeout_ms);
/* Readable when there is something to be looked at: receive until AGAIN before waiting. */
int gmc_subscriber_fd(const struct gmc_subscriber *subscriber);
void gmc_subscriber_free(struct gmc_subscriber *subscriber);
const char *gmc_subscriber_error(const struct gmc_subscriber *subscriber);

#ifdef __cplusplus
}
#endif

#endif
