/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the arithmetic of both ends of a packet train; see train.h. */
#include "core/train.h"

#include <string.h>

#define SHORT_SPAN GMC_MS(3)        /* in less than that, hosts being busy would be seen */
#define SHORT_SPAN_LOSSY GMC_MS(12) /* where packets are lost, it takes more of them to be sure */
#define SILENCE GMC_MS(100)         /* behind two round trips, until no first word is awaited */
#define LATE GMC_MS(15)             /* that a last word may be */
#define MOST GMC_MS(400)            /* longer than that nothing is awaited, whatever words say */
#define RATE_MAX UINT64_C(10000000000000)

/* ---- the receiver ---- */
static bool is_of_long(uint32_t sample)
{
    return sample >= GMC_TRAIN_SHORT;
}

gmc_status gmc_train_take(struct gmc_train_in *in, uint32_t sample, gmc_time came, bool *told,
                          struct gmc_train_word *word)
{
    uint64_t bit = UINT64_C(1) << sample % 64;

    if (sample >= GMC_TRAIN_SAMPLES)
        return GMC_ERR_INVALID;
    if (in->had[sample / 64] & bit)
        return GMC_ERR_FULL;
    in->had[sample / 64] |= bit;
    *told = false;
    if (in->is_long && !is_of_long(sample))
        return GMC_OK; /* it was overtaken */
    if (in->is_long != is_of_long(sample))
        in->packets = 0;
    in->is_long = is_of_long(sample);
    if (in->packets++ == 0)
        in->first = in->last = came;
    in->first = gmc_time_min(in->first, came);
    in->last = gmc_time_max(in->last, came);
    gmc_duration span = in->last - in->first;
    *told = in->packets % GMC_TRAIN_TOLD == 0;
    word->bytes = (in->packets - 1) * GMC_TRAIN_WIRE_BYTES;
    word->span = span < UINT32_MAX ? (uint32_t)span : UINT32_MAX;
    return GMC_OK;
}

/* ---- the sender ---- */
/* Whole words, so that the last packet brings one. */
static void set_length(struct gmc_train_out *out, uint32_t packets)
{
    uint32_t words = (packets + GMC_TRAIN_TOLD * (uint32_t)out->count - 1) /
                     (GMC_TRAIN_TOLD * (uint32_t)out->count);

    out->each = words * GMC_TRAIN_TOLD;
    out->sent = 0;
    out->until = out->latest = GMC_TIME_NEVER;
    out->last = 0;
    memset(out->words, 0, sizeof(out->words));
}

void gmc_train_begin(struct gmc_train_out *out, size_t count, gmc_duration rtt)
{
    *out = (struct gmc_train_out){.count = count, .patience = 2 * rtt + SILENCE};
    set_length(out, GMC_TRAIN_SHORT);
}

bool gmc_train_next(struct gmc_train_out *out, gmc_time now, size_t *to, uint32_t *sample)
{
    if (out->over || out->sent == out->each * out->count)
        return false;
    *to = out->sent % out->count;
    *sample = out->sent / (uint32_t)out->count + (out->is_long ? GMC_TRAIN_SHORT : 0);
    out->sent++;
    if (out->sent == out->each * out->count)
        out->until = gmc_time_add(now, out->patience);
    out->latest = gmc_time_add(now, out->patience + MOST);
    return true;
}

static bool is_heard_of_all(const struct gmc_train_out *out)
{
    for (size_t i = 0; i < out->count; i++)
        if (out->words[i].bytes == 0)
            return false;
    return true;
}

/* When the last packet comes follows from when those before it came. */
static void await_rest(struct gmc_train_out *out, gmc_time now, const struct gmc_train_word *word)
{
    uint64_t rest = (out->each - 1) * GMC_TRAIN_WIRE_BYTES - word->bytes;
    gmc_time last = gmc_time_add(now, rest * word->span / word->bytes + LATE);

    out->last = gmc_time_min(gmc_time_max(out->last, last), out->latest);
    if (out->until != GMC_TIME_NEVER)
        out->until = is_heard_of_all(out) ? out->last : gmc_time_max(out->until, out->last);
}

gmc_status gmc_train_told(struct gmc_train_out *out, gmc_time now, size_t from, uint32_t sample,
                          const struct gmc_train_word *word)
{
    if (out->over || from >= out->count || is_of_long(sample) != out->is_long ||
        word->bytes <= out->words[from].bytes)
        return GMC_ERR_UNKNOWN;
    if (word->bytes > (out->each - 1) * GMC_TRAIN_WIRE_BYTES || word->span == 0)
        return GMC_ERR_INVALID;
    out->words[from] = *word;
    await_rest(out, now, word);
    return GMC_OK;
}

static bool is_all_told(const struct gmc_train_out *out)
{
    for (size_t i = 0; i < out->count; i++)
        if (out->words[i].bytes != (out->each - 1) * GMC_TRAIN_WIRE_BYTES)
            return false;
    return true;
}

static uint64_t rate_of(const struct gmc_train_word *word)
{
    return word->bytes * UINT64_C(8) * GMC_S(1) / word->span;
}

/* What half of those that were heard of got at least; 0: none was. */
static uint64_t middle_rate(const struct gmc_train_out *out)
{
    uint64_t rates[GMC_TRAIN_PEERS];
    size_t count = 0;

    for (size_t i = 0; i < out->count; i++) {
        size_t at = count;
        if (out->words[i].bytes == 0)
            continue;
        for (; at > 0 && rates[at - 1] > rate_of(&out->words[i]); at--)
            rates[at] = rates[at - 1];
        rates[at] = rate_of(&out->words[i]);
        count++;
    }
    return count > 0 ? rates[(count - 1) / 2] : 0;
}

/* What all of them got at once. Of whom nothing was heard, because its packets or its words were
 * lost, counts like the others: it was sent as much. So does, in a large group, who got less than
 * half of them did: it may be near to many, who sent to it at the same time (probe_train.c).
 * Returns how long it took. */
static gmc_duration evaluate(struct gmc_train_out *out)
{
    gmc_duration span = 0;
    uint64_t rate = 0, heard = 0;

    uint64_t middle = out->count == GMC_TRAIN_PEERS ? middle_rate(out) : 0;
    for (size_t i = 0; i < out->count; i++) {
        const struct gmc_train_word *word = &out->words[i];
        if (word->bytes == 0)
            continue;
        uint64_t one = rate_of(word);
        rate += one > middle ? one : middle;
        span = word->span > span ? word->span : span;
        heard++;
    }
    if (heard > 0)
        out->rate_bps = rate < RATE_MAX / out->count ? rate * out->count / heard : RATE_MAX;
    return span;
}

bool gmc_train_is_over(struct gmc_train_out *out, gmc_time now)
{
    if (out->over || out->count == 0)
        return true;
    if (out->until == GMC_TIME_NEVER || (now < out->until && !is_all_told(out)))
        return false;
    gmc_duration span = evaluate(out);
    out->over =
        out->is_long || span == 0 || span >= (is_all_told(out) ? SHORT_SPAN : SHORT_SPAN_LOSSY);
    if (!out->over) {
        out->is_long = true;
        set_length(out, GMC_TRAIN_LONG);
    }
    return out->over;
}

gmc_time gmc_train_deadline(const struct gmc_train_out *out)
{
    return out->over || out->count == 0   ? GMC_TIME_NEVER
           : out->until == GMC_TIME_NEVER ? 0 /* packets are to go */
                                          : out->until;
}

uint64_t gmc_train_rate(const struct gmc_train_out *out)
{
    return out->rate_bps;
}
