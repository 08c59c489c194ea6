/* SPDX-License-Identifier: BSD-2-Clause */
/* Beside the data: signals, reload, the end, and what is looked at now and then. */
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crypto/openssl.h"
#include "gatewayd/gatewayd_int.h"
#include "gatewayd/priv.h"
#include "gatewayd/text.h"

#define RECHECK_EVERY GMC_S(60)
#define STOP_AT_MOST GMC_S(5)
#define QUIET_DATAGRAMS 100 /* in and out between two looks */

/* ---- reload ---- */
static void log_errors(struct gwd *gwd, struct gwd_errors *errors)
{
    for (size_t i = 0; i < errors->count; i++)
        gwd_log(gwd->log, GMC_LEVEL_ERROR, "configuration.error",
                GWD_STR("text", errors->lines[i]));
    gwd_errors_clear(errors);
}

void gwd_warn_receives(struct gwd *gwd)
{
    struct gwd_errors errors = {0};
    (void)gwd_conf_check_receives(gwd->conf, &errors);
    for (size_t i = 0; i < errors.count; i++)
        gwd_log(gwd->log, GMC_LEVEL_WARN, "receive.refused", GWD_STR("text", errors.lines[i]),
                GWD_STR("until", "it can be written to; no restart is needed then"));
    gwd_errors_clear(&errors);
}

static void take_log(struct gwd *gwd, const struct gwd_conf *conf)
{
    if (!gwd_log_reopen(gwd->log, conf->log_file))
        gwd_log(gwd->log, GMC_LEVEL_ERROR, "log.failed", GWD_STR("file", conf->log_file),
                GWD_STR("reason", strerror(errno)));
    gwd_log_set_level(gwd->log, (enum gmc_trace_level)conf->log);
    gwd->sink.level_max = (uint8_t)conf->log;
}

static bool has_enrolled_nodes(const struct gwd *gwd)
{
    const struct gwd_node *node;
    for (size_t i = 0; gwd->nodes != NULL && (node = gwd_nodes_at(gwd->nodes, i)) != NULL; i++)
        if (node->enrolled)
            return true;
    return false;
}

/* What begins from now on is signed with the key that new sessions show. */
static void take_key(struct gwd *gwd)
{
    uint8_t spki[GMC_PUBKEY_BYTES_MAX];
    size_t len = sizeof spki;
    gmc_status status = gmc_crypto_openssl_add_key(gwd->openssl, gwd_peers_key(gwd->peers));
    if (status == GMC_ERR_EXISTS)
        return;
    if (status == GMC_OK)
        status = gmc_crypto_openssl_spki(gwd->openssl, spki, &len);
    if (status == GMC_OK)
        status = gwd_drive_key(gwd->drive, gwd_now(), gmc_bytes(spki, len));
    if (status != GMC_OK) {
        gwd_log(gwd->log, GMC_LEVEL_ERROR, "key.failed", GWD_STR("file", gwd->conf->tls.key),
                GWD_STR("reason", gmc_status_text(status)));
        return;
    }
    gwd_log(gwd->log, GMC_LEVEL_INFO, "key.changed",
            GWD_STR("text", "new sessions and transfers use it; running ones keep the old one"));
    if (has_enrolled_nodes(gwd))
        gwd_log(gwd->log, GMC_LEVEL_WARN, "key.changed",
                GWD_STR("text", "nodes that enrolled with a token know the old key: give each a "
                                "new token (gmcast node add)"));
}

/* All or nothing: what cannot be used leaves the old configuration in force. */
static bool reload(struct gwd *gwd)
{
    struct gwd_errors errors = {0};
    int64_t began = gwd_wall_ns();
    struct gwd_conf *conf = gwd_conf_read(gwd->options.file, &errors);
    char text[512];
    if (conf != NULL && strcmp(conf->domain, gwd->conf->domain) != 0)
        gwd_errors_add(&errors, conf->file, gwd_conf_line(conf, GWD_TOP, "domain"),
                       "domain cannot change from '%s' while gatewayd runs; restart it",
                       gwd->conf->domain);
    if (conf == NULL || errors.count > 0 || !gwd_conf_check(conf, &errors)) {
        log_errors(gwd, &errors);
        gwd_conf_free(conf);
        return false;
    }
    if (!gwd_peers_configure(gwd->peers, conf, text, sizeof text)) {
        gwd_log(gwd->log, GMC_LEVEL_ERROR, "configuration.error", GWD_STR("text", text));
        gwd_conf_free(conf);
        return false;
    }
    (void)gwd_store_configure(gwd->store, conf);
    if (strcmp(conf->deliver, gwd->conf->deliver) != 0)
        gwd_drive_deliver(gwd->drive, gwd_now(), conf->deliver);
    take_log(gwd, conf);
    gwd_conf_restart_needed(gwd->conf, conf, text, sizeof text);
    if (text[0] != '\0')
        gwd_log(gwd->log, GMC_LEVEL_WARN, "configuration.restart", GWD_STR("options", text),
                GWD_STR("text", "these take effect with the next start"));
    if (gwd->conf != gwd->started_with)
        gwd_conf_free(gwd->conf);
    gwd->conf = conf;
    gwd->loaded_at = began;
    take_key(gwd);
    gwd_tell_nodes(gwd);
    gwd_warn_receives(gwd);
    return true;
}

static void on_hangup(struct gwd *gwd)
{
    gwd_notify("RELOADING=1");
    if (reload(gwd))
        gwd_log(gwd->log, GMC_LEVEL_INFO, "configuration.reloaded",
                GWD_STR("file", gwd->options.file), GWD_NUM("peers", gwd->conf->peer_count));
    else
        gwd_log(gwd->log, GMC_LEVEL_ERROR, "configuration.kept",
                GWD_STR("text", "the new file cannot be used; the old configuration goes on"));
    gwd_notify("READY=1");
    gwd->days_told = INT64_MAX;
}

