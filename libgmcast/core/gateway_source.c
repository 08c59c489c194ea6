/* SPDX-License-Identifier: BSD-2-Clause */
/* This gateway as the source of a channel: its steps, from the first word to the members to the
 * last one's proof. */
#include <stdlib.h>

#include "core/gateway_source_impl.h"

#define RUN_POLL GMC_MS(250) /* patience and silence are looked at */
#define PLACE_AGAIN_MIN GMC_S(2)
#define PLACE_AGAIN_MAX GMC_S(16)
/* That is left: new links take up to a second to go at full rate, one after the other. */
#define WORTH_IT GMC_S(4)
#define WORTH_A_GUESS GMC_S(20) /* what uplinks have shown may be the limit of single paths */
#define LATE_PERCENT 80u        /* of the time, for one that was given a place among the others */
#define DOUBT 2.0               /* times what was predicted, */
#define DOUBT_FIRST 8.0         /* ... or at the first look, when links have just begun */
#define DOUBT_AGAIN GMC_S(60)   /* rates are measured anew for it at most so often */
#define AWAY_MAX GMC_S(10)      /* that trees wait for a member that was there */
#define LEAST_PART 1024u        /* bytes: of less nothing is concluded */

/* Up to so many members a step is taken at once. */
#define STEP_AT_ONCE_MAX 256u

void gw_source_free(struct gmc_gateway *gw, struct gwsource *src)
{
    (void)gw;
    for (size_t i = 0; i < src->path_count; i++)
        free(src->paths[i]);
    for (size_t i = 0; i < src->member_count; i++) {
        free(src->members[i].path);
        free(src->members[i].inside);
    }
    if (src->round != NULL)
        gw_round_free(src->round);
    gw_sparse_free(src->sparse);
    gw_roll_free(&src->roll);
    gmc_map_fini(&src->by_peer);
    free(src->paths);
    free(src->members);
    free(src->rates);
    free(src);
}

void gw_source_want_members(struct gmc_gateway *gw, struct gwchannel *ch)
{
    for (size_t i = 0; i < ch->src->member_count; i++) {
        const struct gwmember *member = &ch->src->members[i];
        struct gwpeer *peer = gw_peer(gw, member->peer);
        if (member->state != GMC_MEMBER_FAILED && !member->closed && !peer->is_node)
            gw_want_session(gw, peer); /* nodes dial by themselves */
    }
}

static void tell(struct gmc_gateway *gw, struct gwchannel *ch, struct gwmember *member)
{
    uint8_t siblings[GMC_MERKLE_HEIGHT_MAX][GMC_HASH_BYTES];
    struct gmc_msg msg = gw_about(ch, GMC_MSG_CHANNEL);
    msg.secret = ch->secret;
    msg.place = gw_roll_place(ch, member, siblings);
    /* Nodes know no source, and a session that was opened before shows the old key. */
    if (gw_peer(gw, member->peer)->is_node || gw->rekeyed)
        msg.source_key = gmc_bytes(ch->source_spki, ch->source_spki_len);
    gw_send(gw, gw_peer(gw, member->peer), &msg);
    member->told = true;
}

/* A member that is here and has no place in the tree yet: added late, or reachable late. */
static bool has_newcomer(struct gmc_gateway *gw, const struct gwchannel *ch)
{
    for (size_t i = 0; i < ch->src->member_count; i++) {
        const struct gwmember *member = &ch->src->members[i];
        const struct gwpeer *peer = gw_peer(gw, member->peer);
        if (peer->up && member->state != GMC_MEMBER_FAILED && !member->closed &&
            (!member->placed || !member->recorded))
            return true;
    }
    return false;
}

/* Others that the same wire cut off may follow: trees without them would be made to stay. And what
 * was carried until now says nothing about the trees. */
static void came_back(const struct gmc_gateway *gw, struct gwsource *src)
{
    src->came_back_at = gw->now;
    for (size_t i = 0; i < src->member_count; i++)
        src->members[i].bytes_then = src->members[i].bytes;
    if (src->place_again_at != 0)
        src->place_again_at =
            gmc_time_max(src->place_again_at, gmc_time_add(gw->now, PLACE_AGAIN_MIN));
}

