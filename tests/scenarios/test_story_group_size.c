/* SPDX-License-Identifier: BSD-2-Clause */
/* A group's completion must hardly depend on how many nodes it has: 3 to 100 nodes that lose 5 %
 * each, where the time goes, and what crosses the gateway's port by kinds of datagrams. The limit
 * is a change of 5 % between the smallest group and the others. A fifth of the bytes changes more:
 * to hear from 100 nodes that they listen, and that they have the last window, takes 15 ms longer.
 *
 *   test_story_group_size [SEEDS [NODES [PERCENT [MEGABYTES]]]]
 *                             the mean of so many runs of each size [1]; of one size [0: of all];
 *                             at this loss [5], with an object of so many bytes [100]
 */
#include "tests/scenarios/lan.h"

#include <stdio.h>

#include "wire/head.h"

#define CHANGE_MOST 1.05

enum { FRESH, PARITY, STATE, UNICAST, ACKS, CONTROL, CLASSES };

/* What a run of one size came to. */
struct figures {
    double seconds, begins, fresh_ends; /* since the stage: first and last fragment, once each */
    double bytes[CLASSES];              /* out of the gateway's port, per byte of the object */
    double back;                        /* into it */
};

struct tap {
    struct lan *lan;
    uint32_t wire;
    int direction; /* out of the gateway */
    struct figures *figures;
};

static int class_of(uint8_t kind)
{
    switch (kind) {
    case GMC_KIND_GROUP_DATA:
        return FRESH;
    case GMC_KIND_GROUP_REPAIR:
        return PARITY;
    case GMC_KIND_GROUP_STATE:
        return STATE;
    case GMC_KIND_DATA:
        return UNICAST;
    case GMC_KIND_ACK:
        return ACKS;
    default:
        return CONTROL;
    }
}

static void watch(void *ctx, uint32_t wire, int direction, enum sim_wire_news news,
                  enum sim_drop drop, const struct sim_packet *packet)
{
    const struct tap *tap = ctx;
    struct figures *figures = tap->figures;
    uint8_t kind;
    (void)drop;
    if (wire != tap->wire || news != SIM_WIRE_OFFERED)
        return;
    if (direction != tap->direction) {
        figures->back += packet->wire_bytes;
        return;
    }
    if (packet->proto != SIM_PROTO_UDP ||
        gmc_head_kind(gmc_bytes(packet->data, packet->len), &kind) != GMC_OK)
        kind = GMC_KIND_STREAM; /* of the sessions */
    int class = class_of(kind);
    figures->bytes[class] += packet->wire_bytes;
    if (class != FRESH)
        return;
    figures->fresh_ends = story_seconds(&tap->lan->story);
    if (figures->begins == 0)
        figures->begins = figures->fresh_ends;
}

static struct tap tap_at_gateway(struct lan *lan, struct figures *figures)
{
    struct sim_net *net = &lan->story.world->net;
    uint32_t gateway = story_host(&lan->story, "a")->id, a, b;
    uint32_t wire = sim_net_wire_between(net, gateway, story_host(&lan->story, "switch")->id);
    sim_net_wire_ends(net, wire, &a, &b);
    return (struct tap){lan, wire, a == gateway ? 0 : 1, figures};
}

static unsigned seeds = 1;
static size_t only; /* this size; 0: all */
static uint32_t loss_ppm = 50000;
static uint64_t object_bytes = 100 * MB;

static void run(size_t nodes, uint64_t seed, struct figures *sum)
{
    struct lan lan;
    struct figures one = {.seconds = 0};
    lan_begin(&lan, seed, nodes, &(struct lan_loss){loss_ppm, 0});
    struct tap tap = tap_at_gateway(&lan, &one);
    story_run(&lan.story, GMC_S(4)); /* sessions are TCP, whose losses cost seconds */
    sim_world_watch(lan.story.world, watch, &tap);
    story_stage(&lan.story, object_bytes, GMC_TREE_CHAIN, "a");
    one.seconds = lan_run_to(&lan, 1, nodes, GMC_S(20 + object_bytes / MB));
    sim_world_watch(lan.story.world, NULL, NULL);
    lan_end(&lan);
    sum->seconds += one.seconds;
    sum->begins += one.begins;
    sum->fresh_ends += one.fresh_ends;
    sum->back += one.back / (double)object_bytes;
    for (int i = 0; i < CLASSES; i++)
        sum->bytes[i] += one.bytes[i] / (double)object_bytes;
}

static struct figures measure(size_t nodes)
{
    struct figures sum = {.seconds = 0};
    for (unsigned i = 0; i < seeds; i++)
        run(nodes, 100 * (i + 1) + nodes, &sum);
    sum.seconds /= seeds;
    sum.begins /= seeds;
    sum.fresh_ends /= seeds;
    sum.back /= seeds;
    for (int i = 0; i < CLASSES; i++)
        sum.bytes[i] /= seeds;
    return sum;
}

static void print_row(size_t nodes, const struct figures *figures)
{
    const double *bytes = figures->bytes;
    print_message("%5zu  %7.3f  %6.3f  %6.3f %6.3f  %6.4f %6.4f %6.4f %7.4f %6.4f %7.4f  %6.4f\n",
                  nodes, figures->seconds,
                  lan_at_rate(object_bytes) / (1 - loss_ppm / 1e6) / figures->seconds,
                  figures->begins, figures->seconds - figures->fresh_ends, bytes[FRESH],
                  bytes[PARITY], bytes[STATE], bytes[UNICAST], bytes[ACKS], bytes[CONTROL],
                  figures->back);
}

static void test_size_hardly_matters(void **state)
{
    static const size_t all[] = {3, 12, 100};
    const size_t *sizes = only > 0 ? &only : all;
    double first = 0, most = 0;
    (void)state;
    print_message(
        "                 of          last              bytes out of the port per byte\n");
    print_message("nodes  seconds   limit  begins   tail   fresh parity  state unicast   acks"
                  " control    back\n");
    for (size_t i = 0; i < (only > 0 ? 1 : sizeof(all) / sizeof(*all)); i++) {
        struct figures figures = measure(sizes[i]);
        print_row(sizes[i], &figures);
        first = first == 0 ? figures.seconds : first;
        double change = figures.seconds / first;
        print_message("       %.3f of the smallest group's time, limit %.2f\n", change,
                      CHANGE_MOST);
        most = change > most ? change : most;
    }
    assert_true(most <= CHANGE_MOST);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {story_test(test_size_hardly_matters)};
    if (argc > 1)
        seeds = (unsigned)atoi(argv[1]);
    if (argc > 2)
        only = (size_t)atoi(argv[2]);
    if (argc > 3)
        loss_ppm = (uint32_t)(atof(argv[3]) * 10000);
    if (argc > 4)
        object_bytes = (uint64_t)atoi(argv[4]) * MB;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
