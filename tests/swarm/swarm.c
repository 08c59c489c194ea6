/* SPDX-License-Identifier: BSD-2-Clause */
/* The swarm: a seed chooses gateways, topology, wires, objects, messages and faults. First a safety
 * phase under faults, then all faults end and everything has to be delivered. The oracles judge; a
 * seed that fails prints the command that repeats it.
 *
 *   swarm --seeds 1..200            judge these seeds
 *   swarm --seeds 17 --verbose      with every line of what happened
 *   swarm --seeds 1..3 --twice      each seed twice: the trace hashes have to be equal
 *   swarm --seeds 1..3 --hashes     print "seed hash" (two builds are compared by these)
 *   swarm --seeds 1..5 --canary flip|repair|finish     plant a fault: each has to be caught
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim-wan/faults.h"
#include "sim-wan/scenario.h"
#include "tests/swarm/draw.h"
#include "tests/swarm/talk.h"
#include "wire/head.h"

#define SAFETY_END GMC_S(10)
#define LIVENESS_LIMIT GMC_S(240)
#define WIRE_LEAST_MBIT 10u
#define IDLE_AFTER GMC_S(60)
#define TRANSFERS_MAX 3u
#define HOSTS_MAX 40u

enum canary { CANARY_NONE, CANARY_FLIP, CANARY_REPAIR, CANARY_FINISH };

struct options {
    uint64_t first, last;
    enum canary canary;
    bool verbose, twice, hashes;
};

struct transfer {
    struct gmc_channel_key key;
    uint32_t source;
    uint32_t targets[HOSTS_MAX];
    size_t target_count;
    uint64_t bytes, object_seed;
    enum gmc_tree_shape shape;
    bool saved;     /* it ran: from then on no crash may lose it */
    bool cancelled; /* by its user: nobody needs to have it */
    bool complete;  /* and was complete everywhere: its source may forget it */
    uint32_t resumed;
};

struct swarm {
    struct sim_world *world;
    struct sim_faults faults;
    struct gmc_prng prng;
    struct transfer transfers[TRANSFERS_MAX];
    size_t transfer_count;
    struct talk talk;
    uint32_t canary_host;
};

/* ---- drawing a world ---- */
static struct sim_wire_config draw_wire(struct swarm *swarm)
{
    struct sim_wire_config wire = {.rate_bps = draw(&swarm->prng, WIRE_LEAST_MBIT, 200) * 1000000};
    wire.queue_bytes = wire.rate_bps / 8000 * draw(&swarm->prng, 10, 100);
    if (chance(&swarm->prng, 60))
        /* Per wire; a path may have ten of them. */
        wire.loss_ppm = (uint32_t)draw(&swarm->prng, 0, chance(&swarm->prng, 20) ? 50000 : 20000);
    if (chance(&swarm->prng, 30))
        wire.jitter = GMC_US(draw(&swarm->prng, 0, 5000));
    if (chance(&swarm->prng, 30)) {
        wire.reorder_ppm = (uint32_t)draw(&swarm->prng, 0, 30000);
        wire.reorder_by = GMC_US(draw(&swarm->prng, 100, 20000));
    }
    if (chance(&swarm->prng, 30))
        wire.duplicate_ppm = (uint32_t)draw(&swarm->prng, 0, 30000);
    return wire;
}

static struct sim_world_config draw_config(struct swarm *swarm, uint64_t seed)
{
    struct sim_world_config config = {.seed = seed};
    config.shuffle = chance(&swarm->prng, 50);
    config.disk.latency = GMC_US(draw(&swarm->prng, 20, chance(&swarm->prng, 20) ? 20000 : 500));
    config.disk.rate_bps = chance(&swarm->prng, 30) ? draw(&swarm->prng, 50, 2000) * 1000000 : 0;
    config.cache_bytes = chance(&swarm->prng, 30) ? draw(&swarm->prng, 1, 4) << 20 : 0;
    config.children_max = chance(&swarm->prng, 30) ? (uint32_t)draw(&swarm->prng, 2, 6) : 0;
    return config;
}

static uint64_t draw_bytes(struct swarm *swarm)
{
    static const uint64_t edges[] = {0, 1, 65535, 65536, 65537};
    if (chance(&swarm->prng, 25))
        return edges[draw(&swarm->prng, 0, 4)];
    return draw(&swarm->prng, 1, chance(&swarm->prng, 20) ? 3000000 : 600000);
}

