/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of what one congestion-controlled link does in virtual time: use of the path, sharing,
 * reaction. Usage: bench_link [table...]; without arguments all of them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim-wan/traffic/law.h"
#include "tests/lib/ccwire.h"
#include "tests/lib/linkpair.h"

static const struct ccwire_path base_path = {.rate_bps = 100000000,
                                             .delay = GMC_MS(15),
                                             .queue_bytes = 625000};

#define SEEDS 4
static const uint32_t losses[] = {0, 10000, 50000, 100000, 200000};

static double seconds(gmc_time t)
{
    return (double)t / 1e9;
}

/* delivered / (rate * (1 - p)) / completion */
static double use_of(const struct ccwire_path *path, const struct ccwire_flow *flow, uint64_t seed,
                     struct ccwire_stats *stats)
{
    struct ccwire *wire = ccwire_new(path, seed);
    int id = ccwire_add(wire, flow);
    gmc_time done = ccwire_run_flow(wire, id, GMC_S(100000));
    uint32_t bytes = flow->packet_bytes == 0 ? 1500 : flow->packet_bytes;

    ccwire_stats(wire, id, stats);
    ccwire_free(wire);
    return (double)flow->packets * bytes * 8 /
           ((double)path->rate_bps * (1 - path->loss_ppm / 1e6)) / seconds(done);
}

static void table_alone(const char *title, struct ccwire_path path, uint64_t packets)
{
    printf("\n%s\n  loss   least  mean   dropped  spurious\n", title);
    for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++) {
        struct ccwire_flow flow = {.ops = &gmc_cc_model, .packets = packets};
        double least = 9, sum = 0;
        uint64_t dropped = 0, spurious = 0;

        path.loss_ppm = losses[i];
        for (uint64_t seed = 1; seed <= 5; seed++) {
            struct ccwire_stats stats;
            double use = use_of(&path, &flow, seed, &stats);

            least = use < least ? use : least;
            sum += use;
            dropped += stats.dropped;
            spurious += stats.spurious;
        }
        printf("  %4.1f %%  %.4f %.4f  %7" PRIu64 " %7" PRIu64 "\n", losses[i] / 1e4, least,
               sum / 5, dropped / 5, spurious / 5);
    }
}

static void alone(void)
{
    struct ccwire_path path = base_path;

    table_alone("alone, 100 MB, 100 Mbit/s, 30 ms, 50 ms queue", path, 70200);
    table_alone("alone, 1 GB", path, 702000);
    path.queue_bytes = 15000;
    table_alone("alone, 100 MB, queue of 10 packets", path, 70200);
    path = base_path;
    path.jitter = GMC_MS(4);
    table_alone("alone, 100 MB, jitter 4 ms", path, 70200);
    path.reorder = true;
    table_alone("alone, 100 MB, jitter 4 ms with reordering", path, 70200);
    path = base_path;
    path.drift_ppm = 100;
    table_alone("alone, 1 GB, receiver's clock 100 ppm fast", path, 702000);
    path.drift_ppm = -100;
    table_alone("alone, 1 GB, receiver's clock 100 ppm slow", path, 702000);
}

