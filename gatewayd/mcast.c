/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast groups and their sockets: see mcast.h. */
#include "gatewayd/mcast.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef IPV6_PREFER_SRC_PUBLIC /* <linux/in6.h>, which does not go with <netinet/in.h> */
#define IPV6_PREFER_SRC_PUBLIC 2
#endif
#define CORE_V4_BYTES 6
#define CORE_V6_BYTES 22
#define SSM_V4_FIRST 0xe8000100u /* 232.0.1.0 */
#define SSM_V4_COUNT 0xffff00u
#define SSM_V6_FIRST 0x80000000u /* of the last 32 bits */

/* ---- addresses ---- */
static bool is_multicast(const struct gmc_addr *addr)
{
    return (addr->len == CORE_V4_BYTES && (addr->bytes[0] & 0xf0) == 0xe0) ||
           (addr->len == CORE_V6_BYTES && addr->bytes[0] == 0xff);
}

static bool has_port(const struct gmc_addr *addr)
{
    size_t at = addr->len == CORE_V4_BYTES ? 4 : 16;
    return addr->bytes[at] != 0 || addr->bytes[at + 1] != 0;
}

static bool is_any(const struct gmc_addr *addr)
{
    size_t len = addr->len == CORE_V4_BYTES ? 4 : 16;
    for (size_t i = 0; i < len; i++)
        if (addr->bytes[i] != 0)
            return false;
    return true;
}

/* The family of a socket for it. */
static int family_of(const struct gmc_addr *addr)
{
    return addr->len == CORE_V4_BYTES ? AF_INET : AF_INET6;
}

/* The first address of the interface that has this form; false when there is none. */
static bool address_of(const char *interface, size_t core_bytes, struct gmc_addr *out)
{
    struct ifaddrs *all, *at;
    bool found = false;
    if (getifaddrs(&all) != 0)
        return false;
    for (at = all; at != NULL && !found; at = at->ifa_next) {
        if (at->ifa_addr == NULL || strcmp(at->ifa_name, interface) != 0)
            continue;
        gwd_addr_to_core(at->ifa_addr, out);
        found = out->len == core_bytes;
    }
    freeifaddrs(all);
    return found;
}

/* ---- the gateway ---- */
static bool say(char *reason, size_t size, const char *format, const char *what)
{
    (void)snprintf(reason, size, format, what);
    return false;
}

/* FNV-1a, 64 bits: which group is not a secret, only two domains of a network should differ. */
static uint64_t hash_of(const char *text)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *text != '\0'; text++)
        hash = (hash ^ (uint8_t)*text) * UINT64_C(1099511628211);
    return hash;
}

/* Networks filter by source in these ranges alone; elsewhere switches may take a join for one from
 * any. Hosts choose from 232.0.1.0 on, and from ff3x::8000:0 on (RFC 4607). */
static void auto_address(const char *domain, bool is_v4, bool is_sender_known, struct gmc_addr *out)
{
    uint64_t hash = hash_of(domain);
    uint8_t *port;
    memset(out, 0, sizeof *out);
    if (is_v4) {
        out->len = CORE_V4_BYTES;
        gmc_put32(out->bytes, SSM_V4_FIRST + (uint32_t)(hash % SSM_V4_COUNT));
        port = out->bytes + 4;
    } else {
        out->len = CORE_V6_BYTES;
        out->bytes[0] = 0xff;
        out->bytes[1] = is_sender_known ? 0x35 : 0x15;
        if (is_sender_known)
            gmc_put32(out->bytes + 12, SSM_V6_FIRST | (uint32_t)hash);
        else
            gmc_put64(out->bytes + 8, hash);
        port = out->bytes + 16;
    }
    port[0] = GWD_MCAST_PORT >> 8;
    port[1] = GWD_MCAST_PORT & 0xff;
}

static bool read_address(const char *text, struct gmc_addr *out)
{
    char host[256];
    uint16_t port;
    struct gwd_sockaddr address;
    if (!gwd_addr_split(text, host, sizeof host, &port) || !gwd_addr_numeric(host, port, &address))
        return false;
    gwd_addr_to_core((const struct sockaddr *)&address.storage, out);
    return true;
}

