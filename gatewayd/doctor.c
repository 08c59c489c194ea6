/* SPDX-License-Identifier: BSD-2-Clause */
/* What the configuration and the machine show to gmcast doctor. */
#include "gatewayd/doctor.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <unistd.h>

#include "gatewayd/addr.h"
#include "gatewayd/cert.h"
#include "gatewayd/identity.h"
#include "gatewayd/text.h"

#define DAY 86400
#define WARN_DAYS 30
#define ROOM_FAIL (UINT64_C(64) << 20)
#define ROOM_WARN (UINT64_C(1) << 30)
#define ROOM_WARN_PERCENT 2
#define CACHE_WARN_PERCENT 50 /* of memory, which holds blocks being written too */
#define CRL_WARN_PERCENT 10   /* of a list's life */

/* ---- the configuration ---- */
/* What is not right for whoever looks may be right for the daemon's user. */
static bool is_daemons_user(const struct gwd_conf *conf)
{
    return geteuid() == 0 || conf == NULL || conf->user[0] == '\0';
}

static void say_errors(struct gmc_findings *findings, const char *file, struct gwd_errors *errors,
                       bool certain)
{
    for (size_t i = 0; i < errors->count; i++) {
        gmc_findings_add(findings, certain ? GMC_CTL_LEVEL_FAIL : GMC_CTL_LEVEL_WARN, "config",
                         file, "%s", errors->lines[i]);
        gmc_findings_advise(findings, certain ? "correct it; gatewayd -T checks the file again"
                                              : "this may be so for the user who asks alone: run "
                                                "gmcast doctor as root");
    }
    gwd_errors_clear(errors);
}

struct gwd_conf *gwd_doctor_configuration(struct gmc_findings *findings, const char *file)
{
    struct gwd_errors errors = {0};
    struct gwd_conf *conf = gwd_conf_read(file, &errors);
    if (conf != NULL) {
        (void)gwd_conf_check(conf, &errors);
        (void)gwd_conf_check_receives(conf, &errors);
    }
    if (conf != NULL && errors.count == 0) {
        gmc_findings_add(findings, GMC_CTL_LEVEL_OK, "config", file, "good");
        return conf;
    }
    say_errors(findings, file, &errors, is_daemons_user(conf));
    return conf;
}

/* ---- certificates ---- */
void gwd_doctor_certificate(struct gmc_findings *findings, const struct gwd_conf *conf,
                            int64_t seconds_left)
{
    int64_t days = seconds_left / DAY;
    enum gmc_ctl_level level = seconds_left < 0    ? GMC_CTL_LEVEL_FAIL
                               : days <= WARN_DAYS ? GMC_CTL_LEVEL_WARN
                                                   : GMC_CTL_LEVEL_OK;
    const char *when = days <= 1 ? "today" : days <= 7 ? "this week" : "soon";
    if (seconds_left < 0)
        gmc_findings_add(findings, level, "certificate", conf->tls.certificate,
                         "the own certificate expired %" PRId64 " days ago: others refuse it",
                         -days);
    else
        gmc_findings_add(findings, level, "certificate", conf->tls.certificate,
                         "the own certificate expires in %" PRId64 " days", days);
    gmc_findings_value(findings, days, "days");
    if (level != GMC_CTL_LEVEL_OK)
        gmc_findings_advise(findings,
                            "get a new one %s (gmcast ca issue DIR %s), put it and its key in the "
                            "place of the old ones, and systemctl reload gatewayd",
                            seconds_left < 0 ? "now" : when, conf->domain);
}

static void check_file(struct gmc_findings *findings, const struct gwd_conf *conf)
{
    char reason[512], names[256];
    STACK_OF(X509) *chain = gwd_cert_load_chain(conf->tls.certificate, reason, sizeof reason);
    if (chain == NULL)
        return; /* the configuration's check has said so */
    gwd_doctor_certificate(findings, conf, gwd_cert_seconds_left(sk_X509_value(chain, 0)));
    if (gwd_cert_has_domain(sk_X509_value(chain, 0), conf->domain)) {
        gwd_cert_names(sk_X509_value(chain, 0), names, sizeof names);
        gmc_findings_add(findings, GMC_CTL_LEVEL_OK, "certificate-name", conf->domain,
                         "is in the certificate, which is for: %s", names);
    }
    sk_X509_pop_free(chain, X509_free);
}

