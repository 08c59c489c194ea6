/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the test of tools/text: figures, names with anything in them, rates, places.
 */
#include "tools/text.h"

#include "tests/lib/unit.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void test_sizes(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {
        {0, "0 B"},         {999, "999 B"},      {1000, "1.00 kB"},     {65536, "65.5 kB"},
        {999499, "999 kB"}, {999500, "1.00 MB"}, {123456789, "123 MB"}, {UINT64_MAX, "18.4 EB"}};
    char out[TEXT_FIGURE_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(text_size(cases[i].bytes, out), cases[i].text);
}

static void test_times(void **state)
{
    char out[TEXT_FIGURE_MAX];

    (void)state;
    assert_string_equal(text_clock(7.4, out), "0:07");
    assert_string_equal(text_clock(3723, out), "1:02:03");
    assert_string_equal(text_clock(-1, out), "-:--");
    assert_string_equal(text_clock(1e12, out), "-:--");
    assert_string_equal(text_latency(0, out), "-");
    assert_string_equal(text_latency(213000, out), "0.21 ms");
    assert_string_equal(text_latency(34000000, out), "34.0 ms");
    assert_string_equal(text_latency(1200000000, out), "1.2 s");
}

static void test_names_are_made_safe(void **state)
{
    char out[64];
    char *safe = text_safe("a\nb\033[31m\\ \xc3\xa4 \xff");

    (void)state;
    assert_string_equal(safe, "a\\nb\\x1b[31m\\\\ \xc3\xa4 \\xff");
    free(safe);
    text_safe_into("12345\n789", out, 7);
    assert_string_equal(out, "12345");               /* no half of an escape */
    text_safe_into("\xe2\x80\xae", out, sizeof out); /* right-to-left override */
    assert_string_equal(out, "\\xe2\\x80\\xae");
}

static void test_lines_are_cut(void **state)
{
    char line[] = "ab\xc3\xa4\xe6\x97\xa5z"; /* a b ä 日 z: 1 1 1 2 1 columns */

    (void)state;
    assert_int_equal(text_width(line), 6);
    text_cut(line, 4);
    assert_string_equal(line, "ab\xc3\xa4"); /* the wide one does not fit */
}

static void test_rates(void **state)
{
    static const struct {
        const char *text;
        uint64_t bps;
    } good[] = {{"1", 1},
                {"200M", 200000000},
                {"1.5G", 1500000000},
                {"10Gbit/s", 10000000000},
                {"50MB/s", 400000000},
                {"8 kbit", 8000},
                {"1B", 8},
                {"3kbps", 3000}};
    static const char *const bad[] = {"",    "0",   "-1",   "M",    "1X",   "1 Mfoo",
                                      "nan", "inf", "1e30", "0x10", "1.2.3"};
    uint64_t bps = 77;

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(text_parse_rate(good[i].text, &bps));
        assert_int_equal(bps, good[i].bps);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(text_parse_rate(bad[i], &bps));
}

static void check_place(const char *text, const char *domain, const char *path)
{
    char *got_domain, *got_path;

    assert_true(text_split_place(text, &got_domain, &got_path));
    if (domain == NULL)
        assert_null(got_domain);
    else
        assert_string_equal(got_domain, domain);
    assert_string_equal(got_path, path);
    free(got_domain);
    free(got_path);
}

static void test_places(void **state)
{
    (void)state;
    check_place("cern.example:/data/a:b", "cern.example", "/data/a:b");
    check_place("cern:", "cern", "");
    check_place("./a:b", NULL, "./a:b");
    check_place("/x/a:b", NULL, "/x/a:b");
    check_place("plain", NULL, "plain");
    check_place(":x", NULL, ":x");
}

static void test_paths_become_absolute(void **state)
{
    char folder[] = "/tmp/gmcast-test-text-XXXXXX";
    char expect[128], name[128];
    char *path;

    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_ok(chdir(folder));
    assert_ok(symlink("/nonexistent", "link"));
    snprintf(expect, sizeof expect, "%s/link", folder);
    path = text_absolute("link"); /* the last name is kept */
    assert_string_equal(path, expect);
    free(path);
    path = text_absolute("./link//");
    assert_string_equal(path, expect);
    free(path);
    path = text_absolute(".");
    assert_string_equal(path, folder);
    free(path);
    path = text_absolute("/");
    assert_string_equal(path, "/");
    free(path);
    path = text_absolute("/tmp");
    assert_string_equal(path, "/tmp");
    free(path);
    assert_null(text_absolute("missing/x"));
    assert_null(text_absolute(""));
    snprintf(name, sizeof name, "%s/link", folder);
    assert_ok(unlink(name));
    assert_ok(chdir("/"));
    assert_ok(rmdir(folder));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_names_are_made_safe),
        cmocka_unit_test(test_lines_are_cut),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_paths_become_absolute),
    };

    if (setlocale(LC_CTYPE, "C.UTF-8") == NULL)
        return 77; /* what is printable is said by the locale */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
