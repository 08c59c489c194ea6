/* SPDX-License-Identifier: BSD-2-Clause */
/* Local programs and people: requests and their answers, events into log and feed, what the
 * configuration allows. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "gatewayd/gatewayd_int.h"
#include "gatewayd/text.h"
#include "wire/ctl_codec.h"

#define ASKED_FOR GMC_S(120) /* how long an answer from another domain is waited for */

/* ---- requests ---- */
static void keep_asked(struct gwd *gwd, uint64_t id, const struct gwd_client *client)
{
    gmc_time now = gwd_now();
    struct gwd_asked *slot = NULL;
    for (size_t i = 0; i < GWD_ASKED_MAX; i++) {
        struct gwd_asked *asked = &gwd->asked[i];
        if (!asked->used || gmc_time_sub(now, asked->since) > ASKED_FOR) {
            slot = asked;
            break;
        }
        if (slot == NULL || asked->since < slot->since)
            slot = asked; /* all are taken: the oldest has waited long enough */
    }
    *slot = (struct gwd_asked){.used = true, .id = id, .since = now, .client = *client};
}

void gwd_on_request(void *ctx, const struct gwd_client *client, struct gmc_bytes request)
{
    struct gwd *gwd = ctx;
    struct gmc_ctl_answer answer;
    gwd_drive_request(gwd->drive, gwd_now(), GMC_PEER_NONE, request, &answer);
    if (answer.later)
        keep_asked(gwd, answer.id, client);
    else
        gwd_zmq_reply(gwd->zmq, client, answer.bytes);
    gwd_take_nodes(gwd);
    gwd_drain_soon(gwd);
}

#define NO_REQUEST "a request has to be one frame of at most 1 MiB; the connection is closed"

bool gwd_make_refusal(struct gwd *gwd)
{
    const struct gmc_ctl_reply reply = {.status = GMC_ERR_LIMIT,
                                        .error = NO_REQUEST,
                                        .domain = gwd->conf->domain};
    uint8_t *bytes;
    size_t len;
    if (gmc_ctl_encode_reply(&reply, &bytes, &len) != GMC_OK)
        return false;
    gwd->refusal = gmc_bytes(bytes, len);
    return true;
}

void gwd_on_refused(void *ctx, uid_t uid)
{
    struct gwd *gwd = ctx;
    gwd->requests_refused++;
    gwd_log_refusal(gwd->log, gwd_now(), "control.refused", GWD_STR("text", NO_REQUEST),
                    GWD_NUM("limit_bytes", GMC_CTL_REQUEST_BYTES_MAX), GWD_NUM("uid", uid));
}

void gwd_on_reply(struct gwd *gwd, uint64_t id, struct gmc_bytes reply)
{
    struct gmc_ctl_answer answer;
    if (!gwd_drive_reply(gwd->drive, gwd_now(), id, reply, &answer))
        return;
    for (size_t i = 0; i < GWD_ASKED_MAX; i++) {
        struct gwd_asked *asked = &gwd->asked[i];
        if (!asked->used || asked->id != id)
            continue;
        /* An answer may lead to a further question. */
        if (answer.later)
            asked->id = answer.id;
        else
            gwd_zmq_reply(gwd->zmq, &asked->client, answer.bytes);
        asked->used = answer.later;
        return;
    }
}

/* ---- events ---- */
static const char *const topics[] = {[GMC_EVENT_CHANNEL] = "channel",
                                     [GMC_EVENT_MEMBER] = "member",
                                     [GMC_EVENT_PARENT] = "parent",
                                     [GMC_EVENT_LINK] = "link"};

static void publish(struct gwd *gwd, const struct gmc_event *event, const char *channel,
                    const char *peer)
{
    json_t *root =
        json_pack("{s:s, s:s*, s:s*, s:s, s:s}", "event", topics[event->kind], "channel", channel,
                  "peer", peer, "status", gmc_status_name(event->status), "text", event->text);
    char *text = root != NULL ? json_dumps(root, JSON_COMPACT) : NULL;
    if (text != NULL)
        gwd_zmq_publish(gwd->zmq, topics[event->kind], text);
    free(text);
    json_decref(root);
}