/* What gateways are told of their uplinks; the wires need not agree. */
static void draw_uplinks(struct swarm *swarm)
{
    bool known = chance(&swarm->prng, 70);
    for (size_t i = 0; i < swarm->world->host_count; i++) {
        uint64_t uplink = draw(&swarm->prng, 1, 100) * 1000000;
        uplink *= draw(&swarm->prng, 1, 10);
        if (known && chance(&swarm->prng, 80))
            swarm->world->hosts[i]->uplink_bps = uplink;
    }
}

static void draw_transfer(struct swarm *swarm)
{
    struct transfer *transfer = &swarm->transfers[swarm->transfer_count++];
    uint32_t hosts = (uint32_t)swarm->world->host_count;
    *transfer = (struct transfer){0};
    transfer->source = (uint32_t)draw(&swarm->prng, 0, hosts - 1);
    transfer->bytes = draw_bytes(swarm);
    transfer->object_seed = draw(&swarm->prng, 1, 1000000);
    transfer->shape = (enum gmc_tree_shape)draw(&swarm->prng, 0, GMC_TREE_SHAPES - 1);
    /* Two or four stripes, to which a fast source invites; these are long runs, so few. */
    if (transfer->shape == GMC_TREE_BULK && chance(&swarm->prng, 25)) {
        transfer->bytes = (UINT64_C(1) << 23) * (chance(&swarm->prng, 80) ? 2 : 4);
        swarm->world->hosts[transfer->source]->uplink_bps = 1000000000;
    }
    uint32_t percent = (uint32_t)draw(&swarm->prng, 20, 100);
    for (uint32_t i = 0; i < hosts; i++)
        if (i != transfer->source && (chance(&swarm->prng, percent) || transfer->target_count == 0))
            transfer->targets[transfer->target_count++] = i;
}

/* ---- canaries ---- */
/* A repair that never comes: every copy of one fragment to one host is lost. */
static bool skip_repair(void *ctx, struct sim_host *host, struct gmc_dgram_out *out)
{
    const struct swarm *swarm = ctx;
    if (out->head_len != GMC_DATA_HEAD_BYTES)
        return true;
    uint32_t block = gmc_get32(out->head + 11);
    uint16_t fragment = gmc_get16(out->head + 15);
    bool victim = sim_host_of_peer(host, out->peer) == swarm->canary_host;
    return !(victim && block == 1 && fragment == 0);
}

static void plant(struct swarm *swarm, enum canary canary)
{
    const struct transfer *transfer = &swarm->transfers[0];
    swarm->canary_host = transfer->targets[transfer->target_count / 2];
    struct sim_host *victim = swarm->world->hosts[swarm->canary_host];
    switch (canary) {
    case CANARY_NONE:
        break;
    case CANARY_FLIP: /* a byte changes between the check and the disk */
        victim->disk.canary = SIM_CANARY_FLIP;
        break;
    case CANARY_FINISH: /* the final name is given to what is not whole */
        victim->disk.canary = SIM_CANARY_LOSE;
        break;
    case CANARY_REPAIR:
        for (size_t i = 0; i < swarm->world->host_count; i++) {
            swarm->world->hosts[i]->tamper = skip_repair;
            swarm->world->hosts[i]->tamper_ctx = swarm;
        }
        break;
    }
}

/* ---- the run ---- */
static void begin_transfer(struct swarm *swarm, struct transfer *transfer)
{
    struct sim_host *targets[HOSTS_MAX];
    struct sim_host *source = swarm->world->hosts[transfer->source];
    const char *error = NULL;
    for (size_t i = 0; i < transfer->target_count; i++)
        targets[i] = swarm->world->hosts[transfer->targets[i]];
    struct sim_stage stage = {.object_seed = transfer->object_seed,
                              .bytes = transfer->bytes,
                              .targets = targets,
                              .target_count = transfer->target_count,
                              .shape = transfer->shape};
    if (sim_stage(source, &stage, &transfer->key, &error) != GMC_OK)
        sim_oracle_violated(&swarm->world->oracle, "%s refuses to stage: %s", source->name,
                            error != NULL ? error : "?");
}

