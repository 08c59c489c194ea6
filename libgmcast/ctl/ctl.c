/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns what each request does. */
#include "ctl/ctl.h"

#include <stdlib.h>
#include <string.h>

#include "ctl/ctl_internal.h"

struct gmc_ctl *gmc_ctl_new(struct gmc_gateway *gateway, const char *domain,
                            const struct gmc_ctl_hooks *hooks)
{
    struct gmc_ctl *ctl = calloc(1, sizeof *ctl);
    size_t len = strlen(domain);

    if (ctl == NULL || len >= sizeof ctl->domain) {
        free(ctl);
        return NULL;
    }
    memcpy(ctl->domain, domain, len);
    ctl->gateway = gateway;
    ctl->hooks = *hooks;
    ctl->next_id = 1;
    for (size_t i = 0; i < ASKED_MAX; i++)
        ctl->asked[i].origin = GMC_PEER_NONE;
    return ctl;
}

void gmc_ctl_free(struct gmc_ctl *ctl)
{
    if (ctl == NULL)
        return;
    gmc_ctl_bytes_free(ctl->reply);
    free(ctl);
}

/* ---- stage ---- */

static const char *resolve(const struct call *call, const char *name)
{
    if (strcmp(name, call->ctl->domain) == 0)
        return call->ctl->domain;
    return call->ctl->hooks.resolve(call->ctl->hooks.ctx, name);
}

static void fail_unknown(struct call *call, const char *name)
{
    size_t len = strlen(name);

    if (len > 0 && strncmp(call->ctl->domain, name, len) == 0 && call->ctl->domain[len] == '.') {
        gmc_ctl_fail(call, GMC_ERR_NOT_FOUND,
                     "\"%s\" is no alias of another domain: if this one is meant, it is called %s",
                     name, call->ctl->domain);
        return;
    }
    gmc_ctl_fail(call, GMC_ERR_NOT_FOUND,
                 "%s knows no domain \"%s\": add a section peer \"%s\" to its configuration, or "
                 "look for the right name with gmcast peers",
                 call->ctl->domain, name, name);
}

/* Pointers into the configuration stay valid only until the next call: keep a copy. */
static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);

    if (copy != NULL)
        memcpy(copy, text, size);
    return copy;
}

struct targets {
    struct gmc_stage_target *list;
    size_t count;
};

static void targets_free(struct targets *targets)
{
    for (size_t i = 0; i < targets->count; i++)
        free((void *)(uintptr_t)targets->list[i].domain);
    free(targets->list);
    *targets = (struct targets){0};
}

/* Names to domains. A name that is unknown here may be known to the domain that is asked
 * (elsewhere). False when the call has failed. */
static bool targets_resolve(struct call *call, bool elsewhere, struct targets *targets)
{
    const struct gmc_ctl_request *request = call->request;

    *targets = (struct targets){calloc(request->target_count, sizeof *targets->list), 0};
    for (size_t i = 0; targets->list != NULL && i < request->target_count; i++) {
        const char *domain = resolve(call, request->targets[i].domain);

        if (domain == NULL && elsewhere)
            domain = request->targets[i].domain;
        if (domain == NULL) {
            fail_unknown(call, request->targets[i].domain);
            return false;
        }
        targets->list[i].path = request->targets[i].path;
        targets->list[i].inside = request->targets[i].inside;
        targets->list[i].domain = copy_text(domain);
        if (targets->list[i].domain == NULL)
            break;
        targets->count++;
    }
    if (targets->count == request->target_count)
        return true;
    gmc_ctl_fail_with(call, GMC_ERR_NOMEM, NULL);
    return false;
}

static bool sources_check(struct call *call)
{
    const struct gmc_ctl_request *request = call->request;
    const char *reason = NULL;
    gmc_status status;

    for (size_t i = 0; i < request->source_count; i++) {
        if (request->sources[i][0] != '/') {
            gmc_ctl_fail(call, GMC_ERR_INVALID, "the source \"%s\" at %s is not an absolute path",
                         request->sources[i], call->ctl->domain);
            return false;
        }
    }
    if (call->origin == GMC_PEER_NONE)
        return true;
    status = call->ctl->hooks.may_request(call->ctl->hooks.ctx,
                                          gmc_gateway_peer_name(call->ctl->gateway, call->origin),
                                          request->sources, request->source_count, &reason);
    if (status == GMC_OK)
        return true;
    gmc_ctl_fail_with(call, status, reason);
    return false;
}

static void remember(struct gmc_ctl *ctl, uint64_t e, gmc_peer origin)
{
    ctl->asked[ctl->next_asked] = (struct asked){e, origin};
    ctl->next_asked = (ctl->next_asked + 1) % ASKED_MAX;
}

