/* SPDX-License-Identifier: BSD-2-Clause */
/* The closed forms for SCI. */
#include "interconnect/torus/latency.h"

#include "base/assert.h"

double ic_sci_overhead_us(double message_bytes)
{
    return (1994 + 3.15 * (message_bytes - 128)) / 1000;
}

double ic_sci_process_us(enum ic_torus_algorithm algorithm)
{
    static const double process_us[IC_TORUS_ALGORITHMS] = {
        [IC_TORUS_SEPARATE] = 7, [IC_TORUS_MD] = 206, [IC_TORUS_MU] = 201,
        [IC_TORUS_U] = 629,      [IC_TORUS_S] = 265,
    };
    GMC_ASSERT(algorithm < IC_TORUS_ALGORITHMS);
    return process_us[algorithm];
}

static double log2_ceil(uint64_t n)
{
    double bits = 0;
    for (uint64_t reach = 1; reach < n; reach *= 2)
        bits++;
    return bits;
}

/* Intermediate nodes of Mu-torus: as the text has it, and as printed. */
static void mu_intermediate(double k, double r, double group, double parts, double *fixed,
                            double *printed)
{
    double apart = r > k ? r - k : k - r;
    if (parts < 2) {
        *fixed = *printed = group - 2;
        return;
    }
    *fixed = group - r * (parts - 1) + apart;
    *printed = group - r * (1 - parts + apart);
}

static gmc_status check(uint64_t k, uint64_t message_bytes, uint64_t r, uint64_t group, char *error)
{
    gmc_status status = ic_check_range("k, nodes per ring,", k, 2, IC_TORUS_K_MAX, error);
    if (status == GMC_OK)
        status =
            ic_check_range("M, the message's bytes,", message_bytes, 1, IC_SCI_BYTES_MAX, error);
    if (status == GMC_OK)
        status = ic_check_range("r, the partition length,", r, 1, IC_GROUP_MAX, error);
    if (status == GMC_OK)
        status = ic_check_range("G, the group's size,", group, 2, IC_GROUP_MAX, error);
    return status;
}

gmc_status ic_sci_latency(uint64_t k, uint64_t message_bytes, uint64_t r, uint64_t group,
                          struct ic_sci_latency *out, char *error)
{
    gmc_status status = check(k, message_bytes, r, group, error);
    if (status != GMC_OK)
        return status;
    uint64_t parts = group / r, rings = (group + k - 1) / k; /* floor and ceil */
    double g = (double)group, steps = log2_ceil(group);
    double o = ic_sci_overhead_us((double)message_bytes), mu_fixed, mu_printed;
    double per_node[IC_TORUS_ALGORITHMS]; /* L_i, (2-7) */
    for (int i = 0; i < IC_TORUS_ALGORITHMS; i++)
        per_node[i] = ic_sci_process_us((enum ic_torus_algorithm)i) + 2 * o;
    mu_intermediate((double)k, (double)r, g, (double)parts, &mu_fixed, &mu_printed);
    *out = (struct ic_sci_latency){
        .overhead = o,
        .separate = (g - 1) * (o + ic_sci_process_us(IC_TORUS_SEPARATE)) + o,
        .md = 2 * o + (double)rings * per_node[IC_TORUS_MD],
        .mu = 2 * o + mu_fixed * per_node[IC_TORUS_MU],
        .mu_printed = 2 * o + mu_printed * per_node[IC_TORUS_MU],
        .u = 2 * o + steps * (double)(group % k + k) / (double)k * per_node[IC_TORUS_U],
        .u_floor = 2 * o + steps * per_node[IC_TORUS_U], /* ((G mod k) + k) div k is 1 */
        .s = 2 * o + (g - 2) * per_node[IC_TORUS_S],
    };
    return GMC_OK;
}
