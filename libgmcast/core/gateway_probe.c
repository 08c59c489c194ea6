/* SPDX-License-Identifier: BSD-2-Clause */
/* Latency rounds of the composition: this gateway's own and those that other sources began. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_impl.h"
#include "core/train.h"

#define ROUNDS_MAX 64u       /* at once; more are refused until one is forgotten */
#define ROUND_KEPT GMC_S(5)  /* echoes of slower participants are answered so long */
#define ECHO_LEAST GMC_S(1)  /* that echoes are waited for; or two round trips to the farthest */
#define HEAD_START GMC_MS(5) /* of the word that there is a round, over a train */

static size_t round_count(const struct gmc_gateway *gw)
{
    size_t count = 0;
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &gw->probes)
    {
        count++;
    }
    return count;
}

/* Is what a train would show known, or would it show what transfers leave? */
static bool needs_no_train(const struct gmc_gateway *gw, const struct gwround *round)
{
    size_t others = round->count - 1 < GMC_TRAIN_PEERS ? round->count - 1 : GMC_TRAIN_PEERS;
    bool is_young = gw->trained.at != 0 &&
                    gmc_time_sub(gw->now, gw->trained.at) <= gw->config.probe_age_max / 2;
    if (gw->config.uplink_bps > 0 || gw->config.fixed_rate_bps > 0)
        return true;
    return round->rates != GMC_RATES_ANEW &&
           (gw->feeding > 0 || (is_young && gw->trained.receivers >= others));
}

gmc_duration gw_farthest(struct gmc_gateway *gw, const gmc_peer *participants, size_t count)
{
    gmc_duration far = 0;
    for (size_t i = 0; i < count; i++) {
        const struct gwpeer *peer = gw_peer(gw, participants[i]);
        if (peer != NULL && peer->up)
            far = gmc_time_max(far, gmc_link_least_rtt(peer->link));
    }
    return far;
}

struct gwround *gw_round_new(struct gmc_gateway *gw, struct gwpeer *source,
                             const struct gwround_config *who)
{
    size_t count = who->count;
    if (round_count(gw) >= ROUNDS_MAX)
        return NULL;
    struct gwround *round = calloc(1, sizeof(*round));
    gmc_peer *copy = malloc(sizeof(*copy) * count);
    if (round == NULL || copy == NULL) {
        free(round);
        free(copy);
        return NULL;
    }
    memcpy(copy, who->participants, sizeof(*copy) * count);
    round->participants = copy;
    round->count = count;
    round->source = source;
    round->rates = who->rates;
    round->sends_train = round->rates != GMC_RATES_NONE && !needs_no_train(gw, round);
    round->train_at = gmc_time_add(gw->now, HEAD_START);
    round->forget_at = gmc_time_add(gw->now, ROUND_KEPT + 2 * gmc_probe_spread(who->total));
    gmc_list_init(&round->node);
    struct gmc_probe_config config = {
        .crypto = gw->config.crypto,
        .id = who->id,
        .participants = copy,
        .count = count,
        .self = who->self,
        .numbers = who->numbers,
        .total = who->total,
        .timeout = gmc_time_max(ECHO_LEAST, 2 * gw_farthest(gw, copy, count)),
    };
    memcpy(config.key, who->key, GMC_KEY_BYTES);
    uint64_t *skip = calloc(count / 64 + 1, sizeof(*skip));
    for (size_t i = 0; skip != NULL && i < count && i / 8 < who->mask.len; i++)
        skip[i / 64] |= (uint64_t)(who->mask.data[i / 8] >> (i % 8) & 1) << (i % 64);
    config.skip = skip;
    gmc_prng_fork_nth(&gw->prng, "probe", who->id, &config.prng);
    round->probe = gmc_probe_new(&config, gw->now);
    free(skip);
    if (round->probe == NULL) {
        free(round);
        free(copy);
        return NULL;
    }
    gmc_list_push_back(&gw->probes, &round->node);
    return round;
}

void gw_round_free(struct gwround *round)
{
    gmc_list_remove(&round->node);
    gmc_probe_free(round->probe);
    free(round->participants);
    free(round);
}

