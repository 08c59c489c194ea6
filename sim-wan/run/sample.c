/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples; see sample.h. */
#include "sim-wan/run/sample.h"

#include "sim-wan/scenario.h"

double sim_sample_seconds(const struct sim_run *run)
{
    return (double)(run->world->engine.now - run->zero) / 1e9;
}

struct sim_wire_before sim_sample_now(const struct sim_run *run, uint32_t wire, int direction)
{
    const struct sim_lane *lane = sim_net_lane(&run->world->net, wire, direction);
    return (struct sim_wire_before){lane->count, lane->config.rate_bps};
}

struct sim_wire_sample sim_sample_wire(const struct sim_run *run, uint32_t wire, int direction,
                                       gmc_duration interval, struct sim_wire_before *before)
{
    const struct sim_lane *lane = sim_net_lane(&run->world->net, wire, direction);
    struct sim_lane_counters since = sim_lane_since(&lane->count, &before->count);
    struct sim_wire_sample sample = {0};
    if (interval > 0)
        sample.rate_bps = (double)since.delivered_bytes * 8e9 / (double)interval;
    if (before->rate_bps > 0 && interval > 0)
        sample.utilisation = (double)sim_lane_carried_bytes(&since) * 8e9 /
                             (double)before->rate_bps / (double)interval;
    if (lane->config.rate_bps > 0) {
        sample.queue_bytes =
            (uint64_t)((double)sim_lane_backlog(lane) / 8e9 * (double)lane->config.rate_bps);
    }
    for (int drop = 0; drop < SIM_DROPS; drop++) {
        uint64_t count = since.dropped_packets[drop];
        if (drop == SIM_DROP_QUEUE || drop == SIM_DROP_CODEL)
            sample.dropped_queue += count;
        else if (drop == SIM_DROP_LOSS)
            sample.dropped_loss += count;
        else
            sample.dropped_other += count;
    }
    sample.marked = since.marked_packets;
    *before = sim_sample_now(run, wire, direction);
    return sample;
}

bool sim_sample_member(const struct sim_run *run, size_t transfer, size_t n,
                       struct gmc_member_info *info)
{
    const struct sim_run_transfer *at = &run->transfers[transfer];
    struct sim_host *source = run->world->hosts[at->plan->source];
    size_t index;
    return at->key.e != 0 && source->gateway != NULL &&
           sim_channel_index(source, &at->key, &index) &&
           gmc_gateway_member_info(source->gateway, sim_host_now(source), index, n, info);
}

uint64_t sim_sample_bytes(const struct sim_run *run, size_t transfer, const char *domain,
                          uint64_t known)
{
    struct sim_host *host = sim_world_find(run->world, domain);
    struct gmc_channel_info info;
    if (host == NULL || !sim_channel(host, &run->transfers[transfer].key, &info))
        return known;
    return info.bytes;
}
