/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs of scenarios: that what a scenario says happens, and what its summary then says. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim-wan/run/drive.h"
#include "tests/lib/unit.h"

/* Two receivers on wires of their own: 10 Mbit/s, so that 1 MB takes 0.8 s and a little. */
#define COLD                                                                                       \
    "nodes = {s, a, b} limit = 60s patience = 5s\n"                                                \
    "wire w { rate = 10Mbit delay = 5ms queue = 50ms }\n"                                          \
    "link { between = {s, a} wire = w } link { between = {s, b} wire = w }\n"
#define NET COLD "warm-up = yes\n"
#define TRANSFER "transfer t { from = s size = 1MB tree = flat }\n"

/* Reads, runs, and gives the summary. */
static json_t *summary_of_seed(const char *text, uint64_t seed)
{
    char path[] = "/tmp/drive-XXXXXX", error[SIM_CONF_ERROR_MAX] = "";
    int fd = mkstemp(path);
    struct sim_plan plan;
    struct sim_run run;
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    gmc_status status = sim_plan_read(&plan, path, NULL, 0, error);
    unlink(path);
    if (status != GMC_OK)
        fail_msg("%s", error);
    sim_run_init(&run, &plan, seed);
    assert_int_equal(sim_run_go(&run), GMC_OK);
    json_t *summary = sim_run_summary(&run);
    sim_run_fini(&run);
    sim_plan_fini(&plan);
    json_object_del(summary, "scenario"); /* a temporary name */
    json_object_del(summary, "title");
    return summary;
}

static json_t *summary_of(const char *text)
{
    return summary_of_seed(text, 1);
}

static double number(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    if (!json_is_number(value))
        fail_msg("%s is no number", name);
    return json_number_value(value);
}

static const json_t *row(const json_t *summary, const char *list, const char *key,
                         const char *value)
{
    const json_t *rows = json_object_get(summary, list), *found;
    for (size_t i = 0; (found = json_array_get(rows, i)) != NULL; i++)
        if (strcmp(json_string_value(json_object_get(found, key)), value) == 0)
            return found;
    fail_msg("no %s '%s' in %s", key, value, list);
    return NULL;
}

static bool is_complete(const json_t *summary)
{
    assert_true(number(summary, "violations") == 0);
    return json_is_true(json_object_get(summary, "complete"));
}

static void test_plain(void **state)
{
    json_t *summary = summary_of(NET TRANSFER);
    (void)state;
    assert_true(is_complete(summary));
    double seconds = number(summary, "completion_seconds");
    assert_true(seconds > 0.8 && seconds < 1.1);
    assert_true(number(summary, "limit_seconds") == 0.8);
    assert_true(number(summary, "ratio") == 0.8 / seconds);
    /* The run stops at the last end; what went over wires in the warm-up does not count. */
    assert_true(number(summary, "simulated_seconds") == seconds);
    const json_t *wire = row(summary, "wires", "to", "a");
    assert_true(number(wire, "bytes") > 1000000 && number(wire, "bytes") < 1200000);
    assert_true(number(wire, "utilisation") > 0.75 && number(wire, "utilisation") < 1.001);
    assert_string_equal(json_string_value(
                            json_object_get(row(summary, "tree_links", "child", "b"), "parent")),
                        "s");
    const json_t *domain = row(summary, "domains", "domain", "b");
    assert_string_equal(json_string_value(json_object_get(domain, "state")), "verified");
    assert_true(number(domain, "seconds") <= seconds);
    json_decref(summary);
}

/* Links of which the line of their coming up was seen after the scenario's clock had begun. */
struct late_links {
    const struct sim_run *run;
    char names[32][2][32]; /* from, to */
    size_t count;
};

static void note_link(void *ctx, const char *line)
{
    struct late_links *late = ctx;
    char(*names)[32] = late->names[late->count];
    if (late->run->is_begun && late->count < 32 &&
        sscanf(line, "%*s %31s link to %31s is up", names[0], names[1]) == 2)
        late->count++;
}

/* Where uplinks are known the tree of an object is not that of the byte of the warm-up; its links
 * are up nevertheless when the scenario begins. */
