/* SPDX-License-Identifier: BSD-2-Clause */
/* Computing reference tables again. */
#include "interconnect/golden.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

const struct ic_golden *ic_golden_find(const struct ic_golden *const *goldens, size_t count,
                                       const char *table)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(goldens[i]->table, table) == 0)
            return goldens[i];
    return NULL;
}

/* Place of a name in a list that NULL ends; its length when it is not there. */
static size_t place_of(const char *const *names, const char *name)
{
    size_t i = 0;
    while (names[i] != NULL && strcmp(names[i], name) != 0)
        i++;
    return i;
}

static size_t count_of(const char *const *names)
{
    size_t count = 0;
    while (names[count] != NULL)
        count++;
    return count;
}

/* ---- fields ---- */
const char *ic_row_text(struct ic_row *row, const char *column)
{
    size_t place = place_of(row->golden->inputs, column);
    GMC_ASSERT(row->golden->inputs[place] != NULL);
    return row->cells[place];
}

static void refuse_field(struct ic_row *row, const char *column, const char *wanted)
{
    if (row->status == GMC_OK)
        row->status = ic_refuse(row->error, "%s is \"%.60s\"; it must be %s", column,
                                ic_row_text(row, column), wanted);
}

uint64_t ic_row_count(struct ic_row *row, const char *column)
{
    const char *text = ic_row_text(row, column);
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0)
        return value;
    refuse_field(row, column, "a whole number");
    return 0;
}

uint32_t ic_row_u32(struct ic_row *row, const char *column)
{
    uint64_t count = ic_row_count(row, column);
    return count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
}

double ic_row_number(struct ic_row *row, const char *column)
{
    const char *text = ic_row_text(row, column);
    char *end;
    double value = strtod(text, &end);
    if (end != text && *end == '\0' && isfinite(value))
        return value;
    refuse_field(row, column, "a number");
    return 0;
}

const char *ic_row_given(const struct ic_row *row, const char *column)
{
    size_t place = place_of(row->golden->outputs, column);
    GMC_ASSERT(row->golden->outputs[place] != NULL);
    const char *text = row->given[place];
    return text == NULL || text[0] == '\0' || strcmp(text, "?") == 0 ? NULL : text;
}

gmc_status ic_row_unknown(struct ic_row *row, const char *column)
{
    return ic_refuse(row->error, "%s is \"%.60s\", which is not known", column,
                     ic_row_text(row, column));
}

struct ic_text *ic_row_put_text(struct ic_row *row, const char *column)
{
    size_t place = place_of(row->golden->outputs, column);
    GMC_ASSERT(row->golden->outputs[place] != NULL);
    return &row->results[place];
}

void ic_row_put(struct ic_row *row, const char *column, double value)
{
    GMC_ASSERT(!isnan(value));
    ic_text_add(ic_row_put_text(row, column), "%.10g", value);
}

void ic_row_put_none(struct ic_row *row, const char *column)
{
    ic_text_add(ic_row_put_text(row, column), "none");
}

void ic_row_put_all(struct ic_row *row, const double *values)
{
    for (size_t i = 0; row->golden->outputs[i] != NULL; i++)
        if (values != NULL)
            ic_row_put(row, row->golden->outputs[i], values[i]);
        else
            ic_row_put_none(row, row->golden->outputs[i]);
}

/* ---- tables ---- */
struct recompute {
    const struct ic_golden *golden;
    const struct ic_csv *in;
    size_t input_at[IC_GOLDEN_COLUMNS_MAX]; /* column of each input */
    struct ic_text results[IC_GOLDEN_COLUMNS_MAX];
    char *cells[IC_GOLDEN_COLUMNS_MAX];
    char *given[IC_GOLDEN_COLUMNS_MAX]; /* of each output; NULL: there is no such column */
    struct ic_text *out;
    char *error;
};

