/* SPDX-License-Identifier: BSD-2-Clause */
/* A reference table of tests/vectors/interconnect, row by row, fields by the names in its head. */
#ifndef TESTS_UNIT_IC_TABLE_H
#define TESTS_UNIT_IC_TABLE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "interconnect/golden.h"

#define IC_TABLE_COLUMNS 20
#define IC_TABLE_LINE 8192
#define IC_TABLE_BYTES 262144

/* Doubles within a tolerance. */
#define assert_near(value, wanted, tolerance) assert_true(fabs((value) - (wanted)) <= (tolerance))

struct ic_table {
    FILE *file;
    char head[IC_TABLE_LINE], line[IC_TABLE_LINE];
    char *names[IC_TABLE_COLUMNS], *fields[IC_TABLE_COLUMNS];
    int columns;
    int rows; /* read so far */
};

/* Fails the test when the file is not there. */
void ic_table_open(struct ic_table *table, const char *name);
/* False at the end, when the file is closed. */
bool ic_table_next(struct ic_table *table);
const char *ic_table_text(const struct ic_table *table, const char *column);
uint64_t ic_table_number(const struct ic_table *table, const char *column);
/* Fails the test unless the column is this value, to a relative error of 1e-6. */
void ic_table_expect(const struct ic_table *table, const char *column, double value);

/* Computes the whole table again as the command does, and fails the test unless every field agrees.
 * Returns its rows. */
size_t ic_table_recompute(const struct ic_golden *golden);
/* Its first row alone, of which one column has to agree within that part of it. */
void ic_table_recompute_first(const struct ic_golden *golden, const char *column, double part);

#endif
