/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the fuzzer of the names of generated topologies. */
#include "tests/fuzz/topo_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Sizes of more than three digits take long, and find nothing that small ones do not. */
static bool is_small(const char *text)
{
    for (size_t digits = 0; *text != '\0'; text++) {
        digits = *text >= '0' && *text <= '9' ? digits + 1 : 0;
        if (digits > 3)
            return false;
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[64], error[SIM_TOPO_ERROR_MAX];
    struct sim_topo topo;
    if (size >= sizeof(text))
        return 0;
    memset(text, 0, sizeof(text));
    if (size > 0)
        memcpy(text, data, size);
    /* Files that the input names are not read. */
    if (!is_small(text) || strchr(text, ':') == NULL || strchr(text, '/') != NULL)
        return 0;
    gmc_status status = sim_topo_read(text, &topo, error);
    check_topo(&topo, text, status, error);
    return 0;
}
