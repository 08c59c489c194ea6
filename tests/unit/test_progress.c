/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the test of tools/progress: the picture of a given status, line by line.
 */
#include "tools/progress.h"

#include "tests/lib/unit.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#define MS 1000000ull

static struct gmc_ctl_member members[] = {
    {.domain = "b.example",
     .parent = "a.example",
     .path = "",
     .state = GMC_CTL_MEMBER_RECEIVING,
     .bytes = 20000000,
     .reason = "",
     .repairs = 12},
    {.domain = "c.example",
     .parent = "a.example",
     .path = "",
     .state = GMC_CTL_MEMBER_VERIFIED,
     .bytes = 100000000,
     .elapsed_ns = 2500 * MS,
     .has_digest = true,
     .digest = {0xab, 0xcd},
     .reason = ""},
    {.domain = "a-domain-with-quite-a-long-name.example",
     .parent = "",
     .path = "",
     .state = GMC_CTL_MEMBER_FAILED,
     .reason = "\"x\ny\" exists"},
    {.domain = "d.example",
     .parent = "",
     .path = "",
     .state = GMC_CTL_MEMBER_WAITING,
     .reason = ""},
    {.domain = "e.example",
     .parent = "c.example",
     .path = "",
     .state = GMC_CTL_MEMBER_SILENT,
     .bytes = 99999999,
     .reason = ""},
};

static const struct gmc_ctl_transfer transfer = {.channel = "00f3a9c2d4e5b617@a.example",
                                                 .is_source = true,
                                                 .state = GMC_CTL_TRANSFER_RUNNING,
                                                 .shape = "eco",
                                                 .total_bytes = 100000000,
                                                 .file_count = 3,
                                                 .elapsed_ns = 3000 * MS,
                                                 .reason = "",
                                                 .total_members = 5,
                                                 .verified_members = 1,
                                                 .failed_members = 1,
                                                 .members = members,
                                                 .member_count = 5};

/* b receives 20 MB in two seconds, then one more. */
static char *draw(const struct progress_screen *screen, size_t *lines)
{
    struct progress *progress = progress_new();
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);

    members[0].bytes = 0;
    progress_update(progress, &transfer, 10.0);
    members[0].bytes = 20000000;
    progress_update(progress, &transfer, 12.0);
    *lines = progress_draw(progress, &transfer, screen, out);
    fclose(out);
    progress_free(progress);
    return text;
}

static void test_wide(void **state)
{
    const struct progress_screen screen = {120, 24, false};
    size_t lines;
    char *text = draw(&screen, &lines);

    (void)state;
    assert_string_equal(
        text, "00f3a9c2d4e5b617  running  100 MB in 3 files  verified at 1 of 5  0:03\n"
              "  b.example                     [####................]  20%   20.0 MB   10.0 MB/s  "
              "ETA 0:08  repairs 12\n"
              "  c.example                     verified  100 MB in 2.5 s  40.0 MB/s  repairs 0\n"
              "  a-domain-with-quite-a-long-n  failed: \"x\\ny\" exists\n"
              "  d.example                     waiting\n"
              "  e.example                     [###################.]  99%    100 MB       0 B/s  "
              "ETA -:--  repairs 0  silent\n");
    assert_int_equal(lines, 6);
    free(text);
}

/* 10 MB/s since the first data left at 11.0, told every second and looked at more often: what came
 * before the first report did not come within a moment. */
static void test_rate_of_reports(void **state)
{
    const struct progress_screen screen = {120, 24, false};
    struct gmc_ctl_member member = {.domain = "b.example",
                                    .parent = "",
                                    .path = "",
                                    .state = GMC_CTL_MEMBER_RECEIVING,
                                    .reason = ""};
    struct gmc_ctl_transfer t = transfer;
    struct progress *progress = progress_new();

    (void)state;
    t.members = &member;
    t.member_count = 1;
    t.setup_ns = 1000 * MS;
    for (unsigned look = 0; look <= 16; look++) {
        char *text = NULL;
        size_t len = 0;
        FILE *out = open_memstream(&text, &len);

        t.elapsed_ns = look * 250 * MS;
        member.bytes = look < 8 ? 0 : (look / 4 - 1) * 10000000ull;
        progress_update(progress, &t, 10.0 + look * 0.25);
        progress_draw(progress, &t, &screen, out);
        fclose(out);
        assert_non_null(strstr(text, look < 8 ? "  -  ETA -:--" : "  10.0 MB/s  ETA"));
        free(text);
    }
    progress_free(progress);
}

static void test_narrow_and_low(void **state)
{
    const struct progress_screen screen = {40, 5, false};
    size_t lines;
    char *text = draw(&screen, &lines);

    (void)state;
    assert_string_equal(text, "00f3a9c2d4e5b617  running  100 MB in 3 f\n"
                              "  b.example        [#....]  20%   20.0 M\n"
                              "  c.example        verified  100 MB in 2\n"
                              "  a-domain-with-q  failed: \"x\\ny\" exists\n"
                              "  ... and 2 more domains (1 verified, 1 \n");
    assert_int_equal(lines, 5);
    free(text);
}

static void test_colour(void **state)
{
    const struct progress_screen screen = {80, 24, true};
    size_t lines;
    char *text = draw(&screen, &lines);

    (void)state;
    assert_non_null(strstr(text, "\033[32m  c.example "));
    assert_non_null(strstr(text, "\033[31m  a-domain"));
    assert_non_null(strstr(text, "\033[0m\n"));
    free(text);
}

static void test_table(void **state)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);

    (void)state;
    progress_table(&transfer, out);
    fclose(out);
    assert_non_null(strstr(text,
                           "c.example                                verified     100 MB      "
                           "2.50   40.0 MB/s        0  a.example   abcd000000000000\n"));
    assert_non_null(strstr(text, "-  \"x\\ny\" exists\n"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wide),           cmocka_unit_test(test_rate_of_reports),
        cmocka_unit_test(test_narrow_and_low), cmocka_unit_test(test_colour),
        cmocka_unit_test(test_table),
    };

    setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
