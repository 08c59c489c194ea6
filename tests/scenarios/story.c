/* SPDX-License-Identifier: BSD-2-Clause */
/* Words for stories; see story.h. */
#include "tests/scenarios/story.h"

#include <stdio.h>

#include "core/gateway_impl.h"

#define LINES_MAX 4096

/* The story under way. Not in struct story, which stands on the stack of a test that may be left
 * by a jump: the teardown of one that failed prints it. */
static struct sim_world *under_way;
static char *lines[LINES_MAX];
static size_t line_count;

static void on_line(void *ctx, const char *text)
{
    (void)ctx;
    if (getenv("GMC_STORY_TRACE") != NULL) /* to watch a story that does not fail */
        fprintf(stderr, "  %s\n", text);
    if (line_count < LINES_MAX)
        lines[line_count++] = strdup(text);
}

void story_open_with(struct story *story, const struct sim_world_config *config)
{
    memset(story, 0, sizeof(*story));
    under_way = story->world = sim_world_new(config);
    story->world->trace.line = on_line;
    story->wire =
        (struct sim_wire_config){.rate_bps = 100000000, .delay = GMC_MS(15), .queue_bytes = 625000};
}

void story_open(struct story *story, uint64_t seed)
{
    story_open_with(story, &(struct sim_world_config){.seed = seed, .exact_clocks = true});
}

struct sim_host *story_host(struct story *story, const char *name)
{
    char full[64];
    snprintf(full, sizeof(full), "%s.example", name);
    struct sim_host *host = sim_world_find(story->world, full);
    assert_non_null(host);
    return host;
}

static struct sim_host *host_by_letter(struct story *story, char letter)
{
    return story_host(story, (char[2]){letter, '\0'});
}

void story_start(struct story *story)
{
    sim_world_start(story->world);
    sim_world_run(story->world, GMC_S(1));
    story->source = story_host(story, "s");
}

void story_stage(struct story *story, uint64_t bytes, enum gmc_tree_shape shape,
                 const char *targets)
{
    struct sim_host *hosts[64];
    const char *error = NULL;
    size_t count = 0;
    if (targets == NULL)
        for (size_t i = 0; i < story->world->host_count; i++)
            if (story->world->hosts[i] != story->source)
                hosts[count++] = story->world->hosts[i];
    for (; targets != NULL && *targets != '\0'; targets++)
        hosts[count++] = host_by_letter(story, *targets);
    struct sim_stage stage = {
        .object_seed = 11, .bytes = bytes, .targets = hosts, .target_count = count, .shape = shape};
    story->bytes = bytes;
    story->began = sim_world_now(story->world);
    assert_ok(sim_stage(story->source, &stage, &story->key, &error));
}

void story_run(struct story *story, gmc_duration duration)
{
    sim_world_run(story->world, duration);
}

void story_run_to_end(struct story *story, gmc_duration limit)
{
    assert_true(sim_run_to_end(story->source, &story->key, GMC_MS(1), limit));
}

struct wish {
    struct story *story;
    struct sim_host *host;
    uint64_t bytes;
};

static bool has_bytes(void *ctx)
{
    struct wish *wish = ctx;
    const struct sim_store *store = sim_disk_store(&wish->host->disk, &wish->story->key);
    return store != NULL &&
           (uint64_t)sim_store_good_blocks(store) * store->object->block_bytes >= wish->bytes;
}

void story_run_to_percent(struct story *story, const char *host, unsigned percent,
                          gmc_duration limit)
{
    struct wish wish = {story, story_host(story, host), story->bytes * percent / 100};
    assert_true(sim_world_run_until(story->world, GMC_MS(1), limit, has_bytes, &wish));
}

enum gmc_channel_state story_state(struct story *story)
{
    struct gmc_channel_info info;
    assert_true(sim_channel(story->source, &story->key, &info));
    return info.state;
}

enum gmc_member_state story_member_state(struct story *story, const char *host)
{
    struct gmc_member_info info;
    assert_true(sim_member(story->source, &story->key, story_host(story, host), &info));
    return info.state;
}

const char *story_member_reason(struct story *story, const char *host)
{
    struct gmc_member_info info;
    assert_true(sim_member(story->source, &story->key, story_host(story, host), &info));
    return info.reason != NULL ? info.reason : "";
}

const char *story_parent(struct story *story, const char *host)
{
    uint32_t parent =
        sim_oracle_parent(&story->world->oracle, story_host(story, host)->id, &story->key);
    return parent == SIM_NO_HOST ? "" : story->world->hosts[parent]->name;
}

