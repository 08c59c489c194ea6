/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the fuzzer of the control API as a whole: requests of local programs and of another domain,
 * and what that domain answers, against a gateway without a network. Each is answered by a reply
 * that decodes, at once or later.
 *
 * Input   a list of messages: from (u8: a local program, another domain, a reply of that domain),
 * length (u16), bytes
 */
#include <string.h>

#include "base/assert.h"
#include "crypto/cheap.h"
#include "ctl/ctl.h"
#include "wire/ctl_codec.h"

enum { MESSAGES_MAX = 8, OUTPUTS_MAX = 1000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct sut {
    struct gmc_gateway *gateway;
    struct gmc_ctl *ctl;
    gmc_peer other;
    gmc_time now;
};

static const char *resolve(void *ctx, const char *name)
{
    (void)ctx;
    if (strcmp(name, "bee") == 0 || strcmp(name, "b.example") == 0)
        return "b.example";
    return strcmp(name, "a.example") == 0 ? "a.example" : NULL;
}

static gmc_status may_request(void *ctx, const char *origin, const char *const *paths, size_t count,
                              const char **reason)
{
    (void)ctx;
    (void)origin;
    *reason = "only /public is served";
    for (size_t i = 0; i < count; i++) {
        if (strncmp(paths[i], "/public/", 8) != 0)
            return GMC_ERR_ACCESS;
    }
    return GMC_OK;
}

static size_t counters(void *ctx, struct gmc_counter *out, size_t max)
{
    (void)ctx;
    GMC_ASSERT(max >= 1);
    out[0] = (struct gmc_counter){"counted_by_the_shell", 42};
    return 1;
}

static void check_answer(const struct gmc_ctl_answer *answer)
{
    struct gmc_ctl_reply reply;
    struct gmc_ctl_holder *holder;

    if (answer->later)
        return;
    GMC_ASSERT(gmc_ctl_decode_reply(answer->bytes, &reply, &holder) == GMC_OK);
    gmc_ctl_release(holder);
}

/* Takes what the gateway wants to have done; nothing of it is. */
static void drain(struct sut *sut)
{
    struct gmc_output out;

    for (int i = 0; i < OUTPUTS_MAX && gmc_gateway_next_output(sut->gateway, &out); i++) {
        if (out.kind == GMC_OUT_STORE && out.u.store.data != NULL)
            memset(out.u.store.data, 0, out.u.store.len);
    }
}

static void take(struct sut *sut, uint8_t from, struct gmc_bytes bytes)
{
    struct gmc_ctl_answer answer = {0};

    sut->now += GMC_MS(10);
    if (from % 3 == 2) {
        for (uint64_t id = 0; id < MESSAGES_MAX; id++) {
            if (gmc_ctl_on_reply(sut->ctl, sut->now, id, bytes, &answer))
                check_answer(&answer);
        }
    } else {
        gmc_ctl_handle(sut->ctl, sut->now, from % 3 == 1 ? sut->other : GMC_PEER_NONE, bytes,
                       &answer);
        check_answer(&answer);
    }
    drain(sut);
    gmc_gateway_on_timer(sut->gateway, sut->now);
    drain(sut);
}

static void take_all(struct sut *sut, struct gmc_bytes input)
{
    struct gmc_reader r;

    gmc_reader_init(&r, input);
    for (int i = 0; i < MESSAGES_MAX && gmc_reader_left(&r) > 3; i++) {
        uint8_t from = gmc_reader_u8(&r);
        uint16_t len = gmc_reader_u16(&r);

        if (len > gmc_reader_left(&r))
            len = (uint16_t)gmc_reader_left(&r);
        take(sut, from, gmc_reader_bytes(&r, len));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t seed[32] = {1};
    const struct gmc_ctl_hooks hooks = {.may_request = may_request,
                                        .resolve = resolve,
                                        .counters = counters};
    struct gmc_crypto_cheap *cheap = gmc_crypto_cheap_new("a.example", seed);
    struct gmc_crypto crypto;
    struct sut sut = {.now = GMC_S(1)};
    uint8_t spki[GMC_PUBKEY_BYTES_MAX];
    size_t len = sizeof(spki);

    GMC_ASSERT(cheap != NULL && gmc_crypto_cheap_spki("a.example", spki, &len) == GMC_OK);
    gmc_crypto_cheap_table(cheap, &crypto);
    struct gmc_gateway_config config = {.domain = "a.example",
                                        .crypto = &crypto,
                                        .spki = gmc_bytes(spki, len),
                                        .seed = 1,
                                        .incarnation = 1,
                                        .cache_bytes = 4u << 20};
    sut.gateway = gmc_gateway_new(&config, sut.now);
    GMC_ASSERT(sut.gateway != NULL);
    sut.ctl = gmc_ctl_new(sut.gateway, "a.example", &hooks);
    GMC_ASSERT(sut.ctl != NULL);
    gmc_gateway_start(sut.gateway, sut.now);
    sut.other = gmc_gateway_peer(sut.gateway, "b.example");
    take_all(&sut, gmc_bytes(data, size));
    gmc_ctl_free(sut.ctl);
    gmc_gateway_free(sut.gateway);
    gmc_crypto_cheap_free(cheap);
    return 0;
}
