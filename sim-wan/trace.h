/* SPDX-License-Identifier: BSD-2-Clause */
/* What happened in a run: a running 64-bit hash over every record, so that two runs can be compared
 * to the byte, and lines of text for those who ask.
 *
 * Records go in at a fixed order and with fixed fields; nothing of the machine (addresses, sizes of
 * types, byte order, time of day) does. The same seed therefore gives the same hash with each
 * compiler, with and without sanitizers.
 */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/time.h"

enum sim_trace_kind {
    SIM_TRACE_DROP = 1, /* a packet, on a wire */
    SIM_TRACE_ARRIVE,   /* a packet, at its destination */
    SIM_TRACE_SESSION,  /* up, down */
    SIM_TRACE_STORE,    /* a store operation was answered */
    SIM_TRACE_EVENT,    /* the gateway's news */
    SIM_TRACE_CORE,     /* a trace record of the core */
    SIM_TRACE_HOST,     /* started, crashed */
    SIM_TRACE_FAULT     /* something was done to the world */
};

struct sim_trace {
    uint64_t hash;
    uint64_t records;
    /* A line "seconds who what"; NULL: nobody asks. */
    void (*line)(void *ctx, const char *text);
    void *ctx;
    bool packets; /* lines for packets too */
};

void sim_trace_init(struct sim_trace *trace);
void sim_trace_record(struct sim_trace *trace, gmc_time now, enum sim_trace_kind kind, uint64_t who,
                      uint64_t a, uint64_t b);
/* Adds a word, or bytes, to the record before. */
void sim_trace_word(struct sim_trace *trace, uint64_t word);
void sim_trace_bytes(struct sim_trace *trace, struct gmc_bytes bytes);
/* Both, with a line of text. */
void sim_trace_text(struct sim_trace *trace, gmc_time now, enum sim_trace_kind kind, uint64_t who,
                    const char *name, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

#endif
