/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of the log: what values look like in them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gatewayd/log.h"
#include "tests/lib/unit.h"

static void test_values(void **state)
{
    (void)state;
    static const struct {
        const char *value, *written;
    } cases[] = {
        {"plain", "plain"},
        {"", "\"\""},
        {"two words", "\"two words\""},
        {"a=b", "\"a=b\""},
        {"say \"no\"", "\"say \\\"no\\\"\""},
        {"back\\slash", "\"back\\\\slash\""},
        {"line\nline", "\"line\\x0aline\""},
        {"\x1b[31m", "\\x1b[31m"},
        {"Z\xc3\xbcrich", "Z\xc3\xbcrich"},
        {"\xe2\x82\xac \xf0\x9f\x98\x80", "\"\xe2\x82\xac \xf0\x9f\x98\x80\""},
        {"Z\xfcrich", "Z\\xfcrich"},                  /* Latin-1 */
        {"\xc0\xaf", "\\xc0\\xaf"},                   /* overlong */
        {"\xe0\x9f\xbf", "\\xe0\\x9f\\xbf"},          /* overlong */
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},          /* a surrogate */
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}, /* beyond U+10FFFF */
        {"\xf5\x80", "\\xf5\\x80"},
        {"cut\xe2\x82", "cut\\xe2\\x82"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char path[] = "/tmp/gmcast-test-log-XXXXXX", line[256] = "", expected[128];
        int fd = mkstemp(path);
        assert_true(fd >= 0);
        struct gwd_log *log = gwd_log_new(path, GMC_LEVEL_INFO);
        assert_non_null(log);
        gwd_log(log, GMC_LEVEL_INFO, "event", GWD_STR("value", cases[i].value),
                GWD_NUM("number", 7));
        gwd_log_free(log);
        ssize_t len = read(fd, line, sizeof(line) - 1);
        close(fd);
        unlink(path);
        assert_true(len > 0);
        snprintf(expected, sizeof(expected), " event value=%s number=7\n", cases[i].written);
        const char *rest = strstr(line, " event ");
        assert_non_null(rest);
        assert_string_equal(rest, expected);
    }
}

/* A value longer than a line is cut, and the line ends. */
static void test_a_long_value(void **state)
{
    (void)state;
    char path[] = "/tmp/gmcast-test-log-XXXXXX", value[8192], line[16384] = "";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    for (size_t start = 0; start < 5; start++) {
        memset(value, 'a', sizeof(value));
        for (size_t i = start; i + 4 < sizeof(value); i += 4)
            memcpy(value + i, "\xf0\x9f\x98\x80", 4);
        value[sizeof(value) - 1] = '\0';
        struct gwd_log *log = gwd_log_new(path, GMC_LEVEL_INFO);
        assert_non_null(log);
        gwd_log(log, GMC_LEVEL_INFO, "event", GWD_STR("value", value));
        gwd_log_free(log);
    }
    ssize_t len = read(fd, line, sizeof(line) - 1);
    close(fd);
    unlink(path);
    assert_true(len > 0);
    size_t lines = 0;
    for (ssize_t i = 0; i < len; i++)
        lines += line[i] == '\n';
    assert_int_equal(lines, 5);
    assert_int_equal(line[len - 1], '\n');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_a_long_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