/* A source asks this gateway to measure. */
void gw_on_probe(struct gmc_gateway *gw, struct gwpeer *peer, const struct gmc_msg *msg)
{
    if (msg->name_count < 2 || msg->name_count > GMC_PROBE_PARTICIPANTS_MAX ||
        msg->secret == NULL) {
        gw->counts.messages_refused++;
        return;
    }
    gmc_peer *participants = malloc(sizeof(*participants) * msg->name_count);
    if (participants == NULL)
        return;
    size_t self = msg->name_count;
    for (size_t i = 0; i < msg->name_count; i++) {
        struct gwpeer *known = gw_peer_by_name(gw, msg->names[i]);
        participants[i] = known != NULL ? known->number : GMC_PEER_NONE;
        if (participants[i] == gw->self)
            self = i;
    }
    /* Only the source itself may ask, and only for a round that this gateway is part of. */
    if (participants[0] == peer->number && self < msg->name_count &&
        gw_round_new(gw, peer,
                     &(struct gwround_config){.id = msg->probe_id,
                                              .key = msg->secret,
                                              .participants = participants,
                                              .numbers = msg->numbers,
                                              .count = msg->name_count,
                                              .self = self,
                                              .total = msg->total,
                                              .mask = msg->mask,
                                              .rates = (enum gmc_rates)msg->rates}) != NULL)
        gw_probe_step(gw);
    else
        gw->counts.messages_refused++;
    free(participants);
}

/* addr NULL: its configured address. */
static struct gmc_dgram_out *send_bytes(struct gmc_gateway *gw, struct gmc_bytes bytes, gmc_peer to,
                                        const struct gmc_addr *addr)
{
    struct gwout *out = gw_out(gw, GMC_OUT_DATAGRAM, to);
    out->owned = malloc(bytes.len);
    GMC_ASSERT(out->owned != NULL);
    memcpy(out->owned, bytes.data, bytes.len);
    struct gmc_dgram_out *dgram = &out->output.u.dgram;
    dgram->path = GMC_PATH_UDP;
    dgram->peer = to;
    if (addr != NULL)
        dgram->to = *addr;
    dgram->body = gmc_bytes(out->owned, bytes.len);
    return dgram;
}

static struct gwround *round_find(struct gmc_gateway *gw, uint64_t id)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &gw->probes)
    {
        struct gwround *round = GMC_CONTAINER_OF(node, struct gwround, node);
        if (gmc_probe_id(round->probe) == id)
            return round;
    }
    return NULL;
}

gmc_status gw_on_echo(struct gmc_gateway *gw, const struct gmc_dgram_in *in, uint8_t kind)
{
    struct gmc_echo echo;
    gmc_status status = gmc_echo_get(in->bytes, &echo);
    if (status == GMC_OK && in->path != GMC_PATH_UDP)
        status = GMC_ERR_INVALID;
    struct gwround *round = status == GMC_OK ? round_find(gw, echo.probe) : NULL;
    if (round == NULL) {
        gw->counts.echoes_refused++;
        return status != GMC_OK ? status : GMC_ERR_UNKNOWN;
    }
    uint8_t reply[GMC_ECHO_BYTES];
    bool answers = false;
    switch (kind) {
    case GMC_KIND_ECHO:
        status = gmc_probe_on_echo(round->probe, in->bytes, reply);
        answers = true;
        break;
    case GMC_KIND_TRAIN:
        status = gmc_probe_on_train(round->probe, gmc_time_sub(gw->now, in->waited), in->bytes,
                                    reply, &answers);
        break;
    case GMC_KIND_TRAIN_SEEN:
        status = gmc_probe_on_train_seen(round->probe, gw->now, in->bytes);
        break;
    default:
        status = gmc_probe_on_reply(round->probe, gw->now, in->bytes);
    }
    if (status == GMC_OK && answers) {
        /* The answer goes back to where the question came from: it is not larger. */
        size_t asker = gmc_probe_index(round->probe, echo.from);
        send_bytes(gw, gmc_bytes(reply, sizeof(reply)),
                   asker != SIZE_MAX ? round->participants[asker] : GMC_PEER_NONE, &in->from);
    } else if (status == GMC_OK) {
        gw_probe_step(gw);
    } else {
        gw->counts.echoes_refused++;
    }
    return status;
}

/* ---- the uplink ---- */
/* One with fewer receivers shows less, and so does one beside a transfer, unless it shows more. But
 * where the train before it, or transfers, carried more than twice as much, that was at another
 * time. */
static void note_train(struct gmc_gateway *gw, const struct gwround *round)
{
    struct gwtrained shown = {.rate_bps = gmc_probe_train_rate(round->probe),
                              .receivers = gmc_probe_train_receivers(round->probe),
                              .at = gw->now};
    bool is_old = gmc_time_sub(gw->now, gw->trained.at) > gw->config.probe_age_max;
    bool is_poor = shown.receivers < gw->trained.receivers ||
                   (gw->feeding > 0 && shown.rate_bps >= gw->trained.rate_bps / 2);
    if (shown.rate_bps == 0 || (!is_old && is_poor && shown.rate_bps < gw->trained.rate_bps))
        return;
    gw->trained = shown;
    gw->learnt.hint_bps = shown.rate_bps;
    if (gmc_peak_most(&gw->peak, gw->now, gw->config.probe_age_max) / 2 > shown.rate_bps)
        gw->peak = (struct gmc_peak){0};
}

