/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading reference tables. */
#include "tests/unit/ic_table.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/unit.h"

static int split(char *line, char **fields)
{
    int count = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *at = line; at != NULL; count++) {
        assert_in_range(count, 0, IC_TABLE_COLUMNS - 1);
        fields[count] = at;
        at = strchr(at, ',');
        if (at != NULL)
            *at++ = '\0';
    }
    return count;
}

static FILE *open_table(const char *name)
{
    const char *folder = getenv("GMC_SRCDIR");
    char path[512];
    snprintf(path, sizeof(path), "%s/tests/vectors/interconnect/%s.csv",
             folder != NULL ? folder : ".", name);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        fail_msg("%s is not there", path);
    return file;
}

void ic_table_open(struct ic_table *table, const char *name)
{
    *table = (struct ic_table){.file = open_table(name)};
    assert_non_null(fgets(table->head, sizeof(table->head), table->file));
    table->columns = split(table->head, table->names);
}

bool ic_table_next(struct ic_table *table)
{
    if (fgets(table->line, sizeof(table->line), table->file) == NULL) {
        fclose(table->file);
        table->file = NULL;
        return false;
    }
    table->rows++;
    assert_int_equal(split(table->line, table->fields), table->columns);
    return true;
}

const char *ic_table_text(const struct ic_table *table, const char *column)
{
    for (int i = 0; i < table->columns; i++)
        if (strcmp(table->names[i], column) == 0)
            return table->fields[i];
    fail_msg("no column %s", column);
    return "";
}

uint64_t ic_table_number(const struct ic_table *table, const char *column)
{
    return strtoull(ic_table_text(table, column), NULL, 10);
}

void ic_table_expect(const struct ic_table *table, const char *column, double value)
{
    double wanted = strtod(ic_table_text(table, column), NULL);
    if (!(fabs(value - wanted) <= 1e-6 * fabs(wanted)))
        fail_msg("row %d: %s is %.10g, should be %.10g", table->rows, column, value, wanted);
}

static void read_all(struct ic_csv *csv, const char *name)
{
    static char bytes[IC_TABLE_BYTES];
    char error[IC_ERROR_MAX] = "";
    FILE *file = open_table(name);
    size_t length = fread(bytes, 1, sizeof(bytes), file);
    assert_in_range(length, 1, sizeof(bytes) - 1);
    fclose(file);
    if (ic_csv_parse(csv, bytes, length, error) != GMC_OK)
        fail_msg("%s: %s", name, error);
}

static void compare(const struct ic_golden *golden, const struct ic_csv *computed,
                    const struct ic_csv *wanted)
{
    assert_int_equal(computed->rows, wanted->rows);
    assert_int_equal(computed->columns, wanted->columns);
    for (size_t i = 0; i < wanted->columns; i++)
        assert_string_equal(computed->cells[i], wanted->cells[i]);
    for (size_t row = 0; row < wanted->rows; row++)
        for (size_t i = 0; i < wanted->columns; i++)
            if (!ic_golden_agrees(golden, ic_csv_row(computed, row)[i], ic_csv_row(wanted, row)[i]))
                fail_msg("%s, line %zu: %s is %s, should be %s", golden->table,
                         wanted->lines[row + 1], wanted->cells[i], ic_csv_row(computed, row)[i],
                         ic_csv_row(wanted, row)[i]);
}

void ic_table_recompute_first(const struct ic_golden *golden, const char *column, double part)
{
    struct ic_csv wanted, computed;
    struct ic_text out = {0};
    char error[IC_ERROR_MAX] = "";
    read_all(&wanted, golden->table);
    ic_golden_head(&wanted, &out);
    if (ic_golden_recompute_row(golden, &wanted, 0, &out, error) != GMC_OK)
        fail_msg("%s: %s", golden->table, error);
    assert_ok(ic_csv_parse(&computed, out.bytes, out.length, error));
    assert_int_equal(computed.rows, 1);
    size_t place = ic_csv_column(&wanted, column);
    assert_in_range(place, 0, wanted.columns - 1);
    double value = strtod(ic_csv_row(&computed, 0)[place], NULL);
    double other = strtod(ic_csv_row(&wanted, 0)[place], NULL);
    if (!(fabs(value - other) <= part * other))
        fail_msg("%s: %s is %g, should be %g", golden->table, column, value, other);
    ic_csv_fini(&wanted);
    ic_csv_fini(&computed);
    ic_text_fini(&out);
}

size_t ic_table_recompute(const struct ic_golden *golden)
{
    struct ic_csv wanted, computed;
    struct ic_text out = {0};
    char error[IC_ERROR_MAX] = "";
    read_all(&wanted, golden->table);
    if (ic_golden_recompute(golden, &wanted, &out, error) != GMC_OK)
        fail_msg("%s: %s", golden->table, error);
    assert_ok(ic_csv_parse(&computed, out.bytes, out.length, error));
    compare(golden, &computed, &wanted);
    size_t rows = wanted.rows;
    ic_csv_fini(&wanted);
    ic_csv_fini(&computed);
    ic_text_fini(&out);
    return rows;
}
