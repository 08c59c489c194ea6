/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns what gmcast doctor says of what limits that which is sent. */
#include "tools/doctor_limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/text.h"

#define LOSS_MATTERS_PPM 10000

struct seen {
    char *domain;
    unsigned waits[DOCTOR_WAITS];
};

struct doctor_limits {
    struct seen *list;
    size_t count;
};

struct doctor_limits *doctor_limits_new(void)
{
    return calloc(1, sizeof(struct doctor_limits));
}

void doctor_limits_free(struct doctor_limits *limits)
{
    if (limits == NULL)
        return;
    for (size_t i = 0; i < limits->count; i++)
        free(limits->list[i].domain);
    free(limits->list);
    free(limits);
}

static struct seen *find(const struct doctor_limits *limits, const char *domain)
{
    for (size_t i = 0; i < limits->count; i++) {
        if (strcmp(limits->list[i].domain, domain) == 0)
            return &limits->list[i];
    }
    return NULL;
}

static struct seen *add(struct doctor_limits *limits, const char *domain)
{
    struct seen *list = realloc(limits->list, (limits->count + 1) * sizeof *list);

    if (list == NULL)
        return NULL;
    limits->list = list;
    list[limits->count] = (struct seen){.domain = strdup(domain)};
    return list[limits->count].domain != NULL ? &list[limits->count++] : NULL;
}

void doctor_limits_look(struct doctor_limits *limits, const struct gmc_ctl_peer *peer)
{
    struct seen *seen = find(limits, peer->domain);

    if (seen == NULL)
        seen = add(limits, peer->domain);
    if (seen != NULL)
        seen->waits[peer->wait]++;
}

static unsigned looks_of(const struct seen *seen)
{
    unsigned looks = 0;

    for (size_t i = 0; i < DOCTOR_WAITS; i++)
        looks += seen->waits[i];
    return looks;
}

bool doctor_limits_any(const struct doctor_limits *limits)
{
    for (size_t i = 0; i < limits->count; i++) {
        if (looks_of(&limits->list[i]) > limits->list[i].waits[GMC_CTL_WAIT_NOTHING])
            return true;
    }
    return false;
}

/* What it waited for most, when it waited for anything. */
static enum gmc_ctl_wait most_of(const struct seen *seen)
{
    enum gmc_ctl_wait most = GMC_CTL_WAIT_NOTHING;
    unsigned found = 0;

    for (size_t i = GMC_CTL_WAIT_PARENT; i < DOCTOR_WAITS; i++) {
        if (seen->waits[i] > found) {
            most = (enum gmc_ctl_wait)i;
            found = seen->waits[i];
        }
    }
    return most;
}

static void say_path(const struct gmc_ctl_peer *peer, const char *looks,
                     struct gmc_findings *findings)
{
    double rate = (double)peer->rate_bps / 1e6;

    if (peer->stream) {
        gmc_findings_add(findings, GMC_CTL_LEVEL_WARN, "limit", peer->domain,
                         "the TCP connection, in the place of UDP, limits (%s; %.1f Mbit/s)", looks,
                         rate);
        gmc_findings_advise(findings, "open UDP in both directions: see udp-out, udp-in and path");
    } else if (peer->loss_ppm >= LOSS_MATTERS_PPM) {
        gmc_findings_add(findings, GMC_CTL_LEVEL_WARN, "limit", peer->domain,
                         "the path limits, and loses %.2f %% (%s; %.1f Mbit/s)",
                         peer->loss_ppm / 1e4, looks, rate);
        gmc_findings_advise(findings, "look for what loses packets: see loss");
    } else {
        gmc_findings_add(findings, GMC_CTL_LEVEL_OK, "limit", peer->domain,
                         "the rate of the path limits (%s; %.1f Mbit/s)", looks, rate);
    }
}

void doctor_limits_say(const struct doctor_limits *limits, const struct gmc_ctl_peer *peer,
                       struct gmc_findings *findings)
{
    const struct seen *seen = find(limits, peer->domain);
    enum gmc_ctl_wait most = seen != NULL ? most_of(seen) : GMC_CTL_WAIT_NOTHING;
    const char *domain = peer->domain;
    char looks[64];

    if (most == GMC_CTL_WAIT_NOTHING)
        return;
    snprintf(looks, sizeof looks, "in %u of %u looks", seen->waits[most], looks_of(seen));
    switch (most) {
    case GMC_CTL_WAIT_PATH:
        say_path(peer, looks, findings);
        break;
    case GMC_CTL_WAIT_UPLINK:
        gmc_findings_add(findings, GMC_CTL_LEVEL_OK, "limit", domain,
                         "the uplink of this domain limits, which all links share (%s)", looks);
        break;
    case GMC_CTL_WAIT_CAP:
        gmc_findings_add(findings, GMC_CTL_LEVEL_OK, "limit", domain,
                         "the rate limits that the transfer was given, --rate (%s)", looks);
        break;
    case GMC_CTL_WAIT_RECEIVER:
        gmc_findings_add(findings, GMC_CTL_LEVEL_WARN, "limit", domain,
                         "the receiver limits: it has not stored what it got (%s)", looks);
        gmc_findings_advise(findings, "run gmcast doctor there, and see disk and cpu");
        break;
    case GMC_CTL_WAIT_STORE:
        gmc_findings_add(findings, GMC_CTL_LEVEL_WARN, "limit", domain,
                         "the disk here limits, from which it is read and hashed (%s)", looks);
        gmc_findings_advise(findings, "see disk: what else uses it, or whether hashing needs more "
                                      "workers");
        break;
    case GMC_CTL_WAIT_PARENT:
        gmc_findings_add(findings, GMC_CTL_LEVEL_OK, "limit", domain,
                         "what is passed on has not come here yet (%s): look at the gateway above "
                         "(gmcast tree CHANNEL)",
                         looks);
        break;
    case GMC_CTL_WAIT_NOTHING:
        break;
    }
    gmc_findings_value(findings, seen->waits[most] * 100 / looks_of(seen), "%");
}