void gwd_on_event(struct gwd *gwd, const struct gmc_event *event)
{
    char channel[GMC_DOMAIN_NAME_MAX + 32];
    const char *peer = event->peer != GMC_PEER_NONE
                           ? gmc_gateway_peer_name(gwd_drive_gateway(gwd->drive), event->peer)
                           : NULL;
    struct gwd_field fields[4];
    size_t count = 0;
    enum gmc_trace_level level = event->status == GMC_OK ? GMC_LEVEL_INFO : GMC_LEVEL_WARN;
    gwd_text(channel, sizeof channel, "%016" PRIx64 "@%s", event->key.e, event->key.source);
    if (event->kind != GMC_EVENT_LINK)
        fields[count++] = GWD_STR("channel", channel);
    if (peer != NULL)
        fields[count++] = GWD_STR("peer", peer);
    if (event->status != GMC_OK)
        fields[count++] = GWD_STR("status", gmc_status_name(event->status));
    fields[count++] = GWD_STR("text", event->text);
    /* As often as somebody else likes, so it is told once. */
    if (event->status == GMC_ERR_AUTH)
        gwd_log_refusal_fields(gwd->log, gwd_now(), topics[event->kind], fields, count);
    else
        gwd_log_fields(gwd->log, level, topics[event->kind], fields, count);
    publish(gwd, event, event->kind != GMC_EVENT_LINK ? channel : NULL, peer);
    if (event->kind == GMC_EVENT_LINK && event->status == GMC_ERR_TIMEOUT && gwd->group != NULL)
        gwd_group_doubt(gwd->group, event->peer);
    if (event->kind == GMC_EVENT_MEMBER && event->status != GMC_OK && gwd->messages != NULL)
        gwd_messages_warn(gwd->messages, event->key.e, event->text);
}

/* ---- what the configuration says ---- */
const char *gwd_hook_resolve(void *ctx, const char *name)
{
    struct gwd *gwd = ctx;
    const struct gwd_conf_peer *peer = gwd_conf_resolve(gwd->conf, name);
    return peer != NULL ? peer->name : NULL;
}

gmc_status gwd_hook_may(void *ctx, const char *origin, const char *const *paths, size_t count,
                        const char **reason)
{
    struct gwd *gwd = ctx;
    const struct gwd_conf_grant *grant =
        gwd_conf_grant_find(gwd->conf->serves, gwd->conf->serve_count, origin);
    gmc_status status = GMC_OK;
    if (grant == NULL) {
        gwd_text(gwd->hook_reason, sizeof gwd->hook_reason,
                 "%s serves nothing to %s: its configuration needs a section serve \"%s\"",
                 gwd->conf->domain, origin, origin);
        status = GMC_ERR_ACCESS;
    }
    for (size_t i = 0; i < count && status == GMC_OK; i++) {
        status = gwd_store_may_read(gwd->store, origin, paths[i], gwd->hook_reason,
                                    sizeof gwd->hook_reason);
        /* Whether something is there is not told to those who may not look. */
        if (status != GMC_OK && status != GMC_ERR_ACCESS &&
            !gwd_store_is_beneath(paths[i], grant->directory)) {
            gwd_text(gwd->hook_reason, sizeof gwd->hook_reason,
                     "%s is not beneath a directory that is served to %s", paths[i], origin);
            status = GMC_ERR_ACCESS;
        }
    }
    if (status != GMC_OK) {
        *reason = gwd->hook_reason;
        gwd_log_refusal(gwd->log, gwd_now(), "request.refused", GWD_STR("peer", origin),
                        GWD_STR("reason", gwd->hook_reason));
    }
    return status;
}

static size_t group_counters(const struct gwd *gwd, struct gmc_counter *out, size_t max)
{
    struct gwd_group_stats stats = {0};
    if (gwd->hearing != NULL && max >= 1) {
        out[0] = (struct gmc_counter){"multicast_received", gwd_hearing_received(gwd->hearing)};
        return 1;
    }
    if (gwd->group == NULL || max < 2)
        return 0;
    stats = gwd_group_stats(gwd->group);
    out[0] = (struct gmc_counter){"multicast_nodes_reached", stats.hear};
    out[1] = (struct gmc_counter){"multicast_nodes_not_reached", stats.deaf};
    return 2;
}

