/* SPDX-License-Identifier: BSD-2-Clause */
/* A gateway's surroundings in its fuzzers: see pump.h. */
#include "tests/fuzz/pump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crypto/cheap.h"

enum { TURNS_MAX = 400 };

struct gwpeer *pump_peer(struct pump *pump, size_t end)
{
    return gw_peer(pump->gw, gmc_gateway_peer(pump->gw, pump->ends[end].name));
}

/* ---- sessions ---- */
void pump_link(struct pump *pump, size_t end, const struct gmc_session *session)
{
    struct gmc_session mirror = *session;
    mirror.initiator = !session->initiator;
    mirror.local_id = session->remote_id;
    mirror.remote_id = session->local_id;
    memcpy(mirror.send_secret, session->recv_secret, GMC_KEY_BYTES);
    memcpy(mirror.recv_secret, session->send_secret, GMC_KEY_BYTES);
    struct gmc_link_config config = {.crypto = &pump->ends[end].crypto,
                                     .session = &mirror,
                                     .cc = &gmc_cc_fixed,
                                     .fixed_rate_bps = 10000000000};
    gmc_prng_init(&config.prng, session->remote_id);
    gmc_link_free(pump->ends[end].link);
    pump->ends[end].link = gmc_link_new(&config, pump->now);
    GMC_ASSERT(pump->ends[end].link != NULL);
}

void pump_session_up(struct pump *pump, size_t end)
{
    uint8_t spki[GMC_PUBKEY_BYTES_MAX];
    size_t len = sizeof(spki);
    gmc_status status = gmc_crypto_cheap_spki(pump->ends[end].name, spki, &len);
    GMC_ASSERT(status == GMC_OK);
    struct gmc_session session = {.peer = gmc_gateway_peer(pump->gw, pump->ends[end].name),
                                  .local_id = pump->next_session,
                                  .remote_id = pump->next_session + 1,
                                  .spki = gmc_bytes(spki, len),
                                  .transport = GMC_TRANSPORT_UDP,
                                  .udp_payload_max = pump->payload_max};
    memset(session.send_secret, 1, GMC_KEY_BYTES);
    memset(session.recv_secret, 2, GMC_KEY_BYTES);
    pump->next_session += 2;
    pump_link(pump, end, &session);
    struct gmc_peer_change change = {.peer = session.peer,
                                     .event = GMC_PEER_SESSION_UP,
                                     .session = session};
    gmc_gateway_on_peer(pump->gw, pump->now, &change);
}

void pump_session_down(struct pump *pump, size_t end)
{
    struct gmc_peer_change change = {.peer = gmc_gateway_peer(pump->gw, pump->ends[end].name),
                                     .event = GMC_PEER_SESSION_DOWN,
                                     .reason = "closed"};
    gmc_link_free(pump->ends[end].link);
    pump->ends[end].link = NULL;
    gmc_gateway_on_peer(pump->gw, pump->now, &change);
}

/* ---- messages ---- */
void pump_say_bytes(struct pump *pump, size_t end, struct gmc_bytes bytes)
{
    struct gwpeer *peer = pump_peer(pump, end);
    if (peer->link == NULL)
        return;
    gw_begin_input(pump->gw, pump->now);
    gw_message(pump->gw, peer, bytes);
}

void pump_say(struct pump *pump, size_t end, const struct gmc_msg *msg)
{
    uint8_t *bytes;
    size_t len;
    if (gmc_msg_encode(msg, &bytes, &len) != GMC_OK)
        return;
    pump_say_bytes(pump, end, gmc_bytes(bytes, len));
    gmc_msg_bytes_free(bytes);
}

/* ---- between the gateway and the others ---- */
static void receive(struct pump *pump, size_t end, struct gmc_bytes bytes)
{
    struct gmc_link *link = pump->ends[end].link;
    struct gmc_dgram_in in = {.from = {.len = 1}, .bytes = bytes};
    struct gmc_link_data data;
    struct gmc_link_fate fate;
    struct gmc_bytes message;
    bool is_data = false;
    if (gmc_link_receive(link, pump->now, &in, &data, &is_data) == GMC_OK && is_data)
        gmc_link_accept_data(link, pump->now);
    while (gmc_link_next_fate(link, &fate))
        ;
    while (gmc_link_next_message(link, &message))
        if (pump->heard != NULL)
            pump->heard(end, message);
}

