/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests interconnect/family: every family's table is sound and its usual values give figures;
 * parameters are read and refused; what becomes of results that are none. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "interconnect/family.h"
#include "interconnect/saturation.h"
#include "tests/lib/unit.h"

#define ROOM 64

static char error[IC_ERROR_MAX];
static struct ic_figure figures[ROOM];
static struct ic_result result = {.figures = figures};

static void check_params(const struct ic_family *family)
{
    for (size_t i = 0; i < family->param_count; i++) {
        const struct ic_param *param = &family->params[i];
        double value;
        assert_null(strpbrk(param->name, " ,="));
        assert_int_equal(ic_family_param(family, param->name), i); /* no two of one name */
        assert_true(param->about[0] != '\0' && param->whose != 0);
        assert_int_equal(param->kind == IC_CHOICE, param->choices != NULL);
        assert_ok(ic_param_check(param, param->usual, error));
        if (param->kind == IC_CHOICE) {
            assert_ok(ic_param_parse(param, param->choices[0], &value, error));
            assert_int_equal(value, 0);
        }
    }
    if (family->load != NULL)
        assert_true(ic_family_param(family, family->load) < family->param_count);
}

/* Names of columns, those of parameters among them. */
static void check_outputs(const struct ic_family *family)
{
    for (size_t i = 0; i < family->output_count; i++) {
        const struct ic_output *output = &family->outputs[i];
        assert_null(strpbrk(output->name, " ,="));
        assert_int_equal(ic_family_output(family, output->name), i);
        assert_int_equal(ic_family_param(family, output->name), family->param_count);
        assert_true(output->about[0] != '\0' && output->whose != 0);
    }
}

static void families_are_sound(void **state)
{
    (void)state;
    for (size_t i = 0; i < ic_family_count; i++) {
        const struct ic_family *family = ic_families[i];
        double values[ROOM];
        assert_ptr_equal(ic_family_find(family->name), family);
        assert_in_range(family->param_count, 1, ROOM);
        assert_in_range(family->output_count, 1, ROOM);
        check_params(family);
        check_outputs(family);
        ic_family_defaults(family, values);
        if (family->model == NULL)
            continue;
        assert_ok(ic_family_model(family, values, NULL, &result, error));
        assert_false(result.is_saturated);
        assert_int_equal(figures[0].state, IC_FIGURE_KNOWN); /* the first is the main one */
    }
    assert_null(ic_family_find("ring"));
}

static const char *const words[] = {"one", "two", NULL};
static const struct ic_param count_param = {"k", "",   "nodes per ring", IC_COUNT, 2, 4096,
                                            4,   NULL, IC_BOTH},
                             number_param = {"load", "",  "share", IC_NUMBER, 0,
                                             1,      0.5, NULL,    IC_BOTH},
                             choice_param = {"way", "", "to go", IC_CHOICE, 0,
                                             0,     0,  words,   IC_BOTH};

