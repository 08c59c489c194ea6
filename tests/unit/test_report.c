/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the test of tools/report: the fields that programs rely on.
 */
#include "tools/report.h"

#include "tests/lib/unit.h"

#include <stdlib.h>
#include <string.h>

static const char *const more[] = {"c"};

static const struct gmc_ctl_member members[] = {
    {.domain = "b",
     .parent = "a",
     .more_parents = more,
     .more_parent_count = 1,
     .path = "in/\xff",
     .state = GMC_CTL_MEMBER_VERIFIED,
     .bytes = 5,
     .repairs = 2,
     .elapsed_ns = 1500000000,
     .has_digest = true,
     .digest = {1},
     .reason = "",
     .latency_ns = 2000000},
    {.domain = "c", .parent = "", .path = "", .state = GMC_CTL_MEMBER_FAILED, .reason = "full"},
};

static struct gmc_ctl_transfer transfer_in(enum gmc_ctl_transfer_state state)
{
    return (struct gmc_ctl_transfer){.channel = "0123456789abcdef@a",
                                     .state = state,
                                     .shape = "eco",
                                     .name = "",
                                     .total_bytes = 5,
                                     .elapsed_ns = 2000000000,
                                     .setup_ns = 250000000,
                                     .reason = "",
                                     .members = members,
                                     .member_count = 2};
}

static const char *text_at(json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

static void test_result(void **state)
{
    struct gmc_ctl_transfer transfer = transfer_in(GMC_CTL_TRANSFER_PARTIAL);
    json_t *object = report_result(&transfer);
    json_t *domains = json_object_get(object, "domains");
    json_t *b = json_object_get(domains, "b");
    json_t *c = json_object_get(domains, "c");
    json_t *tree = json_array_get(json_object_get(object, "trees"), 0);

    (void)state;
    assert_string_equal(text_at(object, "result"), "partial");
    assert_string_equal(text_at(object, "channel"), "0123456789abcdef@a");
    assert_int_equal(json_integer_value(json_object_get(object, "bytes")), 5);
    assert_true(json_real_value(json_object_get(object, "seconds")) == 2.0);
    assert_true(json_real_value(json_object_get(object, "setup_seconds")) == 0.25);
    assert_string_equal(text_at(tree, "b"), "a");
    assert_true(json_is_null(json_object_get(tree, "c")));
    assert_int_equal(json_array_size(json_object_get(object, "trees")), 2);
    tree = json_array_get(json_object_get(object, "trees"), 1);
    assert_string_equal(text_at(tree, "b"), "c");
    assert_true(json_is_null(json_object_get(tree, "c")));
    assert_string_equal(text_at(b, "state"), "verified");
    assert_int_equal(strlen(text_at(b, "digest")), 64);
    assert_int_equal(strncmp(text_at(b, "digest"), "0100", 4), 0);
    assert_string_equal(text_at(b, "path"), "in/\\xff");
    assert_int_equal(json_integer_value(json_object_get(b, "repairs")), 2);
    assert_true(json_is_null(json_object_get(b, "reason")));
    assert_string_equal(text_at(c, "reason"), "full");
    assert_true(json_is_null(json_object_get(c, "digest")));
    json_decref(object);
}

static void test_result_names(void **state)
{
    static const struct {
        enum gmc_ctl_transfer_state state;
        const char *name;
    } cases[] = {{GMC_CTL_TRANSFER_COMPLETE, "complete"},
                 {GMC_CTL_TRANSFER_CANCELLED, "cancelled"},
                 {GMC_CTL_TRANSFER_FAILED, "failed"}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gmc_ctl_transfer transfer = transfer_in(cases[i].state);
        json_t *object = report_result(&transfer);

        assert_string_equal(text_at(object, "result"), cases[i].name);
        json_decref(object);
    }
}

static void test_a_failure_has_all_fields(void **state)
{
    static const char *const names[] = {"result",        "reason",  "bytes", "seconds",
                                        "setup_seconds", "channel", "trees", "domains"};
    json_t *object = report_failure("no such file \xff");

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_non_null(json_object_get(object, names[i]));
    assert_string_equal(text_at(object, "reason"), "no such file \\xff");
    json_decref(object);
}

/* A source that cannot use what it had saved knows nothing of its members. */
static void test_a_result_without_members_has_all_fields(void **state)
{
    struct gmc_ctl_transfer transfer = transfer_in(GMC_CTL_TRANSFER_FAILED);
    transfer.member_count = 0;
    json_t *object = report_result(&transfer);

    (void)state;
    assert_int_equal(json_array_size(json_object_get(object, "trees")), 0);
    assert_true(json_is_array(json_object_get(object, "trees")));
    assert_true(json_is_object(json_object_get(object, "domains")));
    json_decref(object);
}

static void test_a_line_is_a_line(void **state)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);

    (void)state;
    assert_true(report_line(report_failure("a\nb"), out));
    fclose(out);
    assert_ptr_equal(strchr(text, '\n'), text + len - 1);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_result),
        cmocka_unit_test(test_result_names),
        cmocka_unit_test(test_a_failure_has_all_fields),
        cmocka_unit_test(test_a_result_without_members_has_all_fields),
        cmocka_unit_test(test_a_line_is_a_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
