/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the client API: requests to bytes, the transport given, replies to plain data. */
#include "gmcast/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/ctl_codec.h"

#define ERROR_MAX (GMC_CTL_ERROR_MAX + 1)
#define TIMEOUT_MS 5000

struct gmc_client {
    struct gmc_client_transport transport;
    int timeout_ms;
    struct gmc_ctl_reply reply; /* the last one */
    struct gmc_ctl_holder *holder;
    char error[ERROR_MAX];
};

struct gmc_client *gmc_client_new(const struct gmc_client_transport *transport)
{
    struct gmc_client *client = calloc(1, sizeof *client);

    if (client == NULL)
        return NULL;
    client->transport = *transport;
    client->timeout_ms = TIMEOUT_MS;
    return client;
}

void gmc_client_free(struct gmc_client *client)
{
    if (client == NULL)
        return;
    if (client->transport.close != NULL)
        client->transport.close(client->transport.ctx);
    gmc_ctl_release(client->holder);
    free(client);
}

void gmc_client_set_timeout(struct gmc_client *client, int timeout_ms)
{
    client->timeout_ms = timeout_ms;
}

const char *gmc_client_error(const struct gmc_client *client)
{
    return client->error;
}

static enum gmc_client_result fail(struct gmc_client *client, enum gmc_client_result result,
                                   const char *text)
{
    snprintf(client->error, sizeof client->error, "%s", text);
    return result;
}

static enum gmc_client_result result_of(gmc_status status)
{
    switch (status) {
    case GMC_ERR_NOT_FOUND:
        return GMC_CLIENT_NOT_FOUND;
    case GMC_ERR_AGAIN:
        return GMC_CLIENT_AGAIN;
    default:
        return GMC_CLIENT_REFUSED;
    }
}

static enum gmc_client_result take_reply(struct gmc_client *client, struct gmc_bytes bytes)
{
    if (gmc_ctl_decode_reply(bytes, &client->reply, &client->holder) != GMC_OK)
        return fail(client, GMC_CLIENT_BAD_REPLY,
                    "what answers there does not speak the gateway's control API: check the "
                    "endpoint, or upgrade this program");
    if (client->reply.status == GMC_OK)
        return GMC_CLIENT_OK;
    return fail(client, result_of(client->reply.status),
                client->reply.error[0] != '\0' ? client->reply.error
                                               : gmc_status_text(client->reply.status));
}

static enum gmc_client_result exchange(struct gmc_client *client, struct gmc_bytes request)
{
    uint8_t *bytes = NULL;
    size_t len = 0;
    enum gmc_client_result result =
        client->transport.call(client->transport.ctx, request.data, request.len, client->timeout_ms,
                               &bytes, &len, client->error, sizeof client->error);

    if (result != GMC_CLIENT_OK)
        return result;
    result = take_reply(client, gmc_bytes(bytes, len));
    free(bytes);
    return result;
}

enum gmc_client_result gmc_client_call(struct gmc_client *client,
                                       const struct gmc_ctl_request *request,
                                       const struct gmc_ctl_reply **reply)
{
    enum gmc_client_result result;
    gmc_status status;
    uint8_t *bytes;
    size_t len;

    client->error[0] = '\0';
    status = gmc_ctl_encode_request(request, &bytes, &len);
    if (status == GMC_ERR_NOMEM)
        return fail(client, GMC_CLIENT_NO_MEMORY, gmc_status_text(status));
    if (status != GMC_OK)
        return fail(client, GMC_CLIENT_INVALID, "the request is incomplete or of no known kind");
    /* Only now: the request may borrow from the last reply. */
    gmc_ctl_release(client->holder);
    client->holder = NULL;
    if (len <= GMC_CTL_REQUEST_BYTES_MAX)
        result = exchange(client, gmc_bytes(bytes, len));
    else
        result =
            fail(client, GMC_CLIENT_INVALID,
                 "the request is longer than 1 MiB: name fewer or shorter paths, or a directory "
                 "that holds the files");
    gmc_ctl_bytes_free(bytes);
    if (result == GMC_CLIENT_OK)
        *reply = &client->reply;
    return result;
}

enum gmc_client_result gmc_client_stage(struct gmc_client *client,
                                        const struct gmc_ctl_request *request, const char **channel)
{
    struct gmc_ctl_request stage = *request;
    const struct gmc_ctl_reply *reply;
    enum gmc_client_result result;

    stage.kind = GMC_CTL_STAGE;
    result = gmc_client_call(client, &stage, &reply);
    if (result == GMC_CLIENT_OK)
        *channel = reply->channel;
    return result;
}

enum gmc_client_result gmc_client_add(struct gmc_client *client, const char *channel,
                                      const struct gmc_ctl_target *target)
{
    struct gmc_ctl_request request = {.kind = GMC_CTL_ADD,
                                      .channel = channel,
                                      .targets = target,
                                      .target_count = 1};
    const struct gmc_ctl_reply *reply;

    return gmc_client_call(client, &request, &reply);
}

enum gmc_client_result gmc_client_status(struct gmc_client *client, const char *channel,
                                         const struct gmc_ctl_transfer **transfer)
{
    struct gmc_ctl_request request = {.kind = GMC_CTL_STATUS, .channel = channel};
    const struct gmc_ctl_reply *reply;
    enum gmc_client_result result = gmc_client_call(client, &request, &reply);

    if (result != GMC_CLIENT_OK)
        return result;
    if (reply->transfer_count != 1)
        return fail(client, GMC_CLIENT_BAD_REPLY,
                    "the gateway answered about something else than the one transfer asked for");
    *transfer = &reply->transfers[0];
    return GMC_CLIENT_OK;
}

static enum gmc_client_result call_channel(struct gmc_client *client, enum gmc_ctl_kind kind,
                                           const char *channel)
{
    struct gmc_ctl_request request = {.kind = kind, .channel = channel};
    const struct gmc_ctl_reply *reply;

    return gmc_client_call(client, &request, &reply);
}

enum gmc_client_result gmc_client_cancel(struct gmc_client *client, const char *channel)
{
    return call_channel(client, GMC_CTL_CANCEL, channel);
}

enum gmc_client_result gmc_client_resume(struct gmc_client *client, const char *channel)
{
    return call_channel(client, GMC_CTL_RESUME, channel);
}

enum gmc_client_result gmc_client_peers(struct gmc_client *client,
                                        const struct gmc_ctl_reply **reply)
{
    struct gmc_ctl_request request = {.kind = GMC_CTL_PEERS};

    return gmc_client_call(client, &request, reply);
}

const char *gmc_client_transfer_state_name(enum gmc_ctl_transfer_state state)
{
    static const char *const names[] = {"unknown", "scanning",  "probing", "running", "complete",
                                        "partial", "cancelled", "failed",  "planned"};

    return (unsigned)state < sizeof names / sizeof names[0] ? names[state] : names[0];
}

const char *gmc_client_member_state_name(enum gmc_ctl_member_state state)
{
    static const char *const names[] = {"unknown", "waiting", "receiving", "verified",
                                        "failed",  "silent",  "left"};

    return (unsigned)state < sizeof names / sizeof names[0] ? names[state] : names[0];
}

bool gmc_client_transfer_is_over(enum gmc_ctl_transfer_state state)
{
    return state == GMC_CTL_TRANSFER_COMPLETE || state == GMC_CTL_TRANSFER_PARTIAL ||
           state == GMC_CTL_TRANSFER_CANCELLED || state == GMC_CTL_TRANSFER_FAILED ||
           state == GMC_CTL_TRANSFER_PLANNED;
}
