/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns how a call ends: with a reply, with words about what went wrong, or with another domain. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ctl/ctl_internal.h"
#include "wire/control.h"

/* What fits in a control message between gateways, its own fields aside. */
#define FORWARD_MAX (GMC_MSG_BYTES_MAX - 64)

/* Encoded once by hand for when memory is short: status -1 (NOMEM). */
static const uint8_t out_of_memory[] = {0x08, 0x01};

void gmc_ctl_reply(struct call *call, struct gmc_ctl_reply *reply)
{
    struct gmc_ctl *ctl = call->ctl;
    size_t len = 0;

    reply->domain = ctl->domain;
    gmc_ctl_bytes_free(ctl->reply);
    ctl->reply = NULL;
    if (gmc_ctl_encode_reply(reply, &ctl->reply, &len) == GMC_OK)
        call->answer->bytes = gmc_bytes(ctl->reply, len);
    else
        call->answer->bytes = gmc_bytes(out_of_memory, sizeof out_of_memory);
    call->answer->later = false;
    if (call->origin != GMC_PEER_NONE && len > FORWARD_MAX)
        gmc_ctl_fail(call, GMC_ERR_LIMIT,
                     "the answer is too long to be sent to another domain: ask at %s", ctl->domain);
}

void gmc_ctl_fail(struct call *call, gmc_status status, const char *format, ...)
{
    char text[GMC_CTL_ERROR_MAX + 1];
    struct gmc_ctl_reply reply = {.status = status, .error = text};
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    gmc_ctl_reply(call, &reply);
}

void gmc_ctl_fail_with(struct call *call, gmc_status status, const char *words)
{
    bool said = words != NULL && words[0] != '\0';

    gmc_ctl_fail(call, status, "%s: %s", call->ctl->domain, said ? words : gmc_status_text(status));
}

void gmc_ctl_reply_channel(struct call *call, const struct gmc_channel_key *key)
{
    char text[GMC_CTL_CHANNEL_TEXT_MAX];
    struct gmc_ctl_reply reply = {.channel = text};

    gmc_ctl_channel_text(key, text);
    gmc_ctl_reply(call, &reply);
}

/* ---- forwarding ---- */

static struct pending *pending_free_slot(struct gmc_ctl *ctl, gmc_time now)
{
    for (size_t i = 0; i < PENDING_MAX; i++) {
        struct pending *p = &ctl->pending[i];

        if (p->id == 0 || gmc_time_add(p->since, PENDING_AGE) <= now)
            return p;
    }
    return NULL;
}

/* AGAIN: the gateway is connecting; the program asks again as long as it has patience. */
static void fail_unreachable(struct call *call, gmc_status status, const char *domain,
                             gmc_peer peer)
{
    struct gmc_peer_info info;
    bool known = gmc_gateway_peer_info(call->ctl->gateway, call->now, peer, &info);
    const char *why = known && info.reason != NULL && info.reason[0] != '\0'
                          ? info.reason
                          : "there is no connection yet";

    gmc_ctl_fail(call, status, "%s has to be asked about this and cannot be reached: %s", domain,
                 why);
}

static gmc_status send_on(struct call *call, gmc_peer peer, uint64_t id,
                          const struct gmc_ctl_request *request)
{
    uint8_t *bytes;
    size_t len;
    gmc_status status = gmc_ctl_encode_request(request, &bytes, &len);

    if (status != GMC_OK)
        return status;
    if (len > FORWARD_MAX)
        status = GMC_ERR_LIMIT;
    else
        status =
            gmc_gateway_forward(call->ctl->gateway, call->now, peer, id, gmc_bytes(bytes, len));
    gmc_ctl_bytes_free(bytes);
    return status;
}

void gmc_ctl_forward(struct call *call, const char *domain, const struct gmc_ctl_request *request)
{
    struct gmc_ctl *ctl = call->ctl;
    struct pending *p = pending_free_slot(ctl, call->now);
    gmc_peer peer = gmc_gateway_peer(ctl->gateway, domain);
    gmc_status status;

    if (call->origin != GMC_PEER_NONE) {
        gmc_ctl_fail(call, GMC_ERR_REFUSED,
                     "%s does not ask %s on behalf of another domain: ask %s directly", ctl->domain,
                     domain, domain);
        return;
    }
    if (p == NULL || peer == GMC_PEER_NONE) {
        gmc_ctl_fail(call, GMC_ERR_AGAIN, "%s has too many requests waiting: try again later",
                     ctl->domain);
        return;
    }
    status = send_on(call, peer, ctl->next_id, request);
    if (status != GMC_OK) {
        if (status == GMC_ERR_LIMIT)
            gmc_ctl_fail(call, status,
                         "the request is too long to be sent to %s: name fewer sources", domain);
        else if (request->kind != GMC_CTL_STATUS || !gmc_ctl_report_known(call, request->channel))
            fail_unreachable(call, status == GMC_ERR_PEER_DOWN ? GMC_ERR_AGAIN : status, domain,
                             peer);
        return;
    }
    *p = (struct pending){ctl->next_id++, call->now, peer, request->kind, ""};
    snprintf(p->channel, sizeof p->channel, "%s", request->channel);
    *call->answer = (struct gmc_ctl_answer){.later = true, .id = p->id};
}

static struct pending *pending_find(struct gmc_ctl *ctl, uint64_t id)
{
    for (size_t i = 0; id != 0 && i < PENDING_MAX; i++) {
        if (ctl->pending[i].id == id)
            return &ctl->pending[i];
    }
    return NULL;
}

/* What the other domain sent goes to the program as it is, if it is a reply at all. */
static void pass_on(struct call *call, const char *domain, struct gmc_bytes bytes)
{
    struct gmc_ctl_reply reply;
    struct gmc_ctl_holder *holder = NULL;

    if (gmc_ctl_decode_reply(bytes, &reply, &holder) == GMC_OK)
        *call->answer = (struct gmc_ctl_answer){.bytes = bytes};
    else
        gmc_ctl_fail(call, GMC_ERR_INVALID, "%s answered with something that is not a reply",
                     domain);
    gmc_ctl_release(holder);
}

bool gmc_ctl_on_reply(struct gmc_ctl *ctl, gmc_time now, uint64_t id, struct gmc_bytes reply,
                      struct gmc_ctl_answer *answer)
{
    struct pending *p = pending_find(ctl, id);
    struct call call = {ctl, now, GMC_PEER_NONE, NULL, answer};
    const char *domain;

    if (p == NULL)
        return false;
    p->id = 0;
    domain = gmc_gateway_peer_name(ctl->gateway, p->peer);
    *answer = (struct gmc_ctl_answer){0};
    if (reply.len > 0)
        pass_on(&call, domain, reply);
    else if (p->kind != GMC_CTL_STATUS || !gmc_ctl_report_known(&call, p->channel))
        gmc_ctl_fail(&call, GMC_ERR_PEER_DOWN,
                     "the connection to %s was lost before it answered: see gmcast status there "
                     "before asking again",
                     domain);
    answer->id = id;
    return true;
}
