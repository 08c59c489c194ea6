/* SPDX-License-Identifier: BSD-2-Clause */
/* The run's hash and its lines; see trace.h. */
#include "sim-wan/trace.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LINE_BYTES 1024

void sim_trace_init(struct sim_trace *trace)
{
    *trace = (struct sim_trace){.hash = UINT64_C(0x243f6a8885a308d3)};
}

/* A bijection of the hash for each value, so no record is lost on the way. */
static void mix(struct sim_trace *trace, uint64_t value)
{
    uint64_t x = (trace->hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    trace->hash = x ^ (x >> 29);
}

void sim_trace_record(struct sim_trace *trace, gmc_time now, enum sim_trace_kind kind, uint64_t who,
                      uint64_t a, uint64_t b)
{
    mix(trace, now);
    mix(trace, (uint64_t)kind << 56 ^ who);
    mix(trace, a);
    mix(trace, b);
    trace->records++;
}

void sim_trace_word(struct sim_trace *trace, uint64_t word)
{
    mix(trace, word);
}

void sim_trace_bytes(struct sim_trace *trace, struct gmc_bytes bytes)
{
    size_t i = 0;
    for (; i + 8 <= bytes.len; i += 8)
        mix(trace, gmc_get64(bytes.data + i));
    for (; i < bytes.len; i++)
        mix(trace, bytes.data[i]);
}

void sim_trace_text(struct sim_trace *trace, gmc_time now, enum sim_trace_kind kind, uint64_t who,
                    const char *name, const char *format, ...)
{
    char text[LINE_BYTES];
    va_list args;
    int used = snprintf(text, sizeof(text), "%" PRIu64 ".%06" PRIu64 " %s ", now / 1000000000,
                        now / 1000 % 1000000, name);
    size_t start = used > 0 && (size_t)used < sizeof(text) ? (size_t)used : 0;
    va_start(args, format);
    vsnprintf(text + start, sizeof(text) - start, format, args);
    va_end(args);
    sim_trace_record(trace, now, kind, who, 0, 0);
    sim_trace_bytes(trace, gmc_bytes_of_text(text + start));
    if (trace->line != NULL)
        trace->line(trace->ctx, text);
}
