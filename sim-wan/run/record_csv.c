/* SPDX-License-Identifier: BSD-2-Clause */
/* The recorder of time series: five tables in a folder, a row for each thing and each sample.
 *
 *   wires.csv    what each direction of each wire did since the sample before, and its queue now
 *   domains.csv  what each target of each transfer has; repairs and parent as the source knows them
 *   links.csv    what congestion control sees on each link that sent since the sample before
 *   messages.csv what was published and heard so far; latencies of what came since the sample
 * before
 *   traffic.csv  what each source of background traffic sent and what arrived since the sample
 * before
 */
#include <inttypes.h>
#include <stdlib.h>

#include "sim-wan/mem.h"
#include "sim-wan/run/record_file.h"
#include "sim-wan/run/recorders.h"
#include "sim-wan/run/sample.h"

/* What a link had sent at the sample before. */
struct link_before {
    uint64_t packets_sent, packets_lost;
};

struct host_before {
    struct link_before *links; /* by the gateway's peer number */
    size_t count;
};

struct csv {
    const struct sim_run *run;
    struct sim_out_file wires, domains, links, messages, traffic;
    gmc_time last;                  /* sample */
    struct sim_wire_before *before; /* wire * 2 + direction */
    struct host_before *hosts;
    struct sim_lateness **latencies;    /* by channel and subscriber */
    struct sim_traffic_counters *flows; /* at the sample before */
};

static void *open_csv(const struct sim_run *run, const char *target, char *error)
{
    struct csv *csv = sim_calloc(1, sizeof(*csv));
    size_t lanes = run->world->net.wire_count * 2;
    csv->run = run;
    csv->before = sim_calloc(lanes, sizeof(*csv->before));
    csv->hosts = sim_calloc(run->world->host_count, sizeof(*csv->hosts));
    for (uint32_t i = 0; i < lanes; i++)
        csv->before[i] = sim_sample_now(run, i / 2, (int)(i % 2));
    csv->last = run->zero;
    csv->flows = sim_calloc(run->plan->traffic_count, sizeof(*csv->flows));
    csv->latencies = sim_calloc(run->plan->channel_count, sizeof(struct sim_lateness *));
    for (size_t i = 0; i < run->plan->channel_count; i++)
        csv->latencies[i] =
            sim_calloc(run->plan->channels[i].target_count, sizeof(*csv->latencies[i]));
    if (sim_record_make_folder(target, error) &&
        sim_record_create(&csv->wires, target, "wires.csv", error) &&
        sim_record_create(&csv->domains, target, "domains.csv", error) &&
        sim_record_create(&csv->links, target, "links.csv", error) &&
        sim_record_create(&csv->messages, target, "messages.csv", error) &&
        sim_record_create(&csv->traffic, target, "traffic.csv", error)) {
        fputs("seconds,from,to,rate_bps,utilisation,queue_bytes,dropped_queue,dropped_loss,"
              "dropped_other,marked\n",
              csv->wires.file);
        fputs("seconds,transfer,domain,bytes,repairs,parent\n", csv->domains.file);
        fputs("seconds,from,to,cc_rate_bps,rtt_seconds,packets_sent,packets_lost\n",
              csv->links.file);
        fputs("seconds,channel,domain,published,delivered,latency_median_seconds,"
              "latency_p99_seconds,latency_max_seconds\n",
              csv->messages.file);
        fputs("seconds,traffic,from,to,sent_bps,received_bps\n", csv->traffic.file);
        return csv;
    }
    sim_record_csv.close(csv, false, (char[SIM_RECORD_ERROR_MAX]){0});
    return NULL;
}

static void write_wires(struct csv *csv, double seconds, gmc_duration interval)
{
    const struct sim_run *run = csv->run;
    const struct sim_topo *topo = &run->plan->topo;
    for (uint32_t i = 0; i < run->world->net.wire_count * 2; i++) {
        const struct sim_topo_link *link = &topo->links[i / 2];
        struct sim_wire_sample s =
            sim_sample_wire(run, i / 2, (int)(i % 2), interval, &csv->before[i]);
        fprintf(csv->wires.file,
                "%.6f,%s,%s,%.0f,%.4f,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
                "\n",
                seconds, topo->nodes[i % 2 == 0 ? link->a : link->b].name,
                topo->nodes[i % 2 == 0 ? link->b : link->a].name, s.rate_bps, s.utilisation,
                s.queue_bytes, s.dropped_queue, s.dropped_loss, s.dropped_other, s.marked);
    }
}

static void write_domains(struct csv *csv, double seconds)
{
    const struct sim_run *run = csv->run;
    struct gmc_member_info info;
    for (size_t i = 0; i < run->plan->transfer_count; i++)
        for (size_t n = 0; sim_sample_member(run, i, n, &info); n++) {
            fprintf(csv->domains.file, "%.6f,", seconds);
            sim_record_put_field(csv->domains.file, run->plan->transfers[i].name);
            fprintf(csv->domains.file, ",%s,%" PRIu64 ",%" PRIu64 ",%s\n", info.domain,
                    sim_sample_bytes(run, i, info.domain, info.bytes), info.repairs,
                    info.parent != NULL ? info.parent : "");
        }
}

static struct link_before *link_before(struct host_before *host, size_t peer)
{
    if (peer >= host->count) {
        host->links = sim_grow(host->links, peer + 1, sizeof(*host->links));
        while (host->count <= peer)
            host->links[host->count++] = (struct link_before){0};
    }
    return &host->links[peer];
}