bool gmc_ctl_asked_by(const struct gmc_ctl *ctl, uint64_t e, gmc_peer origin)
{
    if (origin == GMC_PEER_NONE)
        return true;
    for (size_t i = 0; i < ASKED_MAX; i++) {
        if (ctl->asked[i].e == e && ctl->asked[i].origin == origin)
            return true;
    }
    return false;
}

static void stage_here(struct call *call, const struct targets *targets)
{
    const struct gmc_ctl_request *request = call->request;
    struct gmc_stage_request stage = {.sources = request->sources,
                                      .source_count = request->source_count,
                                      .targets = targets->list,
                                      .target_count = targets->count,
                                      .shape = GMC_TREE_BULK,
                                      .rate_bps = request->rate_bps,
                                      .background = request->background,
                                      .plan = request->kind == GMC_CTL_PLAN};
    struct gmc_channel_key key;
    const char *error = NULL;
    gmc_status status;

    if (request->shape[0] != '\0' &&
        gmc_tree_shape_from_name(request->shape, &stage.shape) != GMC_OK) {
        gmc_ctl_fail(
            call, GMC_ERR_INVALID,
            "there is no tree shape \"%s\": use eco, flat, binomial, binary, chain or bulk",
            request->shape);
        return;
    }
    if (!sources_check(call))
        return;
    status = gmc_gateway_stage(call->ctl->gateway, call->now, &stage, &key, &error);
    if (status != GMC_OK) {
        gmc_ctl_fail_with(call, status, error);
        return;
    }
    if (call->origin != GMC_PEER_NONE)
        remember(call->ctl, key.e, call->origin);
    gmc_ctl_reply_channel(call, &key);
}

/* The same request with full domain names, to the domain that holds the data. */
static void stage_elsewhere(struct call *call, const char *domain, const struct targets *targets)
{
    struct gmc_ctl_request request = *call->request;
    struct gmc_ctl_target *named = calloc(targets->count, sizeof *named);

    if (named == NULL) {
        gmc_ctl_fail_with(call, GMC_ERR_NOMEM, NULL);
        return;
    }
    for (size_t i = 0; i < targets->count; i++)
        named[i] = (struct gmc_ctl_target){targets->list[i].domain, targets->list[i].path,
                                           targets->list[i].inside};
    request.from = "";
    request.targets = named;
    gmc_ctl_forward(call, domain, &request);
    free(named);
}

/* Whose data it is: the own domain, or another; NULL when unknown (the call has failed). */
static const char *stage_from(struct call *call, char copy[GMC_DOMAIN_NAME_MAX + 1])
{
    const char *from = call->request->from;
    const char *domain = from[0] != '\0' ? resolve(call, from) : call->ctl->domain;

    if (domain == NULL) {
        fail_unknown(call, from);
        return NULL;
    }
    strcpy(copy, domain);
    return copy;
}

static void handle_stage(struct call *call)
{
    struct targets targets = {0};
    char copy[GMC_DOMAIN_NAME_MAX + 1];
    const char *from;
    bool elsewhere;

    if (call->request->source_count == 0 || call->request->target_count == 0) {
        gmc_ctl_fail(call, GMC_ERR_INVALID, "stage needs at least one source and one target");
        return;
    }
    from = stage_from(call, copy);
    if (from == NULL)
        return;
    elsewhere = strcmp(from, call->ctl->domain) != 0;
    if (targets_resolve(call, elsewhere, &targets)) {
        if (elsewhere)
            stage_elsewhere(call, from, &targets);
        else
            stage_here(call, &targets);
    }
    targets_free(&targets);
}

/* ---- what concerns one channel ---- */

bool gmc_ctl_is_local(const struct call *call)
{
    return call->request->local || gmc_gateway_node_of(call->ctl->gateway) != NULL;
}

typedef gmc_status (*key_call)(struct gmc_gateway *gw, gmc_time now,
                               const struct gmc_channel_key *key, const char **error);

static void end_key_call(struct call *call, gmc_status status, const struct gmc_channel_key *key,
                         const char *error)
{
    if (status == GMC_OK)
        gmc_ctl_reply_channel(call, key);
    else
        gmc_ctl_fail_with(call, status, error);
}

static void handle_add(struct call *call, const struct gmc_channel_key *key)
{
    struct targets targets = {0};
    const char *error = NULL;
    gmc_status status;

    if (targets_resolve(call, false, &targets)) {
        status = gmc_gateway_add(call->ctl->gateway, call->now, key, &targets.list[0], &error);
        end_key_call(call, status, key, error);
    }
    targets_free(&targets);
}

