/* SPDX-License-Identifier: BSD-2-Clause */
/* The reference table of gateway trees: the core's own function builds them. */
#include <math.h>
#include <stdlib.h>

#include "core/tree.h"
#include "interconnect/command/golden.h"

#define GATEWAYS_MAX 4096u
/* Latencies with a fraction become whole numbers of this part of their unit. */
#define PARTS 1000000.0
#define LATENCY_MAX 1e12

/* n rows of n latencies: blanks between, a semicolon behind all but the last row. */
static gmc_status read_values(struct ic_row *row, size_t n, double *values)
{
    const char *at = ic_row_text(row, "latency_matrix");
    for (size_t i = 0; i < n * n; i++) {
        char *end;
        bool is_last = (i + 1) % n == 0;
        values[i] = strtod(at, &end);
        if (end == at || !(values[i] >= 0) || values[i] > LATENCY_MAX)
            return ic_refuse(row->error,
                             "latency_matrix: row %zu, column %zu is no latency from 0 to %g",
                             i / n + 1, i % n + 1, LATENCY_MAX);
        at = end;
        if (is_last && i + 1 < n * n) {
            if (*at == '\0')
                return ic_refuse(row->error, "latency_matrix has %zu rows; %zu gateways need %zu",
                                 i / n + 1, n, n);
            if (*at != ';')
                return ic_refuse(row->error, "latency_matrix: row %zu has more than %zu columns",
                                 i / n + 1, n);
            at++;
        }
    }
    if (*at != '\0')
        return ic_refuse(row->error, "latency_matrix has more than %zu rows of %zu", n, n);
    return GMC_OK;
}

/* Links have one latency: which of two would be meant? */
static gmc_status check_symmetry(struct ic_row *row, size_t n, const double *values)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (values[i * n + j] != values[j * n + i])
                return ic_refuse(row->error,
                                 "latency_matrix is not symmetric: row %zu, column %zu is %g, row "
                                 "%zu, column %zu is %g",
                                 j + 1, i + 1, values[j * n + i], i + 1, j + 1, values[i * n + j]);
    return GMC_OK;
}

static gmc_status read_matrix(struct ic_row *row, size_t n, uint64_t *latency)
{
    double *values = calloc(n * n, sizeof(*values));
    gmc_status status = values != NULL ? read_values(row, n, values) : GMC_ERR_NOMEM;
    if (status == GMC_OK)
        status = check_symmetry(row, n, values);
    for (size_t i = 0; i < n * n && status == GMC_OK; i++)
        latency[i] = (uint64_t)llround(values[i] * PARTS);
    free(values);
    return status;
}

static gmc_status build(struct ic_row *row, size_t n, uint64_t *latency, int32_t *parent)
{
    const struct gmc_tree_graph graph = {.n = n, .latency = latency};
    uint32_t stripes;
    gmc_status status = read_matrix(row, n, latency);
    if (status == GMC_OK)
        status = gmc_tree_ops(GMC_TREE_ECO)->build(&graph, parent, &stripes);
    for (size_t i = 0; i < n && status == GMC_OK; i++)
        ic_text_add(ic_row_put_text(row, "parent"), "%s%d", i > 0 ? " " : "", (int)parent[i]);
    return status;
}

static gmc_status tree_row(struct ic_row *row)
{
    uint64_t n = ic_row_count(row, "n");
    gmc_status status = row->status;
    if (status == GMC_OK)
        status = ic_check_range("n, the gateways,", n, 1, GATEWAYS_MAX, row->error);
    if (status != GMC_OK)
        return status;
    uint64_t *latency = calloc(n * n, sizeof(*latency));
    int32_t *parent = calloc(n, sizeof(*parent) * GMC_TREE_STRIPES_MAX);
    status = latency != NULL && parent != NULL ? build(row, n, latency, parent) : GMC_ERR_NOMEM;
    free(latency);
    free(parent);
    return status;
}

static const char *const inputs[] = {"id", "n", "latency_matrix", NULL};
static const char *const outputs[] = {"parent", NULL};
static const struct ic_golden top_tree = {"wan_top_tree", inputs, outputs, tree_row, 0, false};

const struct ic_golden *const ic_wan_goldens[] = {&top_tree};
const size_t ic_wan_golden_count = sizeof(ic_wan_goldens) / sizeof(ic_wan_goldens[0]);
