/* SPDX-License-Identifier: BSD-2-Clause */
/* The UDP socket: recvmmsg with UDP_GRO in, sendmmsg with UDP_SEGMENT out. All segments of a
 * message have one ECN mark: the kernel coalesces only datagrams with equal type of service (tos in
 * inet_gro_receive, traffic class in ipv6_gro_receive), and we send only such runs. */
#include "gatewayd/udp.h"

#include <errno.h>
#include <linux/udp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "core/ackrange.h"

#define RECEIVE_MESSAGES 16
#define SLAB_BYTES 65536u
#define RECEIVE_MAX (RECEIVE_MESSAGES * 128) /* datagrams: UDP_MAX_SEGMENTS of newer kernels */
_Static_assert(RECEIVE_MAX <= GMC_ACK_WINDOW / 2, "one batch is acknowledged as a whole");
#define BATCH_MAX 512 /* datagrams */
#define BATCH_BYTES_MAX (1u << 20)
#define DESTINATIONS_MAX 64 /* in one batch */
#define SEGMENTS_MAX 64     /* UDP_MAX_SEGMENTS of kernels before 6.9 */
#define SOCKET_BUFFER_BYTES (8 << 20)
#define WAITED_MAX GMC_S(10) /* more is a clock that was set */
/* In: segment, time stamp, type of service; out: segment, type of service. */
#define CONTROL_BYTES (2 * CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct timespec)))
#define ECN_MASK 3 /* of the type of service */

struct slot {
    uint8_t head[32];
    uint8_t head_len;
    uint8_t ecn;
    uint16_t dest;
    uint32_t len;
    struct gmc_bytes body;
    struct gmc_bytes tail;
};

struct destination {
    struct gmc_addr addr;
    struct gwd_sockaddr to;
    bool is_v4; /* also within an IPv6 socket */
    uint16_t count;
};

union control {
    char bytes[CONTROL_BYTES];
    struct cmsghdr align;
};

struct gwd_udp {
    int fd;
    int family;
    bool segmentation;
    struct gwd_udp_stats stats;

    /* receiving */
    uint8_t *slabs;
    struct mmsghdr in[RECEIVE_MESSAGES];
    struct iovec in_iov[RECEIVE_MESSAGES];
    struct sockaddr_storage in_from[RECEIVE_MESSAGES];
    union control in_control[RECEIVE_MESSAGES];

    /* sending: slots in order of arrival, order[] by destination */
    struct slot slots[BATCH_MAX];
    size_t slot_count;
    size_t batch_bytes;
    struct destination dests[DESTINATIONS_MAX];
    size_t dest_count;
    uint16_t order[BATCH_MAX];
    struct mmsghdr out[BATCH_MAX];
    uint16_t run[BATCH_MAX]; /* datagrams in message i */
    struct iovec out_iov[BATCH_MAX * 3];
    union control out_control[BATCH_MAX];
    /* what the full socket left: slots point into stash */
    bool blocked;
    bool in_order;  /* the batch: one of its slots is to leave where it was put */
    uint8_t *stash; /* allocated when first needed */
};

/* ---- the socket ---- */
static void set_int(int fd, int level, int option, int value)
{
    (void)setsockopt(fd, level, option, &value, sizeof value);
}

static void set_buffer(int fd, int forced, int plain)
{
    int bytes = SOCKET_BUFFER_BYTES;
    if (setsockopt(fd, SOL_SOCKET, forced, &bytes, sizeof bytes) != 0)
        (void)setsockopt(fd, SOL_SOCKET, plain, &bytes, sizeof bytes);
}

