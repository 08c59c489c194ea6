/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets between TUN devices and modelled wires; see forward.h. */
#include "sim-wan/emulate/forward.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "sim-wan/emulate/ip.h"
#include "sim-wan/mem.h"

#define MTU_DEFAULT 1500u
/* Devices, and packets of each, before what is due goes out. */
#define READY_MAX 32
#define BATCH 64
#define WATCHED UINT32_MAX
#define TURN GMC_US(80)
#define ROUNDS 4 /* in a turn */
/* Timers of virtual machines are late by 0.1 to 0.3 ms. The end of a wait is spent looking, where
 * waits are long and that costs little. */
#define LONG_WAIT GMC_US(900)
#define AWAKE GMC_US(300)
#define EARLY_MOST GMC_US(500) /* that a packet arrives before it could */

static gmc_time real_time(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (gmc_time)ts.tv_sec * 1000000000u + (gmc_time)ts.tv_nsec;
}

gmc_time emu_forward_now(const struct emu_forward *forward)
{
    return real_time() - forward->origin;
}

/* ---- out ---- */

/* A wire marked it: the head says so now. */
static ssize_t write_marked(int device, const struct sim_packet *packet)
{
    uint8_t head[EMU_IP_HEAD_MAX];
    size_t len = packet->len < sizeof(head) ? packet->len : sizeof(head);
    memcpy(head, packet->data, len);
    emu_ip_set_ecn(head, len, packet->ecn);
    struct iovec pieces[2] = {{head, len}, {(void *)(packet->data + len), packet->len - len}};
    return writev(device, pieces, 2);
}

static bool arrived(void *ctx, uint32_t host, struct sim_packet *packet)
{
    struct emu_forward *forward = ctx;
    int device = forward->devices[host];
    sim_lateness_add(&forward->lateness,
                     gmc_time_sub(emu_forward_now(forward), forward->engine.now));
    bool is_marked = packet->ecn != emu_ip_ecn(packet->data, packet->len);
    if ((is_marked ? write_marked(device, packet) : write(device, packet->data, packet->len)) < 0)
        forward->undelivered_packets++;
    return false;
}

/* ---- in ---- */
/* It was read just now. Entering as of the last look it may be early, but it does not arrive
 * earlier than by that much: after a pause of the whole machine it would be there before the wire's
 * delay is over, and whoever sent it would take that for the path's shortest round trip, and for a
 * queue what is more, for minutes. */
static void enter(struct emu_forward *forward, uint32_t from, struct sim_packet *packet)
{
    uint32_t to = emu_hosts_of_packet(forward->hosts, gmc_bytes(packet->data, packet->len));
    gmc_time earliest = gmc_time_sub(emu_forward_now(forward), EARLY_MOST);
    if (earliest > forward->engine.now)
        sim_net_hold_back(&forward->net, from, earliest);
    if (to == EMU_NO_HOST || to == from) {
        forward->foreign_packets++;
        sim_packet_free(&forward->net.pool, packet);
        return;
    }
    packet->from = from;
    packet->to = to;
    packet->proto = SIM_PROTO_IP;
    packet->ecn = emu_ip_ecn(packet->data, packet->len);
    packet->wire_bytes = packet->len;
    sim_net_send(&forward->net, packet);
}

/* All that a host has sent, up to a batch. */
static void read_device(struct emu_forward *forward, uint32_t host)
{
    for (int i = 0; i < BATCH; i++) {
        if (forward->spare == NULL)
            forward->spare = sim_packet_new(&forward->net.pool, forward->mtu);
        ssize_t len = read(forward->devices[host], forward->spare->data, forward->mtu);
        if (len <= 0)
            return;
        struct sim_packet *packet = forward->spare;
        forward->spare = NULL;
        packet->len = (uint32_t)len;
        enter(forward, host, packet);
    }
}

/* ---- the loop ---- */
static struct timespec timespec_of(gmc_duration ns)
{
    return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}

/* Going to sleep and waking up costs more than a packet does. A busy network gets one turn per
 * TURN; a packet that comes after a pause is served at once. */
static void pause_between_turns(struct emu_forward *forward)
{
    gmc_time next = forward->turn + TURN;
    if (emu_forward_now(forward) < next) {
        struct timespec until = timespec_of(next + forward->origin);
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    }
}

/* Devices that can be read, as soon as there is one, or none after `wait`. */
static int sleep_for(const struct emu_forward *forward, gmc_duration wait,
                     struct epoll_event ready[READY_MAX])
{
    /* epoll_wait() knows milliseconds only. */
    struct pollfd any = {.fd = forward->epoll, .events = POLLIN};
    bool is_long = wait >= LONG_WAIT;
    struct timespec limit = timespec_of(is_long ? wait - AWAKE : wait);
    gmc_time end = gmc_time_add(emu_forward_now(forward), wait);
    int count;
    if (ppoll(&any, 1, &limit, NULL) < 0)
        return 0; /* a signal: not until `end` without sleeping */
    do
        count = epoll_wait(forward->epoll, ready, READY_MAX, 0);
    while (count == 0 && is_long && emu_forward_now(forward) < end);
    return count;
}