double story_seconds(const struct story *story)
{
    return (double)(sim_world_now(story->world) - story->began) / 1e9;
}

void story_expect_complete(struct story *story)
{
    assert_int_equal(story_state(story), GMC_CHANNEL_COMPLETE);
    for (size_t i = 0; i < story->world->host_count; i++) {
        struct gmc_member_info info;
        struct sim_host *host = story->world->hosts[i];
        if (sim_member(story->source, &story->key, host, &info)) {
            assert_int_equal(info.state, GMC_MEMBER_VERIFIED);
            assert_true(sim_disk_has_delivered(&host->disk, &story->key));
        }
    }
}

void story_expect_delivered(struct story *story, const char *hosts)
{
    for (; *hosts != '\0'; hosts++)
        assert_true(sim_disk_has_delivered(&host_by_letter(story, *hosts)->disk, &story->key));
}

void story_expect_not_delivered(struct story *story, const char *hosts)
{
    for (; *hosts != '\0'; hosts++)
        assert_false(sim_disk_has_delivered(&host_by_letter(story, *hosts)->disk, &story->key));
}

/* "12.345678 a.example text" -> text, when it is of this host. */
static const char *text_of(const char *line, const char *host)
{
    const char *name = strchr(line, ' ');
    size_t len = strlen(host);
    if (name == NULL || strncmp(name + 1, host, len) != 0 || name[1 + len] != ' ')
        return NULL;
    return name + 2 + len;
}

void story_expect_lines(struct story *story, const char *host, const char *const *expected)
{
    const char *name = story_host(story, host)->name;
    for (size_t i = 0; i < line_count; i++) {
        const char *text = text_of(lines[i], name);
        if (text == NULL)
            continue;
        assert_non_null(*expected);
        assert_string_equal(text, *expected);
        expected++;
    }
    assert_null(*expected);
}

bool story_has_line(const char *part)
{
    for (size_t i = 0; i < line_count; i++)
        if (strstr(lines[i], part) != NULL)
            return true;
    return false;
}

uint64_t story_wire_bytes(struct story *story, const char *from, const char *to)
{
    uint32_t a, b, from_id = story_host(story, from)->id;
    uint32_t wire = sim_net_wire_between(&story->world->net, from_id, story_host(story, to)->id);
    assert_int_not_equal(wire, UINT32_MAX);
    sim_net_wire_ends(&story->world->net, wire, &a, &b);
    return sim_net_lane(&story->world->net, wire, a == from_id ? 0 : 1)->count.offered_bytes;
}

void story_cut(struct story *story, const char *a, const char *b, bool cut)
{
    uint32_t wire = sim_net_wire_between(&story->world->net, story_host(story, a)->id,
                                         story_host(story, b)->id);
    assert_int_not_equal(wire, UINT32_MAX);
    sim_world_note(story->world, "wire %s-%s goes %s", a, b, cut ? "down" : "up");
    sim_net_set_wire_up(&story->world->net, wire, !cut);
}

static void free_lines(void)
{
    for (size_t i = 0; i < line_count; i++)
        free(lines[i]);
    line_count = 0;
}

static bool spoil(struct story *story, struct sim_host *host)
{
    struct gmc_gateway *gw = host->gateway;
    struct gwchannel *ch = gw_channel_find(gw, story->key.source, story->key.e);
    for (uint32_t number = 140; ch != NULL && number < ch->blocks; number++) {
        struct gmc_block *block = gmc_cache_find(gw->cache, ch->slot, number);
        if (block == NULL || block->state != GMC_BLOCK_RECEIVING || (block->received & 1) == 0)
            continue;
        block->plain[7] ^= 1;
        return true;
    }
    return false;
}

void story_spoil(struct story *story, struct sim_host *host)
{
    for (unsigned tries = 0; !spoil(story, host); tries++) {
        assert_true(tries < 1000);
        story_run(story, GMC_US(100));
    }
}

void story_close(struct story *story)
{
    sim_oracle_check_wires(&story->world->oracle);
    assert_int_equal(story->world->oracle.violations, 0);
    sim_world_free(story->world);
    free_lines();
    under_way = NULL;
}

int story_teardown(void **state)
{
    (void)state;
    if (under_way == NULL)
        return 0;
    for (size_t i = 0; i < line_count; i++)
        fprintf(stderr, "  %s\n", lines[i]);
    for (size_t i = 0; i < SIM_VIOLATIONS_KEPT && under_way->oracle.texts[i] != NULL; i++)
        fprintf(stderr, "  violation: %s\n", under_way->oracle.texts[i]);
    sim_world_free(under_way);
    free_lines();
    under_way = NULL;
    return 0;
}