static void set_options(struct gwd_udp *udp)
{
    set_int(udp->fd, IPPROTO_UDP, UDP_GRO, 1);
    set_int(udp->fd, SOL_SOCKET, SO_TIMESTAMPNS, 1);
    set_int(udp->fd, IPPROTO_IP, IP_RECVTOS, 1);
    set_buffer(udp->fd, SO_RCVBUFFORCE, SO_RCVBUF);
    set_buffer(udp->fd, SO_SNDBUFFORCE, SO_SNDBUF);
    /* DF is set and the kernel's idea of the path MTU ignored: the link probes it by itself. */
    set_int(udp->fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
    if (udp->family == AF_INET6) {
        set_int(udp->fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE);
        set_int(udp->fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
        set_int(udp->fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
    }
}

/* Several nodes of one machine may hear the same group, each what it joined itself. */
static void set_group_options(struct gwd_udp *udp)
{
    set_int(udp->fd, SOL_SOCKET, SO_REUSEADDR, 1);
    set_int(udp->fd, IPPROTO_IP, IP_MULTICAST_ALL, 0);
    if (udp->family == AF_INET6)
        set_int(udp->fd, IPPROTO_IPV6, IPV6_MULTICAST_ALL, 0);
}

static struct gwd_udp *udp_new(const struct gwd_sockaddr *listen, bool is_group, char *reason,
                               size_t size)
{
    struct gwd_udp *udp = calloc(1, sizeof *udp);
    if (udp != NULL)
        udp->slabs = aligned_alloc(4096, RECEIVE_MESSAGES * SLAB_BYTES);
    if (udp == NULL || udp->slabs == NULL) {
        (void)snprintf(reason, size, "out of memory");
        free(udp);
        return NULL;
    }
    udp->family = listen->storage.ss_family;
    udp->segmentation = true;
    udp->fd = socket(udp->family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (udp->fd >= 0)
        set_options(udp);
    if (udp->fd >= 0 && is_group)
        set_group_options(udp);
    if (udp->fd < 0 || bind(udp->fd, (const struct sockaddr *)&listen->storage, listen->len) != 0) {
        gwd_addr_not_bound("UDP", listen, reason, size);
        gwd_udp_free(udp);
        return NULL;
    }
    return udp;
}

struct gwd_udp *gwd_udp_new(const struct gwd_sockaddr *listen, char *reason, size_t size)
{
    return udp_new(listen, false, reason, size);
}

struct gwd_udp *gwd_udp_new_group(const struct gwd_sockaddr *group, char *reason, size_t size)
{
    return udp_new(group, true, reason, size);
}

void gwd_udp_free(struct gwd_udp *udp)
{
    if (udp == NULL)
        return;
    if (udp->fd >= 0)
        (void)close(udp->fd);
    free(udp->slabs);
    free(udp->stash);
    free(udp);
}

int gwd_udp_fd(const struct gwd_udp *udp)
{
    return udp->fd;
}

uint16_t gwd_udp_port(const struct gwd_udp *udp)
{
    struct sockaddr_storage own;
    socklen_t len = sizeof own;
    if (getsockname(udp->fd, (struct sockaddr *)&own, &len) != 0)
        return 0;
    return gwd_addr_port((struct sockaddr *)&own);
}

void gwd_udp_buffers(const struct gwd_udp *udp, int *receive_bytes, int *send_bytes)
{
    socklen_t len = sizeof(int);
    *receive_bytes = *send_bytes = 0;
    (void)getsockopt(udp->fd, SOL_SOCKET, SO_RCVBUF, receive_bytes, &len);
    len = sizeof(int);
    (void)getsockopt(udp->fd, SOL_SOCKET, SO_SNDBUF, send_bytes, &len);
}

const struct gwd_udp_stats *gwd_udp_stats(const struct gwd_udp *udp)
{
    return &udp->stats;
}

void gwd_udp_set_segmentation(struct gwd_udp *udp, bool on)
{
    udp->segmentation = on;
}

bool gwd_udp_is_blocked(const struct gwd_udp *udp)
{
    return udp->blocked;
}

/* ---- receiving ---- */
static uint64_t ns_of(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

/* The mark in a control message; IPv4 gives one byte, IPv6 an int. */
static enum gmc_ecn_mark read_mark(const struct cmsghdr *c)
{
    int value = 0;
    if (c->cmsg_len >= CMSG_LEN(sizeof value))
        memcpy(&value, CMSG_DATA(c), sizeof value);
    else
        value = *CMSG_DATA(c);
    return (enum gmc_ecn_mark)(value & ECN_MASK);
}

/* What the kernel says of a message: the bytes of a segment (as they were), its mark, and how long
 * before `now` it had come. */
static void read_control(const struct msghdr *msg, uint64_t now, size_t *segment,
                         struct gmc_dgram_in *in)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c != NULL;
         c = CMSG_NXTHDR((struct msghdr *)(uintptr_t)msg, c)) {
        if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO) {
            int bytes;
            memcpy(&bytes, CMSG_DATA(c), sizeof bytes);
            if (bytes > 0)
                *segment = (size_t)bytes;
        } else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
            struct timespec came;
            memcpy(&came, CMSG_DATA(c), sizeof came);
            in->waited = now > ns_of(&came) ? now - ns_of(&came) : 0;
            if (in->waited > WAITED_MAX)
                in->waited = 0;
        } else if ((c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS) ||
                   (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS)) {
            in->ecn = read_mark(c);
        }
    }
}

/* When a batch has been read: on the clock of the kernel's time stamps, and on the core's. Read
 * after the batch, because what comes between a clock's reading and the batch's would have come
 * before its time, and the path would look shorter than it is; in this order, because whoever is
 * interrupted between the two has waited longer, and no path becomes shorter. */
struct moment {
    uint64_t real;
    gmc_time now;
};

static struct moment this_moment(void)
{
    struct timespec real, monotonic;
    (void)clock_gettime(CLOCK_REALTIME, &real);
    (void)clock_gettime(CLOCK_MONOTONIC, &monotonic);
    return (struct moment){ns_of(&real), ns_of(&monotonic)};
}

static size_t take_message(struct gwd_udp *udp, size_t i, const struct moment *moment,
                           gwd_udp_take take, void *ctx)
{
    const uint8_t *data = udp->slabs + i * SLAB_BYTES;
    size_t len = udp->in[i].msg_len, count = 0, step = len;
    struct gmc_dgram_in in = {.path = GMC_PATH_UDP, .peer = GMC_PEER_NONE};
    if ((udp->in[i].msg_hdr.msg_flags & MSG_TRUNC) != 0) {
        udp->stats.truncated++;
        return 0;
    }
    gwd_addr_to_core((const struct sockaddr *)&udp->in_from[i], &in.from);
    read_control(&udp->in[i].msg_hdr, moment->real, &step, &in);
    for (size_t at = 0; at < len; at += step, count++) {
        in.bytes = gmc_bytes(data + at, len - at < step ? len - at : step);
        take(ctx, moment->now, &in);
    }
    return count;
}

bool gwd_udp_receive(struct gwd_udp *udp, gwd_udp_take take, void *ctx)
{
    int n;
    for (size_t i = 0; i < RECEIVE_MESSAGES; i++) {
        udp->in_iov[i] = (struct iovec){udp->slabs + i * SLAB_BYTES, SLAB_BYTES};
        udp->in[i].msg_hdr = (struct msghdr){.msg_name = &udp->in_from[i],
                                             .msg_namelen = sizeof udp->in_from[i],
                                             .msg_iov = &udp->in_iov[i],
                                             .msg_iovlen = 1,
                                             .msg_control = &udp->in_control[i],
                                             .msg_controllen = CONTROL_BYTES};
    }
    do
        n = recvmmsg(udp->fd, udp->in, RECEIVE_MESSAGES, MSG_DONTWAIT, NULL);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return false;
    struct moment moment = this_moment();
    udp->stats.receive_calls++;
    for (int i = 0; i < n; i++)
        udp->stats.received += take_message(udp, (size_t)i, &moment, take, ctx);
    return n == RECEIVE_MESSAGES;
}

/* ---- sending ---- */
static bool is_v4(const struct sockaddr_storage *address)
{
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
    return address->ss_family == AF_INET || IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr);
}

