/* SPDX-License-Identifier: BSD-2-Clause */
/* The train of one participant of a round, which follows its echoes: who gets it, the bytes of it,
 * and what is said about those of others. */
#include <stdlib.h>
#include <string.h>

#include "core/probe_impl.h"

_Static_assert(GMC_TRAIN_WIRE_BYTES == GMC_TRAIN_BYTES + 28, "heads of IPv4 and UDP");

/* ---- sending ---- */
/* The next ones behind this participant: each is in the trains of as many others. */
void gmc_probe_train_begin(struct gmc_probe *probe)
{
    gmc_duration rtt = 0;
    size_t count = 0;

    if (probe->train.count > 0)
        return;
    for (size_t d = 1; d < probe->count && count < GMC_TRAIN_PEERS; d++) {
        size_t at = (probe->self + d) % probe->count;
        const struct target *target = &probe->targets[at];

        if (target->peer == GMC_PEER_NONE || (target->wanted && target->answered == 0))
            continue;
        probe->train_to[count++] = at;
        /* How far those are that were not to be measured is not known here. */
        gmc_duration far = target->wanted ? target->rtt_max : probe->patience;
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