static int set(int fd, int level, int option, const void *value, socklen_t len)
{
    return setsockopt(fd, level, option, value, len);
}

/* Which of its addresses the kernel writes into datagrams to an IPv6 group is its choice: those
 * that change each day are not wanted, since nodes are told once. */
static int choose_v6(int fd, unsigned index)
{
    int by = (int)index, preferred = IPV6_PREFER_SRC_PUBLIC;
    (void)set(fd, IPPROTO_IPV6, IPV6_ADDR_PREFERENCES, &preferred, sizeof preferred);
    return set(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, &by, sizeof by);
}

/* The address that it chooses; nothing is sent by this. */
static bool source_to_v6(const char *interface, const struct gmc_addr *group, struct gmc_addr *out)
{
    struct gwd_sockaddr to, own = {.len = sizeof own.storage};
    int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool found = fd >= 0 && choose_v6(fd, if_nametoindex(interface)) == 0 &&
                 gwd_addr_from_core(group, AF_INET6, &to) &&
                 connect(fd, (struct sockaddr *)&to.storage, to.len) == 0 &&
                 getsockname(fd, (struct sockaddr *)&own.storage, &own.len) == 0;
    if (fd >= 0)
        (void)close(fd);
    if (!found)
        return false;
    gwd_addr_to_core((struct sockaddr *)&own.storage, out);
    /* Its port is another one, and its scope is a number of this machine's. */
    memset(out->bytes + 16, 0, CORE_V6_BYTES - 16);
    return out->len == CORE_V6_BYTES && !is_any(out);
}

/* False: any is heard. */
static bool find_sender(const struct gwd_conf *conf, const struct gmc_addr *listen,
                        const struct gmc_addr *v4, const struct gmc_addr *group,
                        struct gmc_addr *out)
{
    bool is_v4 = group->len == CORE_V4_BYTES;
    if (is_any(listen) && !is_v4)
        return source_to_v6(conf->multicast_interface, group, out);
    *out = is_any(listen) ? *v4 : *listen;
    return true;
}

bool gwd_mcast_group(const struct gwd_conf *conf, struct gwd_mcast_group *out, char *reason,
                     size_t size)
{
    const char *interface = conf->multicast_interface;
    struct gmc_addr listen, v4;
    bool has_v4 = address_of(interface, CORE_V4_BYTES, &v4);
    memset(out, 0, sizeof *out);
    if (!read_address(conf->listen, &listen))
        return say(reason, size, "listen: '%s' is not a numeric address", conf->listen);
    /* A socket of [::] takes both, one of an IPv6 address takes that alone. */
    bool takes_v4 = listen.len == CORE_V4_BYTES || is_any(&listen);
    if (strcmp(conf->multicast_address, "auto") == 0)
        auto_address(conf->domain, has_v4 && takes_v4, true, &out->group);
    else if (!read_address(conf->multicast_address, &out->group) || !is_multicast(&out->group))
        return say(
            reason, size,
            "multicast_address: '%s' is not right; expected auto, or a multicast address and "
            "a port such as 239.255.1.1:7412 or [ff15::1]:7412",
            conf->multicast_address);
    bool is_v4 = out->group.len == CORE_V4_BYTES;
    if (is_v4 && !has_v4)
        return say(reason, size,
                   "multicast_interface: '%s' has no IPv4 address; give it one, or choose an IPv6 "
                   "multicast_address",
                   interface);
    if (is_v4 ? !takes_v4 : listen.len == CORE_V4_BYTES)
        return say(reason, size,
                   "multicast_address: the socket of listen = \"%s\" cannot send to it; listen on "
                   "[::] for both IPv4 and IPv6",
                   conf->listen);
    if (find_sender(conf, &listen, &v4, &out->group, &out->sender))
        return true;
    memset(&out->sender, 0, sizeof out->sender);
    if (strcmp(conf->multicast_address, "auto") == 0)
        auto_address(conf->domain, is_v4, false, &out->group);
    return true;
}