/* The index of a destination in the batch; the last used one as a rule. */
static int find_destination(struct gwd_udp *udp, const struct gmc_addr *to)
{
    for (size_t i = udp->dest_count; i-- > 0;) {
        if (udp->dests[i].addr.len == to->len &&
            memcmp(udp->dests[i].addr.bytes, to->bytes, to->len) == 0)
            return (int)i;
    }
    if (udp->dest_count == DESTINATIONS_MAX)
        return -1;
    struct destination *dest = &udp->dests[udp->dest_count];
    dest->addr = *to;
    dest->count = 0;
    if (!gwd_addr_from_core(to, udp->family, &dest->to))
        dest->to.len = 0; /* cannot be reached from this socket: dropped at flush */
    dest->is_v4 = dest->to.len > 0 && is_v4(&dest->to.storage);
    return (int)udp->dest_count++;
}

bool gwd_udp_put(struct gwd_udp *udp, const struct gmc_dgram_out *out, const struct gmc_addr *to)
{
    size_t len = gmc_dgram_out_len(out);
    struct slot *slot;
    int dest;
    if (udp->blocked || udp->slot_count == BATCH_MAX || udp->batch_bytes + len > BATCH_BYTES_MAX)
        return false;
    dest = find_destination(udp, to);
    if (dest < 0)
        return false;
    slot = &udp->slots[udp->slot_count++];
    memcpy(slot->head, out->head, sizeof slot->head);
    slot->head_len = out->head_len;
    slot->ecn = out->ecn;
    slot->body = out->body;
    slot->tail = out->tail;
    slot->len = (uint32_t)len;
    slot->dest = (uint16_t)dest;
    udp->in_order = udp->in_order || out->in_order;
    udp->dests[dest].count++;
    udp->batch_bytes += len;
    return true;
}

