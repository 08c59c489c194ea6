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

/* Many operations drawn from a seed; the model is a plain array searched for its minimum. */
#define MODEL 100
static void test_against_model(void **state)
{
    (void)state;
    struct sim_engine engine;
    struct probe p[MODEL];
    gmc_time when[MODEL];
    struct gmc_prng prng;
    gmc_prng_init(&prng, 42);
    sim_engine_init(&engine);
    probes_init(p, MODEL, &engine);
    for (int i = 0; i < MODEL; i++)
        when[i] = GMC_TIME_NEVER;
    for (int step = 0; step < 20000; step++) {
        size_t i = gmc_prng_below(&prng, MODEL);
        uint64_t what = gmc_prng_below(&prng, 10);
        if (what < 6) {
            when[i] = engine.now + gmc_prng_below(&prng, 1000);
            sim_engine_at(&engine, &p[i].event, when[i]);
        } else if (what < 7) {
            when[i] = GMC_TIME_NEVER;
            sim_engine_cancel(&engine, &p[i].event);
        } else {
            gmc_time least = GMC_TIME_NEVER;
            for (int j = 0; j < MODEL; j++)
                least = gmc_time_min(least, when[j]);
            assert_int_equal(sim_engine_next(&engine), least);
            order_count = 0;
            if (!sim_engine_step(&engine, GMC_TIME_NEVER - 1))
                continue;
            assert_int_equal(when[order[0]], least);
            when[order[0]] = GMC_TIME_NEVER;
        }
    }
    sim_engine_fini(&engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time_then_turn), cmocka_unit_test(test_move_and_cancel),
        cmocka_unit_test(test_until),          cmocka_unit_test(test_shuffle_keeps_time),
        cmocka_unit_test(test_against_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
