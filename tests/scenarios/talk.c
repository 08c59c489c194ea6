/* SPDX-License-Identifier: BSD-2-Clause */
/* See talk.h. */
#include "tests/scenarios/talk.h"

#include <stdio.h>

#include "wire/head.h"

/* The content of a message follows from its number. */
static uint8_t content(uint64_t number, size_t i)
{
    return (uint8_t)(number * 31 + i * 7);
}

static bool is_as_published(struct gmc_bytes message)
{
    uint64_t number = gmc_get64(message.data);
    for (size_t i = TALK_STAMP_BYTES; i < message.len; i++)
        if (message.data[i] != content(number, i))
            return false;
    return true;
}

static void on_message(void *ctx, struct sim_host *host, const struct gmc_output *out)
{
    struct talk *talk = ctx;
    if (out->kind == GMC_OUT_ROOM) {
        talk->rooms++;
        return;
    }
    struct heard *heard = &talk->heard[host->id];
    const struct gmc_arrived *arrived = &out->u.arrived;
    if (arrived->end) {
        heard->ended = true;
        snprintf(heard->reason, sizeof(heard->reason), "%.*s", (int)out->bytes.len,
                 (const char *)out->bytes.data);
        return;
    }
    heard->count++;
    heard->bytes += out->bytes.len;
    if (arrived->sequence < TALK_SEEN_MAX) {
        heard->repeated += heard->seen[arrived->sequence];
        heard->seen[arrived->sequence] = true;
    }
    if (arrived->sequence < heard->next)
        heard->backward++;
    else
        heard->missed += arrived->sequence - heard->next;
    if (arrived->sequence >= heard->next)
        heard->next = arrived->sequence + 1;
    if (out->bytes.len < TALK_STAMP_BYTES || gmc_get64(out->bytes.data) != arrived->sequence ||
        !is_as_published(out->bytes)) {
        heard->spoiled++;
        return;
    }
    gmc_duration delay = sim_world_now(talk->story.world) - gmc_get64(out->bytes.data + 8);
    if (heard->delay_count < sizeof(heard->delays) / sizeof(heard->delays[0]))
        heard->delays[heard->delay_count++] = delay;
    if (delay > heard->delay_max)
        heard->delay_max = delay;
}

static int by_length(const void *a, const void *b)
{
    gmc_duration one = *(const gmc_duration *)a, other = *(const gmc_duration *)b;
    return (one > other) - (one < other);
}

gmc_duration talk_percentile(struct heard *heard, unsigned percent)
{
    assert_true(heard->delay_count > 0);
    qsort(heard->delays, heard->delay_count, sizeof(heard->delays[0]), by_length);
    return heard->delays[heard->delay_count * percent / 100];
}

gmc_duration talk_median(struct heard *heard)
{
    gmc_duration middle = talk_percentile(heard, 50);
    heard->delay_count = 0;
    return middle;
}

void talk_listen(struct talk *talk, const struct story *story)
{
    memset(talk, 0, sizeof(*talk));
    talk->story = *story;
    talk->story.world->on_message = on_message;
    talk->story.world->message_ctx = talk;
}

void talk_open(struct talk *talk, uint64_t seed, uint32_t loss_ppm)
{
    struct story story;
    story_open(&story, seed);
    story.wire.loss_ppm = loss_ppm;
    talk_listen(talk, &story);
}

bool talk_has_room(void *ctx)
{
    struct talk *talk = ctx;
    return talk->rooms > 0;
}

void talk_begin_to(struct talk *talk, enum gmc_message_order order, const char *names)
{
    struct sim_host *targets[TALK_HOSTS_MAX];
    const char *error = NULL;
    size_t count = 0;
    struct sim_world *world = talk->story.world;
    for (size_t i = 0; i < world->host_count; i++)
        if (world->hosts[i] != talk->story.source &&
            (names == NULL || strchr(names, world->hosts[i]->name[0]) != NULL))
            targets[count++] = world->hosts[i];
    assert_ok(sim_open(talk->story.source, "alerts", targets, count, order, &talk->key, &error));
    talk->story.key = talk->key;
    assert_true(sim_world_run_until(world, GMC_MS(1), GMC_S(10), talk_has_room, talk));
}

void talk_begin(struct talk *talk, enum gmc_message_order order)
{
    talk_begin_to(talk, order, NULL);
}

gmc_status talk_publish(struct talk *talk, size_t len)
{
    static uint8_t bytes[GMC_MESSAGE_BYTES_MAX + 1];
    gmc_put64(bytes, talk->published);
    gmc_put64(bytes + 8, sim_world_now(talk->story.world));
    for (size_t i = TALK_STAMP_BYTES; i < len; i++)
        bytes[i] = content(talk->published, i);
    gmc_status status = sim_publish(talk->story.source, &talk->key, gmc_bytes(bytes, len));
    talk->published += status == GMC_OK;
    return status;
}

void talk_publish_many(struct talk *talk, uint64_t count, gmc_duration every, size_t len)
{
    for (uint64_t i = 0; i < count; i++) {
        assert_ok(talk_publish(talk, len));
        story_run(&talk->story, every);
    }
}

void talk_end(struct talk *talk)
{
    assert_ok(sim_end(talk->story.source, &talk->key, "that is all"));
    story_run_to_end(&talk->story, GMC_S(20));
}

const struct heard *talk_heard(struct talk *talk, const char *host)
{
    return &talk->heard[story_host(&talk->story, host)->id];
}

void talk_expect_all(struct talk *talk, const char *hosts)
{
    for (; *hosts != '\0'; hosts++) {
        const struct heard *heard = talk_heard(talk, (char[2]){*hosts, '\0'});
        assert_int_equal(heard->count, talk->published);
        assert_int_equal(heard->missed + heard->backward + heard->repeated + heard->spoiled, 0);
        assert_true(heard->ended);
        assert_string_equal(heard->reason, "that is all");
    }
}
