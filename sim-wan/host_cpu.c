/* SPDX-License-Identifier: BSD-2-Clause */
/* The buffers in front of a simulated gateway, of datagrams and, while it is frozen, of segments;
 * and the processor that works on the former: a queue with one server. */
#include "base/assert.h"
#include "sim-wan/host_internal.h"
#include "sim-wan/mem.h"

#define SEGMENTS_MAX 4096u /* that wait at a frozen host; more are lost */

static gmc_duration cost_of(const struct sim_host *host, size_t bytes)
{
    return host->cpu.per_datagram + bytes * host->cpu.per_byte_ps / 1000;
}

void sim_host_charge(struct sim_host *host, size_t bytes)
{
    if (sim_host_has_cpu_cost(host))
        host->cpu_busy_until =
            gmc_time_max(host->cpu_busy_until, host->world->engine.now) + cost_of(host, bytes);
}

/* ---- the buffer ---- */
bool sim_host_has_room(struct sim_host *host, const struct sim_packet *packet)
{
    uint64_t bound = host->cpu.socket_bytes > 0 ? host->cpu.socket_bytes : SIM_SOCKET_BYTES;
    if (host->socket_bytes + packet->len <= bound)
        return true;
    host->count.lost_in_socket++;
    return false;
}

bool sim_host_wait_in_socket(struct sim_host *host, struct sim_packet *packet)
{
    bool is_shared = (packet->to & SIM_TO_GROUP) != 0;
    if (!sim_host_has_room(host, packet))
        return false;
    if (is_shared)
        packet = sim_packet_copy(&host->world->net.pool, packet);
    sim_packet_push(&host->socket, packet);
    host->socket_bytes += packet->len;
    if (!host->frozen && host->socket.first == packet)
        sim_host_read_socket(host);
    return !is_shared;
}

static struct sim_packet *take_from_socket(struct sim_host *host)
{
    struct sim_packet *packet = sim_packet_shift(&host->socket);
    if (packet != NULL)
        host->socket_bytes -= packet->len;
    return packet;
}

/* ---- connections of a frozen host ---- */
bool sim_host_on_segment(struct sim_host *host, struct sim_packet *packet)
{
    if (!host->frozen) {
        sim_tcp_arrived(&host->world->sessions.tcp, host->id, packet);
        return false;
    }
    if (host->segment_count == SEGMENTS_MAX)
        return false;
    sim_packet_push(&host->segments, packet);
    host->segment_count++;
    return true;
}

static struct sim_packet *take_segment(struct sim_host *host)
{
    struct sim_packet *packet = sim_packet_shift(&host->segments);
    host->segment_count -= packet != NULL;
    return packet;
}

void sim_host_read_segments(struct sim_host *host)
{
    struct sim_packet *packet;
    while ((packet = take_segment(host)) != NULL) {
        sim_tcp_arrived(&host->world->sessions.tcp, host->id, packet);
        sim_packet_free(&host->world->net.pool, packet);
    }
}

void sim_host_empty_socket(struct sim_host *host)
{
    struct sim_packet *packet;
    while ((packet = take_segment(host)) != NULL)
        sim_packet_free(&host->world->net.pool, packet);
    while ((packet = take_from_socket(host)) != NULL)
        sim_packet_free(&host->world->net.pool, packet);
    sim_engine_cancel(&host->world->engine, &host->cpu_event);
}

static void hear_first(struct sim_host *host)
{
    struct sim_packet *packet = take_from_socket(host);
    sim_packet_warm(host->socket.first); /* while this one is looked at */
    sim_host_hear(host, packet);
    sim_packet_free(&host->world->net.pool, packet);
}

/* ---- the processor ---- */
/* Begins to work on the first datagram that waits. Without a cost all are heard at once. */
void sim_host_read_socket(struct sim_host *host)
{
    if (sim_host_is_moderated(host)) {
        sim_host_wake(host);
        return;
    }
    while (!sim_host_has_cpu_cost(host) && !host->frozen && host->socket.first != NULL)
        hear_first(host);
    if (host->frozen || host->socket.first == NULL)
        return;
    sim_host_charge(host, host->socket.first->len);
    sim_engine_at(&host->world->engine, &host->cpu_event, host->cpu_busy_until);
}

/* The first one's cost has passed; what a timer sent meanwhile comes before it. */
static void on_worked(struct sim_event *event, gmc_time now)
{
    struct sim_host *host = SIM_OWNER(event, struct sim_host, cpu_event);
    if (host->frozen || host->socket.first == NULL)
        return;
    if (host->cpu_busy_until > now) {
        sim_engine_at(&host->world->engine, event, host->cpu_busy_until);
        return;
    }
    hear_first(host);
    sim_host_read_socket(host);
}

/* ---- a host that wakes now and then ---- */
void sim_host_look(struct sim_host *host)
{
    host->is_looking = true;
    host->rests_until = gmc_time_add(host->world->engine.now, host->cpu.wake);
    sim_disk_answer(&host->disk, SIZE_MAX);
    uint64_t waited = host->socket_bytes;
    while (host->socket.first != NULL)
        hear_first(host);
    /* What it collects has waited in the same buffer, until now. */
    host->socket_bytes = waited;
    host->arrives_at = sim_net_take(&host->world->net, host->id);
    host->socket_bytes = 0;
    if (gmc_gateway_deadline(host->gateway) <= sim_host_now(host)) {
        host->count.timers++;
        gmc_gateway_on_timer(host->gateway, sim_host_now(host));
    }
    host->is_looking = false;
    sim_host_drain(host);
    host->near.count = 0;
    sim_net_near(&host->world->net, host->id, &host->near);
    sim_disk_near(&host->disk, &host->near);
    gmc_near_add(&host->near, host->peer_hosts, host->peer_count * sizeof(*host->peer_hosts));
    gmc_gateway_near(host->gateway, &host->near);
}

void sim_host_wake(struct sim_host *host)
{
    struct sim_engine *engine = &host->world->engine;
    if (host->frozen)
        return;
    if (host->rests_until <= engine->now) {
        sim_host_look(host);
    } else if (host->wakes_at > host->rests_until) {
        host->wakes_at = host->rests_until;
        sim_engine_at(engine, &host->timer, host->wakes_at);
    }
}

void sim_host_expect(struct sim_host *host, gmc_time when)
{
    host->arrives_at = gmc_time_min(host->arrives_at, when);
    when = gmc_time_max(when, host->rests_until);
    if (host->is_looking || host->wakes_at <= when)
        return;
    host->wakes_at = when;
    sim_engine_at(&host->world->engine, &host->timer, when);
}

void sim_host_review_collection(struct sim_host *host)
{
    bool collects = host->gateway != NULL && !host->frozen && sim_host_is_moderated(host);
    host->arrives_at = GMC_TIME_NEVER;
    sim_net_collect(&host->world->net, host->id, collects);
}

void sim_host_init_cpu(struct sim_host *host)
{
    host->wakes_at = host->arrives_at = GMC_TIME_NEVER;
    sim_event_init(&host->cpu_event, on_worked);
    host->cpu = host->world->config.cpu;
}

void sim_host_set_cpu(struct sim_host *host, const struct sim_cpu_config *config)
{
    host->cpu = *config;
    sim_host_review_collection(host);
}
