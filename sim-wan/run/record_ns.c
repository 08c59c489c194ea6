/* SPDX-License-Identifier: BSD-2-Clause */
/* The recorder of traces in the form of ns-2 (The ns Manual, "Trace File Format"), a line for each
 * thing that happens to a packet on a wire:
 *
 *   EVENT SECONDS FROM TO TYPE BYTES FLAGS FLOW SOURCE.PORT DESTINATION.PORT SEQUENCE PACKET
 *
 * EVENT is + (into the queue), - (its sending begins), r (received) or d (dropped). Hosts are the
 * numbers of the nodes in the topology. TYPE is udp (a gateway's datagram), tcp, ack or cbr
 * (background traffic). FLAGS are ns-2's seven: E in the fifth place is Congestion Experienced, N
 * in the last an ECN-capable packet. SEQUENCE is that of a segment, -1 for datagrams.
 *
 * When a packet's sending began is known only later where its turn is (CoDel, bounds in packets),
 * so lines wait until no earlier one can come: for the longest time that any wire takes.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/map.h"
#include "sim-wan/mem.h"
#include "sim-wan/run/drive.h"
#include "sim-wan/run/record_file.h"
#include "sim-wan/run/recorders.h"

#define FULL_PACKET_BYTES 1500u

struct line {
    gmc_time time;
    uint64_t order; /* of lines of one time */
    uint64_t packet;
    uint32_t from, to; /* of the wire */
    uint32_t source, destination;
    uint32_t bytes;
    int64_t sequence;
    uint64_t flow;
    char event;
    uint8_t proto, ecn;
    bool has_data;
};

struct ns {
    const struct sim_run *run;
    struct sim_out_file out;
    gmc_duration horizon; /* how late a line may come */
    struct line *heap;
    size_t count, capacity;
    uint64_t lines, packets;
    struct gmc_map numbers; /* of packets by where they are in memory */
};

/* ---- lines in order ---- */
static bool is_before(const struct line *a, const struct line *b)
{
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static void push(struct ns *ns, struct line line)
{
    line.order = ns->lines++;
    ns->heap = sim_reserve(ns->heap, ns->count, &ns->capacity, sizeof(*ns->heap));
    size_t at = ns->count++;
    for (; at > 0 && is_before(&line, &ns->heap[(at - 1) / 2]); at = (at - 1) / 2)
        ns->heap[at] = ns->heap[(at - 1) / 2];
    ns->heap[at] = line;
}

static struct line pop(struct ns *ns)
{
    struct line top = ns->heap[0], last = ns->heap[--ns->count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < ns->count && is_before(&ns->heap[child + 1], &ns->heap[child]))
            child++;
        if (child >= ns->count || !is_before(&ns->heap[child], &last))
            break;
        ns->heap[at] = ns->heap[child];
        at = child;
    }
    ns->heap[at] = last;
    return top;
}

static void write_line(struct ns *ns, const struct line *line)
{
    static const char *const types[] = {"udp", "tcp", "cbr"};
    const char *type = types[line->proto];
    char flags[] = "-------";
    if (line->proto == SIM_PROTO_TCP && !line->has_data)
        type = "ack";
    if (line->ecn == SIM_ECN_CE)
        flags[4] = 'E';
    if (line->ecn != SIM_ECN_NOT_ECT)
        flags[6] = 'N';
    gmc_duration since = gmc_time_sub(line->time, ns->run->zero);
    fprintf(ns->out.file,
            "%c %" PRIu64 ".%09" PRIu64 " %" PRIu32 " %" PRIu32 " %s %" PRIu32 " %s %" PRIu64
            " %" PRIu32 ".0 %" PRIu32 ".0 %" PRId64 " %" PRIu64 "\n",
            line->event, since / GMC_S(1), since % GMC_S(1), line->from, line->to, type,
            line->bytes, flags, line->flow, line->source, line->destination, line->sequence,
            line->packet);
}

static void write_until(struct ns *ns, gmc_time time)
{
    while (ns->count > 0 && ns->heap[0].time <= time) {
        struct line line = pop(ns);
        write_line(ns, &line);
    }
}

/* ---- what happens ---- */
/* The packet's number: given where it begins, forgotten where it ends. */
static uint64_t number_of(struct ns *ns, const struct sim_packet *packet, bool is_new)
{
    uint64_t key = (uint64_t)(uintptr_t)packet;
    uintptr_t known = is_new ? 0 : (uintptr_t)gmc_map_get(&ns->numbers, key);
    if (known != 0)
        return known - 1;
    if (gmc_map_put(&ns->numbers, key, (void *)(uintptr_t)(ns->packets + 1)) != GMC_OK)
        return 0;
    return ns->packets++;
}

