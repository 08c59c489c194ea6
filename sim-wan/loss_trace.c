/* SPDX-License-Identifier: BSD-2-Clause */
/* Recorded losses; see loss_trace.h. */
#include "sim-wan/loss_trace.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim-wan/mem.h"

#define WORD_MAX 40u
#define DECIMALS 9u
#define FORMS "a loss trace is of 0 and 1, or begins with 'times' and a period"

struct sim_loss_trace {
    gmc_duration period; /* 0: packet by packet */
    uint8_t *packets;
    gmc_time *times;
    size_t count, capacity;
    size_t lost; /* of packets */
};

/* ---- reading ---- */
struct reader {
    FILE *file;
    const char *path;
    char *error;
    unsigned line;
    struct sim_loss_trace *trace;
};

static gmc_status refuse(const struct reader *reader, const char *wrong, const char *word,
                         const char *right)
{
    char shown[WORD_MAX];
    size_t i = 0;
    for (; word[i] != '\0' && i + 1 < sizeof(shown); i++)
        shown[i] = isprint((unsigned char)word[i]) ? word[i] : '?';
    shown[i] = '\0';
    snprintf(reader->error, SIM_LOSS_TRACE_ERROR_MAX, "%.200s:%u: %s%s%s%s; %s", reader->path,
             reader->line, wrong, i > 0 ? " '" : "", shown, i > 0 ? "'" : "", right);
    return GMC_ERR_INVALID;
}

static int next_char(struct reader *reader)
{
    int c = getc(reader->file);
    if (c == '#')
        while (c != '\n' && c != EOF)
            c = getc(reader->file);
    return c;
}

/* The next word, cut to WORD_MAX - 1 characters; empty at the end. The line break behind it is
 * left for later, so that the word's line is known. */
static void next_word(struct reader *reader, char word[WORD_MAX])
{
    size_t len = 0;
    int c = next_char(reader);
    for (; c != EOF && isspace(c); c = next_char(reader))
        reader->line += c == '\n';
    for (; c != EOF && !isspace(c); c = next_char(reader))
        if (len + 1 < WORD_MAX)
            word[len++] = (char)c;
    if (c != EOF)
        ungetc(c, reader->file);
    word[len] = '\0';
}

/* Seconds with at most nine decimals, exactly; whether it was such a number below the limit. */
static bool parse_seconds(const char *word, gmc_time limit, gmc_time *out)
{
    static const char digits[] = "0123456789";
    size_t whole = strspn(word, digits);
    const char *rest = word + whole;
    size_t part = *rest == '.' ? strspn(rest + 1, digits) : 0;
    if (whole == 0 || whole > 9 || part > DECIMALS || (*rest == '.' && part == 0))
        return false;
    if (*rest == '.' ? rest[1 + part] != '\0' : *rest != '\0')
        return false;
    gmc_time nanoseconds = 0, scale = GMC_S(1);
    for (size_t i = 0; i < part; i++) {
        scale /= 10;
        nanoseconds += (gmc_time)(rest[1 + i] - '0') * scale;
    }
    *out = strtoull(word, NULL, 10) * GMC_S(1) + nanoseconds;
    return *out <= limit;
}

static gmc_status read_times(struct reader *reader)
{
    struct sim_loss_trace *trace = reader->trace;
    char word[WORD_MAX];
    next_word(reader, word);
    if (!parse_seconds(word, SIM_LOSS_TRACE_PERIOD_MAX, &trace->period) || trace->period == 0)
        return refuse(reader, "bad period", word, "it is in seconds, above 0 and up to 1000000");
    for (next_word(reader, word); word[0] != '\0'; next_word(reader, word)) {
        gmc_time time = 0;
        if (!parse_seconds(word, trace->period - 1, &time))
            return refuse(reader, "bad time", word,
                          "it is in seconds, with up to nine decimals, below the period");
        if (trace->count > 0 && time <= trace->times[trace->count - 1])
            return refuse(reader, "time", word, "each is later than the one before");
        if (trace->count == SIM_LOSS_TRACE_MAX)
            return refuse(reader, "too many times", "", "there may be ten million");
        trace->times =
            sim_reserve(trace->times, trace->count, &trace->capacity, sizeof(*trace->times));
        trace->times[trace->count++] = time;
    }
    return GMC_OK;
}

