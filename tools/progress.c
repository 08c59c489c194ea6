/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the look of a transfer on a terminal. */
#include "tools/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/text.h"

#define NAME_MAX_COLUMNS 28
#define NAME_MIN_COLUMNS 10
#define BAR_MAX 20
#define BAR_MIN 5
/* What stands beside name and bar of a member that receives. */
#define FIGURE_COLUMNS 58
#define LINE_MAX_BYTES 1024
/* Rates are smoothed over about this long: short enough to follow, long enough to read. */
#define RATE_SECONDS 2.0
#define REPORT_SECONDS 1.0

struct member_rate {
    char *domain;
    uint64_t bytes;
    double at;
    double rate; /* bytes per second; < 0 not known */
    unsigned samples;
};

struct progress {
    struct member_rate *rates;
    size_t count;
};

struct progress *progress_new(void)
{
    return calloc(1, sizeof(struct progress));
}

void progress_free(struct progress *progress)
{
    if (progress == NULL)
        return;
    for (size_t i = 0; i < progress->count; i++)
        free(progress->rates[i].domain);
    free(progress->rates);
    free(progress);
}

static struct member_rate *find_rate(const struct progress *progress, const char *domain,
                                     size_t guess)
{
    /* Members keep their order, so the guess is nearly always right. */
    if (guess < progress->count && strcmp(progress->rates[guess].domain, domain) == 0)
        return &progress->rates[guess];
    for (size_t i = 0; i < progress->count; i++) {
        if (strcmp(progress->rates[i].domain, domain) == 0)
            return &progress->rates[i];
    }
    return NULL;
}

static void add_rate(struct progress *progress, const struct gmc_ctl_member *member, double at)
{
    struct member_rate *grown =
        realloc(progress->rates, (progress->count + 1) * sizeof *progress->rates);
    char *domain = strdup(member->domain);

    if (grown != NULL)
        progress->rates = grown;
    if (grown == NULL || domain == NULL) {
        free(domain);
        return; /* only the rate is not shown */
    }
    grown[progress->count++] = (struct member_rate){domain, member->bytes, at, -1, 0};
}

/* begun: when the first data of the transfer left. What a member first reports came since then, or
 * since the member is known. */
static void update_rate(struct member_rate *rate, const struct gmc_ctl_member *member, double at,
                        double begun)
{
    double interval = at - (rate->bytes == 0 ? fmax(rate->at, begun) : rate->at);
    double now, weight;

    if (interval <= 0 || member->bytes == 0)
        return;
    /* Members report in steps, more rarely than they are asked about. */
    if (member->bytes == rate->bytes && interval < REPORT_SECONDS)
        return;
    now = member->bytes > rate->bytes ? (double)(member->bytes - rate->bytes) / interval : 0;
    /* The first samples count alike, later ones the less the older they are. */
    weight = fmax(1 - exp(-interval / RATE_SECONDS), 1.0 / ++rate->samples);
    rate->rate = rate->rate < 0 ? now : rate->rate + weight * (now - rate->rate);
    rate->bytes = member->bytes;
    rate->at = at;
}

void progress_update(struct progress *progress, const struct gmc_ctl_transfer *transfer,
                     double seconds)
{
    double begun = seconds - ((double)transfer->elapsed_ns - (double)transfer->setup_ns) / 1e9;

    for (size_t i = 0; i < transfer->member_count; i++) {
        const struct gmc_ctl_member *member = &transfer->members[i];
        struct member_rate *rate = find_rate(progress, member->domain, i);

        if (rate != NULL)
            update_rate(rate, member, seconds, begun);
        else
            add_rate(progress, member, seconds);
    }
}

/* ---- drawing ---- */

struct drawing {
    const struct progress_screen *screen;
    FILE *out;
    size_t lines;
    size_t name_columns;
    size_t bar_columns;
};

static const char *colour_of(enum gmc_ctl_member_state state)
{
    switch (state) {
    case GMC_CTL_MEMBER_VERIFIED:
        return "\033[32m";
    case GMC_CTL_MEMBER_FAILED:
        return "\033[31m";
    case GMC_CTL_MEMBER_SILENT:
    case GMC_CTL_MEMBER_LEFT:
        return "\033[33m";
    default:
        return "";
    }
}

static void put_line(struct drawing *drawing, const char *colour, char *line)
{
    bool coloured = drawing->screen->colour && colour[0] != '\0';

    text_cut(line, drawing->screen->columns);
    fprintf(drawing->out, "%s%s%s\n", coloured ? colour : "", line, coloured ? "\033[0m" : "");
    drawing->lines++;
}

