/* SPDX-License-Identifier: BSD-2-Clause */
/* What recorders write, to the letter, of traffic that no protocol is part of. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim-wan/run/drive.h"
#include "sim-wan/run/ip_head.h"
#include "sim-wan/run/series.h"
#include "sim-wan/tcp_internal.h"
#include "tests/lib/unit.h"

/* Two hosts and a router; the second wire has half the rate and room for two packets. */
static const char scenario[] =
    "nodes = {a, b} routers = {r} settle = 0ms limit = 9ms clocks = exact\n"
    "link { between = {a, r} rate = 8Mbit delay = 1ms queue = 1700B }\n"
    "link { between = {r, b} rate = 4Mbit delay = 2ms queue = 2packets }\n"
    "traffic x { from = a to = b rate = 8Mbit packet = 1000B ecn = yes }\n"
    "record { every = 4ms }\n";

static char folder[64];

static int enter_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/gmc-record-XXXXXX");
    return mkdtemp(folder) != NULL ? chdir(folder) : -1;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *ftw)
{
    (void)info;
    (void)type;
    (void)ftw;
    return remove(path);
}

static int leave_folder(void **state)
{
    (void)state;
    return chdir("/") != 0 || nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS) != 0;
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* All of a file, with a zero behind; to be given back. */
static char *read_bytes(const char *path, size_t *len)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        fail_msg("%s is not there", path);
    char *bytes = calloc(1, 1 << 20);
    assert_non_null(bytes);
    *len = fread(bytes, 1, (1 << 20) - 1, file);
    fclose(file);
    return bytes;
}

static void assert_text(const char *path, const char *expected)
{
    size_t len;
    char *text = read_bytes(path, &len);
    assert_string_equal(text, expected);
    free(text);
}

/* Runs the scenario with one recorder; words of what failed, or "". */
static const char *record(const char *text, const char *name, const char *target)
{
    static char error[SIM_CONF_ERROR_MAX];
    struct sim_plan plan;
    struct sim_run run;
    char set[128];
    snprintf(set, sizeof(set), "record.%s=%s", name, target);
    const char *sets[] = {set};
    error[0] = '\0';
    write_text("scenario.conf", text);
    gmc_status status = sim_plan_read(&plan, "scenario.conf", sets, 1, error);
    if (status != GMC_OK)
        fail_msg("%s", error);
    sim_run_init(&run, &plan, 1);
    run.records = true;
    if (sim_run_go(&run) != GMC_OK)
        snprintf(error, sizeof(error), "%s", run.error);
    sim_run_fini(&run);
    sim_plan_fini(&plan);
    return error;
}