static void test_trees_are_warm(void **state)
{
    char error[SIM_CONF_ERROR_MAX] = "", path[] = "/tmp/drive-XXXXXX";
    static const char text[] = "topology { family = \"star:5\" rate = 100Mbit delay = 15ms }\n"
                               "gateways = {n1, n2, n3, n4, n5} warm-up = yes uplinks = wires\n"
                               "transfer t { from = n1 size = 20MB }\n";
    struct sim_plan plan;
    struct sim_run run;
    struct late_links late = {.run = &run};
    int fd = mkstemp(path);
    (void)state;
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    assert_int_equal(sim_plan_read(&plan, path, NULL, 0, error), GMC_OK);
    unlink(path);
    sim_run_init(&run, &plan, 1);
    run.line = note_link;
    run.line_ctx = &late;
    assert_int_equal(sim_run_go(&run), GMC_OK);
    json_t *summary = sim_run_summary(&run);
    assert_true(is_complete(summary));
    assert_true(number(row(summary, "transfers", "name", "t"), "first_wire") < 1.2); /* a chain */
    for (size_t i = 0; i < late.count; i++)
        assert_string_not_equal(json_string_value(json_object_get(row(summary, "tree_links",
                                                                      "child", late.names[i][1]),
                                                                  "parent")),
                                late.names[i][0]);
    json_decref(summary);
    sim_run_fini(&run);
    sim_plan_fini(&plan);
}

/* The source's own children too, and after they have left. */
static void test_repairs(void **state)
{
    json_t *summary = summary_of(NET "node c { } link { between = {a, c} wire = w }\n"
                                     "transfer t { from = s size = 1MB tree = eco }\n"
                                     "fault { what = wire between = {s, a} at = 0 loss = 5% }\n"
                                     "fault { what = wire between = {a, c} at = 0 loss = 5% }\n");
    (void)state;
    assert_true(is_complete(summary));
    assert_true(number(row(summary, "tree_links", "child", "a"), "repairs") > 10);
    assert_true(number(row(summary, "tree_links", "child", "b"), "repairs") == 0);
    assert_true(number(row(summary, "tree_links", "child", "c"), "repairs") > 10);
    json_decref(summary);
}

/* What a fault or a property does to the time of completion. */
static void test_times(void **state)
{
    static const struct {
        const char *text;
        double least, most; /* seconds; 0: it is never complete */
    } cases[] = {
        {"fault { what = wire-down between = {s, a} at = 200ms for = 3s }", 3.2, 12},
        {"fault { what = wire-down between = {s, a} at = 200ms for = 3s one-way = yes }", 3.2, 12},
        {"fault { what = wire between = {s, b} at = 0 rate = 2Mbit queue = 50ms }", 4, 5.5},
        {"fault { what = wire between = {s, b} at = 400ms for = 1s rate = 1Mbit }", 1.6, 2.6},
        {"fault { what = wire between = {b, s} at = 0 rate = 2Mbit one-way = yes }", 0.8, 1.3},
        {"fault { what = kill node = a at = 300ms for = 2s }", 2.3, 10},
        {"fault { what = power node = a at = 300ms for = 2s }", 2.3, 12},
        {"fault { what = freeze node = a at = 300ms for = 2s }", 2.3, 10},
        {"fault { what = kill node = a at = 300ms }", 0, 0},
        {"fault { what = disk-full node = a at = 300ms }", 0, 0},
        {"fault { what = disk-stall node = a at = 300ms for = 2s }", 2.3, 6},
        {"fault { what = disk node = a at = 0 disk-rate = 4Mbit }", 2, 10},
        {"fault { what = block-udp between = {s, a} at = 0 }", 0.8, 12},
        {"gateway a { disk-rate = 4Mbit }", 2, 10},
        {"traffic x { from = s to = b rate = 5Mbit }", 1.0, 4},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[1024];
        snprintf(text, sizeof(text), NET TRANSFER "%s\n", cases[i].text);
        json_t *summary = summary_of(text);
        bool complete = is_complete(summary);
        double seconds = complete ? number(summary, "completion_seconds") : 0;
        if (complete != (cases[i].most > 0) || seconds < cases[i].least || seconds > cases[i].most)
            fail_msg("%s: %g s", cases[i].text, seconds);
        json_decref(summary);
    }
}

