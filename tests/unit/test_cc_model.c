/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests core/cc_model on a bottleneck in virtual time. */
#include "tests/lib/ccwire.h"
#include "tests/lib/unit.h"

static const struct ccwire_path path_100m = {.rate_bps = 100000000,
                                             .delay = GMC_MS(15),
                                             .queue_bytes = 625000};

static void test_uses_the_path_at_any_loss(void **state)
{
    static const uint32_t losses[] = {0, 10000, 50000, 100000, 200000};

    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        struct ccwire_path path = path_100m;
        struct ccwire *wire;
        gmc_time done;

        path.loss_ppm = losses[i];
        wire = ccwire_new(&path, 1);
        ccwire_add(wire, &(struct ccwire_flow){.ops = &gmc_cc_model, .packets = 70200});
        done = ccwire_run_flow(wire, 0, GMC_S(100));
        /* 70200 packets of 1500 bytes take 8.424 s at full rate. */
        assert_true(done < GMC_MS(8424) / (1000000 - losses[i]) * 1000000 / 97 * 100);
        ccwire_free(wire);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uses_the_path_at_any_loss),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
