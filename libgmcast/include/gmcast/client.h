/* SPDX-License-Identifier: BSD-2-Clause */
/* The client API: asks a gateway over a transport that is given as functions. gmcast/client_zmq.h
 * has the usual one. One client is for one thread; calls block until the reply is there or the
 * timeout has passed. */
#ifndef GMCAST_CLIENT_H
#define GMCAST_CLIENT_H

#include <gmcast/control.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gmc_client;

enum gmc_client_result {
    GMC_CLIENT_OK = 0,
    GMC_CLIENT_NO_MEMORY = -1,
    GMC_CLIENT_INVALID = -2,     /* the request cannot be encoded, or is longer than 1 MiB */
    GMC_CLIENT_NO_GATEWAY = -3,  /* nobody answers; asking again later may help */
    GMC_CLIENT_INTERRUPTED = -4, /* a signal came while waiting; whether the gateway acted is not
                                    known */
    GMC_CLIENT_BAD_REPLY = -5,   /* what answers is not a gateway, or a much newer one */
    GMC_CLIENT_REFUSED = -6,     /* the gateway's answer is no */
    GMC_CLIENT_NOT_FOUND = -7,   /* the gateway does not know the transfer or domain */
    GMC_CLIENT_AGAIN = -8 /* another domain has to be asked and is being connected to: nothing
                             was done yet, ask again */
};

struct gmc_client_transport {
    void *ctx;
    /* Sends request and waits at most timeout_ms for its reply: OK with a malloc'ed *reply,
     * otherwise NO_MEMORY, NO_GATEWAY or INTERRUPTED with the reason in error. A reply to an
     * earlier request that came too late must not be returned. */
    enum gmc_client_result (*call)(void *ctx, const uint8_t *request, size_t request_len,
                                   int timeout_ms, uint8_t **reply, size_t *reply_len, char *error,
                                   size_t error_len);
    void (*close)(void *ctx); /* may be NULL */
};

/* Takes transport->ctx: gmc_client_free closes it. NULL when out of memory (nothing is closed). */
struct gmc_client *gmc_client_new(const struct gmc_client_transport *transport);
void gmc_client_free(struct gmc_client *client);

/* How long a call waits for its reply; 5000 ms at first. */
void gmc_client_set_timeout(struct gmc_client *client, int timeout_ms);

/* Why the last call failed: what, where, what to do. Borrowed until the next call. */
const char *gmc_client_error(const struct gmc_client *client);

/* One request, one reply. *reply is borrowed until the next call, and set only on OK. */
enum gmc_client_result gmc_client_call(struct gmc_client *client,
                                       const struct gmc_ctl_request *request,
                                       const struct gmc_ctl_reply **reply);

/* ---- the same by name; channel ids are given as gmc_ctl_request.channel says ---- */

/* request->kind is set here. The new transfer's id is borrowed until the next call. */
enum gmc_client_result gmc_client_stage(struct gmc_client *client,
                                        const struct gmc_ctl_request *request,
                                        const char **channel);
enum gmc_client_result gmc_client_add(struct gmc_client *client, const char *channel,
                                      const struct gmc_ctl_target *target);
/* One transfer with its members, borrowed until the next call. */
enum gmc_client_result gmc_client_status(struct gmc_client *client, const char *channel,
                                         const struct gmc_ctl_transfer **transfer);
enum gmc_client_result gmc_client_cancel(struct gmc_client *client, const char *channel);
enum gmc_client_result gmc_client_resume(struct gmc_client *client, const char *channel);
/* The reply's peers and latencies. */
enum gmc_client_result gmc_client_peers(struct gmc_client *client,
                                        const struct gmc_ctl_reply **reply);

/* "running", "verified", ...; "unknown" for states of newer gateways. */
const char *gmc_client_transfer_state_name(enum gmc_ctl_transfer_state state);
const char *gmc_client_member_state_name(enum gmc_ctl_member_state state);
/* Nothing changes any more unless somebody resumes it. */
bool gmc_client_transfer_is_over(enum gmc_ctl_transfer_state state);

#ifdef __cplusplus
}
#endif

#endif