static gmc_duration sending_time(const struct sim_lane *lane, const struct sim_packet *packet)
{
    if (lane->config.rate_bps == 0)
        return 0;
    return gmc_duration_of_bytes(packet->wire_bytes, lane->config.rate_bps);
}

static void on_packet(void *state, uint32_t wire, int direction, enum sim_wire_news news,
                      enum sim_drop drop, const struct sim_packet *packet)
{
    struct ns *ns = state;
    const struct sim_lane *lane = sim_net_lane(&ns->run->world->net, wire, direction);
    const struct sim_topo_link *link = &ns->run->plan->topo.links[wire];
    gmc_time now = ns->run->world->engine.now;
    struct line line = {.time = now,
                        .from = direction == 0 ? link->a : link->b,
                        .to = direction == 0 ? link->b : link->a,
                        .source = packet->from,
                        .destination = packet->to,
                        .bytes = packet->wire_bytes,
                        .sequence = -1,
                        .proto = packet->proto,
                        .ecn = packet->ecn,
                        .has_data = packet->wire_bytes > SIM_TCP_OVERHEAD_BYTES};
    if (packet->proto == SIM_PROTO_TCP || packet->proto == SIM_PROTO_PLAIN)
        line.flow = sim_packet_segment_of(packet)->connection;
    if (packet->proto == SIM_PROTO_TCP)
        line.sequence = sim_packet_segment_of(packet)->sequence;
    line.packet = number_of(ns, packet, news == SIM_WIRE_OFFERED && packet->from == line.from);
    line.event = news == SIM_WIRE_OFFERED ? '+' : news == SIM_WIRE_DROPPED ? 'd' : 'r';
    (void)drop;
    if (news == SIM_WIRE_DELIVERED) {
        struct line sent = line;
        gmc_duration ago = gmc_time_add(lane->config.delay, sending_time(lane, packet));
        sent.event = '-';
        sent.time = gmc_time_sub(now, ago);
        push(ns, sent);
    }
    push(ns, line);
    if (news == SIM_WIRE_DROPPED || (news == SIM_WIRE_DELIVERED && packet->to == line.to))
        gmc_map_remove(&ns->numbers, (uint64_t)(uintptr_t)packet);
    write_until(ns, gmc_time_sub(now, ns->horizon));
}

/* ---- the recorder ---- */
static gmc_duration longest_lane(const struct sim_wire_config *wire)
{
    gmc_duration time = wire->delay + wire->jitter + wire->reorder_by;
    if (wire->rate_bps > 0)
        time +=
            gmc_duration_of_bytes(wire->mtu > 0 ? wire->mtu : FULL_PACKET_BYTES, wire->rate_bps);
    return time;
}

/* Also of what faults make of a wire. */
static gmc_duration longest_wire(const struct sim_plan *plan)
{
    gmc_duration longest = 0;
    for (size_t i = 0; i < plan->topo.link_count; i++) {
        longest = gmc_time_max(longest, longest_lane(&plan->topo.links[i].a_to_b));
        longest = gmc_time_max(longest, longest_lane(&plan->topo.links[i].b_to_a));
    }
    for (size_t i = 0; i < plan->fault_count; i++)
        for (int way = 0; way < 2; way++)
            longest = gmc_time_max(longest, longest_lane(&plan->faults[i].lanes[way]));
    return longest;
}

static void *open_ns(const struct sim_run *run, const char *target, char *error)
{
    struct sim_out_file out;
    if (!sim_record_create(&out, NULL, target, error))
        return NULL;
    struct ns *ns = sim_calloc(1, sizeof(*ns));
    ns->run = run;
    ns->out = out;
    ns->horizon = longest_wire(run->plan);
    gmc_map_init(&ns->numbers, 0);
    return ns;
}

static bool close_ns(void *state, bool keep, char *error)
{
    struct ns *ns = state;
    write_until(ns, GMC_TIME_NEVER);
    bool ok = sim_record_close(&ns->out, keep, error);
    gmc_map_fini(&ns->numbers);
    free(ns->heap);
    free(ns);
    return ok;
}

const struct sim_recorder_ops sim_record_ns = {
    .name = "ns",
    .target = "FILE",
    .summary = "each packet's way as lines, as ns-2 does",
    .open = open_ns,
    .packet = on_packet,
    .close = close_ns,
};
