/* SPDX-License-Identifier: BSD-2-Clause */
/* Text files with options and sections: values and their units, messages and their places, values
 * set from outside. */
#include <inttypes.h>
#include <string.h>

#include "base/time.h"
#include "sim-wan/conf.h"
#include "tests/lib/unit.h"

static const char *const colours[] = {"red", "green", NULL};
static const struct sim_conf_option top[] = {{"seed", SIM_CONF_NUMBER, 1, 100, NULL},
                                             {"names", SIM_CONF_TEXTS, 0, 0, NULL},
                                             {NULL, SIM_CONF_TEXT, 0, 0, NULL}};
static const struct sim_conf_option wire[] = {{"rate", SIM_CONF_RATE, 1000, 0, NULL},
                                              {"loss", SIM_CONF_SHARE, 0, 1000000, NULL},
                                              {"queue", SIM_CONF_QUEUE, 0, 0, NULL},
                                              {"paint", SIM_CONF_CHOICE, 0, 0, colours},
                                              {NULL, SIM_CONF_TEXT, 0, 0, NULL}};
static const struct sim_conf_option fault[] = {{"at", SIM_CONF_DURATION, 0, 0, NULL},
                                               {"drift", SIM_CONF_DRIFT, 0, 5000, NULL},
                                               {"place", SIM_CONF_REAL, 0, 0, NULL},
                                               {NULL, SIM_CONF_TEXT, 0, 0, NULL}};
static const struct sim_conf_section sections[] = {{"", false, true, top, NULL},
                                                   {"wire", true, false, wire, NULL},
                                                   {"fault", false, false, fault, wire},
                                                   {"only", false, true, fault, NULL}};
#define SECTIONS (sizeof(sections) / sizeof(sections[0]))

static gmc_status parse(struct sim_conf *conf, const char *text)
{
    return sim_conf_parse(conf, "x.conf", text, sections, SECTIONS);
}

static void test_parts(void **state)
{
    struct sim_conf conf;
    (void)state;
    assert_int_equal(parse(&conf, "seed = 7 # seven\n"
                                  "names = {a, \"b c\"}\n"
                                  "/* two\nlines */\n"
                                  "wire \"w.x\" {\n rate = 100Mbit\n loss = 1%\n}\n"
                                  "fault { at = 5s rate = 1Mbit }\n"
                                  "fault { }\n"
                                  "fault { at = 1ms }\n"),
                     GMC_OK);
    const struct sim_conf_part *part = sim_conf_part(&conf, "", 0);
    assert_int_equal(sim_conf_number(part, "seed", 1), 7);
    assert_int_equal(sim_conf_value(part, "names")->count, 2);
    assert_string_equal(sim_conf_value(part, "names")->texts[1], "b c");
    part = sim_conf_titled(&conf, "wire", "w.x");
    assert_int_equal(part->line, 6);
    assert_int_equal(sim_conf_value(part, "loss")->line, 7);
    assert_int_equal(sim_conf_number(part, "rate", 0), 100000000);
    assert_int_equal(sim_conf_number(part, "loss", 0), 10000);
    assert_null(sim_conf_value(part, "queue"));
    assert_int_equal(sim_conf_number(sim_conf_part(&conf, "fault", 0), "rate", 0), 1000000);
    assert_int_equal(sim_conf_number(sim_conf_part(&conf, "fault", 1), "at", 9), 9);
    assert_int_equal(sim_conf_number(sim_conf_part(&conf, "fault", 2), "at", 9), 1000000);
    assert_null(sim_conf_part(&conf, "fault", 3));
    assert_null(sim_conf_titled(&conf, "wire", "w"));
    sim_conf_fini(&conf);
}

