/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading comma-separated values. */
#include "interconnect/csv.h"

#include <stdlib.h>
#include <string.h>

#define BYTE_ORDER_MARK "\xef\xbb\xbf" /* spreadsheets begin a table in UTF-8 with it */

struct reader {
    struct ic_csv *csv;
    char *at, *end; /* of the copy; *end is NUL */
    size_t line, cell_capacity, line_capacity;
    char *error;
};

/* Room for one more, doubling; NULL: no memory, and the old array stays. */
static void *grow(void *array, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return array;
    size_t more = *capacity * 2 + 16;
    void *bigger = realloc(array, more * size);
    if (bigger != NULL)
        *capacity = more;
    return bigger;
}

static size_t cell_count(const struct ic_csv *csv)
{
    return csv->columns * csv->rows;
}

/* Cuts one line into fields behind those that are there; `count` of them. */
static gmc_status split(struct reader *reader, char *line, size_t have, size_t *count)
{
    struct ic_csv *csv = reader->csv;
    *count = 0;
    for (char *at = line; at != NULL; *count += 1) {
        char **cells = grow(csv->cells, have + *count, &reader->cell_capacity, sizeof(*csv->cells));
        if (cells == NULL)
            return GMC_ERR_NOMEM;
        csv->cells = cells;
        cells[have + *count] = at;
        at = strchr(at, ',');
        if (at != NULL)
            *at++ = '\0';
    }
    return GMC_OK;
}

static gmc_status note_line(struct reader *reader, size_t place)
{
    size_t *lines =
        grow(reader->csv->lines, place, &reader->line_capacity, sizeof(*reader->csv->lines));
    if (lines == NULL)
        return GMC_ERR_NOMEM;
    lines[place] = reader->line;
    reader->csv->lines = lines;
    return GMC_OK;
}

/* The next line that is not blank, without its end; NULL: there is none. */
static char *next_line(struct reader *reader)
{
    while (reader->at < reader->end) {
        char *line = reader->at, *end = strchr(line, '\n');
        reader->line++;
        reader->at = end != NULL ? end + 1 : reader->end;
        if (end == NULL)
            end = reader->end;
        if (end > line && end[-1] == '\r')
            end--;
        *end = '\0';
        if (line[strspn(line, " \t")] != '\0')
            return line;
    }
    return NULL;
}

static gmc_status read_head(struct reader *reader)
{
    struct ic_csv *csv = reader->csv;
    char *line = next_line(reader);
    if (line == NULL)
        return ic_refuse(reader->error, "the table is empty: its first line has to name columns");
    gmc_status status = split(reader, line, 0, &csv->columns);
    if (status == GMC_OK)
        status = note_line(reader, 0);
    for (size_t i = 0; i < csv->columns && status == GMC_OK; i++) {
        if (csv->cells[i][0] == '\0')
            status =
                ic_refuse(reader->error, "line %zu: column %zu has no name", reader->line, i + 1);
        for (size_t j = 0; j < i && status == GMC_OK; j++)
            if (strcmp(csv->cells[i], csv->cells[j]) == 0)
                status = ic_refuse(reader->error, "line %zu: two columns are named %.100s",
                                   reader->line, csv->cells[i]);
    }
    return status;
}

static gmc_status read_rows(struct reader *reader)
{
    struct ic_csv *csv = reader->csv;
    size_t count = 0;
    for (char *line = next_line(reader); line != NULL; line = next_line(reader)) {
        gmc_status status = split(reader, line, csv->columns + cell_count(csv), &count);
        if (status == GMC_OK)
            status = note_line(reader, csv->rows + 1);
        if (status != GMC_OK)
            return status;
        if (count != csv->columns)
            return ic_refuse(reader->error, "line %zu has %zu fields; its head names %zu",
                             reader->line, count, csv->columns);
        csv->rows++;
    }
    return GMC_OK;
}

static gmc_status check_bytes(const char *text, size_t length, char *error)
{
    size_t line = 1;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\0' || text[i] == '"')
            return ic_refuse(error, "line %zu has %s", line,
                             text[i] == '"' ? "a quote; quoted fields are not read"
                                            : "a zero byte; this is not a text");
        line += text[i] == '\n';
    }
    return GMC_OK;
}

gmc_status ic_csv_parse(struct ic_csv *csv, const char *text, size_t length, char *error)
{
    struct reader reader = {.csv = csv, .error = error};
    *csv = (struct ic_csv){0};
    gmc_status status = check_bytes(text, length, error);
    if (status != GMC_OK)
        return status;
    csv->bytes = malloc(length + 1);
    if (csv->bytes == NULL)
        return GMC_ERR_NOMEM;
    if (length > 0)
        memcpy(csv->bytes, text, length);
    csv->bytes[length] = '\0';
    reader.at = csv->bytes;
    if (strncmp(reader.at, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0)
        reader.at += strlen(BYTE_ORDER_MARK);
    reader.end = csv->bytes + length;
    status = read_head(&reader);
    if (status == GMC_OK)
        status = read_rows(&reader);
    if (status != GMC_OK)
        ic_csv_fini(csv);
    return status;
}

void ic_csv_fini(struct ic_csv *csv)
{
    free(csv->bytes);
    free(csv->cells);
    free(csv->lines);
    *csv = (struct ic_csv){0};
}

size_t ic_csv_column(const struct ic_csv *csv, const char *name)
{
    size_t i = 0;
    while (i < csv->columns && strcmp(csv->cells[i], name) != 0)
        i++;
    return i;
}

char *const *ic_csv_row(const struct ic_csv *csv, size_t row)
{
    return csv->cells + (row + 1) * csv->columns;
}
