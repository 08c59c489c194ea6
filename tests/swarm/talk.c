/* SPDX-License-Identifier: BSD-2-Clause */
/* The swarm's message channel; see talk.h. */
#include "tests/swarm/talk.h"

#include <endian.h>
#include <inttypes.h>
#include <string.h>

#include "base/assert.h"
#include "sim-wan/mem.h"
#include "tests/swarm/draw.h"

#define NUMBER_BYTES 8u
#define BYTES_MAX 20000u
/* All that is published: with proofs, a part of what gateways keep. */
#define ALL_BYTES 3000000u
#define ALL_MESSAGES 3000u

void talk_draw(struct talk *talk, struct sim_world *world, uint64_t seed)
{
    static const size_t sizes[] = {NUMBER_BYTES, 300, 3000, BYTES_MAX};
    struct gmc_prng prng; /* of its own: what else is drawn stays what it is */
    *talk = (struct talk){0};
    gmc_prng_init(&prng, seed ^ UINT64_C(0x74616c6b));
    if (draw(&prng, 0, 9) < 4)
        return;
    talk->world = world;
    talk->source = world->hosts[draw(&prng, 0, world->host_count - 1)];
    talk->order = (enum gmc_message_order)draw(&prng, 0, 2);
    talk->bytes = sizes[draw(&prng, 0, 3)];
    uint64_t most = ALL_BYTES / talk->bytes;
    talk->count = draw(&prng, 1, most < ALL_MESSAGES ? most : ALL_MESSAGES);
    talk->every = GMC_MS(draw(&prng, 500, 9000)) / talk->count;
    for (size_t i = 0; i < sizeof(talk->breaks_at) / sizeof(talk->breaks_at[0]); i++)
        talk->breaks_at[i] = draw(&prng, 0, 2 * talk->count);
    uint64_t percent = draw(&prng, 20, 100);
    for (size_t i = 0; i < world->host_count; i++) {
        struct talk_hearer *hearer = &talk->hearers[i];
        bool is_chosen = draw(&prng, 1, 100) <= percent;
        gmc_interval_init(&hearer->heard, SIZE_MAX);
        hearer->is_target = is_chosen && world->hosts[i] != talk->source;
    }
}

void talk_fini(struct talk *talk)
{
    if (talk->world == NULL)
        return;
    sim_engine_cancel(&talk->world->engine, &talk->step);
    for (size_t i = 0; i < talk->world->host_count; i++)
        gmc_interval_fini(&talk->hearers[i].heard);
}

static bool is_source_lost(const struct talk *talk)
{
    return talk->source->gateway == NULL || talk->source->count.starts != talk->starts;
}

/* ---- publishing ---- */
/* With the n-th host, or the next one after it that has the source for a parent. */
static void break_session(struct talk *talk, uint64_t n)
{
    struct sim_world *world = talk->world;
    for (size_t i = 0; i < world->host_count; i++) {
        uint32_t host = (uint32_t)((n + i) % world->host_count);
        if (!talk->hearers[host].is_target ||
            sim_oracle_parent(&world->oracle, host, &talk->key) != talk->source->id)
            continue;
        sim_session_break(&world->sessions, talk->source->id, host);
        return;
    }
}

static void fill(uint8_t *body, size_t len, uint64_t number)
{
    uint64_t word = htole64(number); /* hashes of the trace are those of any machine */
    memset(body, (int)(number & 0xff), len);
    memcpy(body, &word, NUMBER_BYTES);
}

/* True: it was taken, and what comes next is due later. */
static bool publish(struct talk *talk)
{
    uint8_t body[BYTES_MAX];
    fill(body, talk->bytes, talk->published);
    bool is_last = talk->published == talk->count;
    gmc_status status = is_last
                            ? sim_end(talk->source, &talk->key, "that is all")
                            : sim_publish(talk->source, &talk->key, gmc_bytes(body, talk->bytes));
    talk->has_room = status != GMC_ERR_AGAIN;
    if (status != GMC_OK && status != GMC_ERR_AGAIN)
        sim_oracle_violated(&talk->world->oracle, "%s does not take message %" PRIu64 ": %s",
                            talk->source->name, talk->published, gmc_status_text(status));
    talk->ended = is_last && talk->has_room;
    talk->published += !is_last && talk->has_room;
    return talk->has_room && !talk->ended;
}

