/* SPDX-License-Identifier: BSD-2-Clause */
/* Case study 1, the points and the WAN.
 *
 * Source: Oral 2003, chapter 5. */
#include "experiments/case1.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/manifest.h"
#include "experiments/jobs.h"
#include "experiments/transfer.h"
#include "sim-wan/mem.h"
#include "wire/head.h"

#define WAN_MESSAGES 512u
#define GROUPS 7u /* 4, 6, ... 16 */
#define LARGE_K 16u
#define FEW 4u /* remote members while the local part grows */

const char *const case1_kind_names[CASE1_KINDS] = {"all-local", "all-remote", "mixed"};
const char *const case1_gateway_names[CASE1_GATEWAYS] = {"in the SAN", "Gigabit Ethernet",
                                                         "Fast Ethernet", "Gigabit as measured",
                                                         "Fast Ethernet as measured"};

/* ---- the WAN ---- */
struct watch {
    double sent[WAN_MESSAGES], arrived[WAN_MESSAGES];
    struct sim_world *world;
};

/* Notes when the first datagram of a block is offered to the wire, and when the last comes out. */
static void on_wire(void *ctx, uint32_t wire, int direction, enum sim_wire_news news,
                    enum sim_drop drop, const struct sim_packet *packet)
{
    struct watch *watch = ctx;
    struct gmc_data_head head;
    uint8_t kind;
    struct gmc_bytes bytes = gmc_bytes(packet->data, packet->len);
    (void)wire;
    (void)drop;
    if (direction != 0 || packet->proto != SIM_PROTO_UDP || gmc_head_kind(bytes, &kind) != GMC_OK ||
        kind != GMC_KIND_DATA || gmc_data_head_get(bytes, &head) != GMC_OK ||
        head.block >= WAN_MESSAGES || gmc_block_is_page(head.block))
        return;
    double now = (double)sim_world_now(watch->world) / 1e9;
    if (news == SIM_WIRE_OFFERED && head.fragment == 0)
        watch->sent[head.block] = now;
    else if (news == SIM_WIRE_DELIVERED)
        watch->arrived[head.block] = now;
}

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void transfer(uint64_t bytes, struct watch *watch, struct ex_result *result)
{
    struct sim_wire_config wire = ex_wire(100, 25, 0);
    struct sim_world *world = sim_world_new(&(struct sim_world_config){.seed = 1});
    struct ex_transfer staged = {.bytes = bytes, .shape = GMC_TREE_FLAT, .limit = GMC_S(600)};
    watch->world = world;
    sim_build_flat(world, 1, &wire);
    sim_world_watch(world, on_wire, watch);
    ex_transfer_run(world, &staged, result);
    sim_world_free(world);
}

void case1_measure_wan(struct case1_wan *wan, bool quick)
{
    struct watch *watch = sim_calloc(1, sizeof(*watch));
    struct ex_result result;
    double times[WAN_MESSAGES] = {0};
    uint32_t count = 0;
    transfer(CASE1_MESSAGE, watch, &result);
    wan->staged = result.seconds;
    wan->events = result.events;
    memset(watch, 0, sizeof(*watch));
    transfer((uint64_t)CASE1_MESSAGE * (quick ? 200 : 500), watch, &result);
    wan->events += result.events;
    /* The first hundred are those of the start, when the rate is still being found. */
    for (uint32_t i = 100; i < WAN_MESSAGES; i++)
        if (watch->sent[i] > 0 && watch->arrived[i] > watch->sent[i])
            times[count++] = watch->arrived[i] - watch->sent[i];
    qsort(times, count, sizeof(times[0]), by_size);
    wan->messages = count;
    wan->median = count > 0 ? times[count / 2] : NAN;
    wan->least = count > 0 ? times[0] : NAN;
    wan->most = count > 0 ? times[count - 1] : NAN;
    free(watch);
}

/* ---- the points ---- */
static void add(struct case1 *study, struct case1_point point)
{
    study->points[study->count++] = point;
}