static void build(struct swarm *swarm, uint64_t seed, const struct options *options)
{
    gmc_prng_init(&swarm->prng, seed ^ UINT64_C(0x737761726d));
    struct sim_world_config config = draw_config(swarm, seed);
    struct sim_wire_config wire = draw_wire(swarm);
    swarm->world = sim_world_new(&config);
    uint32_t n = (uint32_t)draw(&swarm->prng, 5, HOSTS_MAX);
    uint32_t extra = (uint32_t)draw(&swarm->prng, 0, n / 2);
    gmc_duration delay_max = GMC_MS(draw(&swarm->prng, 5, 40));
    sim_build_random(swarm->world, n, extra, &wire, delay_max, &swarm->prng);
    draw_uplinks(swarm);
    size_t transfers = (size_t)draw(&swarm->prng, 1, TRANSFERS_MAX);
    for (size_t i = 0; i < transfers; i++)
        draw_transfer(swarm);
    talk_draw(&swarm->talk, swarm->world, seed);
    sim_faults_init(&swarm->faults, swarm->world);
    plant(swarm, options->canary);
}

/* What users do in the middle: a domain is added, or the transfer is cancelled. */
static void interfere(struct swarm *swarm, struct transfer *transfer)
{
    struct sim_host *source = swarm->world->hosts[transfer->source];
    uint32_t other = (uint32_t)draw(&swarm->prng, 0, swarm->world->host_count - 1);
    bool adds = chance(&swarm->prng, 25), cancels = chance(&swarm->prng, 8);
    struct gmc_channel_info info;
    const char *error = NULL;
    if (!sim_channel(source, &transfer->key, &info) || info.state > GMC_CHANNEL_RUNNING)
        return;
    for (size_t i = 0; i < transfer->target_count; i++)
        adds = adds && transfer->targets[i] != other;
    if (adds && other != transfer->source && transfer->target_count < HOSTS_MAX &&
        sim_add(source, &transfer->key, swarm->world->hosts[other], &error) == GMC_OK) {
        transfer->targets[transfer->target_count++] = other;
        sim_world_note(swarm->world, "%s adds %s", source->name, swarm->world->hosts[other]->name);
    }
    if (cancels && sim_cancel(source, &transfer->key, &error) == GMC_OK) {
        transfer->cancelled = true;
        sim_world_note(swarm->world, "%s cancels", source->name);
    }
}

static bool is_over(struct swarm *swarm, const struct transfer *transfer)
{
    struct gmc_channel_info info;
    struct sim_host *source = swarm->world->hosts[transfer->source];
    if (!transfer->cancelled)
        return transfer->complete;
    return source->gateway != NULL &&
           (!sim_channel(source, &transfer->key, &info) || info.state == GMC_CHANNEL_CANCELLED);
}

/* Asks again for what ended incomplete, as its user would; stages again what was lost before it
 * had begun. */
static void insist(struct swarm *swarm)
{
    for (size_t i = 0; i < swarm->transfer_count; i++) {
        struct transfer *transfer = &swarm->transfers[i];
        struct sim_host *source = swarm->world->hosts[transfer->source];
        struct gmc_channel_info info;
        const char *error = NULL;
        if (is_over(swarm, transfer))
            continue;
        if (transfer->cancelled) { /* its source was killed before it had noted that */
            gmc_status status = sim_cancel(source, &transfer->key, &error);
            if (status != GMC_OK)
                sim_world_note(swarm->world, "cancel: %s", error != NULL ? error : "refused");
        } else if (!sim_channel(source, &transfer->key, &info)) {
            if (transfer->saved)
                sim_oracle_violated(&swarm->world->oracle, "%s forgot a transfer that ran",
                                    source->name);
            transfer->saved = false;
            begin_transfer(swarm, transfer);
        } else if (info.state >= GMC_CHANNEL_PARTIAL && transfer->resumed < 20) {
            transfer->resumed++;
            gmc_status status = sim_resume(source, &transfer->key, &error);
            if (status != GMC_OK)
                sim_world_note(swarm->world, "resume: %s", error != NULL ? error : "refused");
        }
    }
}

static bool all_complete(void *ctx)
{
    struct swarm *swarm = ctx;
    for (size_t i = 0; i < swarm->transfer_count; i++)
        if (!is_over(swarm, &swarm->transfers[i]))
            return false;
    return talk_is_over(&swarm->talk);
}

static void on_event(void *ctx, struct sim_host *host, const struct gmc_event *event)
{
    struct swarm *swarm = ctx;
    for (size_t i = 0; i < swarm->transfer_count; i++) {
        struct transfer *transfer = &swarm->transfers[i];
        struct gmc_channel_info info;
        if (event->kind > GMC_EVENT_MEMBER || host->id != transfer->source ||
            event->key.e != transfer->key.e || !sim_channel(host, &transfer->key, &info))
            continue;
        transfer->saved = transfer->saved || event->kind == GMC_EVENT_MEMBER;
        transfer->complete = transfer->complete || info.state == GMC_CHANNEL_COMPLETE;
    }
}

