/* SPDX-License-Identifier: BSD-2-Clause */
/* The swarm of domains: a seed chooses domains and their nodes, subnets, groups, trees, deaf and
 * late nodes, transfers, what users do in the middle, and faults. When the faults have ended every
 * node has to get everything, and the oracles judge.
 *
 *   domains FIRST LAST             judge these seeds
 *   domains SEED SEED --verbose    with every line of what happened
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim-wan/faults.h"
#include "sim-wan/multicast.h"
#include "sim-wan/scenario.h"
#include "tests/swarm/draw.h"

#define LIVENESS_LIMIT GMC_S(240)
#define LOOK_EVERY GMC_S(2)
#define IDLE_AFTER GMC_S(60)
#define DOMAINS_MAX 4u
#define NODES_MAX 12u
#define TRANSFERS_MAX 2u
#define RESUMES_MAX 20u

enum shape { CHAIN, HEAP, STAR, ANY, SHAPES };

struct domain {
    struct sim_host *gateway;
    struct sim_host *nodes[NODES_MAX];
    bool late[NODES_MAX]; /* these are not there when transfers begin */
    size_t node_count;
};

struct transfer {
    struct gmc_channel_key key;
    struct sim_host *source;
    struct sim_host *targets[DOMAINS_MAX];
    size_t target_count;
    uint64_t bytes, object_seed;
    bool complete, cancelled;
    unsigned resumed;
};

struct swarm {
    struct sim_world *world;
    struct sim_faults faults;
    struct gmc_prng prng;
    struct domain domains[DOMAINS_MAX];
    size_t domain_count;
    struct transfer transfers[TRANSFERS_MAX];
    size_t transfer_count;
    enum shape shape;
};

/* ---- drawing a world ---- */
static gmc_status shape_tree(void *ctx, const char *const *names, size_t count, uint64_t bytes,
                             uint32_t *parent, const char **name)
{
    const struct swarm *swarm = ctx;
    (void)names, (void)bytes;
    for (uint32_t i = 1; i < count; i++) {
        const uint32_t parents[SHAPES] = {
            [CHAIN] = i - 1, [HEAP] = (i - 1) / 2, [STAR] = 0, [ANY] = i * 7919u % i};
        parent[i] = parents[swarm->shape];
    }
    *name = "drawn";
    return GMC_OK;
}

static struct sim_wire_config draw_wire(struct swarm *swarm, uint64_t least_mbit,
                                        uint64_t most_mbit)
{
    struct sim_wire_config wire = {.rate_bps = draw(&swarm->prng, least_mbit, most_mbit) * 1000000};
    wire.queue_bytes = 20000 + wire.rate_bps / 8000 * draw(&swarm->prng, 5, 50);
    if (chance(&swarm->prng, 40))
        wire.loss_ppm = (uint32_t)draw(&swarm->prng, 0, 20000);
    if (chance(&swarm->prng, 20))
        wire.jitter = GMC_US(draw(&swarm->prng, 0, 2000));
    if (chance(&swarm->prng, 20)) {
        wire.reorder_ppm = (uint32_t)draw(&swarm->prng, 0, 30000);
        wire.reorder_by = GMC_US(draw(&swarm->prng, 100, 5000));
    }
    if (chance(&swarm->prng, 20))
        wire.duplicate_ppm = (uint32_t)draw(&swarm->prng, 0, 30000);
    return wire;
}

static struct sim_world_config draw_config(struct swarm *swarm, uint64_t seed)
{
    struct sim_world_config config = {.seed = seed};
    config.shuffle = chance(&swarm->prng, 50);
    config.disk.latency = GMC_US(draw(&swarm->prng, 20, chance(&swarm->prng, 20) ? 20000 : 500));
    config.disk.rate_bps = chance(&swarm->prng, 20) ? draw(&swarm->prng, 100, 2000) * 1000000 : 0;
    config.cache_bytes = chance(&swarm->prng, 30) ? draw(&swarm->prng, 2, 8) << 20 : 0;
    config.children_max = chance(&swarm->prng, 20) ? (uint32_t)draw(&swarm->prng, 2, 6) : 0;
    config.multicast_bps = chance(&swarm->prng, 75) ? draw(&swarm->prng, 20, 1000) * 1000000 : 0;
    swarm->shape = (enum shape)draw(&swarm->prng, 0, SHAPES - 1);
    if (chance(&swarm->prng, 50))
        config.inside_tree = (struct gmc_inside_tree){.shape = shape_tree, .ctx = swarm};
    return config;
}

