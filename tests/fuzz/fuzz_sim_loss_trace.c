/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the fuzzer of loss traces: one that is read answers for every packet, one that is not says
 * where. */
#include <string.h>

#include "base/assert.h"
#include "sim-wan/loss_trace.h"
#include "tests/fuzz/memfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const struct sim_loss_trace *trace)
{
    uint64_t at = 0;
    size_t lost = 0;
    for (size_t i = 0; i < 2 * sim_loss_trace_count(trace) && i < 10000; i++)
        lost += sim_loss_trace_takes(trace, &at, i * GMC_MS(1));
    GMC_ASSERT(lost <= 2 * sim_loss_trace_count(trace));
    GMC_ASSERT(sim_loss_trace_ppm(trace) <= 1000000);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[MEMFILE_NAME_MAX], error[SIM_LOSS_TRACE_ERROR_MAX] = "";
    struct sim_loss_trace *trace = NULL;
    int fd = memfile_make(data, size, name);

    if (sim_loss_trace_read(name, &trace, error) == GMC_OK)
        walk(trace);
    else
        GMC_ASSERT(strchr(error, ':') != NULL);
    sim_loss_trace_free(trace);
    close(fd);
    return 0;
}
