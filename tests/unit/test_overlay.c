/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the tests of attaching to a parent: a table of stories, numbered by the rules of
 * core/overlay.h. In all of them the parent is P, the grandparent G and the source S. */
#include "core/overlay.h"

#include "tests/lib/unit.h"

enum { S = 1, G = 20, P = 30, X = 40, Y = 50, SELF = 99 };

enum op {
    END,
    START,
    STOP,
    STEP_UP,     /* the candidate's link is up */
    STEP_DOWN,   /* it is not */
    ACCEPT,      /* who grants, its path is G, S */
    ACCEPT_LOOP, /* its path contains this gateway */
    REFUSE,
    REDIRECT_X, /* who refuses and names X */
    NOT_YET,
    LOST,
    LET_GO,
    SILENT,
    RECORD_SAME, /* P, G, S */
    RECORD_GS,   /* G, S */
    RECORD_YS,   /* Y, S */
    AGAIN,
    NOT_DUE,  /* no time to look at the link to the first ancestor */
    LOOK_UP,  /* it is time, and the link is there */
    LOOK_DOWN /* it is not */
};

struct step {
    enum op op;
    int who;
    gmc_duration after; /* since the step before */
    enum gmc_overlay_state state;
    int candidate;
    enum gmc_overlay_action action;
};

#define ASK GMC_OVERLAY_ASK
#define LINK GMC_OVERLAY_WANT_LINK
#define IDLE GMC_OVERLAY_IDLE
#define CONNECTING GMC_OVERLAY_CONNECTING
#define ASKING GMC_OVERLAY_ASKING
#define ATTACHED GMC_OVERLAY_ATTACHED
#define RESTING GMC_OVERLAY_RESTING
#define STEPS_MAX 24
#define MS GMC_MS(1)

