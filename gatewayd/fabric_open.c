/* SPDX-License-Identifier: BSD-2-Clause */
/* The fabric (fabric.h) wired to the core and the sessions. */
#include "gatewayd/gatewayd_int.h"

static const char *name_of(void *ctx, gmc_peer peer)
{
    const struct gwd *gwd = ctx;
    const struct gmc_gateway *gateway = gwd_drive_gateway(gwd->drive);
    return peer < gmc_gateway_peer_count(gateway) ? gmc_gateway_peer_name(gateway, peer) : NULL;
}

/* A node has a session with its gateway alone. */
static bool is_ours(void *ctx, const char *name)
{
    const struct gwd *gwd = ctx;
    return gwd->conf->node_of[0] != '\0' || gwd_is_node(gwd, name);
}

static bool address_of(void *ctx, gmc_peer peer, struct gmc_addr *address)
{
    const struct gwd *gwd = ctx;
    return gwd_peers_address(gwd->peers, peer, address);
}

static void tell(void *ctx, const char *name, struct gmc_bytes frame)
{
    const struct gwd *gwd = ctx;
    gwd_peers_tell(gwd->peers, name, frame);
}

static void take(void *ctx, gmc_time now, const struct gmc_dgram_in *in)
{
    struct gwd *gwd = ctx;
    (void)gwd_drive_datagram(gwd->drive, now, in);
}

static void taken(void *ctx)
{
    gwd_drain(ctx);
}

bool gwd_open_fabric(struct gwd *gwd)
{
    struct gwd_fabric_config config = {.base = gwd->base,
                                       .log = gwd->log,
                                       .conf = gwd->conf,
                                       .ctx = gwd,
                                       .now = gwd_now,
                                       .name_of = name_of,
                                       .is_ours = is_ours,
                                       .address = address_of,
                                       .tell = tell,
                                       .take = take,
                                       .taken = taken};
    if (gwd->conf->fabric[0] == '\0')
        return true;
    gwd->fabric = gwd_fabric_new(&config);
    if (gwd->fabric == NULL)
        gwd_log(gwd->log, GMC_LEVEL_ERROR, "start.failed", GWD_STR("part", "fabric"),
                GWD_STR("reason", "out of memory or descriptors"));
    return gwd->fabric != NULL;
}

void gwd_on_fabric_frame(void *ctx, const char *from, enum gwd_frame_type type,
                         struct gmc_bytes body)
{
    struct gwd *gwd = ctx;
    if (gwd->fabric != NULL)
        gwd_fabric_on_frame(gwd->fabric, from, type, body);
}

void gwd_hook_fabric(void *ctx, const char *domain, struct gmc_ctl_fabric *out)
{
    const struct gwd *gwd = ctx;
    if (gwd->fabric == NULL)
        return;
    struct gwd_fabric_use use = gwd_fabric_use(gwd->fabric, domain);
    *out = (struct gmc_ctl_fabric){use.name != NULL ? use.name : "", use.bytes_sent,
                                   use.bytes_received};
}
