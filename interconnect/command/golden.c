/* SPDX-License-Identifier: BSD-2-Clause */
/* A reference table from a file to standard output. */
#include "interconnect/command/golden.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "interconnect/command/command.h"
#include "interconnect/command/file.h"
#include "interconnect/command/points.h"
#include "sim-wan/mem.h"
#include "sim-wan/run/bar.h"

#define DIGITS 10
#define INTEGER_MAX 1e15 /* of doubles that are whole numbers to the last */

/* "x/sci_latency.csv": sci_latency. */
static char *base_name(const char *file)
{
    const char *slash = strrchr(file, '/');
    char *name = sim_strdup(slash != NULL ? slash + 1 : file);
    size_t length = strlen(name);
    if (length > 4 && strcmp(name + length - 4, ".csv") == 0)
        name[length - 4] = '\0';
    return name;
}

static const struct ic_golden *find(const char *file)
{
    char *name = base_name(file);
    const struct ic_golden *golden = ic_golden_find(ic_goldens, ic_golden_count, name);
    if (golden == NULL)
        golden = ic_golden_find(ic_wan_goldens, ic_wan_golden_count, name);
    free(name);
    return golden;
}

/* ---- rows over processes: simulations take their time ---- */
struct work {
    const struct ic_golden *golden;
    const struct ic_csv *csv;
    struct ic_text *out;
    gmc_status status; /* of the first row that has none */
    char *error;
    struct sim_bar bar;
};

/* "1" and the line, or "0" and words. */
static char *compute_row(void *ctx, size_t row)
{
    const struct work *work = ctx;
    struct ic_text out = {0};
    char error[IC_ERROR_MAX] = "";
    ic_text_add(&out, "1");
    gmc_status status = ic_golden_recompute_row(work->golden, work->csv, row, &out, error);
    if (status != GMC_OK) {
        ic_text_clear(&out);
        ic_text_add(&out, "0%s", error[0] != '\0' ? error : gmc_status_text(status));
    }
    return out.bytes;
}

static void take_row(void *ctx, size_t row, const char *text, const char *why)
{
    struct work *work = ctx;
    char what[64];
    snprintf(what, sizeof(what), "%zu of %zu rows", row + 1, work->csv->rows);
    if (sim_bar_is_due(&work->bar))
        sim_bar_draw(&work->bar, (double)(row + 1) / (double)work->csv->rows, what);
    if (text != NULL && text[0] == '1') {
        ic_text_add(work->out, "%s", text + 1);
    } else if (work->status == GMC_OK) {
        work->status = GMC_ERR_INVALID;
        snprintf(work->error, IC_ERROR_MAX, "%s",
                 text != NULL  ? text + 1
                 : why != NULL ? why
                               : "a row gave nothing");
    }
}

static gmc_status simulate(const struct ic_options *options, const struct ic_golden *golden,
                           const struct ic_csv *csv, struct ic_text *out, char *error)
{
    struct work work = {.golden = golden, .csv = csv, .out = out, .error = error};
    struct sim_pool pool = {&work, compute_row, take_row};
    sim_bar_init(&work.bar, !options->is_quiet && sim_mpi_is_root());
    ic_golden_head(csv, out);
    ic_pool_run(&pool, csv->rows, options->jobs);
    sim_bar_clear(&work.bar);
    return work.status;
}

static gmc_status recompute(const struct ic_options *options, const struct ic_golden *golden,
                            const char *bytes, size_t length, struct ic_text *out, char *error)
{
    struct ic_csv csv;
    gmc_status status = ic_csv_parse(&csv, bytes, length, error);
    if (status != GMC_OK)
        return status;
    status = golden->is_simulated ? simulate(options, golden, &csv, out, error)
                                  : ic_golden_recompute(golden, &csv, out, error);
    ic_csv_fini(&csv);
    return status;
}

/* ---- JSON ---- */
static json_t *json_field(const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(value))
        return json_string(text);
    if (value == floor(value) && fabs(value) < INTEGER_MAX)
        return json_integer((json_int_t)value);
    return json_real(value);
}

static json_t *json_row(const struct ic_csv *csv, char *const *fields)
{
    json_t *row = json_object();
    for (size_t i = 0; i < csv->columns; i++)
        json_object_set_new(row, csv->cells[i], json_field(fields[i]));
    return row;
}

static gmc_status write_json(const char *command, const struct ic_golden *golden,
                             const struct ic_text *table, char *error)
{
    struct ic_csv csv;
    gmc_status status = ic_csv_parse(&csv, table->bytes, table->length, error);
    if (status != GMC_OK)
        return status;
    json_t *columns = json_array(), *rows = json_array();
    for (size_t i = 0; i < csv.columns; i++)
        json_array_append_new(columns, json_string(csv.cells[i]));
    for (size_t i = 0; i < csv.rows; i++)
        json_array_append_new(rows, json_row(&csv, ic_csv_row(&csv, i)));
    json_t *all = json_pack("{s:s, s:s, s:o, s:o}", "command", command, "table", golden->table,
                            "columns", columns, "rows", rows);
    json_dumpf(all, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(DIGITS));
    putchar('\n');
    json_decref(all);
    ic_csv_fini(&csv);
    return GMC_OK;
}

/* ---- the command ---- */
static gmc_status write_table(const struct ic_options *options, const struct ic_golden *golden,
                              const struct ic_text *table, char *error)
{
    if (options->is_json)
        return write_json(options->command, golden, table, error);
    fwrite(table->bytes, 1, table->length, stdout);
    return GMC_OK;
}

int ic_golden_command(const struct ic_options *options)
{
    const char *command = options->command, *file = options->golden;
    const struct ic_golden *golden = find(file);
    struct ic_text out = {0};
    char error[IC_ERROR_MAX] = "";
    size_t length;
    if (golden == NULL)
        return ic_bad(command,
                      "%s: no reference table has this name; gmcast-interconnect list names them",
                      file);
    char *bytes = ic_read_file(file, &length);
    if (bytes == NULL)
        return ic_bad(command, "%s: %s", file, strerror(errno));
    gmc_status status = recompute(options, golden, bytes, length, &out, error);
    free(bytes);
    if (status == GMC_OK)
        status = write_table(options, golden, &out, error);
    ic_text_fini(&out);
    if (status == GMC_OK)
        return ic_finish_output(command);
    return ic_bad(command, "%s: %s", file, error[0] != '\0' ? error : gmc_status_text(status));
}