static const struct story {
    int rule;
    const char *what;
    struct step steps[STEPS_MAX];
} stories[] = {
    {1,
     "the parent first, then each ancestor, the source last",
     {{START, 0, 0, RESTING, P, 0},
      {STEP_UP, 0, 0, ASKING, P, ASK},
      {REFUSE, P, 0, RESTING, G, 0},
      {STEP_UP, 0, 0, ASKING, G, ASK},
      {REFUSE, G, 0, RESTING, S, 0},
      {STEP_UP, 0, 0, ASKING, S, ASK},
      {ACCEPT, S, 0, ATTACHED, S, 0}}},
    {1,
     "a redirect comes in front, once; then the one that redirected is asked again",
     {{START, 0, 0, RESTING, P, 0},
      {STEP_UP, 0, 0, ASKING, P, ASK},
      {REDIRECT_X, P, 0, RESTING, X, 0},
      {STEP_DOWN, 0, 0, CONNECTING, X, LINK},
      {STEP_UP, 0, 0, ASKING, X, ASK},
      {REFUSE, X, 0, RESTING, P, 0},
      {STEP_UP, 0, 0, ASKING, P, ASK},
      {REDIRECT_X, P, 0, RESTING, X, 0},
      {STEP_UP, 0, 0, ASKING, X, ASK},
      {ACCEPT, X, 0, ATTACHED, X, 0}}},
    {1,
     "four redirects in a round are enough",
     {{START, 0, 0, RESTING, P, 0},
      {STEP_UP, 0, 0, ASKING, P, ASK},
      {REDIRECT_X, P, 0, RESTING, X, 0},
      {STEP_UP, 0, 0, ASKING, X, ASK},
      {REDIRECT_X, X, 0, RESTING, X, 0},
      {STEP_UP, 0, 0, ASKING, X, ASK},
      {REDIRECT_X, X, 0, RESTING, X, 0},
      {STEP_UP, 0, 0, ASKING, X, ASK},
      {REDIRECT_X, X, 0, RESTING, X, 0},
      {STEP_UP, 0, 0, ASKING, X, ASK},
      {REDIRECT_X, X, 0, RESTING, P, 0}}},
    {2,
     "before the first attachment a link has four seconds to come up",
     {{START, 0, 0, RESTING, P, 0},
      {STEP_DOWN, 0, 0, CONNECTING, P, LINK},
      {STEP_DOWN, 0, 3999 * MS, CONNECTING, P, 0},
      {STEP_DOWN, 0, 1 * MS, RESTING, G, 0},
      {STEP_DOWN, 0, 0, CONNECTING, G, LINK},
      {STEP_UP, 0, 100 * MS, ASKING, G, ASK}}},
    {2,
     "later it has 700 ms",
     {{START, 0, 0, RESTING, P, 0},
      {STEP_UP, 0, 0, ASKING, P, ASK},
      {ACCEPT, P, 0, ATTACHED, P, 0},
      {LOST, P, 0, RESTING, G, 0},
      {STEP_DOWN, 0, 0, CONNECTING, G, LINK},
      {LOST, G, 10 * MS, CONNECTING, G, 0}, /* it may still come up */
      {STEP_DOWN, 0, 689 * MS, CONNECTING, G, 0},
      {STEP_DOWN, 0, 1 * MS, RESTING, S, 0}}},
    {2,
     "who is not ready is asked again after 40 ms",
     {{START, 0, 0, RESTING, P, 0},
      {STEP_UP, 0, 0, ASKING, P, ASK},
      {NOT_YET, P, 0, RESTING, P, 0},
      {STEP_UP, 0, 39 * MS, RESTING, P, 0},
      {STEP_UP, 0, 1 * MS, ASKING, P, ASK},
      {ACCEPT, P, 0, ATTACHED, P, 0}}},
    {3,
     "who does not answer is passed over",
     {{START, 0, 0, RESTING, P, 0},
      {STEP_UP, 0, 0, ASKING, P, ASK},
      {STEP_UP, 0, 1499 * MS, ASKING, P, 0},
      {STEP_UP, 0, 1 * MS, RESTING, G, 0},
      {ACCEPT, P, 0, RESTING, G, 0}, /* too late */
      {STEP_UP, 0, 0, ASKING, G, ASK},
      {ACCEPT, P, 0, ASKING, G, 0},
      {REFUSE, P, 0, ASKING, G, 0},
      {ACCEPT, G, 0, ATTACHED, G, 0}}},
    {3,
     "whose path contains this gateway is passed over",
     {{START, 0, 0, RESTING, P, 0},
      {STEP_UP, 0, 0, ASKING, P, ASK},
      {ACCEPT_LOOP, P, 0, RESTING, G, 0}}},
    {3,
     "a candidate that is lost while asked is passed over",
     {{START, 0, 0, RESTING, P, 0},
      {STEP_UP, 0, 0, ASKING, P, ASK},
      {LOST, G, 0, ASKING, P, 0},
      {LOST, P, 0, RESTING, G, 0}}},
    {4,
     "after the source comes a rest of 50 to 100 ms, then the parent",
     {{START, 0, 0, RESTING, P, 0},
      {STEP_UP, 0, 0, ASKING, P, ASK},
      {REFUSE, P, 0, RESTING, G, 0},
      {STEP_UP, 0, 0, ASKING, G, ASK},
      {REFUSE, G, 0, RESTING, S, 0},
      {STEP_UP, 0, 0, ASKING, S, ASK},
      {REFUSE, S, 0, RESTING, P, 0},
      {STEP_UP, 0, 49 * MS, RESTING, P, 0},
      {STEP_UP, 0, 51 * MS, ASKING, P, ASK}}},
    {5,
     "when the parent dies its parent is next, and so on up",
     {{START, 0, 0, RESTING, P, 0},
      {STEP_UP, 0, 0, ASKING, P, ASK},
      {ACCEPT, P, 0, ATTACHED, P, 0},
      {STEP_UP, 0, 9999 * MS, ATTACHED, P, 0},
      {LOST, G, 0, ATTACHED, P, 0},
      {LOST, P, 0, RESTING, G, 0},
      {STEP_UP, 0, 0, ASKING, G, ASK},
      {ACCEPT, G, 0, ATTACHED, G, 0},
      {LOST, G, 0, RESTING, S, 0}}},
    {5,
     "when one that was redirected to dies, the one that redirected is next",
     {{START, 0, 0, RESTING, P, 0},
      {STEP_UP, 0, 0, ASKING, P, ASK},
      {REDIRECT_X, P, 0, RESTING, X, 0},
      {STEP_UP, 0, 0, ASKING, X, ASK},
      {ACCEPT, X, 0, ATTACHED, X, 0},
      {LOST, X, 0, RESTING, P, 0}}},
    {5,
     "a parent that is silent is left while there is another one, and asked again only after them",
     {{START, 0, 0, RESTING, P, 0},
      {STEP_UP, 0, 0, ASKING, P, ASK},
      {SILENT, P, 0, ASKING, P, 0}, /* rule 3 bounds the wait for its answer */
      {ACCEPT, P, 0, ATTACHED, P, 0},
      {SILENT, G, 0, ATTACHED, P, 0},
      {SILENT, P, 0, RESTING, G, 0},
      {STEP_UP, 0, 0, ASKING, G, ASK},
      {ACCEPT, G, 0, ATTACHED, G, 0},
      {SILENT, P, 0, ATTACHED, G, 0},
      {SILENT, G, 0, RESTING, S, 0},
      {STEP_UP, 0, 0, ASKING, S, ASK},
      {ACCEPT, S, 0, ATTACHED, S, 0},
      {SILENT, S, 0, ATTACHED, S, 0}}},
    {6,
     "a record in which the parent is still an ancestor changes nothing",
     {{START, 0, 0, RESTING, P, 0},
      {STEP_UP, 0, 0, ASKING, P, ASK},
      {REFUSE, P, 0, RESTING, G, 0},
      {STEP_UP, 0, 0, ASKING, G, ASK},
      {ACCEPT, G, 0, ATTACHED, G, 0},
      {RECORD_SAME, 1, 0, ATTACHED, G, 0},
      {RECORD_GS, 1, 0, ATTACHED, G, 0},
      {LOST, G, 0, RESTING, S, 0}}},
    {6,
     "a record without the parent ends the attachment",
     {{START, 0, 0, RESTING, P, 0},
      {STEP_UP, 0, 0, ASKING, P, ASK},
      {ACCEPT, P, 0, ATTACHED, P, 0},
      {RECORD_GS, 0, 0, IDLE, G, 0},
      {STEP_UP, 0, 0, IDLE, G, 0},
      {START, 0, 0, RESTING, G, 0}}},
    {6,
     "a candidate is dropped for the new first one at once",
     {{START, 0, 0, RESTING, P, 0},
      {STEP_UP, 0, 0, ASKING, P, ASK},
      {RECORD_YS, 1, 0, RESTING, Y, 0},
      {ACCEPT, P, 0, RESTING, Y, 0},
      {STEP_UP, 0, 0, ASKING, Y, ASK},
      {RECORD_YS, 1, 0, ASKING, Y, 0},
      {ACCEPT, Y, 0, ATTACHED, Y, 0}}},
    {7,
     "the parent is asked once its link is there",
     {{START, 0, 0, RESTING, P, 0},
      {STEP_DOWN, 0, 0, CONNECTING, P, LINK},
      {STEP_DOWN, 0, 4000 * MS, RESTING, G, 0},
      {STEP_UP, 0, 0, ASKING, G, ASK},
      {ACCEPT, G, 0, ATTACHED, G, 0},
      {NOT_DUE, 0, 999 * MS, ATTACHED, G, 0},
      {LOOK_DOWN, 0, 1 * MS, ATTACHED, G, 0},
      {LOOK_DOWN, 0, 1000 * MS, ATTACHED, G, 0},
      {LOOK_UP, 0, 1000 * MS, RESTING, P, 0},
      {STEP_UP, 0, 0, ASKING, P, ASK},
      {ACCEPT, P, 0, ATTACHED, P, 0},
      {NOT_DUE, 0, 9999 * MS, ATTACHED, P, 0}}},
    {7,
     "who is not ready then is not waited for, and asked again after twice the time",
     {{START, 0, 0, RESTING, P, 0},
      {STEP_DOWN, 0, 0, CONNECTING, P, LINK},
      {STEP_DOWN, 0, 4000 * MS, RESTING, G, 0},
      {STEP_UP, 0, 0, ASKING, G, ASK},
      {ACCEPT, G, 0, ATTACHED, G, 0},
      {LOOK_UP, 0, 1000 * MS, RESTING, P, 0},
      {STEP_UP, 0, 0, ASKING, P, ASK},
      {NOT_YET, P, 0, RESTING, G, 0},
      {STEP_UP, 0, 0, ASKING, G, ASK},
      {ACCEPT, G, 0, ATTACHED, G, 0},
      {NOT_DUE, 0, 1999 * MS, ATTACHED, G, 0},
      {LOOK_UP, 0, 1 * MS, RESTING, P, 0},
      {STEP_UP, 0, 0, ASKING, P, ASK},
      {STEP_UP, 0, 1500 * MS, RESTING, G, 0},
      {STEP_UP, 0, 0, ASKING, G, ASK},
      {ACCEPT, G, 0, ATTACHED, G, 0},
      {NOT_DUE, 0, 3999 * MS, ATTACHED, G, 0}}},
    {7,
     "a parent whose link was dead is asked once it lives again",
     {{START, 0, 0, RESTING, P, 0},
      {STEP_UP, 0, 0, ASKING, P, ASK},
      {ACCEPT, P, 0, ATTACHED, P, 0},
      {LOST, P, 0, RESTING, G, 0},
      {STEP_UP, 0, 0, ASKING, G, ASK},
      {ACCEPT, G, 0, ATTACHED, G, 0},
      {LOOK_DOWN, 0, 1000 * MS, ATTACHED, G, 0},
      {LOOK_UP, 0, 1000 * MS, RESTING, P, 0},
      {STEP_UP, 0, 0, ASKING, P, ASK},
      {ACCEPT, P, 0, ATTACHED, P, 0},
      {LOST, P, 0, RESTING, G, 0},
      {STEP_UP, 0, 0, ASKING, G, ASK},
      {ACCEPT, G, 0, ATTACHED, G, 0},
      {NOT_DUE, 0, 1999 * MS, ATTACHED, G, 0},
      {LOOK_UP, 0, 1 * MS, RESTING, P, 0}}},
    {7,
     "a parent that let go is returned to later",
     {{START, 0, 0, RESTING, P, 0},
      {STEP_UP, 0, 0, ASKING, P, ASK},
      {ACCEPT, P, 0, ATTACHED, P, 0},
      {LET_GO, P, 0, RESTING, G, 0},
      {STEP_UP, 0, 0, ASKING, G, ASK},
      {ACCEPT, G, 0, ATTACHED, G, 0},
      {NOT_DUE, 0, 9999 * MS, ATTACHED, G, 0},
      {LOOK_UP, 0, 1 * MS, RESTING, P, 0}}},
    {7,
     "a parent that was silent is returned to later, unless a record names another one",
     {{START, 0, 0, RESTING, P, 0},
      {STEP_UP, 0, 0, ASKING, P, ASK},
      {ACCEPT, P, 0, ATTACHED, P, 0},
      {SILENT, P, 0, RESTING, G, 0},
      {STEP_UP, 0, 0, ASKING, G, ASK},
      {ACCEPT, G, 0, ATTACHED, G, 0},
      {NOT_DUE, 0, 9999 * MS, ATTACHED, G, 0},
      {LOOK_UP, 0, 1 * MS, RESTING, P, 0},
      {STEP_UP, 0, 0, ASKING, P, ASK},
      {ACCEPT, P, 0, ATTACHED, P, 0},
      {LOST, P, 0, RESTING, G, 0},
      {STEP_UP, 0, 0, ASKING, G, ASK},
      {ACCEPT, G, 0, ATTACHED, G, 0},
      {NOT_DUE, 0, 19999 * MS, ATTACHED, G, 0},
      {RECORD_YS, 0, 0, IDLE, Y, 0},
      {START, 0, 0, RESTING, Y, 0},
      {STEP_UP, 0, 0, ASKING, Y, ASK},
      {REFUSE, Y, 0, RESTING, S, 0},
      {STEP_UP, 0, 0, ASKING, S, ASK},
      {ACCEPT, S, 0, ATTACHED, S, 0},
      {LOOK_UP, 0, 1000 * MS, RESTING, Y, 0}}},
    {7,
     "a record that puts somebody between is followed at once",
     {{RECORD_GS, 1, 0, IDLE, G, 0},
      {START, 0, 0, RESTING, G, 0},
      {STEP_UP, 0, 0, ASKING, G, ASK},
      {ACCEPT, G, 0, ATTACHED, G, 0},
      {RECORD_SAME, 1, 0, ATTACHED, G, 0},
      {LOOK_UP, 0, 0, RESTING, P, 0},
      {STEP_UP, 0, 0, ASKING, P, ASK},
      {ACCEPT, P, 0, ATTACHED, P, 0}}},
    {7,
     "who was sent elsewhere by its parent stays there",
     {{START, 0, 0, RESTING, P, 0},
      {STEP_UP, 0, 0, ASKING, P, ASK},
      {REDIRECT_X, P, 0, RESTING, X, 0},
      {STEP_UP, 0, 0, ASKING, X, ASK},
      {ACCEPT, X, 0, ATTACHED, X, 0},
      {NOT_DUE, 0, 9999 * MS, ATTACHED, X, 0}}},
    {0,
     "what is stopped stays so, and the parent can be asked once more",
     {{STEP_UP, 0, 0, IDLE, P, 0},
      {START, 0, 0, RESTING, P, 0},
      {STEP_UP, 0, 0, ASKING, P, ASK},
      {ACCEPT, P, 0, ATTACHED, P, 0},
      {AGAIN, 0, 0, RESTING, P, 0},
      {STEP_UP, 0, 0, ASKING, P, ASK},
      {STOP, 0, 0, IDLE, P, 0},
      {ACCEPT, P, 0, IDLE, P, 0},
      {LOST, P, 0, IDLE, P, 0},
      {STEP_DOWN, 0, 9999 * MS, IDLE, P, 0}}},
};

