/* SPDX-License-Identifier: BSD-2-Clause */
/* Explicit congestion notification; see ecn.h. */
#include "core/ecn.h"

#define PTO_GIVES_UP 3u

static void fail(struct gmc_ecn *ecn)
{
    ecn->state = GMC_ECN_FAILED;
}

void gmc_ecn_reset(struct gmc_ecn *ecn)
{
    *ecn = (struct gmc_ecn){.marked = ecn->marked, .seen = ecn->seen};
}

bool gmc_ecn_mark(struct gmc_ecn *ecn, uint32_t pto_count)
{
    if (pto_count >= PTO_GIVES_UP)
        fail(ecn);
    if (ecn->state == GMC_ECN_FAILED)
        return false;
    if (ecn->state == GMC_ECN_TESTING) {
        if (ecn->tested == GMC_ECN_TEST_PACKETS || pto_count > 0)
            return false;
        ecn->tested++;
    }
    ecn->marked++;
    return true;
}

void gmc_ecn_on_acked(struct gmc_ecn *ecn)
{
    ecn->test_acked += ecn->state == GMC_ECN_TESTING;
}

void gmc_ecn_on_lost(struct gmc_ecn *ecn)
{
    if (ecn->state == GMC_ECN_TESTING && ++ecn->test_lost == GMC_ECN_TEST_PACKETS)
        fail(ecn); /* the path seems to drop what is marked */
}

static uint64_t grown(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

/* Reported counts must cover what was sent and acknowledged, and no more than was sent. */
static bool is_plausible(const struct gmc_ecn *ecn, const struct gmc_ack *ack, uint64_t newly)
{
    const struct gmc_ecn_counts *now = &ack->ecn, *before = &ecn->seen;

    if (!ack->has_ecn)
        return newly == 0;
    if (now->ect0 < before->ect0 || now->ce < before->ce || now->ect1 > 0)
        return false;
    return grown(now->ect0, before->ect0) + grown(now->ce, before->ce) >= newly &&
           now->ect0 <= ecn->marked && now->ce <= ecn->marked && now->ect0 + now->ce <= ecn->marked;
}

/* The test is over when all of its packets are decided. */
static void end_test(struct gmc_ecn *ecn)
{
    if (ecn->state != GMC_ECN_TESTING || ecn->test_acked + ecn->test_lost < GMC_ECN_TEST_PACKETS)
        return;
    if (ecn->test_ce >= ecn->test_acked)
        fail(ecn);
    else
        ecn->state = GMC_ECN_CAPABLE;
}

uint32_t gmc_ecn_on_ack(struct gmc_ecn *ecn, const struct gmc_ack *ack, uint64_t newly)
{
    uint64_t ce;

    if (ecn->state == GMC_ECN_FAILED)
        return 0;
    if (!is_plausible(ecn, ack, newly)) {
        fail(ecn);
        return 0;
    }
    if (!ack->has_ecn)
        return 0;
    ce = ack->ecn.ce - ecn->seen.ce;
    ecn->seen = ack->ecn;
    ecn->test_ce += ecn->state == GMC_ECN_TESTING ? (uint32_t)ce : 0;
    end_test(ecn);
    if (ecn->state != GMC_ECN_CAPABLE)
        return 0;
    ce = ecn->test_ce > ce ? ecn->test_ce : ce;
    ecn->test_ce = 0;
    return (uint32_t)ce;
}