bool gwd_udp_has_room(const struct gwd_udp *udp)
{
    return !udp->blocked && udp->slot_count < BATCH_MAX && udp->dest_count < DESTINATIONS_MAX &&
           udp->batch_bytes + GWD_UDP_PAYLOAD_MAX <= BATCH_BYTES_MAX;
}

/* Sorts slots by destination, keeping their order within one: data for several children comes
 * interleaved from the core, runs need it together. Not where the order is what is measured. */
static void sort_slots(struct gwd_udp *udp)
{
    uint16_t start[DESTINATIONS_MAX], next = 0;
    for (size_t i = 0; udp->in_order && i < udp->slot_count; i++)
        udp->order[i] = (uint16_t)i;
    if (udp->in_order)
        return;
    for (size_t d = 0; d < udp->dest_count; d++) {
        start[d] = next;
        next = (uint16_t)(next + udp->dests[d].count);
    }
    for (size_t i = 0; i < udp->slot_count; i++)
        udp->order[start[udp->slots[i].dest]++] = (uint16_t)i;
}

static size_t put_iov(struct iovec *iov, struct slot *slot)
{
    size_t n = 0;
    if (slot->head_len > 0)
        iov[n++] = (struct iovec){slot->head, slot->head_len};
    if (slot->body.len > 0)
        iov[n++] = (struct iovec){(void *)(uintptr_t)slot->body.data, slot->body.len};
    if (slot->tail.len > 0)
        iov[n++] = (struct iovec){(void *)(uintptr_t)slot->tail.data, slot->tail.len};
    return n;
}

/* How many slots from order[at] go into one message: one address and mark, equal lengths, the last
 * may be shorter. */
static size_t run_length(const struct gwd_udp *udp, size_t at)
{
    const struct slot *first = &udp->slots[udp->order[at]];
    size_t bytes = first->len, n = 1;
    while (udp->segmentation && at + n < udp->slot_count && n < SEGMENTS_MAX) {
        const struct slot *slot = &udp->slots[udp->order[at + n]];
        if (slot->dest != first->dest || slot->ecn != first->ecn || slot->len > first->len ||
            bytes + slot->len > GWD_UDP_PAYLOAD_MAX)
            break;
        bytes += slot->len;
        n++;
        if (slot->len < first->len)
            break;
    }
    return n;
}

