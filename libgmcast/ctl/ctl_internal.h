/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of ctl share: the object, the call that is being handled, how it ends. */
#ifndef GMC_CTL_CTL_INTERNAL_H
#define GMC_CTL_CTL_INTERNAL_H

#include "ctl/ctl.h"
#include "wire/ctl_codec.h"

/* Requests that wait for another domain; a program asks one at a time, so this is many programs. */
#define PENDING_MAX 256
/* After this long nobody waits any more: clients have given up. */
#define PENDING_AGE GMC_S(120)
/* Transfers that other domains asked for and may still steer. */
#define ASKED_MAX 1024

struct pending {
    uint64_t id; /* 0: free */
    gmc_time since;
    gmc_peer peer;
    enum gmc_ctl_kind kind;
    char channel[GMC_CTL_CHANNEL_TEXT_MAX];
};

struct asked {
    uint64_t e;
    gmc_peer origin;
};

struct gmc_ctl {
    struct gmc_gateway *gateway;
    struct gmc_ctl_hooks hooks;
    char domain[GMC_DOMAIN_NAME_MAX + 1];
    uint8_t *reply; /* encoded, owned */
    uint64_t next_id;
    size_t next_asked; /* ring */
    struct pending pending[PENDING_MAX];
    struct asked asked[ASKED_MAX];
};

struct call {
    struct gmc_ctl *ctl;
    gmc_time now;
    gmc_peer origin;
    const struct gmc_ctl_request *request;
    struct gmc_ctl_answer *answer;
};

/* A channel's number and source, as a user names it. */
struct channel_name {
    uint64_t e;                           /* the digits given, as the upper part of the number */
    unsigned digits;                      /* 16 when complete */
    char source[GMC_DOMAIN_NAME_MAX + 1]; /* "" not said */
};

/* ---- ends of a call ---- */
void gmc_ctl_reply(struct call *call, struct gmc_ctl_reply *reply);
void gmc_ctl_fail(struct call *call, gmc_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* status and words from the composition; words may be NULL. */
void gmc_ctl_fail_with(struct call *call, gmc_status status, const char *words);
void gmc_ctl_reply_channel(struct call *call, const struct gmc_channel_key *key);

/* ---- finding ---- */
void gmc_ctl_channel_text(const struct gmc_channel_key *key, char out[GMC_CTL_CHANNEL_TEXT_MAX]);
/* False when text is no name of a channel; the call has then failed. */
bool gmc_ctl_parse_channel(struct call *call, const char *text, struct channel_name *name);
/* The index of the one local channel with this name; NOT_FOUND, or INVALID when there are
 * several. */
gmc_status gmc_ctl_find(struct gmc_ctl *ctl, gmc_time now, const struct channel_name *name,
                        size_t *index, struct gmc_channel_info *info);
/* Nobody else is asked: the request says so, or this is a node. */
bool gmc_ctl_is_local(const struct call *call);
/* The origin asked for this transfer (always true for local programs). */
bool gmc_ctl_asked_by(const struct gmc_ctl *ctl, uint64_t e, gmc_peer origin);

/* ---- reports ---- */
void gmc_ctl_report_one(struct call *call, size_t index, const struct gmc_channel_info *info);
void gmc_ctl_report_all(struct call *call);
void gmc_ctl_report_peers(struct call *call);
void gmc_ctl_report_counters(struct call *call);
void gmc_ctl_report_findings(struct call *call);

/* ---- other domains ---- */
/* Sends the request on, with `from` and `channel` as they are to be read there. */
void gmc_ctl_forward(struct call *call, const char *domain, const struct gmc_ctl_request *request);
/* The answer to a STATUS of a transfer whose source cannot be asked: what is known here. False
 * when nothing is. */
bool gmc_ctl_report_known(struct call *call, const char *channel);

#endif
