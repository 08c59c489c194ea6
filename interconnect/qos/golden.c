/* SPDX-License-Identifier: BSD-2-Clause */
/* The reference tables of the QoS router and its cubes. Real-time rates are x and x/2, of three
 * classes x, x/1.5 and x/2. */
#include "interconnect/golden.h"

#include <math.h>
#include <string.h>

#include "interconnect/families.h"
#include "interconnect/golden_point.h"
#include "interconnect/qos/deadline.h"

#define FLITS 32
#define STAGES 5

static struct ic_qos two_real_time(uint64_t dimension, double load, double be_load)
{
    return (struct ic_qos){
        .dimension = dimension,
        .classes = 3,
        .rate = {load, load / 2, be_load},
        .flits = {FLITS, FLITS, FLITS},
        .stages = STAGES,
        .buffer_flits = FLITS,
    };
}

/* "none" for a class without a solution. */
static void put(struct ic_row *row, const char *column, const struct ic_qos_latency *latency,
                double value)
{
    if (isfinite(latency->network))
        ic_row_put(row, column, value);
    else
        ic_row_put_none(row, column);
}

/* Output columns stand in groups: latencies of all classes, waits of all, and so on. */
static void put_latencies(struct ic_row *row, const struct ic_qos *qos,
                          const struct ic_qos_solution *solution)
{
    const char *const *columns = row->golden->outputs;
    for (size_t c = 0; c < qos->classes; c++) {
        const struct ic_qos_latency *latency = &solution->latency[c];
        put(row, columns[c], latency, latency->network);
        put(row, columns[qos->classes + c], latency, latency->wait);
    }
}

static const char *const single_inputs[] = {"be_load", "bs", "r1_load", NULL};
static const char *const single_outputs[] = {"L_R1", "L_R2",  "L_BE",  "W_R1",  "W_R2",
                                             "W_BE", "Pb_R1", "Pb_R2", "Pb_BE", "S_R1",
                                             "S_R2", "S_BE",  NULL};

static gmc_status single_row(struct ic_row *row)
{
    struct ic_qos_solution solution;
    struct ic_qos qos =
        two_real_time(0, ic_row_number(row, "r1_load"), ic_row_number(row, "be_load"));
    qos.buffer_flits = ic_row_count(row, "bs");
    gmc_status status = row->status;
    if (status == GMC_OK)
        status = ic_qos_model(&qos, &solution, row->error);
    if (status != GMC_OK)
        return status;
    put_latencies(row, &qos, &solution);
    for (size_t c = 0; c < 3; c++) {
        const struct ic_qos_latency *latency = &solution.latency[c];
        put(row, single_outputs[6 + c], latency, latency->blocking[0]);
        put(row, single_outputs[9 + c], latency, latency->stretch[0]);
    }
    return GMC_OK;
}

static const char *const cube_inputs[] = {"n", "bs", "Lk_variant", "be_load", "r1_load", NULL};
static const char *const cube_outputs[] = {"L_R1",   "L_R2",   "L_BE",   "W_R1",   "W_R2",
                                           "W_BE",   "Pb0_R1", "Pb0_R2", "Pb0_BE", "Pbn_R1",
                                           "Pbn_R2", "Pbn_BE", NULL};

/* Of a table of cubes alone, where 0 would be one router. */
static gmc_status check_cube(struct ic_row *row, const struct ic_qos *qos)
{
    if (row->status != GMC_OK)
        return row->status;
    return ic_check_range("n, the cube's dimensions,", qos->dimension, 2, IC_QOS_DIMENSION_MAX,
                          row->error);
}

static gmc_status cube_row(struct ic_row *row)
{
    struct ic_qos_solution solution;
    struct ic_qos qos = two_real_time(ic_row_count(row, "n"), ic_row_number(row, "r1_load"),
                                      ic_row_number(row, "be_load"));
    const char *variant = ic_row_text(row, "Lk_variant");
    qos.buffer_flits = ic_row_count(row, "bs");
    gmc_status status = check_cube(row, &qos);
    if (strcmp(variant, "A") != 0 && strcmp(variant, "B") != 0)
        return ic_row_unknown(row, "Lk_variant");
    qos.variant = variant[0] == 'A' ? IC_QOS_STRETCH_WAIT : IC_QOS_STRETCH_ALL;
    if (status == GMC_OK)
        status = ic_qos_model(&qos, &solution, row->error);
    if (status != GMC_OK)
        return status;
    put_latencies(row, &qos, &solution);
    for (size_t c = 0; c < 3; c++) {
        const struct ic_qos_latency *latency = &solution.latency[c];
        put(row, cube_outputs[6 + c], latency, latency->blocking[0]);
        put(row, cube_outputs[9 + c], latency, latency->blocking[qos.dimension]);
    }
    return GMC_OK;
}