static void check_revocation(struct gmc_findings *findings, const struct gwd_conf *conf)
{
    int64_t age, left;
    if (gwd_identity_is_own(conf)) /* no authority, so no list */
        return;
    if (conf->tls.crl[0] == '\0' || !gwd_cert_list_times(conf->tls.crl, &age, &left))
        return;
    if (left < 0) {
        gmc_findings_add(findings, GMC_CTL_LEVEL_FAIL, "crl", conf->tls.crl,
                         "the revocation list ran out %" PRId64 " days ago: everybody is refused",
                         -left / DAY);
    } else {
        bool late = left < (age + left) / 100 * CRL_WARN_PERCENT;
        gmc_findings_add(findings, late ? GMC_CTL_LEVEL_WARN : GMC_CTL_LEVEL_OK, "crl",
                         conf->tls.crl,
                         "the revocation list is %" PRId64 " days old and good for %" PRId64
                         " days",
                         age / DAY, left / DAY);
        if (!late) {
            gmc_findings_value(findings, left / DAY, "days");
            return;
        }
    }
    gmc_findings_value(findings, left / DAY, "days");
    gmc_findings_advise(findings, "get the current one from the authority (gmcast ca crl DIR), put "
                                  "it there, and systemctl reload gatewayd");
}

/* ---- the machine ---- */
static void check_room(struct gmc_findings *findings, const char *what, const char *path)
{
    struct statvfs fs;
    if (statvfs(path, &fs) != 0)
        return; /* the configuration's check has said so */
    uint64_t free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
    uint64_t all = (uint64_t)fs.f_blocks * fs.f_frsize;
    bool few = free_bytes < ROOM_WARN || free_bytes < all / 100 * ROOM_WARN_PERCENT;
    enum gmc_ctl_level level = free_bytes < ROOM_FAIL ? GMC_CTL_LEVEL_FAIL
                               : few                  ? GMC_CTL_LEVEL_WARN
                                                      : GMC_CTL_LEVEL_OK;
    gmc_findings_add(findings, level, "storage", path, "%s: %.1f GB of %.1f GB are free", what,
                     (double)free_bytes / 1e9, (double)all / 1e9);
    gmc_findings_value(findings, (int64_t)free_bytes, "bytes");
    if (level != GMC_CTL_LEVEL_OK)
        gmc_findings_advise(findings, "make room on that file system (df -h %s)", path);
}

/* Each directory once: many sections may name the same one. */
static void check_storage(struct gmc_findings *findings, const struct gwd_conf *conf)
{
    check_room(findings, "state of transfers", conf->state);
    for (size_t i = 0; i < conf->receive_count; i++) {
        bool again = false;
        for (size_t j = 0; j < i; j++)
            again |= strcmp(conf->receives[i].directory, conf->receives[j].directory) == 0;
        if (!again)
            check_room(findings, "what is received", conf->receives[i].directory);
    }
}

static void check_memory(struct gmc_findings *findings, const struct gwd_conf *conf)
{
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    uint64_t memory = pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : 0;
    bool much = memory > 0 && conf->cache / CACHE_WARN_PERCENT * 100 > memory;
    gmc_findings_add(findings, much ? GMC_CTL_LEVEL_WARN : GMC_CTL_LEVEL_OK, "cache", "cache",
                     "at most %.2f GB of blocks are kept, of %.2f GB of memory",
                     (double)conf->cache / 1e9, (double)memory / 1e9);
    gmc_findings_value(findings, (int64_t)conf->cache, "bytes");
    if (much)
        gmc_findings_advise(findings, "set cache in %s to less than half of the memory",
                            conf->file);
}