bool gwd_mcast_prepare(const struct gwd_udp *udp, const struct gwd_conf *conf,
                       const struct gwd_mcast_group *group, char *reason, size_t size)
{
    int fd = gwd_udp_fd(udp), ttl = (int)conf->multicast_ttl, failed;
    int index = (int)if_nametoindex(conf->multicast_interface);
    if (group->group.len == CORE_V4_BYTES) {
        /* The address is that of the packets where the socket has none. */
        struct ip_mreqn by = {.imr_ifindex = index};
        if (group->sender.len == CORE_V4_BYTES)
            memcpy(&by.imr_address, group->sender.bytes, 4);
        failed = set(fd, IPPROTO_IP, IP_MULTICAST_IF, &by, sizeof by) |
                 set(fd, IPPROTO_IP, IP_MULTICAST_TTL, &ttl, sizeof ttl);
    } else {
        failed = choose_v6(fd, (unsigned)index) |
                 set(fd, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, &ttl, sizeof ttl);
    }
    return failed == 0 || say(reason, size, "multicast cannot be sent: %s", strerror(errno));
}

uint32_t gwd_mcast_payload_max(const char *interface, const struct gmc_addr *group)
{
    struct ifreq request = {.ifr_mtu = 0};
    int overhead = group->len == CORE_V4_BYTES ? 28 : 48; /* IP and UDP headers */
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), failed;
    if (fd < 0)
        return 0;
    (void)snprintf(request.ifr_name, sizeof request.ifr_name, "%s", interface);
    failed = ioctl(fd, SIOCGIFMTU, &request);
    (void)close(fd);
    if (failed != 0 || request.ifr_mtu <= overhead)
        return 0;
    return (uint32_t)(request.ifr_mtu - overhead) < GWD_UDP_PAYLOAD_MAX
               ? (uint32_t)(request.ifr_mtu - overhead)
               : GWD_UDP_PAYLOAD_MAX;
}

