/* SPDX-License-Identifier: BSD-2-Clause */
/* The reference tables of the star. */
#include "interconnect/golden.h"

#include "interconnect/families.h"
#include "interconnect/star/latency.h"

static gmc_status schedule_row(struct ic_row *row)
{
    enum ic_star_algorithm algorithm;
    struct ic_schedule schedule;
    struct ic_schedule_metrics metrics;
    struct ic_star_links links;
    uint64_t members = ic_row_count(row, "G");
    gmc_status status = row->status;
    if (ic_star_algorithm_from_name(ic_row_text(row, "algorithm"), &algorithm) != GMC_OK)
        return ic_row_unknown(row, "algorithm");
    if (status == GMC_OK)
        status = ic_star_multicast(members, algorithm, &schedule, row->error);
    if (status != GMC_OK)
        return status;
    status = ic_schedule_measure(&schedule, &metrics);
    ic_star_measure_links(&schedule, &links);
    ic_schedule_fini(&schedule);
    if (status != GMC_OK)
        return status;
    ic_row_put(row, "link_visits", (double)links.visits);
    ic_row_put(row, "used_cables", (double)links.used_cables);
    ic_row_put(row, "conc_cable", links.concentration_cable);
    ic_row_put(row, "used_directed_links", (double)links.used_directed);
    ic_row_put(row, "conc_directed", links.concentration_directed);
    ic_row_put(row, "steps", metrics.steps);
    ic_row_put(row, "step_concurrency", metrics.concurrency);
    ic_row_put(row, "max_intermediate", metrics.max_intermediate);
    return GMC_OK;
}

static gmc_status latency_row(struct ic_row *row)
{
    enum ic_myrinet_scheme scheme;
    enum ic_star_algorithm algorithm;
    struct ic_myrinet_latency t;
    uint64_t bytes = ic_row_count(row, "m_bytes"), members = ic_row_count(row, "G");
    gmc_status status = row->status;
    if (ic_myrinet_scheme_from_name(ic_row_text(row, "scheme"), &scheme) != GMC_OK)
        return ic_row_unknown(row, "scheme");
    if (ic_star_algorithm_from_name(ic_row_text(row, "algorithm"), &algorithm) != GMC_OK)
        return ic_row_unknown(row, "algorithm");
    if (status == GMC_OK)
        status = ic_myrinet_latency(scheme, algorithm, bytes, members, &t, row->error);
    if (status != GMC_OK)
        return status;
    ic_row_put(row, "t_us", t.time);
    if (t.has_table)
        ic_row_put(row, "t_us_table33_Li", t.time_by_table);
    else
        ic_row_put_none(row, "t_us_table33_Li");
    if (algorithm != IC_STAR_SEPARATE)
        ic_row_put(row, "Li_eq_us", t.per_node);
    else
        ic_row_put_none(row, "Li_eq_us");
    return GMC_OK;
}

static const char *const schedule_inputs[] = {"algorithm", "G", NULL};
static const char *const schedule_outputs[] = {
    "link_visits",         "used_cables",      "conc_cable",
    "used_directed_links", "conc_directed",    "steps",
    "step_concurrency",    "max_intermediate", NULL};
const struct ic_golden ic_golden_star_schedule = {
    "star_schedule", schedule_inputs, schedule_outputs, schedule_row, 0, false};

static const char *const latency_inputs[] = {"scheme", "algorithm", "m_bytes", "G", NULL};
static const char *const latency_outputs[] = {"t_us", "t_us_table33_Li", "Li_eq_us", NULL};
const struct ic_golden ic_golden_myrinet_latency = {
    "myrinet_latency", latency_inputs, latency_outputs, latency_row, 0, false};