static bool record(struct gmc_overlay *overlay, enum op op)
{
    static const gmc_peer all[] = {P, G, S}, short_one[] = {G, S}, other[] = {Y, S};
    if (op == RECORD_SAME)
        return gmc_overlay_set_ancestors(overlay, all, 3);
    return gmc_overlay_set_ancestors(overlay, op == RECORD_GS ? short_one : other, 2);
}

static void give(struct gmc_overlay *overlay, gmc_time now, const struct step *step)
{
    static const gmc_peer path[] = {P, G, S}, loop[] = {P, SELF, S};
    enum gmc_overlay_action action = GMC_OVERLAY_NOTHING;
    gmc_peer who = (gmc_peer)step->who;
    bool was_parent = who != 0 && gmc_overlay_parent(overlay) == who;
    bool is_loop = step->op == ACCEPT_LOOP;
    switch (step->op) {
    case START:
        gmc_overlay_start(overlay, now);
        break;
    case STOP:
        gmc_overlay_stop(overlay);
        break;
    case STEP_UP:
    case STEP_DOWN:
        action = gmc_overlay_step(overlay, now, step->op == STEP_UP, 0);
        break;
    case ACCEPT:
    case ACCEPT_LOOP:
        assert_int_equal(gmc_overlay_on_attached(overlay, now, who, is_loop ? loop : path, 3, SELF),
                         is_loop                   ? GMC_ERR_LOOP
                         : step->state == ATTACHED ? GMC_OK
                                                   : GMC_ERR_STATE);
        break;
    case REFUSE:
    case REDIRECT_X:
    case NOT_YET:
        gmc_overlay_on_refused(overlay, now, who, step->op == REDIRECT_X ? X : GMC_PEER_NONE,
                               step->op == NOT_YET);
        break;
    case LOST:
        assert_int_equal(gmc_overlay_on_lost(overlay, now, who), was_parent);
        break;
    case LET_GO:
        assert_int_equal(gmc_overlay_on_let_go(overlay, now, who), was_parent);
        break;
    case SILENT:
        assert_int_equal(gmc_overlay_on_silent(overlay, now, who), step->state == RESTING);
        break;
    case AGAIN:
        gmc_overlay_again(overlay, now);
        break;
    case NOT_DUE:
        assert_false(gmc_overlay_return_is_due(overlay, now));
        break;
    case LOOK_UP:
    case LOOK_DOWN:
        assert_true(gmc_overlay_return_is_due(overlay, now));
        gmc_overlay_return(overlay, now, step->op == LOOK_UP);
        break;
    default:
        assert_int_equal(record(overlay, step->op), step->who);
        break;
    }
    assert_int_equal(action, step->action);
}