static gmc_status three_row(struct ic_row *row)
{
    struct ic_qos_solution solution;
    double load = ic_row_number(row, "r1_load");
    struct ic_qos qos = {
        .dimension = ic_row_count(row, "n_0_is_single"),
        .classes = 4,
        .rate = {load, load / 1.5, load / 2, ic_row_number(row, "be_load")},
        .flits = {FLITS, FLITS, FLITS, FLITS},
        .stages = STAGES,
        .buffer_flits = FLITS,
    };
    gmc_status status = row->status;
    if (status == GMC_OK)
        status = ic_qos_model(&qos, &solution, row->error);
    if (status == GMC_OK)
        put_latencies(row, &qos, &solution);
    return status;
}

static gmc_status long_be_row(struct ic_row *row)
{
    struct ic_qos_solution solution;
    struct ic_qos qos = two_real_time(ic_row_count(row, "n_0_is_single"),
                                      ic_row_number(row, "r1_load"), ic_row_number(row, "be_load"));
    gmc_status status = row->status;
    qos.flits[2] = 64;
    if (status == GMC_OK)
        status = ic_qos_model(&qos, &solution, row->error);
    if (status == GMC_OK)
        put_latencies(row, &qos, &solution);
    return status;
}

/* Both real-time classes of a row, literal and then constrained. */
static gmc_status put_misses(struct ic_row *row, const struct ic_qos *qos, uint64_t hops,
                             enum ic_qos_miss kind)
{
    struct ic_qos_solution solution;
    uint64_t deadline = ic_row_count(row, "deadline");
    gmc_status status = row->status;
    if (status == GMC_OK)
        status = ic_qos_model(qos, &solution, row->error);
    for (uint64_t c = 0; status == GMC_OK && c < 2; c++) {
        double miss = 0;
        if (solution.has_solution)
            status = ic_qos_deadline_miss(qos, &solution, NULL, c, hops, deadline, kind, &miss,
                                          row->error);
        if (status == GMC_OK)
            put(row, row->golden->outputs[2 * (size_t)kind + c], &solution.latency[c], miss);
    }
    return status;
}

static gmc_status miss_single_row(struct ic_row *row)
{
    struct ic_qos qos = two_real_time(0, ic_row_number(row, "r1_load"), 0.01);
    gmc_status status = put_misses(row, &qos, 0, IC_QOS_MISS_LITERAL);
    if (status == GMC_OK)
        status = put_misses(row, &qos, 0, IC_QOS_MISS_CONSTRAINED);
    return status;
}

static gmc_status miss_cube_row(struct ic_row *row)
{
    struct ic_qos qos = two_real_time(ic_row_count(row, "n"), ic_row_number(row, "r1_load"), 0.002);
    gmc_status status = check_cube(row, &qos);
    if (status != GMC_OK)
        return status;
    return put_misses(row, &qos, ic_row_count(row, "hops"), IC_QOS_MISS_LITERAL);
}

/* ---- simulations ---- */
/* Figures of the family and where they go, by class. */
static const struct {
    const char *network, *latency, *interval, *model;
    const char *wait, *waits;
} of_class[] = {
    {"network_R1", "simL_R1", "ci_R1", "modelL_R1", "wait_R1", "simW_R1"},
    {"network_R2", "simL_R2", "ci_R2", "modelL_R2", "wait_R2", "simW_R2"},
    {"network_BE", "simL_BE", "ci_BE", "modelL_BE", "wait_BE", "simW_BE"},
};

/* Of one router, of a cube; there they are of the messages over so many hops. */
static const struct {
    const char *router, *cube, *hops;
    const char *r1, *r2;
} deadlines[] = {{"42", "55", "2", "dmp_d1_R1", "dmp_d1_R2"},
                 {"47", "70", "5", "dmp_d2_R1", "dmp_d2_R2"}};

