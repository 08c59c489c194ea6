/* SPDX-License-Identifier: BSD-2-Clause */
/* This gateway as the source of a channel: what its user asks for. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_source_impl.h"

gmc_status gw_say(struct gmc_gateway *gw, const char **error, gmc_status status, const char *text,
                  const char *what)
{
    gw_text(gw->error, sizeof(gw->error), text, what);
    *error = gw->error;
    return status;
}

/* EXISTS: a domain is named twice. NOMEM. */
static gmc_status find_twice(const struct gmc_gateway *gw, const struct gmc_stage_target *targets,
                             size_t count, const char **twice)
{
    struct gmc_map seen;
    gmc_map_init(&seen, gw->names.seed);
    gmc_status status = gmc_map_reserve(&seen, count);
    for (size_t i = 0; i < count && status == GMC_OK; i++) {
        const struct gmc_stage_target *target = &targets[i], *other;
        uint64_t key = gw_name_key(gw, target->domain);
        while ((other = gmc_map_get(&seen, key)) != NULL &&
               strcmp(other->domain, target->domain) != 0)
            key++;
        *twice = target->domain;
        status =
            other != NULL ? GMC_ERR_EXISTS : gmc_map_put(&seen, key, (void *)(uintptr_t)target);
    }
    gmc_map_fini(&seen);
    return status;
}

static gmc_status check_request(struct gmc_gateway *gw, const struct gmc_stage_request *request,
                                const char **error)
{
    if (request->source_count == 0)
        return gw_say(gw, error, GMC_ERR_INVALID, "no source given%s", "");
    if (request->target_count == 0)
        return gw_say(gw, error, GMC_ERR_INVALID, "no target given%s", "");
    if ((unsigned)request->shape >= GMC_TREE_SHAPES)
        return gw_say(gw, error, GMC_ERR_INVALID, "unknown tree shape%s", "");
    if (request->rate_bps > 0 && request->rate_bps < GMC_PACE_RATE_MIN)
        return gw_say(gw, error, GMC_ERR_INVALID,
                      "at that rate it would hardly ever end: 1 kbit/s is the least%s", "");
    return GMC_OK;
}

#define BAD_INSIDE                                                                                 \
    "a domain does not deliver to \"%.64s\": write DOMAIN/gateway, DOMAIN/nodes, DOMAIN/shared, "  \
    "or "                                                                                          \
    "DOMAIN/NODE+NODE"

static bool inside_ok(const struct gmc_stage_target *target)
{
    return target->inside == NULL || target->inside[0] == '\0' ||
           gmc_inside_kind(target->inside) != GMC_INSIDE_NONE;
}

static gmc_status check_targets(struct gmc_gateway *gw, const struct gmc_stage_target *targets,
                                size_t count, const char **error)
{
    if (count >= GMC_MEMBERS_MAX)
        return gw_say(gw, error, GMC_ERR_LIMIT, "too many targets%s", "");
    for (size_t i = 0; i < count; i++) {
        const char *domain = targets[i].domain;
        if (strlen(domain) == 0 || strlen(domain) > GMC_DOMAIN_NAME_MAX)
            return gw_say(gw, error, GMC_ERR_INVALID, "bad domain name \"%s\"", domain);
        if (strcmp(domain, gw->domain) == 0)
            return gw_say(gw, error, GMC_ERR_INVALID,
                          "%s is the source; a target must be another domain", domain);
        if (!inside_ok(&targets[i]))
            return gw_say(gw, error, GMC_ERR_INVALID, BAD_INSIDE, targets[i].inside);
    }
    const char *twice = "";
    gmc_status status = find_twice(gw, targets, count, &twice);
    if (status == GMC_ERR_EXISTS)
        return gw_say(gw, error, GMC_ERR_INVALID, "%s is named twice", twice);
    return status == GMC_OK ? GMC_OK : gw_say(gw, error, status, "no memory for the targets%s", "");
}

static gmc_status copy_sources(struct gwsource *src, const struct gmc_stage_request *request)
{
    src->paths = calloc(request->source_count, sizeof(*src->paths));
    if (src->paths == NULL)
        return GMC_ERR_NOMEM;
    for (size_t i = 0; i < request->source_count; i++) {
        const char *path = request->sources[i];
        src->paths[i] = (char *)gw_copy(gmc_bytes(path, strlen(path) + 1));
        src->path_count++;
    }
    return GMC_OK;
}