static void tell(const struct story *story)
{
    struct gmc_overlay overlay;
    struct gmc_prng prng;
    gmc_time now = GMC_S(1);
    gmc_prng_init(&prng, 3);
    gmc_overlay_init(&overlay, &prng);
    assert_true(record(&overlay, RECORD_SAME));
    for (size_t i = 0; i < STEPS_MAX && story->steps[i].op != END; i++) {
        const struct step *step = &story->steps[i];
        now += step->after;
        give(&overlay, now, step);
        if (overlay.state != step->state ||
            gmc_overlay_candidate(&overlay) != (gmc_peer)step->candidate)
            print_error("rule %d, %s: step %zu\n", story->rule, story->what, i + 1);
        assert_int_equal(overlay.state, step->state);
        assert_int_equal(gmc_overlay_candidate(&overlay), step->candidate);
        assert_int_equal(gmc_overlay_parent(&overlay),
                         step->state == ATTACHED ? (gmc_peer)step->candidate : GMC_PEER_NONE);
        bool away = overlay.at > 0 && overlay.redirect == GMC_PEER_NONE;
        bool timed = step->state != IDLE && (step->state != ATTACHED || away);
        assert_int_equal(gmc_overlay_deadline(&overlay) != GMC_TIME_NEVER, timed);
    }
}

