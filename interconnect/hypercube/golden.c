/* SPDX-License-Identifier: BSD-2-Clause */
/* The reference tables of P-cube routing. */
#include "interconnect/golden.h"

#include "interconnect/families.h"
#include "interconnect/golden_point.h"
#include "interconnect/hypercube/pcube.h"

static gmc_status rates_row(struct ic_row *row)
{
    uint64_t n = ic_row_count(row, "n"), z = ic_row_count(row, "z");
    double rate;
    gmc_status status = row->status;
    if (status == GMC_OK)
        status = ic_pcube_rate(n, z, &rate, row->error);
    if (status == GMC_OK)
        ic_row_put(row, "rate_over_lambda_g", rate);
    return status;
}

static struct ic_pcube cube_of(struct ic_row *row)
{
    struct ic_pcube cube = {.n = ic_row_u32(row, "n")};
    cube.channels = ic_row_u32(row, "V");
    cube.flits = ic_row_u32(row, "M");
    return cube;
}

static const char *const latency_outputs[] = {"latency", "S_bar", "W_s", "V_bar", "W_eject", NULL};

static gmc_status latency_row(struct ic_row *row)
{
    struct ic_pcube cube = cube_of(row);
    struct ic_pcube_latency out = {.saturated = true};
    double load = ic_row_number(row, "lambda_g");
    gmc_status status = row->status;
    if (status == GMC_OK && load * cube.flits < 1)
        status = ic_pcube_latency(&cube, load, &out, row->error);
    if (status != GMC_OK)
        return status;
    const double values[] = {out.latency, out.network, out.source_wait, out.sharing, out.ejection};
    ic_row_put_all(row, out.saturated ? NULL : values);
    return GMC_OK;
}

static gmc_status saturation_row(struct ic_row *row)
{
    struct ic_pcube cube = cube_of(row);
    double load;
    gmc_status status = row->status;
    if (status == GMC_OK)
        status = ic_pcube_saturation(&cube, &load, row->error);
    if (status == GMC_OK)
        ic_row_put(row, "lambda_fixed_point_lost", load);
    return status;
}

/* The reference leaves out what the family does: the cycle into the first router, and the wait for
 * the first edge of a cycle. */
static gmc_status simulation_row(struct ic_row *row)
{
    struct ic_golden_point point;
    ic_golden_point_init(&point, &ic_family_hypercube, row);
    ic_golden_point_take(&point, "n", "n");
    ic_golden_point_take(&point, "V", "V");
    ic_golden_point_take(&point, "M", "M");
    ic_golden_point_take(&point, "routing", "routing");
    ic_golden_point_take(&point, "load", "lambda");
    gmc_status status = ic_golden_point_simulate(&point);
    if (status != GMC_OK)
        return status;
    ic_golden_point_put(&point, "latency", "sim_latency_minus_1p5", "ci95");
    ic_row_put(row, "throughput_ratio",
               ic_golden_point_value(&point, "accepted") / ic_row_number(row, "lambda"));
    status = ic_golden_point_model(&point);
    if (status == GMC_OK)
        ic_golden_point_put(&point, "latency", "model_latency", NULL);
    return status;
}

static const char *const rates_inputs[] = {"n", "z", NULL};
static const char *const rates_outputs[] = {"rate_over_lambda_g", NULL};
const struct ic_golden ic_golden_pcube_rates = {
    "pcube_rates", rates_inputs, rates_outputs, rates_row, 0, false};

static const char *const latency_inputs[] = {"n", "V", "M", "lambda_g", NULL};
const struct ic_golden ic_golden_pcube_latency = {
    "pcube_latency", latency_inputs, latency_outputs, latency_row, 0, false};

static const char *const saturation_inputs[] = {"n", "V", "M", NULL};
static const char *const saturation_outputs[] = {"lambda_fixed_point_lost", NULL};
const struct ic_golden ic_golden_pcube_saturation = {
    "pcube_saturation", saturation_inputs, saturation_outputs, saturation_row, 0, false};

static const char *const simulation_inputs[] = {"n", "V", "M", "routing", "lambda", NULL};
static const char *const simulation_outputs[] = {"sim_latency_minus_1p5", "ci95",
                                                 "throughput_ratio", "model_latency", NULL};
const struct ic_golden ic_golden_sim_whcube = {
    "sim_whcube", simulation_inputs, simulation_outputs, simulation_row, 0, true};
