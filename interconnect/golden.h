/* SPDX-License-Identifier: BSD-2-Clause */
/* Reference tables: which columns are given, and how the others are computed again from them. The
 * command and the tests go through the same function for every table.
 *
 *     static gmc_status row(struct ic_row *row)
 *     {
 *         uint64_t k = ic_row_count(row, "k");
 *         double load = ic_row_number(row, "load");
 *         if (row->status != GMC_OK) // a field that could not be read; said already
 *             return row->status;
 *         ...
 *         ic_row_put(row, "latency", latency);
 *         return GMC_OK;             // INVALID with words in row->error
 *     }
 *     static const char *const in[] = {"k", "load", NULL}, *const out[] = {"latency", NULL};
 *     const struct ic_golden ic_golden_x = {"x", in, out, row, 0, false};
 */
#ifndef INTERCONNECT_GOLDEN_H
#define INTERCONNECT_GOLDEN_H

#include "interconnect/csv.h"

#define IC_GOLDEN_COLUMNS_MAX 32u

/* How far a figure may be from the reference, relative to it. */
#define IC_GOLDEN_TOLERANCE 1e-6

struct ic_row;

struct ic_golden {
    const char *table;          /* base name of its file, without .csv */
    const char *const *inputs;  /* columns, ended by NULL */
    const char *const *outputs; /* likewise */
    gmc_status (*row)(struct ic_row *row);
    double tolerance;  /* of tests; 0: IC_GOLDEN_TOLERANCE */
    bool is_simulated; /* a row takes a second or more, and is another sample */
};

/* Those of the library. */
extern const struct ic_golden *const ic_goldens[];
extern const size_t ic_golden_count;

/* Of a file's base name; NULL: none. */
const struct ic_golden *ic_golden_find(const struct ic_golden *const *goldens, size_t count,
                                       const char *table);

/* ---- for row functions ---- */
struct ic_row {
    const struct ic_golden *golden;
    char *const *cells;      /* of the inputs, in their order */
    char *const *given;      /* of the outputs, likewise; NULL where there is no such column */
    struct ic_text *results; /* of the outputs, in their order */
    gmc_status status;       /* of the first field that could not be read */
    char *error;
};

/* Fields of an input column: as it stands, as a whole number, as a finite number. A field that
 * is none sets status, with words. */
const char *ic_row_text(struct ic_row *row, const char *column);
uint64_t ic_row_count(struct ic_row *row, const char *column);
uint32_t ic_row_u32(struct ic_row *row, const char *column); /* a larger one: UINT32_MAX */
double ic_row_number(struct ic_row *row, const char *column);
/* What the table has in an output column; NULL: no such column, or a "?" or nothing in it. */
const char *ic_row_given(const struct ic_row *row, const char *column);
/* INVALID with words for a word that the column may not have. */
gmc_status ic_row_unknown(struct ic_row *row, const char *column);

/* Fields of an output column: 10 digits ("inf" where it is infinite), "none", or text to which
 * the caller adds. One of them, once per column. */
void ic_row_put(struct ic_row *row, const char *column, double value);
void ic_row_put_none(struct ic_row *row, const char *column);
/* All output columns, in their order; NULL: "none" in each. */
void ic_row_put_all(struct ic_row *row, const double *values);
struct ic_text *ic_row_put_text(struct ic_row *row, const char *column);

/* ---- for users ---- */
/* The whole table with its outputs computed anew; columns and their order are those of `in`, to
 * which every input column belongs and none that is neither input nor output. INVALID with words
 * and the line, NOMEM. `out` is begun by the caller and holds the table when OK. */
GMC_NODISCARD gmc_status ic_golden_recompute(const struct ic_golden *golden,
                                             const struct ic_csv *in, struct ic_text *out,
                                             char *error);
/* Its parts: the line of names, and that of one row; the first is 0. */
void ic_golden_head(const struct ic_csv *in, struct ic_text *out);
GMC_NODISCARD gmc_status ic_golden_recompute_row(const struct ic_golden *golden,
                                                 const struct ic_csv *in, size_t row,
                                                 struct ic_text *out, char *error);
/* Whether a field agrees with the reference: as text, or as numbers within the tolerance. */
bool ic_golden_agrees(const struct ic_golden *golden, const char *field, const char *reference);

#endif