static void test_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(stories) / sizeof(stories[0]); i++)
        tell(&stories[i]);
}

/* Between nodes it costs little to look soon; but where a link was dead their gateway decides. */
static void test_a_node_returns_to_a_parent_that_was_silent(void **state)
{
    (void)state;
    struct gmc_overlay overlay;
    struct gmc_prng prng;
    const gmc_peer path[] = {S};
    gmc_prng_init(&prng, 3);
    for (int silent = 0; silent < 2; silent++) {
        gmc_overlay_init(&overlay, &prng);
        overlay.no_handshake = true;
        assert_true(record(&overlay, RECORD_GS));
        gmc_overlay_start(&overlay, 0);
        assert_int_equal(gmc_overlay_step(&overlay, 0, true, 0), ASK);
        assert_ok(gmc_overlay_on_attached(&overlay, 0, G, path, 1, SELF));
        assert_true(silent ? gmc_overlay_on_silent(&overlay, 0, G)
                           : gmc_overlay_on_lost(&overlay, 0, G));
        assert_int_equal(gmc_overlay_step(&overlay, 0, true, 0), ASK);
        assert_ok(gmc_overlay_on_attached(&overlay, 0, S, path, 1, SELF));
        assert_int_equal(gmc_overlay_deadline(&overlay), silent ? 500 * MS : GMC_TIME_NEVER);
    }
}

