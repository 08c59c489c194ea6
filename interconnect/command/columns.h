/* SPDX-License-Identifier: BSD-2-Clause */
/* What a table of points has in its columns: parameters, figures with their intervals, how far the
 * model is from the simulator, what is saturated. */
#ifndef INTERCONNECT_COMMAND_COLUMNS_H
#define INTERCONNECT_COMMAND_COLUMNS_H

#include <stdio.h>

#include "interconnect/command/points.h"

enum ic_column_kind {
    IC_COLUMN_PARAM,
    IC_COLUMN_MODEL,
    IC_COLUMN_SIMULATED,
    IC_COLUMN_INTERVAL,
    IC_COLUMN_ERROR, /* of the model, percent of the simulator's value, or of the output's floor */
    IC_COLUMN_LIMIT_MODEL, /* loads */
    IC_COLUMN_LIMIT_SIMULATED,
    IC_COLUMN_WHERE
};

struct ic_column {
    enum ic_column_kind kind;
    size_t index; /* of the parameter or the output */
    char name[64], unit[64];
};

struct ic_columns {
    struct ic_column *list;
    size_t count;
};

/* Either a number or a word. */
struct ic_cell {
    bool is_number;
    double value;
    const char *text;
};

void ic_columns_init(struct ic_columns *columns, const struct ic_points *points);
void ic_columns_fini(struct ic_columns *columns);
/* The cell of a point that is done. */
struct ic_cell ic_columns_cell(const struct ic_column *column, const struct ic_points *points,
                               size_t point);

/* The points that are not done are left out. JSON goes to standard output. */
void ic_write_csv(FILE *out, const struct ic_points *points);
void ic_write_json(const struct ic_points *points, const char *command);

#endif