static void on_step(struct sim_event *event, gmc_time now)
{
    struct talk *talk = SIM_OWNER(event, struct talk, step);
    if (talk->ended || is_source_lost(talk))
        return;
    if (talk->source->frozen)
        sim_engine_at(&talk->world->engine, event, gmc_time_add(now, GMC_MS(1)));
    else if (talk->has_room && publish(talk))
        sim_engine_at(&talk->world->engine, event, gmc_time_add(now, talk->every));
    for (size_t i = 0; i < sizeof(talk->breaks_at) / sizeof(talk->breaks_at[0]); i++)
        if (talk->published > 0 && talk->published == talk->breaks_at[i]) {
            talk->breaks_at[i] = 0;
            break_session(talk, talk->published);
        }
}

/* ---- hearing ---- */
static bool is_as_published(const struct talk *talk, uint64_t number, struct gmc_bytes message)
{
    uint8_t body[BYTES_MAX];
    fill(body, talk->bytes, number);
    return number < talk->published && message.len == talk->bytes &&
           memcmp(message.data, body, message.len) == 0;
}

static bool has_all(const struct talk *talk, const struct talk_hearer *hearer)
{
    return hearer->ended && hearer->next == talk->count &&
           (talk->order == GMC_MESSAGES_LATEST || hearer->heard.members == talk->count);
}

static void hear(struct talk *talk, const struct sim_host *host, const struct gmc_output *out)
{
    struct talk_hearer *hearer = &talk->hearers[host->id];
    uint64_t number = out->u.arrived.sequence;
    if (hearer->starts != host->count.starts) {
        hearer->starts = host->count.starts;
        hearer->next = 0;
        hearer->ended = false;
        gmc_interval_clear(&hearer->heard);
    }
    hearer->ended = hearer->ended || out->u.arrived.end;
    hearer->has_all = hearer->has_all || has_all(talk, hearer);
    if (out->u.arrived.end)
        return;
    if (!is_as_published(talk, number, out->bytes) ||
        gmc_interval_contains(&hearer->heard, number) ||
        (talk->order != GMC_MESSAGES_UNORDERED && number < hearer->next))
        sim_oracle_violated(&talk->world->oracle,
                            "%s: message %" PRIu64 " of %s is not as published, came twice, or out "
                            "of order",
                            host->name, number, talk->source->name);
    gmc_status status = gmc_interval_add(&hearer->heard, number, number + 1);
    GMC_ASSERT(status == GMC_OK);
    if (number >= hearer->next)
        hearer->next = number + 1;
}

static void on_message(void *ctx, struct sim_host *host, const struct gmc_output *out)
{
    struct talk *talk = ctx;
    if (out->kind == GMC_OUT_ROOM && host == talk->source && out->id == talk->key.e) {
        talk->has_room = true;
        sim_engine_at(&talk->world->engine, &talk->step, talk->world->engine.now);
    } else if (out->kind == GMC_OUT_MESSAGE && talk->hearers[host->id].is_target) {
        hear(talk, host, out);
    }
}

/* ---- life ---- */
void talk_begin(struct talk *talk)
{
    struct sim_host *targets[TALK_HOSTS_MAX];
    const char *error = NULL;
    size_t count = 0;
    if (talk->world == NULL)
        return;
    for (size_t i = 0; i < talk->world->host_count; i++)
        if (talk->hearers[i].is_target)
            targets[count++] = talk->world->hosts[i];
    talk->world->on_message = on_message;
    talk->world->message_ctx = talk;
    talk->starts = talk->source->count.starts;
    sim_event_init(&talk->step, on_step);
    if (sim_open(talk->source, "swarm", targets, count, talk->order, &talk->key, &error) != GMC_OK)
        sim_oracle_violated(&talk->world->oracle, "%s refuses to open a channel: %s",
                            talk->source->name, error != NULL ? error : "?");
}

bool talk_is_over(const struct talk *talk)
{
    return talk->world == NULL || is_source_lost(talk) ||
           (talk->ended && sim_has_ended(talk->source, &talk->key));
}

void talk_judge(const struct talk *talk)
{
    if (talk->world == NULL || is_source_lost(talk))
        return;
    struct sim_oracle *oracle = &talk->world->oracle;
    if (!talk_is_over(talk))
        sim_oracle_violated(oracle,
                            "%s: its channel does not end, of %" PRIu64 " messages %" PRIu64
                            " are published",
                            talk->source->name, talk->count, talk->published);
    for (size_t i = 0; i < talk->world->host_count; i++) {
        const struct talk_hearer *hearer = &talk->hearers[i];
        if (hearer->is_target && !hearer->has_all)
            sim_oracle_violated(oracle,
                                "%s lacks messages of %s: it heard %" PRIu64 " of %" PRIu64
                                ", the last is %" PRIu64 "%s",
                                talk->world->hosts[i]->name, talk->source->name,
                                hearer->heard.members, talk->count, hearer->next,
                                hearer->ended ? ", and the end" : "");
    }
}
