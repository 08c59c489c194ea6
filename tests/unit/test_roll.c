/* SPDX-License-Identifier: BSD-2-Clause */
/* Who passes for a member at another member: whoever shows a place in a record of the same source,
 * channel and epoch, and nobody with anything else. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_impl.h"
#include "crypto/cheap.h"
#include "tests/lib/unit.h"

#define E 7

static struct gmc_crypto_cheap *owners[2];
static struct gmc_crypto crypto, source_crypto;
static struct gmc_gateway *gw;
static struct gwchannel *ch;

/* A record of two members and the place of the second, in buffers that a test may spoil. */
struct made {
    uint8_t record[512], signature[GMC_SIGNATURE_BYTES_MAX], member[512], sibling[GMC_HASH_BYTES];
    struct gmc_place place;
};

static struct gmc_bytes keep(uint8_t *to, size_t size, uint8_t *bytes, size_t len)
{
    assert_true(len <= size);
    memcpy(to, bytes, len);
    gmc_msg_bytes_free(bytes);
    return gmc_bytes(to, len);
}

static struct gmc_record a_record(void)
{
    return (struct gmc_record){.source = "s.example",
                               .e = E,
                               .version = 3,
                               .epoch = 2,
                               .listing_bytes = 100,
                               .total_bytes = 1000000,
                               .block_bytes = GW_BLOCK_BYTES,
                               .fragment_bytes = 1400,
                               .stripes = 1,
                               .members = 2};
}

static void sign(struct made *made, struct gmc_record record, const char *domain)
{
    struct gmc_member member = {.domain = domain, .stripes = 1};
    struct gmc_merkle tree;
    uint8_t *bytes;
    size_t len, signature_len = sizeof(made->signature);

    memset(made, 0, sizeof(*made));
    assert_ok(gmc_member_encode(&member, &bytes, &len));
    made->place.member = keep(made->member, sizeof(made->member), bytes, len);
    assert_ok(gmc_merkle_init(&tree, &source_crypto, 2));
    gmc_merkle_put(&tree, 0, gmc_bytes_of_text("g.example"));
    gmc_merkle_put(&tree, 1, made->place.member);
    gmc_merkle_finish(&tree, record.root);
    memcpy(made->sibling, tree.nodes[0], GMC_HASH_BYTES);
    gmc_merkle_fini(&tree);
    made->place.index = 1;
    made->place.siblings = gmc_bytes(made->sibling, GMC_HASH_BYTES);
    assert_ok(gmc_record_encode(&record, &bytes, &len));
    made->place.record = keep(made->record, sizeof(made->record), bytes, len);
    struct gmc_gateway signer = {.config = {.crypto = &source_crypto}};
    assert_ok(gw_record_sign(&signer, NULL, made->place.record, made->signature, &signature_len));
    made->place.signature = gmc_bytes(made->signature, signature_len);
}

static int open_channel(void **state)
{
    uint8_t seed[32] = {1}, spki[GMC_PUBKEY_BYTES_MAX];
    size_t len = sizeof(spki);
    struct made made;

    (void)state;
    owners[0] = gmc_crypto_cheap_new("g.example", seed);
    owners[1] = gmc_crypto_cheap_new("s.example", seed);
    gmc_crypto_cheap_table(owners[0], &crypto);
    gmc_crypto_cheap_table(owners[1], &source_crypto);
    assert_ok(gmc_crypto_cheap_spki("g.example", spki, &len));
    struct gmc_gateway_config config = {.domain = "g.example",
                                        .crypto = &crypto,
                                        .spki = gmc_bytes(spki, len)};
    gw = gmc_gateway_new(&config, GMC_S(1));
    ch = gw_channel_new(gw, "s.example", E, false);
    assert_non_null(ch);
    len = sizeof(spki);
    assert_ok(gmc_crypto_cheap_spki("s.example", spki, &len));
    assert_ok(gw_channel_set_source_key(gw, ch, gmc_bytes(spki, len)));
    sign(&made, a_record(), "m.example");
    assert_ok(gw_channel_set_record(gw, ch, &made.place));
    return 0;
}

static int close_channel(void **state)
{
    (void)state;
    gmc_gateway_free(gw);
    gmc_crypto_cheap_free(owners[0]);
    gmc_crypto_cheap_free(owners[1]);
    return 0;
}

static bool passes(const struct made *made, const char *domain)
{
    return gw_place_is_of(gw, ch, &made->place, domain);
}

static void a_member_of_the_same_record_passes(void **state)
{
    struct made made;

    (void)state;
    sign(&made, a_record(), "m.example");
    assert_true(passes(&made, "m.example"));
    assert_false(passes(&made, "x.example")); /* who borrowed it */
}

static void nothing_shown_is_nobody(void **state)
{
    struct made made = {0};

    (void)state;
    assert_false(passes(&made, "m.example"));
    assert_false(passes(&made, ""));
}

static void what_is_spoiled_does_not_pass(void **state)
{
    struct made made;

    (void)state;
    sign(&made, a_record(), "m.example");
    made.sibling[31] ^= 1;
    assert_false(passes(&made, "m.example"));
    made.sibling[31] ^= 1;
    made.place.index = 0;
    assert_false(passes(&made, "m.example"));
    made.place.index = 1;
    made.place.siblings.len = 0;
    assert_false(passes(&made, "m.example"));
    sign(&made, a_record(), "m.example");
    made.member[2] = 'x'; /* x.example, which the root does not cover */
    assert_false(passes(&made, "x.example"));
}

/* Records reach members one after the other. */
static void another_version_passes(void **state)
{
    struct gmc_record record = a_record();
    struct made made;

    (void)state;
    record.version = 4;
    sign(&made, record, "new.example");
    assert_true(passes(&made, "new.example"));
    made.signature[0] ^= 1;
    assert_false(passes(&made, "new.example"));
    record.version = 2;
    sign(&made, record, "old.example");
    assert_true(passes(&made, "old.example"));
}

static void another_channel_does_not_pass(void **state)
{
    struct gmc_record record = a_record();
    struct made made;

    (void)state;
    record.epoch++;
    sign(&made, record, "m.example");
    assert_false(passes(&made, "m.example"));
    record = a_record();
    record.e++;
    sign(&made, record, "m.example");
    assert_false(passes(&made, "m.example"));
    record = a_record();
    record.source = "x.example";
    sign(&made, record, "m.example");
    assert_false(passes(&made, "m.example"));
}

/* A member cannot make records. */
static void another_signer_does_not_pass(void **state)
{
    struct gmc_crypto honest = source_crypto;
    struct gmc_record record = a_record();
    struct made made;

    (void)state;
    record.version = 4;
    source_crypto = crypto;
    sign(&made, record, "friend.example");
    source_crypto = honest;
    assert_false(passes(&made, "friend.example"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_member_of_the_same_record_passes, open_channel,
                                        close_channel),
        cmocka_unit_test_setup_teardown(nothing_shown_is_nobody, open_channel, close_channel),
        cmocka_unit_test_setup_teardown(what_is_spoiled_does_not_pass, open_channel, close_channel),
        cmocka_unit_test_setup_teardown(another_version_passes, open_channel, close_channel),
        cmocka_unit_test_setup_teardown(another_channel_does_not_pass, open_channel, close_channel),
        cmocka_unit_test_setup_teardown(another_signer_does_not_pass, open_channel, close_channel),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