/* ---- nodes ---- */
bool gwd_mcast_interface_to(const struct gmc_addr *to, char name[GWD_MCAST_INTERFACE_MAX])
{
    struct gwd_sockaddr address, own = {.len = sizeof own.storage};
    struct gmc_addr here, each;
    struct ifaddrs *all, *at;
    bool found = false;
    int fd = socket(family_of(to), SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    /* Nothing is sent by this: the kernel looks for its route. */
    found = gwd_addr_from_core(to, family_of(to), &address) &&
            connect(fd, (struct sockaddr *)&address.storage, address.len) == 0 &&
            getsockname(fd, (struct sockaddr *)&own.storage, &own.len) == 0;
    (void)close(fd);
    if (!found || getifaddrs(&all) != 0)
        return false;
    gwd_addr_to_core((struct sockaddr *)&own.storage, &here);
    found = false;
    for (at = all; at != NULL && !found; at = at->ifa_next) {
        if (at->ifa_addr == NULL)
            continue;
        gwd_addr_to_core(at->ifa_addr, &each);
        /* All but the port. */
        found = each.len == here.len &&
                memcmp(each.bytes, here.bytes, here.len == CORE_V4_BYTES ? 4 : 16) == 0;
        if (found)
            (void)snprintf(name, GWD_MCAST_INTERFACE_MAX, "%s", at->ifa_name);
    }
    freeifaddrs(all);
    return found;
}

static const void *host_part(const struct sockaddr *addr, size_t *len)
{
    if (addr != NULL && addr->sa_family == AF_INET) {
        *len = 4;
        return &((const struct sockaddr_in *)(const void *)addr)->sin_addr;
    }
    if (addr != NULL && addr->sa_family == AF_INET6) {
        *len = 16;
        return &((const struct sockaddr_in6 *)(const void *)addr)->sin6_addr;
    }
    return NULL;
}

static bool write_network(const struct ifaddrs *at, char out[GWD_MCAST_SUBNET_MAX])
{
    size_t len, mask_len;
    unsigned bits = 0;
    uint8_t network[16];
    char text[INET6_ADDRSTRLEN];
    const uint8_t *addr = host_part(at->ifa_addr, &len);
    const uint8_t *mask = host_part(at->ifa_netmask, &mask_len);
    if (addr == NULL || mask == NULL || mask_len != len ||
        (len == 16 && addr[0] == 0xfe && (addr[1] & 0xc0) == 0x80))
        return false;
    for (size_t i = 0; i < len; i++) {
        network[i] = addr[i] & mask[i];
        bits += (unsigned)__builtin_popcount(mask[i]);
    }
    if (inet_ntop(len == 4 ? AF_INET : AF_INET6, network, text, sizeof text) == NULL)
        return false;
    (void)snprintf(out, GWD_MCAST_SUBNET_MAX, "%s/%u", text, bits);
    return true;
}

bool gwd_mcast_subnet(const char *interface, char out[GWD_MCAST_SUBNET_MAX])
{
    static const int families[] = {AF_INET, AF_INET6};
    struct ifaddrs *all;
    bool found = false;
    if (getifaddrs(&all) != 0)
        return false;
    for (size_t i = 0; i < 2 && !found; i++)
        for (const struct ifaddrs *at = all; at != NULL && !found; at = at->ifa_next)
            found = at->ifa_addr != NULL && at->ifa_addr->sa_family == families[i] &&
                    strcmp(at->ifa_name, interface) == 0 && write_network(at, out);
    freeifaddrs(all);
    return found;
}

static int join(int fd, const struct gwd_mcast_group *group, unsigned index,
                const struct gwd_sockaddr *address)
{
    int level = family_of(&group->group) == AF_INET ? IPPROTO_IP : IPPROTO_IPV6;
    struct gwd_sockaddr sender;
    if (group->sender.len == 0) {
        struct group_req any = {.gr_interface = index};
        memcpy(&any.gr_group, &address->storage, sizeof any.gr_group);
        return set(fd, level, MCAST_JOIN_GROUP, &any, sizeof any);
    }
    struct group_source_req from = {.gsr_interface = index};
    if (!gwd_addr_from_core(&group->sender, family_of(&group->group), &sender))
        return -1;
    memcpy(&from.gsr_group, &address->storage, sizeof from.gsr_group);
    memcpy(&from.gsr_source, &sender.storage, sizeof from.gsr_source);
    return set(fd, level, MCAST_JOIN_SOURCE_GROUP, &from, sizeof from);
}

struct gwd_udp *gwd_mcast_hear(const struct gwd_mcast_group *group, const char *interface,
                               char *reason, size_t size)
{
    struct gwd_sockaddr address;
    unsigned index = if_nametoindex(interface);
    struct gwd_udp *udp;
    if (index == 0 || !gwd_addr_from_core(&group->group, family_of(&group->group), &address)) {
        (void)say(reason, size, "there is no interface %s", interface);
        return NULL;
    }
    if (address.storage.ss_family == AF_INET6)
        ((struct sockaddr_in6 *)&address.storage)->sin6_scope_id = index;
    udp = gwd_udp_new_group(&address, reason, size);
    if (udp == NULL)
        return NULL;
    if (join(gwd_udp_fd(udp), group, index, &address) != 0) {
        (void)say(reason, size, "the group cannot be joined: %s", strerror(errno));
        gwd_udp_free(udp);
        return NULL;
    }
    return udp;
}

/* ---- the word ---- */
size_t gwd_mcast_put_word(const struct gwd_mcast_group *group, uint8_t out[GWD_MCAST_WORD_MAX])
{
    memcpy(out, group->group.bytes, group->group.len);
    memcpy(out + group->group.len, group->sender.bytes, group->sender.len);
    return (size_t)group->group.len + group->sender.len;
}

bool gwd_mcast_get_word(struct gmc_bytes word, struct gwd_mcast_group *out)
{
    static const size_t forms[] = {CORE_V4_BYTES, CORE_V6_BYTES};
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (word.len != forms[i] && word.len != 2 * forms[i])
            continue;
        out->group.len = (uint8_t)forms[i];
        out->sender.len = (uint8_t)(word.len - forms[i]);
        memcpy(out->group.bytes, word.data, forms[i]);
        memcpy(out->sender.bytes, word.data + forms[i], out->sender.len);
    }
    return is_multicast(&out->group) && has_port(&out->group) && !is_multicast(&out->sender);
}
