/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the fuzzer of tables: the reader, and computing any reference table again from what was
 * read.
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "interconnect/golden.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_cells(const struct ic_csv *csv, size_t size)
{
    size_t total = 0;
    for (size_t row = 0; row <= csv->rows; row++)
        for (size_t i = 0; i < csv->columns; i++)
            total += strlen(csv->cells[row * csv->columns + i]) + 1;
    GMC_ASSERT(csv->columns > 0 && total <= size + 1);
    for (size_t i = 0; i < csv->columns; i++)
        GMC_ASSERT(ic_csv_column(csv, csv->cells[i]) == i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ic_csv csv;
    char error[IC_ERROR_MAX] = "";
    gmc_status status = ic_csv_parse(&csv, (const char *)data, size, error);
    GMC_ASSERT(status == GMC_OK || error[0] != '\0');
    if (status != GMC_OK)
        return 0;
    check_cells(&csv, size);
    for (size_t i = 0; i < ic_golden_count; i++) {
        struct ic_text out = {0};
        error[0] = '\0';
        status = ic_golden_recompute(ic_goldens[i], &csv, &out, error);
        GMC_ASSERT(status == GMC_OK ? out.length > 0 : error[0] != '\0');
        ic_text_fini(&out);
    }
    ic_csv_fini(&csv);
    return 0;
}