static void look_at_member(struct gmc_gateway *gw, struct gwchannel *ch, struct gwmember *member)
{
    struct gwpeer *peer = gw_peer(gw, member->peer);
    if (member->state == GMC_MEMBER_FAILED || member->closed)
        return;
    if (peer->up) {
        if (member->state == GMC_MEMBER_SILENT) {
            member->state = GMC_MEMBER_WAITING;
            member->reason[0] = '\0';
            came_back(gw, ch->src);
        }
        /* A source that crashes knows every record that it ever sent. */
        if (!member->told && member->placed && member->recorded && !ch->src->unsaved)
            tell(gw, ch, member);
        return;
    }
    if (!peer->is_node)
        gw_want_session(gw, peer);
    if (member->state != GMC_MEMBER_VERIFIED &&
        gw->now >= gmc_time_add(peer->silent_since, GMC_S(1))) {
        if (member->state != GMC_MEMBER_SILENT)
            gw_event(gw, GMC_EVENT_MEMBER, ch, peer->number, GMC_ERR_PEER_DOWN,
                     "%s is not heard: %s", peer->name, peer->reason);
        member->state = GMC_MEMBER_SILENT;
        gw_text(member->reason, sizeof(member->reason), "not reachable: %s", peer->reason);
    }
}

/* Rule for the end: every member has proved the digest, failed, or been silent beyond patience
 * while nobody else is still receiving. */
static bool is_finished(const struct gmc_gateway *gw, const struct gwchannel *ch, size_t *verified)
{
    *verified = 0;
    if (ch->talk != NULL && !ch->talk->ended)
        return false;
    for (size_t i = 0; i < ch->src->member_count; i++) {
        const struct gwmember *member = &ch->src->members[i];
        const struct gwpeer *peer = gw->peers[member->peer];
        if (member->state == GMC_MEMBER_VERIFIED)
            ++*verified;
        else if (member->state == GMC_MEMBER_SILENT &&
                 gw->now >=
                     gw_patience_ends(gw, gmc_time_max(peer->silent_since, ch->src->asked_at)))
            continue;
        else if (member->state != GMC_MEMBER_FAILED)
            return false;
    }
    return true;
}

void gw_source_close_members(struct gmc_gateway *gw, struct gwchannel *ch, gmc_status status,
                             const char *reason)
{
    for (size_t i = 0; i < ch->src->member_count; i++) {
        struct gwmember *member = &ch->src->members[i];
        struct gwpeer *peer = gw_peer(gw, member->peer);
        if (!peer->up || member->closed)
            continue;
        struct gmc_msg msg = {.type = GMC_MSG_CLOSE,
                              .source = ch->key.source,
                              .e = ch->key.e,
                              .status = status,
                              .text = reason,
                              .discard = member->state != GMC_MEMBER_VERIFIED};
        gw_send(gw, peer, &msg);
        member->closed = true;
    }
}

/* The store stays open and the state saved: the user may resume. */
static void end_partial(struct gmc_gateway *gw, struct gwchannel *ch)
{
    ch->state = GMC_CHANNEL_PARTIAL;
    ch->ended_at = gw->now;
    gw_source_save(gw, ch);
    gw_event(gw, GMC_EVENT_CHANNEL, ch, gw->self, GMC_OK, "partial: %s", ch->reason);
}

static void say_partial(struct gwchannel *ch, size_t verified)
{
    gw_text(ch->reason, sizeof(ch->reason), "complete at %zu of %zu", verified,
            ch->src->member_count);
}

static void finish(struct gmc_gateway *gw, struct gwchannel *ch, size_t verified)
{
    size_t lacking = ch->src->member_count - verified;
    if (lacking == 0) {
        gw_source_close_members(gw, ch, GMC_OK, "complete everywhere");
        gw_channel_end(gw, ch, GMC_CHANNEL_COMPLETE, false, NULL);
        return;
    }
    for (size_t i = 0; i < ch->src->member_count; i++) {
        struct gwmember *member = &ch->src->members[i];
        if (member->state == GMC_MEMBER_SILENT)
            member->state = GMC_MEMBER_FAILED;
        else if (member->state == GMC_MEMBER_VERIFIED && !member->closed &&
                 gw_peer(gw, member->peer)->up) {
            struct gmc_msg msg = {.type = GMC_MSG_CLOSE,
                                  .source = ch->key.source,
                                  .e = ch->key.e,
                                  .text = "complete here"};
            gw_send(gw, gw_peer(gw, member->peer), &msg);
            member->closed = true;
        }
    }
    say_partial(ch, verified);
    if (ch->talk != NULL)
        gw_channel_end(gw, ch, GMC_CHANNEL_PARTIAL, true, NULL);
    else
        end_partial(gw, ch);
}

/* Of the member that has least, but something; the time that it still needs at the rate so far, or
 * since the last one came back, or it began itself, which may have been long after the others. 0:
 * it has only just begun, of which nothing is concluded, or nobody has anything. */
