/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the test of base/status: every code has a name, a text and a scope of its own.
 */
#include "base/status.h"

#include "tests/lib/unit.h"

#include <string.h>

static void every_code_has_name_and_text(void **state)
{
    (void)state;
    assert_string_equal(gmc_status_name(GMC_OK), "OK");
    assert_string_equal(gmc_status_text(GMC_OK), "success");
#define CHECK(name, number, scope, text)                                                           \
    assert_int_equal(GMC_ERR_##name, -(number));                                                   \
    assert_string_equal(gmc_status_name(-(number)), #name);                                        \
    assert_string_equal(gmc_status_text(-(number)), text);                                         \
    assert_int_equal(gmc_status_scope(-(number)), GMC_SCOPE_##scope);
    GMC_STATUS_LIST(CHECK)
#undef CHECK
}

static void numbers_have_no_holes(void **state)
{
    int next = 1;

    (void)state;
#define CHECK(name, number, scope, text) assert_int_equal(number, next++);
    GMC_STATUS_LIST(CHECK)
#undef CHECK
}

static void unknown_codes_are_harmless(void **state)
{
    static const gmc_status unknown[] = {1, -1000, -2147483647 - 1, 2147483647};

    (void)state;
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        assert_string_equal(gmc_status_name(unknown[i]), "?");
        assert_string_equal(gmc_status_text(unknown[i]), "unknown error");
        assert_int_equal(gmc_status_scope(unknown[i]), GMC_SCOPE_CALL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_name_and_text),
        cmocka_unit_test(numbers_have_no_holes),
        cmocka_unit_test(unknown_codes_are_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
