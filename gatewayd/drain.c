/* SPDX-License-Identifier: BSD-2-Clause */
/* From the core to the world: outputs become datagrams, store operations, connections. */
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>

#include "gatewayd/gatewayd_int.h"

#define ROUNDS_MAX 4 /* of one drain; then the network is read again */

/* Deadlines mostly move away: a timer that comes too early once costs less than setting it anew
 * with every batch. */
static void arm(struct gwd *gwd, gmc_time deadline)
{
    struct itimerspec when = {0};
    if (gwd->armed <= deadline)
        return;
    gwd->armed = deadline;
    when.it_value.tv_sec = (time_t)(deadline / 1000000000u);
    when.it_value.tv_nsec = (long)(deadline % 1000000000u);
    if (deadline == 0)
        when.it_value.tv_nsec = 1; /* zero would disarm */
    (void)timerfd_settime(gwd->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

void gwd_drain_soon(struct gwd *gwd)
{
    if (gwd->drain_event != NULL)
        event_active(gwd->drain_event, EV_TIMEOUT, 0);
}

/* Where the shell has to call back into the core (or into what calls back), it waits until the
 * outputs of this round are no longer needed. */
static void defer(struct gwd *gwd, const struct gmc_output *out)
{
    struct gwd_deferred *deferred;
    if (gwd->deferred_count == GWD_DEFERRED_MAX)
        return; /* not reached: a round stops before */
    deferred = &gwd->deferred[gwd->deferred_count++];
    *deferred = (struct gwd_deferred){.kind = out->kind, .peer = out->peer, .id = out->id};
    if (out->kind != GMC_OUT_REQUEST && out->kind != GMC_OUT_NODE_REQUEST &&
        out->kind != GMC_OUT_REPLY)
        return;
    deferred->bytes = malloc(out->bytes.len + 1);
    if (deferred->bytes == NULL)
        return;
    if (out->bytes.len > 0)
        memcpy(deferred->bytes, out->bytes.data, out->bytes.len);
    deferred->len = out->bytes.len;
}

static void do_deferred(struct gwd *gwd)
{
    size_t count = gwd->deferred_count;
    /* Nothing is added meanwhile: only a round does that. */
    for (size_t i = 0; i < count; i++) {
        struct gwd_deferred *d = &gwd->deferred[i];
        struct gmc_bytes bytes = gmc_bytes(d->bytes, d->len);
        struct gmc_ctl_answer answer;
        switch (d->kind) {
        case GMC_OUT_CONNECT:
            gwd_peers_connect(gwd->peers, d->peer);
            break;
        case GMC_OUT_REJECT:
            gwd_peers_reject(gwd->peers, d->peer);
            break;
        case GMC_OUT_REQUEST:
            if (gwd_answer_test(gwd, d->peer, d->id, bytes) ||
                gwd_messages_request(gwd->messages, d->peer, d->id, bytes))
                break;
            gwd_drive_request(gwd->drive, gwd_now(), d->peer, bytes, &answer);
            if (!answer.later)
                gwd_drive_answer(gwd->drive, gwd_now(), d->peer, d->id, answer.bytes);
            break;
        case GMC_OUT_NODE_REQUEST:
            (void)gwd_messages_request(gwd->messages, d->peer, d->id, bytes);
            break;
        case GMC_OUT_ROOM:
            gwd_messages_room(gwd->messages, d->id);
            break;
        default:
            if (gwd->group != NULL && (d->id & GWD_GROUP_IDS) != 0)
                gwd_group_on_reply(gwd->group, d->id, bytes);
            else if ((d->id & GWD_RELAY_IDS) != 0)
                gwd_messages_reply(gwd->messages, d->id, bytes);
            else
                gwd_on_reply(gwd, d->id, bytes);
        }
        free(d->bytes);
    }
    gwd->deferred_count = 0;
}

static void send_datagram(struct gwd *gwd, const struct gmc_dgram_out *out)
{
    struct gmc_addr to = out->to;
    if (out->path == GMC_PATH_STREAM) {
        (void)gwd_peers_send(gwd->peers, out);
        return;
    }
    if (out->path == GMC_PATH_GROUP)
        to = gwd->mcast.group;
    else if (gwd->fabric != NULL && gwd_fabric_put(gwd->fabric, out))
        return;
    if (to.len == 0 && !gwd_peers_address(gwd->peers, out->peer, &to))
        return; /* nothing is known of where it is: as if lost */
    (void)gwd_udp_put(gwd->udp, out, &to);
}

/* Both take a further datagram, whichever it is for. */
static bool has_room(const struct gwd *gwd)
{
    return gwd_udp_has_room(gwd->udp) && (gwd->fabric == NULL || gwd_fabric_has_room(gwd->fabric));
}

static void act(struct gwd *gwd, const struct gmc_output *out)
{
    switch (out->kind) {
    case GMC_OUT_DATAGRAM:
        if (gwd->stop_signals == 0)
            send_datagram(gwd, &out->u.dgram);
        break;
    case GMC_OUT_STORE:
        gwd_store_submit(gwd->store, &out->u.store);
        break;
    case GMC_OUT_EVENT:
        gwd_on_event(gwd, &out->u.event);
        break;
    case GMC_OUT_CONNECT:
    case GMC_OUT_REJECT:
    case GMC_OUT_REQUEST:
    case GMC_OUT_NODE_REQUEST:
    case GMC_OUT_REPLY:
    case GMC_OUT_ROOM:
        defer(gwd, out);
        break;
    case GMC_OUT_MESSAGE:
        gwd_messages_arrived(gwd->messages, out);
        break;
    case GMC_OUT_GROUP:
        if (gwd->hearing != NULL)
            gwd_hearing_set(gwd->hearing, out->bytes);
        break;
    }
}

/* Outputs, up to one batch of datagrams: what the core notes as the time of sending is that of its
 * last input. False when the socket is full. */
static bool round_of_outputs(struct gwd *gwd)
{
    struct gmc_output out;
    bool open;
    while (gwd->deferred_count < GWD_DEFERRED_MAX && has_room(gwd) &&
           gwd_drive_next_output(gwd->drive, &out))
        act(gwd, &out);
    gwd_store_flush(gwd->store);
    gwd_messages_flush(gwd->messages);
    open = gwd_udp_flush(gwd->udp);
    if (gwd->fabric != NULL)
        gwd_fabric_flush(gwd->fabric);
    gwd_drive_drained(gwd->drive, gwd_now());
    return open;
}

/* Nothing more is taken from the core: the socket's event, or the fabric's, comes back to it. */
static bool is_blocked(const struct gwd *gwd)
{
    return gwd_udp_is_blocked(gwd->udp) ||
           (gwd->fabric != NULL && !gwd_fabric_has_room(gwd->fabric));
}

void gwd_drain(struct gwd *gwd)
{
    if (!gwd->started || is_blocked(gwd))
        return;
    for (int i = 0; i < ROUNDS_MAX; i++) {
        gmc_time now, deadline;
        bool open = round_of_outputs(gwd);
        bool again = gwd->deferred_count > 0;
        do_deferred(gwd);
        if (!open)
            (void)event_add(gwd->writable_event, NULL);
        if (is_blocked(gwd))
            return;
        if (again)
            continue;
        now = gwd_now();
        deadline = gwd_drive_deadline(gwd->drive);
        if (deadline > now) {
            arm(gwd, deadline);
            gwd_check_stopped(gwd);
            return;
        }
        gwd_drive_timer(gwd->drive, now);
    }
    /* Still busy: let the loop look at the sockets, then go on. */
    gwd_drain_soon(gwd);
    gwd_check_stopped(gwd);
}

void gwd_on_writable(evutil_socket_t fd, short what, void *ctx)
{
    struct gwd *gwd = ctx;
    (void)fd, (void)what;
    if (gwd_udp_flush(gwd->udp))
        gwd_drain(gwd);
    else
        (void)event_add(gwd->writable_event, NULL);
}
