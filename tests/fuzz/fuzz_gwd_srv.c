/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the fuzzer of SRV answers: whatever a name server says gives targets that have a name and a
 * port, best first, and no more than were asked for.
 */
#include <string.h>

#include "base/assert.h"
#include "gatewayd/resolve.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gwd_srv targets[GWD_RESOLVE_MAX];
    size_t count = gwd_srv_parse(data, size, targets, GWD_RESOLVE_MAX);

    GMC_ASSERT(count <= GWD_RESOLVE_MAX);
    for (size_t i = 0; i < count; i++) {
        GMC_ASSERT(targets[i].port != 0 && targets[i].target[0] != '\0');
        GMC_ASSERT(memchr(targets[i].target, '\0', sizeof targets[i].target) != NULL);
        GMC_ASSERT(i == 0 || targets[i].priority >= targets[i - 1].priority);
    }
    return 0;
}
