/* SPDX-License-Identifier: BSD-2-Clause */
/* The wire over libfabric (OFI), an endpoint of reliable datagrams: Ethernet, InfiniBand,
 * Omni-Path, shared memory of one machine, and whatever else it has a provider for. */
#ifndef FAB_OFI_H
#define FAB_OFI_H

#include "fabric/wire.h"

struct fab_ofi_options {
    const char *provider; /* as fi_info(1) says it: "tcp", "shm", "verbs" */
    const char *domain;   /* as it says too, mostly an interface; "": the first that there is */
    const char *name; /* of this daemon, on this machine: where memory is shared, it has a name */
    /* Providers that share memory with their peers are good too: one of these that is stopped or
     * killed while it holds a lock in there hangs whoever wants it next, inside the library. */
    bool may_share_memory;
};

/* False with a reason in words when there is no such provider or domain here, or when it may not be
 * used. */
bool fab_ofi_is_there(const struct fab_ofi_options *options, char *reason, size_t size);
bool fab_ofi_open(const struct fab_ofi_options *options, struct fab_wire *wire, char *reason,
                  size_t size);

#endif
