/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the JSON that gmcast writes. */
#include "tools/report.h"

#include <stdlib.h>
#include <string.h>

#include "tools/text.h"
#include "tools/trees.h"

json_t *report_text(const char *bytes)
{
    json_t *text = json_string(bytes);
    char *safe;

    if (text != NULL)
        return text;
    safe = text_safe(bytes);
    text = safe != NULL ? json_string(safe) : NULL;
    free(safe);
    return text != NULL ? text : json_string("?");
}

static json_t *count(uint64_t value)
{
    return json_integer(value <= INT64_MAX ? (json_int_t)value : INT64_MAX);
}

static json_t *seconds(uint64_t ns)
{
    return json_real((double)ns / 1e9);
}

static json_t *digest_of(bool has, const uint8_t *digest)
{
    char hex[2 * GMC_CTL_DIGEST_BYTES + 1];

    return has ? json_string(text_hex(digest, GMC_CTL_DIGEST_BYTES, hex)) : json_null();
}

static json_t *text_or_null(const char *text)
{
    return text[0] != '\0' ? report_text(text) : json_null();
}

static const char *result_name(enum gmc_ctl_transfer_state state)
{
    switch (state) {
    case GMC_CTL_TRANSFER_COMPLETE:
    case GMC_CTL_TRANSFER_PARTIAL:
    case GMC_CTL_TRANSFER_CANCELLED:
    case GMC_CTL_TRANSFER_PLANNED:
        return gmc_client_transfer_state_name(state);
    default:
        return "failed";
    }
}

static json_t *member_object(const struct gmc_ctl_member *m)
{
    json_t *object = json_object();

    json_object_set_new(object, "state", json_string(gmc_client_member_state_name(m->state)));
    json_object_set_new(object, "digest", digest_of(m->has_digest, m->digest));
    json_object_set_new(object, "bytes", count(m->bytes));
    json_object_set_new(object, "seconds", seconds(m->elapsed_ns));
    json_object_set_new(object, "repairs", count(m->repairs));
    if (m->nodes > 0)
        json_object_set_new(object, "nodes",
                            json_pack("{s:o, s:o, s:o, s:o}", "count", count(m->nodes), "verified",
                                      count(m->nodes_verified), "failed", count(m->nodes_failed),
                                      "left", count(m->nodes_left)));
    json_object_set_new(object, "reason", text_or_null(m->reason));
    json_object_set_new(object, "parent", text_or_null(m->parent));
    json_object_set_new(object, "path", report_text(m->path));
    json_object_set_new(object, "latency_ms",
                        m->latency_ns > 0 ? json_real((double)m->latency_ns / 1e6) : json_null());
    return object;
}

static json_t *members_object(const struct gmc_ctl_transfer *t)
{
    json_t *object = json_object();

    for (size_t i = 0; i < t->member_count; i++) {
        json_t *name = report_text(t->members[i].domain);

        json_object_set_new(object, json_string_value(name), member_object(&t->members[i]));
        json_decref(name);
    }
    return object;
}

json_t *report_tree(const struct gmc_ctl_transfer *t, size_t stripe)
{
    json_t *object = json_object();

    for (size_t i = 0; i < t->member_count; i++) {
        json_t *name = report_text(t->members[i].domain);

        json_object_set_new(object, json_string_value(name),
                            text_or_null(trees_parent(&t->members[i], stripe)));
        json_decref(name);
    }
    return object;
}

