/* SPDX-License-Identifier: BSD-2-Clause */
/* Fuzzes a link from the side of a peer that holds the keys: what is parsed behind the tags.
 *
 * The input is a list of steps, each a byte that says what, and what it needs:
 *   0..8   a datagram of that kind under the next packet number: a length byte, and so much of the
 *          input as plaintext (for DATA: as body)
 *   9      a datagram as it stands: a length byte, and the bytes
 *   10     time goes by: 2 bytes, in units of 100 us
 *   11     the link sends a message of so many bytes (2 bytes)
 *   12     the link sends so many data packets (1 byte), as far as it is ready
 *   13     the peer answers the last challenge truthfully
 *   14     the peer acknowledges so many of the newest packets (1 byte)
 *   15     datagrams come from another address from now on (1 byte)
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "core/ackrange.h"
#include "core/gate.h"
#include "core/link.h"
#include "tests/lib/testcrypto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct world {
    struct gmc_reader input;
    struct testcrypto tc;
    struct gmc_link *link;
    struct gmc_gate peer;
    gmc_time now;
    uint64_t number; /* of the peer's next packet */
    struct gmc_addr from;
    uint8_t token[8];
    bool challenged;
    uint64_t seen; /* one above the highest number from the link */
    uint64_t queued, decided;
    uint8_t buffer[40000];
};

static void open_world(struct world *w, const uint8_t *data, size_t size)
{
    struct gmc_session session = {.local_id = 1, .remote_id = 2};
    struct gmc_link_config config = {.crypto = &w->tc.crypto,
                                     .session = &session,
                                     .cc = &gmc_cc_fixed,
                                     .fixed_rate_bps = 1000000000};

    memset(w, 0, sizeof *w);
    gmc_reader_init(&w->input, gmc_bytes(data, size));
    testcrypto_init(&w->tc, 1);
    gmc_prng_init(&config.prng, 1);
    w->now = GMC_S(1);
    w->from.len = 1;
    memset(session.send_secret, 1, GMC_KEY_BYTES);
    w->link = gmc_link_new(&config, w->now);
    GMC_ASSERT(w->link != NULL);
    session.local_id = 2;
    session.remote_id = 1;
    memset(session.send_secret, 0, GMC_KEY_BYTES);
    memset(session.recv_secret, 1, GMC_KEY_BYTES);
    GMC_ASSERT(gmc_gate_init(&w->peer, &w->tc.crypto, &session) == GMC_OK);
}

static void deliver(struct world *w, struct gmc_bytes bytes)
{
    /* Memory of exactly this size, so that a sanitizer sees a read past the end. */
    uint8_t *copy = malloc(bytes.len > 0 ? bytes.len : 1);
    struct gmc_dgram_in in = {.from = w->from};
    struct gmc_link_data got;
    bool is_data = false;

    GMC_ASSERT(copy != NULL);
    if (bytes.len > 0)
        memcpy(copy, bytes.data, bytes.len);
    in.bytes = gmc_bytes(copy, bytes.len);
    gmc_status status = gmc_link_receive(w->link, w->now, &in, &got, &is_data);
    if (status == GMC_OK && is_data) {
        GMC_ASSERT(got.seal_tag + GMC_SEAL_TAG_BYTES == copy + bytes.len);
        if (got.handle % 2 == 0)
            gmc_link_accept_data(w->link, w->now);
    }
    free(copy);
}

static void send_sealed(struct world *w, enum gmc_kind kind, struct gmc_bytes plain)
{
    if (plain.len > 0)
        memcpy(w->buffer + GMC_HEAD_BYTES, plain.data, plain.len);
    GMC_ASSERT(gmc_gate_seal(&w->peer, kind, w->number++, w->buffer, plain.len) == GMC_OK);
    deliver(w, gmc_bytes(w->buffer, plain.len + GMC_GATE_OVERHEAD));
}

static void send_data(struct world *w, struct gmc_bytes body)
{
    const struct gmc_data_head head = {(uint16_t)body.len, 3, 4};
    uint8_t *at = w->buffer + GMC_DATA_HEAD_BYTES;

    if (body.len > 0)
        memcpy(at, body.data, body.len);
    memset(at + body.len, 5, GMC_SEAL_TAG_BYTES);
    GMC_ASSERT(gmc_gate_head(&w->peer, GMC_KIND_DATA, w->number++, &head, at + body.len,
                             w->buffer) == GMC_OK);
    deliver(w, gmc_bytes(w->buffer, body.len + GMC_DATA_OVERHEAD_BYTES));
}

