/* SPDX-License-Identifier: BSD-2-Clause */
/* The events of a multicast: a member's processor has done something, a packet stands before its
 * next link. */
#include "interconnect/multicast.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/heap.h"

#define PS_PER_US 1e6
#define CHUNK 256u /* packets that are allocated at once */

enum task { IDLE, PREPARING, SENDING, RECEIVING };

struct event {
    struct gmc_heap_node node;
    bool is_packet;
};

struct member {
    struct event event; /* its task ends */
    enum task task;
    uint32_t first, count; /* of its messages, in `order` */
    uint32_t sent;         /* messages */
    uint32_t sent_packets; /* of the next message */
    uint32_t arrived;      /* packets that are still to be taken in */
    uint32_t got;          /* packets that it has */
    uint32_t message;      /* the one that it receives, in `order` */
    bool is_prepared, received_last;
};

struct packet {
    struct event event; /* its end stands before the next link, or is through */
    uint32_t message, number;
    struct ic_hop hop;
    struct packet *next; /* among those that are free */
};

struct chunk {
    struct chunk *next;
    struct packet packets[CHUNK];
};

struct message {
    uint64_t created, entered;
    uint32_t hops;
};

struct run {
    const struct ic_multicast *multicast;
    struct ic_send *order; /* by sender, then step */
    struct message *messages;
    struct member *members;
    uint64_t *link_free, *link_busy;
    struct gmc_heap events;
    uint64_t seq;
    struct chunk *chunks;
    struct packet *free_packets;
    uint32_t packets, packet_bytes, last_bytes;
    uint32_t in_flight;
    uint64_t root_busy, latency;
    struct ic_multicast_times *times;
};

static uint64_t ps(double us)
{
    return (uint64_t)(us * PS_PER_US + 0.5);
}

static double us(uint64_t ps)
{
    return (double)ps / PS_PER_US;
}

/* ---- room ---- */
static gmc_status add_chunk(struct run *run)
{
    struct chunk *chunk = calloc(1, sizeof(*chunk));
    if (chunk == NULL)
        return GMC_ERR_NOMEM;
    chunk->next = run->chunks;
    run->chunks = chunk;
    for (uint32_t i = 0; i < CHUNK; i++) {
        chunk->packets[i].next = run->free_packets;
        run->free_packets = &chunk->packets[i];
    }
    return GMC_OK;
}

static gmc_status take_packet(struct run *run, struct packet **packet)
{
    gmc_status status = run->free_packets == NULL ? add_chunk(run) : GMC_OK;
    if (status != GMC_OK)
        return status;
    *packet = run->free_packets;
    run->free_packets = (*packet)->next;
    **packet = (struct packet){.event = {.is_packet = true}};
    return GMC_OK;
}

static void give_packet(struct run *run, struct packet *packet)
{
    packet->next = run->free_packets;
    run->free_packets = packet;
}

/* ---- processors ---- */
static uint32_t bytes_of(const struct run *run, uint32_t packet)
{
    return packet + 1 < run->packets ? run->packet_bytes : run->last_bytes;
}

static uint64_t cost_of(const struct run *run, const struct ic_cost *cost, uint32_t packet)
{
    return ps((packet == 0 ? cost->us : 0) + cost->us_per_byte * bytes_of(run, packet));
}

static bool is_root(const struct run *run, const struct member *member)
{
    return member == &run->members[run->multicast->schedule->root];
}

static gmc_status begin_task(struct run *run, struct member *member, enum task task, uint64_t now,
                             uint64_t lasts)
{
    member->task = task;
    if (is_root(run, member))
        run->root_busy += lasts;
    return gmc_heap_push(&run->events, &member->event.node, now + lasts, run->seq++);
}

static gmc_status begin_sending(struct run *run, struct member *member, uint64_t now)
{
    const struct ic_multicast_costs *costs = &run->multicast->costs;
    if (member->sent_packets == 0) {
        run->messages[member->first + member->sent].created = now;
        if (++run->in_flight > run->times->concurrency)
            run->times->concurrency = run->in_flight;
    }
    return begin_task(run, member, SENDING, now, cost_of(run, &costs->send, member->sent_packets));
}

