/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns `gmcast doctor`: tests the links of a gateway, looks at what limits, and says what to do. */
#include "tools/gmcast.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "ctl/findings.h"
#include "tools/doctor_limits.h"
#include "tools/doctor_links.h"
#include "tools/doctor_offline.h"
#include "tools/draw.h"
#include "tools/report.h"
#include "tools/session.h"

/* Where it is installed, which is not in everybody's PATH. */
#ifndef GATEWAYD_FILE
#define GATEWAYD_FILE "/usr/local/sbin/gatewayd"
#endif

#define LOOK_SECONDS 0.1
#define TEST_SECONDS 6.0 /* for links that do not come up; twice where one has just died */
#define LOOKS_ENOUGH 20  /* at what is being sent */

static const char help[] =
    "Usage: gmcast doctor [DOMAIN...] [--json] [--config FILE]\n"
    "Tests the links to all neighbours, or to these, in both directions, looks at this gateway "
    "and\n"
    "its host, and at what limits what is being sent. One line for each finding: ok, warn or "
    "FAIL,\n"
    "and what to do. Takes up to twelve seconds. While no gateway answers its configuration, host "
    "and\n"
    "port are looked at.\n"
    "\n"
    "  -c, --config FILE  the configuration to look at while no gateway answers\n"
    "      --json         a JSON array of findings\n"
    "\n"
    "Exit status: 0 everything works (warnings included), 1 could not look, 5 something does not.";

/* Whose link is looked at. */
struct domain {
    char *name;
    bool was_up;
};

struct doctor {
    struct gmc_client *client;
    struct gmc_findings findings;
    struct doctor_limits *limits;
    struct domain *domains;
    size_t count;
    bool receives; /* something comes in */
};