static gmc_duration time_left(const struct gmc_gateway *gw, const struct gwchannel *ch,
                              uint64_t *bytes_left)
{
    const struct gwsource *src = ch->src;
    gmc_time since = src->came_back_at != 0 ? src->came_back_at : src->setup_end;
    uint64_t total = ch->object.total_bytes, least = total, then = 0;
    gmc_time began_at = 0;
    for (size_t i = 0; i < ch->src->member_count; i++) {
        const struct gwmember *member = &ch->src->members[i];
        bool counts = member->state == GMC_MEMBER_RECEIVING && member->bytes > 0;
        if (counts && member->bytes < least) {
            least = member->bytes;
            then = member->bytes_then;
            began_at = member->began_at;
        }
    }
    *bytes_left = total - least;
    bool was_late = began_at > gmc_time_add(src->setup_end, PLACE_AGAIN_MIN);
    if (was_late && gw->now < gmc_time_add(began_at, PLACE_AGAIN_MIN))
        return 0;
    if (was_late)
        since = gmc_time_max(since, began_at);
    else if (since == src->setup_end)
        then = 0;
    uint64_t ms = gmc_time_sub(gw->now, since) / GMC_MS(1);
    uint64_t parts = least > then ? (least - then) / LEAST_PART : 0;
    /* Once other trees were taken, what came by the first ones tells little. */
    gmc_duration left = src->pace_from != 0 ? gw_trial_time_left(ch) : 0;
    if (left > 0)
        return left;
    return parts == 0 ? GMC_TIME_NEVER : *bytes_left / LEAST_PART * ms / parts * GMC_MS(1);
}

/* A member that was receiving is away, and may be back soon: trees without it would not fit then.
 */
static bool is_one_away(const struct gmc_gateway *gw, const struct gwchannel *ch)
{
    for (size_t i = 0; i < ch->src->member_count; i++) {
        const struct gwmember *member = &ch->src->members[i];
        const struct gwpeer *peer = gw->peers[member->peer];
        bool counts = member->bytes > 0 && !member->closed && member->state != GMC_MEMBER_FAILED &&
                      member->state != GMC_MEMBER_VERIFIED;
        if (counts && !peer->up && gw->now < gmc_time_add(peer->silent_since, AWAY_MAX))
            return true;
    }
    return false;
}

static bool take_other_trees(struct gmc_gateway *gw, struct gwchannel *ch)
{
    gw_event(gw, GMC_EVENT_CHANNEL, ch, gw->self, GMC_OK,
             "goes on by other trees, which bring the rest sooner");
    return gw_source_make_record(gw, ch);
}

/* Trees that were taken in mid-transfer, and are worse. False: the transfer failed over it. */
static bool look_at_trial(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwsource *src = ch->src;
    if (is_one_away(gw, ch))
        src->on_trial = false;
    if (!src->on_trial || !gw_trial_is_lost(gw, ch))
        return true;
    /* A fifth of the time at most goes into lost trials, and less with each. */
    gmc_duration wait = 4 * gmc_time_sub(gw->now, src->pace_from);
    src->place_again_wait = wait > 4 * src->place_again_wait ? wait : 4 * src->place_again_wait;
    src->place_again_at = gmc_time_add(gw->now, src->place_again_wait);
    gw_trial_pace_anew(gw, ch);
    gw_event(gw, GMC_EVENT_CHANNEL, ch, gw->self, GMC_OK,
             "goes back to the trees before, which were faster");
    return gw_source_make_record(gw, ch);
}

/* The rest takes much longer than it was predicted to, and not for members that came late: an
 * uplink may have become slower since it was measured. */
static bool doubts_rates(const struct gmc_gateway *gw, const struct gwchannel *ch,
                         gmc_duration left, uint64_t bytes_left)
{
    const struct gwsource *src = ch->src;
    double part = (double)bytes_left / (double)ch->object.total_bytes;
    double times = src->place_again_wait == PLACE_AGAIN_MIN ? DOUBT_FIRST : DOUBT;
    if (left < WORTH_A_GUESS || src->background || src->came_late || src->partly_known ||
        (src->doubted_at != 0 && gw->now < gmc_time_add(src->doubted_at, DOUBT_AGAIN)))
        return false;
    return src->prediction.time > 0 && (double)src->prediction.time * part < (double)left / times;
}

/* Uplinks of which nothing was known show what they carry while they are used, members come that
 * were not there when the trees were made, and so do latencies: trees that will bring the rest much
 * sooner are taken in mid-transfer. False: the transfer failed over it. */