/* One deadline, one simulation: of the same messages, by the same seed. */
static gmc_status simulate_deadline(struct ic_golden_point *point, size_t which)
{
    bool is_router = ic_row_count(point->row, "n_0_is_single") == 0;
    ic_golden_point_set(point, "deadline",
                        is_router ? deadlines[which].router : deadlines[which].cube);
    if (!is_router)
        ic_golden_point_set(point, "hops", deadlines[which].hops);
    gmc_status status = ic_golden_point_simulate(point);
    if (status != GMC_OK)
        return status;
    ic_golden_point_put(point, "miss_R1", deadlines[which].r1, NULL);
    ic_golden_point_put(point, "miss_R2", deadlines[which].r2, NULL);
    return GMC_OK;
}

/* Best effort at one router comes out 3 to 5 % above the reference, which does not tell its number
 * of ports: with 8 in place of the usual 16 it agrees within 1 % up to load 0.005, its wait does
 * not. R1 and R2 there trade several % of latency from seed to seed, however long the run: a port
 * carries just what virtual clock reserves, so that its stamps walk at random away from the time.
 */
static gmc_status simulation_row(struct ic_row *row)
{
    struct ic_golden_point point;
    ic_golden_point_init(&point, &ic_family_qos, row);
    ic_golden_point_take(&point, "n", "n_0_is_single");
    ic_golden_point_take(&point, "load", "r1_load");
    ic_golden_point_take(&point, "be_load", "be_load");
    gmc_status status = simulate_deadline(&point, 1);
    if (status == GMC_OK)
        status = simulate_deadline(&point, 0);
    for (size_t c = 0; c < 3 && status == GMC_OK; c++) {
        ic_golden_point_put(&point, of_class[c].network, of_class[c].latency, of_class[c].interval);
        ic_golden_point_put(&point, of_class[c].wait, of_class[c].waits, NULL);
    }
    if (status == GMC_OK)
        status = ic_golden_point_model(&point);
    for (size_t c = 0; c < 3 && status == GMC_OK; c++)
        ic_golden_point_put(&point, of_class[c].network, of_class[c].model, NULL);
    return status;
}

const struct ic_golden ic_golden_qos_single = {
    "qos_single", single_inputs, single_outputs, single_row, 0, false};

const struct ic_golden ic_golden_qos_cube = {"qos_cube", cube_inputs, cube_outputs,
                                             cube_row,   0,           false};

static const char *const any_inputs[] = {"n_0_is_single", "be_load", "r1_load", NULL};
static const char *const three_outputs[] = {"L_R1", "L_R2", "L_R3", "L_BE", "W_R1",
                                            "W_R2", "W_R3", "W_BE", NULL};
const struct ic_golden ic_golden_qos_three_realtime = {
    "qos_three_realtime", any_inputs, three_outputs, three_row, 0, false};

static const char *const two_outputs[] = {"L_R1", "L_R2", "L_BE", "W_R1", "W_R2", "W_BE", NULL};
const struct ic_golden ic_golden_qos_be_64_flits = {"qos_be_64_flits", any_inputs, two_outputs,
                                                    long_be_row,       0,          false};

static const char *const miss_single_inputs[] = {"deadline", "r1_load", NULL};
static const char *const miss_single_outputs[] = {"dmp_R1_literal", "dmp_R2_literal",
                                                  "dmp_R1_constrained", "dmp_R2_constrained", NULL};
const struct ic_golden ic_golden_qos_dmp_single = {
    "qos_dmp_single", miss_single_inputs, miss_single_outputs, miss_single_row, 0, false};

static const char *const miss_cube_inputs[] = {"n", "hops", "deadline", "r1_load", NULL};
static const char *const miss_cube_outputs[] = {"dmp_R1_literal", "dmp_R2_literal", NULL};
const struct ic_golden ic_golden_qos_dmp_cube = {
    "qos_dmp_cube", miss_cube_inputs, miss_cube_outputs, miss_cube_row, 0, false};

static const char *const simulation_inputs[] = {"n_0_is_single", "be_load", "r1_load", NULL};
static const char *const simulation_outputs[] = {"simL_R1",   "simL_R2",   "simL_BE",   "ci_R1",
                                                 "ci_R2",     "ci_BE",     "simW_R1",   "simW_R2",
                                                 "simW_BE",   "modelL_R1", "modelL_R2", "modelL_BE",
                                                 "dmp_d1_R1", "dmp_d1_R2", "dmp_d2_R1", "dmp_d2_R2",
                                                 NULL};
const struct ic_golden ic_golden_sim_qos = {
    "sim_qos", simulation_inputs, simulation_outputs, simulation_row, 0, true};