static void parameters_are_read(void **state)
{
    static const struct {
        const struct ic_param *param;
        const char *text;
        double value; /* -1: refused */
        const char *words;
    } cases[] = {
        {&count_param, "16", 16, ""},
        {&count_param, "2K", 2048, ""},
        {&count_param, "1e3", 1000, ""},
        {&count_param, "1", -1, "k (nodes per ring) is 1; it must be 2 to 4096"},
        {&count_param, "1M", -1, "k (nodes per ring) is 1048576; it must be 2 to 4096"},
        {&count_param, "2.5", -1, "k (nodes per ring) is 2.5; it must be a whole number"},
        {&count_param, "inf", -1, "k (nodes per ring) is inf; it must be 2 to 4096"},
        {&count_param, "16k", -1, "k is \"16k\"; it must be a number from 2 to 4096"},
        {&count_param, "", -1, "k is \"\"; it must be a number from 2 to 4096"},
        {&number_param, "0.25", 0.25, ""},
        {&number_param, "-0", 0, ""},
        {&number_param, "nan", -1, "load (share) is nan; it must be 0 to 1"},
        {&number_param, "1K", -1, "load is \"1K\"; it must be a number from 0 to 1"},
        {&choice_param, "two", 1, ""},
        {&choice_param, "1", -1, "way is \"1\"; it must be one of one, two"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double value = -1;
        gmc_status status = ic_param_parse(cases[i].param, cases[i].text, &value, error);
        assert_true(value == cases[i].value);
        assert_int_equal(signbit(value) != 0, cases[i].value < 0);
        assert_int_equal(status, cases[i].value < 0 ? GMC_ERR_INVALID : GMC_OK);
        if (status != GMC_OK)
            assert_string_equal(error, cases[i].words);
    }
}

/* ---- a family of our own ---- */
enum { FINE, ENDLESS, OPEN, SIMULATED, OUTPUTS };

static gmc_status model(const double *values, const struct ic_setting *setting,
                        struct ic_result *out, char *words_out)
{
    (void)setting;
    (void)words_out;
    ic_result_set(out, FINE, values[0]);
    if (values[0] > 2)
        ic_result_set(out, ENDLESS, INFINITY);
    if (values[0] > 3)
        ic_result_saturated(out, "the source's queue, from k = %d on", 4);
    return GMC_OK;
}

static const struct ic_output outputs[OUTPUTS] = {{"fine", "", "-", IC_MODEL},
                                                  {"endless", "", "-", IC_MODEL},
                                                  {"open", "", "-", IC_BOTH},
                                                  {"simulated", "", "-", IC_SIMULATOR}};
static const struct ic_family ours = {.name = "ours",
                                      .params = &count_param,
                                      .param_count = 1,
                                      .outputs = outputs,
                                      .output_count = OUTPUTS,
                                      .model = model};

static void results_have_no_open_ends(void **state)
{
    double k = 2;
    (void)state;
    assert_ok(ic_family_model(&ours, &k, NULL, &result, error));
    assert_false(result.is_saturated);
    assert_int_equal(figures[FINE].state, IC_FIGURE_KNOWN);
    assert_int_equal(figures[ENDLESS].state, IC_FIGURE_NONE);
    k = 3;
    assert_ok(ic_family_model(&ours, &k, NULL, &result, error));
    assert_true(result.is_saturated);
    assert_int_equal(figures[ENDLESS].state, IC_FIGURE_SATURATED);
    assert_int_equal(figures[OPEN].state, IC_FIGURE_NONE);
    k = 4;
    assert_ok(ic_family_model(&ours, &k, NULL, &result, error));
    assert_int_equal(figures[OPEN].state, IC_FIGURE_SATURATED);
    assert_int_equal(figures[SIMULATED].state, IC_FIGURE_NONE);
    assert_string_equal(result.where, "the source's queue, from k = 4 on");
    k = 1;
    assert_int_equal(ic_family_model(&ours, &k, NULL, &result, error), GMC_ERR_INVALID);
    assert_int_equal(ic_family_simulate(&ours, &k, NULL, NULL, &result, error), GMC_ERR_NOT_FOUND);
    assert_string_equal(error, "ours has no simulator");
}

/* ---- what points have in common ---- */
static unsigned made, released;

static gmc_status count_limit(const double *values, const struct ic_setting *setting, double *load,
                              char *words_out)
{
    (void)setting;
    (void)words_out;
    made++;
    *load = values[0] * 10;
    return GMC_OK;
}

static void limits_are_sought_once(void **state)
{
    const struct ic_param both[] = {count_param, number_param};
    struct ic_family limited = ours;
    struct ic_memo memo = {.count = 0};
    const struct ic_setting setting = {.memo = &memo};
    double values[] = {2, 0.5}, limit;
    (void)state;
    limited.params = both;
    limited.param_count = 2;
    limited.load = "load";
    assert_int_equal(ic_family_limit(&limited, values, &setting, &limit, error), GMC_ERR_NOT_FOUND);
    limited.limit = count_limit;
    made = 0;
    for (values[1] = 0; values[1] < 1; values[1] += 0.25) {
        assert_ok(ic_family_limit(&limited, values, &setting, &limit, error));
        assert_true(limit == 20);
    }
    assert_int_equal(made, 1);
    values[0] = 3;
    assert_ok(ic_family_limit(&limited, values, &setting, &limit, error));
    assert_true(limit == 30 && made == 2);
    assert_ok(ic_family_limit(&limited, values, NULL, &limit, error));
    assert_true(limit == 30 && made == 3);
    ic_memo_fini(&memo);
}

static void count_release(void *what)
{
    (void)what;
    released++;
}

struct thing {
    int *what;
    size_t bytes;
    gmc_status status;
};

static gmc_status make_thing(const void *ctx, void **what, size_t *bytes, char *why)
{
    const struct thing *thing = ctx;
    (void)why;
    made++;
    *what = thing->what;
    *bytes = thing->bytes;
    return thing->status;
}

/* What the memo gives for a key, made of so many bytes when it is not there. */
static void *get(struct ic_memo *memo, double key, int *what, size_t bytes)
{
    const struct thing thing = {what, bytes, GMC_OK};
    const struct ic_memo_maker maker = {make_thing, count_release, &thing};
    void *got;
    assert_ok(ic_memo_get(memo, &key, 1, &maker, &got, error));
    return got;
}

static void memos_are_bounded(void **state)
{
    struct ic_memo memo = {.count = 0};
    int what[IC_MEMO_KEPT_MAX + 2], other;
    (void)state;
    released = made = 0;
    for (int i = 0; i <= (int)IC_MEMO_KEPT_MAX; i++)
        assert_ptr_equal(get(&memo, i, &what[i], 1), &what[i]);
    assert_true(released == 1 && made == IC_MEMO_KEPT_MAX + 1);
    for (int i = 1; i <= (int)IC_MEMO_KEPT_MAX; i++)
        assert_ptr_equal(get(&memo, i, &other, 1), &what[i]);
    assert_int_equal(made, IC_MEMO_KEPT_MAX + 1);
    /* The one that was used last but one is dropped before the one that was used last. */
    assert_ptr_equal(get(&memo, 1, &other, 1), &what[1]);
    assert_ptr_equal(get(&memo, 100, what, IC_MEMO_BYTES_MAX - 1), what);
    assert_int_equal(memo.count, 2);
    assert_ptr_equal(get(&memo, 1, &other, 1), &what[1]);
    assert_ptr_equal(get(&memo, 101, what, (size_t)IC_MEMO_BYTES_MAX + 1), what);
    assert_int_equal(memo.count, 1);
    /* What could not be made is not kept. */
    const struct thing none = {NULL, 1, GMC_ERR_NOMEM};
    const struct ic_memo_maker maker = {make_thing, count_release, &none};
    double key = 102;
    void *got;
    assert_int_equal(ic_memo_get(&memo, &key, 1, &maker, &got, error), GMC_ERR_NOMEM);
    assert_int_equal(memo.count, 1);
    ic_memo_fini(&memo);
    assert_int_equal(released, IC_MEMO_KEPT_MAX + 3);
}

/* ---- saturation ---- */
static double threshold;
static unsigned runs;

static gmc_status saturate(const double *values, const struct ic_setting *setting,
                           const struct ic_run *run, struct ic_result *out, char *words_out)
{
    (void)setting;
    runs++;
    assert_int_equal(run->messages, 500);
    if (values[1] > 0.9)
        return ic_refuse(words_out, "too much");
    ic_result_set(out, SIMULATED, values[1]);
    if (values[1] >= threshold)
        ic_result_saturated(out, "here");
    return GMC_OK;
}

static void saturation_is_found(void **state)
{
    static const struct {
        double threshold, begin, sound, saturated; /* the last two: known */
        unsigned most;                             /* runs */
    } cases[] = {
        {0.3, 0.5, 0, INFINITY, 10},     {0.3, 0.01, 0, INFINITY, 14},
        {0.3, 0.9, 0.25, 0.35, 6},       {0.001, 0.5, 0, INFINITY, 18},
        {0.8999, 0.01, 0, INFINITY, 17}, {2, 0.1, 0, INFINITY, 14}, /* refused from 0.9 on */
        {0, 0.5, 0, INFINITY, 40},
    };
    const struct ic_param both[] = {count_param, number_param};
    const struct ic_run run = {.messages = 500};
    struct ic_family family = ours;
    (void)state;
    family.params = both;
    family.param_count = 2;
    family.load = "load";
    family.simulate = saturate;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct ic_saturation known = {cases[i].sound, cases[i].saturated, 0};
        const double values[] = {2, cases[i].begin};
        double wanted = cases[i].threshold < 0.9 ? cases[i].threshold : 0.9;
        struct ic_saturation found;
        runs = 0;
        threshold = cases[i].threshold;
        assert_ok(ic_saturation_find(&family, values, NULL, &run, &known, &found, error));
        assert_true(found.sound <= wanted && found.saturated >= wanted);
        assert_true(found.saturated - found.sound <= 0.01 * found.saturated || found.sound <= 0);
        assert_true(found.runs == runs && runs <= cases[i].most);
    }
    /* A load that is refused at once is an error. */
    const struct ic_saturation unknown = {0, INFINITY, 0};
    const double values[] = {2, 0.95};
    struct ic_saturation found;
    assert_int_equal(ic_saturation_find(&family, values, NULL, &run, &unknown, &found, error),
                     GMC_ERR_INVALID);
}