static bool place_again(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwsource *src = ch->src;
    uint64_t bytes_left;
    if (src->place_again_at == 0) {
        src->place_again_wait = PLACE_AGAIN_MIN;
        src->place_again_at = gmc_time_add(gw->now, src->place_again_wait);
    }
    if (src->on_trial && !look_at_trial(gw, ch))
        return false;
    if (src->on_trial && !src->is_watched)
        return true;
    if (ch->talk != NULL || src->shape != GMC_TREE_BULK || gw->now < src->place_again_at ||
        is_one_away(gw, ch))
        return true;
    gmc_duration left = time_left(gw, ch, &bytes_left);
    bool is_judged = left > 0, is_known_more = src->partly_known || src->came_late;
    if (is_judged ? left < WORTH_IT : !is_known_more)
        return true;
    if (!src->doubts_rates && doubts_rates(gw, ch, left, bytes_left)) {
        src->doubts_rates = true;
        src->doubted_at = gw->now;
    }
    if ((src->partly_known || src->doubts_rates) && !gw_source_measured(gw, ch))
        return true; /* the round is under way */
    bool was_doubted = src->doubts_rates;
    src->doubts_rates = false;
    uint32_t fresh_percent = src->partly_known ? 100 : src->came_late ? LATE_PERCENT : 0;
    bool is_first = src->place_again_wait == PLACE_AGAIN_MIN;
    if (is_judged && src->place_again_wait < PLACE_AGAIN_MAX)
        src->place_again_wait *= 2;
    src->place_again_at =
        gmc_time_add(gw->now, is_judged ? src->place_again_wait : 2 * PLACE_AGAIN_MIN);
    bool is_comparable = is_judged && !src->came_late;
    src->partly_known = !gw_source_knows_latencies(gw, ch);
    src->came_late = false;
    /* What it took so far was no mere beginning: by an eighth it may yet be faster. */
    gmc_duration seen = is_first ? 0 : left / 8 * 7;
    gw_trial_prepare(ch);
    if (!gw_source_place_again(gw, ch, fresh_percent, left >= WORTH_A_GUESS, bytes_left, seen)) {
        /* A train that was lost among the data shows nothing: what that gets on with soon does. */
        if (was_doubted)
            src->place_again_at =
                gmc_time_min(src->place_again_at, gmc_time_add(gw->now, PLACE_AGAIN_MIN));
        return true;
    }
    if (is_comparable)
        gw_trial_begin(gw, ch);
    return take_other_trees(gw, ch);
}

/* Newcomers are measured first, so that they find the place that the tree's rules give. A moment
 * later, when others may have come too, all trees are looked at. False: the transfer failed. */
static bool let_in_newcomers(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwsource *src = ch->src;
    if (!has_newcomer(gw, ch) || !gw_source_measured(gw, ch))
        return true;
    src->came_late = true;
    src->on_trial = false;
    src->partly_known =
        src->partly_known || (ch->talk == NULL && !gw_source_knows_latencies(gw, ch));
    src->place_again_at = gmc_time_min(src->place_again_at, gmc_time_add(gw->now, PLACE_AGAIN_MIN));
    return gw_source_make_record(gw, ch);
}

static void step_run(struct gmc_gateway *gw, struct gwchannel *ch)
{
    if (!ch->src->scanned)
        return; /* the store is being opened again after a restart */
    if (ch->talk == NULL)
        gw_blocks_read_again(gw, ch);
    if (!let_in_newcomers(gw, ch) || !place_again(gw, ch))
        return;
    if (ch->talk == NULL) {
        gw_build_pages(gw, ch); /* what found no room in the cache, or too many reads, before */
        gw_page_want(gw, ch);
    }
    for (size_t i = 0; i < ch->src->member_count && !ch->closing; i++)
        look_at_member(gw, ch, &ch->src->members[i]);
    size_t verified;
    if (!ch->closing && is_finished(gw, ch, &verified))
        finish(gw, ch, verified);
    else if (!ch->closing)
        gw_set_timer(gw, &ch->timer,
                     gmc_time_add(gw->now, ch->src->round != NULL ? GMC_MS(20) : RUN_POLL));
}

void gw_source_saved(struct gmc_gateway *gw, struct gwchannel *ch)
{
    if (!ch->src->unsaved)
        return;
    ch->src->unsaved = false;
    gw_source_step(gw, ch);
}

