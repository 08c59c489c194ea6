/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the test of base/trace: records as given, levels, and names for every event.
 */
#include "base/trace.h"

#include "tests/lib/unit.h"

#include <string.h>

struct seen {
    unsigned count;
    struct gmc_trace_record last;
};

static void remember(void *ctx, const struct gmc_trace_record *record)
{
    struct seen *seen = ctx;

    seen->count++;
    seen->last = *record;
}

static void records_arrive_as_given(void **state)
{
    struct seen seen = {0};
    struct gmc_trace_sink sink = {remember, &seen, GMC_LEVEL_TRACE};

    (void)state;
    gmc_trace_emit(&sink, GMC_MS(5), GMC_TRACE_DATAGRAM_DROPPED, 7, 8, 1, 2, 3);
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.last.time, GMC_MS(5));
    assert_int_equal(seen.last.event, GMC_TRACE_DATAGRAM_DROPPED);
    assert_int_equal(seen.last.level, GMC_LEVEL_TRACE);
    assert_int_equal(seen.last.peer, 7);
    assert_int_equal(seen.last.channel, 8);
    assert_int_equal(seen.last.a, 1);
    assert_int_equal(seen.last.b, 2);
    assert_int_equal(seen.last.c, 3);
    assert_null(seen.last.text);
    gmc_trace_emit_text(&sink, 0, GMC_TRACE_LINK_UP, 0, 0, 0, 0, 0, "ornl");
    assert_string_equal(seen.last.text, "ornl");
}

static void levels_above_the_limit_are_not_made(void **state)
{
    struct seen seen = {0};
    struct gmc_trace_sink sink = {remember, &seen, GMC_LEVEL_INFO};

    (void)state;
    gmc_trace_emit(&sink, 0, GMC_TRACE_DATAGRAM_DROPPED, 0, 0, 0, 0, 0);
    assert_int_equal(seen.count, 0);
    gmc_trace_emit(&sink, 0, GMC_TRACE_LINK_UP, 0, 0, 0, 0, 0);
    gmc_trace_emit(&sink, 0, GMC_TRACE_LINK_DOWN, 0, 0, 0, 0, 0);
    assert_int_equal(seen.count, 2);
    gmc_trace_emit(NULL, 0, GMC_TRACE_LINK_UP, 0, 0, 0, 0, 0);
}

static void every_event_has_a_name_of_its_own(void **state)
{
    const char *fields[3];

    (void)state;
    for (unsigned i = 0; i < GMC_TRACE_EVENT_COUNT; i++) {
        assert_string_not_equal(gmc_trace_event_name(i), "?");
        assert_string_not_equal(gmc_trace_level_name(gmc_trace_event_level(i)), "?");
        for (unsigned j = 0; j < i; j++)
            assert_string_not_equal(gmc_trace_event_name(i), gmc_trace_event_name(j));
        /* Fields are used from the first on. */
        gmc_trace_event_fields(i, fields);
        assert_false(fields[0] == NULL && fields[1] != NULL);
        assert_false(fields[1] == NULL && fields[2] != NULL);
    }
    gmc_trace_event_fields(GMC_TRACE_DATAGRAM_DROPPED, fields);
    assert_string_equal(fields[0], "reason");
    assert_null(fields[2]);
}

static void unknown_numbers_are_harmless(void **state)
{
    const char *fields[3] = {"", "", ""};

    (void)state;
    assert_string_equal(gmc_trace_event_name(GMC_TRACE_EVENT_COUNT), "?");
    assert_string_equal(gmc_trace_level_name(99), "?");
    gmc_trace_event_fields(UINT32_MAX, fields);
    assert_null(fields[0]);
    assert_int_equal(gmc_trace_event_level(UINT32_MAX), GMC_LEVEL_ERROR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_arrive_as_given),
        cmocka_unit_test(levels_above_the_limit_are_not_made),
        cmocka_unit_test(every_event_has_a_name_of_its_own),
        cmocka_unit_test(unknown_numbers_are_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