/* ---- ns ---- */
static void test_ns(void **state)
{
    (void)state;
    assert_string_equal(record(scenario, "ns", "out.tr"), "");
    assert_text("out.tr", "+ 0.001000000 0 2 cbr 1000 ------N 0 0.0 1.0 -1 0\n"
                          "- 0.001000000 0 2 cbr 1000 ------N 0 0.0 1.0 -1 0\n"
                          "+ 0.002000000 0 2 cbr 1000 ------N 0 0.0 1.0 -1 1\n"
                          "- 0.002000000 0 2 cbr 1000 ------N 0 0.0 1.0 -1 1\n"
                          "r 0.003000000 0 2 cbr 1000 ------N 0 0.0 1.0 -1 0\n"
                          "+ 0.003000000 2 1 cbr 1000 ------N 0 0.0 1.0 -1 0\n"
                          "+ 0.003000000 0 2 cbr 1000 ------N 0 0.0 1.0 -1 2\n"
                          "- 0.003000000 0 2 cbr 1000 ------N 0 0.0 1.0 -1 2\n"
                          "- 0.003000000 2 1 cbr 1000 ------N 0 0.0 1.0 -1 0\n"
                          "r 0.004000000 0 2 cbr 1000 ------N 0 0.0 1.0 -1 1\n"
                          "+ 0.004000000 2 1 cbr 1000 ------N 0 0.0 1.0 -1 1\n"
                          "+ 0.004000000 0 2 cbr 1000 ------N 0 0.0 1.0 -1 3\n"
                          "- 0.004000000 0 2 cbr 1000 ------N 0 0.0 1.0 -1 3\n"
                          "r 0.005000000 0 2 cbr 1000 ------N 0 0.0 1.0 -1 2\n"
                          "+ 0.005000000 2 1 cbr 1000 ------N 0 0.0 1.0 -1 2\n"
                          "+ 0.005000000 0 2 cbr 1000 ------N 0 0.0 1.0 -1 4\n"
                          "- 0.005000000 0 2 cbr 1000 ------N 0 0.0 1.0 -1 4\n"
                          "- 0.005000000 2 1 cbr 1000 ------N 0 0.0 1.0 -1 1\n"
                          "r 0.006000000 0 2 cbr 1000 ------N 0 0.0 1.0 -1 3\n"
                          "+ 0.006000000 2 1 cbr 1000 ------N 0 0.0 1.0 -1 3\n"
                          "d 0.006000000 2 1 cbr 1000 ------N 0 0.0 1.0 -1 3\n"
                          "+ 0.006000000 0 2 cbr 1000 ------N 0 0.0 1.0 -1 5\n"
                          "- 0.006000000 0 2 cbr 1000 ------N 0 0.0 1.0 -1 5\n"
                          "r 0.007000000 2 1 cbr 1000 ------N 0 0.0 1.0 -1 0\n"
                          "r 0.007000000 0 2 cbr 1000 ------N 0 0.0 1.0 -1 4\n"
                          "+ 0.007000000 2 1 cbr 1000 ------N 0 0.0 1.0 -1 4\n"
                          "+ 0.007000000 0 2 cbr 1000 ------N 0 0.0 1.0 -1 6\n"
                          "- 0.007000000 0 2 cbr 1000 ------N 0 0.0 1.0 -1 6\n"
                          "r 0.008000000 0 2 cbr 1000 ------N 0 0.0 1.0 -1 5\n"
                          "+ 0.008000000 2 1 cbr 1000 ------N 0 0.0 1.0 -1 5\n"
                          "d 0.008000000 2 1 cbr 1000 ------N 0 0.0 1.0 -1 5\n"
                          "+ 0.008000000 0 2 cbr 1000 ------N 0 0.0 1.0 -1 7\n"
                          "r 0.009000000 2 1 cbr 1000 ------N 0 0.0 1.0 -1 1\n"
                          "r 0.009000000 0 2 cbr 1000 ------N 0 0.0 1.0 -1 6\n"
                          "+ 0.009000000 2 1 cbr 1000 ------N 0 0.0 1.0 -1 6\n"
                          "+ 0.009000000 0 2 cbr 1000 ------N 0 0.0 1.0 -1 8\n");
    assert_string_equal(record(scenario, "ns", "/nonexistent/out.tr"),
                        "/nonexistent/out.tr: No such file or directory");
}

/* ---- CSV ---- */
static void test_csv(void **state)
{
    (void)state;
    assert_string_equal(record(scenario, "csv", "series"), "");
    assert_text("series/wires.csv", "seconds,from,to,rate_bps,utilisation,queue_bytes,dropped_"
                                    "queue,dropped_loss,dropped_other,marked\n"
                                    "0.000000,a,r,0,0.0000,0,0,0,0,0\n"
                                    "0.000000,r,a,0,0.0000,0,0,0,0,0\n"
                                    "0.000000,r,b,0,0.0000,0,0,0,0,0\n"
                                    "0.000000,b,r,0,0.0000,0,0,0,0,0\n"
                                    "0.004000,a,r,2000000,0.2500,0,0,0,0,0\n"
                                    "0.004000,r,a,0,0.0000,0,0,0,0,0\n"
                                    "0.004000,r,b,0,0.0000,500,0,0,0,0\n"
                                    "0.004000,b,r,0,0.0000,0,0,0,0,0\n"
                                    "0.008000,a,r,8000000,1.0000,0,0,0,0,0\n"
                                    "0.008000,r,a,0,0.0000,0,0,0,0,0\n"
                                    "0.008000,r,b,2000000,0.5000,1500,1,0,0,0\n"
                                    "0.008000,b,r,0,0.0000,0,0,0,0,0\n");
    assert_text("series/domains.csv", "seconds,transfer,domain,bytes,repairs,parent\n");
    assert_text("series/links.csv",
                "seconds,from,to,cc_rate_bps,rtt_seconds,packets_sent,packets_lost\n");
    assert_text("series/traffic.csv", "seconds,traffic,from,to,sent_bps,received_bps\n"
                                      "0.000000,x,a,b,0,0\n"
                                      "0.004000,x,a,b,6000000,0\n"
                                      "0.008000,x,a,b,8000000,2000000\n");
    assert_string_equal(record(scenario, "csv", "scenario.conf"),
                        "scenario.conf/wires.csv: Not a directory");
}

