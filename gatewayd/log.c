/* SPDX-License-Identifier: BSD-2-Clause */
/* The log: lines of key=value, and refusals that are logged once and then counted. */
#include "gatewayd/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINE_MAX_BYTES 2048
#define REFUSALS_MAX 256
#define REPEAT_EVERY GMC_S(60)

/* A refusal that was logged; a slot is used again when it was quiet for a period. */
struct refusal {
    uint64_t hash; /* 0: free */
    gmc_time since;
    uint64_t more;
    char line[256];
};

struct gwd_log {
    int fd;
    enum gmc_trace_level level;
    struct refusal refusals[REFUSALS_MAX];
    size_t refusal_count;
    const char *(*name_of)(void *ctx, uint32_t peer);
    void *name_ctx;
};

static int open_path(const char *path)
{
    if (path == NULL || path[0] == '\0')
        return dup(STDERR_FILENO);
    return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
}

struct gwd_log *gwd_log_new(const char *path, enum gmc_trace_level level)
{
    struct gwd_log *log = calloc(1, sizeof *log);
    if (log == NULL)
        return NULL;
    log->fd = open_path(path);
    log->level = level;
    if (log->fd < 0) {
        free(log);
        return NULL;
    }
    return log;
}

void gwd_log_free(struct gwd_log *log)
{
    if (log == NULL)
        return;
    (void)close(log->fd);
    free(log);
}

void gwd_log_set_level(struct gwd_log *log, enum gmc_trace_level level)
{
    log->level = level;
}

bool gwd_log_reopen(struct gwd_log *log, const char *path)
{
    int fd = open_path(path);
    if (fd < 0)
        return false;
    (void)close(log->fd);
    log->fd = fd;
    return true;
}

/* Bytes of the character of UTF-8 that begins there (RFC 3629, section 4); 0 where none does. */
static size_t character_len(const unsigned char *p)
{
    size_t len = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    bool is_overlong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
    bool is_beyond =
        (p[0] == 0xed && p[1] >= 0xa0) || (p[0] == 0xf4 && p[1] >= 0x90) || p[0] > 0xf4;
    if (is_overlong || is_beyond)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return len;
}

/* Values with blanks or quotes are quoted; what could forge a line, and what is not UTF-8 (names of
 * files may be anything), is escaped. */
static size_t put_value(char *out, size_t size, const char *value)
{
    size_t used = 0;
    bool quote = value[0] == '\0' || strpbrk(value, " \"=\t\r\n\\") != NULL;
    if (quote && used + 1 < size)
        out[used++] = '"';
    size_t len;
    for (const unsigned char *p = (const unsigned char *)value; *p != '\0' && used + 6 < size;
         p += len) {
        size_t character = character_len(p);
        len = character > 0 ? character : 1;
        if (*p == '"' || *p == '\\')
            out[used++] = '\\';
        if (*p < 0x20 || *p == 0x7f || character == 0) {
            used += (size_t)snprintf(out + used, size - used, "\\x%02x", *p);
        } else {
            memcpy(out + used, p, len);
            used += len;
        }
    }
    if (quote && used + 1 < size)
        out[used++] = '"';
    out[used] = '\0';
    return used;
}

static size_t put_fields(char *out, size_t size, const char *event, const struct gwd_field *fields,
                         size_t count)
{
    size_t used = (size_t)snprintf(out, size, "%s", event);
    for (size_t i = 0; i < count && used + 8 < size; i++) {
        int n;
        if (fields[i].text == NULL) {
            n = snprintf(out + used, size - used, " %s=%" PRIu64, fields[i].key, fields[i].number);
            used += n > 0 && (size_t)n < size - used ? (size_t)n : 0;
            continue;
        }
        n = snprintf(out + used, size - used, " %s=", fields[i].key);
        if (n < 0 || (size_t)n >= size - used)
            break;
        used += (size_t)n;
        if (size - used < 8)
            break;
        used += put_value(out + used, size - used, fields[i].text);
    }
    return used;
}

static void write_line(struct gwd_log *log, enum gmc_trace_level level, const char *text)
{
    char line[LINE_MAX_BYTES + 64];
    struct timespec wall;
    struct tm parts;
    size_t used;
    int n;
    (void)clock_gettime(CLOCK_REALTIME, &wall);
    (void)gmtime_r(&wall.tv_sec, &parts);
    used = strftime(line, sizeof line, "%Y-%m-%dT%H:%M:%S", &parts);
    n = snprintf(line + used, sizeof line - used, ".%06ldZ %-5s %s\n", wall.tv_nsec / 1000,
                 gmc_trace_level_name(level), text);
    if (n < 0)
        return;
    used += (size_t)n < sizeof line - used ? (size_t)n : sizeof line - used - 1;
    line[used - 1] = '\n';
    while (write(log->fd, line, used) < 0 && errno == EINTR)
        continue;
}

