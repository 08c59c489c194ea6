/* SPDX-License-Identifier: BSD-2-Clause */
/* Judgement from outside of the core; see oracle.h. */
#include "sim-wan/oracle.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim-wan/host.h"
#include "sim-wan/mem.h"
#include "sim-wan/scenario.h"

#define PATROL_EVERY GMC_S(1)
/* A loop may appear while two change their parents at once; the announced paths then part it. */
#define LOOP_TOLERATED GMC_S(10)
#define CACHE_DEFAULT_BYTES (UINT64_C(64) << 20)
/* Sixteen blocks with their seal tags. */
#define CACHE_LEAST_BYTES (UINT64_C(16) * (65536 + 64 * 16))

static void on_patrol(struct sim_event *event, gmc_time now);

void sim_oracle_init(struct sim_oracle *oracle, struct sim_world *world)
{
    *oracle = (struct sim_oracle){.world = world};
    sim_event_init(&oracle->patrol, on_patrol);
}

void sim_oracle_fini(struct sim_oracle *oracle)
{
    sim_engine_cancel(&oracle->world->engine, &oracle->patrol);
    for (size_t i = 0; i < SIM_VIOLATIONS_KEPT; i++)
        free(oracle->texts[i]);
    free(oracle->attachments);
}

void sim_oracle_start(struct sim_oracle *oracle)
{
    struct sim_engine *engine = &oracle->world->engine;
    sim_engine_at(engine, &oracle->patrol, gmc_time_add(engine->now, PATROL_EVERY));
}

void sim_oracle_violated(struct sim_oracle *oracle, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (oracle->violations < SIM_VIOLATIONS_KEPT) {
        char line[600];
        snprintf(line, sizeof(line), "%.6f %s", (double)oracle->world->engine.now / 1e9, text);
        oracle->texts[oracle->violations] = sim_strdup(line);
    }
    oracle->violations++;
    sim_world_note(oracle->world, "VIOLATION %s", text);
}

/* ---- parents ---- */
static struct sim_attachment *find_attachment(const struct sim_oracle *oracle, uint32_t host,
                                              const struct gmc_channel_key *key, uint32_t stripe)
{
    for (size_t i = 0; i < oracle->attachment_count; i++) {
        struct sim_attachment *at = &oracle->attachments[i];
        if (at->host == host && at->stripe == stripe && sim_key_equal(&at->key, key))
            return at;
    }
    return NULL;
}

uint32_t sim_oracle_parent(const struct sim_oracle *oracle, uint32_t host,
                           const struct gmc_channel_key *key)
{
    const struct sim_attachment *at = find_attachment(oracle, host, key, 0);
    return at != NULL ? at->parent : SIM_NO_HOST;
}

static void set_parent(struct sim_oracle *oracle, uint32_t host, const struct gmc_channel_key *key,
                       uint32_t stripe, uint32_t parent)
{
    struct sim_attachment *at = find_attachment(oracle, host, key, stripe);
    if (at == NULL) {
        oracle->attachments =
            sim_reserve(oracle->attachments, oracle->attachment_count, &oracle->attachment_capacity,
                        sizeof(*oracle->attachments));
        at = &oracle->attachments[oracle->attachment_count++];
        *at = (struct sim_attachment){.key = *key, .host = host, .stripe = stripe};
    }
    at->parent = parent;
    at->since = oracle->world->engine.now;
}

/* "verified" said of one member; all of them are looked at when the channel changes its state. */
static void check_verified(struct sim_oracle *oracle, struct sim_host *source,
                           const struct gmc_event *event)
{
    struct gmc_channel_info info;
    if (sim_channel(source, &event->key, &info) && info.name != NULL)
        return; /* messages: whoever published and received them judges */
    uint32_t member = sim_host_of_peer(source, event->peer);
    if (member == SIM_NO_HOST ||
        !sim_disk_has_delivered(&oracle->world->hosts[member]->disk, &event->key))
        sim_oracle_violated(oracle, "%s says '%s', which is not so", source->name, event->text);
}

void sim_oracle_on_event(struct sim_oracle *oracle, struct sim_host *host,
                         const struct gmc_event *event)
{
    if (event->kind == GMC_EVENT_MEMBER && event->status == GMC_OK)
        check_verified(oracle, host, event);
    if (event->kind != GMC_EVENT_PARENT)
        return;
    uint32_t parent = SIM_NO_HOST;
    if (event->status == GMC_OK && event->peer != GMC_PEER_NONE)
        parent = sim_host_of_peer(host, event->peer);
    set_parent(oracle, host->id, &event->key, event->stripe, parent);
}

void sim_oracle_on_crash(struct sim_oracle *oracle, struct sim_host *host)
{
    for (size_t i = 0; i < oracle->attachment_count; i++)
        if (oracle->attachments[i].host == host->id)
            oracle->attachments[i].parent = SIM_NO_HOST;
}

/* Follows parents from `start`; true when they come back to it. *youngest: the last change among
 * them. */
static bool is_in_loop(const struct sim_oracle *oracle, const struct sim_attachment *start,
                       gmc_time *youngest)
{
    const struct sim_attachment *at = start;
    *youngest = start->since;
    for (size_t steps = 0; steps <= oracle->attachment_count; steps++) {
        if (at->parent == SIM_NO_HOST)
            return false;
        at = find_attachment(oracle, at->parent, &start->key, start->stripe);
        if (at == NULL)
            return false;
        if (at == start)
            return true;
        *youngest = gmc_time_max(*youngest, at->since);
    }
    return false;
}

