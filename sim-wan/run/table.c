/* SPDX-License-Identifier: BSD-2-Clause */
/* The summary of a run as a short table. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim-wan/run/table.h"

#define ROWS_MAX 20 /* of each kind; the JSON has all */

static double real(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

static const char *text(const json_t *object, const char *name)
{
    const char *value = json_string_value(json_object_get(object, name));
    return value != NULL ? value : "-";
}

/* A number, or a dash where there is none. */
static void print_real(FILE *out, const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    if (json_is_number(value))
        fprintf(out, " %10.3f", json_number_value(value));
    else
        fprintf(out, " %10s", "-");
}

static void print_more(FILE *out, size_t count)
{
    if (count > ROWS_MAX)
        fprintf(out, "  (%zu more, in --json)\n", count - ROWS_MAX);
}

static void print_transfers(FILE *out, const json_t *list)
{
    const json_t *row;
    if (json_array_size(list) > 0)
        fprintf(out, "%-20s %-10s %10s %10s %10s\n", "transfer", "state", "seconds", "limit",
                "ratio");
    for (size_t i = 0; (row = json_array_get(list, i)) != NULL; i++) {
        if (i == ROWS_MAX)
            break;
        fprintf(out, "%-20s %-10s", text(row, "name"), text(row, "state"));
        print_real(out, row, "completion_seconds");
        print_real(out, row, "limit_seconds");
        print_real(out, row, "ratio");
        if (json_object_get(row, "reason") != NULL)
            fprintf(out, "  %s", text(row, "reason"));
        fputc('\n', out);
    }
    print_more(out, json_array_size(list));
}

static void print_domains(FILE *out, const json_t *domains, const json_t *links)
{
    const json_t *row;
    if (json_array_size(domains) > 0)
        fprintf(out, "%-20s %-10s %10s %10s  %s\n", "domain", "state", "seconds", "repairs",
                "parent");
    for (size_t i = 0; (row = json_array_get(domains, i)) != NULL; i++) {
        const json_t *link = json_array_get(links, i);
        if (i == ROWS_MAX)
            break;
        fprintf(out, "%-20s %-10s", text(row, "domain"), text(row, "state"));
        print_real(out, row, "seconds");
        fprintf(out, " %10.0f  %s\n", real(link, "repairs"), text(link, "parent"));
    }
    print_more(out, json_array_size(domains));
}

static void print_channels(FILE *out, const json_t *list)
{
    const json_t *row;
    if (json_array_size(list) > 0)
        fprintf(out, "%-20s %-10s %10s %10s %10s\n", "channel", "state", "sent", "held", "from s");
    for (size_t i = 0; i < ROWS_MAX && (row = json_array_get(list, i)) != NULL; i++) {
        fprintf(out, "%-20s %-10s %10.0f %10.0f", text(row, "name"), text(row, "state"),
                real(row, "sent"), real(row, "held"));
        print_real(out, row, "start_seconds");
        if (json_object_get(row, "reason") != NULL)
            fprintf(out, "  %s", text(row, "reason"));
        fputc('\n', out);
    }
    print_more(out, json_array_size(list));
}

static void print_milliseconds(FILE *out, const json_t *row, const char *name)
{
    const json_t *value = json_object_get(row, name);
    if (json_is_number(value))
        fprintf(out, " %10.3f", json_number_value(value) * 1e3);
    else
        fprintf(out, " %10s", "-");
}

static void print_subscribers(FILE *out, const json_t *list)
{
    const json_t *row;
    if (json_array_size(list) > 0)
        fprintf(out, "%-20s %-20s %9s %9s %10s %10s %10s\n", "subscriber", "of channel",
                "delivered", "lost", "median ms", "99 % ms", "max ms");
    for (size_t i = 0; i < ROWS_MAX && (row = json_array_get(list, i)) != NULL; i++) {
        fprintf(out, "%-20s %-20s %9.0f %9.0f", text(row, "domain"), text(row, "channel"),
                real(row, "delivered"), real(row, "lost"));
        print_milliseconds(out, row, "latency_median_seconds");
        print_milliseconds(out, row, "latency_p99_seconds");
        print_milliseconds(out, row, "latency_max_seconds");
        fputc('\n', out);
    }
    print_more(out, json_array_size(list));
}

static void print_wires(FILE *out, const json_t *wires)
{
    size_t shown = 0, busy = 0;
    const json_t *row;
    fprintf(out, "%-20s %-20s %12s %9s %9s %6s\n", "wire from", "to", "bytes", "lost", "queue full",
            "use");
    for (size_t i = 0; (row = json_array_get(wires, i)) != NULL; i++) {
        if (real(row, "bytes") <= 0 || ++busy > ROWS_MAX)
            continue;
        fprintf(out, "%-20s %-20s %12.0f %9.0f %9.0f %5.1f%%\n", text(row, "from"), text(row, "to"),
                real(row, "bytes"), real(row, "dropped_loss"), real(row, "dropped_queue"),
                real(row, "utilisation") * 100);
        shown++;
    }
    print_more(out, busy > shown ? busy - shown + ROWS_MAX : 0);
}

void sim_table_print(FILE *out, const json_t *summary)
{
    const json_t *row;
    fprintf(out, "%s, seed %.0f: %s", text(summary, "title"), real(summary, "seed"),
            json_is_true(json_object_get(summary, "complete")) ? "complete" : "INCOMPLETE");
    fprintf(out, ", %.3f s simulated, %.0f events, %.1f CPU seconds\n\n",
            real(summary, "simulated_seconds"), real(summary, "events"),
            real(summary, "cpu_seconds"));
    print_transfers(out, json_object_get(summary, "transfers"));
    print_domains(out, json_object_get(summary, "domains"), json_object_get(summary, "tree_links"));
    print_channels(out, json_object_get(summary, "channels"));
    print_subscribers(out, json_object_get(summary, "subscribers"));
    print_wires(out, json_object_get(summary, "wires"));
    for (size_t i = 0;
         (row = json_array_get(json_object_get(summary, "violation_texts"), i)) != NULL; i++)
        fprintf(out, "VIOLATION %s\n", json_string_value(row));
    fprintf(out, "\ntrace %s; again: %s\n", text(summary, "trace_hash"), text(summary, "command"));
}

static void print_quantiles(FILE *out, const json_t *row, const char *name)
{
    const json_t *value = json_object_get(row, name);
    fprintf(out, "  %-20s", name);
    print_real(out, value, "min");
    print_real(out, value, "p25");
    print_real(out, value, "median");
    print_real(out, value, "p75");
    print_real(out, value, "p95");
    print_real(out, value, "max");
    fputc('\n', out);
}

void sim_table_print_group(FILE *out, const json_t *group)
{
    const json_t *set;
    fprintf(out, "%s", text(group, "scenario"));
    for (size_t i = 0; (set = json_array_get(json_object_get(group, "set"), i)) != NULL; i++)
        fprintf(out, " %s", json_string_value(set));
    fprintf(out, ": %.0f runs, %.0f complete, %.0f violations of oracles\n", real(group, "runs"),
            real(group, "complete"), real(group, "violations"));
    fprintf(out, "  %-20s %10s %10s %10s %10s %10s %10s\n", "", "min", "p25", "median", "p75",
            "p95", "max");
    print_quantiles(out, group, "completion_seconds");
    print_quantiles(out, group, "ratio");
}
