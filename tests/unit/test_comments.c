/* SPDX-License-Identifier: BSD-2-Clause */
/* Comments in configuration texts: what is one, what is left, and that lines keep their numbers. */
#include <string.h>

#include "base/comments.h"
#include "tests/lib/unit.h"

static void test_blank(void **state)
{
    static const struct {
        const char *text, *left;
    } cases[] = {
        {"", ""},
        {"a = 1 # b\nc", "a = 1    \nc"},
        {"a#b", "a  "},
        {"// a\nb", "    \nb"},
        {"a = b//c", "a = b//c"},
        {"a /* b\nc */ d", "a     \n     d"},
        {"a /*/ b */ c", "a          c"},
        {"a /* b", "a     "},
        {"'# a' \"// b\" # c", "'# a' \"// b\"    "},
        {"\"a\\\" # b\" # c", "\"a\\\" # b\"    "},
        {"'a # b", "'a # b"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[64];
        strcpy(text, cases[i].text);
        gmc_blank_comments(text);
        assert_string_equal(text, cases[i].left);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_blank)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
