/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns what surrounds a gateway, or a node, in its fuzzers: the other ends of its links, the time,
 * and what its store was asked for. */
#ifndef TESTS_FUZZ_PUMP_H
#define TESTS_FUZZ_PUMP_H

#include "core/gateway_impl.h"

enum { PUMP_ENDS_MAX = 4, PUMP_OPS_MAX = 4096 };

struct pump_end {
    const char *name;
    struct gmc_crypto crypto;
    struct gmc_link *link; /* NULL: no session */
};

struct pump {
    struct gmc_gateway *gw;
    gmc_time now;
    bool has_to_settle; /* asserted: at any instant it comes to an end */
    bool has_group;     /* it may send to one; else asserted that it does not */
    struct pump_end ends[PUMP_ENDS_MAX];
    size_t end_count;
    uint32_t next_session;
    uint32_t payload_max;                  /* of datagrams; 0: on Ethernet */
    struct gmc_store_op ops[PUMP_OPS_MAX]; /* not answered yet */
    size_t op_count;
    /* An end got a message; all that was to be sent has been. Either may be NULL. */
    void (*heard)(size_t end, struct gmc_bytes message);
    void (*drained)(void);
};

struct gwpeer *pump_peer(struct pump *pump, size_t end);
/* The end's side of a session, in the place of one that there was. */
void pump_link(struct pump *pump, size_t end, const struct gmc_session *session);
/* A session as TLS would make it. */
void pump_session_up(struct pump *pump, size_t end);
void pump_session_down(struct pump *pump, size_t end);
/* Straight to where the end's link would deliver it, if there is one. */
void pump_say_bytes(struct pump *pump, size_t end, struct gmc_bytes bytes);
void pump_say(struct pump *pump, size_t end, const struct gmc_msg *msg);
/* Takes all outputs; true when there were some. */
bool pump_drain(struct pump *pump);
/* Until nobody has anything to say at this instant. */
void pump_settle(struct pump *pump);
void pump_pass(struct pump *pump, gmc_duration wait);
/* An operation that the store will answer now: the first one, or the last. */
struct gmc_store_op pump_take_op(struct pump *pump, bool last);
void pump_close(struct pump *pump); /* the gateway and all links */

#endif
