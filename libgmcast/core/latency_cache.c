/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns what is known of the paths between pairs of gateways, latency, losses and rates, and how
 * long it is kept. */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/list.h"
#include "base/map.h"
#include "core/probe.h"

struct pair {
    struct gmc_list by_age; /* in the cache's list, measured longest ago first */
    uint64_t key;
    struct gmc_latency latency;
    struct {
        struct gmc_path_seen path;
        gmc_time since; /* 0: not known */
    } seen[2];          /* to the greater number, and from it */
};

struct gmc_latency_cache {
    struct gmc_map pairs;
    struct gmc_list by_age;
    size_t pairs_max;
};

static uint64_t pair_key(gmc_peer a, gmc_peer b)
{
    return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

struct gmc_latency_cache *gmc_latency_cache_new(size_t pairs_max)
{
    struct gmc_latency_cache *cache = malloc(sizeof(*cache));

    if (cache == NULL)
        return NULL;
    /* Peer numbers are given by this gateway in order: nobody outside chooses keys. */
    gmc_map_init(&cache->pairs, 0);
    gmc_list_init(&cache->by_age);
    cache->pairs_max = pairs_max;
    return cache;
}

static void forget(struct gmc_latency_cache *cache, struct pair *pair)
{
    gmc_map_remove(&cache->pairs, pair->key);
    gmc_list_remove(&pair->by_age);
    free(pair);
}

static struct pair *longest_ago(const struct gmc_latency_cache *cache)
{
    struct gmc_list *node = gmc_list_first(&cache->by_age);

    return node != NULL ? GMC_CONTAINER_OF(node, struct pair, by_age) : NULL;
}

void gmc_latency_cache_free(struct gmc_latency_cache *cache)
{
    struct pair *pair;

    if (cache == NULL)
        return;
    while ((pair = longest_ago(cache)) != NULL)
        forget(cache, pair);
    gmc_map_fini(&cache->pairs);
    free(cache);
}

/* Keeps the list in order of time. Reports mostly come in this order, so the place is near the
 * end. */
static void insert_by_age(struct gmc_latency_cache *cache, struct pair *pair)
{
    struct gmc_list *before = cache->by_age.prev;

    while (before != &cache->by_age &&
           GMC_CONTAINER_OF(before, struct pair, by_age)->latency.measured > pair->latency.measured)
        before = before->prev;
    gmc_list_insert_before(before->next, &pair->by_age);
}

/* What two reports of one pair say together. */
static struct gmc_latency merged(const struct gmc_latency *old, const struct gmc_latency *report)
{
    bool newer = report->measured >= old->measured;
    gmc_duration apart =
        newer ? report->measured - old->measured : old->measured - report->measured;
    struct gmc_latency result;

    if (apart > GMC_LATENCY_ROUND)
        return newer ? *report : *old;
    result = report->rtt_min < old->rtt_min ? *report : *old;
    result.measured = gmc_time_max(report->measured, old->measured);
    return result;
}

static struct pair *pair_add(struct gmc_latency_cache *cache, uint64_t key)
{
    struct pair *pair;

    if (cache->pairs_max == 0)
        return NULL;
    while (gmc_map_count(&cache->pairs) >= cache->pairs_max)
        forget(cache, longest_ago(cache));
    pair = malloc(sizeof(*pair));
    if (pair == NULL)
        return NULL;
    if (gmc_map_put(&cache->pairs, key, pair) != GMC_OK) {
        free(pair);
        return NULL;
    }
    pair->key = key;
    gmc_list_init(&pair->by_age);
    return pair;
}

void gmc_latency_cache_put(struct gmc_latency_cache *cache, gmc_peer a, gmc_peer b,
                           const struct gmc_latency *latency)
{
    uint64_t key = pair_key(a, b);
    struct pair *pair = gmc_map_get(&cache->pairs, key);

    GMC_ASSERT(a != b);
    if (pair != NULL) {
        pair->latency = merged(&pair->latency, latency);
        gmc_list_remove(&pair->by_age);
    } else {
        pair = pair_add(cache, key);
        if (pair == NULL)
            return;
        pair->latency = *latency;
        memset(pair->seen, 0, sizeof(pair->seen));
    }
    insert_by_age(cache, pair);
}

void gmc_latency_cache_put_seen(struct gmc_latency_cache *cache, gmc_peer a, gmc_peer b,
                                gmc_time now, const struct gmc_path_seen *seen)
{
    struct pair *pair = gmc_map_get(&cache->pairs, pair_key(a, b));

    if (pair == NULL)
        return;
    pair->seen[a > b].path = *seen;
    pair->seen[a > b].since = now;
}

struct gmc_path_seen gmc_latency_cache_seen(const struct gmc_latency_cache *cache, gmc_peer a,
                                            gmc_peer b, gmc_time now, gmc_duration age_max)
{
    const struct pair *pair = gmc_map_get(&cache->pairs, pair_key(a, b));

    if (pair == NULL || pair->seen[a > b].since == 0 ||
        gmc_time_sub(now, pair->seen[a > b].since) > age_max)
        return (struct gmc_path_seen){0, 0};
    return pair->seen[a > b].path;
}

bool gmc_latency_cache_get(const struct gmc_latency_cache *cache, gmc_peer a, gmc_peer b,
                           gmc_time now, gmc_duration age_max, struct gmc_latency *latency)
{
    const struct pair *pair = gmc_map_get(&cache->pairs, pair_key(a, b));

    if (pair == NULL || gmc_time_sub(now, pair->latency.measured) > age_max)
        return false;
    *latency = pair->latency;
    return true;
}