/* What a cache may hold: its bound, or the core's default and least. */
static uint64_t cache_bound(const struct sim_world_config *config)
{
    uint64_t bytes = config->cache_bytes > 0 ? config->cache_bytes : CACHE_DEFAULT_BYTES;
    return bytes > CACHE_LEAST_BYTES ? bytes : CACHE_LEAST_BYTES;
}

static void check_memory(struct sim_oracle *oracle)
{
    struct sim_world *world = oracle->world;
    for (size_t i = 0; i < world->host_count; i++) {
        uint64_t bytes = sim_counter(world->hosts[i], "cache_bytes");
        if (bytes > cache_bound(&world->config))
            sim_oracle_violated(oracle, "%s holds %" PRIu64 " bytes in its cache",
                                world->hosts[i]->name, bytes);
    }
}

void sim_oracle_check_idle(struct sim_oracle *oracle)
{
    struct sim_world *world = oracle->world;
    for (size_t i = 0; i < world->host_count; i++) {
        uint64_t bytes = sim_counter(world->hosts[i], "cache_bytes");
        if (bytes > 0)
            sim_oracle_violated(oracle, "%s is idle and holds %" PRIu64 " bytes in its cache",
                                world->hosts[i]->name, bytes);
        if (world->hosts[i]->disk.pending > 0)
            sim_oracle_violated(oracle, "%s is idle and has %zu store operations under way",
                                world->hosts[i]->name, world->hosts[i]->disk.pending);
    }
}

static void on_patrol(struct sim_event *event, gmc_time now)
{
    struct sim_oracle *oracle = SIM_OWNER(event, struct sim_oracle, patrol);
    check_memory(oracle);
    for (size_t i = 0; i < oracle->attachment_count; i++) {
        struct sim_attachment *at = &oracle->attachments[i];
        gmc_time youngest;
        if (!is_in_loop(oracle, at, &youngest) || now - youngest < LOOP_TOLERATED)
            continue;
        sim_oracle_violated(oracle, "%s is its own ancestor", oracle->world->hosts[at->host]->name);
        at->parent = SIM_NO_HOST; /* said once */
    }
    sim_engine_at(&oracle->world->engine, event, gmc_time_add(now, PATROL_EVERY));
}

/* ---- claims ---- */
static bool has_delivered(const struct sim_host *host, const struct gmc_channel_key *key)
{
    return sim_disk_has_delivered(&host->disk, key);
}

static void check_member(struct sim_oracle *oracle, struct sim_host *source,
                         const struct gmc_channel_info *channel,
                         const struct gmc_member_info *member)
{
    const struct sim_host *host = sim_world_find(oracle->world, member->domain);
    if (member->state != GMC_MEMBER_VERIFIED)
        return;
    if (host == NULL || !has_delivered(host, &channel->key))
        sim_oracle_violated(oracle, "%s says that %s is complete, which it is not", source->name,
                            member->domain);
    /* A source that was started again knows its own digest only when its pages are read. */
    static const uint8_t unknown[GMC_HASH_BYTES];
    bool known = memcmp(channel->digest, unknown, GMC_HASH_BYTES) != 0 ||
                 channel->state == GMC_CHANNEL_COMPLETE;
    if (known && memcmp(member->digest, channel->digest, GMC_HASH_BYTES) != 0)
        sim_oracle_violated(oracle, "%s takes another digest of %s for complete", source->name,
                            member->domain);
}

static void check_channel(struct sim_oracle *oracle, struct sim_host *host, gmc_time now,
                          size_t index, const struct gmc_channel_info *channel)
{
    if (!channel->is_source) {
        if (channel->state == GMC_CHANNEL_COMPLETE && !has_delivered(host, &channel->key))
            sim_oracle_violated(oracle, "%s says it is complete, which it is not", host->name);
        return;
    }
    size_t verified = 0;
    for (size_t i = 0; i < channel->member_count; i++) {
        struct gmc_member_info member;
        if (!gmc_gateway_member_info(host->gateway, now, index, i, &member))
            break;
        verified += member.state == GMC_MEMBER_VERIFIED;
        check_member(oracle, host, channel, &member);
    }
    if (channel->state == GMC_CHANNEL_COMPLETE && verified != channel->member_count)
        sim_oracle_violated(oracle, "%s says complete everywhere with %zu of %zu members",
                            host->name, verified, channel->member_count);
}

void sim_oracle_check_claims(struct sim_oracle *oracle, struct sim_host *host)
{
    struct gmc_channel_info channel;
    gmc_time now = sim_host_now(host);
    for (size_t i = 0; gmc_gateway_channel_info(host->gateway, now, i, &channel); i++)
        if (channel.name == NULL)
            check_channel(oracle, host, now, i, &channel);
}

/* ---- at the end ---- */
void sim_oracle_check_wires(struct sim_oracle *oracle)
{
    uint32_t wire;
    if (!sim_net_is_balanced(&oracle->world->net, &wire))
        sim_oracle_violated(oracle, "wire %" PRIu32 ": bytes in are not bytes out, dropped or held",
                            wire);
}

void sim_oracle_check_delivered(struct sim_oracle *oracle, struct sim_host *host,
                                const struct gmc_channel_key *key)
{
    const struct sim_store *store = sim_disk_store(&host->disk, key);
    if (store == NULL || !store->finished)
        sim_oracle_violated(oracle, "%s does not have %016" PRIx64 "@%s", host->name, key->e,
                            key->source);
    else if (!sim_store_is_whole(store, 0))
        sim_oracle_violated(oracle, "%s lost parts of %016" PRIx64 "@%s", host->name, key->e,
                            key->source);
}
