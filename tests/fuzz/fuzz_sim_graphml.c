/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the fuzzer of the reader of GraphML. */
#include "tests/fuzz/topo_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0)
        check_map("map.graphml", data, size);
    return 0;
}
