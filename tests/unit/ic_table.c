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

void ic_table_open(struct ic_table *table, const char *name)
{
    const char *folder = getenv("GMC_SRCDIR");
    char path[512];
    snprintf(path, sizeof(path), "%s/tests/vectors/interconnect/%s.csv",
             folder != NULL ? folder : ".", name);
    *table = (struct ic_table){.file = fopen(path, "r")};
    if (table->file == NULL)
        fail_msg("%s is not there", path);
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