static void memo_changes_nothing(const struct ic_family *family, const double *values,
                                 const struct ic_setting *setting)
{
    double alone[ROOM];
    assert_ok(ic_family_model(family, values, NULL, &result, error));
    for (size_t i = 0; i < family->output_count; i++)
        alone[i] = figures[i].value;
    assert_ok(ic_family_model(family, values, setting, &result, error));
    for (size_t i = 0; i < family->output_count; i++)
        assert_true(alone[i] == figures[i].value);
}

/* Figures of a point do not depend on those before it. */
static void curves_are_their_points(void **state)
{
    (void)state;
    for (size_t i = 0; i < ic_family_count; i++) {
        const struct ic_family *family = ic_families[i];
        struct ic_memo memo = {.count = 0};
        const struct ic_setting setting = {.memo = &memo};
        double values[ROOM];
        if (family->load == NULL)
            continue;
        size_t load = ic_family_param(family, family->load);
        ic_family_defaults(family, values);
        for (int half = 0; half < 6; half++, values[load] *= 0.5) {
            memo_changes_nothing(family, values, &setting);
        }
        ic_memo_fini(&memo);
    }
}

/* So are those over deadlines, which share what was found for a load. */
static void deadlines_are_their_points(void **state)
{
    static const struct {
        double load, deadline, hops;
    } rows[] = {{0.004, 60, 2},  {0.004, 90, 2},  {0.004, 60, 2},  {0.006, 60, 2},
                {0.006, 60, 3},  {0.006, 61, 3},  {0.004, 61, 3},  {0.004, 700, 3},
                {0.006, 700, 3}, {0.006, 699, 1}, {0.006, 699, 3}, {0.006, 0, 3}};
    const struct ic_family *family = ic_family_find("qos");
    struct ic_memo memo = {.count = 0};
    const struct ic_setting setting = {.memo = &memo};
    double values[ROOM];
    (void)state;
    ic_family_defaults(family, values);
    values[ic_family_param(family, "n")] = 3;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        values[ic_family_param(family, "load")] = rows[i].load;
        values[ic_family_param(family, "deadline")] = rows[i].deadline;
        values[ic_family_param(family, "hops")] = rows[i].hops;
        memo_changes_nothing(family, values, &setting);
    }
    ic_memo_fini(&memo);
}

