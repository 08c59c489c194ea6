/* SPDX-License-Identifier: BSD-2-Clause */
/* A node hears its group: see hearing.h. */
#include "gatewayd/hearing.h"

#include <stdlib.h>
#include <string.h>

#include "gatewayd/text.h"

#define BATCHES 4

struct gwd_hearing {
    struct gwd_hearing_config config;
    char wanted[GWD_MCAST_INTERFACE_MAX]; /* "" that towards the gateway */
    struct gwd_udp *udp;                  /* NULL: it hears none */
    struct event *event;
    struct gwd_mcast_group group; /* that it hears */
    char interface[GWD_MCAST_INTERFACE_MAX];
    char reason[GWD_GROUP_TEXT_MAX]; /* why it hears none */
    uint64_t before;                 /* datagrams of earlier sockets */
    bool in_use;                     /* by the core; a test alone does not keep it */
    uint64_t token;                  /* of the test under way */
    uint16_t received;
};

static void leave(struct gwd_hearing *h)
{
    h->before = gwd_hearing_received(h);
    if (h->event != NULL)
        event_free(h->event);
    gwd_udp_free(h->udp);
    h->event = NULL;
    h->udp = NULL;
}

struct gwd_hearing *gwd_hearing_new(const struct gwd_hearing_config *config)
{
    struct gwd_hearing *h = calloc(1, sizeof *h);
    if (h == NULL)
        return NULL;
    h->config = *config;
    gwd_text(h->wanted, sizeof h->wanted, "%s", config->interface);
    return h;
}

void gwd_hearing_free(struct gwd_hearing *h)
{
    if (h == NULL)
        return;
    leave(h);
    free(h);
}

uint64_t gwd_hearing_received(const struct gwd_hearing *h)
{
    return h->before + (h->udp != NULL ? gwd_udp_stats(h->udp)->received : 0);
}

static void take(void *ctx, gmc_time now, const struct gmc_dgram_in *in)
{
    struct gwd_hearing *h = ctx;
    struct gwd_group_test test;
    if (!gwd_group_test_is(in->bytes))
        h->config.take(h->config.ctx, now, in);
    else if (gwd_group_test_get(in->bytes, &test) && test.step == GWD_GROUP_DATAGRAM &&
             test.token == h->token && h->received < UINT16_MAX)
        h->received++;
}

static void on_datagrams(evutil_socket_t fd, short what, void *ctx)
{
    struct gwd_hearing *h = ctx;
    (void)fd, (void)what;
    bool more = true;
    for (unsigned n = 0; n < BATCHES && more; n++) {
        more = gwd_udp_receive(h->udp, take, h);
        h->config.taken(h->config.ctx);
    }
}

static bool is_same(const struct gmc_addr *a, const struct gmc_addr *b)
{
    return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

/* Packets of a sender that is known come by the way that leads to it. */
static bool find_interface(struct gwd_hearing *h, const struct gwd_mcast_group *group)
{
    struct gmc_addr gateway;
    if (h->wanted[0] != '\0') {
        gwd_text(h->interface, sizeof h->interface, "%s", h->wanted);
        return true;
    }
    if (group->sender.len > 0 && gwd_mcast_interface_to(&group->sender, h->interface))
        return true;
    return h->config.gateway(h->config.ctx, &gateway) &&
           gwd_mcast_interface_to(&gateway, h->interface);
}

static bool hear(struct gwd_hearing *h, const struct gwd_mcast_group *group)
{
    if (h->udp != NULL && is_same(&h->group.group, &group->group) &&
        is_same(&h->group.sender, &group->sender))
        return true;
    h->token = 0; /* a test of another group is over */
    leave(h);
    h->group = *group;
    if (!find_interface(h, group)) {
        gwd_text(h->reason, sizeof h->reason, "no interface leads to the gateway");
        return false;
    }
    h->udp = gwd_mcast_hear(group, h->interface, h->reason, sizeof h->reason);
    if (h->udp == NULL)
        return false;
    h->event = event_new(h->config.base, gwd_udp_fd(h->udp), EV_READ | EV_PERSIST, on_datagrams, h);
    if (h->event != NULL && event_add(h->event, NULL) == 0)
        return true;
    gwd_text(h->reason, sizeof h->reason, "out of memory or descriptors");
    leave(h);
    return false;
}

void gwd_hearing_set(struct gwd_hearing *h, struct gmc_bytes word)
{
    struct gwd_mcast_group group;
    h->in_use = word.len > 0;
    if (word.len == 0) {
        if (h->token == 0) /* else with the report of the test under way */
            leave(h);
        return;
    }
    if (!gwd_mcast_get_word(word, &group))
        gwd_text(h->reason, sizeof h->reason, "the gateway named no group that can be heard");
    else if (hear(h, &group))
        return;
    gwd_log(h->config.log, GMC_LEVEL_WARN, "group.unheard", GWD_STR("reason", h->reason));
}

size_t gwd_hearing_on_request(struct gwd_hearing *h, struct gmc_bytes request,
                              uint8_t out[GWD_GROUP_TEST_MAX])
{
    struct gwd_group_test test, answer = {.step = GWD_GROUP_LISTENS};
    if (!gwd_group_test_get(request, &test) ||
        (test.step != GWD_GROUP_LISTEN && test.step != GWD_GROUP_REPORT))
        return 0;
    answer.token = test.token;
    if (test.step == GWD_GROUP_LISTEN && h->in_use && h->udp != NULL &&
        !is_same(&h->group.group, &test.group.group)) {
        gwd_text(answer.text, sizeof answer.text, "!it hears a node that relays");
        return gwd_group_test_put(&answer, out);
    }
    if (test.step == GWD_GROUP_LISTEN) {
        (void)hear(h, &test.group);
        h->token = test.token;
        h->received = 0;
    } else {
        answer.step = GWD_GROUP_REPORT_IS;
        if (test.token != h->token) {
            gwd_text(answer.text, sizeof answer.text, "!it did not listen when the test began");
            return gwd_group_test_put(&answer, out);
        }
        answer.received = h->received;
        h->token = 0;
    }
    if (h->udp != NULL)
        gwd_text(answer.text, sizeof answer.text, "%s", h->interface);
    else
        gwd_text(answer.text, sizeof answer.text, "!%s", h->reason);
    if (test.step == GWD_GROUP_REPORT && !h->in_use)
        leave(h);
    return gwd_group_test_put(&answer, out);
}