static json_t *rate_list(const struct gmc_ctl_plan *plan)
{
    static const char *const origins[] = {[GMC_CTL_ORIGIN_CONFIGURED] = "configured",
                                          [GMC_CTL_ORIGIN_MEASURED] = "measured",
                                          [GMC_CTL_ORIGIN_ASSUMED] = "assumed"};
    json_t *list = json_array();

    for (size_t i = 0; i < plan->rate_count; i++) {
        const struct gmc_ctl_rate *rate = &plan->rates[i];
        json_t *object = json_object();

        json_object_set_new(object, "domain", report_text(rate->domain));
        json_object_set_new(object, "uplink_bps", count(rate->uplink_bps));
        json_object_set_new(object, "uplink_origin",
                            rate->uplink_origin != GMC_CTL_ORIGIN_UNKNOWN
                                ? json_string(origins[rate->uplink_origin])
                                : json_null());
        json_object_set_new(object, "copies", count(rate->copies));
        json_object_set_new(object, "downlink_bps",
                            rate->downlink_bps > 0 ? count(rate->downlink_bps) : json_null());
        json_object_set_new(object, "downlink_origin",
                            rate->downlink_bps > 0 ? json_string("configured") : json_null());
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *plan_object(const struct gmc_ctl_plan *plan)
{
    static const char *const limits[] = {[GMC_CTL_LIMIT_UPLINK] = "uplink",
                                         [GMC_CTL_LIMIT_DOWNLINK] = "downlink",
                                         [GMC_CTL_LIMIT_CAP] = "rate"};
    json_t *object = json_object();

    json_object_set_new(object, "seconds",
                        plan->time_ns > 0 ? seconds(plan->time_ns) : json_null());
    json_object_set_new(object, "bound_seconds",
                        plan->bound_ns > 0 ? seconds(plan->bound_ns) : json_null());
    json_object_set_new(object, "rate_bps", count(plan->rate_bps));
    json_object_set_new(object, "limit",
                        plan->limit != GMC_CTL_LIMIT_NONE ? json_string(limits[plan->limit])
                                                          : json_null());
    json_object_set_new(object, "limit_domain", text_or_null(plan->limit_domain));
    json_object_set_new(object, "limit_bps", count(plan->limit_bps));
    json_object_set_new(object, "copies", count(plan->copies));
    json_object_set_new(object, "assumed", json_boolean(plan->assumed));
    json_object_set_new(object, "measured", json_boolean(plan->measured));
    json_object_set_new(object, "rates", rate_list(plan));
    return object;
}

json_t *report_transfer(const struct gmc_ctl_transfer *t)
{
    json_t *object = json_object();

    json_object_set_new(object, "channel", report_text(t->channel));
    json_object_set_new(object, "state", json_string(gmc_client_transfer_state_name(t->state)));
    json_object_set_new(object, "source", json_boolean(t->is_source));
    json_object_set_new(object, "shape", report_text(t->shape));
    json_object_set_new(object, "bytes", count(t->total_bytes));
    json_object_set_new(object, "bytes_here", count(t->bytes));
    json_object_set_new(object, "files", count(t->file_count));
    if (t->name[0] != '\0') {
        json_object_set_new(object, "name", report_text(t->name));
        json_object_set_new(object, "messages", count(t->message_count));
        json_object_set_new(object, "messages_in_per_second", count(t->traffic.in_rate));
        json_object_set_new(object, "messages_out_per_second", count(t->traffic.out_rate));
        json_object_set_new(object, "messages_handed", count(t->traffic.handed));
        json_object_set_new(object, "messages_missed", count(t->traffic.missed));
        json_object_set_new(object, "messages_dropped", count(t->traffic.dropped));
    }
    json_object_set_new(object, "rate_bps", count(t->rate_bps));
    json_object_set_new(object, "background", json_boolean(t->background));
    json_object_set_new(object, "seconds", seconds(t->elapsed_ns));
    json_object_set_new(object, "setup_seconds",
                        t->setup_ns > 0 ? seconds(t->setup_ns) : json_null());
    json_object_set_new(object, "tree_version", count(t->tree_version));
    json_object_set_new(object, "digest", digest_of(t->has_digest, t->digest));
    json_object_set_new(object, "reason", text_or_null(t->reason));
    json_object_set_new(object, "targets", count(t->total_members));
    json_object_set_new(object, "verified", count(t->verified_members));
    json_object_set_new(object, "failed", count(t->failed_members));
    if (t->state == GMC_CTL_TRANSFER_PLANNED)
        json_object_set_new(object, "plan", plan_object(&t->plan));
    if (t->member_count > 0) {
        json_t *trees = json_array();

        for (size_t stripe = 0; stripe < trees_count(t); stripe++)
            json_array_append_new(trees, report_tree(t, stripe));
        json_object_set_new(object, "trees", trees);
        json_object_set_new(object, "domains", members_object(t));
    }
    return object;
}

json_t *report_started(const char *channel)
{
    json_t *object = json_object();

    json_object_set_new(object, "event", json_string("started"));
    json_object_set_new(object, "channel", report_text(channel));
    return object;
}

json_t *report_progress(const struct gmc_ctl_transfer *transfer)
{
    json_t *object = report_transfer(transfer);

    json_object_set_new(object, "event", json_string("progress"));
    return object;
}

/* Scripts find them in each result, also where nothing is known of members. */
static void set_no_members(json_t *object)
{
    json_object_set_new(object, "trees", json_array());
    json_object_set_new(object, "domains", json_object());
}

json_t *report_result(const struct gmc_ctl_transfer *transfer)
{
    json_t *object = report_transfer(transfer);

    if (transfer->member_count == 0)
        set_no_members(object);

    json_object_set_new(object, "event", json_string("result"));
    json_object_set_new(object, "result", json_string(result_name(transfer->state)));
    return object;
}

json_t *report_failure(const char *reason)
{
    json_t *object = json_object();

    json_object_set_new(object, "event", json_string("result"));
    json_object_set_new(object, "result", json_string("failed"));
    json_object_set_new(object, "reason", report_text(reason));
    json_object_set_new(object, "bytes", json_integer(0));
    json_object_set_new(object, "seconds", json_real(0));
    json_object_set_new(object, "setup_seconds", json_null());
    json_object_set_new(object, "channel", json_null());
    set_no_members(object);
    return object;
}

static bool has_fabric(const struct gmc_ctl_fabric *fabric)
{
    return fabric->name != NULL && fabric->name[0] != '\0';
}

/* It stays when the fabric failed: how much it carried before. */
static json_t *fabric_or_null(const struct gmc_ctl_fabric *fabric)
{
    json_t *object;

    if (!has_fabric(fabric) && fabric->bytes_sent == 0 && fabric->bytes_received == 0)
        return json_null();
    object = json_object();
    json_object_set_new(object, "name", text_or_null(fabric->name));
    json_object_set_new(object, "bytes_sent", count(fabric->bytes_sent));
    json_object_set_new(object, "bytes_received", count(fabric->bytes_received));
    return object;
}

static json_t *multicast_or_null(const struct gmc_ctl_multicast *multicast)
{
    json_t *object;

    if (multicast->state == GMC_CTL_MULTICAST_UNTESTED)
        return json_null();
    object = json_object();
    json_object_set_new(object, "arrives",
                        json_boolean(multicast->state == GMC_CTL_MULTICAST_ARRIVES));
    json_object_set_new(object, "reason", text_or_null(multicast->reason));
    return object;
}

static json_t *peer_object(const struct gmc_ctl_peer *peer, bool self)
{
    json_t *object = json_object();

    json_object_set_new(object, "domain", report_text(peer->domain));
    json_object_set_new(object, "self", json_boolean(self));
    json_object_set_new(object, "up", json_boolean(peer->up));
    json_object_set_new(object, "path",
                        json_string(peer->stream                ? "tcp"
                                    : has_fabric(&peer->fabric) ? "fabric"
                                                                : "udp"));
    json_object_set_new(object, "rtt_ms", json_real((double)peer->rtt_ns / 1e6));
    json_object_set_new(object, "min_rtt_ms", json_real((double)peer->min_rtt_ns / 1e6));
    json_object_set_new(object, "rate_bps", count(peer->rate_bps));
    json_object_set_new(object, "bytes_sent", count(peer->bytes_sent));
    json_object_set_new(object, "bytes_received", count(peer->bytes_received));
    json_object_set_new(object, "packets_sent", count(peer->packets_sent));
    json_object_set_new(object, "packets_lost", count(peer->packets_lost));
    json_object_set_new(object, "payload_max", count(peer->payload_max));
    json_object_set_new(object, "reason", text_or_null(peer->reason));
    json_object_set_new(object, "fabric", fabric_or_null(&peer->fabric));
    json_object_set_new(object, "multicast", multicast_or_null(&peer->multicast));
    return object;
}

json_t *report_peers(const struct gmc_ctl_reply *reply)
{
    json_t *object = json_object();
    json_t *peers = json_array();
    json_t *latencies = json_array();

    for (size_t i = 0; i < reply->peer_count; i++)
        json_array_append_new(peers, peer_object(&reply->peers[i], i == 0));
    for (size_t i = 0; i < reply->latency_count; i++) {
        const struct gmc_ctl_latency *latency = &reply->latencies[i];
        json_t *entry = json_object();

        json_object_set_new(entry, "a", report_text(reply->peers[latency->a].domain));
        json_object_set_new(entry, "b", report_text(reply->peers[latency->b].domain));
        json_object_set_new(entry, "rtt_ms", json_real((double)latency->rtt_ns / 1e6));
        json_array_append_new(latencies, entry);
    }
    json_object_set_new(object, "domain", report_text(reply->domain));
    json_object_set_new(object, "peers", peers);
    json_object_set_new(object, "latencies", latencies);
    return object;
}

json_t *report_counters(const struct gmc_ctl_reply *reply)
{
    json_t *object = json_object();

    for (size_t i = 0; i < reply->counter_count; i++)
        json_object_set_new(object, reply->counters[i].name, count(reply->counters[i].value));
    return object;
}

json_t *report_findings(const struct gmc_findings *findings)
{
    json_t *list = json_array();

    for (size_t i = 0; i < findings->count; i++) {
        const struct gmc_ctl_finding *f = &findings->list[i];
        json_t *object = json_object();

        json_object_set_new(object, "check", report_text(f->check));
        json_object_set_new(object, "level", json_string(gmc_findings_level_name(f->level)));
        json_object_set_new(object, "subject", report_text(f->subject));
        json_object_set_new(object, "value",
                            f->unit[0] != '\0' ? json_integer((json_int_t)f->value) : json_null());
        json_object_set_new(object, "unit", text_or_null(f->unit));
        json_object_set_new(object, "text", report_text(f->text));
        json_object_set_new(object, "advice", text_or_null(f->advice));
        json_array_append_new(list, object);
    }
    return list;
}

bool report_line(json_t *object, FILE *out)
{
    bool written =
        json_dumpf(object, out, JSON_COMPACT) == 0 && fputc('\n', out) != EOF && fflush(out) == 0;

    json_decref(object);
    return written;
}
