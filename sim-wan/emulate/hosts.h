/* SPDX-License-Identifier: BSD-2-Clause */
/* The hosts of an emulated network: what they are called and which addresses they have. Pure: the
 * same topology gives the same hosts. */
#ifndef SIM_EMULATE_HOSTS_H
#define SIM_EMULATE_HOSTS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/bytes.h"
#include "sim-wan/topo/topo.h"

/* Each host costs a namespace, a device and perhaps a daemon. */
#define EMU_HOSTS_MAX 1000u
#define EMU_NO_HOST UINT32_MAX

/* All hosts are in one IPv4 and one IPv6 network, as if they were neighbours: what lies between
 * them is the emulator's matter. */
#define EMU_NET4 "10.213.0.0/16"
#define EMU_NET6 "fd67:6d63:6173:7400::/64"
#define EMU_NETMASK4 0xffff0000u
#define EMU_PREFIX6 64u

#define EMU_LABEL_MAX 64u /* one part of a host's name */
#define EMU_NAME_MAX 200u /* with its end */

struct emu_host {
    char name[EMU_NAME_MAX + 1]; /* a DNS name; the node's where that is one */
    char alias[EMU_LABEL_MAX];   /* its first part where nobody else has that; or empty */
    bool has_gateway;
    uint64_t uplink_bps; /* of all its wires together; 0: one has no limit */
    uint64_t downlink_bps;
    struct in_addr address4; /* network order */
    struct in6_addr address6;
};

struct emu_hosts {
    struct emu_host *list; /* by number of the node */
    size_t count;
};

/* Makes names of the nodes' own: letters, digits, '-' and '.'; what has no '.' ends in ".example";
 * a name that would come twice gets a number. At most EMU_HOSTS_MAX nodes. */
void emu_hosts_init(struct emu_hosts *hosts, const struct sim_topo *topo);
void emu_hosts_fini(struct emu_hosts *hosts);

/* The host of that name, alias or node name of the topology; EMU_NO_HOST. */
uint32_t emu_hosts_find(const struct emu_hosts *hosts, const struct sim_topo *topo,
                        const char *name);

/* The host that an IPv4 or IPv6 packet goes to; EMU_NO_HOST: to nobody here (a group, a broadcast,
 * a foreign address, no packet at all). */
uint32_t emu_hosts_of_packet(const struct emu_hosts *hosts, struct gmc_bytes packet);

/* /etc/hosts for all of them. */
void emu_hosts_print(const struct emu_hosts *hosts, FILE *out);

#endif