static void bar(uint64_t part, uint64_t whole, size_t columns, char out[BAR_MAX + 3])
{
    size_t full = whole > 0 ? (size_t)((double)part / (double)whole * (double)columns) : 0;

    if (full > columns)
        full = columns;
    out[0] = '[';
    memset(out + 1, '#', full);
    memset(out + 1 + full, '.', columns - full);
    out[columns + 1] = ']';
    out[columns + 2] = '\0';
}

static int percent(uint64_t part, uint64_t whole)
{
    /* 100 only when nothing is missing. */
    return whole == 0 ? 0 : part >= whole ? 100 : (int)((double)part / (double)whole * 100);
}

static void put_head(struct drawing *drawing, const struct gmc_ctl_transfer *t)
{
    char line[LINE_MAX_BYTES], size[TEXT_FIGURE_MAX], clock[TEXT_FIGURE_MAX], reason[400];
    const char *state = gmc_client_transfer_state_name(t->state);

    text_safe_into(t->reason, reason, sizeof reason);
    if (t->state == GMC_CTL_TRANSFER_SCANNING || t->state == GMC_CTL_TRANSFER_FAILED)
        snprintf(line, sizeof line, "%.16s  %s%s%s", t->channel, state, reason[0] ? ": " : "",
                 reason);
    else
        snprintf(line, sizeof line, "%.16s  %s  %s in %llu file%s  verified at %u of %u  %s",
                 t->channel, state, text_size(t->total_bytes, size),
                 (unsigned long long)t->file_count, t->file_count == 1 ? "" : "s",
                 t->verified_members, t->total_members,
                 text_clock((double)t->elapsed_ns / 1e9, clock));
    put_line(drawing, "", line);
}

/* How it goes with a member that receives: bar, share, bytes, rate, time left, repairs. */
static void describe_receiving(const struct drawing *drawing, const struct gmc_ctl_transfer *t,
                               const struct gmc_ctl_member *m, const struct member_rate *rate,
                               char *out, size_t size)
{
    char bars[BAR_MAX + 3], bytes[TEXT_FIGURE_MAX], speed[TEXT_FIGURE_MAX] = "-",
                                                    left[TEXT_FIGURE_MAX];
    double eta = -1;

    bar(m->bytes, t->total_bytes, drawing->bar_columns, bars);
    if (rate != NULL && rate->rate >= 0)
        text_rate(rate->rate, speed);
    if (rate != NULL && rate->rate > 0 && t->total_bytes >= m->bytes)
        eta = (double)(t->total_bytes - m->bytes) / rate->rate;
    snprintf(out, size, "%s %3d%%  %8s  %10s  ETA %s  repairs %llu%s", bars,
             percent(m->bytes, t->total_bytes), text_size(m->bytes, bytes), speed,
             text_clock(eta, left), (unsigned long long)m->repairs,
             m->state == GMC_CTL_MEMBER_SILENT ? "  silent" : "");
}

static void describe_end(const struct gmc_ctl_member *m, char *out, size_t size)
{
    char bytes[TEXT_FIGURE_MAX], speed[TEXT_FIGURE_MAX], reason[400];
    double seconds = (double)m->elapsed_ns / 1e9;

    if (m->state == GMC_CTL_MEMBER_VERIFIED) {
        snprintf(out, size, "verified  %s in %.1f s  %s  repairs %llu", text_size(m->bytes, bytes),
                 seconds, text_rate(seconds > 0 ? (double)m->bytes / seconds : 0, speed),
                 (unsigned long long)m->repairs);
        return;
    }
    text_safe_into(m->reason, reason, sizeof reason);
    snprintf(out, size, "%s%s%s", gmc_client_member_state_name(m->state), reason[0] ? ": " : "",
             reason);
}

static void put_member(struct drawing *drawing, const struct gmc_ctl_transfer *t,
                       const struct gmc_ctl_member *m, const struct member_rate *rate)
{
    char line[LINE_MAX_BYTES], name[GMC_CTL_CHANNEL_TEXT_MAX], text[600];
    size_t used;

    text_safe_into(m->domain, name, sizeof name);
    text_cut(name, drawing->name_columns);
    if (m->state == GMC_CTL_MEMBER_RECEIVING || (m->state == GMC_CTL_MEMBER_SILENT && m->bytes > 0))
        describe_receiving(drawing, t, m, rate, text, sizeof text);
    else
        describe_end(m, text, sizeof text);
    used = text_width(name);
    snprintf(line, sizeof line, "  %s%*s  %s", name, (int)(drawing->name_columns - used), "", text);
    put_line(drawing, colour_of(m->state), line);
}