/* A wire that loses everything is used all the same, as the summary says; names keep their field.
 */
static void test_csv_of_losses(void **state)
{
    (void)state;
    assert_string_equal(record("nodes = {a, b} settle = 0ms limit = 9ms clocks = exact\n"
                               "link { between = {a, b} rate = 16Mbit loss = 100% }\n"
                               "traffic \"x, \\\"y\\\"\" { from = a to = b rate = 8Mbit "
                               "packet = 1000B }\n"
                               "record { every = 5ms }\n",
                               "csv", "series"),
                        "");
    assert_text("series/wires.csv", "seconds,from,to,rate_bps,utilisation,queue_bytes,dropped_"
                                    "queue,dropped_loss,dropped_other,marked\n"
                                    "0.000000,a,b,0,0.0000,0,0,0,0,0\n"
                                    "0.000000,b,a,0,0.0000,0,0,0,0,0\n"
                                    "0.005000,a,b,0,0.4000,0,0,4,0,0\n"
                                    "0.005000,b,a,0,0.0000,0,0,0,0,0\n"
                                    "0.009000,a,b,0,0.6250,1000,0,5,0,0\n"
                                    "0.009000,b,a,0,0.0000,0,0,0,0,0\n");
    assert_text("series/traffic.csv", "seconds,traffic,from,to,sent_bps,received_bps\n"
                                      "0.000000,\"x, \"\"y\"\"\",a,b,0,0\n"
                                      "0.005000,\"x, \"\"y\"\"\",a,b,6400000,0\n"
                                      "0.009000,\"x, \"\"y\"\"\",a,b,10000000,0\n");
}

/* Messages at 0, 10, 20 and 30 ms; a sample comes before what is due at its time. */
/* What was carried until a fault changed the rate is measured by the rate until then. */
static void test_csv_of_a_change(void **state)
{
    (void)state;
    assert_string_equal(record("nodes = {a, b} settle = 0ms limit = 9ms clocks = exact\n"
                               "link { between = {a, b} rate = 16Mbit }\n"
                               "traffic x { from = a to = b rate = 8Mbit packet = 1000B }\n"
                               "fault { what = wire between = {a, b} at = 5ms rate = 80Mbit }\n"
                               "record { every = 5ms }\n",
                               "csv", "series"),
                        "");
    assert_text("series/wires.csv", "seconds,from,to,rate_bps,utilisation,queue_bytes,dropped_"
                                    "queue,dropped_loss,dropped_other,marked\n"
                                    "0.000000,a,b,0,0.0000,0,0,0,0,0\n"
                                    "0.000000,b,a,0,0.0000,0,0,0,0,0\n"
                                    "0.005000,a,b,6400000,0.4000,0,0,0,0,0\n"
                                    "0.005000,b,a,0,0.0000,0,0,0,0,0\n"
                                    "0.009000,a,b,8000000,0.1000,1000,0,0,0,0\n"
                                    "0.009000,b,a,0,0.0000,0,0,0,0,0\n");
}

static void test_csv_of_messages(void **state)
{
    (void)state;
    assert_string_equal(record("nodes = {s, a} warm-up = yes link { between = {s, a} delay = 5ms }"
                               "channel c { from = s every = 10ms size = 10 for = 40ms }"
                               "record { every = 20ms }",
                               "csv", "series"),
                        "");
    assert_text("series/messages.csv",
                "seconds,channel,domain,published,delivered,latency_median_seconds,"
                "latency_p99_seconds,latency_max_seconds\n"
                "0.000000,c,a,1,0,,,\n"
                "0.020000,c,a,2,2,0.005000,0.005000,0.005000\n"
                "0.040000,c,a,4,4,0.005000,0.005000,0.005000\n");
}

static void test_csv_of_a_transfer(void **state)
{
    (void)state;
    assert_string_equal(record("nodes = {s, a} limit = 60s link { between = {s, a} rate = 10Mbit "
                               "delay = 5ms queue = 50ms }"
                               "transfer t { from = s size = 1MB } record { }",
                               "csv", "series"),
                        "");
    size_t len;
    char *text = read_bytes("series/domains.csv", &len);
    /* The last line is that of the end: all is there. */
    text[len - 1] = '\0';
    assert_non_null(strstr(strrchr(text, '\n'), ",t,a,1000000,"));
    free(text);
    text = read_bytes("series/links.csv", &len);
    assert_non_null(strstr(text, ",s,a,"));
    free(text);
}