static void write_links(struct csv *csv, double seconds)
{
    const struct sim_world *world = csv->run->world;
    for (size_t i = 0; i < world->host_count; i++) {
        struct sim_host *host = world->hosts[i];
        size_t peers = host->gateway != NULL ? gmc_gateway_peer_count(host->gateway) : 0;
        struct gmc_peer_info info;
        for (gmc_peer peer = 0; peer < peers; peer++) {
            if (!gmc_gateway_peer_info(host->gateway, sim_host_now(host), peer, &info))
                continue;
            struct link_before *before = link_before(&csv->hosts[i], peer);
            /* A gateway that was started again counts from 0. */
            bool is_new = info.packets_sent < before->packets_sent;
            uint64_t sent = info.packets_sent - (is_new ? 0 : before->packets_sent);
            uint64_t lost = info.packets_lost - (is_new ? 0 : before->packets_lost);
            *before = (struct link_before){info.packets_sent, info.packets_lost};
            if (sent > 0)
                fprintf(csv->links.file, "%.6f,%s,%s,%" PRIu64 ",%.6f,%" PRIu64 ",%" PRIu64 "\n",
                        seconds, host->name, info.domain, info.rate_bps, (double)info.rtt_ns / 1e9,
                        sent, lost);
        }
    }
}

static void on_message(void *state, const struct sim_run_channel *channel, size_t subscriber,
                       gmc_duration latency)
{
    struct csv *csv = state;
    sim_lateness_add(&csv->latencies[channel - csv->run->channels][subscriber], latency);
}

static void write_messages(struct csv *csv, double seconds)
{
    const struct sim_plan *plan = csv->run->plan;
    for (size_t i = 0; i < plan->channel_count; i++)
        for (size_t j = 0; j < plan->channels[i].target_count; j++) {
            const struct sim_run_channel *channel = &csv->run->channels[i];
            struct sim_lateness *late = &csv->latencies[i][j];
            fprintf(csv->messages.file, "%.6f,", seconds);
            sim_record_put_field(csv->messages.file, channel->plan->name);
            fprintf(csv->messages.file, ",%s,%" PRIu64 ",%" PRIu64,
                    plan->topo.nodes[channel->plan->targets[j]].name, channel->published,
                    sim_run_channel_delivered(channel, j));
            if (late->count > 0)
                fprintf(csv->messages.file, ",%.6f,%.6f,%.6f\n",
                        (double)sim_lateness_quantile(late, 500000) / 1e9,
                        (double)sim_lateness_quantile(late, 990000) / 1e9,
                        (double)late->greatest / 1e9);
            else
                fputs(",,,\n", csv->messages.file);
            *late = (struct sim_lateness){0};
        }
}

static void write_traffic(struct csv *csv, double seconds, gmc_duration interval)
{
    const struct sim_plan *plan = csv->run->plan;
    for (size_t i = 0; i < plan->traffic_count; i++) {
        const struct sim_traffic_counters *now = sim_traffic_counters(&csv->run->world->traffic, i);
        const struct sim_traffic_config *config = &plan->traffic[i].config;
        double scale = interval > 0 ? 8e9 / (double)interval : 0;
        fprintf(csv->traffic.file, "%.6f,", seconds);
        sim_record_put_field(csv->traffic.file, plan->traffic[i].name);
        fprintf(csv->traffic.file, ",%s,%s,%.0f,%.0f\n", plan->topo.nodes[config->from].name,
                plan->topo.nodes[config->to].name,
                (double)(now->sent_bytes - csv->flows[i].sent_bytes) * scale,
                (double)(now->received_bytes - csv->flows[i].received_bytes) * scale);
        csv->flows[i] = *now;
    }
}

static void sample_csv(void *state)
{
    struct csv *csv = state;
    gmc_time now = csv->run->world->engine.now;
    double seconds = sim_sample_seconds(csv->run);
    write_wires(csv, seconds, now - csv->last);
    write_domains(csv, seconds);
    write_links(csv, seconds);
    write_messages(csv, seconds);
    write_traffic(csv, seconds, now - csv->last);
    csv->last = now;
}

/* The run ends between two samples. Rates of a very short time would say nothing. */
static void sample_end(struct csv *csv)
{
    gmc_duration interval = gmc_time_sub(csv->run->world->engine.now, csv->last);
    if (interval > csv->run->plan->record_every / 2) {
        sample_csv(csv);
    } else if (interval > 0) {
        write_domains(csv, sim_sample_seconds(csv->run));
        write_messages(csv, sim_sample_seconds(csv->run));
    }
}

static bool close_csv(void *state, bool keep, char *error)
{
    struct csv *csv = state;
    if (csv->traffic.file != NULL)
        sample_end(csv);
    bool ok = sim_record_close(&csv->wires, keep, error);
    ok = sim_record_close(&csv->domains, keep, error) && ok;
    ok = sim_record_close(&csv->links, keep, error) && ok;
    ok = sim_record_close(&csv->messages, keep, error) && ok;
    ok = sim_record_close(&csv->traffic, keep, error) && ok;
    for (size_t i = 0; i < csv->run->world->host_count; i++)
        free(csv->hosts[i].links);
    for (size_t i = 0; i < csv->run->plan->channel_count; i++)
        free(csv->latencies[i]);
    free(csv->latencies);
    free(csv->flows);
    free(csv->hosts);
    free(csv->before);
    free(csv);
    return ok;
}

const struct sim_recorder_ops sim_record_csv = {
    .name = "csv",
    .target = "DIRECTORY",
    .summary = "time series: wires.csv, domains.csv, links.csv, messages.csv, traffic.csv",
    .open = open_csv,
    .sample = sample_csv,
    .message = on_message,
    .close = close_csv,
};
