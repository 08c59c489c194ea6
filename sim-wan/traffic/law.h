/* SPDX-License-Identifier: BSD-2-Clause */
/* Laws of TCP senders in the background, as tables of the core's congestion controls. They are
 * models, good enough to judge sharing by; how packets leave is the sender's, see tcp_source.h. */
#ifndef SIM_TRAFFIC_LAW_H
#define SIM_TRAFFIC_LAW_H

#include "core/cc.h"

extern const struct gmc_cc_ops sim_law_cubic; /* RFC 9438; the window is its only clock */
extern const struct gmc_cc_ops sim_law_bbr;   /* version 1; paced */

#endif