/* Times of a loss trace are on the scenario's clock, as all times. */
static void test_loss_times(void **state)
{
    char trace[] = "/tmp/drive-XXXXXX", text[512];
    int fd = mkstemp(trace);
    (void)state;
    assert_true(fd >= 0 && write(fd, "times 10\n0.5\n", 13) == 13);
    close(fd);
    for (int tenths = 4; tenths <= 6; tenths += 2) {
        snprintf(text, sizeof(text),
                 "nodes = {s, b} limit = %d00ms settle = 2s\n"
                 "link { between = {s, b} rate = 10Mbit loss-trace = \"%s\" }\n"
                 "traffic x { from = s to = b rate = 1Mbit packet = 1250 }\n",
                 tenths, trace);
        json_t *summary = summary_of(text);
        assert_true(number(row(summary, "wires", "to", "b"), "dropped_loss") == (tenths > 5));
        json_decref(summary);
    }
    unlink(trace);
}

/* Traffic is named, and what arrived of it is a rate over its own time. */
static void test_traffic(void **state)
{
    json_t *summary =
        summary_of("nodes = {s, b} limit = 4s link { between = {s, b} rate = 10Mbit }\n"
                   "traffic x { from = s to = b rate = 1Mbit at = 1s for = 2s }\n"
                   "traffic y { from = b to = s kind = cubic at = 2s }\n");
    const json_t *x = row(summary, "traffic", "name", "x"),
                 *y = row(summary, "traffic", "name", "y");
    (void)state;
    assert_string_equal(json_string_value(json_object_get(x, "kind")), "cbr");
    assert_string_equal(json_string_value(json_object_get(y, "kind")), "cubic");
    assert_true(fabs(number(x, "received_bps") - 1e6) < 1e4);
    assert_true(number(y, "received_bps") > 9e6 && number(y, "received_bps") < 10e6);
    json_decref(summary);
}

/* What waits on a wire that a fault makes faster goes out faster; and where one fault begins when
 * another ends, both do what they say. */
static void test_wire_changes(void **state)
{
    (void)state;
    json_t *summary =
        summary_of("nodes = {s, b} limit = 1200ms link { between = {s, b} rate = 1Mbit }\n"
                   "traffic x { from = s to = b rate = 5Mbit packet = 1250 for = 1s }\n"
                   "fault { what = wire between = {s, b} at = 1s rate = 100Mbit }\n");
    const json_t *x = row(summary, "traffic", "name", "x");
    assert_true(number(x, "sent_packets") > 490);
    assert_true(number(x, "received_packets") == number(x, "sent_packets"));
    json_decref(summary);
    summary = summary_of("nodes = {s, b} limit = 4s link { between = {s, b} rate = 10Mbit }\n"
                         "traffic x { from = s to = b rate = 1Mbit packet = 1250 }\n"
                         "fault { what = wire between = {s, b} for = 1s loss = 100% }\n"
                         "fault { what = wire between = {s, b} at = 1s for = 1s loss = 50% }\n");
    assert_in_range(number(row(summary, "wires", "to", "b"), "dropped_loss"), 120, 180);
    json_decref(summary);
}

/* Sessions and datagrams find out what a path takes. */
static void test_small_packets(void **state)
{
    (void)state;
    json_t *summary = summary_of("nodes = {s, a} routers = {r} limit = 60s\n"
                                 "wire w { rate = 10Mbit delay = 5ms queue = 50ms }\n"
                                 "link { between = {s, r} wire = w mtu = 1400 }\n"
                                 "link { between = {r, a} wire = w mtu = 600 }\n" TRANSFER);
    assert_true(is_complete(summary));
    assert_true(number(summary, "completion_seconds") < 5);
    json_decref(summary);
}

/* A disk that answers nothing does so whatever becomes of the gateway. */
static void test_stalled_disk(void **state)
{
    static const char *const others[] = {"fault { what = kill node = a at = 300ms for = 100ms }",
                                         "fault { what = freeze node = a at = 300ms for = 100ms }"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char text[512];
        snprintf(text, sizeof(text), "%s%s%s\n%s", NET, TRANSFER,
                 "fault { what = disk-stall node = a at = 200ms for = 3s }", others[i]);
        json_t *summary = summary_of(text);
        assert_true(is_complete(summary));
        assert_true(number(row(summary, "domains", "domain", "a"), "seconds") > 3.2);
        assert_true(number(row(summary, "domains", "domain", "b"), "seconds") < 1.2);
        json_decref(summary);
    }
}

/* The times of domains are those of the transfer, also when its source was started anew, and its
 * clock runs as it likes. */