/* The next thing that its processor can do, if there is one. */
static gmc_status go_on(struct run *run, struct member *member, uint64_t now)
{
    const struct ic_multicast_costs *costs = &run->multicast->costs;
    bool can_receive = member->arrived > 0;
    bool can_send = member->sent < member->count && member->sent_packets < member->got;
    if (member->task != IDLE || (!can_receive && !can_send))
        return GMC_OK;
    if (can_receive && (!can_send || !member->received_last)) {
        member->received_last = true;
        return begin_task(run, member, RECEIVING, now, cost_of(run, &costs->receive, member->got));
    }
    member->received_last = false;
    if (member->is_prepared)
        return begin_sending(run, member, now);
    member->is_prepared = true;
    return begin_task(run, member, PREPARING, now,
                      is_root(run, member)
                          ? ps(costs->root.us + costs->root.us_per_byte * run->multicast->bytes)
                          : ps(costs->forward_us));
}

/* ---- packets ---- */
static gmc_status before_link(struct run *run, struct packet *packet, uint64_t now);

/* The next packet of this message, or the same one of the next message. */
static void pass_on(const struct run *run, struct member *member)
{
    if (!run->multicast->by_turns) {
        if (++member->sent_packets == run->packets) {
            member->sent++;
            member->sent_packets = 0;
        }
    } else if (++member->sent == member->count && ++member->sent_packets < run->packets) {
        member->sent = 0;
    }
}

static gmc_status end_sending(struct run *run, struct member *member, uint64_t now)
{
    uint32_t place = member->first + member->sent;
    struct packet *packet;
    gmc_status status = take_packet(run, &packet);
    if (status != GMC_OK)
        return status;
    packet->message = place;
    packet->number = member->sent_packets;
    packet->hop = (struct ic_hop){.from = run->order[place].from, .to = run->order[place].to};
    if (member->sent_packets == 0)
        run->messages[place].entered = now;
    pass_on(run, member);
    return before_link(run, packet, now);
}

static gmc_status arrive(struct run *run, struct packet *packet, uint64_t now)
{
    struct member *member = &run->members[packet->hop.to];
    run->messages[packet->message].hops = packet->hop.hops;
    member->message = packet->message;
    member->arrived++;
    give_packet(run, packet);
    return go_on(run, member, now);
}

static gmc_status before_link(struct run *run, struct packet *packet, uint64_t now)
{
    const struct ic_multicast *multicast = run->multicast;
    struct ic_hop *hop = &packet->hop;
    if (!multicast->next_hop(multicast->network, hop))
        return arrive(run, packet, now);
    hop->hops++;
    GMC_ASSERT(hop->link < multicast->links);
    uint64_t on_link = ps(multicast->costs.link_us_per_byte * bytes_of(run, packet->number));
    uint64_t leaves = run->link_free[hop->link] + on_link;
    if (leaves < now)
        leaves = now;
    run->link_free[hop->link] = leaves;
    run->link_busy[hop->link] += on_link;
    return gmc_heap_push(&run->events, &packet->event.node, leaves + ps(hop->latency_us),
                         run->seq++);
}

static void end_receiving(struct run *run, struct member *member, uint64_t now)
{
    const struct ic_multicast *multicast = run->multicast;
    const struct ic_cost *deliver = &multicast->costs.deliver;
    const struct message *message = &run->messages[member->message];
    member->arrived--;
    if (++member->got < run->packets)
        return;
    run->in_flight--;
    run->times->visits += message->hops;
    now += ps(deliver->us + deliver->us_per_byte * multicast->bytes);
    if (now > run->latency)
        run->latency = now;
    if (multicast->on_message != NULL)
        multicast->on_message(multicast->ctx, &run->order[member->message], message->hops,
                              us(message->created), us(message->entered), us(now));
}

static gmc_status end_task(struct run *run, struct member *member, uint64_t now)
{
    enum task task = member->task;
    gmc_status status = GMC_OK;
    member->task = IDLE;
    if (task == SENDING)
        status = end_sending(run, member, now);
    else if (task == RECEIVING)
        end_receiving(run, member, now);
    return status == GMC_OK ? go_on(run, member, now) : status;
}

/* ---- all ---- */
static int by_sender(const void *left, const void *right)
{
    const struct ic_send *a = left, *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->step > b->step) - (a->step < b->step);
}