static struct sim_host *add_router(struct swarm *swarm, const char *what, unsigned number)
{
    char name[32];
    snprintf(name, sizeof(name), "%s%u.example", what, number);
    return sim_world_add_router(swarm->world, name);
}

/* What is special of a domain's nodes. */
struct habits {
    uint32_t deaf_percent, relays_percent, late_percent, loss_ppm;
    bool tells_subnets;
};

static struct habits draw_habits(struct swarm *swarm)
{
    struct habits habits = {0};
    habits.deaf_percent = chance(&swarm->prng, 30) ? 25 : 0;
    habits.relays_percent = chance(&swarm->prng, 70) ? 90 : 0;
    habits.late_percent = chance(&swarm->prng, 30) ? 20 : 0;
    if (chance(&swarm->prng, 60))
        habits.loss_ppm =
            (uint32_t)draw(&swarm->prng, 0, chance(&swarm->prng, 30) ? 200000 : 50000);
    habits.tells_subnets = chance(&swarm->prng, 80);
    return habits;
}

static void add_node(struct swarm *swarm, struct domain *domain, const struct habits *habits,
                     struct sim_host *exchange, const char *subnet, struct sim_wire_config wire)
{
    struct sim_world *world = swarm->world;
    size_t i = domain->node_count++;
    char name[48];
    snprintf(name, sizeof(name), "n%zu.%s", i, domain->gateway->name);
    struct sim_host *node = sim_world_add_node(world, domain->gateway, name);
    if (chance(&swarm->prng, 15))
        wire.rate_bps /= draw(&swarm->prng, 1, 10);
    node->deaf = chance(&swarm->prng, habits->deaf_percent);
    node->subnet = habits->tells_subnets ? subnet : NULL;
    node->multicast_bps =
        chance(&swarm->prng, habits->relays_percent) ? world->config.multicast_bps : 0;
    uint32_t id = sim_world_join(world, exchange, node, &wire);
    wire.loss_ppm =
        chance(&swarm->prng, 80) ? habits->loss_ppm : (uint32_t)draw(&swarm->prng, 0, 100000);
    sim_lane_configure(sim_net_lane(&world->net, id, 0), &wire);
    domain->nodes[i] = node;
    domain->late[i] = chance(&swarm->prng, habits->late_percent);
}

/* A switch behind the gateway, and perhaps a second one behind a router that multicast does not
 * pass. */
static void add_nodes(struct swarm *swarm, struct domain *domain, unsigned number)
{
    struct sim_world *world = swarm->world;
    struct sim_host *exchange = add_router(swarm, "switch", number), *branch = NULL;
    struct sim_wire_config lan = draw_wire(swarm, 50, 1000);
    lan.delay = GMC_US(draw(&swarm->prng, 20, 500));
    lan.loss_ppm /= 20;
    sim_world_join(world, domain->gateway, exchange, &lan);
    if (chance(&swarm->prng, 35)) {
        struct sim_host *router = add_router(swarm, "router", number);
        branch = add_router(swarm, "branch", number);
        sim_world_join(world, exchange, router, &lan);
        sim_world_join(world, router, branch, &lan);
        sim_group_block(&world->net, router->id);
    }
    struct habits habits = draw_habits(swarm);
    size_t nodes = (size_t)draw(&swarm->prng, 1, NODES_MAX);
    while (domain->node_count < nodes) {
        bool far = branch != NULL && chance(&swarm->prng, 50);
        add_node(swarm, domain, &habits, far ? branch : exchange,
                 far ? "10.2.0.0/16" : "10.1.0.0/16", lan);
    }
}

