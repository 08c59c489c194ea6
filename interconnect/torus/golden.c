/* SPDX-License-Identifier: BSD-2-Clause */
/* The reference tables of the torus. */
#include "interconnect/golden.h"

#include <stdlib.h>

#include "interconnect/families.h"
#include "interconnect/torus/latency.h"
#include "interconnect/torus/links.h"
#include "interconnect/torus/names.h"

/* ---- latencies ---- */
static gmc_status latency_row(struct ic_row *row)
{
    struct ic_sci_latency t;
    uint64_t k = ic_row_count(row, "k"), bytes = ic_row_count(row, "M_bytes");
    uint64_t r = ic_row_count(row, "r"), group = ic_row_count(row, "G");
    gmc_status status = row->status;
    if (status == GMC_OK)
        status = ic_sci_latency(k, bytes, r, group, &t, row->error);
    if (status != GMC_OK)
        return status;
    ic_row_put(row, "o_us", t.overhead);
    ic_row_put(row, "sep_us", t.separate);
    ic_row_put(row, "md_us", t.md);
    ic_row_put(row, "mu_fixed_us", t.mu);
    ic_row_put(row, "mu_printed_us", t.mu_printed);
    ic_row_put(row, "u_us", t.u);
    ic_row_put(row, "u_floor_us", t.u_floor);
    ic_row_put(row, "s_us", t.s);
    return GMC_OK;
}

static const char *const latency_inputs[] = {"k", "M_bytes", "r", "G", NULL};
static const char *const latency_outputs[] = {"o_us",        "sep_us",        "md_us",
                                              "mu_fixed_us", "mu_printed_us", "u_us",
                                              "u_floor_us",  "s_us",          NULL};
const struct ic_golden ic_golden_sci_latency = {
    "sci_latency", latency_inputs, latency_outputs, latency_row, 0, false};

/* ---- schedules ---- */
static gmc_status put_schedule(struct ic_row *row, const struct ic_torus *torus,
                               const struct ic_torus_group *group,
                               const struct ic_schedule *schedule)
{
    struct ic_schedule_metrics metrics;
    struct ic_torus_links links = {0};
    gmc_status status = ic_schedule_measure(schedule, &metrics);
    if (status == GMC_OK)
        status = ic_torus_measure_links(torus, group, schedule, IC_TORUS_BY_DIMENSION, &links);
    if (status != GMC_OK)
        return status;
    ic_torus_add_schedule(ic_row_put_text(row, "schedule"), torus, group, schedule);
    ic_row_put(row, "link_visits", (double)links.visits);
    ic_row_put(row, "used_links", (double)links.used);
    ic_row_put(row, "link_concentration", links.concentration);
    ic_row_put(row, "steps", metrics.steps);
    ic_row_put(row, "step_concurrency", metrics.concurrency);
    ic_row_put(row, "max_intermediate", metrics.max_intermediate);
    ic_row_put(row, "root_sends", metrics.root_sends);
    return GMC_OK;
}

static gmc_status schedule_group(struct ic_row *row, const struct ic_torus *torus,
                                 const struct ic_torus_group *group)
{
    enum ic_torus_algorithm algorithm;
    struct ic_schedule schedule;
    uint64_t r = ic_row_count(row, "r");
    gmc_status status = row->status;
    if (ic_torus_algorithm_from_name(ic_row_text(row, "algorithm"), &algorithm) != GMC_OK)
        return ic_row_unknown(row, "algorithm");
    if (status == GMC_OK)
        status =
            ic_torus_multicast(torus, group, algorithm, r > UINT32_MAX ? UINT32_MAX : (uint32_t)r,
                               &schedule, row->error);
    if (status != GMC_OK)
        return status;
    status = put_schedule(row, torus, group, &schedule);
    ic_schedule_fini(&schedule);
    return status;
}

static gmc_status schedule_torus(struct ic_row *row, uint64_t k, uint64_t dimensions)
{
    struct ic_torus torus;
    struct ic_torus_group group;
    gmc_status status = row->status;
    if (status == GMC_OK)
        status = ic_torus_init(&torus, k, dimensions, row->error);
    if (status == GMC_OK)
        status = ic_torus_read_group(&torus, ic_row_text(row, "group"), ic_row_text(row, "root"),
                                     &group, row->error);
    if (status != GMC_OK)
        return status;
    status = schedule_group(row, &torus, &group);
    free((void *)group.nodes);
    return status;
}

static gmc_status schedule_row(struct ic_row *row)
{
    return schedule_torus(row, ic_row_count(row, "k"), 2);
}

static gmc_status schedule_nd_row(struct ic_row *row)
{
    uint64_t k = ic_row_count(row, "k");
    return schedule_torus(row, k, ic_row_count(row, "N"));
}

static const char *const schedule_inputs[] = {"group_id",  "k", "root", "group",
                                              "algorithm", "r", NULL};
static const char *const schedule_nd_inputs[] = {"group_id", "k",         "N", "root",
                                                 "group",    "algorithm", "r", NULL};
static const char *const schedule_outputs[] = {
    "schedule",           "link_visits", "used_links",
    "link_concentration", "steps",       "step_concurrency",
    "max_intermediate",   "root_sends",  NULL};
const struct ic_golden ic_golden_sci_schedule = {
    "sci_schedule", schedule_inputs, schedule_outputs, schedule_row, 0, false};
const struct ic_golden ic_golden_sci_schedule_nd = {
    "sci_schedule_nd", schedule_nd_inputs, schedule_outputs, schedule_nd_row, 0, false};
