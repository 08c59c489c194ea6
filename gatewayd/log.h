/* SPDX-License-Identifier: BSD-2-Clause */
/* The log: one line for each event, "time level event key=value ...", and refusals that are
 * logged once and then counted. For the loop's thread only. */
#ifndef GWD_LOG_H
#define GWD_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"
#include "base/trace.h"

/* The levels are those of trace records. */
struct gwd_log;

struct gwd_field {
    const char *key;
    const char *text; /* NULL: the number counts */
    uint64_t number;
};
#define GWD_STR(key, value) ((struct gwd_field){(key), (value) != NULL ? (value) : "", 0})
#define GWD_NUM(key, value) ((struct gwd_field){(key), NULL, (uint64_t)(value)})

/* path "" or NULL: standard error. NULL when the file cannot be opened (errno says why). */
struct gwd_log *gwd_log_new(const char *path, enum gmc_trace_level level);
void gwd_log_free(struct gwd_log *log);
void gwd_log_set_level(struct gwd_log *log, enum gmc_trace_level level);
/* Opens the file again (after rotation), or another one; keeps the old one on failure. */
bool gwd_log_reopen(struct gwd_log *log, const char *path);

void gwd_log_fields(struct gwd_log *log, enum gmc_trace_level level, const char *event,
                    const struct gwd_field *fields, size_t count);
/* gwd_log(log, GMC_LEVEL_INFO, "ready", GWD_STR("domain", name), GWD_NUM("port", 7411)) */
#define gwd_log(log, level, event, ...)                                                            \
    gwd_log_fields((log), (level), (event), (const struct gwd_field[]){__VA_ARGS__},               \
                   sizeof((const struct gwd_field[]){__VA_ARGS__}) / sizeof(struct gwd_field))

/* The same refusal (event and fields alike) is logged at once and then only counted; the count is
 * written by gwd_log_tick, at most once a minute for each. */
void gwd_log_refusal_fields(struct gwd_log *log, gmc_time now, const char *event,
                            const struct gwd_field *fields, size_t count);
#define gwd_log_refusal(log, now, event, ...)                                                      \
    gwd_log_refusal_fields((log), (now), (event), (const struct gwd_field[]){__VA_ARGS__},         \
                           sizeof((const struct gwd_field[]){__VA_ARGS__}) /                       \
                               sizeof(struct gwd_field))
void gwd_log_tick(struct gwd_log *log, gmc_time now);

/* Fills sink with one that writes the core's records into the log; name_of (may be NULL) turns
 * peer numbers into domains. The sink is borrowed by the core. */
void gwd_log_sink(struct gwd_log *log, struct gmc_trace_sink *sink,
                  const char *(*name_of)(void *ctx, uint32_t peer), void *ctx);

#endif