static void add_domain(struct swarm *swarm)
{
    size_t number = swarm->domain_count++;
    struct domain *domain = &swarm->domains[number];
    char name[32];
    sim_host_name(name, sizeof(name), (uint32_t)number);
    domain->gateway = sim_world_add(swarm->world, name);
    if (number == 0)
        return;
    struct sim_wire_config wire = draw_wire(swarm, 10, 300);
    wire.delay = GMC_MS(draw(&swarm->prng, 1, 40));
    const struct domain *other = &swarm->domains[draw(&swarm->prng, 0, number - 1)];
    sim_world_join(swarm->world, other->gateway, domain->gateway, &wire);
}

static void draw_transfer(struct swarm *swarm)
{
    struct transfer *transfer = &swarm->transfers[swarm->transfer_count++];
    size_t source =
        chance(&swarm->prng, 70) ? 0 : (size_t)draw(&swarm->prng, 0, swarm->domain_count - 1);
    transfer->source = swarm->domains[source].gateway;
    if (chance(&swarm->prng, 15))
        transfer->bytes = draw(&swarm->prng, 0, 70000);
    else
        transfer->bytes = draw(&swarm->prng, 1, chance(&swarm->prng, 30) ? 60000000 : 15000000);
    transfer->object_seed = draw(&swarm->prng, 1, 1000000);
    for (size_t i = 0; i < swarm->domain_count; i++)
        if (i != source && (i <= 1 || chance(&swarm->prng, 70)))
            transfer->targets[transfer->target_count++] = swarm->domains[i].gateway;
}

static void build(struct swarm *swarm, uint64_t seed)
{
    gmc_prng_init(&swarm->prng, seed ^ UINT64_C(0x646f6d));
    struct sim_world_config config = draw_config(swarm, seed);
    swarm->world = sim_world_new(&config);
    size_t domains = (size_t)draw(&swarm->prng, 2, DOMAINS_MAX);
    while (swarm->domain_count < domains)
        add_domain(swarm);
    for (size_t i = 0; i < domains; i++)
        if (i == 1 || chance(&swarm->prng, 60))
            add_nodes(swarm, &swarm->domains[i], (unsigned)i);
    size_t transfers = chance(&swarm->prng, 30) ? TRANSFERS_MAX : 1;
    while (swarm->transfer_count < transfers)
        draw_transfer(swarm);
    sim_faults_init(&swarm->faults, swarm->world);
}

/* ---- the run ---- */
static void begin_transfer(struct swarm *swarm, struct transfer *transfer)
{
    const char *error = NULL;
    struct sim_stage stage = {.object_seed = transfer->object_seed,
                              .bytes = transfer->bytes,
                              .targets = transfer->targets,
                              .target_count = transfer->target_count};
    if (sim_stage(transfer->source, &stage, &transfer->key, &error) != GMC_OK)
        sim_oracle_violated(&swarm->world->oracle, "%s refuses to stage: %s",
                            transfer->source->name, error != NULL ? error : "?");
}

/* The late ones are killed first, and started later. */
static void set_late(struct swarm *swarm, bool there)
{
    for (size_t d = 0; d < swarm->domain_count; d++) {
        struct domain *domain = &swarm->domains[d];
        for (size_t i = 0; i < domain->node_count; i++) {
            if (!domain->late[i])
                continue;
            if (there)
                sim_host_start(domain->nodes[i]);
            else
                sim_host_crash(domain->nodes[i], SIM_CRASH_KILL);
        }
    }
}

static void on_event(void *ctx, struct sim_host *host, const struct gmc_event *event)
{
    struct swarm *swarm = ctx;
    for (size_t i = 0; i < swarm->transfer_count; i++) {
        struct transfer *transfer = &swarm->transfers[i];
        struct gmc_channel_info info;
        if (event->kind <= GMC_EVENT_MEMBER && host == transfer->source &&
            event->key.e == transfer->key.e && sim_channel(host, &transfer->key, &info))
            transfer->complete = transfer->complete || info.state == GMC_CHANNEL_COMPLETE;
    }
}

static bool all_complete(void *ctx)
{
    const struct swarm *swarm = ctx;
    for (size_t i = 0; i < swarm->transfer_count; i++)
        if (!swarm->transfers[i].complete && !swarm->transfers[i].cancelled)
            return false;
    return true;
}