static void other_paths(void)
{
    struct ccwire_path path = {.rate_bps = 1000000, .delay = GMC_MS(15), .queue_bytes = 6250};

    table_alone("1 Mbit/s, 30 ms, 50 ms queue, 5 MB", path, 3500);
    path.rate_bps = 20000000;
    path.delay = GMC_MS(25);
    path.queue_bytes = 125000;
    table_alone("20 Mbit/s, 50 ms, 50 ms queue, 50 MB", path, 35000);
    path.rate_bps = 1000000000;
    path.delay = GMC_MS(50);
    path.queue_bytes = 6250000;
    table_alone("1 Gbit/s, 100 ms, 50 ms queue, 2 GB", path, 1400000);
    path.rate_bps = UINT64_C(10000000000);
    path.delay = GMC_US(25);
    path.queue_bytes = 2000000;
    path.jitter = GMC_US(200);
    table_alone("10 Gbit/s, 50 us, 2 MB queue, jitter 200 us, 2 GB", path, 1400000);
    path.rate_bps = UINT64_C(3000000000);
    path.stall = GMC_MS(5);
    path.stall_every = GMC_MS(10);
    path.socket_bytes = 4000000;
    table_alone("3 Gbit/s, 50 us, receiver stalls up to 5 ms each 10 ms, 4 MB socket", path,
                1400000);
    path.stall = GMC_MS(20);
    path.stall_every = GMC_MS(20);
    table_alone("3 Gbit/s, 50 us, receiver stalls up to 20 ms each 20 ms, 4 MB socket", path,
                1400000);
    path.stall = GMC_MS(20);
    path.stall_every = GMC_MS(20);
    path.socket_bytes = 400000;
    table_alone("3 Gbit/s, 50 us, receiver stalls up to 20 ms each 20 ms, 0.4 MB socket", path,
                1400000);
}

/* Our flow beside a rival that begins at `theirs`; a sibling's host is as late as ours. */
static void share_of(const char *title, const struct ccwire_path *path,
                     const struct ccwire_flow *ours, const struct gmc_cc_ops *rival,
                     gmc_time theirs)
{
    double least = 1, most = 0, total = 0;
    uint64_t sum_us = 0;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct ccwire *wire = ccwire_new(path, seed);
        struct ccwire_flow sibling = {.ops = rival,
                                      .start = theirs,
                                      .late = ours->late,
                                      .late_every = ours->late_every};
        struct ccwire_stats a0, b0, a, b;
        gmc_time from = ours->start > theirs ? ours->start : theirs;
        double mine;

        ccwire_add(wire, ours);
        if (rival == &gmc_cc_model)
            ccwire_add(wire, &sibling);
        else
            ccwire_add_tcp(wire, rival, theirs);
        ccwire_run_until(wire, from);
        ccwire_stats(wire, 0, &a0);
        ccwire_stats(wire, 1, &b0);
        (void)ccwire_mean_queue(wire);
        ccwire_run_until(wire, from + GMC_S(60));
        ccwire_stats(wire, 0, &a);
        ccwire_stats(wire, 1, &b);
        a.delivered -= a0.delivered;
        b.delivered -= b0.delivered;
        mine = (double)a.delivered / (double)(a.delivered + b.delivered);
        least = mine < least ? mine : least;
        most = mine > most ? mine : most;
        total += (double)(a.delivered + b.delivered) * 12000 / 60 / 1e6 / SEEDS;
        sum_us += ccwire_mean_queue(wire) / 1000 / SEEDS;
        ccwire_free(wire);
    }
    printf("  %-34s %.2f .. %.2f   %5.1f Mbit/s  queue %5.1f ms\n", title, least, most, total,
           (double)sum_us / 1e3);
}

static void share(const char *title, const struct gmc_cc_ops *rival, uint64_t queue,
                  uint32_t loss_ppm, gmc_time ours, gmc_time theirs, uint64_t expect_bps)
{
    struct ccwire_flow flow = {.ops = &gmc_cc_model, .start = ours, .expect_bps = expect_bps};
    struct ccwire_path path = base_path;

    path.queue_bytes = queue;
    path.loss_ppm = loss_ppm;
    share_of(title, &path, &flow, rival, theirs);
}

static const struct {
    const char *name;
    const struct gmc_cc_ops *ops;
} them[] = {{"CUBIC", &sim_law_cubic}, {"BBR", &sim_law_bbr}, {"sibling", &gmc_cc_model}};