/* Adds a control message to those that are there. */
static void add_control(struct msghdr *msg, union control *control, int level, int type,
                        const void *value, size_t size)
{
    struct cmsghdr *c = (struct cmsghdr *)(void *)(control->bytes + msg->msg_controllen);
    msg->msg_control = control;
    msg->msg_controllen += CMSG_SPACE(size);
    c->cmsg_level = level;
    c->cmsg_type = type;
    c->cmsg_len = CMSG_LEN(size);
    memcpy(CMSG_DATA(c), value, size);
}

static void add_segment(struct msghdr *msg, union control *control, uint32_t bytes)
{
    uint16_t value = (uint16_t)bytes;
    add_control(msg, control, IPPROTO_UDP, UDP_SEGMENT, &value, sizeof value);
}

static void add_mark(struct msghdr *msg, union control *control, const struct destination *dest,
                     uint8_t ecn)
{
    int value = ecn;
    if (ecn == GMC_NOT_ECT)
        return;
    if (dest->is_v4)
        add_control(msg, control, IPPROTO_IP, IP_TOS, &value, sizeof value);
    else
        add_control(msg, control, IPPROTO_IPV6, IPV6_TCLASS, &value, sizeof value);
}

/* Builds messages for the slots order[from..]; returns their number. */
static size_t build(struct gwd_udp *udp, size_t from)
{
    size_t messages = 0, iov = 0;
    for (size_t at = from; at < udp->slot_count; messages++) {
        size_t n = run_length(udp, at), begin = iov;
        struct slot *first = &udp->slots[udp->order[at]];
        struct destination *dest = &udp->dests[first->dest];
        for (size_t i = 0; i < n; i++)
            iov += put_iov(&udp->out_iov[iov], &udp->slots[udp->order[at + i]]);
        udp->out[messages].msg_hdr = (struct msghdr){.msg_name = &dest->to.storage,
                                                     .msg_namelen = dest->to.len,
                                                     .msg_iov = &udp->out_iov[begin],
                                                     .msg_iovlen = iov - begin};
        if (n > 1)
            add_segment(&udp->out[messages].msg_hdr, &udp->out_control[messages], first->len);
        add_mark(&udp->out[messages].msg_hdr, &udp->out_control[messages], dest, first->ecn);
        udp->run[messages] = (uint16_t)n;
        at += n;
    }
    return messages;
}

/* Copies the slots order[from..] into the stash (unless they are there) and makes them the whole
 * batch. The slots stay where they are: nothing is put while the socket is blocked. */
static void stash(struct gwd_udp *udp, size_t from)
{
    static const struct gmc_bytes none;
    size_t kept = 0, used = 0;
    bool again = udp->blocked;
    if (udp->stash == NULL)
        udp->stash = malloc(BATCH_BYTES_MAX);
    for (size_t d = 0; d < udp->dest_count; d++)
        udp->dests[d].count = 0;
    for (size_t i = from; i < udp->slot_count && udp->stash != NULL; i++) {
        struct slot *slot = &udp->slots[udp->order[i]];
        if (!again) {
            uint8_t *at = udp->stash + used;
            memcpy(at, slot->head, slot->head_len);
            memcpy(at + slot->head_len, slot->body.data, slot->body.len);
            if (slot->tail.len > 0)
                memcpy(at + slot->head_len + slot->body.len, slot->tail.data, slot->tail.len);
            slot->body = gmc_bytes(at, slot->len);
            slot->tail = none;
            slot->head_len = 0;
            used += slot->len;
        }
        udp->order[kept++] = udp->order[i];
        udp->dests[slot->dest].count++;
    }
    udp->blocked = kept > 0;
    udp->slot_count = kept;
}

