/* SPDX-License-Identifier: BSD-2-Clause */
/* What driving the core and replaying a recording share. */
#ifndef GWD_DRIVE_INT_H
#define GWD_DRIVE_INT_H

#include "gatewayd/drive.h"

#define GWD_HASH_START UINT64_C(14695981039346656037)

/* A read that was asked for: the recording fills its buffer. */
struct gwd_pending_read {
    uint64_t ticket;
    uint8_t *data;
    size_t len;
};

struct gwd_drive {
    struct gmc_gateway *gateway;
    struct gmc_ctl *ctl;
    const struct gmc_crypto *inner;
    struct gmc_crypto_ops ops; /* inner's, with taps */
    struct gmc_crypto tapped;
    struct gmc_ctl_hooks hooks;
    struct gmc_inside_tree tree;
    struct gwd_recorder *recorder;
    uint64_t hash;       /* running, of all outputs */
    bool foreign_answer; /* the answer of this request comes from a hook */
    uint64_t taken;      /* calls of next_output since the last drained */
    /* replaying */
    struct gwd_replay_state *replaying; /* NULL: not */
    struct gwd_pending_read *reads;
    size_t read_count, read_room;
};

void gwd_hash_bytes(struct gwd_drive *drive, struct gmc_bytes bytes);
void gwd_hash_number(struct gwd_drive *drive, uint64_t number);

/* ---- replay.c ---- */
gmc_status gwd_replay_sign(struct gwd_drive *drive, uint8_t *sig, size_t *sig_len);
void gwd_replay_random(struct gwd_drive *drive, uint8_t *out, size_t len);
const char *gwd_replay_resolve(struct gwd_drive *drive);
gmc_status gwd_replay_may(struct gwd_drive *drive, const char **reason);
gmc_status gwd_replay_shape(struct gwd_drive *drive, size_t count, uint32_t *parent,
                            const char **name);
void gwd_replay_note_read(struct gwd_drive *drive, const struct gmc_store_op *op);

#endif