/* ---- captures ---- */
static uint32_t word(const char *bytes, size_t at)
{
    uint32_t value;
    memcpy(&value, bytes + at, sizeof(value));
    return value;
}

static uint16_t half(const char *bytes, size_t at)
{
    uint16_t value;
    memcpy(&value, bytes + at, sizeof(value));
    return value;
}

static void test_pcap(void **state)
{
    static const uint8_t head[] = {0x45, 2, 0x03, 0xe8, 0, 0, 0x40, 0, 64, 17, 0x23, 0x01, 10, 0,
                                   0,    1, 10,   0,    0, 2, 0,    9, 0,  9,  0x03, 0xd4, 0,  0};
    size_t len;
    (void)state;
    assert_string_equal(record(scenario, "pcap", "taps,snap=60"), "");
    char *bytes = read_bytes("taps/r-b.pcap", &len);
    assert_int_equal(word(bytes, 0), 0xa1b23c4d);
    assert_int_equal(half(bytes, 4), 2);
    assert_int_equal(half(bytes, 6), 4);
    assert_int_equal(word(bytes, 16), 60);
    assert_int_equal(word(bytes, 20), 101);
    assert_int_equal(len, 24 + 2 * (16 + 60)); /* what had arrived by then */
    assert_int_equal(word(bytes, 24), 0);
    assert_int_equal(word(bytes, 28), GMC_MS(7)); /* sent at 1, 2 and 4 ms of way */
    assert_int_equal(word(bytes, 32), 60);
    assert_int_equal(word(bytes, 36), 1000);
    assert_memory_equal(bytes + 40, head, 10);
    assert_memory_equal(bytes + 52, head + 12, 14);
    free(bytes);
    assert_string_equal(record(scenario, "pcap", "some,a"), "");
    assert_int_equal(access("some/a-r.pcap", F_OK), 0);
    assert_int_not_equal(access("some/r-b.pcap", F_OK), 0);
    assert_string_equal(record(scenario, "pcap", "taps,c"),
                        "pcap: no node is called 'c'; expected DIRECTORY[,snap=BYTES][,NODE]...");
    assert_string_equal(record(scenario, "pcap", "taps,snap=51"),
                        "pcap: 'snap=51': expected snap=52 to 262144");
}

/* tcpdump reads it, and finds the checksums right. */
static void test_tcpdump(void **state)
{
    (void)state;
    if (system("command -v tcpdump >/dev/null") != 0)
        skip();
    assert_string_equal(record("nodes = {s, a} limit = 60s link { between = {s, a} rate = 10Mbit "
                               "delay = 5ms queue = 50ms }"
                               "transfer t { from = s size = 100kB } record { }",
                               "pcap", "taps,snap=2000"),
                        "");
    int status = system("tcpdump -nnvvr taps/s-a.pcap >words 2>errors");
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(system("test $(grep -c 'udp sum ok' words) -gt 70"), 0);
    assert_int_equal(system("grep -q 'Flags \\[S\\], cksum 0x.* (correct), seq 0, ' words"), 0);
    assert_int_not_equal(system("grep -qiE 'bad|incorrect|invalid|trunc' words"), 0);
    assert_text("errors", "reading from file taps/s-a.pcap, link-type RAW (Raw IP), "
                          "snapshot length 2000\n");
}

/* The one's complement sum over words is ffff when the checksum is right (RFC 1071). */
static uint32_t sum(uint32_t start, const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        start += i % 2 == 0 ? (uint32_t)bytes[i] << 8 : bytes[i];
    while (start > 0xffff)
        start = (start >> 16) + (start & 0xffff);
    return start;
}

