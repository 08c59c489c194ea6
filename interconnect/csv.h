/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of comma-separated values in memory: a head of names and rows of as many fields. */
#ifndef INTERCONNECT_CSV_H
#define INTERCONNECT_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interconnect/error.h"
#include "interconnect/text.h"

struct ic_csv {
    char *bytes;   /* the text; cells point into it */
    char **cells;  /* the head, then row by row */
    size_t *lines; /* of each row, from 1; the head's first */
    size_t columns, rows;
};

/* Reads `length` bytes of text, which is copied. Lines end with LF or CR LF, empty ones are passed
 * over, spaces count, a byte order mark before all of it does not. INVALID with words and the line:
 * no head, a name that is empty or stands twice, a row with more or fewer fields than names, a
 * quote (quoted fields are not read), a NUL. NOMEM. Ends with fini. */
GMC_NODISCARD gmc_status ic_csv_parse(struct ic_csv *csv, const char *text, size_t length,
                                      char *error);
void ic_csv_fini(struct ic_csv *csv);

/* Place of a column; `columns` when there is none of this name. */
size_t ic_csv_column(const struct ic_csv *csv, const char *name);
/* Row 0 is the first below the head. */
char *const *ic_csv_row(const struct ic_csv *csv, size_t row);

#endif
