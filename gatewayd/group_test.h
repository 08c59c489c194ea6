/* SPDX-License-Identifier: BSD-2-Clause */
/* What gateway and node say to each other to find out whether multicast arrives: bytes <-> fields,
 * nothing else. Requests and replies travel sealed over the link, as those of the control API do,
 * and begin with bytes that no request of that has; test datagrams go to the group.
 *
 *   0..3   ff 'g' 'm' 't'
 *   4      step
 *   5..12  token, drawn by the gateway for each test
 *
 * and then, of LISTEN: the group's word (gatewayd/mcast.h); of LISTENS and REPORT_IS: 2 bytes, the
 * datagrams that came, and the name of the interface, or what went wrong where it begins with "!".
 */
#ifndef GWD_GROUP_TEST_H
#define GWD_GROUP_TEST_H

#include "base/bytes.h"
#include "gatewayd/mcast.h"

#define GWD_GROUP_TEXT_MAX 128
#define GWD_GROUP_TEST_MAX (15 + GWD_GROUP_TEXT_MAX)
#define GWD_GROUP_TEST_DATAGRAMS 16u /* of one test */

enum gwd_group_step {
    GWD_GROUP_LISTEN = 1, /* gateway to node */
    GWD_GROUP_LISTENS,    /* its answer */
    GWD_GROUP_DATAGRAM,   /* gateway to group */
    GWD_GROUP_REPORT,     /* gateway to node */
    GWD_GROUP_REPORT_IS   /* its answer */
};

struct gwd_group_test {
    enum gwd_group_step step;
    uint64_t token;
    struct gwd_mcast_group group;      /* LISTEN */
    uint16_t received;                 /* LISTENS, REPORT_IS */
    char text[GWD_GROUP_TEXT_MAX + 1]; /* LISTENS, REPORT_IS; printable */
};

/* Whether it is one of these at all, right or not. */
bool gwd_group_test_is(struct gmc_bytes bytes);
size_t gwd_group_test_put(const struct gwd_group_test *test, uint8_t out[GWD_GROUP_TEST_MAX]);
/* False when anything is wrong with it. */
bool gwd_group_test_get(struct gmc_bytes bytes, struct gwd_group_test *test);

#endif