static void rivals(void)
{
    static const struct {
        const char *name;
        uint64_t bytes;
    } queues[] = {{"50 ms", 625000}, {"10 packets", 15000}, {"10 ms", 125000}, {"25 ms", 312500}};

    printf("\nshare of the sum over 60 s of overlap (4 seeds), sum, mean queue\n");
    for (size_t i = 0; i < 3; i++) {
        for (size_t q = 0; q < 4; q++) {
            char title[80];

            snprintf(title, sizeof title, "%s, %s, first", them[i].name, queues[q].name);
            share(title, them[i].ops, queues[q].bytes, 0, GMC_MS(500), 0, 0);
            snprintf(title, sizeof title, "%s, %s, 10 s later", them[i].name, queues[q].name);
            share(title, them[i].ops, queues[q].bytes, 0, 0, GMC_S(10), 0);
            snprintf(title, sizeof title, "%s, %s, 10 s before", them[i].name, queues[q].name);
            share(title, them[i].ops, queues[q].bytes, 0, GMC_S(10), 0, 0);
        }
    }
    share("BBR, 50 ms, 1 % loss", &sim_law_bbr, 625000, 10000, GMC_MS(500), 0, 0);
    share("BBR, 50 ms, 5 % loss", &sim_law_bbr, 625000, 50000, GMC_MS(500), 0, 0);
}

/* In a queue of ten packets, beside others and alone. */
static void late(void)
{
    static const struct {
        const char *name;
        gmc_duration late, every;
    } hosts[] = {{"2 ms each 20 ms", GMC_MS(2), GMC_MS(20)},
                 {"2 ms each 100 ms", GMC_MS(2), GMC_MS(100)},
                 {"4 ms each 200 ms", GMC_MS(4), GMC_MS(200)},
                 {"10 ms each second", GMC_MS(10), GMC_S(1)}};
    struct ccwire_path path = base_path;

    path.queue_bytes = 15000;
    printf("\nour host is late, queue of 10 packets: share of the sum as above\n");
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
        struct ccwire_flow flow = {.ops = &gmc_cc_model,
                                   .late = hosts[i].late,
                                   .late_every = hosts[i].every};
        char title[80];

        for (size_t r = 0; r < sizeof them / sizeof them[0]; r++) {
            flow.start = GMC_S(2);
            snprintf(title, sizeof title, "%s, %s, first", hosts[i].name, them[r].name);
            share_of(title, &path, &flow, them[r].ops, 0);
            flow.start = 0;
            snprintf(title, sizeof title, "%s, %s, 10 s later", hosts[i].name, them[r].name);
            share_of(title, &path, &flow, them[r].ops, GMC_S(10));
        }
        flow.packets = 702000;
        snprintf(title, sizeof title, "%s, alone, 1 GB: part of the rate", hosts[i].name);
        printf("  %-34s", title);
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct ccwire_stats stats;

            printf(" %.2f", use_of(&path, &flow, seed, &stats));
        }
        printf("\n");
    }
}

static void siblings(void)
{
    static const uint64_t queues[] = {625000, 15000};

    printf("\nsiblings over 60 s: Jain's index, sum in Mbit/s\n");
    for (size_t q = 0; q < 2; q++) {
        for (size_t l = 0; l < 5; l += 2) {
            for (int n = 2; n <= 8; n += n) {
                double least = 1, sum_all = 0;

                for (uint64_t seed = 1; seed <= 3; seed++) {
                    struct ccwire_path path = base_path;
                    struct ccwire *wire;
                    double sum = 0, squares = 0, jain;

                    path.queue_bytes = queues[q];
                    path.loss_ppm = losses[l];
                    wire = ccwire_new(&path, seed);
                    for (int i = 0; i < n; i++)
                        ccwire_add(wire, &(struct ccwire_flow){.ops = &gmc_cc_model,
                                                               .start = GMC_MS(300 * i)});
                    ccwire_run_until(wire, GMC_S(60));
                    for (int i = 0; i < n; i++) {
                        struct ccwire_stats s;

                        ccwire_stats(wire, i, &s);
                        sum += (double)s.delivered;
                        squares += (double)s.delivered * (double)s.delivered;
                    }
                    jain = sum * sum / (n * squares);
                    least = jain < least ? jain : least;
                    sum_all += sum * 12000 / 60e6 / 3;
                    ccwire_free(wire);
                }
                printf("  %d, queue %s, loss %4.1f %%:  %.3f   %.1f\n", n,
                       q == 0 ? "50 ms     " : "10 packets", losses[l] / 1e4, least, sum_all);
            }
        }
    }
}

