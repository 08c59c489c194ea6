/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns one participant's part in a latency round: when to ask whom, what to answer, which samples
 * count, and when it is over. */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/list.h"
#include "core/probe_impl.h"

#define SAMPLES GMC_PROBE_SAMPLES
#define TRIES PROBE_TRIES
#define ALL_SAMPLES ((1u << SAMPLES) - 1)
#define GAP_MAX GMC_MS(2)
#define OVERDUE_EXTRA GMC_MS(10)
#define TIMEOUT_DEFAULT GMC_S(1)
#define TAG_AT 23
#define TAGGED_BYTES 23

/* ---- samples ---- */

static unsigned samples_in(const struct target *target)
{
    return (target->answered | target->answered >> SAMPLES) & ALL_SAMPLES;
}

static bool is_settled(const struct target *target)
{
    return !target->wanted || (samples_in(target) | target->given_up) == ALL_SAMPLES;
}

/* When the sample becomes overdue, for the first or for the second time; NEVER when it is in, was
 * not asked yet, or was asked twice of someone who may just be farther away than thought. */
static gmc_time overdue_at(const struct gmc_probe *probe, const struct target *target,
                           unsigned sample)
{
    bool heard = target->answered != 0;
    bool twice = target->asked >> (sample + SAMPLES) & 1;
    gmc_duration wait = heard ? gmc_time_add(target->rtt_max, target->rtt_max) : probe->patience;

    if ((samples_in(target) | target->given_up) >> sample & 1)
        return GMC_TIME_NEVER;
    if (!(target->asked >> sample & 1) || (twice && !heard))
        return GMC_TIME_NEVER;
    return gmc_time_add(target->sent[sample + (twice ? SAMPLES : 0)],
                        gmc_time_add(wait, heard ? OVERDUE_EXTRA : 0));
}

/* The sample that becomes overdue first; returns when. */
static gmc_time first_overdue(const struct gmc_probe *probe, const struct target *target,
                              unsigned *sample)
{
    gmc_time first = GMC_TIME_NEVER;

    *sample = 0;
    for (unsigned i = 0; i < SAMPLES; i++) {
        gmc_time when = overdue_at(probe, target, i);

        if (when < first) {
            first = when;
            *sample = i;
        }
    }
    return first;
}

static void timer_set(struct gmc_probe *probe, struct target *target)
{
    unsigned sample;
    gmc_time when = first_overdue(probe, target, &sample);
    uint64_t seq = (uint64_t)(target - probe->targets);

    if (when == GMC_TIME_NEVER) {
        gmc_heap_remove(&probe->timers, &target->timer);
    } else if (gmc_heap_node_is_queued(&target->timer)) {
        gmc_heap_update(&probe->timers, &target->timer, when, seq);
    } else {
        gmc_status status = gmc_heap_push(&probe->timers, &target->timer, when, seq);

        GMC_ASSERT(status == GMC_OK); /* room was reserved */
    }
}

static struct target *timer_first(const struct gmc_probe *probe)
{
    struct gmc_heap_node *node = gmc_heap_peek(&probe->timers);

    return node != NULL ? GMC_CONTAINER_OF(node, struct target, timer) : NULL;
}

/* ---- bytes ---- */

static gmc_status echo_tag(const struct gmc_probe *probe, const struct gmc_echo *echo,
                           const uint8_t *dgram, uint8_t tag[GMC_LINK_TAG_BYTES])
{
    uint8_t nonce[GMC_NONCE_BYTES] = {echo->kind};

    gmc_put16(nonce + 2, echo->from);
    gmc_put16(nonce + 4, echo->to);
    gmc_put16(nonce + 6, echo->sample);
    return probe->crypto->ops->tag(probe->aead, nonce, gmc_bytes(dgram, TAGGED_BYTES),
                                   gmc_bytes(NULL, 0), tag);
}

gmc_status gmc_probe_write(const struct gmc_probe *probe, const struct gmc_echo *echo,
                           uint8_t out[GMC_ECHO_BYTES])
{
    gmc_echo_put(out, echo);
    return echo_tag(probe, echo, out, out + TAG_AT);
}

gmc_status gmc_probe_read(const struct gmc_probe *probe, struct gmc_bytes dgram, uint8_t kind,
                          struct gmc_echo *echo)
{
    uint8_t tag[GMC_LINK_TAG_BYTES];
    unsigned differs = 0;
    gmc_status status;
    bool is_echo = kind == GMC_KIND_ECHO || kind == GMC_KIND_ECHO_REPLY;
    size_t len = kind == GMC_KIND_TRAIN ? GMC_TRAIN_BYTES : GMC_ECHO_BYTES;