static void handle_key_call(struct call *call, const struct gmc_channel_key *key)
{
    key_call function = call->request->kind != GMC_CTL_CANCEL ? gmc_gateway_resume
                        : call->request->local                ? gmc_gateway_leave
                                                              : gmc_gateway_cancel;
    const char *error = NULL;
    gmc_status status = function(call->ctl->gateway, call->now, key, &error);

    end_key_call(call, status, key, error);
}

static bool is_member(const struct call *call, size_t index)
{
    const char *origin = gmc_gateway_peer_name(call->ctl->gateway, call->origin);
    struct gmc_member_info member;

    for (size_t i = 0; gmc_gateway_member_info(call->ctl->gateway, call->now, index, i, &member);
         i++) {
        if (strcmp(member.domain, origin) == 0)
            return true;
    }
    return false;
}

/* Another domain learns nothing about transfers that are not its business, not even that they
 * exist. */
static bool may_see(const struct call *call, size_t index, const struct gmc_channel_info *info)
{
    if (gmc_ctl_asked_by(call->ctl, info->key.e, call->origin))
        return true;
    return info->is_source && call->request->kind == GMC_CTL_STATUS && is_member(call, index);
}

static void fail_not_found(struct call *call)
{
    gmc_ctl_fail(call, GMC_ERR_NOT_FOUND,
                 "%s knows no transfer \"%s\": gmcast status lists what it knows; a transfer that "
                 "another domain sends is named DIGITS@DOMAIN",
                 call->ctl->domain, call->request->channel);
}

static void handle_here(struct call *call, size_t index, const struct gmc_channel_info *info)
{
    if (!may_see(call, index, info)) {
        if (info->is_source && is_member(call, index))
            gmc_ctl_fail(call, GMC_ERR_ACCESS,
                         "\"%s\" is sent by %s: it is changed there, or where it was asked for",
                         call->request->channel, call->ctl->domain);
        else
            fail_not_found(call);
        return;
    }
    if (call->request->kind == GMC_CTL_STATUS)
        gmc_ctl_report_one(call, index, info);
    else if (call->request->kind == GMC_CTL_ADD)
        handle_add(call, &info->key);
    else
        handle_key_call(call, &info->key);
}

/* The domain to ask is another one: with full names, because aliases are ours alone. */
static void handle_elsewhere(struct call *call, const char *source, const char *digits)
{
    struct gmc_ctl_request request = *call->request;
    struct targets targets = {0};
    struct gmc_ctl_target named = {"", "", ""};
    char channel[GMC_CTL_CHANNEL_TEXT_MAX];
    size_t len = strcspn(digits, "@");

    memcpy(channel, digits, len);
    channel[len] = '@';
    strcpy(channel + len + 1, source);
    request.channel = channel;
    if (request.kind == GMC_CTL_ADD) {
        if (!targets_resolve(call, true, &targets)) {
            targets_free(&targets);
            return;
        }
        named = (struct gmc_ctl_target){targets.list[0].domain, targets.list[0].path,
                                        targets.list[0].inside};
        request.targets = &named;
    }
    gmc_ctl_forward(call, source, &request);
    targets_free(&targets);
}

static void handle_channel(struct call *call)
{
    struct gmc_ctl *ctl = call->ctl;
    struct gmc_channel_info info;
    struct channel_name name;
    char text[GMC_CTL_CHANNEL_TEXT_MAX];
    size_t index = 0;
    gmc_status status;

    if (!gmc_ctl_parse_channel(call, call->request->channel, &name))
        return;
    status = gmc_ctl_find(ctl, call->now, &name, &index, &info);
    if (status == GMC_ERR_INVALID) {
        gmc_ctl_fail(call, status, "more than one transfer begins with \"%s\": give more digits",
                     call->request->channel);
    } else if (status == GMC_OK &&
               (info.is_source || gmc_ctl_is_local(call) || call->origin != GMC_PEER_NONE)) {
        handle_here(call, index, &info);
    } else if (status == GMC_OK) {
        gmc_ctl_channel_text(&info.key, text);
        handle_elsewhere(call, info.key.source, text);
    } else if (name.source[0] != '\0' && strcmp(name.source, ctl->domain) != 0 &&
               !gmc_ctl_is_local(call) && call->origin == GMC_PEER_NONE) {
        handle_elsewhere(call, name.source, call->request->channel);
    } else {
        fail_not_found(call);
    }
}

/* ---- the way in ---- */

static void handle_report(struct call *call)
{
    if (call->origin != GMC_PEER_NONE)
        gmc_ctl_fail(call, GMC_ERR_ACCESS,
                     "%s tells other domains only about single transfers that concern them",
                     call->ctl->domain);
    else if (call->request->kind == GMC_CTL_PEERS)
        gmc_ctl_report_peers(call);
    else if (call->request->kind == GMC_CTL_COUNTERS)
        gmc_ctl_report_counters(call);
    else
        gmc_ctl_report_all(call);
}

