/* SPDX-License-Identifier: BSD-2-Clause */
/* The warm-up of a run; see warm_up.h. */
#include "sim-wan/run/warm_up.h"

#include <stdlib.h>
#include <string.h>

#include "sim-wan/mem.h"
#include "sim-wan/topo/index.h"

#define WARM_TRIES 20
#define WARM_LIMIT GMC_S(600)

gmc_status sim_run_stage(struct sim_run *run, const struct sim_plan_transfer *plan,
                         const struct sim_stage *what, struct gmc_channel_key *key,
                         const char **error)
{
    struct sim_host **targets = sim_calloc(plan->target_count, sizeof(struct sim_host *));
    struct sim_host *source = run->world->hosts[plan->source];
    for (size_t i = 0; i < plan->target_count; i++)
        targets[i] = run->world->hosts[plan->targets[i]];
    struct sim_stage all = *what;
    all.targets = targets;
    all.target_count = plan->target_count;
    all.shape = plan->shape;
    all.rate_bps = plan->rate_bps;
    all.background = plan->background;
    *error = "the source is down";
    gmc_status status =
        source->gateway != NULL ? sim_stage(source, &all, key, error) : GMC_ERR_PEER_DOWN;
    free(targets);
    return status;
}

/* A byte to all targets, so that they are known and their latencies measured. Networks that lose
 * much may need several tries. */
static void send_byte(struct sim_run *run, const struct sim_plan_transfer *plan)
{
    struct sim_host *source = run->world->hosts[plan->source];
    struct gmc_channel_key key;
    struct gmc_channel_info info = {0};
    const char *error;
    for (uint64_t i = 0; i < WARM_TRIES && info.state != GMC_CHANNEL_COMPLETE; i++) {
        struct sim_stage what = {.object_seed = run->seed + 1000 + i, .bytes = 1};
        if (sim_run_stage(run, plan, &what, &key, &error) != GMC_OK)
            return;
        sim_run_to_end(source, &key, GMC_MS(10), WARM_LIMIT);
        sim_channel(source, &key, &info);
    }
}

static bool is_up(const struct sim_host *host, const char *domain)
{
    size_t peers = host->gateway != NULL ? gmc_gateway_peer_count(host->gateway) : 0;
    struct gmc_peer_info info;
    for (gmc_peer peer = 0; peer < peers; peer++)
        if (gmc_gateway_peer_info(host->gateway, sim_host_now(host), peer, &info) &&
            strcmp(info.domain, domain) == 0)
            return info.up;
    return false;
}

struct warm_link {
    struct sim_plan_transfer transfer; /* from the parent to its child alone */
    struct gmc_channel_key key;
    uint32_t child;
};

/* The links from a member's parents, in all trees, that are not up. */
static size_t put_links(const struct sim_run *run, const struct sim_topo_index *names,
                        const struct gmc_member_info *info, struct warm_link *links)
{
    size_t count = 0;
    for (uint32_t i = 0; i < info->stripes && i < GMC_TREE_STRIPES_MAX; i++) {
        const char *parent = i == 0 ? info->parent : info->more_parents[i - 1];
        if (parent == NULL)
            continue;
        uint32_t node = sim_topo_index_find(names, parent);
        if (!is_up(run->world->hosts[node], info->domain))
            links[count++] = (struct warm_link){.transfer = {.source = node,
                                                             .target_count = 1,
                                                             .shape = GMC_TREE_FLAT},
                                                .child = sim_topo_index_find(names, info->domain)};
    }
    return count;
}

/* Those of the trees that were planned; their number. */
static size_t missing_links(struct sim_run *run, const struct sim_plan_transfer *plan,
                            const struct gmc_channel_key *key, struct warm_link *links)
{
    struct sim_host *source = run->world->hosts[plan->source];
    struct sim_topo_index names;
    struct gmc_member_info info;
    size_t count = 0, index;
    if (!sim_channel_index(source, key, &index))
        return 0;
    gmc_time now = sim_host_now(source);
    sim_topo_index_init(&names, &run->plan->topo);
    for (size_t i = 0; gmc_gateway_member_info(source->gateway, now, index, i, &info); i++)
        count += put_links(run, &names, &info, links + count);
    sim_topo_index_fini(&names);
    return count;
}

/* The trees of bulk depend on the size of the object, so the byte went other ways: what the object
 * will take is planned, and a byte goes over each link of that which is not up. */
static void warm_trees(struct sim_run *run, const struct sim_plan_transfer *plan)
{
    struct gmc_channel_key key;
    struct sim_stage what = {.object_seed = run->seed, .bytes = plan->bytes, .plan = true};
    const char *error;
    if (sim_run_stage(run, plan, &what, &key, &error) != GMC_OK)
        return;
    sim_run_to_end(run->world->hosts[plan->source], &key, GMC_MS(10), WARM_LIMIT);
    struct warm_link *links = sim_calloc(plan->target_count * GMC_TREE_STRIPES_MAX, sizeof(*links));
    size_t count = missing_links(run, plan, &key, links);
    for (size_t i = 0; i < count; i++) {
        what = (struct sim_stage){.object_seed = run->seed + 1000 + WARM_TRIES, .bytes = 1};
        links[i].transfer.targets = &links[i].child;
        if (sim_run_stage(run, &links[i].transfer, &what, &links[i].key, &error) != GMC_OK)
            links[i].key.e = 0;
    }
    for (size_t i = 0; i < count; i++)
        if (links[i].key.e != 0)
            sim_run_to_end(run->world->hosts[links[i].transfer.source], &links[i].key, GMC_MS(10),
                           WARM_LIMIT);
    free(links);
}

void sim_run_warm_up(struct sim_run *run)
{
    for (size_t i = 0; i < run->plan->transfer_count; i++) {
        send_byte(run, &run->plan->transfers[i]);
        if (run->plan->transfers[i].shape == GMC_TREE_BULK)
            warm_trees(run, &run->plan->transfers[i]);
    }
    sim_run_channels_warm_up(run, WARM_LIMIT);
}