    if (dgram.len != len || gmc_echo_get(dgram, echo) != GMC_OK)
        return GMC_ERR_INVALID;
    if (echo->kind != kind || echo->probe != probe->id || echo->from >= probe->total ||
        echo->to >= probe->total || echo->from == echo->to ||
        echo->sample >= (is_echo ? TRIES : GMC_TRAIN_SAMPLES))
        return GMC_ERR_INVALID;
    status = echo_tag(probe, echo, dgram.data, tag);
    if (status != GMC_OK)
        return status;
    for (size_t i = 0; i < sizeof(tag); i++)
        differs |= tag[i] ^ dgram.data[TAG_AT + i];
    return differs == 0 ? GMC_OK : GMC_ERR_AUTH;
}

/* ---- life ---- */

uint32_t gmc_probe_number(const struct gmc_probe *probe, size_t i)
{
    return probe->numbers != NULL ? probe->numbers[i] : (uint32_t)i;
}

size_t gmc_probe_index(const struct gmc_probe *probe, uint32_t number)
{
    size_t low = 0, high = probe->count;

    if (probe->numbers == NULL)
        return number < probe->count ? number : SIZE_MAX;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (probe->numbers[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < probe->count && probe->numbers[low] == number ? low : SIZE_MAX;
}

gmc_duration gmc_probe_spread(size_t total)
{
    return (gmc_duration)GMC_PROBE_SAMPLES_OF_MANY * total * GMC_PROBE_HEARD_EVERY;
}

/* Takes over the numbers; false when they are out of range or there is no memory. */
static bool numbers_init(struct gmc_probe *probe, const struct gmc_probe_config *config)
{
    probe->total = config->total != 0 ? config->total : config->count;
    if (probe->total < config->count || probe->total > GMC_PROBE_PARTICIPANTS_MAX)
        return false;
    if (config->numbers == NULL)
        return true;
    probe->numbers = malloc(config->count * sizeof(*probe->numbers));
    if (probe->numbers == NULL)
        return false;
    for (size_t i = 0; i < config->count; i++) {
        probe->numbers[i] = config->numbers[i];
        if (config->numbers[i] >= probe->total ||
            (i > 0 && config->numbers[i] <= config->numbers[i - 1]))
            return false;
    }
    return true;
}

/* Echoes of a round of many are spread over as long as everybody's take to be heard by one. */
static void spread_init(struct gmc_probe *probe, gmc_time now, gmc_duration timeout)
{
    gmc_duration spread = gmc_probe_spread(probe->total);

    probe->gap = GAP_MAX;
    size_t echoes = probe->samples * probe->open;
    if (echoes > 0 && timeout / 4 / echoes < probe->gap)
        probe->gap = timeout / 4 / echoes;
    if (probe->numbers != NULL && echoes > 0 && spread / echoes > probe->gap) {
        probe->gap = spread / echoes;
        probe->end = gmc_time_add(probe->end, spread);
    }
    /* All participants begin at about the same time: not with the same beat. */
    probe->next_at = gmc_time_add(now, gmc_prng_below(&probe->prng, probe->gap + 1));
}

static void targets_init(struct gmc_probe *probe, const struct gmc_probe_config *config)
{
    for (size_t i = 0; i < probe->count; i++) {
        struct target *target = &probe->targets[i];
        bool skipped = config->skip != NULL && (config->skip[i / 64] >> i % 64 & 1);

        target->peer = config->participants[i];
        target->given_up = (uint8_t)(ALL_SAMPLES & ~((1u << probe->samples) - 1));
        target->wanted = i != probe->self && !skipped && target->peer != GMC_PEER_NONE;
        probe->open += target->wanted;
    }
}

struct gmc_probe *gmc_probe_new(const struct gmc_probe_config *config, gmc_time now)
{
    gmc_duration timeout = config->timeout != 0 ? config->timeout : TIMEOUT_DEFAULT;
    struct gmc_probe *probe;

    if (config->count == 0 || config->count > GMC_PROBE_PARTICIPANTS_MAX ||
        config->self >= config->count)
        return NULL;
    probe = calloc(1, sizeof(*probe) + config->count * sizeof(probe->targets[0]));
    if (probe == NULL)
        return NULL;
    probe->crypto = config->crypto;
    probe->id = config->id;
    probe->prng = config->prng;
    probe->count = config->count;
    probe->self = config->self;
    probe->end = gmc_time_add(now, timeout);
    probe->patience = timeout / 3;
    gmc_heap_init(&probe->timers);
    gmc_map_init(&probe->served, config->id);
    if (!numbers_init(probe, config)) {
        gmc_probe_free(probe);
        return NULL;
    }
    probe->samples = probe->numbers != NULL ? GMC_PROBE_SAMPLES_OF_MANY : SAMPLES;
    targets_init(probe, config);
    spread_init(probe, now, timeout);
    probe->aead = config->crypto->ops->aead_new(config->crypto->ctx, config->key);
    if (probe->aead == NULL || gmc_heap_reserve(&probe->timers, probe->open) != GMC_OK) {
        gmc_probe_free(probe);
        return NULL;
    }
    return probe;
}

void gmc_probe_free(struct gmc_probe *probe)
{
    if (probe == NULL)
        return;
    if (probe->aead != NULL)
        probe->crypto->ops->aead_free(probe->aead);
    for (size_t i = 0; probe->trains != NULL && i < probe->count; i++)
        free(probe->trains[i]);
    gmc_heap_fini(&probe->timers);
    gmc_map_fini(&probe->served);
    free(probe->trains);
    free(probe->numbers);
    free(probe);
}

uint64_t gmc_probe_id(const struct gmc_probe *probe)
{
    return probe->id;
}

/* ---- asking ---- */

static size_t first_pass_total(const struct gmc_probe *probe)
{
    return probe->samples * (probe->count - 1);
}

/* The next first try: one sample of everyone, then the next one. Everyone begins behind himself,
 * so that not all ask the same one at once. */
static struct target *first_pass_next(struct gmc_probe *probe, unsigned *number)
{
    size_t others = probe->count - 1;

    while (probe->first_pass < first_pass_total(probe)) {
        size_t step = probe->first_pass++;
        struct target *target = &probe->targets[(probe->self + 1 + step % others) % probe->count];

        if (!target->wanted)
            continue;
        *number = (unsigned)(step / others);
        return target;
    }
    return NULL;
}

/* Gives up the samples that are overdue for the second time; returns a target with one that is
 * overdue for the first time. */
static struct target *second_try_next(struct gmc_probe *probe, gmc_time now, unsigned *number)
{
    struct target *target;

    while ((target = timer_first(probe)) != NULL && target->timer.key <= now) {
        unsigned sample;

        (void)first_overdue(probe, target, &sample);
        if (!(target->asked >> (sample + SAMPLES) & 1)) {
            *number = sample + SAMPLES;
            return target;
        }
        target->given_up |= (uint8_t)(1u << sample);
        probe->open -= is_settled(target);
        timer_set(probe, target);
    }
    return NULL;
}

bool gmc_probe_next_echo(struct gmc_probe *probe, gmc_time now, uint8_t out[GMC_ECHO_BYTES],
                         gmc_peer *to)
{
    struct target *target = NULL, *again;
    struct gmc_echo echo;
    unsigned number = 0;

    if (now >= probe->end)
        probe->over = true;
    if (probe->over || probe->open == 0)
        return false;
    again = second_try_next(probe, now, &number);
    if (now < probe->next_at)
        return false;
    if (probe->first_pass < first_pass_total(probe))
        target = first_pass_next(probe, &number);
    if (target == NULL)
        target = again;
    if (target == NULL)
        return false;
    target->asked |= (uint8_t)(1u << number);
    target->sent[number] = now;
    timer_set(probe, target);
    probe->next_at =
        gmc_time_add(now, probe->gap / 2 + gmc_prng_below(&probe->prng, probe->gap + 1));
    echo = (struct gmc_echo){.kind = GMC_KIND_ECHO,
                             .probe = probe->id,
                             .from = (uint16_t)gmc_probe_number(probe, probe->self),
                             .to = (uint16_t)gmc_probe_number(probe,
                                                              (size_t)(target - probe->targets)),
                             .sample = (uint16_t)number,
                             .time = now};
    /* An echo that could not be tagged counts as lost. */
    if (gmc_probe_write(probe, &echo, out) != GMC_OK)
        memset(out + TAG_AT, 0, GMC_LINK_TAG_BYTES);
    *to = target->peer;
    return true;
}

gmc_time gmc_probe_deadline(const struct gmc_probe *probe)
{
    const struct target *target = timer_first(probe);
    gmc_time when = probe->end;

    if (probe->over || probe->open == 0)
        return gmc_train_deadline(&probe->train);
    if (probe->first_pass < first_pass_total(probe))
        when = gmc_time_min(when, probe->next_at);
    if (target != NULL) {
        unsigned sample;
        gmc_time due = first_overdue(probe, target, &sample);
        bool is_second_try = !(target->asked >> (sample + SAMPLES) & 1);

        when = gmc_time_min(when, is_second_try ? gmc_time_max(due, probe->next_at) : due);
    }
    return when;
}

bool gmc_probe_done(const struct gmc_probe *probe, gmc_time now)
{
    return probe->over || probe->open == 0 || now >= probe->end;
}

/* ---- answering, and taking answers ---- */

/* An echo number is answered once. FULL: it was; NOMEM. */
static gmc_status serve_once(struct gmc_probe *probe, const struct gmc_echo *echo)
{
    size_t index = gmc_probe_index(probe, echo->from);
    uint64_t key = (uint64_t)echo->from + 1;
    uintptr_t bit = (uintptr_t)1 << echo->sample;

    if (index != SIZE_MAX) {
        struct target *asker = &probe->targets[index];

        if (asker->served & bit)
            return GMC_ERR_FULL;
        asker->served |= (uint8_t)bit;
        return GMC_OK;
    }
    uintptr_t served = (uintptr_t)gmc_map_get(&probe->served, key);

    if (served & bit)
        return GMC_ERR_FULL;
    return gmc_map_put(&probe->served, key, (void *)(served | bit));
}

gmc_status gmc_probe_on_echo(struct gmc_probe *probe, struct gmc_bytes dgram,
                             uint8_t reply[GMC_ECHO_BYTES])
{
    struct gmc_echo echo;
    gmc_status status = gmc_probe_read(probe, dgram, GMC_KIND_ECHO, &echo);

    if (status != GMC_OK)
        return status;
    if (echo.to != gmc_probe_number(probe, probe->self))
        return GMC_ERR_INVALID;
    status = serve_once(probe, &echo);
    if (status != GMC_OK)
        return status;
    echo.kind = GMC_KIND_ECHO_REPLY;
    return gmc_probe_write(probe, &echo, reply);
}

static void take_sample(struct target *target, gmc_time now, unsigned number)
{
    gmc_duration rtt = gmc_time_sub(now, target->sent[number]);

    if (rtt == 0)
        rtt = 1; /* 0 means unknown elsewhere */
    if (target->answered == 0 || rtt < target->rtt_min)
        target->rtt_min = rtt;
    if (target->answered == 0 || rtt > target->rtt_max)
        target->rtt_max = rtt;
    target->answered |= (uint8_t)(1u << number);
    target->measured = now;
}

gmc_status gmc_probe_on_reply(struct gmc_probe *probe, gmc_time now, struct gmc_bytes dgram)
{
    struct gmc_echo echo;
    struct target *target;
    bool was_settled;
    size_t index;
    gmc_status status = gmc_probe_read(probe, dgram, GMC_KIND_ECHO_REPLY, &echo);

    if (status != GMC_OK)
        return status;
    index = gmc_probe_index(probe, echo.to);
    if (echo.from != gmc_probe_number(probe, probe->self) || index == SIZE_MAX)
        return GMC_ERR_INVALID;
    target = &probe->targets[index];
    if (!((target->asked & ~target->answered) >> echo.sample & 1))
        return GMC_ERR_UNKNOWN;
    if (echo.time != target->sent[echo.sample])
        return GMC_ERR_INVALID;
    was_settled = is_settled(target);
    take_sample(target, now, echo.sample);
    probe->open -= !was_settled && is_settled(target);
    timer_set(probe, target);
    return GMC_OK;
}

bool gmc_probe_result(const struct gmc_probe *probe, size_t i, struct gmc_latency *latency)
{
    const struct target *target;

    GMC_ASSERT(i < probe->count);
    target = &probe->targets[i];
    if (target->answered == 0)
        return false;
    *latency = (struct gmc_latency){.rtt_min = target->rtt_min,
                                    .spread = target->rtt_max - target->rtt_min,
                                    .measured = target->measured};
    return true;
}