static void test_domain_times(void **state)
{
    (void)state;
    json_t *summary =
        summary_of(NET TRANSFER "gateway s { clock-drift = 900ppm }\n"
                                "fault { what = kill node = s at = 500ms for = 2s }\n");
    assert_true(is_complete(summary));
    double last = 0, end = number(summary, "completion_seconds");
    for (const char *name = "ab"; *name != '\0'; name++) {
        double seconds =
            number(row(summary, "domains", "domain", (char[]){*name, '\0'}), "seconds");
        assert_true(seconds > 2.5);
        last = seconds > last ? seconds : last;
    }
    assert_true(last == end);
    json_decref(summary);
}

static void test_failed(void **state)
{
    json_t *summary = summary_of(NET TRANSFER "fault { what = disk-full node = a at = 300ms }\n");
    const json_t *domain = row(summary, "domains", "domain", "a");
    (void)state;
    assert_true(json_is_null(json_object_get(summary, "completion_seconds")));
    assert_true(json_is_null(json_object_get(summary, "ratio")));
    assert_string_equal(json_string_value(json_object_get(domain, "state")), "failed");
    assert_non_null(strstr(json_string_value(json_object_get(domain, "reason")), "full"));
    domain = row(summary, "domains", "domain", "b");
    assert_string_equal(json_string_value(json_object_get(domain, "state")), "verified");
    json_decref(summary);
}

/* What targets have is told where the source's gateway is gone. */
static void test_source_is_gone(void **state)
{
    json_t *summary = summary_of(NET TRANSFER "fault { what = kill node = s at = 500ms }\n");
    (void)state;
    for (const char *name = "ab"; *name != '\0'; name++) {
        const json_t *domain = row(summary, "domains", "domain", (char[]){*name, '\0'});
        assert_string_equal(json_string_value(json_object_get(domain, "state")), "unknown");
        assert_in_range(number(domain, "bytes"), 100000, 999999);
        assert_true(json_is_null(json_object_get(domain, "seconds")));
    }
    json_decref(summary);
}

static void test_order(void **state)
{
    json_t *summary =
        summary_of(NET "transfer late { from = a to = {s} size = 500KB after = early at = 1s }\n"
                       "transfer early { from = s size = 1MB at = 2s }\n");
    const json_t *early = row(summary, "transfers", "name", "early");
    const json_t *late = row(summary, "transfers", "name", "late");
    (void)state;
    assert_true(is_complete(summary));
    assert_true(number(early, "start_seconds") == 2);
    double end = 2 + number(early, "completion_seconds");
    double gap = number(late, "start_seconds") - end;
    assert_true(gap > 0.9999999 && gap < 1.0000001);
    /* From the first start: 0.8 s, a second, 0.4 s. */
    double limit = number(summary, "limit_seconds");
    assert_true(limit > 2.1999999 && limit < 2.2000001);
    json_decref(summary);
}

/* Routers have no gateway, and what is in the background is counted. */
static void test_background(void **state)
{
    json_t *summary = summary_of("nodes = {s, a} routers = {r, q} limit = 10s\n"
                                 "wire w { rate = 10Mbit delay = 5ms queue = 50ms }\n"
                                 "link { between = {s, r} wire = w }\n"
                                 "link { between = {r, a} wire = w }\n"
                                 "link { between = {r, q} wire = w loss = 10% }\n"
                                 "traffic x { from = q to = s rate = 1.2Mbit at = 1s for = 5s }\n");
    const json_t *traffic = json_array_get(json_object_get(summary, "traffic"), 0);
    (void)state;
    assert_true(is_complete(summary)); /* there is no transfer that is not */
    assert_true(number(summary, "simulated_seconds") == 10);
    assert_true(number(traffic, "sent_packets") >= 499);
    assert_true(number(traffic, "sent_packets") <= 500);
    double received = number(traffic, "received_packets");
    assert_true(received > 400 && received < 490);
    assert_true(number(row(summary, "wires", "from", "q"), "dropped_loss") ==
                number(traffic, "sent_packets") - received);
    json_decref(summary);
}

static double part_of_tcp(const char *words, uint64_t seed)
{
    json_t *summary = summary_of_seed(words, seed);
    double tcp = number(json_array_get(json_object_get(summary, "traffic"), 0), "received_bytes");
    double all = number(row(summary, "wires", "from", "s"), "bytes");
    json_decref(summary);
    return tcp / all;
}

/* Beside a TCP: a transfer takes its part, one of the background leaves nine tenths. With a queue
 * of ten packets it is a matter of chance which of the two meets it full: three runs. */
