/* SPDX-License-Identifier: BSD-2-Clause */
/* The wire that most tests of the link are over: alike in both directions, with a queue of 50 ms,
 * for links that send at a fixed rate a little below its own. */
#ifndef TESTS_UNIT_LINK_WIRE_H
#define TESTS_UNIT_LINK_WIRE_H

#include "tests/lib/linkpair.h"
#include "tests/lib/unit.h"

#define BODY 1431 /* fills a datagram of 1472 */
#define AT(ms) (LINKPAIR_START + GMC_MS(ms))

static inline struct linkpair_config config_of(uint64_t rate_bps, gmc_duration delay,
                                               uint32_t loss_ppm)
{
    struct linkpair_wire wire = {.rate_bps = rate_bps,
                                 .delay = delay,
                                 .queue_bytes = rate_bps / 160,
                                 .loss_ppm = loss_ppm,
                                 .mtu = 1472};
    return (struct linkpair_config){.wires = {wire, wire},
                                    .fixed_rate_bps = rate_bps / 100 * 97,
                                    .seed = 1};
}

#endif
