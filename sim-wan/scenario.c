/* SPDX-License-Identifier: BSD-2-Clause */
/* Transfers in a simulated world, and questions about them. */
#include "sim-wan/scenario.h"

#include <stdlib.h>
#include <string.h>

#include "sim-wan/mem.h"

gmc_status sim_stage(struct sim_host *source, const struct sim_stage *stage,
                     struct gmc_channel_key *key, const char **error)
{
    char path[64];
    const char *sources[] = {path};
    struct gmc_stage_target *targets = sim_calloc(stage->target_count, sizeof(*targets));
    sim_object_path(path, sizeof(path), stage->object_seed, stage->bytes);
    for (size_t i = 0; i < stage->target_count; i++)
        targets[i] = (struct gmc_stage_target){stage->targets[i]->name, "", NULL};
    struct gmc_stage_request request = {
        .sources = sources,
        .source_count = 1,
        .targets = targets,
        .target_count = stage->target_count,
        .shape = stage->shape,
        .rate_bps = stage->rate_bps,
        .background = stage->background,
        .plan = stage->plan,
    };
    gmc_status status =
        gmc_gateway_stage(source->gateway, sim_host_now(source), &request, key, error);
    free(targets);
    sim_host_drain(source);
    return status;
}

gmc_status sim_add(struct sim_host *source, const struct gmc_channel_key *key,
                   struct sim_host *target, const char **error)
{
    struct gmc_stage_target place = {target->name, "", NULL};
    gmc_status status = gmc_gateway_add(source->gateway, sim_host_now(source), key, &place, error);
    sim_host_drain(source);
    return status;
}

gmc_status sim_cancel(struct sim_host *source, const struct gmc_channel_key *key,
                      const char **error)
{
    gmc_status status = gmc_gateway_cancel(source->gateway, sim_host_now(source), key, error);
    sim_host_drain(source);
    return status;
}

gmc_status sim_resume(struct sim_host *source, const struct gmc_channel_key *key,
                      const char **error)
{
    gmc_status status = gmc_gateway_resume(source->gateway, sim_host_now(source), key, error);
    sim_host_drain(source);
    return status;
}

gmc_status sim_open(struct sim_host *source, const char *name, struct sim_host *const *targets,
                    size_t target_count, enum gmc_message_order order, struct gmc_channel_key *key,
                    const char **error)
{
    const char **names = sim_calloc(target_count + 1, sizeof(*names));
    for (size_t i = 0; i < target_count; i++)
        names[i] = targets[i]->name;
    struct gmc_open_request request = {.name = name,
                                       .targets = names,
                                       .target_count = target_count,
                                       .order = order,
                                       .shape = GMC_TREE_ECO};
    gmc_status status =
        gmc_gateway_open(source->gateway, sim_host_now(source), &request, key, error);
    free(names);
    sim_host_drain(source);
    return status;
}

gmc_status sim_publish(struct sim_host *source, const struct gmc_channel_key *key,
                       struct gmc_bytes message)
{
    gmc_status status = gmc_gateway_publish(source->gateway, sim_host_now(source), key->e, message);
    sim_host_drain(source);
    return status;
}

gmc_status sim_end(struct sim_host *source, const struct gmc_channel_key *key, const char *reason)
{
    gmc_status status = gmc_gateway_end(source->gateway, sim_host_now(source), key->e, reason);
    sim_host_drain(source);
    return status;
}

static bool find_channel(struct sim_host *host, const struct gmc_channel_key *key, size_t *index,
                         struct gmc_channel_info *info)
{
    if (host->gateway == NULL)
        return false;
    gmc_time now = sim_host_now(host);
    for (*index = 0; gmc_gateway_channel_info(host->gateway, now, *index, info); (*index)++)
        if (sim_key_equal(&info->key, key))
            return true;
    return false;
}

bool sim_channel(struct sim_host *host, const struct gmc_channel_key *key,
                 struct gmc_channel_info *info)
{
    size_t index;
    return find_channel(host, key, &index, info);
}

bool sim_channel_index(struct sim_host *host, const struct gmc_channel_key *key, size_t *index)
{
    struct gmc_channel_info info;
    return find_channel(host, key, index, &info);
}

bool sim_member(struct sim_host *source, const struct gmc_channel_key *key,
                const struct sim_host *target, struct gmc_member_info *info)
{
    struct gmc_channel_info channel;
    size_t index;
    if (!find_channel(source, key, &index, &channel))
        return false;
    gmc_time now = sim_host_now(source);
    for (size_t i = 0; gmc_gateway_member_info(source->gateway, now, index, i, info); i++)
        if (strcmp(info->domain, target->name) == 0)
            return true;
    return false;
}

bool sim_has_ended(struct sim_host *source, const struct gmc_channel_key *key)
{
    struct gmc_channel_info info;
    return sim_channel(source, key, &info) && info.state >= GMC_CHANNEL_COMPLETE;
}

struct ending {
    struct sim_host *source;
    const struct gmc_channel_key *key;
};

static bool has_ended(void *ctx)
{
    const struct ending *ending = ctx;
    return sim_has_ended(ending->source, ending->key);
}

bool sim_run_to_end(struct sim_host *source, const struct gmc_channel_key *key, gmc_duration every,
                    gmc_duration limit)
{
    struct ending ending = {source, key};
    return sim_world_run_until(source->world, every, limit, has_ended, &ending);
}

uint64_t sim_counter(const struct sim_host *host, const char *name)
{
    struct gmc_counter counters[128];
    if (host->gateway == NULL)
        return 0;
    size_t count = gmc_gateway_counters(host->gateway, counters, 128);
    for (size_t i = 0; i < count && i < 128; i++)
        if (strcmp(counters[i].name, name) == 0)
            return counters[i].value;
    return 0;
}