static size_t fabric_counters(const struct gwd *gwd, struct gmc_counter *out, size_t max)
{
    if (gwd->fabric == NULL)
        return 0;
    struct gwd_fabric_stats stats = gwd_fabric_stats(gwd->fabric);
    const struct gmc_counter all[] = {
        {"fabric_peers", stats.peers},       {"fabric_sent", stats.sent},
        {"fabric_received", stats.received}, {"fabric_busy", stats.busy},
        {"fabric_dropped", stats.dropped},   {"fabric_failed", stats.failed},
        {"fabric_unknown", stats.unknown},   {"fabric_lost", stats.lost},
    };
    size_t count = sizeof all / sizeof all[0] < max ? sizeof all / sizeof all[0] : max;
    memcpy(out, all, count * sizeof all[0]);
    return count;
}

/* Sessions and sockets are the shell's, so what happens to them is counted here. */
size_t gwd_hook_counters(void *ctx, struct gmc_counter *out, size_t max)
{
    const struct gwd *gwd = ctx;
    const struct gwd_peers_stats *peers = gwd_peers_stats(gwd->peers);
    const struct gwd_udp_stats *udp = gwd_udp_stats(gwd->udp);
    const struct gmc_counter all[] = {
        {"requests_refused", gwd->requests_refused},
        {"connections_accepted", peers->accepted},
        {"connections_dialled", peers->dialled},
        {"connections_refused", peers->refused},
        {"connections_timeout", peers->timeouts},
        {"sessions", peers->sessions},
        {"nodes_enrolled", peers->enrolled},
        {"nodes_refused", peers->enrolments_refused},
        {"stream_dropped", peers->stream_dropped},
        {"udp_received", udp->received},
        {"udp_truncated", udp->truncated},
        {"udp_sent", udp->sent},
        {"udp_blocked", udp->blocked},
        {"udp_failed", udp->failed},
    };
    size_t count = sizeof all / sizeof all[0];
    if (count > max)
        count = max;
    memcpy(out, all, count * sizeof all[0]);
    count += group_counters(gwd, out + count, max - count);
    count += fabric_counters(gwd, out + count, max - count);
    count += gwd_messages_counters(gwd->messages, out + count, max - count);
    return count;
}

void gwd_hook_traffic(void *ctx, const struct gmc_channel_key *key, struct gmc_ctl_traffic *out)
{
    const struct gwd *gwd = ctx;
    *out = gwd_messages_traffic(gwd->messages, key);
}

void gwd_hook_multicast(void *ctx, const char *domain, struct gmc_ctl_multicast *out)
{
    const struct gwd *gwd = ctx;
    if (gwd->group == NULL)
        return;
    struct gwd_group_verdict verdict =
        gwd_group_verdict(gwd->group, gmc_gateway_peer(gwd_drive_gateway(gwd->drive), domain));
    if (verdict.is_tested)
        *out = (struct gmc_ctl_multicast){verdict.hears ? GMC_CTL_MULTICAST_ARRIVES
                                                        : GMC_CTL_MULTICAST_LOST,
                                          verdict.reason};
}

void gwd_hook_session(void *ctx, const char *domain, struct gmc_ctl_session *out)
{
    const struct gwd *gwd = ctx;
    struct gwd_session_state state;
    if (!gwd_peers_session(gwd->peers, domain, &state))
        return;
    enum gmc_ctl_dial dial = !state.dials      ? GMC_CTL_DIAL_NONE
                             : state.connected ? GMC_CTL_DIAL_TLS
                                               : GMC_CTL_DIAL_TCP;
    *out = (struct gmc_ctl_session){.configured = state.configured,
                                    .up = state.up,
                                    .dialled = state.dialled,
                                    .alias = state.alias,
                                    .address = state.address,
                                    .transport = (enum gmc_ctl_transport)state.transport,
                                    .connect = (enum gmc_ctl_connect)state.connect,
                                    .dial = dial};
}