/* How far those are that need not be measured is in this gateway's cache, from earlier rounds. */
static void begin_train(struct gmc_gateway *gw, const struct gwround *round)
{
    gmc_duration *known = calloc(round->count, sizeof(*known));
    for (size_t i = 0; known != NULL && i < round->count; i++) {
        struct gmc_latency latency;
        if (round->participants[i] != GMC_PEER_NONE &&
            gmc_latency_cache_get(gw->latencies, gw->self, round->participants[i], gw->now,
                                  gw->config.probe_age_max, &latency))
            known[i] = latency.rtt_min;
    }
    gmc_probe_train_begin(round->probe, known);
    free(known);
}

/* True when the uplink is measured, or will not be. */
static bool step_train(struct gmc_gateway *gw, struct gwround *round)
{
    uint8_t packet[GMC_TRAIN_BYTES];
    gmc_peer to;
    if (!round->sends_train)
        return true;
    if (gw->now < round->train_at)
        return false;
    if (gmc_probe_train_receivers(round->probe) == 0)
        begin_train(gw, round);
    bool over = gmc_probe_train_is_over(round->probe, gw->now);
    while (gmc_probe_next_train(round->probe, gw->now, packet, &to))
        send_bytes(gw, gmc_bytes(packet, sizeof(packet)), to, NULL)->in_order = true;
    if (over)
        note_train(gw, round);
    return over;
}

/* ---- steps ---- */

/* The channel that waits for this gateway's own measurements looks at them at once. */
static void own_round_done(struct gmc_gateway *gw, const struct gwround *round)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &gw->channels)
    {
        struct gwchannel *ch = GMC_CONTAINER_OF(node, struct gwchannel, node);
        if (ch->src != NULL && ch->src->round == round)
            gw_set_timer(gw, &ch->timer, gw->now);
    }
}

/* Puts the row into the cache and, for another's round, tells its source. */
static void answer(struct gmc_gateway *gw, struct gwround *round)
{
    struct gmc_msg_latency *row = calloc(round->count, sizeof(*row));
    if (row == NULL)
        return;
    size_t rows = 0;
    for (size_t i = 0; i < round->count; i++) {
        struct gmc_latency latency;
        if (round->participants[i] == gw->self || round->participants[i] == GMC_PEER_NONE ||
            !gmc_probe_result(round->probe, i, &latency))
            continue;
        gmc_latency_cache_put(gw->latencies, gw->self, round->participants[i], &latency);
        row[rows++] = (struct gmc_msg_latency){.participant = gmc_probe_number(round->probe, i),
                                               .rtt_min_ns = latency.rtt_min,
                                               .spread_ns = latency.spread};
    }
    round->answered = true;
    if (round->source == NULL)
        own_round_done(gw, round);
    if (round->source != NULL) {
        struct gmc_msg msg = {.type = GMC_MSG_JOIN,
                              .probe_id = gmc_probe_id(round->probe),
                              .latencies = row,
                              .latency_count = rows,
                              .uplink_bps = gw->config.uplink_bps,
                              .downlink_bps = gw->config.downlink_bps};
        gw_uplink_say(gw, &msg);
        gw_send(gw, round->source, &msg);
    }
    free(row);
}

void gw_probe_step(struct gmc_gateway *gw)
{
    struct gmc_list *node, *after;
    GMC_LIST_FOREACH_SAFE(node, after, &gw->probes)
    {
        struct gwround *round = GMC_CONTAINER_OF(node, struct gwround, node);
        uint8_t echo[GMC_ECHO_BYTES];
        gmc_peer to;
        while (!round->answered && gmc_probe_next_echo(round->probe, gw->now, echo, &to))
            if (to != GMC_PEER_NONE)
                send_bytes(gw, gmc_bytes(echo, sizeof(echo)), to, NULL);
        if (!round->answered && gmc_probe_done(round->probe, gw->now) && step_train(gw, round))
            answer(gw, round);
        if (round->source != NULL && gw->now >= round->forget_at)
            gw_round_free(round);
    }
}

gmc_time gw_probe_deadline(const struct gmc_gateway *gw)
{
    gmc_time when = GMC_TIME_NEVER;
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &gw->probes)
    {
        const struct gwround *round = GMC_CONTAINER_OF(node, struct gwround, node);
        when = gmc_time_min(when, round->answered
                                      ? (round->source != NULL ? round->forget_at : GMC_TIME_NEVER)
                                      : gmc_probe_deadline(round->probe));
        if (!round->answered && round->sends_train && gw->now < round->train_at)
            when = gmc_time_min(when, round->train_at);
    }
    return when;
}
