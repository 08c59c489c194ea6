/* SPDX-License-Identifier: BSD-2-Clause */
/* The virtual clock: order, moving, cancelling, and a random sequence of operations against a
 * sorted list. */
#include "tests/lib/unit.h"

#include <string.h>

#include "sim-wan/engine.h"
#include "sim-wan/mem.h"

struct probe {
    struct sim_event event;
    struct sim_engine *engine;
    int name;
    int fired;
    gmc_time at;
    struct probe *next; /* scheduled at once when this one fires */
};

static int order[64];
static int order_count;

static void on_fire(struct sim_event *event, gmc_time now)
{
    struct probe *probe = SIM_OWNER(event, struct probe, event);
    assert_int_equal(now, probe->engine->now);
    assert_false(sim_event_is_pending(event));
    probe->fired++;
    probe->at = now;
    if (order_count < 64)
        order[order_count++] = probe->name;
    if (probe->next != NULL)
        sim_engine_at(probe->engine, &probe->next->event, now);
}

static void probes_init(struct probe *probes, int count, struct sim_engine *engine)
{
    order_count = 0;
    for (int i = 0; i < count; i++) {
        probes[i] = (struct probe){.engine = engine, .name = i};
        sim_event_init(&probes[i].event, on_fire);
    }
}

static void test_time_then_turn(void **state)
{
    (void)state;
    struct sim_engine engine;
    struct probe p[5];
    sim_engine_init(&engine);
    probes_init(p, 5, &engine);
    p[1].next = &p[4];
    sim_engine_at(&engine, &p[0].event, 20);
    sim_engine_at(&engine, &p[1].event, 10);
    sim_engine_at(&engine, &p[2].event, 10);
    sim_engine_at(&engine, &p[3].event, 15);
    assert_int_equal(sim_engine_next(&engine), 10);
    sim_engine_run(&engine, 30);
    /* 4 is scheduled by 1 at the same instant and comes behind 2, which was there before. */
    const int expected[] = {1, 2, 4, 3, 0};
    assert_memory_equal(order, expected, sizeof(expected));
    assert_int_equal(engine.now, 30);
    assert_int_equal(engine.fired, 5);
    assert_int_equal(sim_engine_next(&engine), GMC_TIME_NEVER);
    sim_engine_fini(&engine);
}

static void test_move_and_cancel(void **state)
{
    (void)state;
    struct sim_engine engine;
    struct probe p[3];
    sim_engine_init(&engine);
    probes_init(p, 3, &engine);
    sim_engine_at(&engine, &p[0].event, 10);
    sim_engine_at(&engine, &p[1].event, 20);
    sim_engine_at(&engine, &p[2].event, 30);
    sim_engine_at(&engine, &p[2].event, 5);
    sim_engine_at(&engine, &p[0].event, 25);
    sim_engine_cancel(&engine, &p[1].event);
    sim_engine_cancel(&engine, &p[1].event);
    sim_engine_run(&engine, 100);
    const int expected[] = {2, 0};
    assert_int_equal(order_count, 2);
    assert_memory_equal(order, expected, sizeof(expected));
    /* The past is now; never is not at all. */
    sim_engine_at(&engine, &p[0].event, 7);
    sim_engine_at(&engine, &p[1].event, GMC_TIME_NEVER);
    sim_engine_run(&engine, 200);
    assert_int_equal(p[0].at, 100);
    assert_int_equal(p[1].fired, 0);
    sim_engine_fini(&engine);
}

static void test_until(void **state)
{
    (void)state;
    struct sim_engine engine;
    struct probe p[2];
    sim_engine_init(&engine);
    probes_init(p, 2, &engine);
    sim_engine_at(&engine, &p[0].event, 10);
    sim_engine_at(&engine, &p[1].event, 11);
    sim_engine_run(&engine, 10);
    assert_int_equal(p[0].fired, 1);
    assert_int_equal(p[1].fired, 0);
    assert_false(sim_engine_step(&engine, 10));
    assert_true(sim_engine_step(&engine, 11));
    sim_engine_fini(&engine);
}

static void test_shuffle_keeps_time(void **state)
{
    (void)state;
    int first[8];
    bool differs = false;
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct sim_engine engine;
        struct probe p[8];
        struct gmc_prng prng;
        gmc_prng_init(&prng, seed);
        sim_engine_init(&engine);
        sim_engine_shuffle(&engine, &prng);
        probes_init(p, 8, &engine);
        for (int i = 0; i < 8; i++)
            sim_engine_at(&engine, &p[i].event, i < 4 ? 10 : 20);
        sim_engine_run(&engine, 20);
        for (int i = 0; i < 8; i++)
            assert_true(i < 4 ? order[i] < 4 : order[i] >= 4);
        if (seed == 0)
            memcpy(first, order, sizeof(first));
        else
            differs = differs || memcmp(first, order, sizeof(first)) != 0;
        sim_engine_fini(&engine);
    }
    assert_true(differs);
}

/* Many operations drawn from a seed; the model is a plain array searched for its minimum. Delays
 * are of all scales, or many of one instant, so that events go through all levels of the queue. */
#define MODEL 500
struct model {
    gmc_time when[MODEL];
    uint64_t turn[MODEL], turns;
};

static int model_first(const struct model *model)
{
    int first = -1;
    for (int i = 0; i < MODEL; i++)
        if (model->when[i] != GMC_TIME_NEVER &&
            (first < 0 || model->when[i] < model->when[first] ||
             (model->when[i] == model->when[first] && model->turn[i] < model->turn[first])))
            first = i;
    return first;
}

static void model_at(struct model *model, size_t i, gmc_time when)
{
    if (model->when[i] != when)
        model->turn[i] = ++model->turns;
    model->when[i] = when;
}

