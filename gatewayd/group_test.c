/* SPDX-License-Identifier: BSD-2-Clause */
/* The messages of the self-test: see group_test.h. */
#include "gatewayd/group_test.h"

#include <string.h>

#define HEAD_BYTES 13
#define COUNT_BYTES 2

static const uint8_t magic[4] = {0xff, 'g', 'm', 't'};

bool gwd_group_test_is(struct gmc_bytes bytes)
{
    return bytes.len >= sizeof magic && memcmp(bytes.data, magic, sizeof magic) == 0;
}

size_t gwd_group_test_put(const struct gwd_group_test *test, uint8_t out[GWD_GROUP_TEST_MAX])
{
    size_t len = strlen(test->text);
    memcpy(out, magic, sizeof magic);
    out[4] = (uint8_t)test->step;
    gmc_put64(out + 5, test->token);
    switch (test->step) {
    case GWD_GROUP_LISTEN:
        return HEAD_BYTES + gwd_mcast_put_word(&test->group, out + HEAD_BYTES);
    case GWD_GROUP_LISTENS:
    case GWD_GROUP_REPORT_IS:
        gmc_put16(out + HEAD_BYTES, test->received);
        memcpy(out + HEAD_BYTES + COUNT_BYTES, test->text, len);
        return HEAD_BYTES + COUNT_BYTES + len;
    default:
        return HEAD_BYTES;
    }
}

/* It goes into the log of somebody else. */
static bool get_text(struct gmc_bytes bytes, struct gwd_group_test *test)
{
    if (bytes.len < COUNT_BYTES || bytes.len - COUNT_BYTES > GWD_GROUP_TEXT_MAX)
        return false;
    test->received = gmc_get16(bytes.data);
    for (size_t i = COUNT_BYTES; i < bytes.len; i++) {
        if (bytes.data[i] < 0x20 || bytes.data[i] > 0x7e)
            return false;
        test->text[i - COUNT_BYTES] = (char)bytes.data[i];
    }
    return true;
}

bool gwd_group_test_get(struct gmc_bytes bytes, struct gwd_group_test *test)
{
    struct gmc_bytes rest;
    memset(test, 0, sizeof *test);
    if (!gwd_group_test_is(bytes) || bytes.len < HEAD_BYTES)
        return false;
    test->token = gmc_get64(bytes.data + 5);
    rest = gmc_bytes(bytes.data + HEAD_BYTES, bytes.len - HEAD_BYTES);
    switch (bytes.data[4]) {
    case GWD_GROUP_LISTEN:
        test->step = GWD_GROUP_LISTEN;
        return gwd_mcast_get_word(rest, &test->group);
    case GWD_GROUP_LISTENS:
    case GWD_GROUP_REPORT_IS:
        test->step = (enum gwd_group_step)bytes.data[4];
        return get_text(rest, test);
    case GWD_GROUP_DATAGRAM:
    case GWD_GROUP_REPORT:
        test->step = (enum gwd_group_step)bytes.data[4];
        return rest.len == 0;
    default:
        return false;
    }
}
