/* SPDX-License-Identifier: BSD-2-Clause */
/* The publishers and subscribers of this domain (wire/local.h), over one ZeroMQ socket that stands
 * beside the control socket: its path with "-messages" behind it. */
#ifndef GWD_MESSAGES_H
#define GWD_MESSAGES_H

#include "gatewayd/ctl_zmq.h"
#include "gatewayd/drive.h"
#include "gatewayd/log.h"

#define GWD_MESSAGES_SUFFIX "-messages"
/* In the numbers of requests by which a node has its publishers served at its gateway. */
#define GWD_RELAY_IDS (UINT64_C(1) << 62)

struct gwd_messages;

struct gwd_messages_config {
    struct gwd_zmq_config zmq; /* base, control, uid, gid */
    struct gwd_drive *drive;
    struct gwd_log *log;
    gmc_time (*now)(void);
    void *ctx;
    const char *(*resolve)(void *ctx, const char *name); /* a domain or alias; NULL: not known */
    const char *domain;                                  /* the own one; of a node, its name */
    const char *gateway; /* at a node: through which its publishers publish; NULL: this is one */
    bool (*is_ours)(void *ctx, const char *domain);
    bool batches; /* the loop's thread has SCHED_BATCH, which it leaves while messages pass */
    void (*drain)(void *ctx); /* inputs were given: outputs are to be taken */
};

/* NULL with a reason. */
struct gwd_messages *gwd_messages_new(const struct gwd_messages_config *config, char *reason,
                                      size_t size);
void gwd_messages_free(struct gwd_messages *messages);
bool gwd_messages_start(struct gwd_messages *messages);
/* Outputs of the core. A message is copied. */
void gwd_messages_arrived(struct gwd_messages *messages, const struct gmc_output *out);
void gwd_messages_room(struct gwd_messages *messages, uint64_t e);
/* Somebody gets nothing, or nothing for now, of a channel that is published here. */
void gwd_messages_warn(struct gwd_messages *messages, uint64_t e, const char *text);
/* A request of a peer: of a node, for its publishers; at a node, of its gateway. Answers it; false
 * when it is something else. */
bool gwd_messages_request(struct gwd_messages *messages, gmc_peer peer, uint64_t id,
                          struct gmc_bytes request);
/* The answer to one of ours; empty: the link is lost. */
void gwd_messages_reply(struct gwd_messages *messages, uint64_t id, struct gmc_bytes reply);
/* The session with a peer is not what it was. */
void gwd_messages_lost(struct gwd_messages *messages, gmc_peer peer);
/* All outputs of this time were taken: what arrived goes to subscribers. */
void gwd_messages_flush(struct gwd_messages *messages);
/* What passes on a channel. */
struct gmc_ctl_traffic gwd_messages_traffic(const struct gwd_messages *messages,
                                            const struct gmc_channel_key *key);
size_t gwd_messages_counters(const struct gwd_messages *messages, struct gmc_counter *out,
                             size_t max);

#endif
