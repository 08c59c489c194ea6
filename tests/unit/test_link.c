/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of the link: two of them over a small wire in virtual time. */
#include "tests/lib/linkpair.h"
#include "tests/lib/unit.h"

#define BODY 1431 /* fills a datagram of 1472 */
#define AT(ms) (LINKPAIR_START + GMC_MS(ms))

static struct linkpair_wire wire_of(uint64_t rate_bps, gmc_duration delay, uint32_t loss_ppm)
{
    return (struct linkpair_wire){.rate_bps = rate_bps,
                                  .delay = delay,
                                  .queue_bytes = rate_bps / 160, /* 50 ms */
                                  .loss_ppm = loss_ppm,
                                  .mtu = 1472};
}

static struct linkpair_config config_of(uint64_t rate_bps, gmc_duration delay, uint32_t loss_ppm)
{
    struct linkpair_wire wire = wire_of(rate_bps, delay, loss_ppm);
    return (struct linkpair_config){.wires = {wire, wire},
                                    .fixed_rate_bps = rate_bps / 100 * 97,
                                    .seed = 1};
}

/* ---- path validation ---- */

static void comes_up_after_one_round_trip(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_MS(15), 0);
    struct linkpair *pair = linkpair_new(&config);

    linkpair_run_until(pair, AT(200));
    for (int i = 0; i < 2; i++) {
        const struct linkpair_stats *stats = linkpair_stats(pair, i);
        struct gmc_link_info info;
        assert_in_range(stats->up, AT(30), AT(31));
        assert_in_range(stats->settled, AT(60), AT(62));
        gmc_link_info(linkpair_link(pair, i), &info);
        assert_int_equal(info.path, GMC_PATH_UDP);
        assert_int_equal(info.udp_payload_max, 1472);
        assert_in_range(info.srtt, GMC_MS(30), GMC_MS(31));
    }
    linkpair_free(pair);
}

/* ---- data ---- */

static void carries_data_without_loss(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_MS(15), 0);
    struct linkpair *pair = linkpair_new(&config);

    linkpair_supply(pair, 0, 10000, BODY);
    assert_true(linkpair_run_delivered(pair, 0, AT(3000)));
    linkpair_run_until(pair, linkpair_now(pair) + GMC_S(1));
    const struct linkpair_stats *from = linkpair_stats(pair, 0), *to = linkpair_stats(pair, 1);
    assert_int_equal(to->delivered, 10000);
    assert_int_equal(to->duplicates, 0);
    assert_int_equal(from->acked, 10000);
    assert_int_equal(from->lost, 0);
    /* One ACK for 32 packets, not more. */
    assert_in_range(to->kinds[GMC_KIND_ACK], 10000 / 33, 10000 / 32 + 20);
    linkpair_free(pair);
}

static void repairs_what_was_lost(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_MS(15), 200000);
    struct linkpair *pair = linkpair_new(&config);

    linkpair_supply(pair, 0, 10000, BODY);
    assert_true(linkpair_run_delivered(pair, 0, AT(4000)));
    linkpair_run_until(pair, linkpair_now(pair) + GMC_S(2));
    const struct linkpair_stats *from = linkpair_stats(pair, 0), *to = linkpair_stats(pair, 1);
    assert_int_equal(to->delivered, 10000);
    assert_int_equal(from->acked, 10000);
    /* Nothing is sent again that had arrived, although ACKs get lost too. */
    assert_in_range(to->duplicates, 0, 10);
    linkpair_free(pair);
}

/* ---- messages ---- */

static void carries_messages_through_loss(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_MS(15), 200000);
    struct linkpair *pair = linkpair_new(&config);

    for (size_t i = 0; i < 50; i++)
        assert_ok(linkpair_message(pair, 0, i * 997));
    assert_true(linkpair_run_messages(pair, 1, 50, AT(5000)));
    linkpair_free(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_up_after_one_round_trip),
        cmocka_unit_test(carries_data_without_loss),
        cmocka_unit_test(repairs_what_was_lost),
        cmocka_unit_test(carries_messages_through_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
