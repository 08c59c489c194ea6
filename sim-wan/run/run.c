/* SPDX-License-Identifier: BSD-2-Clause */
/* sim-wan run: one transfer over one topology, measured; prints one JSON object. `make bench-sim`
 * makes its table from it. */
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "sim-wan/command.h"
#include "sim-wan/scenario.h"

struct options {
    const char *topology;
    uint64_t rate_bps;
    uint64_t delay_ms, queue_ms;
    double loss; /* percent */
    uint64_t bytes;
    uint64_t seed;
    enum sim_crypto crypto;
    enum gmc_tree_shape shape;
    uint64_t receivers;
    uint64_t limit_s;
    bool events;
    bool warm;
};

static void usage(FILE *out)
{
    fputs(
        "sim-wan run [--topology flat|tree3|chain] [--receivers N] [--rate BIT/S] [--delay-ms N]\n"
        "  [--queue-ms N] [--loss PERCENT] [--bytes N] [--seed N] [--crypto cheap|openssl]\n"
        "  [--tree eco|flat|binomial|binary|chain|bulk] [--limit SECONDS] [--events] [--warm]\n"
        "--warm: one byte goes to the same targets first, so that gateways are connected and\n"
        "latencies are known, as on a site that stages more than once.\n",
        out);
}

static int parse_options(int argc, char **argv, struct options *options)
{
    static const struct option names[] = {{"topology", required_argument, NULL, 't'},
                                          {"rate", required_argument, NULL, 'r'},
                                          {"delay-ms", required_argument, NULL, 'd'},
                                          {"queue-ms", required_argument, NULL, 'q'},
                                          {"loss", required_argument, NULL, 'l'},
                                          {"bytes", required_argument, NULL, 'b'},
                                          {"seed", required_argument, NULL, 's'},
                                          {"crypto", required_argument, NULL, 'c'},
                                          {"tree", required_argument, NULL, 'T'},
                                          {"receivers", required_argument, NULL, 'n'},
                                          {"limit", required_argument, NULL, 'L'},
                                          {"events", no_argument, NULL, 'e'},
                                          {"warm", no_argument, NULL, 'w'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int letter;
    while ((letter = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (letter) {
        case 't':
            options->topology = optarg;
            break;
        case 'r':
            options->rate_bps = strtoull(optarg, NULL, 10);
            break;
        case 'd':
            options->delay_ms = strtoull(optarg, NULL, 10);
            break;
        case 'q':
            options->queue_ms = strtoull(optarg, NULL, 10);
            break;
        case 'l':
            options->loss = strtod(optarg, NULL);
            break;
        case 'b':
            options->bytes = strtoull(optarg, NULL, 10);
            break;
        case 's':
            options->seed = strtoull(optarg, NULL, 10);
            break;
        case 'c':
            options->crypto =
                strcmp(optarg, "openssl") == 0 ? SIM_CRYPTO_OPENSSL : SIM_CRYPTO_CHEAP;
            break;
        case 'T':
            if (gmc_tree_shape_from_name(optarg, &options->shape) != GMC_OK) {
                fprintf(stderr, "sim-wan run: no tree shape is called '%s'\n", optarg);
                return -1;
            }
            break;
        case 'n':
            options->receivers = strtoull(optarg, NULL, 10);
            break;
        case 'L':
            options->limit_s = strtoull(optarg, NULL, 10);
            break;
        case 'e':
            options->events = true;
            break;
        case 'w':
            options->warm = true;
            break;
        case 'h':
            usage(stdout);
            return 0;
        default:
            usage(stderr);
            return -1;
        }
    }
    return 1;
}

static int build(struct sim_world *world, const struct options *options)
{
    struct sim_wire_config wire = {
        .rate_bps = options->rate_bps,
        .delay = GMC_MS(options->delay_ms),
        .loss_ppm = (uint32_t)(options->loss * 10000 + 0.5),
        .queue_bytes = options->rate_bps / 8000 * options->queue_ms,
    };
    if (strcmp(options->topology, "flat") == 0)
        sim_build_flat(world, (uint32_t)options->receivers, &wire);
    else if (strcmp(options->topology, "tree3") == 0)
        sim_build_tree3(world, &wire);
    else if (strcmp(options->topology, "chain") == 0)
        sim_build_chain(world, (uint32_t)options->receivers + 1, &wire);
    else {
        fprintf(stderr, "sim-wan run: no topology is called '%s'\n", options->topology);
        return -1;
    }
    return 0;
}

struct transfer {
    struct sim_world *world;
    struct gmc_channel_key key;
    gmc_time begin, end;
    bool ended;
};

static void on_event(void *ctx, struct sim_host *host, const struct gmc_event *event)
{
    struct transfer *transfer = ctx;
    (void)event;
    if (host->id == 0 && !transfer->ended && transfer->key.e != 0 &&
        sim_has_ended(host, &transfer->key)) {
        transfer->ended = true;
        transfer->end = sim_world_now(transfer->world);
    }
}

static bool has_ended(void *ctx)
{
    return ((struct transfer *)ctx)->ended;
}

static void print_line(void *ctx, const char *text)
{
    fprintf(ctx, "%s\n", text);
}

static json_t *wires_json(struct sim_world *world)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < world->net.wire_count; i++) {
        uint32_t ends[2];
        sim_net_wire_ends(&world->net, i, &ends[0], &ends[1]);
        for (int way = 0; way < 2; way++) {
            const struct sim_lane_counters *count = &sim_net_lane(&world->net, i, way)->count;
            json_t *drops = json_object();
            for (int drop = 0; drop < SIM_DROPS; drop++)
                json_object_set_new(drops, sim_drop_name((enum sim_drop)drop),
                                    json_integer((json_int_t)count->dropped_packets[drop]));
            json_array_append_new(list,
                                  json_pack("{s:s, s:s, s:I, s:I, s:o}", "from",
                                            world->hosts[ends[way]]->name, "to",
                                            world->hosts[ends[!way]]->name, "bytes",
                                            (json_int_t)count->offered_bytes, "packets",
                                            (json_int_t)count->offered_packets, "drops", drops));
        }
    }
    return list;
}

static json_t *members_json(struct sim_world *world, const struct gmc_channel_key *key)
{
    json_t *list = json_array();
    struct sim_host *source = world->hosts[0];
    struct gmc_channel_info channel;
    struct gmc_member_info info;
    gmc_time now = sim_host_now(source);
    size_t at = 0;
    while (gmc_gateway_channel_info(source->gateway, now, at, &channel) &&
           !sim_key_equal(&channel.key, key))
        at++;
    for (size_t i = 0; gmc_gateway_member_info(source->gateway, now, at, i, &info); i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:b, s:f, s:I}", "domain", info.domain,
                                              "parent", info.parent != NULL ? info.parent : "",
                                              "verified", info.state == GMC_MEMBER_VERIFIED,
                                              "seconds", (double)info.elapsed / 1e9, "repairs",
                                              (json_int_t)info.repairs));
    return list;
}