static void start(struct gmc_overlay *overlay, struct gmc_prng *prng)
{
    gmc_prng_init(prng, 3);
    gmc_overlay_init(overlay, prng);
    assert_true(record(overlay, RECORD_SAME));
    gmc_overlay_start(overlay, 0);
}

/* Rule 5: the parent tells that we stand above it now. */
static void test_a_parent_that_is_below_is_left(void **state)
{
    (void)state;
    static const gmc_peer path[] = {P, S}, circle[] = {P, X, SELF};
    struct gmc_overlay overlay;
    struct gmc_prng prng;
    start(&overlay, &prng);
    assert_int_equal(gmc_overlay_step(&overlay, 0, true, 0), ASK);
    assert_ok(gmc_overlay_on_attached(&overlay, 0, P, path, 2, SELF));
    assert_int_equal(gmc_overlay_on_attached(&overlay, 0, G, circle, 3, SELF), GMC_ERR_STATE);
    assert_ok(gmc_overlay_on_attached(&overlay, 0, P, circle, 2, SELF));
    assert_int_equal(gmc_overlay_parent(&overlay), P);
    assert_int_equal(gmc_overlay_on_attached(&overlay, 0, P, circle, 3, SELF), GMC_ERR_LOOP);
    assert_int_equal(gmc_overlay_parent(&overlay), GMC_PEER_NONE);
    assert_int_equal(gmc_overlay_candidate(&overlay), G);
}

/* Rule 3: who is far has three round trips for the answer, however few seconds others have. */
static void test_far(void **state)
{
    (void)state;
    static const struct {
        gmc_duration rtt, wait;
    } cases[] = {{0, 1500 * MS},
                 {20 * MS, 1500 * MS},
                 {500 * MS, 1500 * MS},
                 {3000 * MS, 9000 * MS}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmc_overlay overlay;
        struct gmc_prng prng;
        start(&overlay, &prng);
        assert_int_equal(gmc_overlay_step(&overlay, 0, true, cases[i].rtt), ASK);
        assert_int_equal(gmc_overlay_deadline(&overlay), cases[i].wait);
        assert_int_equal(gmc_overlay_candidate(&overlay), P);
        (void)gmc_overlay_step(&overlay, cases[i].wait, true, cases[i].rtt);
        assert_int_equal(gmc_overlay_candidate(&overlay), G);
    }
}

