/* SPDX-License-Identifier: BSD-2-Clause */
/* What a simulated gateway wants done: outputs, and the numbers of peers. */
#include "sim-wan/host_internal.h"

#include <string.h>

#include "base/assert.h"
#include "core/manifest.h"
#include "sim-wan/mem.h"
#include "wire/control.h"
#include "wire/head.h"

_Static_assert(GMC_DATA_OVERHEAD_BYTES + GMC_VIRTUAL_BYTES <= SIM_PACKET_SHORT_BYTES,
               "packets with virtual bodies are short");

/* ---- peers ---- */
gmc_peer sim_host_peer(struct sim_host *host, uint32_t other)
{
    void *known = gmc_map_get(&host->host_peers, (uint64_t)other + 1);
    if (known != NULL)
        return (gmc_peer)((uintptr_t)known - 1);
    gmc_peer peer = gmc_gateway_peer(host->gateway, host->world->hosts[other]->name);
    gmc_status status =
        gmc_map_put(&host->host_peers, (uint64_t)other + 1, (void *)((uintptr_t)peer + 1));
    GMC_ASSERT(status == GMC_OK);
    return peer;
}

uint32_t sim_host_of_peer(struct sim_host *host, gmc_peer peer)
{
    while (host->peer_count <= peer) {
        host->peer_hosts = sim_reserve(host->peer_hosts, host->peer_count, &host->peer_capacity,
                                       sizeof(*host->peer_hosts));
        const char *name = gmc_gateway_peer_name(host->gateway, (gmc_peer)host->peer_count);
        const struct sim_host *other = name != NULL ? sim_world_find(host->world, name) : NULL;
        host->peer_hosts[host->peer_count++] = other != NULL ? other->id : SIM_NO_HOST;
    }
    return host->peer_hosts[peer];
}

/* ---- outputs ---- */
static void send_datagram(struct sim_host *host, struct gmc_dgram_out *out)
{
    uint32_t to = SIM_NO_HOST;
    if (out->path != GMC_PATH_GROUP)
        to = out->to.len == 4 ? gmc_get32(out->to.bytes) : sim_host_of_peer(host, out->peer);
    sim_host_charge(host, gmc_dgram_out_len(out));
    host->count.datagrams_out++;
    host->count.bytes_out += gmc_dgram_out_len(out);
    if (out->path == GMC_PATH_GROUP)
        to = SIM_TO_GROUP | host->id;
    else if (to >= host->world->host_count || to == host->id)
        return; /* an address that nobody has */
    if (host->tamper != NULL && !host->tamper(host->tamper_ctx, host, out))
        return;
    struct gmc_bytes pieces[3] = {gmc_bytes(out->head, out->head_len), out->body, out->tail};
    size_t kept = out->body.len;
    /* Control has no tail, and all its bytes exist. */
    if (host->world->config.virtual_bodies && out->tail.len > 0)
        kept = gmc_virtual_kept((uint32_t)out->body.len);
    if (out->path != GMC_PATH_STREAM)
        sim_net_send_virtual(&host->world->net, host->id, to, (enum sim_ecn)out->ecn, pieces, 3, 1,
                             kept);
    else if (!sim_session_send(&host->world->sessions, host->id, to, pieces, 3))
        host->count.stream_refused++;
}

static void connect_to(struct sim_host *host, gmc_peer peer)
{
    uint32_t other = sim_host_of_peer(host, peer);
    if (other != SIM_NO_HOST) {
        sim_session_want(&host->world->sessions, host->id, other);
        return;
    }
    host->unknown_peers = sim_reserve(host->unknown_peers, host->unknown_count,
                                      &host->unknown_capacity, sizeof(*host->unknown_peers));
    host->unknown_peers[host->unknown_count++] = peer;
    sim_engine_at(&host->world->engine, &host->pulse, host->world->engine.now);
}

static void on_news(struct sim_host *host, const struct gmc_event *event)
{
    struct sim_world *world = host->world;
    host->count.events++;
    host->check_claims = host->check_claims || event->kind == GMC_EVENT_CHANNEL;
    sim_trace_text(&world->trace, world->engine.now, SIM_TRACE_EVENT, host->id, host->name, "%s",
                   event->text);
    sim_oracle_on_event(&world->oracle, host, event);
    if (world->on_event != NULL)
        world->on_event(world->event_ctx, host, event);
}

/* The word of a group: "lan" is the gateway's, "lan of NAME" a relay's. */
static const struct sim_host *sender_of(const struct sim_host *host, struct gmc_bytes word)
{
    static const char relays[] = "lan of ";
    const size_t head = sizeof(relays) - 1;
    char name[GMC_GROUP_ADDRESS_MAX + 1] = "";
    if (word.len == 0)
        return NULL;
    if (word.len <= head || memcmp(word.data, relays, head) != 0)
        return host->node_of;
    memcpy(name, word.data + head, word.len - head);
    return sim_world_find(host->world, name);
}

static void hear(struct sim_host *host, struct gmc_bytes word)
{
    struct sim_net *net = &host->world->net;
    const struct sim_host *sender = sender_of(host, word);
    if (host->hears > 0)
        sim_group_listen(net, host->hears - 1, host->id, false);
    host->hears = sender != NULL ? sender->id + 1 : 0;
    if (sender != NULL && !host->deaf)
        sim_group_listen(net, sender->id, host->id, true);
}

static void perform(struct sim_host *host, struct gmc_output *out)
{
    uint32_t other;
    switch (out->kind) {
    case GMC_OUT_DATAGRAM:
        send_datagram(host, &out->u.dgram);
        break;
    case GMC_OUT_STORE:
        sim_disk_submit(&host->disk, &out->u.store);
        break;
    case GMC_OUT_CONNECT:
        connect_to(host, out->peer);
        break;
    case GMC_OUT_REJECT:
        other = sim_host_of_peer(host, out->peer);
        if (other != SIM_NO_HOST)
            sim_session_end(&host->world->sessions, host->id, other);
        break;
    case GMC_OUT_EVENT:
        on_news(host, &out->u.event);
        break;
    case GMC_OUT_GROUP:
        hear(host, out->bytes);
        break;
    case GMC_OUT_REQUEST: /* nobody here has a control API: echo */
        gmc_gateway_answer(host->gateway, sim_host_now(host), out->peer, out->id, out->bytes);
        break;
    case GMC_OUT_NODE_REQUEST:
    case GMC_OUT_REPLY:
        break;
    case GMC_OUT_MESSAGE:
    case GMC_OUT_ROOM:
        if (host->world->on_message != NULL)
            host->world->on_message(host->world->message_ctx, host, out);
        break;
    }
}

void sim_host_drain(struct sim_host *host)
{
    struct gmc_output out;
    if (host->is_looking)
        return;
    while (gmc_gateway_next_output(host->gateway, &out))
        perform(host, &out);
    gmc_gateway_done_with_outputs(host->gateway);
    if (host->check_claims) {
        host->check_claims = false;
        sim_oracle_check_claims(&host->world->oracle, host);
    }
    sim_host_arm(host);
}