static void assign_messages(struct run *run)
{
    const struct ic_schedule *schedule = run->multicast->schedule;
    memcpy(run->order, schedule->sends, schedule->count * sizeof(*run->order));
    qsort(run->order, schedule->count, sizeof(*run->order), by_sender);
    for (size_t i = 0; i < schedule->count; i++) {
        struct member *sender = &run->members[run->order[i].from];
        if (sender->count++ == 0)
            sender->first = (uint32_t)i;
    }
}

static gmc_status cut(struct run *run, char *error)
{
    const struct ic_multicast *multicast = run->multicast;
    uint32_t bytes = multicast->bytes, packet = multicast->packet_bytes;
    GMC_ASSERT(bytes > 0);
    run->packet_bytes = packet == 0 || packet > bytes ? bytes : packet;
    run->packets = (bytes - 1) / run->packet_bytes + 1;
    run->last_bytes = bytes - (run->packets - 1) * run->packet_bytes;
    if (run->packets <= IC_PACKETS_MAX)
        return GMC_OK;
    return ic_refuse(error, "packets of %u bytes make %u of the message; at most %u", packet,
                     run->packets, IC_PACKETS_MAX);
}

static gmc_status make_room(struct run *run)
{
    const struct ic_multicast *multicast = run->multicast;
    size_t members = multicast->schedule->members;
    run->order = calloc(members, sizeof(*run->order));
    run->messages = calloc(members, sizeof(*run->messages));
    run->members = calloc(members, sizeof(*run->members));
    run->link_free = calloc(multicast->links, sizeof(*run->link_free));
    run->link_busy = calloc(multicast->links, sizeof(*run->link_busy));
    gmc_heap_init(&run->events);
    if (run->order == NULL || run->messages == NULL || run->members == NULL ||
        run->link_free == NULL || run->link_busy == NULL)
        return GMC_ERR_NOMEM;
    return GMC_OK;
}

static void release(struct run *run)
{
    while (run->chunks != NULL) {
        struct chunk *next = run->chunks->next;
        free(run->chunks);
        run->chunks = next;
    }
    gmc_heap_fini(&run->events);
    free(run->order);
    free(run->messages);
    free(run->members);
    free(run->link_free);
    free(run->link_busy);
}

#define OWNER(node, type) ((type *)(void *)((char *)(node)-offsetof(type, event)))

static gmc_status loop(struct run *run)
{
    gmc_status status = go_on(run, &run->members[run->multicast->schedule->root], 0);
    while (status == GMC_OK) {
        struct gmc_heap_node *next = gmc_heap_pop(&run->events);
        if (next == NULL)
            break;
        const struct event *event = (const struct event *)(const void *)next; /* its first member */
        status = event->is_packet ? before_link(run, OWNER(next, struct packet), next->key)
                                  : end_task(run, OWNER(next, struct member), next->key);
    }
    return status;
}

static void sum_up(const struct run *run, double *link_us)
{
    struct ic_multicast_times *times = run->times;
    uint64_t busiest = 0;
    for (uint32_t i = 0; i < run->multicast->links; i++) {
        uint64_t busy = run->link_busy[i];
        busiest = busy > busiest ? busy : busiest;
        times->used_links += busy > 0;
        if (link_us != NULL)
            link_us[i] = us(busy);
    }
    times->busiest_link_us = us(busiest);
    times->latency_us = us(run->latency);
    times->root_busy_us = us(run->root_busy);
    times->step_concurrency = ic_schedule_concurrency(run->multicast->schedule);
}

gmc_status ic_multicast_run(const struct ic_multicast *multicast, struct ic_multicast_times *times,
                            double *link_us, char *error)
{
    struct run run = {.multicast = multicast, .times = times};
    *times = (struct ic_multicast_times){0};
    gmc_status status = cut(&run, error);
    if (status != GMC_OK)
        return status;
    status = make_room(&run);
    if (status == GMC_OK) {
        assign_messages(&run);
        run.members[multicast->schedule->root].got = run.packets;
        status = loop(&run);
    }
    if (status == GMC_OK)
        sum_up(&run, link_us);
    release(&run);
    return status;
}