static void judge(struct swarm *swarm)
{
    struct sim_oracle *oracle = &swarm->world->oracle;
    sim_oracle_check_wires(oracle);
    talk_judge(&swarm->talk);
    for (size_t i = 0; i < swarm->transfer_count; i++) {
        const struct transfer *transfer = &swarm->transfers[i];
        struct sim_host *source = swarm->world->hosts[transfer->source];
        struct gmc_channel_info info = {.reason = "unknown"};
        sim_channel(source, &transfer->key, &info);
        if (!is_over(swarm, transfer))
            sim_oracle_violated(oracle,
                                "%s did not complete a transfer of %" PRIu64 " bytes: state %d, %s",
                                source->name, transfer->bytes, (int)info.state,
                                info.reason != NULL ? info.reason : "");
        for (size_t t = 0; t < transfer->target_count && !transfer->cancelled; t++)
            sim_oracle_check_delivered(oracle, swarm->world->hosts[transfer->targets[t]],
                                       &transfer->key);
    }
}

/* Twice what a copy to each takes on the slowest wire there may be is time enough for any tree. */
static gmc_duration liveness_limit(const struct swarm *swarm)
{
    gmc_duration limit = LIVENESS_LIMIT;
    for (size_t i = 0; i < swarm->transfer_count; i++)
        limit += swarm->transfers[i].bytes * swarm->transfers[i].target_count *
                 (2 * 8 * GMC_US(1) / WIRE_LEAST_MBIT);
    return limit;
}

static void run(struct swarm *swarm)
{
    struct sim_world *world = swarm->world;
    gmc_duration limit = liveness_limit(swarm);
    world->on_event = on_event;
    world->event_ctx = swarm;
    sim_world_start(world);
    sim_world_run(world, GMC_MS(draw(&swarm->prng, 0, 1000)));
    talk_begin(&swarm->talk);
    for (size_t i = 0; i < swarm->transfer_count; i++) {
        begin_transfer(swarm, &swarm->transfers[i]);
        sim_world_run(world, GMC_MS(draw(&swarm->prng, 0, 500)));
    }
    gmc_time now = sim_world_now(world);
    size_t faults = (size_t)draw(&swarm->prng, 0, 16);
    gmc_time until = now + GMC_S(draw(&swarm->prng, 1, 8));
    sim_faults_draw(&swarm->faults, &swarm->prng, faults, now, until);
    gmc_time end = swarm->faults.count > 0 ? SAFETY_END : now;
    gmc_duration before = GMC_MS(draw(&swarm->prng, 0, 3000));
    sim_world_run(world, before);
    for (size_t i = 0; i < swarm->transfer_count; i++)
        interfere(swarm, &swarm->transfers[i]);
    now = sim_world_now(world);
    sim_world_run(world, end > now ? end - now : 0);
    sim_faults_heal(&swarm->faults);
    for (gmc_time waited = 0; waited < limit && !all_complete(swarm); waited += GMC_S(2)) {
        insist(swarm);
        sim_world_run_until(world, GMC_MS(100), GMC_S(2), all_complete, swarm);
    }
    if (all_complete(swarm)) {
        /* The last word may have to find its way through loss, and a source that forgot what was
         * complete has nothing to say: receivers end by themselves when they hear no more. */
        sim_world_run(world, IDLE_AFTER);
        sim_oracle_check_idle(&world->oracle);
    }
    judge(swarm);
}

/* What every gateway says of a transfer that went wrong. */
static void describe(struct swarm *swarm, const struct transfer *transfer)
{
    for (size_t i = 0; i < swarm->world->host_count; i++) {
        struct sim_host *host = swarm->world->hosts[i];
        struct gmc_channel_info info;
        uint32_t parent = sim_oracle_parent(&swarm->world->oracle, host->id, &transfer->key);
        if (sim_channel(host, &transfer->key, &info))
            printf("  %s: state %d, %" PRIu64 " of %" PRIu64 " bytes, parent %s, %s\n", host->name,
                   (int)info.state, info.bytes, info.total_bytes,
                   parent == SIM_NO_HOST ? "none" : swarm->world->hosts[parent]->name,
                   info.reason != NULL ? info.reason : "");
    }
}