static void handle_nodes(struct call *call)
{
    const struct gmc_ctl_hooks *hooks = &call->ctl->hooks;
    struct gmc_ctl_reply reply = {0};
    const char *reason = NULL;
    gmc_status status;

    if (call->origin != GMC_PEER_NONE) {
        gmc_ctl_fail(call, GMC_ERR_ACCESS, "the nodes of %s are nobody else's business",
                     call->ctl->domain);
        return;
    }
    if (hooks->nodes == NULL) {
        gmc_ctl_fail(call, GMC_ERR_STATE, "%s has no nodes to manage", call->ctl->domain);
        return;
    }
    status = hooks->nodes(hooks->ctx, call->request, &reply, &reason);
    if (status == GMC_OK)
        gmc_ctl_reply(call, &reply);
    else
        gmc_ctl_fail_with(call, status, reason);
}

/* ---- doctor ---- */

/* Nodes have no aliases, and are known when they had a session. */
static gmc_peer peer_to_test(const struct call *call, const char *name)
{
    struct gmc_gateway *gw = call->ctl->gateway;
    const char *domain = resolve(call, name);
    struct gmc_peer_info info;

    if (domain != NULL)
        return gmc_gateway_peer(gw, domain);
    for (gmc_peer peer = 0; peer < gmc_gateway_peer_count(gw); peer++) {
        if (gmc_gateway_peer_info(gw, call->now, peer, &info) && info.is_node &&
            strcmp(info.domain, name) == 0)
            return peer;
    }
    return GMC_PEER_NONE;
}

static void handle_doctor(struct call *call)
{
    if (call->origin != GMC_PEER_NONE) {
        gmc_ctl_fail(call, GMC_ERR_ACCESS, "how %s is doing is nobody else's business",
                     call->ctl->domain);
        return;
    }
    for (size_t i = 0; i < call->request->target_count; i++) {
        const char *name = call->request->targets[i].domain;

        if (gmc_gateway_test(call->ctl->gateway, call->now, peer_to_test(call, name)) != GMC_OK) {
            fail_unknown(call, name);
            return;
        }
    }
    gmc_ctl_report_findings(call);
}

/* A node speaks to its gateway alone, shows what it receives, and can let go of it. */
static bool is_for_gateway(const struct gmc_ctl_request *request)
{
    if (request->kind == GMC_CTL_CANCEL)
        return !request->local;
    return request->kind != GMC_CTL_STATUS && request->kind != GMC_CTL_PEERS &&
           request->kind != GMC_CTL_COUNTERS && request->kind != GMC_CTL_DOCTOR;
}

static void dispatch(struct call *call)
{
    const char *node_of = gmc_gateway_node_of(call->ctl->gateway);

    if (node_of != NULL && is_for_gateway(call->request)) {
        gmc_ctl_fail(call, GMC_ERR_STATE, "%s is a node: ask the gateway of %s", call->ctl->domain,
                     node_of);
        return;
    }
    switch (call->request->kind) {
    case GMC_CTL_STAGE:
    case GMC_CTL_PLAN:
        handle_stage(call);
        return;
    case GMC_CTL_STATUS:
        if (call->request->channel[0] == '\0')
            handle_report(call);
        else
            handle_channel(call);
        return;
    case GMC_CTL_PEERS:
    case GMC_CTL_COUNTERS:
        handle_report(call);
        return;
    case GMC_CTL_ADD:
    case GMC_CTL_CANCEL:
    case GMC_CTL_RESUME:
        handle_channel(call);
        return;
    case GMC_CTL_NODE_ADD:
    case GMC_CTL_NODE_REMOVE:
    case GMC_CTL_NODES:
        handle_nodes(call);
        return;
    case GMC_CTL_DOCTOR:
        handle_doctor(call);
        return;
    }
}

void gmc_ctl_handle(struct gmc_ctl *ctl, gmc_time now, gmc_peer origin, struct gmc_bytes request,
                    struct gmc_ctl_answer *answer)
{
    struct gmc_ctl_request decoded;
    struct gmc_ctl_holder *holder = NULL;
    struct call call = {ctl, now, origin, &decoded, answer};
    gmc_status status = gmc_ctl_decode_request(request, &decoded, &holder);

    *answer = (struct gmc_ctl_answer){0};
    if (status == GMC_OK)
        dispatch(&call);
    else if (status == GMC_ERR_TYPE)
        gmc_ctl_fail(&call, status,
                     "the gateway of %s does not know this kind of request: the program that asks "
                     "is newer than the gateway",
                     ctl->domain);
    else
        gmc_ctl_fail(&call, status, "the gateway of %s cannot read the request: %s", ctl->domain,
                     gmc_status_text(status));
    gmc_ctl_release(holder);
}
