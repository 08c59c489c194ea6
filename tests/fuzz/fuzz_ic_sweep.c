/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the fuzzer of parameters as they are typed: "name text" in lines, for the family that the
 * first byte chooses.
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "interconnect/sweep.h"

#define PARAMS_MAX 64u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add_lines(struct ic_sweep *sweep, char *text)
{
    char *rest = NULL, error[IC_ERROR_MAX] = "";
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        char *blank = strchr(line, ' ');
        error[0] = '\0';
        if (blank == NULL)
            continue;
        *blank = '\0';
        gmc_status status = ic_sweep_add(sweep, line, blank + 1, error);
        GMC_ASSERT(status == GMC_OK || error[0] != '\0');
    }
}

static void check_point(const struct ic_sweep *sweep, size_t point)
{
    double values[PARAMS_MAX];
    char error[IC_ERROR_MAX];
    GMC_ASSERT(sweep->family->param_count <= PARAMS_MAX);
    ic_sweep_point(sweep, point, values);
    for (size_t i = 0; i < sweep->family->param_count; i++)
        GMC_ASSERT(ic_param_check(&sweep->family->params[i], values[i], error) == GMC_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ic_sweep sweep;
    if (size == 0)
        return 0;
    char *text = malloc(size);
    GMC_ASSERT(text != NULL);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    ic_sweep_init(&sweep, ic_families[data[0] % ic_family_count]);
    add_lines(&sweep, text);
    GMC_ASSERT(sweep.points > 0 && sweep.points <= IC_SWEEP_POINTS_MAX);
    check_point(&sweep, 0);
    check_point(&sweep, sweep.points - 1);
    ic_sweep_fini(&sweep);
    free(text);
    return 0;
}
