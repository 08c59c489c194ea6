/* SPDX-License-Identifier: BSD-2-Clause */
/* The summary of an emulation; see summary.h. */
#include "sim-wan/emulate/summary.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "sim-wan/out_file.h"

#define MEAN_MAX GMC_US(500)
#define P99_MAX GMC_MS(5)
#define P99_PPM 990000

bool emu_kept_time(const struct emu_run *run, uint64_t overflows)
{
    const struct sim_lateness *late = &run->forward.lateness;
    return overflows == 0 && sim_lateness_mean(late) <= MEAN_MAX &&
           sim_lateness_quantile(late, P99_PPM) <= P99_MAX;
}

static double ms(gmc_duration duration)
{
    return (double)duration / 1e6;
}

static json_t *integer(uint64_t value)
{
    return json_integer((json_int_t)value);
}

/* Of the command's time. */
static double utilisation(const struct emu_run *run, const struct sim_lane *lane, uint64_t bytes)
{
    gmc_time end = run->command_end > 0 ? run->command_end : emu_forward_now(&run->forward);
    double seconds = (double)(end - run->command_begin) / 1e9;
    if (lane->config.rate_bps == 0 || seconds <= 0)
        return 0;
    return (double)bytes * 8 / (double)lane->config.rate_bps / seconds;
}

static json_t *wire_json(const struct emu_run *run, uint32_t wire, int way)
{
    const struct sim_lane *lane = sim_net_lane((struct sim_net *)&run->forward.net, wire, way);
    struct sim_lane_counters count = lane->count;
    if (run->before != NULL)
        count = sim_lane_since(&lane->count, &run->before[wire * 2 + (uint32_t)way]);
    uint64_t bytes = sim_lane_carried_bytes(&count);
    uint32_t ends[2];
    sim_net_wire_ends(&run->forward.net, wire, &ends[0], &ends[1]);
    json_t *json = json_object();
    json_object_set_new(json, "from", json_string(run->hosts->list[ends[way]].name));
    json_object_set_new(json, "to", json_string(run->hosts->list[ends[!way]].name));
    json_object_set_new(json, "bytes", integer(bytes));
    json_object_set_new(json, "packets", integer(count.offered_packets));
    json_object_set_new(json, "delivered_bytes", integer(count.delivered_bytes));
    json_object_set_new(json, "delivered_packets", integer(count.delivered_packets));
    for (int drop = 0; drop < SIM_DROPS; drop++) {
        char name[40];
        snprintf(name, sizeof(name), "dropped_%s", sim_drop_name((enum sim_drop)drop));
        json_object_set_new(json, name, integer(count.dropped_packets[drop]));
    }
    json_object_set_new(json, "dropped_queue", integer(sim_lane_queue_drops(&count)));
    json_object_set_new(json, "marked", integer(count.marked_packets));
    json_object_set_new(json, "utilisation", json_real(utilisation(run, lane, bytes)));
    return json;
}

static json_t *lateness_json(const struct emu_run *run, uint64_t overflows)
{
    const struct sim_lateness *late = &run->forward.lateness;
    return json_pack("{s:o, s:f, s:f, s:f, s:o, s:b}", "packets", integer(late->count), "mean_ms",
                     ms(sim_lateness_mean(late)), "p99_ms",
                     ms(sim_lateness_quantile(late, P99_PPM)), "greatest_ms", ms(late->greatest),
                     "overflows", integer(overflows), "kept", emu_kept_time(run, overflows));
}

/* Of the emulator itself, with what the kernel does for it. */
static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static json_t *summary_json(const struct emu_run *run)
{
    json_t *wires = json_array(), *hosts = json_array();
    gmc_time end = run->command_end > 0 ? run->command_end : emu_forward_now(&run->forward);
    for (size_t i = 0; i < run->hosts->count; i++)
        json_array_append_new(hosts, json_string(run->hosts->list[i].name));
    for (uint32_t i = 0; i < run->topo->link_count; i++)
        for (int way = 0; way < 2; way++)
            json_array_append_new(wires, wire_json(run, i, way));
    return json_pack("{s:o, s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:o}", "seed",
                     integer(run->config->seed), "seconds",
                     (double)(end - run->command_begin) / 1e9, "cpu_seconds", cpu_seconds(),
                     "exit_status",
                     run->command_status >= 0 ? json_integer(run->command_status) : json_null(),
                     "real_time", lateness_json(run, emu_run_overflows(run)), "foreign_packets",
                     integer(run->forward.foreign_packets), "undelivered_packets",
                     integer(run->forward.undelivered_packets), "hosts", hosts, "wires", wires);
}

static int fail(const char *path, char *error)
{
    snprintf(error, EMU_ERROR_MAX, "cannot write %s: %s", path, strerror(errno));
    return -1;
}

int emu_summary_check(const char *path, char *error)
{
    return sim_out_check(path) ? 0 : fail(path, error);
}

int emu_summary_write(struct emu_run *run, const char *path, char *error)
{
    json_t *json = summary_json(run);
    struct sim_out_file out;
    bool ok = sim_out_open(&out, path);
    if (ok) {
        json_dumpf(json, out.file, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
        fputc('\n', out.file);
        ok = sim_out_close(&out, true);
    }
    int status = ok ? 0 : fail(path, error);
    json_decref(json);
    return status;
}

void emu_summary_warn(const struct emu_run *run)
{
    const struct sim_lateness *late = &run->forward.lateness;
    uint64_t overflows = emu_run_overflows(run);
    if (emu_kept_time(run, overflows))
        return;
    fprintf(stderr,
            "sim-wan: real time was not kept: packets were late by %.2f ms in the mean, by more "
            "than %.2f ms in 1 of 100, by %.2f ms at most",
            ms(sim_lateness_mean(late)), ms(sim_lateness_quantile(late, P99_PPM)),
            ms(late->greatest));
    if (overflows > 0)
        fprintf(stderr, "; %" PRIu64 " were lost before they came to a wire", overflows);
    fprintf(stderr, "\n");
}