static gmc_status find_columns(struct recompute *work)
{
    const struct ic_golden *golden = work->golden;
    const struct ic_csv *in = work->in;
    GMC_ASSERT(count_of(golden->inputs) <= IC_GOLDEN_COLUMNS_MAX &&
               count_of(golden->outputs) <= IC_GOLDEN_COLUMNS_MAX);
    for (size_t i = 0; golden->inputs[i] != NULL; i++) {
        work->input_at[i] = ic_csv_column(in, golden->inputs[i]);
        if (work->input_at[i] == in->columns)
            return ic_refuse(work->error, "column %s of table %s is missing", golden->inputs[i],
                             golden->table);
    }
    for (size_t i = 0; i < in->columns; i++)
        if (golden->inputs[place_of(golden->inputs, in->cells[i])] == NULL &&
            golden->outputs[place_of(golden->outputs, in->cells[i])] == NULL)
            return ic_refuse(work->error, "table %s has no column %.100s", golden->table,
                             in->cells[i]);
    return GMC_OK;
}

static void add_fields(struct recompute *work, size_t row)
{
    const struct ic_golden *golden = work->golden;
    for (size_t i = 0; i < work->in->columns; i++) {
        size_t output = place_of(golden->outputs, work->in->cells[i]);
        const char *field = ic_csv_row(work->in, row)[i];
        if (golden->outputs[output] != NULL) {
            GMC_ASSERT(work->results[output].length > 0 || work->results[output].is_short);
            field = work->results[output].bytes;
            work->out->is_short |= work->results[output].is_short;
        }
        ic_text_add(work->out, "%s%s", i > 0 ? "," : "", field != NULL ? field : "");
    }
    ic_text_add(work->out, "\n");
}

/* Words of a row function, after the line they are about. */
static gmc_status tell_line(const struct recompute *work, size_t row, gmc_status status)
{
    char words[IC_ERROR_MAX];
    if (status != GMC_ERR_INVALID)
        return status;
    memcpy(words, work->error, sizeof(words));
    return ic_refuse(work->error, "line %zu: %.200s", work->in->lines[row + 1], words);
}

static gmc_status compute_row(struct recompute *work, size_t row)
{
    char *const *fields = ic_csv_row(work->in, row);
    for (size_t i = 0; work->golden->inputs[i] != NULL; i++)
        work->cells[i] = fields[work->input_at[i]];
    for (size_t i = 0; work->golden->outputs[i] != NULL; i++) {
        size_t column = ic_csv_column(work->in, work->golden->outputs[i]);
        work->given[i] = column < work->in->columns ? fields[column] : NULL;
        ic_text_clear(&work->results[i]);
    }
    struct ic_row view = {work->golden,  work->cells, work->given,
                          work->results, GMC_OK,      work->error};
    gmc_status status = work->golden->row(&view);
    if (status == GMC_OK)
        add_fields(work, row);
    return tell_line(work, row, status);
}

static gmc_status compute_rows(const struct ic_golden *golden, const struct ic_csv *in, size_t from,
                               size_t end, struct ic_text *out, char *error)
{
    struct recompute work = {.golden = golden, .in = in, .out = out, .error = error};
    gmc_status status = find_columns(&work);
    for (size_t row = from; row < end && status == GMC_OK; row++)
        status = compute_row(&work, row);
    for (size_t i = 0; i < IC_GOLDEN_COLUMNS_MAX; i++)
        ic_text_fini(&work.results[i]);
    return status == GMC_OK && out->is_short ? GMC_ERR_NOMEM : status;
}

void ic_golden_head(const struct ic_csv *in, struct ic_text *out)
{
    for (size_t i = 0; i < in->columns; i++)
        ic_text_add(out, "%s%s", in->cells[i], i + 1 < in->columns ? "," : "\n");
}

gmc_status ic_golden_recompute(const struct ic_golden *golden, const struct ic_csv *in,
                               struct ic_text *out, char *error)
{
    ic_golden_head(in, out);
    return compute_rows(golden, in, 0, in->rows, out, error);
}

gmc_status ic_golden_recompute_row(const struct ic_golden *golden, const struct ic_csv *in,
                                   size_t row, struct ic_text *out, char *error)
{
    return compute_rows(golden, in, row, row + 1, out, error);
}

bool ic_golden_agrees(const struct ic_golden *golden, const char *field, const char *reference)
{
    double tolerance = golden->tolerance > 0 ? golden->tolerance : IC_GOLDEN_TOLERANCE;
    char *field_end, *reference_end;
    double value = strtod(field, &field_end), wanted = strtod(reference, &reference_end);
    if (strcmp(field, reference) == 0)
        return true;
    return field_end != field && *field_end == '\0' && reference_end != reference &&
           *reference_end == '\0' && fabs(value - wanted) <= tolerance * fabs(wanted);
}