static size_t name_columns(const struct gmc_ctl_transfer *t, size_t columns)
{
    size_t widest = NAME_MIN_COLUMNS;
    size_t limit = columns > 100 ? NAME_MAX_COLUMNS : columns / 4 + NAME_MIN_COLUMNS / 2;

    if (limit < NAME_MIN_COLUMNS)
        limit = NAME_MIN_COLUMNS;
    for (size_t i = 0; i < t->member_count; i++) {
        size_t width = text_width(t->members[i].domain);

        if (width > widest)
            widest = width;
    }
    return widest < limit ? widest : limit;
}

static size_t bar_columns(size_t columns, size_t used)
{
    used += FIGURE_COLUMNS;
    return columns < used + BAR_MIN ? BAR_MIN : columns > used + BAR_MAX ? BAR_MAX : columns - used;
}

static void put_rest(struct drawing *drawing, const struct gmc_ctl_transfer *t, size_t shown)
{
    char line[LINE_MAX_BYTES];

    snprintf(line, sizeof line, "  ... and %zu more domains (%u verified, %u failed in all)",
             t->member_count - shown, t->verified_members, t->failed_members);
    put_line(drawing, "", line);
}

size_t progress_draw(const struct progress *progress, const struct gmc_ctl_transfer *transfer,
                     const struct progress_screen *screen, FILE *out)
{
    struct drawing drawing = {screen, out, 0, name_columns(transfer, screen->columns), 0};
    /* One line for the head, and one to say how many have no room. */
    size_t room = screen->lines > 2 ? screen->lines - 2 : 1;
    size_t shown = transfer->member_count <= room + 1 ? transfer->member_count : room;

    drawing.bar_columns = bar_columns(screen->columns, drawing.name_columns);
    put_head(&drawing, transfer);
    for (size_t i = 0; i < shown; i++)
        put_member(&drawing, transfer, &transfer->members[i],
                   find_rate(progress, transfer->members[i].domain, i));
    if (shown < transfer->member_count)
        put_rest(&drawing, transfer, shown);
    return drawing.lines;
}

/* ---- the table ---- */

struct table {
    size_t name_columns, parent_columns;
    FILE *out;
};

static void table_row(const struct table *table, const struct gmc_ctl_member *m)
{
    char name[GMC_CTL_CHANNEL_TEXT_MAX], parent[GMC_CTL_CHANNEL_TEXT_MAX], bytes[TEXT_FIGURE_MAX],
        speed[TEXT_FIGURE_MAX], digest[2 * GMC_CTL_DIGEST_BYTES + 1] = "-", reason[1024];
    double seconds = (double)m->elapsed_ns / 1e9;

    text_safe_into(m->domain, name, sizeof name);
    text_safe_into(m->parent[0] != '\0' ? m->parent : "-", parent, sizeof parent);
    text_safe_into(m->reason, reason, sizeof reason);
    if (m->has_digest)
        text_hex(m->digest, GMC_CTL_DIGEST_BYTES / 4, digest);
    fprintf(table->out, "%-*s  %-9s  %8s  %8.2f  %10s  %7llu  %-*s  %s%s%s\n",
            (int)table->name_columns, name, gmc_client_member_state_name(m->state),
            text_size(m->bytes, bytes), seconds,
            text_rate(seconds > 0 ? (double)m->bytes / seconds : 0, speed),
            (unsigned long long)m->repairs, (int)table->parent_columns, parent, digest,
            reason[0] ? "  " : "", reason);
}

static void widen(size_t *columns, const char *text)
{
    size_t width = text_width(text);

    if (width > *columns)
        *columns = width;
}

void progress_table(const struct gmc_ctl_transfer *transfer, FILE *out)
{
    struct table table = {NAME_MIN_COLUMNS, NAME_MIN_COLUMNS, out};

    for (size_t i = 0; i < transfer->member_count; i++) {
        widen(&table.name_columns, transfer->members[i].domain);
        widen(&table.parent_columns, transfer->members[i].parent);
    }
    fprintf(out, "%-*s  %-9s  %8s  %8s  %10s  %7s  %-*s  %s\n", (int)table.name_columns, "DOMAIN",
            "STATE", "BYTES", "SECONDS", "RATE", "REPAIRS", (int)table.parent_columns, "FED BY",
            "DIGEST");
    for (size_t i = 0; i < transfer->member_count; i++)
        table_row(&table, &transfer->members[i]);
}
