/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns what is told about transfers, peers and counters. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/ctl_internal.h"

/* A matrix of more domains than this is for nobody's eyes. */
#define MATRIX_MAX 512
#define COUNTERS_MAX 256

static enum gmc_ctl_transfer_state transfer_state(enum gmc_channel_state state)
{
    switch (state) {
    case GMC_CHANNEL_SCANNING:
        return GMC_CTL_TRANSFER_SCANNING;
    case GMC_CHANNEL_PROBING:
        return GMC_CTL_TRANSFER_PROBING;
    case GMC_CHANNEL_RUNNING:
        return GMC_CTL_TRANSFER_RUNNING;
    case GMC_CHANNEL_COMPLETE:
        return GMC_CTL_TRANSFER_COMPLETE;
    case GMC_CHANNEL_PARTIAL:
        return GMC_CTL_TRANSFER_PARTIAL;
    case GMC_CHANNEL_CANCELLED:
        return GMC_CTL_TRANSFER_CANCELLED;
    case GMC_CHANNEL_FAILED:
        return GMC_CTL_TRANSFER_FAILED;
    case GMC_CHANNEL_PLANNED:
        return GMC_CTL_TRANSFER_PLANNED;
    }
    return GMC_CTL_TRANSFER_UNKNOWN;
}

static enum gmc_ctl_limit limit_of(enum gmc_tree_limit limit)
{
    switch (limit) {
    case GMC_TREE_LIMIT_UPLINK:
        return GMC_CTL_LIMIT_UPLINK;
    case GMC_TREE_LIMIT_DOWNLINK:
        return GMC_CTL_LIMIT_DOWNLINK;
    case GMC_TREE_LIMIT_CAP:
        return GMC_CTL_LIMIT_CAP;
    case GMC_TREE_LIMIT_NONE:
        break;
    }
    return GMC_CTL_LIMIT_NONE;
}

static void describe_plan(const struct gmc_plan_info *info, struct gmc_ctl_plan *plan)
{
    *plan = (struct gmc_ctl_plan){.time_ns = info->time,
                                  .bound_ns = info->bound,
                                  .rate_bps = info->rate_bps,
                                  .limit = limit_of(info->limit),
                                  .limit_domain = info->limit_domain,
                                  .limit_bps = info->limit_bps,
                                  .copies = info->copies,
                                  .assumed = info->assumed,
                                  .measured = info->measured};
}

static enum gmc_ctl_origin origin_of(enum gmc_rate_origin origin)
{
    switch (origin) {
    case GMC_RATE_CONFIGURED:
        return GMC_CTL_ORIGIN_CONFIGURED;
    case GMC_RATE_MEASURED:
        return GMC_CTL_ORIGIN_MEASURED;
    case GMC_RATE_ASSUMED:
        return GMC_CTL_ORIGIN_ASSUMED;
    }
    return GMC_CTL_ORIGIN_UNKNOWN;
}

/* As many as the plan has. */
static void describe_rates(const struct gmc_plan_info *info, struct gmc_ctl_rate *rates)
{
    for (size_t i = 0; i < info->rate_count; i++)
        rates[i] = (struct gmc_ctl_rate){.domain = info->rates[i].domain,
                                         .uplink_bps = info->rates[i].uplink_bps,
                                         .uplink_origin = origin_of(info->rates[i].uplink_origin),
                                         .copies = info->rates[i].copies,
                                         .downlink_bps = info->rates[i].downlink_bps};
}

static enum gmc_ctl_member_state member_state(enum gmc_member_state state)
{
    switch (state) {
    case GMC_MEMBER_WAITING:
        return GMC_CTL_MEMBER_WAITING;
    case GMC_MEMBER_RECEIVING:
        return GMC_CTL_MEMBER_RECEIVING;
    case GMC_MEMBER_VERIFIED:
        return GMC_CTL_MEMBER_VERIFIED;
    case GMC_MEMBER_FAILED:
        return GMC_CTL_MEMBER_FAILED;
    case GMC_MEMBER_SILENT:
        return GMC_CTL_MEMBER_SILENT;
    case GMC_MEMBER_LEFT:
        return GMC_CTL_MEMBER_LEFT;
    }
    return GMC_CTL_MEMBER_UNKNOWN;
}

