/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the fuzzer of the simulator's paths: one that is taken is the one that its object gets. */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "sim-wan/object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sim_object object;
    char *path = malloc(size + 1), again[SIM_OBJECT_PATH_MAX];

    GMC_ASSERT(path != NULL);
    if (size > 0)
        memcpy(path, data, size);
    path[size] = '\0';
    if (sim_object_parse(path, &object)) {
        sim_object_path(again, sizeof(again), object.seed, object.total_bytes);
        GMC_ASSERT(strcmp(path, again) == 0);
        GMC_ASSERT(sim_object_space(&object) > object.total_bytes);
    }
    free(path);
    return 0;
}
