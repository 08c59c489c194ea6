/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the table of trace events and the way of a record to its sink.
 */
#include "base/trace.h"

struct event_info {
    const char *name;
    const char *fields[3];
    uint8_t level;
};

static const struct event_info events[GMC_TRACE_EVENT_COUNT] = {
#define EVENT_INFO(name, level, a, b, c) {#name, {a, b, c}, GMC_LEVEL_##level},
    GMC_TRACE_EVENTS(EVENT_INFO)
#undef EVENT_INFO
};

const char *gmc_trace_event_name(unsigned event)
{
    return event < GMC_TRACE_EVENT_COUNT ? events[event].name : "?";
}

enum gmc_trace_level gmc_trace_event_level(unsigned event)
{
    return event < GMC_TRACE_EVENT_COUNT ? (enum gmc_trace_level)events[event].level
                                         : GMC_LEVEL_ERROR;
}

void gmc_trace_event_fields(unsigned event, const char *fields[3])
{
    for (int i = 0; i < 3; i++)
        fields[i] = event < GMC_TRACE_EVENT_COUNT ? events[event].fields[i] : NULL;
}

const char *gmc_trace_level_name(unsigned level)
{
    switch (level) {
    case GMC_LEVEL_ERROR:
        return "error";
    case GMC_LEVEL_WARN:
        return "warn";
    case GMC_LEVEL_INFO:
        return "info";
    case GMC_LEVEL_DEBUG:
        return "debug";
    case GMC_LEVEL_TRACE:
        return "trace";
    default:
        return "?";
    }
}

void gmc_trace_send(const struct gmc_trace_sink *sink, gmc_time now, enum gmc_trace_event event,
                    uint32_t peer, uint64_t channel, const uint64_t fields[3], const char *text)
{
    struct gmc_trace_record record = {
        .time = now,
        .event = (uint16_t)event,
        .level = events[event].level,
        .peer = peer,
        .channel = channel,
        .a = fields[0],
        .b = fields[1],
        .c = fields[2],
        .text = text,
    };

    if (record.level <= sink->level_max)
        sink->emit(sink->ctx, &record);
}
