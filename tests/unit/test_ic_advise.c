/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests interconnect/advise: networks as text, the best first, what the models have no say in. */
#include <string.h>

#include "interconnect/advise.h"
#include "tests/lib/unit.h"

static char error[IC_ERROR_MAX];

static void networks_are_read(void **state)
{
    static const struct {
        const char *text, *words; /* words: refused */
        uint32_t nodes;
        int scheme;
    } cases[] = {
        {"torus:4x4", NULL, 16, -1},
        {"torus:3x3x3", NULL, 27, -1},
        {"torus:7", NULL, 7, -1},
        {"star:16", NULL, 16, -1},
        {"star:9:NB", NULL, 9, 1},
        {"torus:4x5", "torus:4x5: all dimensions have to be of one size", 0, 0},
        {"torus:4x", "torus:4x is no torus; one is written torus:4x4", 0, 0},
        {"torus:4x4y", "torus:4x4y is no torus; one is written torus:4x4", 0, 0},
        {"torus:1x1", "k, nodes per ring, is 1; it must be 2 to 1024", 0, 0},
        {"torus:", "torus: is no torus; one is written torus:4x4", 0, 0},
        {"torus:5000000000", "k, nodes per ring, is 5000000000; it must be 2 to 1024", 0, 0},
        {"torus:4294967300x4", "torus:4294967300x4: all dimensions have to be of one size", 0, 0},
        {"star:1", "the number of the star's nodes is 1; it must be 2 to 1048576", 0, 0},
        {"star:99999999999",
         "the number of the star's nodes is 99999999999; it must be 2 to 1048576", 0, 0},
        {"star:x", "star:x is no star; one is written star:16 or star:16:NA, with HB, NB or NA", 0,
         0},
        {"star:4:XX",
         "star:4:XX is no star; one is written star:16 or star:16:NA, with HB, NB or NA", 0, 0},
        {"ring:4", "'ring:4' is no network; one is written torus:4x4 or star:16", 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ic_network network;
        gmc_status status = ic_network_parse(cases[i].text, &network, error);
        if (cases[i].words != NULL) {
            assert_int_equal(status, GMC_ERR_INVALID);
            assert_string_equal(error, cases[i].words);
            continue;
        }
        assert_ok(status);
        assert_int_equal(network.nodes, cases[i].nodes);
        assert_int_equal(network.scheme, cases[i].scheme);
    }
}

static gmc_status advise(const char *network, uint64_t group, uint64_t bytes, unsigned by,
                         struct ic_advice *advice)
{
    struct ic_question question = {.group = group, .bytes = bytes, .seed = 1, .by = by};
    assert_ok(ic_network_parse(network, &question.network, error));
    return ic_advise(&question, advice, error);
}

static void expect_sorted(const struct ic_advice *advice, unsigned by)
{
    for (size_t i = 1; i < advice->count; i++) {
        const struct ic_answer *a = &advice->answers[i - 1], *b = &advice->answers[i];
        assert_true(by == IC_MODEL ? a->model.value <= b->model.value
                                   : a->simulated.value <= b->simulated.value);
    }
}

static void the_best_is_first(void **state)
{
    struct ic_advice advice;
    (void)state;
    assert_ok(advise("torus:8x8", 64, 2, IC_MODEL, &advice));
    assert_int_equal(advice.count, 5);
    assert_string_equal(advice.answers[0].algorithm, "separate");
    expect_sorted(&advice, IC_MODEL);
    /* Large messages to many: the rings share the work. */
    assert_ok(advise("torus:4x4", 14, 65536, IC_BOTH, &advice));
    expect_sorted(&advice, IC_BOTH);
    assert_int_equal(advice.answers[0].model.state, IC_FIGURE_KNOWN);
    assert_true(strcmp(advice.answers[0].algorithm, "Md-torus") == 0 ||
                strcmp(advice.answers[0].algorithm, "Mu-torus") == 0);
    assert_string_equal(advice.answers[4].algorithm, "S-torus");
    assert_ok(advise("star:16", 16, 2, IC_MODEL, &advice));
    assert_int_equal(advice.count, 12);
    assert_string_equal(advice.answers[0].scheme, "HB");
    assert_string_equal(advice.answers[0].algorithm, "binary");
    assert_ok(advise("star:16:NA", 16, 65536, IC_SIMULATOR, &advice));
    assert_int_equal(advice.count, 4);
    assert_string_equal(advice.answers[0].scheme, "NA");
    assert_int_equal(advice.answers[0].model.state, IC_FIGURE_NONE);
    assert_ok(advise("torus:3x3x3", 20, 4096, IC_SIMULATOR, &advice));
    expect_sorted(&advice, IC_SIMULATOR);
}

static void what_is_not_known_is_refused(void **state)
{
    struct ic_advice advice;
    (void)state;
    assert_int_equal(advise("torus:4x4", 17, 2, IC_MODEL, &advice), GMC_ERR_INVALID);
    assert_string_equal(error, "the group is 17; it must be 2 to 16");
    assert_int_equal(advise("torus:3x3x3", 20, 4096, IC_BOTH, &advice), GMC_ERR_INVALID);
    assert_string_equal(error, "the models are of tori of two dimensions, this has 3: only the "
                               "simulators can tell (--simulate)");
    assert_int_equal(advise("star:16", 4, 65536, IC_MODEL, &advice), GMC_ERR_INVALID);
    assert_string_equal(error, "the models of the star hold for 1 to 64 bytes: only the simulators "
                               "can tell (--simulate)");
    assert_int_equal(advise("star:16", 4, 2097152, IC_SIMULATOR, &advice), GMC_ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(networks_are_read),
        cmocka_unit_test(the_best_is_first),
        cmocka_unit_test(what_is_not_known_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