void gwd_log_fields(struct gwd_log *log, enum gmc_trace_level level, const char *event,
                    const struct gwd_field *fields, size_t count)
{
    char text[LINE_MAX_BYTES];
    if (log == NULL || level > log->level)
        return;
    (void)put_fields(text, sizeof text, event, fields, count);
    write_line(log, level, text);
}

static uint64_t hash_text(const char *text)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return hash == 0 ? 1 : hash;
}

static void say_more(struct gwd_log *log, struct refusal *refusal)
{
    char text[512];
    if (refusal->more == 0)
        return;
    (void)snprintf(text, sizeof text, "%s more=%" PRIu64, refusal->line, refusal->more);
    if (log->level >= GMC_LEVEL_WARN)
        write_line(log, GMC_LEVEL_WARN, text);
    refusal->more = 0;
}

/* The refusal's slot; a new one when it is not known, NULL when all are taken. */
static struct refusal *find_slot(struct gwd_log *log, uint64_t hash, bool *known)
{
    struct refusal *slot = NULL;
    *known = false;
    for (size_t i = 0; i < REFUSALS_MAX; i++) {
        struct refusal *r = &log->refusals[(hash + i) % REFUSALS_MAX];
        if (r->hash == hash) {
            *known = true;
            return r;
        }
        if (r->hash == 0 && slot == NULL)
            slot = r;
    }
    return slot;
}

void gwd_log_refusal_fields(struct gwd_log *log, gmc_time now, const char *event,
                            const struct gwd_field *fields, size_t count)
{
    char text[LINE_MAX_BYTES];
    struct refusal *refusal;
    uint64_t hash;
    bool known;
    if (log == NULL)
        return;
    (void)put_fields(text, sizeof text, event, fields, count);
    hash = hash_text(text);
    refusal = find_slot(log, hash, &known);
    if (known) {
        refusal->more++;
        return;
    }
    if (refusal == NULL) {
        /* More kinds of refusal at once than anybody reads: one slot counts for the rest. */
        refusal = &log->refusals[hash % REFUSALS_MAX];
        refusal->more++;
        return;
    }
    refusal->hash = hash;
    refusal->since = now;
    refusal->more = 0;
    (void)snprintf(refusal->line, sizeof refusal->line, "%.200s", text);
    log->refusal_count++;
    if (log->level >= GMC_LEVEL_WARN)
        write_line(log, GMC_LEVEL_WARN, text);
}

void gwd_log_tick(struct gwd_log *log, gmc_time now)
{
    for (size_t i = 0; i < REFUSALS_MAX && log->refusal_count > 0; i++) {
        struct refusal *refusal = &log->refusals[i];
        if (refusal->hash == 0 || now < gmc_time_add(refusal->since, REPEAT_EVERY))
            continue;
        if (refusal->more > 0) {
            say_more(log, refusal);
            refusal->since = now;
        } else {
            refusal->hash = 0;
            log->refusal_count--;
        }
    }
}

static void emit(void *ctx, const struct gmc_trace_record *record)
{
    struct gwd_log *log = ctx;
    const char *names[3];
    const uint64_t values[3] = {record->a, record->b, record->c};
    struct gwd_field fields[6];
    char event[64], channel[32];
    size_t count = 0;
    (void)snprintf(event, sizeof event, "core.%s", gmc_trace_event_name(record->event));
    for (char *p = event; *p != '\0'; p++)
        *p = *p >= 'A' && *p <= 'Z' ? (char)(*p + 32) : *p;
    gmc_trace_event_fields(record->event, names);
    if (log->name_of != NULL && log->name_of(log->name_ctx, record->peer) != NULL)
        fields[count++] = GWD_STR("peer", log->name_of(log->name_ctx, record->peer));
    if (record->channel != 0) {
        (void)snprintf(channel, sizeof channel, "%016" PRIx64, record->channel);
        fields[count++] = GWD_STR("channel", channel);
    }
    for (size_t i = 0; i < 3; i++) {
        if (names[i] != NULL)
            fields[count++] = GWD_NUM(names[i], values[i]);
    }
    if (record->text != NULL)
        fields[count++] = GWD_STR("text", record->text);
    if (record->level == GMC_LEVEL_WARN)
        gwd_log_refusal_fields(log, record->time, event, fields, count);
    else
        gwd_log_fields(log, (enum gmc_trace_level)record->level, event, fields, count);
}

void gwd_log_sink(struct gwd_log *log, struct gmc_trace_sink *sink,
                  const char *(*name_of)(void *ctx, uint32_t peer), void *ctx)
{
    log->name_of = name_of;
    log->name_ctx = ctx;
    sink->emit = emit;
    sink->ctx = log;
    sink->level_max = (uint8_t)log->level;
}
