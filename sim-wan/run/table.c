/* SPDX-License-Identifier: BSD-2-Clause */
/* The summary of a run as a short table. */
#include <inttypes.h>
#include <stdbool.h>
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

/* Wide enough for what stands in a column. */
static int width_of(const json_t *list, const char *name)
{
    size_t width = 20;
    const json_t *row;
    for (size_t i = 0; i < ROWS_MAX && (row = json_array_get(list, i)) != NULL; i++)
        width = strlen(text(row, name)) > width ? strlen(text(row, name)) : width;
    return (int)width;
}

static void print_transfers(FILE *out, const json_t *list)
{
    const json_t *row;
    int width = width_of(list, "name");
    if (json_array_size(list) > 0)
        fprintf(out, "%-*s %-10s %10s %10s %10s\n", width, "transfer", "state", "seconds", "limit",
                "ratio");
    for (size_t i = 0; (row = json_array_get(list, i)) != NULL; i++) {
        if (i == ROWS_MAX)
            break;
        fprintf(out, "%-*s %-10s", width, text(row, "name"), text(row, "state"));
        print_real(out, row, "completion_seconds");
        print_real(out, row, "limit_seconds");
        print_real(out, row, "ratio");
        if (json_object_get(row, "reason") != NULL)
            fprintf(out, "  %s", text(row, "reason"));
        fputc('\n', out);
    }
    print_more(out, json_array_size(list));
}

/* With the transfer's name, where there are several. */
static void print_domains(FILE *out, const json_t *domains, const json_t *links, bool several)
{
    const json_t *row;
    int width = width_of(domains, "domain"), of = several ? width_of(domains, "transfer") : 0;
    if (json_array_size(domains) > 0)
        fprintf(out, "%-*s %-*s%s%-10s %10s %10s  %s\n", width, "domain", of,
                several ? "of transfer" : "", several ? " " : "", "state", "seconds", "repairs",
                "parent");
    for (size_t i = 0; i < ROWS_MAX && (row = json_array_get(domains, i)) != NULL; i++) {
        const json_t *link = json_array_get(links, i);
        fprintf(out, "%-*s %-*s%s%-10s", width, text(row, "domain"), of,
                several ? text(row, "transfer") : "", several ? " " : "", text(row, "state"));
        print_real(out, row, "seconds");
        fprintf(out, " %10.0f  %s", real(link, "repairs"), text(link, "parent"));
        if (json_object_get(row, "reason") != NULL)
            fprintf(out, "  %s", text(row, "reason"));
        fputc('\n', out);
    }
    print_more(out, json_array_size(domains));
}

static void print_channels(FILE *out, const json_t *list)
{
    const json_t *row;
    int width = width_of(list, "name");
    if (json_array_size(list) > 0)
        fprintf(out, "%-*s %-10s %10s %10s %10s\n", width, "channel", "state", "sent", "held",
                "from s");
    for (size_t i = 0; i < ROWS_MAX && (row = json_array_get(list, i)) != NULL; i++) {
        fprintf(out, "%-*s %-10s %10.0f %10.0f", width, text(row, "name"), text(row, "state"),
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
    int width = width_of(list, "domain"), of = width_of(list, "channel");
    if (json_array_size(list) > 0)
        fprintf(out, "%-*s %-*s %9s %9s %10s %10s %10s\n", width, "subscriber", of, "of channel",
                "delivered", "lost", "median ms", "99 % ms", "max ms");
    for (size_t i = 0; i < ROWS_MAX && (row = json_array_get(list, i)) != NULL; i++) {
        fprintf(out, "%-*s %-*s %9.0f %9.0f", width, text(row, "domain"), of, text(row, "channel"),
                real(row, "delivered"), real(row, "lost"));
        print_milliseconds(out, row, "latency_median_seconds");
        print_milliseconds(out, row, "latency_p99_seconds");
        print_milliseconds(out, row, "latency_max_seconds");
        fputc('\n', out);
    }
    print_more(out, json_array_size(list));
}

static void print_traffic(FILE *out, const json_t *list)
{
    const json_t *row;
    int width = width_of(list, "name"), from = width_of(list, "from"), to = width_of(list, "to");
    if (json_array_size(list) > 0)
        fprintf(out, "%-*s %-*s %-*s %-8s %10s %10s %10s\n", width, "traffic", from, "from", to,
                "to", "kind", "sent", "received", "Mbit/s");
    for (size_t i = 0; i < ROWS_MAX && (row = json_array_get(list, i)) != NULL; i++)
        fprintf(out, "%-*s %-*s %-*s %-8s %10.0f %10.0f %10.3f\n", width, text(row, "name"), from,
                text(row, "from"), to, text(row, "to"), text(row, "kind"),
                real(row, "sent_packets"), real(row, "received_packets"),
                real(row, "received_bps") / 1e6);
    print_more(out, json_array_size(list));
}

static void print_wires(FILE *out, const json_t *wires)
{
    size_t shown = 0, busy = 0;
    const json_t *row;
    int from = width_of(wires, "from"), to = width_of(wires, "to");
    fprintf(out, "%-*s %-*s %14s %9s %9s %9s %6s\n", from, "wire from", to, "to", "bytes", "lost",
            "queue", "other", "use");
    for (size_t i = 0; (row = json_array_get(wires, i)) != NULL; i++) {
        if (real(row, "packets") <= 0 || ++busy > ROWS_MAX)
            continue;
        fprintf(out, "%-*s %-*s %14.0f %9.0f %9.0f %9.0f %5.1f%%\n", from, text(row, "from"), to,
                text(row, "to"), real(row, "bytes"), real(row, "dropped_loss"),
                real(row, "dropped_queue"), real(row, "dropped_down") + real(row, "dropped_mtu"),
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
    print_domains(out, json_object_get(summary, "domains"), json_object_get(summary, "tree_links"),
                  json_array_size(json_object_get(summary, "transfers")) > 1);
    print_channels(out, json_object_get(summary, "channels"));
    print_subscribers(out, json_object_get(summary, "subscribers"));
    print_traffic(out, json_object_get(summary, "traffic"));
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
