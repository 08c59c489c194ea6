/* SPDX-License-Identifier: BSD-2-Clause */
/* What only the running daemon can tell gmcast doctor: what is in force, what it holds open, and
 * how busy it was in its last seconds. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "gatewayd/doctor.h"
#include "gatewayd/gatewayd_int.h"
#include "gatewayd/identity.h"
#include "gatewayd/text.h"

#define FILES_GOOD 4096
#define BUSY_PERCENT 90
#define CORE_COUNTERS_MAX 256
#define NANO UINT64_C(1000000000)

/* ---- how busy it is ---- */
static uint64_t loop_cpu_ns(void)
{
    struct timespec used;
    return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) == 0
               ? (uint64_t)used.tv_sec * NANO + (uint64_t)used.tv_nsec
               : 0;
}

static unsigned percent(uint64_t part, uint64_t whole)
{
    uint64_t share = whole > 0 ? part * 100 / whole : 0;
    return share < 100 ? (unsigned)share : 100;
}

void gwd_doctor_tick(struct gwd *gwd, gmc_time now)
{
    struct gwd_load *load = &gwd->load;
    struct gwd_workers_load workers = gwd_store_load(gwd->store);
    uint64_t cpu = loop_cpu_ns(), passed = gmc_time_sub(now, load->at);
    if (load->at != 0 && passed > 0) {
        uint64_t all = passed * workers.threads;
        load->known = true;
        load->loop_percent = percent(cpu - load->loop_ns, passed);
        load->store_percent = percent(workers.busy_ns - load->store.busy_ns, all);
        load->store_cpu_percent = percent(workers.cpu_ns - load->store.cpu_ns, all);
    }
    load->at = now;
    load->loop_ns = cpu;
    load->store = workers;
}

static void check_load(struct gmc_findings *findings, const struct gwd *gwd)
{
    const struct gwd_load *load = &gwd->load;
    bool full = load->loop_percent >= BUSY_PERCENT, slow = load->store_percent >= BUSY_PERCENT;
    bool by_cpu = load->store_cpu_percent > load->store_percent / 2;
    if (!load->known)
        return;
    gmc_findings_add(findings, full ? GMC_CTL_LEVEL_WARN : GMC_CTL_LEVEL_OK, "cpu",
                     "network thread", "busy for %u %% of the last seconds", load->loop_percent);
    gmc_findings_value(findings, load->loop_percent, "%");
    if (full)
        gmc_findings_advise(findings, "the processor limits what this gateway sends and receives: "
                                      "give it a faster one, or less else to do");
    gmc_findings_add(findings, slow ? GMC_CTL_LEVEL_WARN : GMC_CTL_LEVEL_OK, "disk",
                     "store's threads",
                     "busy for %u %% of the last seconds, %u %% on the processor",
                     load->store_percent, load->store_cpu_percent);
    gmc_findings_value(findings, load->store_percent, "%");
    if (slow)
        gmc_findings_advise(findings,
                            by_cpu ? "hashing limits what is read and written here: raise workers "
                                     "in the configuration if there are more processors"
                                   : "the disk limits what is read and written here: look at what "
                                     "else uses it (iostat -x 1), or use a faster one");
}

/* ---- what is in force ---- */
static bool is_newer(const char *path, int64_t loaded_at)
{
    struct stat st;
    return path[0] != '\0' && stat(path, &st) == 0 &&
           (int64_t)st.st_mtim.tv_sec * (int64_t)NANO + st.st_mtim.tv_nsec > loaded_at;
}

static void check_loaded(struct gmc_findings *findings, const struct gwd *gwd,
                         const struct gwd_conf *next)
{
    const struct gwd_conf_tls *tls = &gwd->conf->tls;
    const char *const files[] = {gwd->options.file, tls->certificate, tls->key, tls->ca, tls->crl};
    size_t count = gwd_identity_is_own(gwd->conf) ? 1 : sizeof files / sizeof *files;
    char names[512];
    for (size_t i = 0; i < count; i++) {
        if (!is_newer(files[i], gwd->loaded_at))
            continue;
        gmc_findings_add(findings, GMC_CTL_LEVEL_WARN, "reload", files[i],
                         "the file was changed since it was read: what it said before is in force");
        gmc_findings_advise(findings, "systemctl reload gatewayd");
    }
    if (next == NULL)
        return;
    gwd_conf_restart_needed(gwd->started_with, next, names, sizeof names);
    if (names[0] == '\0')
        return;
    gmc_findings_add(findings, GMC_CTL_LEVEL_WARN, "restart", gwd->options.file,
                     "changed since the start, and not in force: %s", names);
    gmc_findings_advise(findings, "systemctl restart gatewayd");
}

static void check_socket(struct gmc_findings *findings, const struct gwd *gwd)
{
    int receive, send;
    gwd_udp_buffers(gwd->udp, &receive, &send);
    gmc_findings_add(findings, GMC_CTL_LEVEL_OK, "port", gwd->started_with->listen,
                     "TCP and UDP are bound here");
    bool small = receive < GWD_RECEIVE_BUFFER_GOOD;
    gmc_findings_add(findings, small ? GMC_CTL_LEVEL_WARN : GMC_CTL_LEVEL_OK, "receive-buffer",
                     gwd->started_with->listen,
                     "the UDP socket holds %d KiB of what was not read yet%s", receive / 1024,
                     small ? ": at high rates datagrams are lost here" : "");
    gmc_findings_value(findings, receive, "bytes");
    if (small)
        gmc_findings_advise(findings, "start as root (with user = ...), or sysctl -w "
                                      "net.core.rmem_max=8388608; then restart gatewayd");
}