/* Asks again for what ended incomplete, as its user would. */
static void insist(struct swarm *swarm)
{
    for (size_t i = 0; i < swarm->transfer_count; i++) {
        struct transfer *transfer = &swarm->transfers[i];
        struct gmc_channel_info info;
        const char *error = NULL;
        if (transfer->complete || transfer->cancelled)
            continue;
        if (!sim_channel(transfer->source, &transfer->key, &info)) {
            sim_oracle_violated(&swarm->world->oracle, "%s forgot a transfer",
                                transfer->source->name);
            begin_transfer(swarm, transfer);
        } else if (info.state >= GMC_CHANNEL_PARTIAL && transfer->resumed++ < RESUMES_MAX &&
                   sim_resume(transfer->source, &transfer->key, &error) != GMC_OK) {
            sim_world_note(swarm->world, "resume: %s", error != NULL ? error : "refused");
        }
    }
}

static bool is_target(const struct transfer *transfer, const struct domain *domain)
{
    for (size_t i = 0; i < transfer->target_count; i++)
        if (transfer->targets[i] == domain->gateway)
            return true;
    return false;
}

static void judge_node(struct swarm *swarm, const struct transfer *transfer, struct sim_host *node)
{
    struct gmc_channel_info info = {.reason = "unknown there"};
    if (sim_disk_has_delivered(&node->disk, &transfer->key))
        return;
    sim_channel(node, &transfer->key, &info);
    sim_oracle_violated(&swarm->world->oracle,
                        "%s lacks it: %" PRIu64 " of %" PRIu64 " bytes, state %d, %s", node->name,
                        info.bytes, info.total_bytes, (int)info.state,
                        info.reason != NULL ? info.reason : "");
}

static void judge(struct swarm *swarm)
{
    struct sim_oracle *oracle = &swarm->world->oracle;
    sim_oracle_check_wires(oracle);
    for (size_t t = 0; t < swarm->transfer_count; t++) {
        const struct transfer *transfer = &swarm->transfers[t];
        if (transfer->cancelled)
            continue; /* nobody needs to have it */
        if (!transfer->complete)
            sim_oracle_violated(oracle, "%s did not complete %" PRIu64 " bytes",
                                transfer->source->name, transfer->bytes);
        for (size_t d = 0; d < swarm->domain_count; d++) {
            const struct domain *domain = &swarm->domains[d];
            if (!is_target(transfer, domain))
                continue;
            if (transfer->complete)
                sim_oracle_check_delivered(oracle, domain->gateway, &transfer->key);
            for (size_t i = 0; i < domain->node_count; i++)
                judge_node(swarm, transfer, domain->nodes[i]);
        }
    }
}

/* Nodes are stopped and started again, a domain is added, or the transfer is cancelled. */
static void stop_one(struct swarm *swarm, const struct domain *domain)
{
    size_t i = (size_t)draw(&swarm->prng, 0, NODES_MAX - 1);
    struct sim_host *node = i < domain->node_count ? domain->nodes[i] : NULL;
    struct sim_host *gateway = domain->gateway;
    if (node == NULL || node->gateway == NULL || node->frozen || gateway->gateway == NULL)
        return;
    sim_world_note(swarm->world, "%s is being stopped", node->name);
    if (sim_session_is_up(&swarm->world->sessions, gateway->id, node->id))
        sim_host_on_session_end(gateway, node->id, GMC_PEER_SESSION_STOPPED,
                                "the node is being stopped");
    sim_host_crash(node, SIM_CRASH_KILL);
}

static void interfere(struct swarm *swarm, struct transfer *transfer)
{
    const struct domain *other = &swarm->domains[draw(&swarm->prng, 0, swarm->domain_count - 1)];
    bool stops = chance(&swarm->prng, 40), adds = chance(&swarm->prng, 30),
         cancels = chance(&swarm->prng, 10);
    struct gmc_channel_info info;
    const char *error = NULL;
    if (stops)
        stop_one(swarm, other);
    if (!sim_channel(transfer->source, &transfer->key, &info) || info.state > GMC_CHANNEL_RUNNING)
        return;
    adds = adds && other->gateway != transfer->source && !is_target(transfer, other);
    if (adds && sim_add(transfer->source, &transfer->key, other->gateway, &error) == GMC_OK) {
        transfer->targets[transfer->target_count++] = other->gateway;
        sim_world_note(swarm->world, "%s is added", other->gateway->name);
    }
    if (cancels && sim_cancel(transfer->source, &transfer->key, &error) == GMC_OK) {
        transfer->cancelled = true;
        sim_world_note(swarm->world, "%s cancels", transfer->source->name);
    }
}

