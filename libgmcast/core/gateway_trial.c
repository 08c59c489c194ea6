/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees that are taken in mid-transfer are on trial. What they were chosen by may not be all that
 * counts: wires that two paths share, or a path that nobody has used yet. So how fast each member
 * gets on is measured before and after, and if what is left would have been there sooner by the
 * trees before, members go back to them. */
#include <string.h>

#include "core/gateway_impl.h"

#define SETTLE GMC_S(3)      /* new links take so long to go at full rate */
#define TRIAL GMC_S(3)       /* behind that */
#define TRIAL_MAX GMC_S(8)   /* if somebody does not say how far it is */
#define PACE_MIN GMC_MS(900) /* between reports that show how fast somebody gets on */
#define HELD_SECONDS 2u      /* of its pace, that its parent has more */
#define WORSE_PERCENT 110u   /* of the time, by the trees before, ... */
#define WATCH_PERCENT 130u   /* ... or once they have stood the first look */

/* Bytes of a second; 0: not known. */
static uint64_t pace_of(const struct gwmember *member)
{
    if (member->pace.since == 0 || member->pace.at < gmc_time_add(member->pace.since, PACE_MIN))
        return 0;
    gmc_duration ms = (member->pace.at - member->pace.since) / GMC_MS(1);
    if (member->bytes <= member->pace.bytes) /* less, if its last blocks went with a crash */
        return 1;
    return (member->bytes - member->pace.bytes) * 1000 / ms;
}

/* The last one that is known, if not the present one, or if that says nothing. */
static uint64_t some_pace_of(const struct gwmember *member)
{
    uint64_t pace = member->pace.was_ahead ? 0 : pace_of(member);
    return pace > 0 ? pace : member->pace.last;
}

/* Who has more than one of its parents waits for what that gets, most of which it has: how fast it
 * gets on says nothing, and the parent's pace counts for both. By a second's worth they may differ
 * because their reports are not of the same moment. */
static bool is_ahead(const struct gwchannel *ch, const struct gwmember *member)
{
    bool ahead = false;
    for (uint32_t k = 0; k < ch->stripe_count; k++) {
        int32_t parent = member->parent[k];
        const struct gwmember *above = parent > 0 ? &ch->src->members[parent - 1] : NULL;
        ahead = ahead || (above != NULL && above->bytes + some_pace_of(above) < member->bytes);
    }
    return ahead;
}

void gw_trial_heard(const struct gmc_gateway *gw, const struct gwchannel *ch,
                    struct gwmember *member)
{
    gmc_time from = ch->src->pace_from != 0 ? ch->src->pace_from : ch->src->setup_end;
    member->pace.at = gw->now;
    if (member->pace.since != 0 || member->bytes == 0 || gw->now < gmc_time_add(from, SETTLE))
        return;
    member->pace.since = gw->now;
    member->pace.bytes = member->bytes;
    member->pace.was_ahead = is_ahead(ch, member);
}

static bool is_receiving(const struct gwchannel *ch, const struct gwmember *member)
{
    return member->state == GMC_MEMBER_RECEIVING && member->bytes < ch->object.total_bytes;
}

/* For what it lacks. */
static gmc_duration time_for(const struct gwchannel *ch, const struct gwmember *member,
                             uint64_t pace)
{
    return gmc_duration_of_bytes(ch->object.total_bytes - member->bytes, 8 * pace);
}

static gmc_duration later(gmc_duration a, gmc_duration b)
{
    return a > b ? a : b;
}

gmc_duration gw_trial_time_left(const struct gwchannel *ch)
{
    gmc_duration most = 0;
    for (size_t i = 0; i < ch->src->member_count; i++) {
        const struct gwmember *member = &ch->src->members[i];
        uint64_t pace = pace_of(member);
        if (!is_receiving(ch, member))
            continue;
        if (pace == 0)
            return 0;
        most = later(most, time_for(ch, member, pace));
    }
    return most;
}

uint64_t gw_trial_held_pace(const struct gwchannel *ch, const struct gwmember *member)
{
    uint64_t pace = pace_of(member);
    int32_t parent = member->parent[0];
    if (parent <= 0 || pace == 0 || !is_receiving(ch, member))
        return 0;
    for (uint32_t k = 1; k < ch->stripe_count; k++)
        if (member->parent[k] != parent)
            return 0;
    return ch->src->members[parent - 1].bytes > member->bytes + HELD_SECONDS * pace ? pace : 0;
}

void gw_trial_pace_anew(const struct gmc_gateway *gw, struct gwchannel *ch)
{
    ch->src->pace_from = gw->now;
    for (size_t i = 0; i < ch->src->member_count; i++) {
        struct gwmember *member = &ch->src->members[i];
        member->pace = (struct gwpace){.last = some_pace_of(member)};
    }
}

void gw_trial_prepare(struct gwchannel *ch)
{
    for (size_t i = 0; i < ch->src->member_count; i++) {
        struct gwmember *member = &ch->src->members[i];
        memcpy(member->parent_before, member->parent, sizeof(member->parent));
        member->pace_before = some_pace_of(member);
    }
}

void gw_trial_begin(const struct gmc_gateway *gw, struct gwchannel *ch)
{
    ch->src->on_trial = true;
    ch->src->is_watched = false;
    gw_trial_pace_anew(gw, ch);
}

/* What is left takes by the trees before, and now. False: somebody has not told. */
static bool compare(const struct gwchannel *ch, gmc_duration *before, gmc_duration *now)
{
    *before = *now = 0;
    for (size_t i = 0; i < ch->src->member_count; i++) {
        const struct gwmember *member = &ch->src->members[i];
        uint64_t pace = pace_of(member);
        if (!is_receiving(ch, member) || member->pace_before == 0 || member->pace.was_ahead ||
            is_ahead(ch, member))
            continue;
        if (pace == 0)
            return false;
        *before = later(*before, time_for(ch, member, member->pace_before));
        *now = later(*now, time_for(ch, member, pace));
    }
    return true;
}

static bool can_go_back(const struct gwchannel *ch)
{
    for (size_t i = 0; i < ch->src->member_count; i++) {
        for (uint32_t k = 0; k < ch->stripe_count; k++) {
            int32_t parent = ch->src->members[i].parent_before[k];
            const struct gwmember *above = parent > 0 ? &ch->src->members[parent - 1] : NULL;
            if (above != NULL && (above->state == GMC_MEMBER_FAILED || above->closed))
                return false;
        }
    }
    return true;
}

bool gw_trial_is_lost(const struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwsource *src = ch->src;
    gmc_duration before, now;
    if (gw->now < gmc_time_add(src->pace_from, SETTLE + TRIAL))
        return false;
    bool all_told = compare(ch, &before, &now);
    if (!all_told && gw->now < gmc_time_add(src->pace_from, SETTLE + TRIAL_MAX))
        return false;
    uint32_t percent = src->is_watched ? WATCH_PERCENT : WORSE_PERCENT;
    if (all_told && now / percent <= before / 100) {
        src->is_watched = true;
        gw_trial_pace_anew(gw, ch);
        return false;
    }
    src->on_trial = false;
    if (!all_told || !can_go_back(ch))
        return false;
    for (size_t i = 0; i < src->member_count; i++)
        memcpy(src->members[i].parent, src->members[i].parent_before,
               sizeof(src->members[i].parent));
    return true;
}