static void add_kinds(struct case1 *study, struct ex_san_config san, uint32_t group)
{
    add(study, (struct case1_point){CASE1_LOCAL, CASE1_IN_SAN, san, group, 0});
    for (int gateway = 0; gateway < CASE1_GATEWAYS; gateway++) {
        enum case1_gateway at = (enum case1_gateway)gateway;
        add(study, (struct case1_point){CASE1_REMOTE, at, san, 1, group - 1});
        add(study, (struct case1_point){CASE1_MIXED, at, san, group / 2, group - group / 2});
        /* What the mixed one is held against: its parts alone. */
        add(study, (struct case1_point){CASE1_REMOTE, at, san, 1, group - group / 2});
    }
    add(study, (struct case1_point){CASE1_LOCAL, CASE1_IN_SAN, san, group / 2, 0});
}

static void add_points(struct case1 *study)
{
    static const uint32_t large[] = {8, 16, 24, 32, 40, 48, 56, 64, 96, 128, 192, 256};
    for (int kind = 0; kind < EX_SAN_KINDS; kind++) {
        int algorithms = kind == EX_SCI ? (int)IC_TORUS_ALGORITHMS : (int)IC_STAR_ALGORITHMS;
        for (int algorithm = 0; algorithm < algorithms; algorithm++)
            for (uint32_t group = 4; group <= 16; group += 2)
                add_kinds(study,
                          (struct ex_san_config){.kind = (enum ex_san_kind)kind,
                                                 .algorithm = algorithm,
                                                 .k = 4},
                          group);
    }
    for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++) {
        struct ex_san_config san = {.kind = EX_SCI, .algorithm = IC_TORUS_S, .k = LARGE_K};
        add(study, (struct case1_point){CASE1_LOCAL, CASE1_IN_SAN, san, large[i], 0});
        add(study, (struct case1_point){CASE1_REMOTE, CASE1_IN_SAN, san, 1, FEW});
        add(study, (struct case1_point){CASE1_MIXED, CASE1_IN_SAN, san, large[i], FEW});
    }
}

double case1_seconds(const struct case1 *study, enum case1_kind kind, enum case1_gateway gateway,
                     enum ex_san_kind san, int algorithm, uint32_t k, uint32_t local,
                     uint32_t remote)
{
    for (size_t i = 0; i < study->count; i++) {
        const struct case1_point *point = &study->points[i];
        if (point->kind == kind && point->gateway == gateway && point->san.kind == san &&
            point->san.algorithm == algorithm && point->san.k == k && point->local == local &&
            point->remote == remote)
            return study->results[i].seconds;
    }
    return NAN;
}

static void run_wan(const void *ctx, size_t i, void *result)
{
    (void)i;
    case1_measure_wan(result, *(const bool *)ctx);
}

static bool run(const struct ex_options *options, struct ex_report *report)
{
    size_t most =
        (size_t)(IC_TORUS_ALGORITHMS + 3 * IC_STAR_ALGORITHMS) * GROUPS * (2 + 3 * CASE1_GATEWAYS) +
        64;
    struct case1 study = {.points = sim_calloc(most, sizeof(*study.points))};
    struct ex_jobs jobs = {.name = "case1",
                           .count = 1,
                           .parallel = 1,
                           .result_bytes = sizeof(struct case1_wan),
                           .run = run_wan,
                           .ctx = &options->quick};
    struct case1_wan *wan = ex_jobs_run(&jobs);
    if (wan == NULL) {
        free(study.points);
        return false;
    }
    study.wan = *wan;
    ex_jobs_free(&jobs, wan);
    add_points(&study);
    study.results = sim_calloc(study.count, sizeof(*study.results));
    report->events = study.wan.events;
    report->runs = study.count + 2;
    for (size_t i = 0; i < study.count; i++) {
        case1_run(&study.points[i], study.wan.median, &study.results[i]);
        report->events += study.results[i].events;
    }
    bool ok = ex_report_begin(
        report, options->folder, "case1", "Case study 1: two clusters and a WAN",
        "<p>A message of 64 KB goes to 4 to 16 members in the root's cluster (<b>all-local</b>), "
        "in the "
        "other one (<b>all-remote</b>), or half in each (<b>mixed</b>). Inside the clusters "
        "processors, "
        "network interfaces and links are simulated message by message along the schedules of each "
        "algorithm; between them runs the real protocol core over 100 Mbit/s and 25 ms. The "
        "gateway "
        "stands in the SAN, or behind an Ethernet whose head node converts.</p>");
    if (ok)
        case1_report(&study, report);
    free(study.points);
    free(study.results);
    return ok;
}

const struct ex_experiment ex_case1 = {
    "case1", "64 KB between two clusters over a WAN (Oral 2003, chapter 5)", NULL, run};