static void test_errors(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"seed = x", "x.conf:1: 'x' is not right for seed: expected a whole number"},
        {"\n\nseed = 0",
         "x.conf:3: '0' is not right for seed: expected a whole number, from 1 to "},
        {"# a\n# b\nsede = 0", "x.conf:3: 'sede' is not known; there are: seed, names, section w"},
        {"wire w { speed = 1 }",
         "x.conf:1: 'speed' is not known in section wire; there are: rate, loss, queue, paint"},
        {"wire w {\nrate = 100 }", "x.conf:2: wire: '100' is not right for rate: expected a rate"},
        {"wire w { rate = 1bit }", "x.conf:1: wire: '1bit' is not right for rate: expected a rate "
                                   "such as 100Mbit or 2.5Gbit, at least 1kbit"},
        {"wire w { paint = blue }",
         "x.conf:1: wire: 'blue' is not right for paint: expected one of red, green"},
        {"wire w { }\nwire w { }",
         "x.conf:2: found duplicate title 'w'; expected a title that no other"},
        {"only { at = 1s }\nonly { }", "x.conf:2: section only stands here for the second time"},
        {"wire w {", "x.conf:1: the file ends within a section; expected }"},
        {"fault { at = 1s", "x.conf:1: the file ends within a section; expected }"},
        {"wire { }", "x.conf:1: missing title for section 'wire'; expected a name behind it"},
        {"seed 3", "x.conf:1: missing equal sign after option 'seed'; expected: name = value"},
        {"seed = 3\nseed = 4", "x.conf:2: seed stands here for the second time, first in line 1"},
        {"names = {a}\n\nnames = {b}", "x.conf:3: names stands here for the second time"},
        {"names = {a, b}\nnames = {c}", "x.conf:2: names stands here for the second time"},
        {"wire w {\nrate = 1Mbit\nrate = 1Mbit }",
         "x.conf:3: wire: rate stands here for the second time, first in line 2"},
        {"names = a, b", "x.conf:1: unexpected token ','; expected: name = value, or section { ... "
                         "}; a value with blanks, commas"},
        {"names = {a", "x.conf:1: premature end of file; expected a quote or brace that closes"},
        {"fault x { }", "x.conf:1: missing opening brace for section 'fault'; expected: section { "
                        "... }; this one has no name"},
        {"seed = 3\nnames = { }", "x.conf:2: an empty list; expected names, or no such option"},
        {"names = {\n\n}", "x.conf:3: an empty list"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sim_conf conf;
        if (parse(&conf, cases[i].text) != GMC_ERR_INVALID ||
            strncmp(conf.error, cases[i].words, strlen(cases[i].words)) != 0)
            fail_msg("'%s' gives: %s", cases[i].text, conf.error);
        sim_conf_fini(&conf);
    }
}