static void reset(struct gwd_udp *udp)
{
    udp->slot_count = 0;
    udp->batch_bytes = 0;
    udp->dest_count = 0;
    udp->blocked = false;
    udp->in_order = false;
}

static void count_failure(struct gwd_udp *udp, int error)
{
    if (error == EMSGSIZE) {
        udp->stats.too_long++;
        return;
    }
    udp->stats.failed++;
    udp->stats.last_error = error;
}

/* A run that the kernel refused as a whole (segments longer than the device's MTU, or a device
 * that cannot segment): its datagrams one by one, each with its own fate. */
static void send_singly(struct gwd_udp *udp, const struct msghdr *run, size_t at, size_t count)
{
    for (size_t i = at; i < at + count; i++) {
        struct slot *slot = &udp->slots[udp->order[i]];
        union control control = {{0}};
        struct iovec iov[3];
        struct msghdr one = {.msg_name = run->msg_name,
                             .msg_namelen = run->msg_namelen,
                             .msg_iov = iov,
                             .msg_iovlen = put_iov(iov, slot)};
        add_mark(&one, &control, &udp->dests[slot->dest], slot->ecn);
        if (sendmsg(udp->fd, &one, MSG_DONTWAIT) >= 0)
            udp->stats.sent++;
        else
            count_failure(udp, errno);
    }
}

/* What to do about message m, whose first datagram is order[at], after sendmmsg failed with
 * error: true to go on behind it, false when the socket is full. */
static bool handle_failure(struct gwd_udp *udp, size_t m, size_t at, int error)
{
    if (error == EAGAIN || error == EWOULDBLOCK) {
        udp->stats.blocked++;
        return false;
    }
    if (udp->run[m] == 1) {
        count_failure(udp, error);
        return true;
    }
    if (error == EIO)
        udp->segmentation = false; /* the device cannot checksum segments */
    send_singly(udp, &udp->out[m].msg_hdr, at, udp->run[m]);
    return true;
}

bool gwd_udp_flush(struct gwd_udp *udp)
{
    size_t messages, at = 0;
    if (udp->slot_count == 0)
        return true;
    if (!udp->blocked)
        sort_slots(udp);
    messages = build(udp, 0);
    for (size_t m = 0; m < messages;) {
        int n = sendmmsg(udp->fd, &udp->out[m], (unsigned)(messages - m), MSG_DONTWAIT);
        udp->stats.send_calls++;
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (!handle_failure(udp, m, at, errno)) {
                stash(udp, at);
                return !udp->blocked;
            }
            at += udp->run[m++];
            continue;
        }
        for (int i = 0; i < n; i++, m++) {
            udp->stats.sent += udp->run[m];
            udp->stats.grouped += udp->run[m] > 1 ? udp->run[m] : 0;
            at += udp->run[m];
        }
    }
    reset(udp);
    return true;
}

uint32_t gwd_udp_payload_max(const struct gmc_addr *to)
{
    struct gwd_sockaddr address;
    int family = to->len == 6 ? AF_INET : AF_INET6, mtu = 0;
    int overhead = family == AF_INET ? 28 : 48; /* IP and UDP headers */
    socklen_t len = sizeof mtu;
    int fd;
    if (!gwd_addr_from_core(to, family, &address))
        return 0;
    fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return 0;
    /* Connecting a datagram socket sends nothing: it only looks up the route. */
    if (connect(fd, (const struct sockaddr *)&address.storage, address.len) != 0 ||
        getsockopt(fd, family == AF_INET ? IPPROTO_IP : IPPROTO_IPV6,
                   family == AF_INET ? IP_MTU : IPV6_MTU, &mtu, &len) != 0)
        mtu = 0;
    (void)close(fd);
    if (mtu <= overhead)
        return 0;
    return (uint32_t)(mtu - overhead) < GWD_UDP_PAYLOAD_MAX ? (uint32_t)(mtu - overhead)
                                                            : GWD_UDP_PAYLOAD_MAX;
}