/* What a saturated point says is the limit of its own values, also where the limit of the shortest
 * messages stands for it. */
static void points_tell_their_own_limits(void **state)
{
    static const char *const lengths[][2] = {{"M", "7"}, {"M", "1000"}, {"flit", "99"}};
    const struct ic_family *families_of_trees[] = {ic_family_find("fattree"),
                                                   ic_family_find("multicluster")};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const struct ic_family *family = families_of_trees[i];
        struct ic_memo memo = {.count = 0};
        const struct ic_setting setting = {.memo = &memo};
        for (size_t j = 0; j < 3; j++) {
            double values[ROOM], limit;
            char words_of[IC_ERROR_MAX];
            size_t length = ic_family_param(family, lengths[j][0]);
            size_t load = ic_family_param(family, family->load);
            if (length == family->param_count)
                continue;
            ic_family_defaults(family, values);
            assert_ok(
                ic_param_parse(&family->params[length], lengths[j][1], &values[length], error));
            assert_ok(ic_family_limit(family, values, NULL, &limit, error));
            values[load] = 1.01 * limit;
            assert_ok(ic_family_model(family, values, &setting, &result, error));
            assert_true(result.is_saturated);
            snprintf(words_of, sizeof(words_of), "a queue is full from load %.6g on", limit);
            assert_string_equal(result.where, words_of);
        }
        ic_memo_fini(&memo);
    }
}