_Static_assert(GMC_CTL_STRIPES_MAX == GMC_TREE_STRIPES_MAX, "every stripe can be told");

/* Parents of the stripes behind the first. */
typedef const char *more_parents[GMC_CTL_STRIPES_MAX - 1];

/* parents have to live as long as the member. */
static void describe_member(const struct gmc_member_info *info, struct gmc_ctl_member *member,
                            more_parents parents)
{
    *member =
        (struct gmc_ctl_member){.domain = info->domain,
                                .parent = info->parent,
                                .path = info->path,
                                .state = member_state(info->state),
                                .bytes = info->bytes,
                                .repairs = info->repairs,
                                .nodes = info->nodes,
                                .nodes_verified = info->nodes_verified,
                                .nodes_failed = info->nodes_failed,
                                .nodes_left = info->nodes_left,
                                .elapsed_ns = info->elapsed,
                                .has_digest = info->state == GMC_MEMBER_VERIFIED,
                                .reason = info->reason,
                                .latency_ns = info->latency_ns,
                                .more_parents = parents,
                                .more_parent_count = info->stripes > 1 ? info->stripes - 1 : 0};
    for (uint32_t k = 1; k < info->stripes; k++)
        parents[k - 1] = info->more_parents[k - 1];
    memcpy(member->digest, info->digest, sizeof member->digest);
}

static bool is_zero(const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] != 0)
            return false;
    }
    return true;
}

/* text has to live as long as the transfer. */
static void describe(const struct gmc_ctl *ctl, const struct gmc_channel_info *info,
                     struct gmc_ctl_transfer *transfer, char text[GMC_CTL_CHANNEL_TEXT_MAX])
{
    gmc_ctl_channel_text(&info->key, text);
    *transfer = (struct gmc_ctl_transfer){.channel = text,
                                          .is_source = info->is_source,
                                          .state = transfer_state(info->state),
                                          .shape = gmc_tree_ops(info->shape)->name,
                                          .total_bytes = info->total_bytes,
                                          .bytes = info->bytes,
                                          .file_count = info->file_count,
                                          .name = info->name != NULL ? info->name : "",
                                          .message_count = info->messages,
                                          .rate_bps = info->rate_cap_bps,
                                          .background = info->background,
                                          .is_saving = info->is_saving,
                                          .elapsed_ns = info->elapsed,
                                          .setup_ns = info->setup,
                                          .tree_version = info->tree_version,
                                          .has_digest = !is_zero(info->digest, sizeof info->digest),
                                          .total_members = (uint32_t)info->member_count,
                                          .reason = info->reason};
    memcpy(transfer->digest, info->digest, sizeof transfer->digest);
    describe_plan(&info->plan, &transfer->plan);
    if (info->name != NULL && ctl->hooks.traffic != NULL)
        ctl->hooks.traffic(ctl->hooks.ctx, &info->key, &transfer->traffic);
}

static void count_members(const struct call *call, size_t index, struct gmc_ctl_transfer *transfer)
{
    struct gmc_member_info info;

    for (size_t i = 0; i < transfer->total_members; i++) {
        if (!gmc_gateway_member_info(call->ctl->gateway, call->now, index, i, &info))
            return;
        transfer->verified_members += info.state == GMC_MEMBER_VERIFIED;
        transfer->failed_members += info.state == GMC_MEMBER_FAILED;
    }
}

