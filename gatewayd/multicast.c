/* SPDX-License-Identifier: BSD-2-Clause */
/* The domain's multicast group wired to the core: a gateway's (group.h) and a node's (hearing.h).
 */
#include "gatewayd/gatewayd_int.h"

/* ---- a gateway ---- */
static bool node_of(void *ctx, gmc_peer peer, bool *is_node, struct gmc_peer_info *info)
{
    const struct gwd *gwd = ctx;
    const struct gmc_gateway *gateway = gwd_drive_gateway(gwd->drive);
    if (peer >= gmc_gateway_peer_count(gateway))
        return false;
    *info = (struct gmc_peer_info){.up = false};
    (void)gmc_gateway_peer_info(gateway, gwd_now(), peer, info);
    *is_node = gwd_is_node(gwd, gmc_gateway_peer_name(gateway, peer));
    return true;
}

static void send_datagram(void *ctx, struct gmc_bytes datagram)
{
    struct gwd *gwd = ctx;
    struct gmc_dgram_out out = {.path = GMC_PATH_UDP, .peer = GMC_PEER_NONE, .body = datagram};
    if (gwd_udp_put(gwd->udp, &out, &gwd->mcast.group) && !gwd_udp_flush(gwd->udp))
        (void)event_add(gwd->writable_event, NULL);
}

static void ask(void *ctx, gmc_peer peer, uint64_t id, struct gmc_bytes request)
{
    struct gwd *gwd = ctx;
    (void)gwd_drive_forward(gwd->drive, gwd_now(), peer, id, request); /* else: no answer */
    gwd_drain_soon(gwd);
}

static void use(void *ctx, struct gmc_bytes word, uint64_t rate_bps)
{
    struct gwd *gwd = ctx;
    gwd_drive_group(gwd->drive, gwd_now(), word, rate_bps,
                    gwd_mcast_payload_max(gwd->conf->multicast_interface, &gwd->mcast.group));
    gwd_drain_soon(gwd);
}

static bool open_group(struct gwd *gwd, char *reason, size_t size)
{
    struct gwd_group_config config = {.base = gwd->base,
                                      .log = gwd->log,
                                      .conf = gwd->conf,
                                      .group = &gwd->mcast,
                                      .ctx = gwd,
                                      .now = gwd_now,
                                      .node = node_of,
                                      .send = send_datagram,
                                      .ask = ask,
                                      .use = use};
    if (!gwd_mcast_group(gwd->conf, &gwd->mcast, reason, size) ||
        !gwd_mcast_prepare(gwd->udp, gwd->conf, &gwd->mcast, reason, size))
        return false;
    gwd->group = gwd_group_new(&config);
    if (gwd->group == NULL)
        (void)snprintf(reason, size, "out of memory");
    return gwd->group != NULL;
}

/* ---- a node ---- */
static bool gateway_address(void *ctx, struct gmc_addr *address)
{
    const struct gwd *gwd = ctx;
    const struct gmc_gateway *gateway = gwd_drive_gateway(gwd->drive);
    for (gmc_peer peer = 0; peer < gmc_gateway_peer_count(gateway); peer++)
        if (gwd_peers_address(gwd->peers, peer, address))
            return true;
    return false;
}

void gwd_look_for_subnet(struct gwd *gwd)
{
    char interface[GWD_MCAST_INTERFACE_MAX], subnet[GWD_MCAST_SUBNET_MAX];
    struct gmc_addr gateway;
    if (gwd->subnet_known || (gwd->conf->node_of[0] == '\0' && gwd->group == NULL))
        return;
    (void)snprintf(interface, sizeof interface, "%s", gwd->conf->multicast_interface);
    if (interface[0] == '\0' &&
        !(gateway_address(gwd, &gateway) && gwd_mcast_interface_to(&gateway, interface)))
        return;
    gwd->subnet_known = true;
    if (!gwd_mcast_subnet(interface, subnet))
        return;
    gwd_log(gwd->log, GMC_LEVEL_INFO, "subnet", GWD_STR("interface", interface),
            GWD_STR("network", subnet), GWD_NUM("multicast_bps", gwd->conf->multicast_rate));
    gwd_drive_subnet(gwd->drive, gwd_now(), subnet);
    gwd_drain_soon(gwd);
}

/* A node that may relay to its subnet. */
static bool open_relay(struct gwd *gwd, char *reason, size_t size)
{
    uint8_t word[GWD_MCAST_WORD_MAX];
    if (!gwd_mcast_group(gwd->conf, &gwd->mcast, reason, size) ||
        !gwd_mcast_prepare(gwd->udp, gwd->conf, &gwd->mcast, reason, size))
        return false;
    size_t len = gwd_mcast_put_word(&gwd->mcast, word);
    gwd_drive_group(gwd->drive, gwd_now(), gmc_bytes(word, len), gwd->conf->multicast_rate,
                    gwd_mcast_payload_max(gwd->conf->multicast_interface, &gwd->mcast.group));
    return true;
}

static bool open_node(struct gwd *gwd, const struct gwd_hearing_config *config, char *reason,
                      size_t size)
{
    gwd->hearing = gwd_hearing_new(config);
    return gwd->hearing != NULL &&
           (gwd->conf->multicast_rate == 0 || open_relay(gwd, reason, size));
}

static void take(void *ctx, gmc_time now, const struct gmc_dgram_in *in)
{
    struct gwd *gwd = ctx;
    struct gmc_dgram_in of_group = *in;
    of_group.path = GMC_PATH_GROUP;
    (void)gwd_drive_datagram(gwd->drive, now, &of_group);
}

static void taken(void *ctx)
{
    gwd_drain(ctx);
}

bool gwd_answer_test(struct gwd *gwd, gmc_peer peer, uint64_t id, struct gmc_bytes request)
{
    uint8_t answer[GWD_GROUP_TEST_MAX];
    size_t len = 0;
    if (gwd->hearing != NULL)
        len = gwd_hearing_on_request(gwd->hearing, request, answer);
    if (len > 0)
        gwd_drive_answer(gwd->drive, gwd_now(), peer, id, gmc_bytes(answer, len));
    return len > 0;
}

/* ---- both ---- */
bool gwd_open_multicast(struct gwd *gwd)
{
    struct gwd_hearing_config config = {.base = gwd->base,
                                        .log = gwd->log,
                                        .interface = gwd->conf->multicast_interface,
                                        .ctx = gwd,
                                        .gateway = gateway_address,
                                        .take = take,
                                        .taken = taken};
    char reason[512] = "out of memory";
    bool ok = true;
    if (gwd->conf->node_of[0] != '\0')
        ok = open_node(gwd, &config, reason, sizeof reason);
    else if (gwd->conf->multicast_interface[0] != '\0')
        ok = open_group(gwd, reason, sizeof reason);
    if (!ok)
        gwd_log(gwd->log, GMC_LEVEL_ERROR, "start.failed", GWD_STR("part", "multicast"),
                GWD_STR("reason", reason));
    return ok;
}