static void line(struct ccwire *wire, gmc_duration step, int steps, const char *what)
{
    struct ccwire_stats before, after;

    printf("  %-28s", what);
    for (int i = 0; i < steps; i++) {
        ccwire_stats(wire, 0, &before);
        ccwire_run_until(wire, ccwire_now(wire) + step);
        ccwire_stats(wire, 0, &after);
        printf(" %5.1f",
               (double)(after.delivered - before.delivered) * 12000 / seconds(step) / 1e6);
    }
    printf("  drops %" PRIu64 " loss %.1f %%\n", after.dropped, after.loss_ppm / 1e4);
}

/* What was said of the path before, right and wrong. */
static void expected(void)
{
    static const uint64_t queues[] = {625000, 15000};
    static const struct {
        const char *name;
        uint64_t bps;
    } said[] = {{"nothing", 0},
                {"a quarter", 25000000},
                {"the rate", 100000000},
                {"twice", 200000000},
                {"ten times", 1000000000}};

    printf("\nMbit/s delivered in steps of 50 ms, 30 ms of round trip; path of 100 Mbit/s, said to "
           "be\n");
    for (size_t q = 0; q < 2; q++) {
        for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
            struct ccwire_path path = base_path;
            struct ccwire *wire;

            path.queue_bytes = queues[q];
            wire = ccwire_new(&path, 1);
            ccwire_add(wire,
                       &(struct ccwire_flow){.ops = &gmc_cc_model, .expect_bps = said[i].bps});
            line(wire, GMC_MS(50), 12, said[i].name);
            ccwire_free(wire);
        }
    }
    printf("\nsaid to be 100 Mbit/s, beside who was there 10 s before: share of the sum over 60 s, "
           "sum, "
           "mean queue\n");
    for (size_t q = 0; q < 2; q++) {
        share(q == 0 ? "CUBIC, 50 ms" : "CUBIC, 10 packets", &sim_law_cubic, queues[q], 0,
              GMC_S(10), 0, base_path.rate_bps);
        share(q == 0 ? "BBR, 50 ms" : "BBR, 10 packets", &sim_law_bbr, queues[q], 0, GMC_S(10), 0,
              base_path.rate_bps);
        share(q == 0 ? "sibling, 50 ms" : "sibling, 10 packets", &gmc_cc_model, queues[q], 0,
              GMC_S(10), 0, base_path.rate_bps);
    }
}

