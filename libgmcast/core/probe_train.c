/* SPDX-License-Identifier: BSD-2-Clause */
/* The train of one participant of a round, which follows its echoes: who gets it, the bytes of it,
 * and what is said about those of others. */
#include <stdlib.h>
#include <string.h>

#include "core/probe_impl.h"

_Static_assert(GMC_TRAIN_WIRE_BYTES == GMC_TRAIN_BYTES + 28, "heads of IPv4 and UDP");

/* ---- sending ---- */
/* Of whom nothing is known it is the most that any echo would be waited for. */
static gmc_duration distance(const struct gmc_probe *probe, const gmc_duration *known, size_t at)
{
    const struct target *target = &probe->targets[at];

    if (target->wanted)
        return target->rtt_min;
    return known != NULL && known[at] != 0 ? known[at] : probe->patience;
}

/* Who could be sent to: the next ones behind this participant, so that nobody, however near, is in
 * the trains of more than as many others. */
static size_t candidates(const struct gmc_probe *probe, size_t *list)
{
    size_t count = 0;

    for (size_t d = 1; d < probe->count && count < GMC_TRAIN_AMONG; d++) {
        size_t at = (probe->self + d) % probe->count;
        const struct target *target = &probe->targets[at];

        if (target->peer != GMC_PEER_NONE && (!target->wanted || target->answered != 0))
            list[count++] = at;
    }
    return count;
}

/* Moves the nearest of the list to its front; of two alike the first. */
static void nearest_first(const struct gmc_probe *probe, const gmc_duration *known, size_t *list,
                          size_t count)
{
    size_t best = 0;

    for (size_t i = 1; i < count; i++)
        if (distance(probe, known, list[i]) < distance(probe, known, list[best]))
            best = i;
    size_t nearest = list[best];
    memmove(&list[1], &list[0], best * sizeof(*list));
    list[0] = nearest;
}

/* The nearest will most likely be its children, and are over all its ways out; the others follow in
 * the order of the list. */
void gmc_probe_train_begin(struct gmc_probe *probe, const gmc_duration *known)
{
    size_t list[GMC_TRAIN_AMONG], count;
    gmc_duration rtt = 0;

    if (probe->train.count > 0)
        return;
    count = candidates(probe, list);
    for (size_t i = 0; i < GMC_TRAIN_NEAR && i < count; i++)
        nearest_first(probe, known, list + i, count - i);
    if (count > GMC_TRAIN_PEERS)
        count = GMC_TRAIN_PEERS;
    for (size_t i = 0; i < count; i++) {
        const struct target *target = &probe->targets[list[i]];
        gmc_duration far = target->wanted ? target->rtt_max : distance(probe, known, list[i]);

        probe->train_to[i] = list[i];
        rtt = far > rtt ? far : rtt;
    }
    if (count > 0)
        gmc_train_begin(&probe->train, count, rtt);
}

bool gmc_probe_next_train(struct gmc_probe *probe, gmc_time now, uint8_t out[GMC_TRAIN_BYTES],
                          gmc_peer *to)
{
    uint32_t sample;
    size_t slot;

    if (!gmc_train_next(&probe->train, now, &slot, &sample))
        return false;
    size_t at = probe->train_to[slot];
    struct gmc_echo echo = {.kind = GMC_KIND_TRAIN,
                            .probe = probe->id,
                            .from = (uint16_t)gmc_probe_number(probe, probe->self),
                            .to = (uint16_t)gmc_probe_number(probe, at),
                            .sample = (uint16_t)sample};
    memset(out + GMC_ECHO_BYTES, 0, GMC_TRAIN_BYTES - GMC_ECHO_BYTES);
    /* One that could not be tagged counts as lost. */
    if (gmc_probe_write(probe, &echo, out) != GMC_OK)
        memset(out, 0, GMC_ECHO_BYTES);
    *to = probe->targets[at].peer;
    return true;
}

bool gmc_probe_train_is_over(struct gmc_probe *probe, gmc_time now)
{
    return gmc_train_is_over(&probe->train, now);
}

size_t gmc_probe_train_receivers(const struct gmc_probe *probe)
{
    return probe->train.count;
}

uint64_t gmc_probe_train_rate(const struct gmc_probe *probe)
{
    return gmc_train_rate(&probe->train);
}

/* ---- those of others ---- */
/* NULL: it is not listed, or there is no memory. */
static struct gmc_train_in *train_of(struct gmc_probe *probe, uint32_t number)
{
    size_t index = gmc_probe_index(probe, number);

    if (index == SIZE_MAX)
        return NULL;
    if (probe->trains == NULL)
        probe->trains = calloc(probe->count, sizeof(*probe->trains));
    if (probe->trains == NULL)
        return NULL;
    if (probe->trains[index] == NULL)
        probe->trains[index] = calloc(1, sizeof(*probe->trains[index]));
    return probe->trains[index];
}

gmc_status gmc_probe_on_train(struct gmc_probe *probe, gmc_time came, struct gmc_bytes dgram,
                              uint8_t reply[GMC_ECHO_BYTES], bool *answers)
{
    struct gmc_train_word word;
    struct gmc_train_in *train;
    struct gmc_echo echo;
    gmc_status status = gmc_probe_read(probe, dgram, GMC_KIND_TRAIN, &echo);

    if (status != GMC_OK)
        return status;
    if (echo.to != gmc_probe_number(probe, probe->self))
        return GMC_ERR_INVALID;
    train = train_of(probe, echo.from);
    if (train == NULL)
        return GMC_ERR_UNKNOWN;
    status = gmc_train_take(train, echo.sample, came, answers, &word);
    if (status != GMC_OK || !*answers)
        return status;
    echo.kind = GMC_KIND_TRAIN_SEEN;
    echo.time = (uint64_t)word.bytes << 32 | word.span;
    return gmc_probe_write(probe, &echo, reply);
}

gmc_status gmc_probe_on_train_seen(struct gmc_probe *probe, gmc_time now, struct gmc_bytes dgram)
{
    struct gmc_echo echo;
    gmc_status status = gmc_probe_read(probe, dgram, GMC_KIND_TRAIN_SEEN, &echo);

    if (status != GMC_OK)
        return status;
    if (echo.from != gmc_probe_number(probe, probe->self))
        return GMC_ERR_INVALID;
    struct gmc_train_word word = {(uint32_t)(echo.time >> 32), (uint32_t)echo.time};
    size_t index = gmc_probe_index(probe, echo.to);
    for (size_t i = 0; i < probe->train.count; i++)
        if (probe->train_to[i] == index)
            return gmc_train_told(&probe->train, now, i, echo.sample, &word);
    return GMC_ERR_UNKNOWN;
}
