/* SPDX-License-Identifier: BSD-2-Clause
 * Owns typed trace records and the sink that takes them. Text is made by the shell.
 *
 * Level by volume: error cannot go on as asked; warn unexpected but going on; info state changes a
 * person wants; debug grows with objects; trace grows with packets.
 */
#ifndef GMC_BASE_TRACE_H
#define GMC_BASE_TRACE_H

#include "base/time.h"
#include "base/trace_events.h"

#include <stddef.h>
#include <stdint.h>

enum gmc_trace_level {
    GMC_LEVEL_ERROR,
    GMC_LEVEL_WARN,
    GMC_LEVEL_INFO,
    GMC_LEVEL_DEBUG,
    GMC_LEVEL_TRACE,
};

enum gmc_trace_event {
#define GMC_TRACE_ENUM(name, level, a, b, c) GMC_TRACE_##name,
    GMC_TRACE_EVENTS(GMC_TRACE_ENUM)
#undef GMC_TRACE_ENUM
        GMC_TRACE_EVENT_COUNT
};

struct gmc_trace_record {
    gmc_time time;
    uint16_t event;   /* enum gmc_trace_event */
    uint8_t level;    /* enum gmc_trace_level, from the event's line in the list */
    uint32_t peer;    /* the other gateway's index, 0 if none */
    uint64_t channel; /* local channel id, 0 if none */
    uint64_t a, b, c; /* meaning from the event's line in the list */
    const char *text; /* borrowed for the call, NULL if none */
};

/* Handed to a machine at its creation and borrowed by it; NULL means no trace. emit must not call
 * back into the machine.
 */
struct gmc_trace_sink {
    void (*emit)(void *ctx, const struct gmc_trace_record *record);
    void *ctx;
    uint8_t level_max; /* records above this level are not made */
};

/* Name of an event, e.g. "LINK_UP", "?" if unknown; its level; the names of its fields, each NULL
 * if the event does not use it.
 */
const char *gmc_trace_event_name(unsigned event);
enum gmc_trace_level gmc_trace_event_level(unsigned event);
void gmc_trace_event_fields(unsigned event, const char *fields[3]);

/* "error", "warn", "info", "debug", "trace"; "?" if unknown. */
const char *gmc_trace_level_name(unsigned level);

/* What gmc_trace_emit calls for a sink that is not NULL. */
void gmc_trace_send(const struct gmc_trace_sink *sink, gmc_time now, enum gmc_trace_event event,
                    uint32_t peer, uint64_t channel, const uint64_t fields[3], const char *text);

/* Trace an event with a text (or NULL). A NULL sink takes nothing. */
static inline void gmc_trace_emit_text(const struct gmc_trace_sink *sink, gmc_time now,
                                       enum gmc_trace_event event, uint32_t peer, uint64_t channel,
                                       uint64_t a, uint64_t b, uint64_t c, const char *text)
{
    if (sink != NULL)
        gmc_trace_send(sink, now, event, peer, channel, (const uint64_t[3]){a, b, c}, text);
}

static inline void gmc_trace_emit(const struct gmc_trace_sink *sink, gmc_time now,
                                  enum gmc_trace_event event, uint32_t peer, uint64_t channel,
                                  uint64_t a, uint64_t b, uint64_t c)
{
    gmc_trace_emit_text(sink, now, event, peer, channel, a, b, c, NULL);
}

#endif