/* ---- the end ---- */
static void stop(struct gwd *gwd)
{
    gwd_log(gwd->log, GMC_LEVEL_INFO, "stopping",
            GWD_NUM("store_operations", gwd_store_pending(gwd->store)));
    gwd_notify("STOPPING=1");
    gwd->stop_by = gmc_time_add(gwd_now(), STOP_AT_MOST);
    gwd_zmq_stop(gwd->zmq);
    gwd_peers_stop(gwd->peers);
    struct timeval soon = {.tv_usec = 20000};
    (void)event_add(gwd->tick_event, &soon);
}

/* What the core asked to be written is written; farewells had a moment to leave. */
void gwd_check_stopped(struct gwd *gwd)
{
    gmc_time now = gwd_now();
    if (gwd->stop_signals == 0)
        return;
    if (now >= gwd->stop_by || (gwd_store_pending(gwd->store) == 0 &&
                                gmc_time_add(now, STOP_AT_MOST - GMC_MS(100)) >= gwd->stop_by))
        (void)event_base_loopbreak(gwd->base);
}

void gwd_on_signal(evutil_socket_t number, short what, void *ctx)
{
    struct gwd *gwd = ctx;
    (void)what;
    if (number == SIGHUP) {
        if (gwd->stop_signals == 0)
            on_hangup(gwd);
        gwd_drain(gwd);
        return;
    }
    if (gwd->stop_signals++ > 0) {
        gwd_log(gwd->log, GMC_LEVEL_WARN, "stopped", GWD_STR("text", "at once, as asked twice"));
        _exit(1);
    }
    stop(gwd);
}

/* ---- now and then ---- */
static void warn_expiry(struct gwd *gwd)
{
    int64_t left = gwd_peers_certificate_seconds_left(gwd->peers), days = left / 86400;
    char text[128];
    if (left > 30 * 86400 || days >= gwd->days_told)
        return;
    /* Told at 30 days, at 7, and daily in the last week. */
    gwd->days_told = days > 7 ? 8 : days;
    gwd_text(text, sizeof text,
             left < 0 ? "the own certificate has expired"
                      : "the own certificate expires in %" PRId64 " days",
             days);
    gwd_log(gwd->log, GMC_LEVEL_WARN, "certificate.expires", GWD_STR("text", text),
            GWD_STR("file", gwd->conf->tls.certificate));
}

/* What a counter counts, if it is worth a line. */
static const char *topic_of(const char *counter)
{
    if (strstr(counter, "dropped") != NULL || strcmp(counter, "echoes_refused") == 0)
        return "datagrams.dropped";
    if (strcmp(counter, "messages_bad") == 0 || strcmp(counter, "messages_refused") == 0)
        return "messages.refused";
    return NULL;
}

/* Of a session just ended, or not yet begun on this side; about a round of probes just over: these
 * are usual. */
static enum gmc_trace_level first_level(const char *counter)
{
    bool usual =
        strcmp(counter, "dropped_session") == 0 || strcmp(counter, "messages_refused") == 0;
    return usual ? GMC_LEVEL_INFO : GMC_LEVEL_WARN;
}

/* What was refused is weather: a line when a kind of it first shows, then a count. */
static void log_counters(struct gwd *gwd)
{
    struct gmc_counter now[GWD_COUNTERS_MAX];
    size_t count = gmc_gateway_counters(gwd_drive_gateway(gwd->drive), now, GWD_COUNTERS_MAX);
    for (size_t i = 0; i < count && i < GWD_COUNTERS_MAX; i++) {
        uint64_t before = i < gwd->counter_count ? gwd->counters[i].value : 0;
        const char *topic = topic_of(now[i].name);
        if (topic == NULL || now[i].value == before)
            continue;
        gwd_log(gwd->log, before == 0 ? first_level(now[i].name) : GMC_LEVEL_DEBUG, topic,
                GWD_STR("why", now[i].name), GWD_NUM("more", now[i].value - before),
                GWD_NUM("total", now[i].value));
    }
    memcpy(gwd->counters, now, sizeof now);
    gwd->counter_count = count < GWD_COUNTERS_MAX ? count : GWD_COUNTERS_MAX;
}

/* Blocks of a transfer that ended lie in the allocator's heap; after a quiet period it gives them
 * back, so that an idle gateway is small again. */
static void give_back_memory(struct gwd *gwd)
{
    const struct gwd_udp_stats *udp = gwd_udp_stats(gwd->udp);
    uint64_t moved = udp->received + udp->sent;
    if (moved - gwd->moved > QUIET_DATAGRAMS) {
        gwd->trim = true;
    } else if (gwd->trim) {
        gwd->trim = false;
        (void)malloc_trim(0);
    }
    gwd->moved = moved;
}

void gwd_on_tick(evutil_socket_t fd, short what, void *ctx)
{
    struct gwd *gwd = ctx;
    struct timeval next = {.tv_sec = 5};
    gmc_time now = gwd_now();
    (void)fd, (void)what;
    gwd_log_tick(gwd->log, now);
    log_counters(gwd);
    warn_expiry(gwd);
    give_back_memory(gwd);
    gwd_doctor_tick(gwd, now);
    if (gwd->fabric != NULL)
        gwd_fabric_tick(gwd->fabric);
    if (gmc_time_sub(now, gwd->rechecked) >= RECHECK_EVERY) {
        gwd->rechecked = now;
        gwd_peers_recheck(gwd->peers);
    }
    if (gwd->stop_signals > 0)
        next = (struct timeval){.tv_usec = 20000};
    (void)event_add(gwd->tick_event, &next);
    gwd_drain(gwd);
}