/* The peer opens what the link sent. */
static void take(struct world *w, const struct gmc_dgram_out *out)
{
    uint8_t bytes[40000], plain[40000];
    struct gmc_gate_packet packet;
    size_t len = gmc_dgram_out_len(out);

    GMC_ASSERT(len <= sizeof bytes);
    memcpy(bytes, out->head, out->head_len);
    if (out->body.len > 0)
        memcpy(bytes + out->head_len, out->body.data, out->body.len);
    if (out->tail.len > 0)
        memcpy(bytes + out->head_len + out->body.len, out->tail.data, out->tail.len);
    GMC_ASSERT(gmc_gate_open(&w->peer, gmc_bytes(bytes, len), plain, &packet) == GMC_OK);
    GMC_ASSERT(packet.number >= w->seen); /* numbers are never used twice */
    w->seen = packet.number + 1;
    if (packet.kind == GMC_KIND_CHALLENGE) {
        memcpy(w->token, packet.content.data, sizeof w->token);
        w->challenged = true;
    }
}

static void drain(struct world *w)
{
    struct gmc_dgram_out out;
    struct gmc_bytes message;
    struct gmc_link_fate fate;
    unsigned packets = 0;

    while (gmc_link_next_message(w->link, &message))
        GMC_ASSERT(message.len <= GMC_LINK_MESSAGE_MAX);
    while (gmc_link_next_packet(w->link, w->now, w->buffer, sizeof w->buffer, &out)) {
        take(w, &out);
        GMC_ASSERT(packets++ < 5000);
    }
    while (gmc_link_next_fate(w->link, &fate))
        w->decided++;
    GMC_ASSERT(w->decided <= w->queued);
    struct gmc_link_info info;
    gmc_link_info(w->link, &info);
    GMC_ASSERT(info.inflight_bytes <= info.bytes_sent + 28 * info.packets_sent);
}

/* Lets the clock run from deadline to deadline. */
static void pass_time(struct world *w, gmc_duration span)
{
    gmc_time until = w->now + span;

    for (unsigned turns = 0;; turns++) {
        gmc_time next = gmc_link_deadline(w->link, false);
        if (next > until)
            break;
        GMC_ASSERT(turns < 100000); /* no spinning */
        w->now = gmc_time_max(w->now, next);
        gmc_link_on_timer(w->link, w->now);
        drain(w);
    }
    w->now = until;
}

static void send_packets(struct world *w, unsigned count)
{
    static const uint8_t body[500];
    const struct gmc_data_head head = {1, 2, 3};
    struct gmc_dgram_out out;

    while (count-- > 0 && gmc_link_ready(w->link, w->now, sizeof body)) {
        GMC_ASSERT(gmc_link_send_data(w->link, w->now, &head, gmc_bytes(body, sizeof body), body,
                                      w->queued, &out) == GMC_OK);
        w->queued++;
        take(w, &out);
    }
    gmc_link_set_idle(w->link, w->now);
}

static void acknowledge(struct world *w, uint64_t count)
{
    struct gmc_ack ack = {.largest = w->seen - 1, .count = 1};
    uint8_t plain[GMC_ACK_BYTES_MAX];

    if (w->seen == 0)
        return;
    ack.ranges[0].last = ack.largest;
    ack.ranges[0].first = ack.largest > count ? ack.largest - count : 0;
    size_t len = gmc_ack_put(&ack, plain, sizeof plain);
    send_sealed(w, GMC_KIND_ACK, gmc_bytes(plain, len));
}

static void send_message(struct world *w, size_t len)
{
    uint8_t *bytes = calloc(1, len + 1);
    GMC_ASSERT(bytes != NULL);
    gmc_status status = gmc_link_send_message(w->link, w->now, gmc_bytes(bytes, len));
    GMC_ASSERT(status == GMC_OK || status == GMC_ERR_FULL || status == GMC_ERR_STATE);
    free(bytes);
}

static void step(struct world *w)
{
    uint8_t what = gmc_reader_u8(&w->input) % 16;
    struct gmc_bytes bytes = {NULL, 0};

    if (what <= 9)
        bytes = gmc_reader_bytes(&w->input, gmc_reader_u8(&w->input));
    if (what == GMC_KIND_DATA)
        send_data(w, bytes);
    else if (what <= 8)
        send_sealed(w, (enum gmc_kind)what, bytes);
    else if (what == 9)
        deliver(w, bytes);
    else if (what == 10)
        pass_time(w, GMC_US(100) * gmc_reader_u16(&w->input));
    else if (what == 11)
        send_message(w, gmc_reader_u16(&w->input));
    else if (what == 12)
        send_packets(w, gmc_reader_u8(&w->input));
    else if (what == 13 && w->challenged)
        send_sealed(w, GMC_KIND_RESPONSE, gmc_bytes(w->token, sizeof w->token));
    else if (what == 14)
        acknowledge(w, gmc_reader_u8(&w->input));
    else if (what == 15)
        w->from.bytes[0] = gmc_reader_u8(&w->input);
    drain(w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct world *w = malloc(sizeof *w);

    GMC_ASSERT(w != NULL);
    open_world(w, data, size);
    pass_time(w, 0);
    while (gmc_reader_left(&w->input) > 0)
        step(w);
    pass_time(w, GMC_S(20));
    gmc_link_free(w->link);
    gmc_gate_fini(&w->peer);
    free(w);
    return 0;
}
