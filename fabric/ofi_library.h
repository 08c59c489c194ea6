/* SPDX-License-Identifier: BSD-2-Clause */
/* libfabric itself, loaded when it is first wanted: it brings drivers of every interconnect along,
 * which are not for a daemon that uses none. Its other functions are inline, through tables. */
#ifndef FAB_OFI_LIBRARY_H
#define FAB_OFI_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

struct fi_info;
struct fi_fabric_attr;
struct fid_fabric;

struct fab_ofi_library {
    int (*getinfo)(uint32_t version, const char *node, const char *service, uint64_t flags,
                   const struct fi_info *hints, struct fi_info **info);
    void (*freeinfo)(struct fi_info *info);
    struct fi_info *(*dupinfo)(const struct fi_info *info);
    int (*fabric)(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context);
    const char *(*strerror)(int error);
};

/* NULL with a reason. Once there it stays. */
const struct fab_ofi_library *fab_ofi_library(char *reason, size_t size);

#endif
