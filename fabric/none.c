/* SPDX-License-Identifier: BSD-2-Clause */
/* Built without libfabric: there is no provider. */
#include <stdio.h>

#include "fabric/ofi.h"

bool fab_ofi_is_there(const struct fab_ofi_options *options, char *reason, size_t size)
{
    (void)
        snprintf(reason, size,
                 "there is no '%s', because this was built without libfabric; install its headers "
                 "(Debian: libfabric-dev), configure --with-libfabric and build again",
                 options->provider);
    return false;
}

bool fab_ofi_open(const struct fab_ofi_options *options, struct fab_wire *wire, char *reason,
                  size_t size)
{
    (void)wire;
    return fab_ofi_is_there(options, reason, size);
}