/* Other hosts' clocks are not asked; whether this one is kept right the kernel knows. */
static void check_clock(struct gmc_findings *findings)
{
    struct timex clock = {.modes = 0};
    int state = adjtimex(&clock);
    if (state < 0)
        return;
    if (state != TIME_ERROR && (clock.status & STA_UNSYNC) == 0) {
        gmc_findings_add(findings, GMC_CTL_LEVEL_OK, "clock", "this host",
                         "synchronised, off by %.3f s at most; those of others are not measured",
                         (double)clock.maxerror / 1e6);
        gmc_findings_value(findings, clock.maxerror, "us");
        return;
    }
    gmc_findings_add(findings, GMC_CTL_LEVEL_WARN, "clock", "this host",
                     "nothing is known to keep it right; certificates and revocation lists are "
                     "judged by it");
    gmc_findings_advise(findings, "run a time service, such as systemd-timesyncd or chrony "
                                  "(timedatectl shows whether one works)");
}

void gwd_doctor_surroundings(struct gmc_findings *findings, const struct gwd_conf *conf)
{
    check_revocation(findings, conf);
    check_storage(findings, conf);
    check_memory(findings, conf);
    check_clock(findings);
}

/* ---- without a daemon ---- */
/* The daemon sets this too, so that connections of an earlier run do not stand in its way. */
static bool try_to_bind(const struct gwd_sockaddr *address, int type)
{
    int on = 1, error;
    int fd = socket(address->storage.ss_family, type | SOCK_CLOEXEC, 0);
    bool ok;
    if (type == SOCK_STREAM)
        (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    ok = fd >= 0 && bind(fd, (const struct sockaddr *)&address->storage, address->len) == 0 &&
         (type != SOCK_STREAM || listen(fd, 1) == 0);
    error = errno;
    if (fd >= 0)
        (void)close(fd);
    errno = error;
    return ok;
}

static void check_port(struct gmc_findings *findings, const struct gwd_conf *conf)
{
    static const struct {
        int type;
        const char *name;
    } kinds[] = {{SOCK_STREAM, "TCP"}, {SOCK_DGRAM, "UDP"}};
    struct gwd_sockaddr address;
    char host[256], reason[256];
    uint16_t port;
    if (!gwd_addr_split(conf->listen, host, sizeof host, &port) ||
        !gwd_addr_numeric(host, port, &address))
        return; /* the configuration's check has said so */
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (try_to_bind(&address, kinds[i].type)) {
            gmc_findings_add(findings, GMC_CTL_LEVEL_OK, "port", conf->listen,
                             "the %s port is free", kinds[i].name);
            continue;
        }
        gwd_addr_not_bound(kinds[i].name, &address, reason, sizeof reason);
        bool unsure = errno == EACCES && geteuid() != 0;
        gmc_findings_add(findings, unsure ? GMC_CTL_LEVEL_WARN : GMC_CTL_LEVEL_FAIL, "port",
                         conf->listen, "%s", reason);
        gmc_findings_advise(findings, unsure ? "run gmcast doctor as root, who may open it"
                                             : "end what holds it, or choose another port in "
                                               "listen (and in the neighbours' sections)");
    }
}

void gwd_doctor_without_daemon(struct gmc_findings *findings, const char *file)
{
    struct gwd_conf *conf = gwd_doctor_configuration(findings, file);
    if (conf == NULL)
        return;
    if (!gwd_identity_is_own(conf))
        check_file(findings, conf);
    gwd_doctor_surroundings(findings, conf);
    check_port(findings, conf);
    gwd_conf_free(conf);
}

/* Names of files may be any bytes. */
static json_t *text_of(const char *bytes)
{
    json_t *text = json_string(bytes);
    return text != NULL ? text : json_string("?");
}

bool gwd_doctor_print(const struct gmc_findings *findings, FILE *out)
{
    bool ok = true;
    for (size_t i = 0; ok && i < findings->count; i++) {
        const struct gmc_ctl_finding *f = &findings->list[i];
        json_t *object = json_pack("{s:s, s:s, s:o, s:I, s:s, s:o, s:o}", "level",
                                   gmc_findings_level_name(f->level), "check", f->check, "subject",
                                   text_of(f->subject), "value", (json_int_t)f->value, "unit",
                                   f->unit, "text", text_of(f->text), "advice", text_of(f->advice));
        ok =
            object != NULL && json_dumpf(object, out, JSON_COMPACT) == 0 && fputc('\n', out) != EOF;
        json_decref(object);
    }
    return ok && fflush(out) == 0;
}