static void test_values(void **state)
{
    static const struct {
        enum sim_conf_type type;
        const char *text;
        int64_t number; /* -1: none */
    } cases[] = {
        {SIM_CONF_RATE, "100Mbit", 100000000},
        {SIM_CONF_RATE, "100 Mbit/s", 100000000},
        {SIM_CONF_RATE, "100Mbps", 100000000},
        {SIM_CONF_RATE, "2.5Gb/s", 2500000000},
        {SIM_CONF_RATE, "0", 0},
        {SIM_CONF_RATE, "100", -1},
        {SIM_CONF_RATE, "100MB", -1},
        {SIM_CONF_RATE, "-1Mbit", -1},
        {SIM_CONF_RATE, "99999999999999Tbit", -1},
        {SIM_CONF_DURATION, "15ms", 15000000},
        {SIM_CONF_DURATION, "0.000001s", 1000},
        {SIM_CONF_DURATION, "1.5 min", 90000000000},
        {SIM_CONF_DURATION, "1.1234567s", -1},
        {SIM_CONF_DURATION, "1.s", -1},
        {SIM_CONF_DURATION, "", -1},
        {SIM_CONF_SIZE, "64KiB", 65536},
        {SIM_CONF_SIZE, "0.5KiB", 512},
        {SIM_CONF_SIZE, "1GB", 1000000000},
        {SIM_CONF_SIZE, "1500", 1500},
        {SIM_CONF_SIZE, "1500 bytes", -1},
        {SIM_CONF_SHARE, "1%", 10000},
        {SIM_CONF_SHARE, "0.05%", 500},
        {SIM_CONF_SHARE, "300ppm", 300},
        {SIM_CONF_SHARE, "1", -1},
        {SIM_CONF_DRIFT, "-20ppm", -20000},
        {SIM_CONF_DRIFT, "--20ppm", -1},
        {SIM_CONF_SWITCH, "yes", 1},
        {SIM_CONF_SWITCH, "true", -1},
        {SIM_CONF_NUMBER, "7.0", -1},
        {SIM_CONF_NUMBER, "9223372036854775807", -1},
        {SIM_CONF_NUMBER, "99999999999999999999", -1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sim_conf_option option = {"x", cases[i].type, 0, 0, NULL};
        int64_t number = -1;
        bool means = sim_conf_meaning(&option, cases[i].text, &number);
        if (means != (cases[i].number != -1) || number != cases[i].number)
            fail_msg("'%s' means %" PRId64, cases[i].text, number);
    }
}

static void test_queues(void **state)
{
    struct sim_conf_queue queue;
    double number;
    (void)state;
    assert_true(sim_conf_queue_meaning("100 packets", &queue));
    assert_int_equal(queue.packets, 100);
    assert_true(sim_conf_queue_meaning("1packet", &queue));
    assert_int_equal(queue.packets, 1);
    assert_true(sim_conf_queue_meaning("50ms", &queue));
    assert_true(queue.duration == 50000000 && queue.packets == 0 && queue.bytes == 0);
    assert_true(sim_conf_queue_meaning("64KiB", &queue));
    assert_int_equal(queue.bytes, 65536);
    assert_false(sim_conf_queue_meaning("1.5packets", &queue));
    assert_false(sim_conf_queue_meaning("full", &queue));
    assert_true(sim_conf_real_meaning("-13.5", &number));
    assert_true(number == -13.5);
    assert_false(sim_conf_real_meaning("0x10", &number));
    assert_false(sim_conf_real_meaning("1e999", &number));
    assert_false(sim_conf_real_meaning("inf", &number));
    assert_false(sim_conf_real_meaning("", &number));
}

static void test_set(void **state)
{
    static const char *const wrong[] = {
        "seed",        "sede=3",        "seed=0",        "wire.w.rate=1", "wire.v.loss=1%",
        "fault.at=1s", "fault.3.at=1s", "fault.0.at=1s", "only.at=1s",    "wire.w.speed=1",
        "=1",          "...=1",         "names="};
    static const struct {
        const char *text, *words;
    } said[] = {
        {"wires.rate=1Mbit", "'wires.rate=1Mbit' cannot be set: no section is called so"},
        {"wire.v.loss=1%", "'wire.v.loss=1%' cannot be set: no such section stands in the file"},
        {"fault.at=1s", "'fault.at=1s' cannot be set: several such sections stand in the file; "
                        "expected section.number.name=value"},
        {"wire.w.speed=1", "'wire.w.speed=1' cannot be set: no option there has this name; there "
                           "are: rate, loss,"},
    };
    struct sim_conf conf;
    (void)state;
    assert_int_equal(parse(&conf, "seed = 3 names = {z} wire w { rate = 1Mbit }\n"
                                  "fault { at = 1s } fault { at = 2s }"),
                     GMC_OK);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        conf.error[0] = '\0';
        if (sim_conf_set(&conf, wrong[i]) == GMC_OK || conf.error[0] == '\0')
            fail_msg("'%s' was set", wrong[i]);
    }
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
        conf.error[0] = '\0';
        if (sim_conf_set(&conf, said[i].text) == GMC_OK ||
            strncmp(conf.error, said[i].words, strlen(said[i].words)) != 0)
            fail_msg("'%s' gives: %s", said[i].text, conf.error);
    }
    conf.error[0] = '\0';
    assert_int_equal(sim_conf_set(&conf, "seed=4"), GMC_OK);
    assert_int_equal(sim_conf_set(&conf, "names=a,b"), GMC_OK);
    assert_int_equal(sim_conf_set(&conf, "wire.w.rate=2Mbit"), GMC_OK);
    assert_int_equal(sim_conf_set(&conf, "wire.loss=3%"), GMC_OK);
    assert_int_equal(sim_conf_set(&conf, "fault.2.at=5s"), GMC_OK);
    assert_int_equal(sim_conf_number(&conf.parts[0], "seed", 0), 4);
    assert_int_equal(sim_conf_value(&conf.parts[0], "names")->count, 2);
    const struct sim_conf_part *part = sim_conf_titled(&conf, "wire", "w");
    assert_int_equal(sim_conf_number(part, "rate", 0), 2000000);
    assert_int_equal(sim_conf_number(part, "loss", 0), 30000);
    assert_int_equal(sim_conf_number(sim_conf_part(&conf, "fault", 1), "at", 0), GMC_S(5));
    sim_conf_fini(&conf);
}

static void test_files(void **state)
{
    struct sim_conf conf;
    (void)state;
    assert_int_equal(sim_conf_read(&conf, "/nonexistent/x", sections, SECTIONS), GMC_ERR_IO);
    assert_string_equal(conf.error, "/nonexistent/x: cannot be read: No such file or directory");
    sim_conf_fini(&conf);
    assert_int_equal(sim_conf_read(&conf, "/", sections, SECTIONS), GMC_ERR_IO);
    sim_conf_fini(&conf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),  cmocka_unit_test(test_errors), cmocka_unit_test(test_values),
        cmocka_unit_test(test_queues), cmocka_unit_test(test_set),    cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
