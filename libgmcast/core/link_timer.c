/* SPDX-License-Identifier: BSD-2-Clause */
/* The link's clock: loss and probe timeouts, keep-alive, silence. */
#include <stdlib.h>

#include "core/link_impl.h"

/* A probe is sent twice, because one copy alone may be lost too; when the first ones were, more
 * often. */
#define COPIES_PER_PROBE 2
#define COPIES_PER_LATE_PROBE 4
#define LATE_PROBE 3
#define QUESTION_PTOS 4
/* Between the two looks that find a near peer silent, and how late the second one may be. */
#define DOUBT GMC_MS(50)
#define LATE GMC_MS(20)
/* A probe timeout repeats so much of the control stream. */
#define REPEAT_BYTES (16u * GMC_LINK_PACKET_MAX)

/* Silence of a peer that is dead, or whose TCP connection stalls. */
static gmc_duration silent_after(const struct gmc_link *link)
{
    if (link->dead_after != 0)
        return link->dead_after;
    return LINK_DEAD_AFTER + 3 * gmc_loss_pto(&link->loss);
}

static gmc_duration dead_after(const struct gmc_link *link)
{
    if (link->dead_after == 0 && link->active == ROUTE_STREAM)
        return LINK_STREAM_DEAD_AFTER;
    return silent_after(link);
}

/* When silence is told, though the link goes on. */
static gmc_time silent_time(const struct gmc_link *link)
{
    if (link->silent || link->unanswered == GMC_TIME_NEVER)
        return GMC_TIME_NEVER;
    if (link->active == ROUTE_STREAM)
        return gmc_time_add(link->unanswered, silent_after(link));
    if (link->silent_after == 0)
        return GMC_TIME_NEVER;
    if (link->doubted != GMC_TIME_NEVER)
        return gmc_time_add(link->doubted, DOUBT);
    return gmc_time_add(link->unanswered, link->silent_after + 3 * gmc_loss_pto(&link->loss));
}

/* So short a silence may be ours: a process that was not run when it was to has not read yet what
 * the peer said meanwhile. So it is asked again a moment later, until both looks were in time. */
static void look_at_silence(struct gmc_link *link, gmc_time now)
{
    gmc_time due = silent_time(link);
    if (due > now)
        return;
    bool in_time = link->doubted != GMC_TIME_NEVER && gmc_time_sub(now, due) <= LATE;
    if (link->active == ROUTE_STREAM || in_time)
        link->silent = true;
    else
        link->doubted = now;
}

/* When silence ends the link. */
static gmc_time dead_time(const struct gmc_link *link)
{
    if (link->state == GMC_LINK_VALIDATING)
        return gmc_time_add(link->created, LINK_VALIDATE_MAX);
    if (link->unanswered == GMC_TIME_NEVER)
        return GMC_TIME_NEVER;
    return gmc_time_add(link->unanswered, dead_after(link));
}

/* What is pending asks for an answer, and the probe timeout sees to it. It begins anew with each
 * packet, though, and of data that the peer does not take it says nothing: who goes on sending such
 * asks whether it is there. */
static gmc_time question_time(const struct gmc_link *link)
{
    if (link->unanswered == GMC_TIME_NEVER)
        return GMC_TIME_NEVER;
    return gmc_time_add(gmc_time_max(link->unanswered, link->asked),
                        QUESTION_PTOS * gmc_loss_pto(&link->loss));
}

static gmc_time ping_time(const struct gmc_link *link)
{
    if (link->state != GMC_LINK_UP || link->pings_owed > 0)
        return GMC_TIME_NEVER;
    if (link->loss.pending > 0)
        return question_time(link);
    gmc_time last = gmc_time_max(link->heard, link->loss.last_sent);
    return gmc_time_add(last, link->watch ? link->keepalive : LINK_KEEPALIVE_QUIET);
}

/* Gives back what a busy time took. */
static void trim(struct gmc_link *link)
{
    gmc_loss_trim(&link->loss);
    if (link->fate_count > 0 || link->data_pending > 0)
        return;
    free(link->fates);
    link->fates = NULL;
    link->fate_capacity = 0;
    link->fate_head = 0;
}

static void on_probe_timeout(struct gmc_link *link, gmc_time now)
{
    link->loss.pto_count++;
    if (link->loss.pto_count >= LINK_PTO_MAX && link->active != ROUTE_STREAM) {
        gmc_link_die(link, now, GMC_ERR_TIMEOUT);
        return;
    }
    link->cc->on_timeout(link->cc_state, now, link->loss.pto_count);
    gmc_link_update_pace(link);
    gmc_link_repeat_stream(link, REPEAT_BYTES);
    bool has_stream = gmc_stream_tx_is_ready(&link->tx);
    uint8_t copies = link->loss.pto_count < LATE_PROBE ? COPIES_PER_PROBE : COPIES_PER_LATE_PROBE;
    link->echoes = has_stream ? 1 : 0;
    link->pings_owed = has_stream ? copies - 1 : copies;
}

void gmc_link_on_timer(struct gmc_link *link, gmc_time now)
{
    link->now = now;
    if (link->state == GMC_LINK_DEAD)
        return;
    if (dead_time(link) <= now) {
        gmc_link_die(link, now, GMC_ERR_TIMEOUT);
        return;
    }
    look_at_silence(link, now);
    gmc_link_path_on_timer(link, now);
    gmc_loss_on_timer(&link->loss, now);
    gmc_link_run_pass(link, now);
    if (gmc_loss_pto_time(&link->loss, link->idle) <= now)
        on_probe_timeout(link, now);
    if (link->echo_time <= now) {
        link->echo_time = GMC_TIME_NEVER;
        link->echoes = 1;
    }
    if (ping_time(link) <= now) {
        if (!link->watch)
            trim(link);
        link->pings_owed = 1;
        link->asked = now;
    }
}

gmc_time gmc_link_deadline(const struct gmc_link *link, bool want_data)
{
    if (link->state == GMC_LINK_DEAD)
        return link->bye ? link->now : GMC_TIME_NEVER;
    gmc_time deadline = gmc_time_min(dead_time(link), gmc_link_path_deadline(link));
    if (link->active == ROUTES)
        return deadline;
    deadline = gmc_time_min(deadline, silent_time(link));
    deadline = gmc_time_min(deadline, link->feedback.due);
    deadline = gmc_time_min(deadline, link->loss.loss_time);
    if (link->pings_owed == 0)
        deadline = gmc_time_min(deadline, gmc_loss_pto_time(&link->loss, link->idle));
    deadline = gmc_time_min(deadline, ping_time(link));
    deadline = gmc_time_min(deadline, link->echo_time);
    deadline = gmc_time_min(deadline, gmc_link_stream_time(link));
    if (want_data)
        deadline = gmc_time_min(deadline, gmc_link_data_time(link));
    if (link->pings_owed > 0 || link->response_count > 0)
        deadline = gmc_time_min(deadline, link->now);
    return deadline;
}