static double now_seconds(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void pause_a_little(void)
{
    struct timespec ts = {0, (long)(LOOK_SECONDS * 1e9)};

    nanosleep(&ts, NULL); /* a signal ends the command */
}

/* ---- whose links ---- */

static bool is_meant(const struct gmc_ctl_peer *peer, const char *name)
{
    return strcasecmp(peer->domain, name) == 0 ||
           (peer->session.alias[0] != '\0' && strcmp(peer->session.alias, name) == 0);
}

static bool take_domain(struct doctor *doctor, const char *domain)
{
    struct domain *grown = realloc(doctor->domains, (doctor->count + 1) * sizeof *grown);

    if (grown == NULL)
        return false;
    doctor->domains = grown;
    grown[doctor->count] = (struct domain){.name = strdup(domain)};
    return grown[doctor->count].name != NULL && ++doctor->count > 0;
}

/* NULL: it is not looked at. */
static struct domain *find(const struct doctor *doctor, const char *name)
{
    for (size_t i = 0; i < doctor->count; i++) {
        if (strcmp(doctor->domains[i].name, name) == 0)
            return &doctor->domains[i];
    }
    return NULL;
}

static bool is_looked_at(const struct doctor *doctor, const char *name)
{
    return find(doctor, name) != NULL;
}

/* False after an error message: a name means nobody. */
static bool take_named(struct doctor *doctor, const struct gmc_ctl_reply *reply, const char *name)
{
    for (size_t i = 1; i < reply->peer_count; i++) {
        const struct gmc_ctl_peer *peer = &reply->peers[i];

        if (peer->session.configured && is_meant(peer, name))
            return is_looked_at(doctor, peer->domain) || take_domain(doctor, peer->domain);
    }
    if (strcasecmp(reply->domain, name) == 0)
        gmcast_error("\"%s\" is this domain itself: name another one, or none for all", name);
    else
        gmcast_error("%s knows no domain \"%s\": gmcast peers lists those that it knows; a section "
                     "peer \"%s\" in its configuration adds one",
                     reply->domain, name, name);
    return false;
}

static bool choose(struct doctor *doctor, const struct gmc_ctl_reply *reply, int count,
                   char *const *names)
{
    for (int i = 0; i < count; i++) {
        if (!take_named(doctor, reply, names[i]))
            return false;
    }
    for (size_t i = 1; count == 0 && i < reply->peer_count; i++) {
        if (reply->peers[i].session.configured && !take_domain(doctor, reply->peers[i].domain))
            return false;
    }
    return true;
}

/* ---- looking ---- */

/* Tests begin; *reply: how the gateway is itself. */
static bool test(struct doctor *doctor, const struct gmc_ctl_reply **reply)
{
    struct gmc_ctl_target *targets = calloc(doctor->count + 1, sizeof *targets);
    struct gmc_ctl_request request = {.kind = GMC_CTL_DOCTOR,
                                      .targets = targets,
                                      .target_count = doctor->count};
    bool ok = targets != NULL;

    for (size_t i = 0; ok && i < doctor->count; i++)
        targets[i].domain = doctor->domains[i].name;
    ok = ok && session_call(doctor->client, &request, reply);
    free(targets);
    return ok;
}

static bool begin(struct doctor *doctor)
{
    const struct gmc_ctl_reply *reply;
    bool ok = test(doctor, &reply);

    for (size_t i = 0; ok && i < reply->finding_count; i++)
        gmc_findings_copy(&doctor->findings, &reply->findings[i]);
    return ok;
}

/* A session ended when it was tested: a new one shows why. */
static bool has_died(struct doctor *doctor, const struct gmc_ctl_reply *reply)
{
    bool died = false;

    for (size_t i = 1; i < reply->peer_count; i++) {
        const struct gmc_ctl_peer *peer = &reply->peers[i];
        struct domain *domain = find(doctor, peer->domain);

        if (domain == NULL)
            continue;
        died |= domain->was_up && !peer->session.up;
        domain->was_up = peer->session.up;
    }
    return died;
}

/* One look at all neighbours; whether there is nothing to wait for. */
static bool look(struct doctor *doctor, const struct gmc_ctl_reply *reply, double waited,
                 unsigned looks)
{
    bool known = true;

    for (size_t i = 1; i < reply->peer_count; i++) {
        const struct gmc_ctl_peer *peer = &reply->peers[i];

        if (!is_looked_at(doctor, peer->domain))
            continue;
        known = known && doctor_link_is_known(peer, waited);
        doctor_limits_look(doctor->limits, peer);
    }
    return known && (looks >= LOOKS_ENOUGH || !doctor_limits_any(doctor->limits));
}

/* Until everything is known, or for as long as a person has patience. NULL: an error message. */
static const struct gmc_ctl_reply *look_on(struct doctor *doctor)
{
    struct gmc_ctl_request request = {.kind = GMC_CTL_PEERS};
    const struct gmc_ctl_reply *reply;
    double began = now_seconds();
    bool again = false;

    for (unsigned looks = 1;; looks++) {
        double waited = now_seconds() - began;
        bool known;

        if (!session_call(doctor->client, &request, &reply))
            return NULL;
        known = look(doctor, reply, waited, looks);
        if (has_died(doctor, reply) && !again) {
            again = true;
            began = now_seconds();
            if (!test(doctor, &reply))
                return NULL;
        } else if (known || waited > TEST_SECONDS) {
            return reply;
        }
        pause_a_little();
    }
}

/* What limits that which comes in is known at the other end. */
static bool receives(struct doctor *doctor)
{
    struct gmc_ctl_request request = {.kind = GMC_CTL_STATUS};
    const struct gmc_ctl_reply *reply;

    if (gmc_client_call(doctor->client, &request, &reply) != GMC_CLIENT_OK)
        return false;
    for (size_t i = 0; i < reply->transfer_count; i++) {
        if (!reply->transfers[i].is_source && reply->transfers[i].state == GMC_CTL_TRANSFER_RUNNING)
            return true;
    }
    return false;
}

static void say_links(struct doctor *doctor, const struct gmc_ctl_reply *reply)
{
    for (size_t i = 1; i < reply->peer_count; i++) {
        if (is_looked_at(doctor, reply->peers[i].domain))
            doctor_link(&doctor->findings, &reply->peers[i]);
    }
    for (size_t i = 1; i < reply->peer_count; i++) {
        if (is_looked_at(doctor, reply->peers[i].domain))
            doctor_limits_say(doctor->limits, &reply->peers[i], &doctor->findings);
    }
    if (doctor_limits_any(doctor->limits))
        return;
    gmc_findings_add(&doctor->findings, GMC_CTL_LEVEL_OK, "limit", reply->domain, "%s",
                     doctor->receives
                         ? "nothing is being sent from here; what limits that which comes in shows "
                           "at the gateway above (gmcast tree CHANNEL), and here as disk and cpu"
                         : "nothing is being sent from here: what limits shows while a transfer "
                           "runs");
}

static int end(const struct gmc_findings *findings, bool json)
{
    if (json)
        report_line(report_findings(findings), stdout);
    else
        draw_findings(findings, stdout);
    return gmc_findings_worst(findings) == GMC_CTL_LEVEL_FAIL ? EXIT_UNWELL : EXIT_COMPLETE;
}

/* ---- the command ---- */

/* The gateway may be well, and this user may not ask it. */
static bool is_forbidden(const struct gmcast_globals *globals)
{
    const char *path = strncmp(globals->gateway, "ipc://", 6) == 0 ? globals->gateway + 6 : NULL;

    return path != NULL && access(path, W_OK) != 0 && errno == EACCES;
}

static void no_gateway(struct doctor *doctor, const struct gmcast_globals *globals,
                       const char *config)
{
    bool forbidden = is_forbidden(globals);

    gmc_findings_add(&doctor->findings, GMC_CTL_LEVEL_FAIL, "gateway", globals->gateway, "%s",
                     gmc_client_error(doctor->client));
    gmc_findings_advise(&doctor->findings, "%s",
                        forbidden
                            ? "usermod -a -G gmcast USER, and log in again; or ask as root"
                            : "systemctl start gatewayd; journalctl -u gatewayd says why it ended");
    if (!forbidden)
        doctor_offline(&doctor->findings, GATEWAYD_FILE, config);
}

static int with_gateway(struct doctor *doctor, const struct gmc_ctl_reply *reply, int count,
                        char *const *names, bool json)
{
    if (!choose(doctor, reply, count, names))
        return EXIT_REFUSED;
    gmc_findings_add(&doctor->findings, GMC_CTL_LEVEL_OK, "gateway", reply->domain, "answers");
    doctor->receives = receives(doctor);
    reply = begin(doctor) ? look_on(doctor) : NULL;
    if (reply == NULL)
        return EXIT_REFUSED;
    say_links(doctor, reply);
    return end(&doctor->findings, json);
}

static int run(const struct gmcast_globals *globals, int count, char *const *names, bool json,
               const char *config)
{
    struct gmc_ctl_request request = {.kind = GMC_CTL_PEERS};
    struct doctor doctor = {.client = session_open(globals), .limits = doctor_limits_new()};
    const struct gmc_ctl_reply *reply;
    enum gmc_client_result result;
    int status = EXIT_REFUSED;

    if (doctor.client != NULL && doctor.limits != NULL) {
        result = gmc_client_call(doctor.client, &request, &reply);
        if (result == GMC_CLIENT_OK) {
            status = with_gateway(&doctor, reply, count, names, json);
        } else if (result == GMC_CLIENT_NO_GATEWAY) {
            no_gateway(&doctor, globals, config);
            status = end(&doctor.findings, json);
        } else {
            status = session_error(doctor.client);
        }
    }
    for (size_t i = 0; i < doctor.count; i++)
        free(doctor.domains[i].name);
    free(doctor.domains);
    doctor_limits_free(doctor.limits);
    gmc_findings_clear(&doctor.findings);
    gmc_client_free(doctor.client);
    return status;
}

int gmcast_doctor(const struct gmcast_globals *globals, int argc, char **argv)
{
    static const struct option long_options[] = {{"config", required_argument, NULL, 'c'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {"json", no_argument, NULL, 'j'},
                                                 {NULL, 0, NULL, 0}};
    const char *config = NULL;
    bool json = false;
    int found;

    while ((found = getopt_long(argc, argv, ":c:h", long_options, NULL)) != -1) {
        switch (found) {
        case 'h':
            puts(help);
            return EXIT_COMPLETE;
        case 'c':
            config = optarg;
            break;
        case 'j':
            json = true;
            break;
        default:
            return gmcast_option_error("doctor", found, argv);
        }
    }
    return run(globals, argc - optind, argv + optind, json, config);
}