static void print_line(void *ctx, const char *text)
{
    fprintf(ctx, "%s\n", text);
}

struct verdict {
    uint64_t hash;
    uint64_t violations;
};

static struct verdict run_seed(uint64_t seed, const struct options *options)
{
    struct swarm *swarm = calloc(1, sizeof(*swarm));
    struct verdict verdict;
    if (swarm == NULL)
        abort();
    build(swarm, seed, options);
    if (options->verbose) {
        swarm->world->trace.line = print_line;
        swarm->world->trace.ctx = stdout;
    }
    run(swarm);
    verdict.hash = swarm->world->trace.hash;
    verdict.violations = swarm->world->oracle.violations;
    const struct sim_oracle *oracle = &swarm->world->oracle;
    for (size_t i = 0; i < SIM_VIOLATIONS_KEPT && oracle->texts[i] != NULL; i++)
        printf("seed %" PRIu64 ": %s\n", seed, oracle->texts[i]);
    for (size_t i = 0; options->verbose && i < swarm->transfer_count; i++)
        if (!is_over(swarm, &swarm->transfers[i]))
            describe(swarm, &swarm->transfers[i]);
    if (options->verbose)
        printf("seed %" PRIu64 ": %zu hosts, %zu transfers, %zu faults, %.3f s, %" PRIu64
               " events\n",
               seed, swarm->world->host_count, swarm->transfer_count, swarm->faults.count,
               (double)sim_world_now(swarm->world) / 1e9, swarm->world->engine.fired);
    sim_faults_fini(&swarm->faults);
    talk_fini(&swarm->talk);
    sim_world_free(swarm->world);
    free(swarm);
    return verdict;
}

/* ---- the program ---- */
static bool parse(int argc, char **argv, struct options *options)
{
    static const struct option names[] = {{"seeds", required_argument, NULL, 's'},
                                          {"canary", required_argument, NULL, 'c'},
                                          {"verbose", no_argument, NULL, 'v'},
                                          {"twice", no_argument, NULL, 't'},
                                          {"hashes", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    static const char *const canaries[] = {"none", "flip", "repair", "finish"};
    int letter;
    while ((letter = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (letter) {
        case 's': {
            char *end;
            options->first = options->last = strtoull(optarg, &end, 10);
            if (strncmp(end, "..", 2) == 0)
                options->last = strtoull(end + 2, NULL, 10);
            break;
        }
        case 'c':
            for (int i = 0; i < 4; i++)
                if (strcmp(optarg, canaries[i]) == 0)
                    options->canary = (enum canary)i;
            break;
        case 'v':
            options->verbose = true;
            break;
        case 't':
            options->twice = true;
            break;
        case 'h':
            options->hashes = true;
            break;
        default:
            return false;
        }
    }
    return options->first <= options->last;
}

/* Whether the seed ended as it should. */
static bool try_seed(uint64_t seed, const struct options *options)
{
    struct verdict verdict = run_seed(seed, options);
    bool good = (verdict.violations > 0) == (options->canary != CANARY_NONE);
    if (options->hashes)
        printf("%" PRIu64 " %016" PRIx64 "\n", seed, verdict.hash);
    if (options->twice && run_seed(seed, options).hash != verdict.hash) {
        printf("seed %" PRIu64 ": two runs differ\n", seed);
        good = false;
    }
    if (!good)
        printf("seed %" PRIu64 ": %s; repeat with: tests/swarm/swarm --seeds %" PRIu64
               " --verbose%s\n",
               seed, options->canary == CANARY_NONE ? "FAILED" : "CANARY NOT CAUGHT", seed,
               options->canary == CANARY_NONE ? "" : " --canary ...");
    fflush(stdout);
    return good;
}

int main(int argc, char **argv)
{
    struct options options = {.first = 1, .last = 1};
    uint64_t failed = 0;
    if (!parse(argc, argv, &options)) {
        fputs("swarm --seeds A..B [--canary flip|repair|finish] [--twice] [--hashes]"
              " [--verbose]\n",
              stderr);
        return 2;
    }
    for (uint64_t seed = options.first; seed <= options.last; seed++)
        failed += !try_seed(seed, &options);
    if (!options.hashes)
        printf("%" PRIu64 " of %" PRIu64 " seeds failed\n", failed,
               options.last - options.first + 1);
    return failed == 0 ? 0 : 1;
}