/* Too few messages to see a queue grow among them; loads near saturation are told apart, too. */
static void short_runs_know_saturation(void **state)
{
    (void)state;
    static const struct {
        const char *family;
        double n, carried, beyond;
    } rows[] = {{"hypercube", 6, 0.012, 0.02},
                {"fattree", 3, 0.0105, 0.013},
                {"qos", 6, 0.008, 0.02}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct ic_family *family = ic_family_find(rows[i].family);
        double values[ROOM];
        ic_family_defaults(family, values);
        values[ic_family_param(family, "n")] = rows[i].n;
        for (uint64_t seed = 1; seed <= 6; seed++) {
            const struct ic_run run = {.seed = seed, .messages = seed * 100};
            values[ic_family_param(family, "load")] = rows[i].carried;
            assert_ok(ic_family_simulate(family, values, NULL, &run, &result, error));
            assert_false(result.is_saturated);
            values[ic_family_param(family, "load")] = rows[i].beyond;
            assert_ok(ic_family_simulate(family, values, NULL, &run, &result, error));
            assert_true(result.is_saturated);
        }
    }
}

/* No simulator or model of a wormhole network takes more than a flit per cycle from a node. */
static void more_than_a_source_can_send_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *family;
        double most; /* with the usual 32 flits, in the family's unit of time */
        const char *told;
    } rows[] = {{"hypercube", 1.0 / 32, "0 to 0.03125"},
                {"fattree", 1.0 / 32, "0 to 0.03125"},
                {"updown", 1.0 / 32, "0 to 0.03125"},
                {"multicluster", 1 / (32 * 0.522), "0 to 0.0598659"}};
    const struct ic_run run = {.seed = 1, .messages = 200};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct ic_family *family = ic_family_find(rows[i].family);
        double values[ROOM];
        ic_family_defaults(family, values);
        values[ic_family_param(family, "load")] = 0.999 * rows[i].most;
        assert_ok(ic_family_model(family, values, NULL, &result, error));
        assert_ok(ic_family_simulate(family, values, NULL, &run, &result, error));
        assert_true(result.is_saturated);
        values[ic_family_param(family, "load")] = 1.001 * rows[i].most;
        assert_int_equal(ic_family_model(family, values, NULL, &result, error), GMC_ERR_INVALID);
        assert_non_null(strstr(error, rows[i].told));
        assert_int_equal(ic_family_simulate(family, values, NULL, &run, &result, error),
                         GMC_ERR_INVALID);
        assert_non_null(strstr(error, rows[i].told));
    }
}

/* The anchors of the specification, sections 5.2 and 5.3, with nothing given but the load. */
static void best_effort_is_as_published(void **state)
{
    (void)state;
    static const struct {
        double dimension, be_load, latency[3];
    } rows[] = {{0, 0.01, {38.535, 52.534, 59.943}}, {6, 0.002, {53.882, 67.804, 90.363}}};
    const struct ic_family *family = ic_family_find("qos");
    static const char *const names[] = {"network_R1", "network_R2", "network_BE"};
    for (size_t i = 0; i < 2; i++) {
        double values[ROOM];
        ic_family_defaults(family, values);
        values[ic_family_param(family, "n")] = rows[i].dimension;
        values[ic_family_param(family, "load")] = 0.004;
        assert_ok(ic_family_model(family, values, NULL, &result, error));
        for (size_t j = 0; j < 3; j++)
            assert_float_equal(figures[ic_family_output(family, names[j])].value,
                               rows[i].latency[j], 0.0006);
        family->settle(values, NULL);
        assert_float_equal(values[ic_family_param(family, "be_load")], rows[i].be_load, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_than_a_source_can_send_is_refused),
        cmocka_unit_test(families_are_sound),
        cmocka_unit_test(parameters_are_read),
        cmocka_unit_test(results_have_no_open_ends),
        cmocka_unit_test(limits_are_sought_once),
        cmocka_unit_test(short_runs_know_saturation),
        cmocka_unit_test(best_effort_is_as_published),
        cmocka_unit_test(memos_are_bounded),
        cmocka_unit_test(saturation_is_found),
        cmocka_unit_test(curves_are_their_points),
        cmocka_unit_test(deadlines_are_their_points),
        cmocka_unit_test(points_tell_their_own_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
