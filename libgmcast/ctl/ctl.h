/* SPDX-License-Identifier: BSD-2-Clause */
/* The control API of a gateway: a request comes in as bytes, a reply goes out as bytes, in between
 * the composition is called. No I/O: shells carry the bytes for local programs (ZeroMQ), and for
 * other domains (GMC_OUT_REQUEST, gmc_gateway_answer).
 *
 * What concerns a transfer of another domain (stage from it; add, status, cancel, resume of its
 * channels) is forwarded to that domain; the reply then comes later, as GMC_OUT_REPLY. A request
 * that itself came from another domain is never forwarded again.
 *
 * What another domain may ask here: to stage what may_request allows; to add to, cancel and resume
 * what it asked for since this gateway started; the status of that and of transfers that it is a
 * target of. Everything else is refused.
 */
#ifndef GMC_CTL_CTL_H
#define GMC_CTL_CTL_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/time.h"
#include "core/gateway.h"
#include "gmcast/control.h"

struct gmc_ctl;

struct gmc_ctl_hooks {
    void *ctx;
    /* The domain that a user means by a name or alias; NULL when it is none of the configured
     * ones. Borrowed until the next call. */
    const char *(*resolve)(void *ctx, const char *name);
    /* May the domain `origin` ask us to stage these paths to others? GMC_OK, or ACCESS with the
     * reason in words, which names the path and what is allowed (borrowed until the next call). */
    gmc_status (*may_request)(void *ctx, const char *origin, const char *const *paths, size_t count,
                              const char **reason);
    /* What the shell counts itself, told to local programs behind the counters of the core: fills
     * out, at most max, and returns how many. */
    size_t (*counters)(void *ctx, struct gmc_counter *out, size_t max);
    /* NODE_ADD, NODE_REMOVE, NODES of a local program: fills reply (borrowed until the next call),
     * or says why not. It must not feed the gateway before the answer is out. NULL: there is
     * nothing to manage. */
    gmc_status (*nodes)(void *ctx, const struct gmc_ctl_request *request,
                        struct gmc_ctl_reply *reply, const char **reason);
    /* What passes on a message channel; NULL: nobody counts it. */
    void (*traffic)(void *ctx, const struct gmc_channel_key *key, struct gmc_ctl_traffic *out);
    /* What carries the datagrams of a neighbour in the place of UDP; NULL: nothing does. */
    void (*fabric)(void *ctx, const char *domain, struct gmc_ctl_fabric *out);
    /* Whether the domain's group reaches a neighbour; NULL: there is no group. */
    void (*multicast)(void *ctx, const char *domain, struct gmc_ctl_multicast *out);
    /* The session with a neighbour; strings are borrowed until the next input. NULL: not known. */
    void (*session)(void *ctx, const char *domain, struct gmc_ctl_session *out);
    /* DOCTOR: what the shell found out about itself, borrowed until the next call; returns how
     * many. NULL: nothing. */
    size_t (*findings)(void *ctx, const struct gmc_ctl_finding **out);
};

/* domain: the own name, as the gateway has it; borrows gateway, copies hooks. NULL when out of
 * memory. */
struct gmc_ctl *gmc_ctl_new(struct gmc_gateway *gateway, const char *domain,
                            const struct gmc_ctl_hooks *hooks);
void gmc_ctl_free(struct gmc_ctl *ctl);

struct gmc_ctl_answer {
    bool later;             /* it went to another domain: gmc_ctl_on_reply gives it, with this id */
    uint64_t id;            /* when later */
    struct gmc_bytes bytes; /* else: the encoded reply, borrowed until the next call */
};

/* Handles one request: origin is GMC_PEER_NONE for a local program. Always answers: errors are
 * replies too. Drain the gateway's outputs afterwards, as after any input. */
void gmc_ctl_handle(struct gmc_ctl *ctl, gmc_time now, gmc_peer origin, struct gmc_bytes request,
                    struct gmc_ctl_answer *answer);

/* For GMC_OUT_REPLY: turns what another domain answered (empty: it is gone) into the answer for
 * the program that asked. False when nobody waits for this id. */
bool gmc_ctl_on_reply(struct gmc_ctl *ctl, gmc_time now, uint64_t id, struct gmc_bytes reply,
                      struct gmc_ctl_answer *answer);

#endif
