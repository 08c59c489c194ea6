/* SPDX-License-Identifier: BSD-2-Clause */
/* Explicit congestion notification on one path: which packets may say that they are capable, and
 * whether what comes back about them can be believed.
 *
 * Source    RFC 9000, 13.4.2 (validation) and A.4 (the test at the beginning); RFC 3168
 * Departure a path on which all packets of the test come with CE is taken for one that forces it;
 *           packets that a probe timeout repeats are marked only on a path that passed the test,
 *           so that one which drops marked packets delays and never ends a link
 * Failing   is for good, until the path is another one
 */
#ifndef GMC_CORE_ECN_H
#define GMC_CORE_ECN_H

#include "core/ackrange.h"

#define GMC_ECN_TEST_PACKETS 10u /* RFC 9000, A.4 */

enum gmc_ecn_state { GMC_ECN_TESTING, GMC_ECN_CAPABLE, GMC_ECN_FAILED };

struct gmc_ecn {
    enum gmc_ecn_state state;
    uint32_t tested, test_acked, test_lost; /* packets of the test */
    uint32_t test_ce;                       /* of them; told when the test is passed */
    uint64_t marked;                        /* packets sent as capable, since the beginning */
    struct gmc_ecn_counts seen;             /* the highest that were reported */
};

/* Another path: tests it. Counts go on: the receiver's are the session's. */
void gmc_ecn_reset(struct gmc_ecn *ecn);
/* Whether the next packet is sent as capable; counts it. pto_count: probe timeouts in a row. */
bool gmc_ecn_mark(struct gmc_ecn *ecn, uint32_t pto_count);
/* Fates of packets that were sent as capable. */
void gmc_ecn_on_acked(struct gmc_ecn *ecn);
void gmc_ecn_on_lost(struct gmc_ecn *ecn);
/* An acknowledgement that raised the largest number, after the fates that it told; `newly`: the
 * packets among them that were sent as capable. Returns how many packets were newly reported as
 * marked by congestion; 0 on a path that is not believed. */
uint32_t gmc_ecn_on_ack(struct gmc_ecn *ecn, const struct gmc_ack *ack, uint64_t newly);

#endif