static void check_files(struct gmc_findings *findings)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return;
    bool few = files.rlim_cur < FILES_GOOD;
    gmc_findings_add(findings, few ? GMC_CTL_LEVEL_WARN : GMC_CTL_LEVEL_OK, "file-limit",
                     "gatewayd", "may have %" PRIu64 " files and connections open",
                     (uint64_t)files.rlim_cur);
    gmc_findings_value(findings, (int64_t)files.rlim_cur, "files");
    if (few)
        gmc_findings_advise(findings, "LimitNOFILE=65536 in the unit (systemctl edit gatewayd), "
                                      "then restart it");
}

/* How it was told to send. */
static void check_congestion(struct gmc_findings *findings, const struct gwd *gwd)
{
    if (gwd->started_with->congestion != GWD_CONGESTION_FIXED)
        return;
    gmc_findings_add(findings, GMC_CTL_LEVEL_WARN, "congestion", gwd->options.file,
                     "each link sends at a fixed %.3f Mbit/s, whatever its path carries",
                     (double)gwd->started_with->rate / 1e6);
    gmc_findings_value(findings, (int64_t)gwd->started_with->rate, "bit/s");
    gmc_findings_advise(findings, "remove congestion = fixed, unless that is what you want");
}

/* The names of the nodes that forge, or of those that may. */
static size_t list_forgers(const struct gmc_gateway *gateway, bool known, char *out, size_t size)
{
    struct gmc_peer_info info;
    size_t count = 0, used = 0;
    for (gmc_peer peer = 0; gmc_gateway_peer_info(gateway, gwd_now(), peer, &info); peer++) {
        if (known ? !info.forges : !info.is_suspect)
            continue;
        if (used < size)
            used +=
                (size_t)snprintf(out + used, size - used, count > 0 ? ", %s" : "%s", info.domain);
        count++;
    }
    return count;
}

/* Whoever does it is a node: nobody else has the key of a group. */
static void check_forgery(struct gmc_findings *findings, const struct gwd *gwd)
{
    const struct gmc_gateway *gateway = gwd_drive_gateway(gwd->drive);
    struct gmc_counter counters[CORE_COUNTERS_MAX];
    size_t count = gmc_gateway_counters(gateway, counters, CORE_COUNTERS_MAX);
    uint64_t times = 0;
    char names[512], who[560] = "";
    for (size_t i = 0; i < count; i++)
        if (strcmp(counters[i].name, "group_forged") == 0)
            times = counters[i].value;
    if (times == 0)
        return;
    bool known = list_forgers(gateway, true, names, sizeof(names)) > 0;
    if (known || list_forgers(gateway, false, names, sizeof(names)) > 0)
        (void)snprintf(who, sizeof(who), "; it was %s%s", known ? "" : "one of ", names);
    gmc_findings_add(findings, GMC_CTL_LEVEL_WARN, "forgery", gwd->conf->domain,
                     "somebody who has the key of this domain's multicast sent what is not the "
                     "source's, in %" PRIu64 " transfers since the start; nothing of it was kept%s",
                     times, who);
    gmc_findings_value(findings, (int64_t)times, "transfers");
    gmc_findings_advise(findings, "%s",
                        known ? "gmcast node remove whom it names, and look at that machine"
                              : "each further forgery leaves fewer who may have done it; see from "
                                "where the datagrams came (grep forges in the log)");
}

/* It goes on by itself when its source is heard again; nobody else knows whether that will be. */
static void check_unfinished(struct gmc_findings *findings, const struct gwd *gwd)
{
    const struct gmc_gateway *gateway = gwd_drive_gateway(gwd->drive);
    struct gmc_channel_info info;
    for (size_t i = 0; gmc_gateway_channel_info(gateway, gwd_now(), i, &info); i++) {
        char name[GMC_DOMAIN_NAME_MAX + 18];
        if (info.is_source || info.name != NULL || info.state != GMC_CHANNEL_RUNNING ||
            info.reason[0] == '\0')
            continue;
        gwd_text(name, sizeof name, "%016" PRIx64 "@%s", info.key.e, info.key.source);
        gmc_findings_add(findings, GMC_CTL_LEVEL_WARN, "unfinished", name,
                         "%" PRIu64 " of %" PRIu64 " bytes are here, and it waits: %s", info.bytes,
                         info.total_bytes, info.reason);
        gmc_findings_value(findings, (int64_t)info.bytes, "bytes");
        gmc_findings_advise(findings,
                            "it goes on when that is heard again; if that will not be, "
                            "gmcast cancel --local %s removes what is here",
                            name);
    }
}

size_t gwd_hook_findings(void *ctx, const struct gmc_ctl_finding **out)
{
    struct gwd *gwd = ctx;
    struct gmc_findings *findings = &gwd->findings;
    struct gwd_conf *next;
    gmc_findings_clear(findings);
    next = gwd_doctor_configuration(findings, gwd->options.file);
    check_loaded(findings, gwd, next);
    gwd_conf_free(next);
    if (!gwd_identity_is_own(gwd->conf)) {
        gwd_doctor_certificate(findings, gwd->conf, gwd_peers_certificate_seconds_left(gwd->peers));
        gmc_findings_add(findings, GMC_CTL_LEVEL_OK, "certificate-name", gwd->conf->domain,
                         "is in the certificate, as was checked when that was read");
    }
    check_socket(findings, gwd);
    check_files(findings);
    check_congestion(findings, gwd);
    check_forgery(findings, gwd);
    check_unfinished(findings, gwd);
    gwd_doctor_surroundings(findings, gwd->conf);
    check_load(findings, gwd);
    *out = findings->list;
    return findings->count;
}