static gmc_duration draw_delay(struct gmc_prng *prng, uint64_t scale)
{
    gmc_duration delay = gmc_prng_below(prng, UINT64_C(1) << scale);
    return gmc_prng_below(prng, 2) == 0 ? delay : delay >> scale / 2 << scale / 2;
}

#define FAR_AWAY (GMC_TIME_NEVER - 1)
static void check_step(struct sim_engine *engine, struct model *model, gmc_time until, int far)
{
    int first = model_first(model);
    gmc_time none = far > 0 ? FAR_AWAY : GMC_TIME_NEVER;
    gmc_time least = first >= 0 ? model->when[first] : none;
    assert_int_equal(sim_engine_next(engine), least);
    order_count = 0;
    assert_int_equal(sim_engine_step(engine, until), least <= until);
    if (least > until)
        return;
    assert_int_equal(order[0], first);
    assert_int_equal(engine->now, least);
    model->when[first] = GMC_TIME_NEVER;
}

/* far: so many events are pending besides, at the end of time. */
#define FAR_MAX 4000
static void check_against_model(int far)
{
    static struct probe p[MODEL], others[FAR_MAX];
    struct sim_engine engine;
    struct model model = {.turns = 0};
    struct gmc_prng prng;
    uint64_t scale = 10;
    gmc_prng_init(&prng, 42);
    sim_engine_init(&engine);
    probes_init(others, far, &engine);
    for (int i = 0; i < far; i++)
        sim_engine_at(&engine, &others[i].event, FAR_AWAY);
    probes_init(p, MODEL, &engine);
    for (int i = 0; i < MODEL; i++)
        model.when[i] = GMC_TIME_NEVER;
    for (int step = 0; step < 60000; step++) {
        size_t i = gmc_prng_below(&prng, MODEL);
        uint64_t what = gmc_prng_below(&prng, 20);
        if (step % 500 == 0)
            scale = 1 + gmc_prng_below(&prng, step % 5000 == 0 ? 50 : 24);
        if (what < 10) {
            gmc_time when = engine.now + draw_delay(&prng, scale);
            model_at(&model, i, when);
            sim_engine_at(&engine, &p[i].event, when);
        } else if (what < 11) {
            model.when[i] = GMC_TIME_NEVER;
            sim_engine_cancel(&engine, &p[i].event);
        } else {
            /* Now and then nothing is due, and something earlier is scheduled then. */
            check_step(&engine, &model,
                       what < 13 ? engine.now + draw_delay(&prng, scale) : FAR_AWAY - 1, far);
        }
    }
    while (model_first(&model) >= 0)
        check_step(&engine, &model, FAR_AWAY - 1, far);
    sim_engine_fini(&engine);
}

static void test_against_model(void **state)
{
    (void)state;
    check_against_model(0);
}

/* Then the next ones stand in a row. */
static void test_against_model_with_many(void **state)
{
    (void)state;
    check_against_model(FAR_MAX);
}

/* Each event is looked ahead of in every stage, in their order, before it fires. */
#define AHEAD 4000
static int stages[AHEAD], ahead_count;

static void on_ahead(const struct sim_event *event, enum sim_ahead stage)
{
    const struct probe *probe =
        (const struct probe *)(const void *)((const char *)event - offsetof(struct probe, event));
    assert_int_equal(probe->fired, 0);
    assert_true(stages[probe->name] <= (int)stage);
    stages[probe->name] = (int)stage + 1;
    ahead_count++;
}

static void look_ahead_of(int count)
{
    static struct probe p[AHEAD];
    struct sim_engine engine;
    ahead_count = 0;
    memset(stages, 0, sizeof(stages));
    sim_engine_init(&engine);
    probes_init(p, count, &engine);
    for (int i = 0; i < count; i++) {
        p[i].event.ahead = on_ahead;
        sim_engine_at(&engine, &p[i].event, 1000 + 7 * (gmc_time)(count - i));
    }
    sim_engine_run(&engine, GMC_S(1));
    for (int i = 0; i < 64; i++)
        assert_int_equal(order[i], count - 1 - i);
    sim_engine_fini(&engine);
}

/* Where many are pending; the very first ones go without some stages, and the last. */
static void test_looks_ahead(void **state)
{
    (void)state;
    look_ahead_of(AHEAD);
    for (int i = AHEAD - 100; i > AHEAD - 900; i--)
        assert_int_equal(stages[i], SIM_AHEAD_LAST + 1);
    look_ahead_of(64);
    assert_int_equal(ahead_count, 0);
}

/* The last instants that there are. */
static void test_end_of_time(void **state)
{
    (void)state;
    struct sim_engine engine;
    struct probe p[3];
    sim_engine_init(&engine);
    probes_init(p, 3, &engine);
    sim_engine_at(&engine, &p[0].event, GMC_TIME_NEVER - 1);
    sim_engine_at(&engine, &p[1].event, GMC_TIME_NEVER - 2);
    assert_true(sim_engine_step(&engine, GMC_TIME_NEVER - 1));
    sim_engine_at(&engine, &p[2].event, GMC_TIME_NEVER - 2);
    sim_engine_run(&engine, GMC_TIME_NEVER - 1);
    const int expected[] = {1, 2, 0};
    assert_int_equal(order_count, 3);
    assert_memory_equal(order, expected, sizeof(expected));
    sim_engine_fini(&engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time_then_turn), cmocka_unit_test(test_move_and_cancel),
        cmocka_unit_test(test_until),          cmocka_unit_test(test_shuffle_keeps_time),
        cmocka_unit_test(test_against_model),  cmocka_unit_test(test_end_of_time),
        cmocka_unit_test(test_looks_ahead),    cmocka_unit_test(test_against_model_with_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