static void suffer(struct swarm *swarm)
{
    struct sim_world *world = swarm->world;
    size_t faults = (size_t)draw(&swarm->prng, 0, 25);
    gmc_duration span = GMC_MS(draw(&swarm->prng, 500, 6000));
    gmc_duration late_by = GMC_MS(draw(&swarm->prng, 0, 1000));
    gmc_time now = sim_world_now(world);
    sim_faults_draw(&swarm->faults, &swarm->prng, faults, now, now + span);
    sim_world_run(world, late_by);
    set_late(swarm, true);
    for (size_t i = 0; i < swarm->transfer_count; i++)
        interfere(swarm, &swarm->transfers[i]);
    if (span > late_by)
        sim_world_run(world, span - late_by);
    sim_faults_heal(&swarm->faults);
}

static void run(struct swarm *swarm)
{
    struct sim_world *world = swarm->world;
    world->on_event = on_event;
    world->event_ctx = swarm;
    sim_world_start(world);
    sim_world_run(world, GMC_MS(draw(&swarm->prng, 0, 3000)));
    set_late(swarm, false);
    for (size_t i = 0; i < swarm->transfer_count; i++) {
        begin_transfer(swarm, &swarm->transfers[i]);
        sim_world_run(world, GMC_MS(draw(&swarm->prng, 0, 500)));
    }
    suffer(swarm);
    for (gmc_time waited = 0; waited < LIVENESS_LIMIT && !all_complete(swarm);
         waited += LOOK_EVERY) {
        insist(swarm);
        sim_world_run_until(world, GMC_MS(100), LOOK_EVERY, all_complete, swarm);
    }
    if (all_complete(swarm)) {
        sim_world_run(world, IDLE_AFTER);
        sim_oracle_check_idle(&world->oracle);
    }
    judge(swarm);
}

static void print_line(void *ctx, const char *text)
{
    fprintf(ctx, "%s\n", text);
}

/* Whether the seed ended as it should. */
static bool try_seed(uint64_t seed, bool verbose)
{
    struct swarm *swarm = calloc(1, sizeof(*swarm));
    if (swarm == NULL)
        abort();
    build(swarm, seed);
    if (verbose) {
        swarm->world->trace.line = print_line;
        swarm->world->trace.ctx = stdout;
    }
    run(swarm);
    const struct sim_oracle *oracle = &swarm->world->oracle;
    bool good = oracle->violations == 0;
    for (size_t i = 0; i < SIM_VIOLATIONS_KEPT && oracle->texts[i] != NULL; i++)
        printf("seed %" PRIu64 ": %s\n", seed, oracle->texts[i]);
    if (!good || verbose)
        printf("seed %" PRIu64 ": %s, %zu hosts, %zu faults, %.3f s; repeat with: "
               "tests/swarm/domains %" PRIu64 " %" PRIu64 " --verbose\n",
               seed, good ? "ok" : "FAILED", swarm->world->host_count, swarm->faults.count,
               (double)sim_world_now(swarm->world) / 1e9, seed, seed);
    fflush(stdout);
    sim_faults_fini(&swarm->faults);
    sim_world_free(swarm->world);
    free(swarm);
    return good;
}

int main(int argc, char **argv)
{
    uint64_t failed = 0;
    bool verbose = argc == 4 && strcmp(argv[3], "--verbose") == 0;
    if (argc != 3 && !verbose) {
        fputs("domains FIRST LAST [--verbose]\n", stderr);
        return 2;
    }
    uint64_t first = strtoull(argv[1], NULL, 10), last = strtoull(argv[2], NULL, 10);
    for (uint64_t seed = first; seed <= last; seed++)
        failed += !try_seed(seed, verbose);
    printf("%" PRIu64 " of %" PRIu64 " seeds failed\n", failed, last - first + 1);
    return failed == 0 ? 0 : 1;
}
