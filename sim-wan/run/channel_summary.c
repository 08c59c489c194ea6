/* SPDX-License-Identifier: BSD-2-Clause */
/* What a summary says of message channels. */
#include "sim-wan/run/channel.h"

#include "sim-wan/run/drive.h"
#include "sim-wan/run/json.h"
#include "sim-wan/scenario.h"

#define MEDIAN_PPM 500000u
#define P99_PPM 990000u

static const char *state_of(const struct sim_run_channel *channel)
{
    return channel->error[0] != '\0'              ? "failed"
           : channel->open == 0                   ? "waiting"
           : channel->end == 0                    ? "open"
           : sim_run_channel_is_complete(channel) ? "complete"
                                                  : "ended";
}

json_t *sim_run_channel_summary(const struct sim_run_channel *channel)
{
    static const char *const orders[] = {[GMC_MESSAGES_ORDERED] = "ordered",
                                         [GMC_MESSAGES_UNORDERED] = "unordered",
                                         [GMC_MESSAGES_LATEST] = "latest"};
    const struct sim_run *run = channel->run;
    const struct sim_plan_channel *plan = channel->plan;
    json_t *object = json_object();
    sim_json_put(object, "name", sim_json_text(plan->name));
    sim_json_put(object, "source", sim_json_text(run->plan->topo.nodes[plan->source].name));
    sim_json_put(object, "order", json_string(orders[plan->order]));
    sim_json_put(object, "state", json_string(state_of(channel)));
    sim_json_put(object, "message_bytes", sim_json_integer(plan->bytes));
    sim_json_put(object, "sent", sim_json_integer(channel->published));
    sim_json_put(object, "held", sim_json_integer(channel->held));
    sim_json_put(object, "start_seconds",
                 channel->first > 0 ? sim_json_real(sim_seconds(channel->first - run->zero))
                                    : json_null());
    sim_json_put(object, "end_seconds",
                 channel->end > 0 ? sim_json_real(sim_seconds(channel->end - run->zero))
                                  : json_null());
    if (channel->error[0] != '\0')
        sim_json_put(object, "reason", sim_json_text(channel->error));
    return object;
}

static json_t *latency(const struct sim_run_subscriber *subscriber, gmc_duration value)
{
    return subscriber->latencies.count > 0 ? sim_json_real(sim_seconds(value)) : json_null();
}

static json_t *parent_of(const struct sim_run_channel *channel, size_t target)
{
    struct sim_host **hosts = channel->run->world->hosts;
    struct gmc_member_info info;
    bool known = sim_member(hosts[channel->plan->source], &channel->key,
                            hosts[channel->plan->targets[target]], &info);
    return known && info.parent != NULL ? sim_json_text(info.parent) : json_null();
}

void sim_run_channel_put_subscribers(const struct sim_run_channel *channel, json_t *list)
{
    const struct sim_plan_channel *plan = channel->plan;
    for (size_t i = 0; i < plan->target_count; i++) {
        const struct sim_run_subscriber *at = &channel->subscribers[i];
        const char *name = channel->run->plan->topo.nodes[plan->targets[i]].name;
        json_t *object = json_object();
        sim_json_put(object, "channel", sim_json_text(plan->name));
        sim_json_put(object, "domain", sim_json_text(name));
        sim_json_put(object, "parent", parent_of(channel, i));
        sim_json_put(object, "ended", json_boolean(at->ended));
        sim_json_put(object, "delivered", sim_json_integer(sim_run_channel_delivered(channel, i)));
        sim_json_put(object, "repeated", sim_json_integer(at->repeated));
        sim_json_put(object, "lost", sim_json_integer(sim_run_channel_lost(channel, i)));
        if (plan->order != GMC_MESSAGES_UNORDERED)
            sim_json_put(object, "gaps", sim_json_integer(at->gaps));
        sim_json_put(object, "latency_median_seconds",
                     latency(at, sim_lateness_quantile(&at->latencies, MEDIAN_PPM)));
        sim_json_put(object, "latency_p99_seconds",
                     latency(at, sim_lateness_quantile(&at->latencies, P99_PPM)));
        sim_json_put(object, "latency_max_seconds", latency(at, at->latencies.greatest));
        sim_json_append(list, object);
    }
}
