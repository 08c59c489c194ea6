/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the ZeroMQ socket of a client. */
#include "gmcast/client_zmq.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zmq.h>

struct zmq_transport {
    void *context;
    void *socket; /* NULL: to be opened */
    char endpoint[256];
};

static void close_socket(struct zmq_transport *t)
{
    int linger = 0;

    if (t->socket == NULL)
        return;
    zmq_setsockopt(t->socket, ZMQ_LINGER, &linger, sizeof linger);
    zmq_close(t->socket);
    t->socket = NULL;
}

static void transport_close(void *ctx)
{
    struct zmq_transport *t = ctx;

    close_socket(t);
    zmq_ctx_term(t->context);
    free(t);
}

static int open_socket(struct zmq_transport *t)
{
    int reconnect_ms = 50;

    if (t->socket != NULL)
        return 0;
    t->socket = zmq_socket(t->context, ZMQ_DEALER);
    if (t->socket == NULL)
        return -1;
    zmq_setsockopt(t->socket, ZMQ_RECONNECT_IVL, &reconnect_ms, sizeof reconnect_ms);
    if (zmq_connect(t->socket, t->endpoint) == 0)
        return 0;
    close_socket(t);
    return -1;
}

/* Why nobody answers, as far as the file system tells. */
static enum gmc_client_result no_answer(const struct zmq_transport *t, char *error,
                                        size_t error_len)
{
    const char *path = strncmp(t->endpoint, "ipc://", 6) == 0 ? t->endpoint + 6 : NULL;

    if (path != NULL && path[0] == '/' && access(path, W_OK) != 0 && errno == EACCES)
        snprintf(error, error_len,
                 "the gateway's socket %s may not be used by this user: join the group that owns "
                 "its directory",
                 path);
    else
        snprintf(error, error_len,
                 "no gateway answers at %s: is gatewayd running? (systemctl status gatewayd)",
                 t->endpoint);
    return GMC_CLIENT_NO_GATEWAY;
}

/* An ipc socket that does not exist needs no waiting. */
static bool is_absent(const struct zmq_transport *t)
{
    return strncmp(t->endpoint, "ipc:///", 7) == 0 && access(t->endpoint + 6, W_OK) != 0;
}

static enum gmc_client_result take_message(zmq_msg_t *message, uint8_t **reply, size_t *reply_len)
{
    size_t len = zmq_msg_size(message);

    *reply = malloc(len > 0 ? len : 1);
    if (*reply == NULL)
        return GMC_CLIENT_NO_MEMORY;
    memcpy(*reply, zmq_msg_data(message), len);
    *reply_len = len;
    return GMC_CLIENT_OK;
}

/* One message, which has one part. */
static enum gmc_client_result receive(struct zmq_transport *t, int timeout_ms, uint8_t **reply,
                                      size_t *reply_len)
{
    zmq_pollitem_t item = {t->socket, 0, ZMQ_POLLIN, 0};
    enum gmc_client_result result = GMC_CLIENT_NO_GATEWAY;
    int ready = zmq_poll(&item, 1, timeout_ms);
    zmq_msg_t message;

    if (ready < 0)
        return errno == EINTR ? GMC_CLIENT_INTERRUPTED : GMC_CLIENT_NO_GATEWAY;
    if (ready == 0)
        return GMC_CLIENT_NO_GATEWAY;
    zmq_msg_init(&message);
    if (zmq_msg_recv(&message, t->socket, ZMQ_DONTWAIT) >= 0)
        result = take_message(&message, reply, reply_len);
    zmq_msg_close(&message);
    return result;
}

static enum gmc_client_result transport_call(void *ctx, const uint8_t *request, size_t request_len,
                                             int timeout_ms, uint8_t **reply, size_t *reply_len,
                                             char *error, size_t error_len)
{
    struct zmq_transport *t = ctx;
    enum gmc_client_result result = GMC_CLIENT_NO_GATEWAY;

    if (is_absent(t)) {
        close_socket(t);
        return no_answer(t, error, error_len);
    }
    if (open_socket(t) == 0 && zmq_send(t->socket, request, request_len, ZMQ_DONTWAIT) >= 0)
        result = receive(t, timeout_ms, reply, reply_len);
    if (result == GMC_CLIENT_OK)
        return result;
    /* So that the answer to this request, should it still come, is not taken for the next one's. */
    close_socket(t);
    if (result == GMC_CLIENT_NO_GATEWAY)
        return no_answer(t, error, error_len);
    snprintf(error, error_len, "%s",
             result == GMC_CLIENT_INTERRUPTED ? "interrupted while waiting for the gateway"
                                              : "out of memory");
    return result;
}

static struct zmq_transport *transport_new(const char *endpoint, char *error, size_t error_len)
{
    struct zmq_transport *t = calloc(1, sizeof *t);

    if (t == NULL || strlen(endpoint) >= sizeof t->endpoint) {
        snprintf(error, error_len, "%s",
                 t == NULL ? "out of memory" : "the endpoint is too long for a socket address");
        free(t);
        return NULL;
    }
    strcpy(t->endpoint, endpoint);
    t->context = zmq_ctx_new();
    if (t->context != NULL && open_socket(t) == 0)
        return t;
    snprintf(error, error_len,
             "\"%s\" is no endpoint (%s): give e.g. " GMC_CLIENT_ENDPOINT
             " or tcp://127.0.0.1:7412",
             endpoint, zmq_strerror(errno));
    if (t->context != NULL)
        zmq_ctx_term(t->context);
    free(t);
    return NULL;
}

struct gmc_client *gmc_client_open(const char *endpoint, char *error, size_t error_len)
{
    struct gmc_client_transport transport = {NULL, transport_call, transport_close};
    struct gmc_client *client;

    transport.ctx = transport_new(endpoint, error, error_len);
    if (transport.ctx == NULL)
        return NULL;
    client = gmc_client_new(&transport);
    if (client == NULL) {
        snprintf(error, error_len, "out of memory");
        transport_close(transport.ctx);
    }
    return client;
}