static void test_beside_tcp(void **state)
{
    static const char *const laws[] = {"cubic", "bbr"};
    static const char *const queues[] = {"50ms", "10packets"};
    (void)state;
    for (int i = 0; i < 8; i++) {
        char words[400];
        bool background = i >= 4;
        snprintf(words, sizeof(words),
                 "nodes = {s, a} warm-up = yes limit = 40s\n"
                 "link { between = {s, a} rate = 100Mbit delay = 15ms queue = %s }\n"
                 "transfer x { from = s size = 1GB at = 2s background = %s }\n"
                 "traffic t { from = s to = a kind = %s }\n",
                 queues[i / 2 % 2], background ? "yes" : "no", laws[i % 2]);
        uint64_t seeds = !background && i / 2 % 2 == 1 ? 3 : 1;
        double part = 0;
        for (uint64_t seed = 1; seed <= seeds; seed++)
            part += part_of_tcp(words, seed) / (double)seeds;
        if (background ? part < 0.9 : part < 0.3 || part > 0.7)
            fail_msg("TCP's part is %.3f: %s", part, words);
    }
}

static double latency(const json_t *summary, const char *domain, const char *which)
{
    return number(row(summary, "subscribers", "domain", domain), which) * 1e3;
}

/* Messages alone take what the wires delay them, b behind a; beside an object that fills the wires
 * hardly more. */
static void test_messages(void **state)
{
#define TALK                                                                                       \
    "nodes = {s, a, b} warm-up = yes limit = 60s\n"                                                \
    "wire w { rate = 100Mbit delay = 15ms queue = 50ms }\n"                                        \
    "link { between = {s, a} wire = w } link { between = {a, b} wire = w }\n"                      \
    "channel alarms { from = s every = 1ms size = 256 at = 500ms for = 4s }\n"
    json_t *alone = summary_of(TALK), *beside = summary_of(TALK "transfer t { from = s size = "
                                                                "100MB }");
    (void)state;
    assert_true(is_complete(alone) && is_complete(beside));
    const json_t *channel = row(alone, "channels", "name", "alarms");
    assert_true(number(channel, "sent") == 4000 && number(channel, "held") == 0);
    assert_true(number(channel, "start_seconds") == 0.5);
    assert_true(number(alone, "simulated_seconds") < 4.7);
    for (int i = 0; i < 2; i++) {
        const json_t *summary = i == 0 ? alone : beside;
        const json_t *last = row(summary, "subscribers", "domain", "b");
        assert_true(number(last, "delivered") == 4000 && number(last, "lost") == 0);
        assert_true(number(last, "gaps") == 0);
        assert_string_equal(json_string_value(json_object_get(last, "parent")), "a");
        printf("256 B over 15 and 30 ms, %s: median %.2f and %.2f ms, 99 %% %.2f and %.2f ms\n",
               i == 0 ? "alone" : "beside bulk", latency(summary, "a", "latency_median_seconds"),
               latency(summary, "b", "latency_median_seconds"),
               latency(summary, "a", "latency_p99_seconds"),
               latency(summary, "b", "latency_p99_seconds"));
    }
    assert_true(latency(alone, "b", "latency_max_seconds") < 31);
    assert_true(latency(alone, "a", "latency_median_seconds") > 15);
    for (int wires = 1; wires <= 2; wires++) {
        const char *domain = wires == 1 ? "a" : "b";
        assert_true(latency(beside, domain, "latency_median_seconds") <
                    latency(alone, domain, "latency_median_seconds") + 2 * wires);
    }
    assert_true(number(row(beside, "transfers", "name", "t"), "ratio") > 0.85);
    json_decref(alone);
    json_decref(beside);
}

/* What comes of channels on a wire that carries a fifth of what is said. */
static void test_slow_messages(void **state)
{
    json_t *summary = summary_of("nodes = {s, a} warm-up = yes limit = 60s\n"
                                 "link { between = {s, a} rate = 1Mbit delay = 5ms queue = 50ms }\n"
                                 "channel news { from = s rate = 5Mbit for = 10s order = "
                                 "latest }\n");
    const json_t *row_of = row(summary, "subscribers", "domain", "a");
    (void)state;
    assert_true(is_complete(summary)); /* what was overtaken is not missed */
    assert_true(number(row_of, "delivered") > 500 && number(row_of, "lost") > 3000);
    assert_true(number(row_of, "gaps") > 300);
    assert_true(latency(summary, "a", "latency_median_seconds") < 100);
    json_decref(summary);
    /* Nothing is lost of these: their publisher waits, which is in the latencies. */
    summary = summary_of("nodes = {s, a} warm-up = yes limit = 60s\n"
                         "link { between = {s, a} rate = 10Mbit delay = 5ms queue = 50ms }\n"
                         "channel all { from = s rate = 50Mbit size = 100KB for = 3s order = "
                         "unordered }\n");
    row_of = row(summary, "subscribers", "domain", "a");
    assert_true(is_complete(summary));
    assert_true(number(row(summary, "channels", "name", "all"), "held") > 10);
    assert_true(number(row_of, "delivered") == 188 && number(row_of, "lost") == 0);
    assert_true(latency(summary, "a", "latency_max_seconds") > 10000);
    json_decref(summary);
}

