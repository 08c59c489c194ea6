/* SPDX-License-Identifier: BSD-2-Clause */
/* A table of points as CSV and as JSON. */
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "interconnect/command/columns.h"

#define DIGITS 10

static void put_field(FILE *out, const char *text)
{
    if (strpbrk(text, ",\"\n") == NULL) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void put_head(FILE *out, const struct ic_columns *columns)
{
    for (size_t i = 0; i < columns->count; i++) {
        const struct ic_column *column = &columns->list[i];
        fprintf(out, "%s%s", i > 0 ? "," : "", column->name);
        if (column->unit[0] != '\0')
            fprintf(out, " [%s]", column->unit);
    }
    fputc('\n', out);
}

void ic_write_csv(FILE *out, const struct ic_points *points)
{
    struct ic_columns columns;
    ic_columns_init(&columns, points);
    put_head(out, &columns);
    for (size_t point = 0; point < points->sweep->points; point++) {
        if (!points->points[point].is_done)
            continue;
        for (size_t i = 0; i < columns.count; i++) {
            struct ic_cell cell = ic_columns_cell(&columns.list[i], points, point);
            if (i > 0)
                fputc(',', out);
            if (cell.is_number)
                fprintf(out, "%.*g", DIGITS, cell.value);
            else
                put_field(out, cell.text);
        }
        fputc('\n', out);
    }
    ic_columns_fini(&columns);
}

static json_t *json_columns(const struct ic_columns *columns)
{
    json_t *list = json_array();
    for (size_t i = 0; i < columns->count; i++)
        json_array_append_new(list, json_pack("{s:s, s:s}", "name", columns->list[i].name, "unit",
                                              columns->list[i].unit));
    return list;
}

/* Counts are whole numbers in JSON too. */
static json_t *json_cell(const struct ic_column *column, const struct ic_points *points,
                         size_t point)
{
    struct ic_cell cell = ic_columns_cell(column, points, point);
    if (!cell.is_number)
        return json_string(cell.text);
    if (column->kind == IC_COLUMN_PARAM &&
        points->sweep->family->params[column->index].kind == IC_COUNT)
        return json_integer((json_int_t)cell.value);
    return json_real(cell.value);
}

static json_t *json_row(const struct ic_columns *columns, const struct ic_points *points,
                        size_t point)
{
    json_t *row = json_object();
    for (size_t i = 0; i < columns->count; i++)
        json_object_set_new(row, columns->list[i].name,
                            json_cell(&columns->list[i], points, point));
    return row;
}

void ic_write_json(const struct ic_points *points, const char *command)
{
    struct ic_columns columns;
    ic_columns_init(&columns, points);
    json_t *rows = json_array();
    for (size_t point = 0; point < points->sweep->points; point++)
        if (points->points[point].is_done)
            json_array_append_new(rows, json_row(&columns, points, point));
    json_t *all =
        json_pack("{s:s, s:s, s:o, s:o}", "command", command, "family", points->sweep->family->name,
                  "columns", json_columns(&columns), "rows", rows);
    json_dumpf(all, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(DIGITS));
    putchar('\n');
    json_decref(all);
    ic_columns_fini(&columns);
}
