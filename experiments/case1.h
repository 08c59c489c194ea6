/* SPDX-License-Identifier: BSD-2-Clause */
/* Case study 1: one message of 64 KB to members in two clusters that a WAN joins. What is simulated
 * for one point, and the points; claims and pictures are in case1_report.c. */
#ifndef EXPERIMENTS_CASE1_H
#define EXPERIMENTS_CASE1_H

#include "experiments/experiment.h"
#include "experiments/san.h"

#define CASE1_MESSAGE 65536u
#define CASE1_CONVERT_US 3.0
#define CASE1_DRAWS 20u

enum case1_kind { CASE1_LOCAL, CASE1_REMOTE, CASE1_MIXED, CASE1_KINDS };
/* Where the gateway stands: in the SAN, or behind an Ethernet whose head node converts; the latter
 * at the wire's rate, or with what was measured of it in the source (64 KB in 1.2 and 12 ms). */
enum case1_gateway {
    CASE1_IN_SAN,
    CASE1_GIGE,
    CASE1_FE,
    CASE1_GIGE_MEASURED,
    CASE1_FE_MEASURED,
    CASE1_GATEWAYS
};

extern const char *const case1_kind_names[CASE1_KINDS];
extern const char *const case1_gateway_names[CASE1_GATEWAYS];

struct case1_point {
    enum case1_kind kind;
    enum case1_gateway gateway;
    struct ex_san_config san; /* group is not used */
    uint32_t local;           /* members in the root's cluster, the root among them */
    uint32_t remote;          /* members in the other */
};

struct case1_result {
    double seconds; /* until the last member has it */
    uint64_t events;
};

/* A message's way over the WAN, from the first datagram of a message that its gateway sends to the
 * last that arrives, in a channel that is open: of the real core, over 100 Mbit/s and 25 ms. */
struct case1_wan {
    double median, least, most; /* seconds */
    double staged; /* a whole object of 64 KB, from the command to the proof of arrival */
    uint64_t messages, events;
};

void case1_measure_wan(struct case1_wan *wan, bool quick);
/* case1_path.c: one multicast, on SCI the mean over CASE1_DRAWS random groups. */
void case1_run(const struct case1_point *point, double wan_seconds, struct case1_result *result);

struct case1 {
    struct case1_wan wan;
    struct case1_point *points;
    size_t count;
    struct case1_result *results;
};

/* Seconds; NAN when it was not run. */
double case1_seconds(const struct case1 *study, enum case1_kind kind, enum case1_gateway gateway,
                     enum ex_san_kind san, int algorithm, uint32_t k, uint32_t local,
                     uint32_t remote);
void case1_report(const struct case1 *study, struct ex_report *report);

#endif
