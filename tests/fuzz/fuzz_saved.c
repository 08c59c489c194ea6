/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the fuzzer of saved state: a gateway is started from damaged or forged state files. Nothing
 * may crash or be asserted; every store operation is answered, so restarts run into their ends.
 *
 * Input   the channel's number (u64), then a list of files: kind (u8: source, record, have), length
 * (u16), bytes
 */
#include <stdlib.h>
#include <string.h>

#include "core/gateway.h"
#include "crypto/cheap.h"

enum { FILES_MAX = 4, ANSWERS_MAX = 200 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void feed(struct gmc_gateway *gw, gmc_time now, uint64_t e, uint8_t kind,
                 struct gmc_bytes bytes)
{
    static const char *const names[] = {"source", "record", "have", "stopped"};
    struct gmc_saved saved = {.name = names[kind % 4], .bytes = bytes};
    const char *source = kind % 4 == 0 ? "n1.example" : "n0.example";
    memcpy(saved.key.source, source, strlen(source) + 1);
    saved.key.e = e;
    gmc_status status = gmc_gateway_on_saved(gw, now, &saved);
    (void)status; /* most are refused */
}

/* Answers store operations until nothing more is asked; reads give zeros and fail now and then. */
static void drain(struct gmc_gateway *gw, gmc_time *now)
{
    uint64_t tickets[64];
    enum gmc_store_kind kinds[64];
    for (int turn = 0; turn < ANSWERS_MAX; turn++) {
        struct gmc_output out;
        size_t count = 0;
        while (gmc_gateway_next_output(gw, &out)) {
            if (out.kind != GMC_OUT_STORE || count == 64)
                continue;
            if (out.u.store.data != NULL &&
                (out.u.store.kind == GMC_STORE_READ || out.u.store.kind == GMC_STORE_READ_PAGE))
                memset(out.u.store.data, 0, out.u.store.len);
            tickets[count] = out.u.store.ticket;
            kinds[count++] = out.u.store.kind;
        }
        *now += GMC_MS(50);
        for (size_t i = 0; i < count; i++) {
            struct gmc_store_result result = {.ticket = tickets[i], .listing_bytes = 10};
            if (kinds[i] == GMC_STORE_READ_PAGE && turn % 2 == 1)
                result.status = GMC_ERR_NOT_FOUND;
            gmc_gateway_on_stored(gw, *now, &result);
        }
        gmc_gateway_on_timer(gw, *now);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t seed[32] = {1};
    struct gmc_crypto_cheap *cheap = gmc_crypto_cheap_new("n1.example", seed);
    struct gmc_crypto crypto;
    if (cheap == NULL)
        return 0;
    gmc_crypto_cheap_table(cheap, &crypto);
    uint8_t spki[GMC_PUBKEY_BYTES_MAX];
    size_t spki_len = sizeof(spki);
    gmc_status status = gmc_crypto_cheap_spki("n1.example", spki, &spki_len);
    struct gmc_gateway_config config = {.domain = "n1.example",
                                        .crypto = &crypto,
                                        .spki = gmc_bytes(spki, status == GMC_OK ? spki_len : 0),
                                        .seed = 1,
                                        .cache_bytes = 4u << 20};
    gmc_time now = GMC_S(1);
    struct gmc_gateway *gw = gmc_gateway_new(&config, now);
    struct gmc_reader r;
    gmc_reader_init(&r, gmc_bytes(data, size));
    uint64_t e = gmc_reader_u64(&r);
    for (int i = 0; gw != NULL && i < FILES_MAX && gmc_reader_left(&r) > 3; i++) {
        uint8_t kind = gmc_reader_u8(&r);
        uint16_t len = gmc_reader_u16(&r);
        if (len > gmc_reader_left(&r))
            len = (uint16_t)gmc_reader_left(&r);
        feed(gw, now, e, kind, gmc_reader_bytes(&r, len));
    }
    if (gw != NULL) {
        gmc_gateway_start(gw, now);
        drain(gw, &now);
    }
    gmc_gateway_free(gw);
    gmc_crypto_cheap_free(cheap);
    return 0;
}
