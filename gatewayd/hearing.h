/* SPDX-License-Identifier: BSD-2-Clause */
/* A node's side of its domain's multicast group: the socket that hears it, and the answers to the
 * gateway's self-test. */
#ifndef GWD_HEARING_H
#define GWD_HEARING_H

#include <event2/event.h>

#include "gatewayd/group_test.h"
#include "gatewayd/log.h"

struct gwd_hearing;

struct gwd_hearing_config {
    struct event_base *base;
    struct gwd_log *log;
    void *ctx;
    const char *interface; /* "": that towards the gateway; copied */
    bool (*gateway)(void *ctx, struct gmc_addr *address);
    /* A datagram of the group that is none of a test. */
    gwd_udp_take take;
    /* All that had come was taken. */
    void (*taken)(void *ctx);
};

/* NULL when out of memory. */
struct gwd_hearing *gwd_hearing_new(const struct gwd_hearing_config *config);
void gwd_hearing_free(struct gwd_hearing *hearing);
/* Datagrams of the group that came, since the start. */
uint64_t gwd_hearing_received(const struct gwd_hearing *hearing);

/* Hears this group from now on; an empty word: none. What goes wrong is logged. */
void gwd_hearing_set(struct gwd_hearing *hearing, struct gmc_bytes word);
/* Answers a request of the self-test; the length of the answer, 0: it was none. */
size_t gwd_hearing_on_request(struct gwd_hearing *hearing, struct gmc_bytes request,
                              uint8_t out[GWD_GROUP_TEST_MAX]);

#endif