/* What the source's most loaded wire carried, in object sizes. */
static double first_wire(struct sim_world *world, uint64_t bytes)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < world->net.wire_count; i++) {
        uint32_t ends[2];
        sim_net_wire_ends(&world->net, i, &ends[0], &ends[1]);
        for (int way = 0; way < 2; way++) {
            uint64_t offered = sim_net_lane(&world->net, i, way)->count.offered_bytes;
            if (ends[way] == 0 && offered > most)
                most = offered;
        }
    }
    return bytes > 0 ? (double)most / (double)bytes : 0;
}

static void report(struct sim_world *world, const struct options *options,
                   const struct transfer *transfer)
{
    struct rusage usage;
    struct gmc_channel_info info = {0};
    sim_channel(world->hosts[0], &transfer->key, &info);
    double seconds = (double)(transfer->end - transfer->begin) / 1e9;
    double possible = (double)options->rate_bps * (1 - options->loss / 100);
    getrusage(RUSAGE_SELF, &usage);
    json_t *json =
        json_pack("{s:s, s:f, s:I, s:I, s:b, s:f, s:f, s:f, s:f, s:f, s:I, s:I, s:f, s:I, s:s}",
                  "topology", options->topology, "loss", options->loss, "bytes",
                  (json_int_t)options->bytes, "seed", (json_int_t)options->seed, "complete",
                  info.state == GMC_CHANNEL_COMPLETE, "seconds", seconds, "setup_seconds",
                  (double)info.setup / 1e9, "ratio",
                  seconds > 0 ? (double)options->bytes * 8 / possible / seconds : 0, "first_wire",
                  first_wire(world, options->bytes), "first_wire_limit",
                  1.08 / (1 - options->loss / 100), "events", (json_int_t)world->engine.fired,
                  "violations", (json_int_t)world->oracle.violations, "cpu_seconds",
                  (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6, "rss_kb",
                  (json_int_t)usage.ru_maxrss, "reason", info.reason != NULL ? info.reason : "");
    char hash[24];
    snprintf(hash, sizeof(hash), "%016" PRIx64, world->trace.hash);
    json_object_set_new(json, "trace_hash", json_string(hash));
    json_object_set_new(json, "members", members_json(world, &transfer->key));
    json_object_set_new(json, "wires", wires_json(world));
    json_dumpf(json, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
    putchar('\n');
    json_decref(json);
}

/* Stages bytes from host 0 to all others and runs until that has ended. */
static int stage(struct sim_world *world, const struct options *options, uint64_t bytes,
                 uint64_t object_seed, struct transfer *transfer)
{
    const char *error = NULL;
    struct sim_stage stage = {.object_seed = object_seed,
                              .bytes = bytes,
                              .targets = world->hosts + 1,
                              .target_count = world->host_count - 1,
                              .shape = options->shape};
    *transfer = (struct transfer){.world = world, .begin = sim_world_now(world)};
    world->on_event = on_event;
    world->event_ctx = transfer;
    gmc_status status = sim_stage(world->hosts[0], &stage, &transfer->key, &error);
    if (status != GMC_OK) {
        fprintf(stderr, "sim-wan run: %s\n", error != NULL ? error : gmc_status_text(status));
        return 1;
    }
    sim_world_run_until(world, GMC_MS(100), GMC_S(options->limit_s), has_ended, transfer);
    if (!transfer->ended)
        transfer->end = sim_world_now(world);
    return 0;
}

static bool is_complete(struct sim_world *world, const struct transfer *transfer)
{
    struct gmc_channel_info info;
    return sim_channel(world->hosts[0], &transfer->key, &info) &&
           info.state == GMC_CHANNEL_COMPLETE;
}

static int run(struct sim_world *world, const struct options *options)
{
    struct transfer transfer = {.world = world};
    if (options->events) {
        world->trace.line = print_line;
        world->trace.ctx = stderr;
    }
    sim_world_start(world);
    sim_world_run(world, GMC_S(1));
    for (int tries = 0; options->warm && tries < 20; tries++) {
        if (stage(world, options, 1, options->seed + 1000 + (uint64_t)tries, &transfer) != 0)
            return 1;
        if (is_complete(world, &transfer))
            break;
    }
    if (stage(world, options, options->bytes, options->seed, &transfer) != 0)
        return 1;
    report(world, options, &transfer);
    for (size_t i = 0; i < SIM_VIOLATIONS_KEPT && world->oracle.texts[i] != NULL; i++)
        fprintf(stderr, "violation: %s\n", world->oracle.texts[i]);
    return is_complete(world, &transfer) && world->oracle.violations == 0 ? 0 : 2;
}

int sim_command_run(int argc, char **argv)
{
    struct options options = {.topology = "flat",
                              .rate_bps = 100000000,
                              .delay_ms = 15,
                              .queue_ms = 50,
                              .bytes = 100000000,
                              .seed = 1,
                              .receivers = 6,
                              .limit_s = 3600};
    int go = parse_options(argc, argv, &options);
    if (go <= 0)
        return go == 0 ? 0 : 1;
    struct sim_world *world =
        sim_world_new(&(struct sim_world_config){.seed = options.seed, .crypto = options.crypto});
    int code = build(world, &options) == 0 ? run(world, &options) : 1;
    sim_world_free(world);
    return code;
}