static gmc_status add_packet(struct reader *reader, int c)
{
    struct sim_loss_trace *trace = reader->trace;
    char word[2] = {(char)c, '\0'};
    if (c != '0' && c != '1')
        return refuse(reader, "unexpected", word, FORMS);
    if (trace->count == SIM_LOSS_TRACE_MAX)
        return refuse(reader, "too many packets", "", "there may be ten million");
    trace->packets =
        sim_reserve(trace->packets, trace->count, &trace->capacity, sizeof(*trace->packets));
    trace->packets[trace->count++] = c == '1';
    trace->lost += c == '1';
    return GMC_OK;
}

static gmc_status read_packets(struct reader *reader)
{
    gmc_status status = GMC_OK;
    int c;
    while (status == GMC_OK && (c = next_char(reader)) != EOF) {
        if (!isspace(c))
            status = add_packet(reader, c);
        reader->line += c == '\n';
    }
    return status;
}

/* The first character that says something; it is read again. */
static int peek(struct reader *reader)
{
    int c = next_char(reader);
    for (; c != EOF && isspace(c); c = next_char(reader))
        reader->line += c == '\n';
    if (c != EOF)
        ungetc(c, reader->file);
    return c;
}

static gmc_status read_form(struct reader *reader)
{
    char word[WORD_MAX];
    if (!isalpha(peek(reader)))
        return read_packets(reader);
    next_word(reader, word);
    if (strcmp(word, "times") != 0)
        return refuse(reader, "unexpected", word, FORMS);
    return read_times(reader);
}

static gmc_status read_all(struct reader *reader)
{
    gmc_status status = read_form(reader);
    if (status == GMC_OK && ferror(reader->file)) {
        snprintf(reader->error, SIM_LOSS_TRACE_ERROR_MAX, "%.200s: %s", reader->path,
                 strerror(errno));
        return GMC_ERR_IO;
    }
    if (status == GMC_OK && reader->trace->count == 0)
        return refuse(reader, "the trace is empty", "", "it names at least one packet or time");
    return status;
}

gmc_status sim_loss_trace_read(const char *path, struct sim_loss_trace **trace, char *error)
{
    struct reader reader = {.path = path, .error = error, .line = 1};
    reader.file = fopen(path, "re");
    if (reader.file == NULL) {
        snprintf(error, SIM_LOSS_TRACE_ERROR_MAX, "%.200s: %s", path, strerror(errno));
        return GMC_ERR_IO;
    }
    reader.trace = sim_calloc(1, sizeof(*reader.trace));
    gmc_status status = read_all(&reader);
    fclose(reader.file);
    if (status != GMC_OK) {
        sim_loss_trace_free(reader.trace);
        return status;
    }
    *trace = reader.trace;
    return GMC_OK;
}

void sim_loss_trace_free(struct sim_loss_trace *trace)
{
    if (trace == NULL)
        return;
    free(trace->packets);
    free(trace->times);
    free(trace);
}

/* ---- use ---- */
size_t sim_loss_trace_count(const struct sim_loss_trace *trace)
{
    return trace->count;
}

uint32_t sim_loss_trace_ppm(const struct sim_loss_trace *trace)
{
    return (uint32_t)(trace->lost * UINT64_C(1000000) / trace->count);
}

/* How many times have come in this period up to and at `time`. */
static size_t times_until(const struct sim_loss_trace *trace, gmc_time time)
{
    size_t low = 0, high = trace->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (trace->times[middle] <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool sim_loss_trace_takes(const struct sim_loss_trace *trace, uint64_t *at, gmc_time departure)
{
    if (trace->period == 0)
        return trace->packets[(*at)++ % trace->count] != 0;
    uint64_t before = *at;
    *at = departure / trace->period * trace->count + times_until(trace, departure % trace->period);
    return *at > before;
}