struct gwchannel *gw_source_new(struct gmc_gateway *gw, const struct gmc_stage_target *targets,
                                size_t count, gmc_status *status, const char **error)
{
    *status = check_targets(gw, targets, count, error);
    if (*status != GMC_OK)
        return NULL;
    uint64_t e;
    do {
        e = gw_random64(gw);
    } while (e == 0 || gw_channel_find(gw, gw->domain, e) != NULL);
    struct gwchannel *ch = gw_channel_new(gw, gw->domain, e, true);
    if (ch == NULL) {
        *status = gw_say(gw, error, GMC_ERR_LIMIT, "too many transfers are open; cancel one%s", "");
        return NULL;
    }
    *status = gw_channel_set_source_key(gw, ch, gw->config.spki);
    for (size_t i = 0; i < count && *status == GMC_OK; i++)
        *status = gw_source_add_member(gw, ch, targets[i].domain, targets[i].path,
                                       targets[i].inside != NULL ? targets[i].inside : "");
    if (*status != GMC_OK) {
        gw_channel_free(gw, ch);
        gw_say(gw, error, *status, "no memory for another transfer%s", "");
        return NULL;
    }
    ch->src->asked_at = gw->now;
    ch->src->gather_until = gmc_time_add(gw->now, GW_GATHER_WAIT);
    return ch;
}

gmc_status gmc_gateway_stage(struct gmc_gateway *gw, gmc_time now,
                             const struct gmc_stage_request *request, struct gmc_channel_key *key,
                             const char **error)
{
    gw_begin_input(gw, now);
    gmc_status status = check_request(gw, request, error);
    if (status != GMC_OK)
        return status;
    struct gwchannel *ch =
        gw_source_new(gw, request->targets, request->target_count, &status, error);
    if (ch == NULL)
        return status;
    status = copy_sources(ch->src, request);
    if (status != GMC_OK) {
        gw_channel_free(gw, ch);
        return gw_say(gw, error, status, "no memory for another transfer%s", "");
    }
    ch->src->shape = request->shape;
    ch->src->rate_bps = request->rate_bps;
    ch->src->background = request->background;
    ch->src->plan = request->plan;
    /* Its user is told its name now, and may go: a restart must not forget it while it is scanned,
     * or waits for members that cannot be reached. */
    gw_source_save(gw, ch);
    gw_source_scan(gw, ch);
    *key = ch->key;
    return GMC_OK;
}

static struct gwchannel *own_channel(struct gmc_gateway *gw, const struct gmc_channel_key *key,
                                     const char **error)
{
    struct gwchannel *ch = gw_channel_find(gw, key->source, key->e);
    if (ch == NULL)
        gw_say(gw, error, GMC_ERR_NOT_FOUND, "there is no such transfer here%s", "");
    else if (!ch->is_source)
        gw_say(gw, error, GMC_ERR_ACCESS, "only its source, %s, can do that", ch->key.source);
    return ch != NULL && ch->is_source ? ch : NULL;
}

/* A restart must not forget it: who asked waits until it is on the disk. */
static void must_be_saved(struct gwsource *src)
{
    src->save_due = true;
    src->is_on_disk = false;
}

/* Further nodes of a domain that is a target already. It may have verified the object: then its
 * part is open again. */
static gmc_status grow_member(struct gmc_gateway *gw, struct gwchannel *ch, struct gwmember *member,
                              const struct gmc_stage_target *target, const char **error)
{
    const char *more = target->inside != NULL ? target->inside : "", *domain = target->domain;
    char joined[GMC_INSIDE_BYTES_MAX + 1];
    gmc_status status = gmc_inside_join(member->inside, more, joined);
    if (status == GMC_ERR_EXISTS)
        return gw_say(gw, error, status, "%s is a target already", domain);
    if (status == GMC_ERR_LIMIT)
        return gw_say(gw, error, status, "too many nodes of %s are named", domain);
    if (status != GMC_OK)
        return gw_say(
            gw, error, status,
            "%s is a target already, without names of nodes to which others could be "
            "added; to all its nodes it can be widened, unless they share one file system",
            domain);
    if (target->path[0] != '\0' && strcmp(target->path, member->path) != 0)
        return gw_say(gw, error, GMC_ERR_INVALID,
                      "%s is a target already, and its further nodes get the same path", domain);
    if (member->state == GMC_MEMBER_FAILED || member->closed)
        return gw_say(gw, error, GMC_ERR_STATE,
                      "%s has failed, or is done with it; resume the transfer, or stage it anew",
                      domain);
    char *inside = (char *)gw_copy(gmc_bytes(joined, strlen(joined) + 1));
    free(member->inside);
    member->inside = inside;
    if (member->state == GMC_MEMBER_VERIFIED) {
        member->state = GMC_MEMBER_WAITING;
        member->verified_at = 0;
    }
    must_be_saved(ch->src);
    if (ch->recorded) {
        member->grown = ch->saved_version + 1;
        if (!gw_source_make_record(gw, ch))
            return gw_say(gw, error, GMC_ERR_STATE, "the transfer failed%s", "");
    }
    gw_source_step(gw, ch);
    return GMC_OK;
}