static void take_datagram(struct pump *pump, const struct gmc_dgram_out *dgram)
{
    uint8_t bytes[65536];
    size_t len = gmc_dgram_out_len(dgram);
    GMC_ASSERT(len <= sizeof(bytes) && (pump->has_group || dgram->path != GMC_PATH_GROUP));
    memcpy(bytes, dgram->head, dgram->head_len);
    if (dgram->body.len > 0)
        memcpy(bytes + dgram->head_len, dgram->body.data, dgram->body.len);
    if (dgram->tail.len > 0)
        memcpy(bytes + dgram->head_len + dgram->body.len, dgram->tail.data, dgram->tail.len);
    if (dgram->path == GMC_PATH_GROUP)
        return;
    const char *to = gmc_gateway_peer_name(pump->gw, dgram->peer);
    for (size_t i = 0; i < pump->end_count; i++)
        if (pump->ends[i].link != NULL && strcmp(to, pump->ends[i].name) == 0)
            receive(pump, i, gmc_bytes(bytes, len));
}

bool pump_drain(struct pump *pump)
{
    struct gmc_output out;
    bool any = false;
    while (gmc_gateway_next_output(pump->gw, &out)) {
        any = true;
        if (out.kind == GMC_OUT_DATAGRAM)
            take_datagram(pump, &out.u.dgram);
        else if (out.kind == GMC_OUT_STORE && pump->op_count < PUMP_OPS_MAX)
            pump->ops[pump->op_count++] = out.u.store;
        else if (out.kind == GMC_OUT_EVENT && getenv("GMC_FUZZ_EVENTS") != NULL)
            fprintf(stderr, "%.4f %s\n", (double)pump->now / 1e9, out.u.event.text);
    }
    if (pump->drained != NULL)
        pump->drained();
    return any;
}

static bool ends_send(struct pump *pump)
{
    uint8_t buffer[GMC_LINK_PACKET_MAX];
    struct gmc_dgram_out out;
    bool any = false;
    for (size_t i = 0; i < pump->end_count; i++) {
        const struct pump_end *end = &pump->ends[i];
        while (end->link != NULL &&
               gmc_link_next_packet(end->link, pump->now, buffer, sizeof(buffer), &out)) {
            struct gmc_dgram_in in = {.path = out.path,
                                      .peer = gmc_gateway_peer(pump->gw, end->name),
                                      .from = {.len = 1, .bytes = {(uint8_t)i}},
                                      .bytes = out.body};
            (void)gmc_gateway_on_datagram(pump->gw, pump->now, &in);
            pump_drain(pump);
            any = true;
        }
    }
    return any;
}

void pump_settle(struct pump *pump)
{
    for (int turns = 0; turns < TURNS_MAX; turns++) {
        bool any = pump_drain(pump);
        any = ends_send(pump) || any;
        if (gmc_gateway_deadline(pump->gw) <= pump->now) {
            gmc_gateway_on_timer(pump->gw, pump->now);
            any = true;
        }
        if (!any)
            return;
    }
    GMC_ASSERT(!pump->has_to_settle);
}

void pump_pass(struct pump *pump, gmc_duration wait)
{
    gmc_time until = gmc_time_add(pump->now, wait);
    for (int turns = 0; turns < TURNS_MAX && pump->now < until; turns++) {
        gmc_time when = gmc_time_min(until, gmc_gateway_deadline(pump->gw));
        for (size_t i = 0; i < pump->end_count; i++)
            if (pump->ends[i].link != NULL)
                when = gmc_time_min(when, gmc_link_deadline(pump->ends[i].link, false));
        pump->now = gmc_time_max(pump->now, when);
        for (size_t i = 0; i < pump->end_count; i++)
            if (pump->ends[i].link != NULL)
                gmc_link_on_timer(pump->ends[i].link, pump->now);
        pump_settle(pump);
    }
    pump->now = gmc_time_max(pump->now, until);
}

struct gmc_store_op pump_take_op(struct pump *pump, bool last)
{
    size_t i = last ? pump->op_count - 1 : 0;
    struct gmc_store_op op = pump->ops[i];
    memmove(&pump->ops[i], &pump->ops[i + 1], sizeof(op) * (pump->op_count - i - 1));
    pump->op_count--;
    return op;
}

void pump_close(struct pump *pump)
{
    gmc_gateway_free(pump->gw);
    for (size_t i = 0; i < pump->end_count; i++)
        gmc_link_free(pump->ends[i].link);
}
