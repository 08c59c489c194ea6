/* SPDX-License-Identifier: BSD-2-Clause */
/* What disk.c and disk_ops.c share. */
#ifndef SIM_DISK_INTERNAL_H
#define SIM_DISK_INTERNAL_H

#include "core/manifest.h"
#include "sim-wan/disk.h"

struct sim_disk_op {
    struct sim_disk_op *next, *prev;
    gmc_time transferred; /* its bytes, in their turn */
    gmc_time due;
    struct gmc_store_op op; /* paths NULL; use those below */
    char **paths;
    char *name, *dest;
    uint8_t *bytes;
};

/* Does the operation now; writes status, reason and figures to result. */
void sim_disk_perform(struct sim_disk *disk, const struct sim_disk_op *op,
                      struct gmc_store_result *result);
struct sim_store *sim_disk_add_store(struct sim_disk *disk, const struct gmc_channel_key *key);

/* Bytes of a data block that the core's buffer holds. */
static inline size_t sim_disk_kept(const struct sim_disk *disk, const struct gmc_store_op *op)
{
    return disk->virtual_bodies ? gmc_virtual_kept((uint32_t)op->len) : op->len;
}

#endif
