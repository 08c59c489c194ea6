/* SPDX-License-Identifier: BSD-2-Clause */
/* A recording: every input of the core in order, with what it drew from entropy and keys, and a
 * running hash of its outputs, so that a run can be repeated and compared.
 *
 * A file is the line "gmcast record 7\n", then records: kind u8, time u64 (ns), length u32, bytes;
 * numbers big-endian. It holds the keys of sessions and the data that was read: mode 0600. */
#ifndef GWD_RECORD_H
#define GWD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/time.h"

#define GWD_RECORD_BYTES_MAX (64u << 20)

enum gwd_record_kind {
    GWD_RECORD_BEGIN = 1, /* configuration of the core */
    GWD_RECORD_PEER,      /* a domain got its number */
    GWD_RECORD_SAVED,
    GWD_RECORD_START,
    GWD_RECORD_DATAGRAM,
    GWD_RECORD_CHANGE, /* of a session */
    GWD_RECORD_STORED, /* a store operation's result, with what was read */
    GWD_RECORD_TIMER,
    GWD_RECORD_REQUEST, /* of the control API */
    GWD_RECORD_REPLY,   /* another domain's, for somebody who asked here */
    GWD_RECORD_ANSWER,  /* ours, for another domain */
    GWD_RECORD_NODE,    /* a peer is a node of this domain, or no longer */
    /* what the core asked for while it worked on the input before */
    GWD_RECORD_RANDOM,
    GWD_RECORD_SIGN,
    GWD_RECORD_RESOLVE,
    GWD_RECORD_MAY,
    /* outputs were taken: with how many calls, and the running hash */
    GWD_RECORD_DRAIN,
    /* calls of local publishers */
    GWD_RECORD_OPEN,
    GWD_RECORD_PUBLISH,
    GWD_RECORD_END,
    GWD_RECORD_FORWARD, /* a request of the shell's own to a peer */
    GWD_RECORD_GROUP,   /* nodes can be reached by multicast, or no longer */
    GWD_RECORD_DELIVER, /* where to hand on what comes from now on */
    GWD_RECORD_TREE,    /* nodes feed each other, or no longer */
    GWD_RECORD_SHAPE,   /* asked for by the core: how they do */
    GWD_RECORD_KEY,     /* this domain has another key */
    GWD_RECORD_SUBNET,  /* where this host stands inside its domain */
    GWD_RECORD_LAST = GWD_RECORD_SUBNET
};

/* ---- writing ---- */
struct gwd_recorder;
/* Makes the file anew; NULL with errno. */
struct gwd_recorder *gwd_recorder_new(const char *path);
/* False when something could not be written. */
bool gwd_recorder_free(struct gwd_recorder *recorder);
/* Starts a record; fields are put behind it, then it is ended. */
void gwd_record_begin(struct gwd_recorder *recorder, enum gwd_record_kind kind, gmc_time time);
void gwd_record_number(struct gwd_recorder *recorder, uint64_t value);
/* With its length in front; NULL text is told from "". */
void gwd_record_bytes(struct gwd_recorder *recorder, struct gmc_bytes bytes);
void gwd_record_text(struct gwd_recorder *recorder, const char *text);
void gwd_record_end(struct gwd_recorder *recorder);

/* ---- reading ---- */
struct gwd_recording;
struct gwd_recording *gwd_recording_open(const char *path, char *reason, size_t size);
void gwd_recording_free(struct gwd_recording *recording);
/* The next record, borrowed until the next call; false at the end, or where it is damaged. */
bool gwd_recording_next(struct gwd_recording *recording, enum gwd_record_kind *kind,
                        gmc_time *time);
/* The same for what was asked for in the course of an input: what was borrowed of that stays. */
bool gwd_recording_next_inner(struct gwd_recording *recording);
/* Nothing more can be read of it. */
bool gwd_recording_ended(const struct gwd_recording *recording);
/* After false: what is wrong with the next record; NULL: nothing. */
const char *gwd_recording_damage(const struct gwd_recording *recording);
/* It ends inside of a record, as when the recorder was killed. */
bool gwd_recording_is_cut(const struct gwd_recording *recording);
/* The kind of the record after the current one; 0 at the end. */
enum gwd_record_kind gwd_recording_peek(struct gwd_recording *recording);
/* Fields of the current record, in order; zeros behind its end. */
uint64_t gwd_recording_number(struct gwd_recording *recording);
struct gmc_bytes gwd_recording_bytes(struct gwd_recording *recording);
/* NULL, or a text that ends with a zero byte. */
const char *gwd_recording_text(struct gwd_recording *recording);
uint64_t gwd_recording_index(const struct gwd_recording *recording); /* of the current one */

#endif