/* A publisher that dies, and a subscriber that is away for a while. */
static void test_channel_faults(void **state)
{
    json_t *summary = summary_of(NET "channel c { from = s every = 10ms for = 5s }\n"
                                     "fault { what = kill node = s at = 2s for = 1s }\n");
    const json_t *channel = row(summary, "channels", "name", "c");
    (void)state;
    assert_false(is_complete(summary));
    assert_string_equal(json_string_value(json_object_get(channel, "state")), "failed");
    assert_string_equal(json_string_value(json_object_get(channel, "reason")),
                        "the gateway of its source is down");
    assert_true(number(channel, "sent") == 200);
    json_decref(summary);
    summary = summary_of(NET "channel c { from = s every = 10ms for = 5s }\n"
                             "fault { what = wire-down between = {s, a} at = 2s for = 1s }\n");
    assert_true(is_complete(summary));
    assert_true(number(row(summary, "subscribers", "domain", "a"), "lost") == 0);
    assert_true(latency(summary, "a", "latency_max_seconds") > 1000);
    assert_true(latency(summary, "b", "latency_max_seconds") < 10);
    json_decref(summary);
    summary = summary_of(NET "channel c { from = s every = 10ms for = 5s }\n"
                             "fault { what = freeze node = s at = 2s for = 1s }\n");
    assert_true(is_complete(summary));
    double longest = latency(summary, "b", "latency_max_seconds");
    assert_true(longest > 1000 && longest < 1100);
    json_decref(summary);
}

/* Without a length messages end with the transfer; without a warm-up they begin when the channel
 * takes them. */
static void test_channel_ends(void **state)
{
    json_t *summary = summary_of(NET TRANSFER "channel c { from = a every = 10ms at = 200ms }\n");
    (void)state;
    assert_true(is_complete(summary));
    double spent = number(summary, "completion_seconds");
    const json_t *channel = row(summary, "channels", "name", "c");
    assert_in_range(number(channel, "sent"), (spent - 0.2) * 100, (spent - 0.2) * 100 + 1);
    assert_true(number(channel, "end_seconds") > spent);
    json_decref(summary);
    summary = summary_of(COLD "channel c { from = a every = 10ms for = 1s }\n");
    assert_true(is_complete(summary));
    channel = row(summary, "channels", "name", "c");
    assert_true(number(channel, "sent") == 100 && number(channel, "start_seconds") > 0.005);
    json_decref(summary);
}

static void test_again(void **state)
{
    const char *text = NET TRANSFER "fault { what = kill node = a at = 300ms for = 1s }\n"
                                    "traffic x { from = s to = b rate = 3Mbit kind = poisson }\n"
                                    "channel c { from = b every = 3ms order = latest }\n";
    json_t *first = summary_of(text), *second = summary_of(text);
    (void)state;
    assert_true(json_equal(first, second));
    json_decref(first);
    json_decref(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),         cmocka_unit_test(test_trees_are_warm),
        cmocka_unit_test(test_repairs),       cmocka_unit_test(test_times),
        cmocka_unit_test(test_failed),        cmocka_unit_test(test_wire_changes),
        cmocka_unit_test(test_small_packets), cmocka_unit_test(test_stalled_disk),
        cmocka_unit_test(test_domain_times),  cmocka_unit_test(test_source_is_gone),
        cmocka_unit_test(test_loss_times),    cmocka_unit_test(test_traffic),
        cmocka_unit_test(test_order),         cmocka_unit_test(test_background),
        cmocka_unit_test(test_beside_tcp),    cmocka_unit_test(test_messages),
        cmocka_unit_test(test_slow_messages), cmocka_unit_test(test_channel_faults),
        cmocka_unit_test(test_channel_ends),  cmocka_unit_test(test_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