void gw_source_step(struct gmc_gateway *gw, struct gwchannel *ch)
{
    if (ch->closing)
        return;
    if (ch->src->save_due || (ch->src->save_again != 0 && gw->now >= ch->src->save_again))
        gw_source_save(gw, ch);
    gw_source_want_members(gw, ch);
    if (ch->state == GMC_CHANNEL_PROBING && ch->src->gathering)
        gw_source_gather(gw, ch);
    else if (ch->state == GMC_CHANNEL_RUNNING)
        step_run(gw, ch);
    if (ch->talk != NULL)
        gw_talk_look_for_room(gw, ch);
}

void gw_source_soon(struct gmc_gateway *gw, struct gwchannel *ch)
{
    size_t count = ch->src->member_count;
    if (count <= STEP_AT_ONCE_MAX || ch->closing) {
        gw_source_step(gw, ch);
        return;
    }
    gmc_time when = gmc_time_add(gw->now, count * GW_STEP_EVERY);
    if (!gmc_heap_node_is_queued(&ch->timer.node) || ch->timer.node.key > when)
        gw_set_timer(gw, &ch->timer, when);
}

/* Returns how many have everything. */
static size_t give_up_members(struct gmc_gateway *gw, struct gwchannel *ch, const char *text)
{
    size_t verified = 0;
    for (size_t i = 0; i < ch->src->member_count; i++) {
        struct gwmember *member = &ch->src->members[i];
        if (member->state == GMC_MEMBER_VERIFIED) {
            verified++;
        } else if (member->state != GMC_MEMBER_FAILED) {
            const struct gwpeer *peer = gw_peer(gw, member->peer);
            if (!peer->up && peer->reason[0] != '\0')
                gw_text(member->reason, sizeof(member->reason), "not reachable: %s", peer->reason);
            else if (member->state != GMC_MEMBER_SILENT)
                gw_text(member->reason, sizeof(member->reason), "the source gave up: %.400s", text);
            member->state = GMC_MEMBER_FAILED;
        }
    }
    return verified;
}

void gw_source_fail(struct gmc_gateway *gw, struct gwchannel *ch, gmc_status status,
                    const char *reason)
{
    if (ch->closing)
        return;
    char text[GMC_REASON_BYTES_MAX];
    gw_text(text, sizeof(text), "%s", reason);
    if (ch->recorded)
        gw_source_close_members(gw, ch, status, text);
    size_t verified = give_up_members(gw, ch, text);
    gw_channel_end(gw, ch, verified > 0 ? GMC_CHANNEL_PARTIAL : GMC_CHANNEL_FAILED, true, text);
}

void gw_source_stop(struct gmc_gateway *gw, struct gwchannel *ch, gmc_status status,
                    const char *reason)
{
    if (ch->state == GMC_CHANNEL_PARTIAL)
        return;
    if (ch->state != GMC_CHANNEL_RUNNING) { /* nothing has been sent yet */
        gw_source_fail(gw, ch, status, reason);
        return;
    }
    gw_text(ch->reason, sizeof(ch->reason), "%s", reason);
    give_up_members(gw, ch, ch->reason);
    end_partial(gw, ch);
}

/* All pages of before the restart are known: members are told of the record once more, which makes
 * them report again what could not be judged before. */
void gw_source_reloaded(struct gmc_gateway *gw, struct gwchannel *ch)
{
    for (size_t i = 0; i < ch->src->member_count; i++)
        ch->src->members[i].told = false;
    if (ch->state == GMC_CHANNEL_RUNNING)
        gw_set_timer(gw, &ch->timer, gw->now);
}

void gw_source_restart(struct gmc_gateway *gw, struct gwchannel *ch)
{
    if (gw_channel_set_source_key(gw, ch, gw->config.spki) != GMC_OK) {
        gw_source_fail(gw, ch, GMC_ERR_INVALID, "this domain's key cannot be used");
        return;
    }
    ch->src->asked_at = gw->now;
    if (!ch->object_known) { /* it was not under way */
        ch->opened_at = gw->now;
        ch->src->gather_until = gmc_time_add(gw->now, GW_GATHER_WAIT);
        gw_source_scan(gw, ch);
        return;
    }
    ch->src->build.reloading = true;
    ch->src->build.target = 1;
    gw_source_read_paths(gw, ch, GMC_STORE_REOPEN);
    if (ch->state == GMC_CHANNEL_PARTIAL) {
        size_t verified = 0;
        for (size_t i = 0; i < ch->src->member_count; i++)
            verified += ch->src->members[i].state == GMC_MEMBER_VERIFIED;
        say_partial(ch, verified);
        ch->ended_at = gw->now;
        return;
    }
    ch->state = GMC_CHANNEL_RUNNING;
    if (gw_source_make_record(gw, ch))
        gw_source_want_members(gw, ch);
}
