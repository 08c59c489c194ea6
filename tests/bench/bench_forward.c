/* SPDX-License-Identifier: BSD-2-Clause */
/* Plain forwarding: CBR datagrams of 1000 bytes over wires of 1 Gbit/s and 1 ms along static
 * shortest paths, and how many times a packet crosses a wire in a CPU second. bench_forward_ns3.cc
 * is the same in ns-3.
 *
 *   bench_forward chain|tree HOSTS HOPS     prints packet-hops per CPU second, after about HOPS
 *
 * chain: flows end to end, each over at most 200 wires, because IP's TTL ends at 255. tree:
 * complete and binary, a flow from the root to each leaf. Flows send in turn, one packet each 10 us
 * in all.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim-wan/mem.h"
#include "sim-wan/net.h"

#define PAYLOAD_BYTES 1000u
#define INTERVAL GMC_US(10)
#define FLOW_HOPS_MAX 200u

struct flow {
    uint32_t from, to;
};

struct source {
    struct sim_event event;
    struct sim_net *net;
    struct flow *flows;
    uint32_t flow_count, next;
    uint64_t left; /* packets */
};

static uint64_t arrived;

static bool on_arrived(void *ctx, uint32_t host, struct sim_packet *packet)
{
    (void)ctx;
    (void)host;
    (void)packet;
    arrived++;
    return false;
}

/* Nobody looks at the payload: the packet has its length only, as in ns-3. */
static void send_next(struct sim_event *event, gmc_time now)
{
    struct source *source = SIM_OWNER(event, struct source, event);
    struct sim_packet *packet = sim_packet_new(&source->net->pool, 0);
    packet->from = source->flows[source->next].from;
    packet->to = source->flows[source->next].to;
    packet->proto = SIM_PROTO_UDP;
    packet->wire_bytes = PAYLOAD_BYTES + SIM_UDP_OVERHEAD_BYTES;
    source->next = source->next + 1 < source->flow_count ? source->next + 1 : 0;
    sim_net_send(source->net, packet);
    if (--source->left > 0)
        sim_engine_at(source->net->engine, event, now + INTERVAL);
}

static uint64_t add_chain_flows(struct source *source, uint32_t n)
{
    for (uint32_t from = 0; from < n - 1; from += FLOW_HOPS_MAX) {
        uint32_t to = from + FLOW_HOPS_MAX < n ? from + FLOW_HOPS_MAX : n - 1;
        source->flows[source->flow_count++] = (struct flow){from, to};
    }
    return n - 1;
}

static uint64_t add_tree_flows(struct source *source, uint32_t n)
{
    uint64_t hops = 0;
    for (uint32_t i = n / 2; i < n; i++) {
        source->flows[source->flow_count++] = (struct flow){0, i};
        for (uint32_t at = i; at > 0; at = (at - 1) / 2)
            hops++;
    }
    return hops;
}

/* Returns the hops that one packet of each flow takes. */
static uint64_t build(struct sim_net *net, bool chain, uint32_t n, struct source *source)
{
    const struct sim_wire_config wire = {.rate_bps = 1000000000, .delay = GMC_MS(1)};
    source->flows = sim_calloc(n, sizeof(*source->flows));
    for (uint32_t i = 0; i < n; i++)
        sim_net_add_host(net);
    for (uint32_t i = 1; i < n; i++)
        sim_net_add_wire(net, chain ? i - 1 : (i - 1) / 2, i, &wire, &wire);
    uint64_t hops = chain ? add_chain_flows(source, n) : add_tree_flows(source, n);
    for (uint32_t i = 0; i < source->flow_count; i++) /* routes are static: not measured */
        sim_net_path_delay(net, source->flows[i].from, source->flows[i].to);
    return hops;
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    uint32_t n = argc == 4 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    if (n < 2) {
        fputs("bench_forward chain|tree HOSTS HOPS\n", stderr);
        return 2;
    }
    struct sim_engine engine;
    struct sim_net net;
    struct gmc_prng prng;
    struct source source = {.net = &net};
    gmc_prng_init(&prng, 1);
    sim_engine_init(&engine);
    sim_net_init(&net, &engine, &(struct sim_net_sink){NULL, on_arrived, NULL, NULL}, &prng);
    uint64_t hops = build(&net, strcmp(argv[1], "chain") == 0, n, &source);
    uint64_t packets = strtoull(argv[3], NULL, 10) * source.flow_count / hops + 1;
    source.left = packets;
    sim_event_init(&source.event, send_next);
    sim_engine_at(&engine, &source.event, 0);
    double begin = cpu_seconds();
    sim_engine_run(&engine, GMC_TIME_NEVER - 1);
    double seconds = cpu_seconds() - begin;
    uint64_t crossed = 0;
    for (uint32_t wire = 0; wire < net.wire_count; wire++)
        crossed += sim_net_lane(&net, wire, 0)->count.delivered_packets;
    if (arrived != packets) {
        fprintf(stderr, "bench_forward: %" PRIu64 " of %" PRIu64 " arrived\n", arrived, packets);
        return 1;
    }
    printf("%.0f\n", (double)crossed / seconds);
    sim_net_fini(&net);
    sim_engine_fini(&engine);
    free(source.flows);
    return 0;
}