static void reactions(void)
{
    struct ccwire_path path = base_path;
    struct ccwire *wire = ccwire_new(&path, 1);
    int id = ccwire_add(wire, &(struct ccwire_flow){.ops = &gmc_cc_model});

    printf("\nMbit/s delivered in steps of 0.25 s\n");
    line(wire, GMC_MS(250), 12, "start");
    path.rate_bps = 50000000;
    ccwire_set_path(wire, &path);
    line(wire, GMC_MS(250), 16, "100 -> 50 Mbit/s");
    path.rate_bps = 100000000;
    ccwire_set_path(wire, &path);
    line(wire, GMC_MS(250), 16, "50 -> 100 Mbit/s");
    path.delay = GMC_MS(40);
    ccwire_set_path(wire, &path);
    line(wire, GMC_S(1), 16, "30 -> 80 ms (1 s)");
    line(wire, GMC_S(1), 16, "30 -> 80 ms (1 s)");
    path.delay = GMC_MS(15);
    ccwire_set_path(wire, &path);
    line(wire, GMC_MS(250), 16, "80 -> 30 ms");
    path.loss_ppm = 100000;
    ccwire_set_path(wire, &path);
    line(wire, GMC_MS(250), 16, "loss 0 -> 10 %");
    line(wire, GMC_MS(250), 16, "");
    path.loss_ppm = 0;
    ccwire_set_path(wire, &path);
    line(wire, GMC_MS(250), 16, "loss 10 -> 0 %");
    ccwire_set_supply(wire, id, 10000000);
    line(wire, GMC_MS(250), 16, "supply 10 Mbit/s");
    line(wire, GMC_S(1), 16, "supply 10 Mbit/s (1 s)");
    ccwire_set_supply(wire, id, 0);
    line(wire, GMC_MS(250), 16, "supply unlimited");
    ccwire_set_supply(wire, id, 1);
    line(wire, GMC_S(2), 4, "idle");
    ccwire_set_supply(wire, id, 0);
    line(wire, GMC_MS(250), 16, "supply unlimited");
    path.loss_ppm = 1000000;
    ccwire_set_path(wire, &path);
    line(wire, GMC_S(1), 4, "cut");
    path.loss_ppm = 0;
    ccwire_set_path(wire, &path);
    line(wire, GMC_MS(250), 16, "back");
    ccwire_free(wire);
}

/* The link's own code over the wire, from making the link to the last packet: object bits over
 * rate (1-p) over time. 46 packets carry a block of 65536 bytes, so heads cost 4.3 %. */
static void link_code(void)
{
    static const uint64_t blocks[] = {1600, 16384};

    printf("\nreal links, 100 Mbit/s, 30 ms, 50 ms queue: object bits / (rate (1-p)) / time\n"
           "  object   loss   least  mean   packets sent / ideal  back: bytes\n");
    for (size_t b = 0; b < 2; b++) {
        for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++) {
            double least = 9, sum = 0, sent = 0, back = 0;
            int seeds = b == 0 ? 3 : 1;

            for (int seed = 1; seed <= seeds; seed++) {
                struct linkpair_wire wire = {.rate_bps = 100000000,
                                             .delay = GMC_MS(15),
                                             .queue_bytes = 625000,
                                             .loss_ppm = losses[i],
                                             .mtu = 1472};
                struct linkpair_config config = {.wires = {wire, wire},
                                                 .cc = &gmc_cc_model,
                                                 .udp_payload_max = 1472,
                                                 .seed = (uint64_t)seed};
                struct linkpair *pair = linkpair_new(&config);
                uint64_t packets = blocks[b] * 46;
                double use;

                linkpair_supply(pair, 0, packets, 1425);
                if (!linkpair_run_delivered(pair, 0, LINKPAIR_START + GMC_S(1000)))
                    printf("  not delivered\n");
                use = (double)blocks[b] * 65536 * 8 / (1e8 * (1 - losses[i] / 1e6)) /
                      seconds(linkpair_now(pair) - LINKPAIR_START);
                least = use < least ? use : least;
                sum += use / seeds;
                sent += (double)(linkpair_stats(pair, 0)->acked + linkpair_stats(pair, 0)->lost) *
                        (1 - losses[i] / 1e6) / (double)packets / seeds;
                back += (double)linkpair_stats(pair, 1)->bytes / seeds;
                linkpair_free(pair);
            }
            printf("  %4" PRIu64 " MB %4.1f %%  %.4f %.4f  %.4f  %.2e\n",
                   blocks[b] * 65536 / 1000000, losses[i] / 1e4, least, sum, sent, back);
        }
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } tables[] = {{"alone", alone},       {"paths", other_paths}, {"link", link_code},
                  {"rivals", rivals},     {"siblings", siblings}, {"reactions", reactions},
                  {"expected", expected}, {"late", late}};

    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        bool wanted = argc < 2;

        for (int a = 1; a < argc; a++)
            wanted = wanted || strcmp(argv[a], tables[i].name) == 0;
        if (wanted)
            tables[i].run();
    }
    return 0;
}
