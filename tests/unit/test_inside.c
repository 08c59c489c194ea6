/* SPDX-License-Identifier: BSD-2-Clause */
/* Choices of nodes: what each text asks for. */
#include <string.h>

#include "core/inside.h"
#include "tests/lib/unit.h"

static void test_kinds(void **state)
{
    static const struct {
        const char *text;
        enum gmc_inside kind;
    } cases[] = {
        {"gateway", GMC_INSIDE_GATEWAY}, {"nodes", GMC_INSIDE_NODES},
        {"shared", GMC_INSIDE_SHARED},   {"n1", GMC_INSIDE_NAMED},
        {"n1+n2.x", GMC_INSIDE_NAMED},   {"nodes+n1", GMC_INSIDE_NAMED},
        {"", GMC_INSIDE_NONE},           {"+", GMC_INSIDE_NONE},
        {"n1+", GMC_INSIDE_NONE},        {"+n1", GMC_INSIDE_NONE},
        {"n1++n2", GMC_INSIDE_NONE},     {"n1,n2", GMC_INSIDE_NONE},
        {"N1", GMC_INSIDE_NONE},         {"../n1", GMC_INSIDE_NONE},
    };
    char most[GMC_INSIDE_BYTES_MAX + 2];
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (gmc_inside_kind(cases[i].text) != cases[i].kind)
            fail_msg("\"%s\" is not %d", cases[i].text, (int)cases[i].kind);
    memset(most, 'n', sizeof(most));
    most[GMC_INSIDE_BYTES_MAX + 1] = '\0';
    assert_int_equal(gmc_inside_kind(most), GMC_INSIDE_NONE);
    most[GMC_INSIDE_BYTES_MAX] = '\0';
    assert_int_equal(gmc_inside_kind(most), GMC_INSIDE_NAMED);
}

static void test_who_is_meant(void **state)
{
    static const struct {
        const char *text, *node;
        bool has;
    } cases[] = {
        {"nodes", "n1.x", true},      {"shared", "n1.x", true},  {"gateway", "n1.x", false},
        {"n1", "n1.x", true},         {"n1", "n1", true},        {"n1.x", "n1.x", true},
        {"n1.x", "n1.x.y", false},    {"n1", "n11.x", false},    {"n11", "n1.x", false},
        {"n2+n1", "n1.x", true},      {"n2+n3", "n1.x", false},  {"n1.x.y", "n1.x", false},
        {"gateway+n1", "n1.x", true}, {"n1+n1.x", "n1.y", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (gmc_inside_has(cases[i].text, cases[i].node) != cases[i].has)
            fail_msg("\"%s\", %s", cases[i].text, cases[i].node);
}

static void test_joined(void **state)
{
    static const struct {
        const char *have, *more;
        gmc_status status;
        const char *both;
    } cases[] = {
        {"n1", "n2", GMC_OK, "n1+n2"},
        {"n1+n2", "n2+n3.x", GMC_OK, "n1+n2+n3.x"},
        {"n1+n2", "n2+n1", GMC_ERR_EXISTS, NULL},
        {"n1", "gateway", GMC_ERR_EXISTS, NULL},
        {"n1", "", GMC_ERR_EXISTS, NULL},
        {"n1", "nodes", GMC_OK, "nodes"},
        {"gateway", "n1+n2", GMC_OK, "n1+n2"},
        {"gateway", "nodes", GMC_OK, "nodes"},
        {"nodes", "n1", GMC_ERR_EXISTS, NULL},
        {"nodes", "nodes", GMC_ERR_EXISTS, NULL},
        {"", "nodes", GMC_OK, "nodes"},
        {"", "n1", GMC_ERR_INVALID, NULL}, /* who is meant by "" its gateway alone knows */
        {"shared", "n1", GMC_ERR_INVALID, NULL},
        {"n1", "shared", GMC_ERR_INVALID, NULL},
        {"n1", "++", GMC_ERR_INVALID, NULL},
    };
    char out[GMC_INSIDE_BYTES_MAX + 1], most[GMC_INSIDE_BYTES_MAX + 1];
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(gmc_inside_join(cases[i].have, cases[i].more, out), cases[i].status);
        if (cases[i].both != NULL)
            assert_string_equal(out, cases[i].both);
    }
    memset(most, 'x', GMC_INSIDE_BYTES_MAX);
    most[GMC_INSIDE_BYTES_MAX] = '\0';
    assert_int_equal(gmc_inside_join(most, "n1", out), GMC_ERR_LIMIT);
    most[GMC_INSIDE_BYTES_MAX - 3] = '\0';
    assert_ok(gmc_inside_join(most, "n1", out));
    assert_int_equal(strlen(out), GMC_INSIDE_BYTES_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_who_is_meant),
        cmocka_unit_test(test_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