/* Everything that is due or has come within `wait`. False when nothing has; *watched: a descriptor
 * of the owner's can be read.
 *
 * What a busy network's devices hold came some time after the last look, and enters as of that
 * look. As of now would be late by a turn, or by as long as the machine stood still, and a full
 * wire cannot make up for late packets: it would keep the worst as a queue. For early ones it can.
 */
static bool serve(struct emu_forward *forward, gmc_duration wait, bool *watched)
{
    struct epoll_event ready[READY_MAX];
    int count = epoll_wait(forward->epoll, ready, READY_MAX, 0);
    if (count == 0 && wait > 0) {
        count = sleep_for(forward, wait, ready);
        if (wait > TURN)
            sim_engine_run(&forward->engine, emu_forward_now(forward));
    }
    for (int i = 0; i < count; i++) {
        if (ready[i].data.u32 == WATCHED)
            *watched = true;
        else
            read_device(forward, ready[i].data.u32);
    }
    sim_engine_run(&forward->engine, emu_forward_now(forward));
    return count > 0;
}

bool emu_forward_run(struct emu_forward *forward, gmc_duration limit)
{
    gmc_time begin = emu_forward_now(forward);
    gmc_time end = gmc_time_add(begin, limit);
    bool watched = false;
    /* Nobody looked before, perhaps for long: what has come is as of now. */
    sim_engine_run(&forward->engine, begin);
    while (!watched && emu_forward_now(forward) < end) {
        pause_between_turns(forward);
        gmc_time next = gmc_time_min(sim_engine_next(&forward->engine), end);
        bool more = serve(forward, gmc_time_sub(next, emu_forward_now(forward)), &watched);
        forward->turn = emu_forward_now(forward);
        /* A host's kernel answers within the call that gives it a packet. */
        for (int i = 0; i < ROUNDS && (more || i == 0) && !watched; i++)
            more = serve(forward, 0, &watched);
    }
    return watched;
}

/* ---- building ---- */
static uint32_t mtu_of(const struct sim_wire_config *config)
{
    return config->mtu != 0 ? config->mtu : MTU_DEFAULT;
}

static void build_net(struct emu_forward *forward, const struct sim_topo *topo)
{
    forward->mtu = UINT32_MAX;
    for (size_t i = 0; i < topo->node_count; i++)
        sim_net_add_host(&forward->net);
    for (size_t i = 0; i < topo->link_count; i++) {
        const struct sim_topo_link *link = &topo->links[i];
        sim_net_add_wire(&forward->net, link->a, link->b, &link->a_to_b, &link->b_to_a);
        if (mtu_of(&link->a_to_b) < forward->mtu)
            forward->mtu = mtu_of(&link->a_to_b);
        if (mtu_of(&link->b_to_a) < forward->mtu)
            forward->mtu = mtu_of(&link->b_to_a);
    }
    if (topo->link_count == 0)
        forward->mtu = MTU_DEFAULT;
}

int emu_forward_init(struct emu_forward *forward, const struct sim_topo *topo,
                     const struct emu_hosts *hosts, uint64_t seed)
{
    struct gmc_prng prng, of_net;
    *forward = (struct emu_forward){.hosts = hosts, .origin = real_time()};
    gmc_prng_init(&prng, seed);
    gmc_prng_fork(&prng, "net", &of_net);
    sim_engine_init(&forward->engine);
    sim_net_init(&forward->net, &forward->engine,
                 &(struct sim_net_sink){forward, arrived, NULL, NULL}, &of_net);
    build_net(forward, topo);
    forward->devices = sim_alloc(topo->node_count * sizeof(int));
    for (size_t i = 0; i < topo->node_count; i++)
        forward->devices[i] = -1;
    forward->epoll = epoll_create1(EPOLL_CLOEXEC);
    return forward->epoll < 0 ? -1 : 0;
}

static int add(struct emu_forward *forward, int fd, uint32_t number)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = number};
    return epoll_ctl(forward->epoll, EPOLL_CTL_ADD, fd, &event);
}

int emu_forward_attach(struct emu_forward *forward, uint32_t host, int device)
{
    forward->devices[host] = device;
    return add(forward, device, host);
}

int emu_forward_watch(struct emu_forward *forward, int fd)
{
    return add(forward, fd, WATCHED);
}

void emu_forward_fini(struct emu_forward *forward)
{
    if (forward->spare != NULL)
        sim_packet_free(&forward->net.pool, forward->spare);
    for (size_t i = 0; i < forward->hosts->count; i++)
        if (forward->devices[i] >= 0)
            close(forward->devices[i]);
    if (forward->epoll >= 0)
        close(forward->epoll);
    free(forward->devices);
    sim_net_fini(&forward->net);
    sim_engine_fini(&forward->engine);
}