static void test_heads(void **state)
{
    struct sim_packet_pool pool;
    uint8_t head[SIM_IP_HEAD_MAX];
    (void)state;
    sim_packet_pool_init(&pool);
    struct sim_packet *packet = sim_packet_new(&pool, 3);
    memcpy(packet->data, "abc", 3);
    packet->from = 255;
    packet->to = 70000;
    packet->wire_bytes = 31;
    assert_int_equal(sim_ip_head(packet, 0, head), 28);
    assert_int_equal(sum(0, head, 20), 0xffff);
    assert_memory_equal(head + 12, ((const uint8_t[]){10, 0, 1, 0, 10, 1, 17, 113}), 8);
    assert_int_equal(sum(sum(sum(17 + 11, head + 12, 8), head + 20, 8), packet->data, 3), 0xffff);

    packet->proto = SIM_PROTO_TCP;
    packet->len = 0;
    packet->wire_bytes = SIM_TCP_OVERHEAD_BYTES + 100;
    *sim_packet_segment(packet) = (struct sim_segment){.connection = 7,
                                                       .sequence = 3,
                                                       .ack = 2,
                                                       .flags = SIM_TCP_DATA | SIM_TCP_ACK};
    assert_int_equal(sim_ip_head(packet, GMC_MS(5), head), 52);
    assert_memory_equal(head + 20, ((const uint8_t[]){128, 7, 0x1c, 0xf3}), 4);
    assert_memory_equal(head + 24, ((const uint8_t[]){0, 0, 11, 81}), 4); /* 1 + 2 * 1448 */
    assert_memory_equal(head + 28, ((const uint8_t[]){0, 0, 5, 169}), 4); /* 1 + 1448 */
    assert_int_equal(head[33], 8 | 16);
    assert_int_equal(head[47], 5);
    assert_int_equal(sum(sum(6 + 132, head + 12, 8), head + 20, 32), 0xffff);

    /* Larger than IP can say. */
    packet->proto = SIM_PROTO_UDP;
    packet->wire_bytes = 70000;
    sim_ip_head(packet, 0, head);
    assert_memory_equal(head + 2, ((const uint8_t[]){0, 0}), 2);
    assert_memory_equal(head + 24, ((const uint8_t[]){0, 0}), 2);
    sim_packet_free(&pool, packet);
    sim_packet_pool_fini(&pool);
}

/* ---- series in bounded memory ---- */
static void test_series_are_halved(void **state)
{
    struct sim_plan plan;
    struct sim_run run;
    struct sim_series series;
    char error[SIM_CONF_ERROR_MAX];
    (void)state;
    write_text("scenario.conf",
               "nodes = {a, b} settle = 0ms clocks = exact limit = 1ms\n"
               "link { between = {a, b} rate = 8Mbit }\n"
               "traffic x { from = a to = b rate = 4Mbit packet = 1000B at = 1ms }\n");
    assert_ok(sim_plan_read(&plan, "scenario.conf", NULL, 0, error));
    sim_run_init(&run, &plan, 1);
    assert_ok(sim_run_go(&run));
    sim_series_init(&series, &run);
    for (unsigned i = 0; i < 3 * SIM_SERIES_SAMPLES; i++) {
        sim_world_run(run.world, GMC_MS(10));
        sim_series_take(&series, false);
    }
    assert_int_equal(series.every, 4);
    assert_true(series.count >= SIM_SERIES_SAMPLES / 2 && series.count < SIM_SERIES_SAMPLES);
    for (size_t i = 1; i < series.count; i++) {
        assert_float_equal((float)(series.seconds[i] - series.seconds[i - 1]), 0.04F, 1e-6F);
        assert_float_equal(series.rates[i], 4e6F, 1e5F);
    }
    sim_series_fini(&series);
    sim_run_fini(&run);
    sim_plan_fini(&plan);
}

/* ---- pictures ---- */
static void test_plot(void **state)
{
    static const char *const names[] = {"p-wires.svg",      "p-wires.png",      "p-tree.svg",
                                        "p-tree.png",       "p-completion.svg", "p-completion.png",
                                        "p-completion.dat", "p-completion.gp"};
    static const char text[] = "title = \"a \\\"quoted\\\" one\" nodes = {s, a} limit = 60s\n"
                               "link { between = {s, a} rate = 10Mbit delay = 5ms queue = 50ms }\n"
                               "transfer t { from = s size = 100kB } record { }";
    (void)state;
    if (system("command -v gnuplot >/dev/null") != 0) {
        assert_string_equal(record(text, "plot", "p"),
                            "gnuplot is not installed; the script and its data are written: "
                            "./p-tree.gp");
        return;
    }
    assert_string_equal(record(text, "plot", "p"), "");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        size_t len;
        free(read_bytes(names[i], &len));
        assert_true(len > 40);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ns),
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_csv_of_a_change),
        cmocka_unit_test(test_csv_of_a_transfer),
        cmocka_unit_test(test_csv_of_messages),
        cmocka_unit_test(test_csv_of_losses),
        cmocka_unit_test(test_pcap),
        cmocka_unit_test(test_tcpdump),
        cmocka_unit_test(test_heads),
        cmocka_unit_test(test_series_are_halved),
        cmocka_unit_test(test_plot),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