void gmc_ctl_report_one(struct call *call, size_t index, const struct gmc_channel_info *info)
{
    struct gmc_ctl_member *members = calloc(info->member_count + 1, sizeof *members);
    more_parents *parents = calloc(info->member_count + 1, sizeof *parents);
    struct gmc_ctl_rate *rates = calloc(info->plan.rate_count + 1, sizeof *rates);
    struct gmc_ctl_transfer transfer;
    char text[GMC_CTL_CHANNEL_TEXT_MAX];
    struct gmc_ctl_reply reply = {.channel = text, .transfers = &transfer, .transfer_count = 1};
    struct gmc_member_info member;

    if (members == NULL || parents == NULL || rates == NULL) {
        gmc_ctl_fail_with(call, GMC_ERR_NOMEM, NULL);
        goto release;
    }
    describe(call->ctl, info, &transfer, text);
    describe_rates(&info->plan, rates);
    transfer.plan.rates = rates;
    transfer.plan.rate_count = info->plan.rate_count;
    count_members(call, index, &transfer);
    transfer.members = members;
    for (size_t i = 0; i < info->member_count; i++) {
        if (!gmc_gateway_member_info(call->ctl->gateway, call->now, index, i, &member))
            break;
        /* The nodes of a domain are nobody else's business. */
        if (member.is_node && call->origin != GMC_PEER_NONE)
            continue;
        size_t at = transfer.member_count++;
        describe_member(&member, &members[at], parents[at]);
        /* A target knows how it is, and how its nodes are; of others it does not. */
        if (!info->is_source && i > 0 && !member.is_node)
            members[at].state = GMC_CTL_MEMBER_UNKNOWN;
    }
    if (!info->is_source)
        transfer.failed_members = 0;
    gmc_ctl_reply(call, &reply);

release:
    free(rates);
    free(parents);
    free(members);
}

void gmc_ctl_report_all(struct call *call)
{
    size_t count = gmc_gateway_channel_count(call->ctl->gateway);
    struct gmc_ctl_transfer *transfers = calloc(count + 1, sizeof *transfers);
    char(*texts)[GMC_CTL_CHANNEL_TEXT_MAX] = calloc(count + 1, sizeof *texts);
    struct gmc_ctl_reply reply = {.transfers = transfers};
    struct gmc_channel_info info;

    if (transfers == NULL || texts == NULL) {
        gmc_ctl_fail_with(call, GMC_ERR_NOMEM, NULL);
    } else {
        for (size_t i = 0; i < count; i++) {
            if (!gmc_gateway_channel_info(call->ctl->gateway, call->now, i, &info))
                break;
            describe(call->ctl, &info, &transfers[i], texts[i]);
            count_members(call, i, &transfers[i]);
            reply.transfer_count = i + 1;
        }
        gmc_ctl_reply(call, &reply);
    }
    free(texts);
    free(transfers);
}

bool gmc_ctl_report_known(struct call *call, const char *channel)
{
    struct channel_name name;
    struct gmc_channel_info info;
    char reason[GMC_DOMAIN_NAME_MAX * 2 + 128];
    size_t index = 0;

    /* It was read before, when the request came: this cannot fail differently. */
    if (!gmc_ctl_parse_channel(call, channel, &name) ||
        gmc_ctl_find(call->ctl, call->now, &name, &index, &info) != GMC_OK)
        return false;
    snprintf(reason, sizeof reason, "its source, %s, cannot be asked: this is what %s knows",
             info.key.source, call->ctl->domain);
    info.reason = reason;
    gmc_ctl_report_one(call, index, &info);
    return true;
}

/* ---- peers ---- */

/* The two sets of words have the same numbers. */
_Static_assert((int)GMC_CTL_WAIT_PATH == (int)GMC_WAIT_PATH, "");
_Static_assert((int)GMC_CTL_WAIT_STORE == (int)GMC_WAIT_STORE, "");
_Static_assert((int)GMC_CTL_REACH_LOST == (int)GMC_REACH_LOST, "");

struct matrix {
    struct gmc_ctl_peer *peers;
    gmc_peer *numbers;
    size_t count;
    struct gmc_ctl_latency *latencies;
    size_t latency_count;
};