static void test_standby(void **state)
{
    (void)state;
    struct gmc_overlay overlay;
    struct gmc_prng prng;
    gmc_prng_init(&prng, 3);
    gmc_overlay_init(&overlay, &prng);
    assert_int_equal(gmc_overlay_candidate(&overlay), GMC_PEER_NONE);
    assert_int_equal(gmc_overlay_standby(&overlay), GMC_PEER_NONE);
    assert_true(record(&overlay, RECORD_SAME));
    gmc_overlay_start(&overlay, 0);
    assert_int_equal(gmc_overlay_standby(&overlay), G);
    assert_int_equal(gmc_overlay_step(&overlay, 0, true, 0), ASK);
    gmc_overlay_on_refused(&overlay, 0, P, X, false);
    assert_int_equal(gmc_overlay_standby(&overlay), P);
}

/* Rule 4: the rests double up to two seconds. */
static void test_rests_double(void **state)
{
    (void)state;
    static const gmc_peer source[] = {S};
    struct gmc_overlay overlay;
    struct gmc_prng prng;
    gmc_time now = 0;
    gmc_prng_init(&prng, 3);
    gmc_overlay_init(&overlay, &prng);
    assert_true(gmc_overlay_set_ancestors(&overlay, source, 1));
    gmc_overlay_start(&overlay, now);
    gmc_duration longest = 100 * MS;
    for (int round = 0; round < 10; round++) {
        assert_int_equal(gmc_overlay_step(&overlay, now, true, 0), ASK);
        gmc_overlay_on_refused(&overlay, now, S, GMC_PEER_NONE, false);
        gmc_duration rest = gmc_overlay_deadline(&overlay) - now;
        assert_true(rest >= longest / 2 && rest <= longest);
        now += rest;
        longest = longest * 2 < GMC_S(2) ? longest * 2 : GMC_S(2);
    }
}

static void test_asked_again_without_end(void **state)
{
    (void)state;
    struct gmc_overlay overlay;
    struct gmc_prng prng;
    gmc_time now = 0;
    int asked = 0;
    gmc_prng_init(&prng, 3);
    gmc_overlay_init(&overlay, &prng);
    assert_true(record(&overlay, RECORD_SAME));
    gmc_overlay_start(&overlay, now);
    while (gmc_overlay_candidate(&overlay) == P) {
        if (gmc_overlay_step(&overlay, now, true, 0) == ASK) {
            gmc_overlay_on_refused(&overlay, now, P, GMC_PEER_NONE, true);
            asked++;
        }
        now = gmc_time_max(now, gmc_overlay_deadline(&overlay));
    }
    assert_int_equal(asked, GMC_OVERLAY_BUSY_MAX + 1);
    assert_true(now <= GMC_OVERLAY_BUSY_MAX * GMC_OVERLAY_BUSY_WAIT);
}

/* A tree deeper than what is kept: the nearest ancestors, and the source. */
static void test_deep_tree(void **state)
{
    (void)state;
    gmc_peer deep[GMC_OVERLAY_DEPTH_MAX + 10];
    struct gmc_overlay overlay;
    struct gmc_prng prng;
    size_t depth = sizeof(deep) / sizeof(deep[0]);
    for (size_t i = 0; i < depth; i++)
        deep[i] = (gmc_peer)(1000 - i);
    gmc_prng_init(&prng, 3);
    gmc_overlay_init(&overlay, &prng);
    assert_true(gmc_overlay_set_ancestors(&overlay, deep, depth));
    assert_int_equal(overlay.depth, GMC_OVERLAY_DEPTH_MAX);
    assert_int_equal(overlay.ancestors[0], deep[0]);
    assert_int_equal(overlay.ancestors[GMC_OVERLAY_DEPTH_MAX - 1], deep[depth - 1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_a_node_returns_to_a_parent_that_was_silent),
        cmocka_unit_test(test_a_parent_that_is_below_is_left),
        cmocka_unit_test(test_far),
        cmocka_unit_test(test_standby),
        cmocka_unit_test(test_rests_double),
        cmocka_unit_test(test_asked_again_without_end),
        cmocka_unit_test(test_deep_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