gmc_status gmc_gateway_add(struct gmc_gateway *gw, gmc_time now, const struct gmc_channel_key *key,
                           const struct gmc_stage_target *target, const char **error)
{
    gw_begin_input(gw, now);
    struct gwchannel *ch = own_channel(gw, key, error);
    if (ch == NULL)
        return GMC_ERR_NOT_FOUND;
    if (ch->closing || ch->state > GMC_CHANNEL_RUNNING)
        return gw_say(gw, error, GMC_ERR_STATE, "the transfer is over; stage it anew%s", "");
    const char *domain = target->domain;
    if (strlen(domain) == 0 || strlen(domain) > GMC_DOMAIN_NAME_MAX ||
        strcmp(domain, gw->domain) == 0)
        return gw_say(gw, error, GMC_ERR_INVALID, "%s cannot be a target", domain);
    if (!inside_ok(target))
        return gw_say(gw, error, GMC_ERR_INVALID, BAD_INSIDE, target->inside);
    struct gwmember *member = gw_source_member(ch, gmc_gateway_peer(gw, domain));
    if (member != NULL)
        return grow_member(gw, ch, member, target, error);
    if (gw_source_add_member(gw, ch, domain, target->path,
                             target->inside != NULL ? target->inside : "") != GMC_OK)
        return gw_say(gw, error, GMC_ERR_NOMEM, "no memory for another target%s", "");
    /* Also when it cannot be reached yet. */
    must_be_saved(ch->src);
    gw_source_step(gw, ch);
    return GMC_OK;
}

gmc_status gmc_gateway_cancel(struct gmc_gateway *gw, gmc_time now,
                              const struct gmc_channel_key *key, const char **error)
{
    gw_begin_input(gw, now);
    struct gwchannel *ch = own_channel(gw, key, error);
    if (ch == NULL)
        return GMC_ERR_NOT_FOUND;
    if (ch->closing)
        return gw_say(gw, error, GMC_ERR_STATE, "the transfer is over already%s", "");
    gw_source_close_members(gw, ch, GMC_ERR_CANCELLED, "cancelled at the source");
    gw_channel_end(gw, ch, GMC_CHANNEL_CANCELLED, true, "cancelled at the source");
    return GMC_OK;
}

gmc_status gmc_gateway_resume(struct gmc_gateway *gw, gmc_time now,
                              const struct gmc_channel_key *key, const char **error)
{
    gw_begin_input(gw, now);
    struct gwchannel *ch = own_channel(gw, key, error);
    if (ch == NULL)
        return GMC_ERR_NOT_FOUND;
    if (ch->closing)
        return gw_say(gw, error, GMC_ERR_STATE, "the transfer is over; stage it anew%s", "");
    if (ch->state != GMC_CHANNEL_PARTIAL)
        return GMC_OK; /* it is going on by itself */
    for (size_t i = 0; i < ch->src->member_count; i++) {
        struct gwmember *member = &ch->src->members[i];
        if (member->state == GMC_MEMBER_VERIFIED)
            continue;
        member->state = GMC_MEMBER_WAITING;
        member->reason[0] = '\0';
        member->closed = false;
        member->placed = false;
        memset(member->parent, 0, sizeof(member->parent));
    }
    ch->ended_at = 0;
    ch->reason[0] = '\0';
    ch->state = GMC_CHANNEL_RUNNING;
    ch->src->asked_at = gw->now;
    ch->src->read_again_at = gw->now;
    gw_source_want_members(gw, ch);
    if (gw_source_make_record(gw, ch))
        gw_source_step(gw, ch);
    return GMC_OK;
}