static void describe_peer(const struct call *call, const struct gmc_peer_info *info,
                          struct gmc_ctl_peer *peer)
{
    const struct gmc_ctl_hooks *hooks = &call->ctl->hooks;
    *peer = (struct gmc_ctl_peer){.domain = info->domain,
                                  .up = info->up,
                                  .stream = info->path == GMC_PATH_STREAM,
                                  .rtt_ns = info->rtt_ns,
                                  .min_rtt_ns = info->min_rtt_ns,
                                  .rate_bps = info->rate_bps,
                                  .bytes_sent = info->bytes_sent,
                                  .bytes_received = info->bytes_received,
                                  .packets_sent = info->packets_sent,
                                  .packets_lost = info->packets_lost,
                                  .payload_max = info->payload_max,
                                  .reason = info->up ? NULL : info->reason,
                                  .udp_out = (enum gmc_ctl_reach)info->udp_out,
                                  .udp_in = (enum gmc_ctl_reach)info->udp_in,
                                  .wait = (enum gmc_ctl_wait)info->wait,
                                  .loss_ppm = info->loss_ppm};
    if (hooks->fabric != NULL)
        hooks->fabric(hooks->ctx, info->domain, &peer->fabric);
    if (hooks->multicast != NULL)
        hooks->multicast(hooks->ctx, info->domain, &peer->multicast);
    if (hooks->session != NULL)
        hooks->session(hooks->ctx, info->domain, &peer->session);
    peer->session.is_node = info->is_node;
}

static void list_peers(const struct call *call, struct matrix *m, size_t max)
{
    struct gmc_gateway *gw = call->ctl->gateway;
    struct gmc_peer_info info;

    m->numbers[0] = gmc_gateway_peer(gw, call->ctl->domain);
    m->peers[0] = (struct gmc_ctl_peer){.domain = call->ctl->domain, .up = true};
    m->count = 1;
    for (gmc_peer peer = 0; peer < max; peer++) {
        if (peer == m->numbers[0] || !gmc_gateway_peer_info(gw, call->now, peer, &info))
            continue;
        describe_peer(call, &info, &m->peers[m->count]);
        m->numbers[m->count++] = peer;
    }
}

static void list_latencies(const struct call *call, struct matrix *m)
{
    size_t n = m->count < MATRIX_MAX ? m->count : MATRIX_MAX;

    m->latencies = calloc(n * n / 2 + 1, sizeof *m->latencies);
    for (size_t a = 0; m->latencies != NULL && a < n; a++) {
        for (size_t b = a + 1; b < n; b++) {
            uint64_t rtt = gmc_gateway_latency(call->ctl->gateway, m->numbers[a], m->numbers[b]);

            if (rtt > 0)
                m->latencies[m->latency_count++] =
                    (struct gmc_ctl_latency){(uint32_t)a, (uint32_t)b, rtt};
        }
    }
}

void gmc_ctl_report_peers(struct call *call)
{
    /* The own name has a number as well, and may be the first to get one. */
    size_t max = gmc_gateway_peer_count(call->ctl->gateway);
    struct matrix m = {.peers = calloc(max + 2, sizeof *m.peers),
                       .numbers = calloc(max + 2, sizeof *m.numbers)};

    if (m.peers == NULL || m.numbers == NULL) {
        gmc_ctl_fail_with(call, GMC_ERR_NOMEM, NULL);
    } else {
        struct gmc_ctl_reply reply = {.peers = m.peers};

        list_peers(call, &m, max);
        list_latencies(call, &m);
        reply.peer_count = m.count;
        reply.latencies = m.latencies;
        reply.latency_count = m.latency_count;
        gmc_ctl_reply(call, &reply);
    }
    free(m.latencies);
    free(m.numbers);
    free(m.peers);
}

void gmc_ctl_report_findings(struct call *call)
{
    const struct gmc_ctl_hooks *hooks = &call->ctl->hooks;
    struct gmc_ctl_reply reply = {0};

    if (hooks->findings != NULL)
        reply.finding_count = hooks->findings(hooks->ctx, &reply.findings);
    gmc_ctl_reply(call, &reply);
}

void gmc_ctl_report_counters(struct call *call)
{
    struct gmc_counter counters[COUNTERS_MAX];
    struct gmc_ctl_counter list[COUNTERS_MAX];
    struct gmc_ctl_reply reply = {.counters = list};

    const struct gmc_ctl_hooks *hooks = &call->ctl->hooks;
    reply.counter_count = gmc_gateway_counters(call->ctl->gateway, counters, COUNTERS_MAX);
    reply.counter_count += hooks->counters(hooks->ctx, counters + reply.counter_count,
                                           COUNTERS_MAX - reply.counter_count);
    for (size_t i = 0; i < reply.counter_count; i++)
        list[i] = (struct gmc_ctl_counter){counters[i].name, counters[i].value};
    gmc_ctl_reply(call, &reply);
}
