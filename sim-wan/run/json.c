/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of summaries; see json.h. */
#include "sim-wan/run/json.h"

#include <math.h>
#include <stdlib.h>

#include "base/assert.h"
#include "sim-wan/mem.h"

double sim_seconds(gmc_duration time)
{
    return (double)time / 1e9;
}

json_t *sim_json_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *sim_json_integer(uint64_t value)
{
    return json_integer((json_int_t)value);
}

json_t *sim_json_text(const char *name)
{
    json_t *value = json_string(name);
    if (value != NULL)
        return value;
    char *copy = sim_strdup(name);
    for (char *at = copy; *at != '\0'; at++)
        if ((unsigned char)*at >= 0x80)
            *at = '?';
    value = json_string(copy);
    free(copy);
    return value;
}

void sim_json_put(json_t *object, const char *name, json_t *value)
{
    int status = json_object_set_new(object, name, value);
    GMC_ASSERT(status == 0);
}

void sim_json_append(json_t *list, json_t *value)
{
    int status = json_array_append_new(list, value);
    GMC_ASSERT(status == 0);
}
