/* SPDX-License-Identifier: BSD-2-Clause */
/* A domain's multicast group as sockets see it: its address, the interface, who sends. The word by
 * which a gateway tells its nodes of it is opaque to the core: the group and then the sender, each
 * in the core's form of addresses (gatewayd/addr.h); without a sender any is heard. */
#ifndef GWD_MCAST_H
#define GWD_MCAST_H

#include "gatewayd/conf.h"
#include "gatewayd/udp.h"

#define GWD_MCAST_PORT 7412
#define GWD_MCAST_WORD_MAX 44
#define GWD_MCAST_INTERFACE_MAX 16 /* IF_NAMESIZE */
#define GWD_MCAST_SUBNET_MAX 52    /* an IPv6 network */

struct gwd_mcast_group {
    struct gmc_addr group;
    struct gmc_addr sender; /* len 0: not known, any is heard */
};

/* ---- the gateway, and nodes that relay ---- */
/* The group that the configuration means. The sender is that of `listen`, or of the interface; for
 * IPv6 the one that the kernel takes for this group now. auto is a source-specific address then
 * (RFC 4607), 232.x.y.z or, where the interface or `listen` has no IPv4, ff35::x:x (site scope),
 * else ff15::x:x:x:x (RFC 4291); the rest of it is a hash of the domain. False with a reason in
 * words. */
bool gwd_mcast_group(const struct gwd_conf *conf, struct gwd_mcast_group *out, char *reason,
                     size_t size);
/* Makes a socket send to groups by this interface, over so many routers. */
bool gwd_mcast_prepare(const struct gwd_udp *udp, const struct gwd_conf *conf,
                       const struct gwd_mcast_group *group, char *reason, size_t size);

/* UDP payload that this interface takes, 0 not known. */
uint32_t gwd_mcast_payload_max(const char *interface, const struct gmc_addr *group);

/* ---- nodes ---- */
/* The interface by which packets leave for this address; false when there is none. */
bool gwd_mcast_interface_to(const struct gmc_addr *to, char name[GWD_MCAST_INTERFACE_MAX]);
/* The network in which the interface stands, such as 10.1.0.0/16: of its first IPv4 address, else
 * of its first IPv6 address that is not local to the link. False when it has none. */
bool gwd_mcast_subnet(const char *interface, char out[GWD_MCAST_SUBNET_MAX]);
/* A socket that hears the group on that interface, from its sender alone where that is known. */
struct gwd_udp *gwd_mcast_hear(const struct gwd_mcast_group *group, const char *interface,
                               char *reason, size_t size);

/* ---- the word ---- */
/* Returns the length. */
size_t gwd_mcast_put_word(const struct gwd_mcast_group *group, uint8_t out[GWD_MCAST_WORD_MAX]);
/* False when it is none, or its group is no multicast address. */
bool gwd_mcast_get_word(struct gmc_bytes word, struct gwd_mcast_group *out);

#endif
