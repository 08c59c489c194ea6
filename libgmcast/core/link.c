/* SPDX-License-Identifier: BSD-2-Clause */
/* The link's life, its messages and fates, and what it tells about itself. */
#include <stdlib.h>
#include <string.h>

#include "core/link_impl.h"

#define FATES_MIN 64

static void init_times(struct gmc_link *link, gmc_time now)
{
    link->created = now;
    link->now = now;
    link->heard = now;
    link->unanswered = GMC_TIME_NEVER;
    link->doubted = GMC_TIME_NEVER;
    link->feedback.due = GMC_TIME_NEVER;
    link->echo_time = GMC_TIME_NEVER;
    link->pace.paid_until = now;
    link->pace.held_since = GMC_TIME_NEVER;
    link->idle = true;
}

static gmc_status init_parts(struct gmc_link *link, const struct gmc_link_config *config)
{
    gmc_status status = gmc_gate_init(&link->gate, config->crypto, config->session);
    if (status != GMC_OK)
        return status;
    link->gate.virtual_padding = config->virtual_bodies;
    status = gmc_loss_init(&link->loss);
    if (status != GMC_OK)
        return status;
    link->cc_state = calloc(1, config->cc->state_size > 0 ? config->cc->state_size : 1);
    return link->cc_state != NULL ? GMC_OK : GMC_ERR_NOMEM;
}

struct gmc_link *gmc_link_new(const struct gmc_link_config *config, gmc_time now)
{
    struct gmc_link *link = calloc(1, sizeof *link);
    if (link == NULL)
        return NULL;
    link->crypto = config->crypto;
    link->trace = config->trace;
    link->cc = config->cc;
    link->fixed_rate_bps = config->fixed_rate_bps;
    link->prng = config->prng;
    gmc_prng_fork(&config->prng, "cc", &link->cc_prng);
    link->peer = config->session->peer;
    link->transport = config->session->transport;
    link->udp_max = config->session->udp_payload_max;
    if (link->udp_max == 0)
        link->udp_max = GMC_LINK_PACKET_MAX;
    link->dead_after = config->dead_after;
    link->silent_after = config->silent_after;
    link->keepalive = config->keepalive != 0 ? config->keepalive : LINK_KEEPALIVE;
    link->state = GMC_LINK_VALIDATING;
    init_times(link, now);
    gmc_ackrange_init(&link->feedback.set);
    gmc_stream_tx_init(&link->tx);
    gmc_stream_rx_init(&link->rx);
    if (init_parts(link, config) != GMC_OK) {
        gmc_link_free(link);
        return NULL;
    }
    /* Early enough to meet a peer that acknowledges blindly from the start. */
    link->skip_at = 16 + gmc_prng_below(&link->prng, 128);
    gmc_link_path_init(link, &config->to, now);
    return link;
}

void gmc_link_near(const struct gmc_link *link, struct gmc_near *near)
{
    GMC_NEAR_ADD(near, link, crypto, challenges);
    gmc_near_add(near, &link->reach, sizeof(*link) - offsetof(struct gmc_link, reach));
    gmc_gate_near(&link->gate, near);
    gmc_loss_near(&link->loss, near);
    if (link->fate_capacity > 0)
        gmc_near_add(near, &link->fates[link->fate_head], 2 * sizeof(*link->fates));
    if (link->cc->near != NULL)
        link->cc->near(link->cc_state, near);
    else
        gmc_near_add(near, link->cc_state, link->cc->state_size);
}

void gmc_link_free(struct gmc_link *link)
{
    if (link == NULL)
        return;
    gmc_gate_fini(&link->gate);
    gmc_loss_fini(&link->loss);
    gmc_stream_tx_fini(&link->tx);
    gmc_stream_rx_fini(&link->rx);
    free(link->cc_state);
    free(link->fates);
    free(link);
}

void gmc_link_die(struct gmc_link *link, gmc_time now, gmc_status status)
{
    if (link->state == GMC_LINK_DEAD)
        return;
    link->state = GMC_LINK_DEAD;
    gmc_trace_emit(link->trace, now, GMC_TRACE_LINK_DOWN, link->peer, 0, (uint64_t)-status, 0, 0);
}

void gmc_link_bye(struct gmc_link *link, gmc_time now, gmc_status status)
{
    if (link->state == GMC_LINK_DEAD)
        return;
    link->bye = link->active != ROUTES;
    link->bye_status = status;
    gmc_link_die(link, now, status);
}

void gmc_link_set_watch(struct gmc_link *link, bool watch)
{
    link->watch = watch;
    if (!watch)
        link->data_max = 0;
    gmc_link_path_hurry(link);
}

void gmc_link_set_cc(struct gmc_link *link, gmc_time now, const struct gmc_cc_ops *cc)
{
    link->now = now;
    if (link->cc == cc)
        return;
    void *state = calloc(1, cc->state_size > 0 ? cc->state_size : 1);
    if (state == NULL)
        return;
    free(link->cc_state);
    link->cc_state = state;
    link->cc = cc;
    if (link->active != ROUTES)
        gmc_link_start_cc(link, now);
}

void gmc_link_expect(struct gmc_link *link, gmc_time now, uint64_t rate_bps)
{
    link->now = now;
    if (link->active == ROUTES || link->cc->expect == NULL)
        return;
    link->cc->expect(link->cc_state, now, rate_bps);
    gmc_link_update_pace(link);
}

/* ---- messages ---- */

gmc_status gmc_link_send_message(struct gmc_link *link, gmc_time now, struct gmc_bytes message)
{
    link->now = now;
    if (link->state == GMC_LINK_DEAD)
        return GMC_ERR_STATE;
    link->echoed = 0;
    return gmc_stream_tx_push(&link->tx, message);
}

uint64_t gmc_link_told(const struct gmc_link *link)
{
    return link->tx.buffer.top;
}

uint64_t gmc_link_told_acked(const struct gmc_link *link)
{
    return link->tx.buffer.base;
}

bool gmc_link_next_message(struct gmc_link *link, struct gmc_bytes *message)
{
    if (gmc_stream_rx_next(&link->rx, message))
        return true;
    if (link->rx.broken)
        gmc_link_die(link, link->now, GMC_ERR_INVALID);
    return false;
}

/* ---- fates ---- */

bool gmc_link_reserve_fate(struct gmc_link *link)
{
    size_t need = link->fate_count + link->data_pending + 1;
    if (need <= link->fate_capacity)
        return true;
    size_t capacity = link->fate_capacity > 0 ? link->fate_capacity * 2 : FATES_MIN;
    struct gmc_link_fate *fates = malloc(capacity * sizeof *fates);
    if (fates == NULL)
        return false;
    for (size_t i = 0; i < link->fate_count; i++)
        fates[i] = link->fates[(link->fate_head + i) & (link->fate_capacity - 1)];
    free(link->fates);
    link->fates = fates;
    link->fate_capacity = capacity;
    link->fate_head = 0;
    return true;
}

void gmc_link_push_fate(struct gmc_link *link, const struct gmc_sent *packet, bool acked)
{
    size_t place = (link->fate_head + link->fate_count++) & (link->fate_capacity - 1);
    link->fates[place] = (struct gmc_link_fate){packet->cookie, packet->sent, acked};
}

bool gmc_link_next_fate(struct gmc_link *link, struct gmc_link_fate *fate)
{
    if (link->fate_count == 0)
        return false;
    *fate = link->fates[link->fate_head];
    link->fate_head = (link->fate_head + 1) & (link->fate_capacity - 1);
    link->fate_count--;
    return true;
}

/* ---- passes of the loss detection ---- */

static void on_acked(struct gmc_link *link, gmc_time now, const struct gmc_loss_decision *is)
{
    const struct gmc_sent *packet = &is->packet;

    link->decided++;
    if (packet->ecn) {
        link->ecn_acked++;
        gmc_ecn_on_acked(&link->ecn);
    }
    if (is->number >= link->cc_first)
        link->cc->on_acked(link->cc_state, now, is->number, packet->bytes, packet->sent);
    if (packet->kind == GMC_KIND_STREAM) {
        gmc_stream_tx_acked(&link->tx, packet->cookie, packet->length);
    } else if (packet->kind == GMC_KIND_DATA) {
        link->data_pending--;
        gmc_link_push_fate(link, packet, true);
    }
}

static void on_lost(struct gmc_link *link, gmc_time now, const struct gmc_loss_decision *is)
{
    const struct gmc_sent *packet = &is->packet;

    link->decided++;
    link->packets_lost++;
    if (packet->ecn)
        gmc_ecn_on_lost(&link->ecn);
    if (is->number >= link->cc_first)
        link->cc->on_lost(link->cc_state, now, is->number, packet->bytes, packet->sent);
    if (packet->kind == GMC_KIND_STREAM) {
        uint64_t end = packet->cookie + packet->length;
        if (is->number >= link->repeated || end > link->repeated_end)
            gmc_stream_tx_lost(&link->tx, packet->cookie, packet->length);
    } else if (packet->kind == GMC_KIND_DATA) {
        link->data_pending--;
        gmc_link_push_fate(link, packet, false);
    }
}

void gmc_link_run_pass(struct gmc_link *link, gmc_time now)
{
    struct gmc_loss_decision is;

    link->ecn_acked = 0;
    while (gmc_loss_next(&link->loss, &is)) {
        if (is.fate == GMC_FATE_ACKED) {
            on_acked(link, now, &is);
        } else if (is.fate == GMC_FATE_LOST) {
            on_lost(link, now, &is);
        } else {
            link->packets_lost--;
            link->ecn_acked += is.packet.ecn;
            if (is.number >= link->cc_first)
                link->cc->on_spurious(link->cc_state, now, is.number, is.packet.bytes);
            if (is.packet.kind == GMC_KIND_STREAM)
                gmc_stream_tx_acked(&link->tx, is.packet.cookie, is.packet.length);
        }
    }
    gmc_link_update_pace(link);
}

/* ---- information ---- */

enum gmc_link_state gmc_link_state(const struct gmc_link *link)
{
    return link->state;
}

bool gmc_link_is_silent(const struct gmc_link *link)
{
    return link->silent;
}

uint32_t gmc_link_session_id(const struct gmc_link *link)
{
    return link->gate.local_id;
}

struct gmc_addr gmc_link_from(const struct gmc_link *link)
{
    return link->routes[ROUTE_UDP].valid ? link->from : (struct gmc_addr){.len = 0};
}

void gmc_link_info(const struct gmc_link *link, struct gmc_link_info *info)
{
    const struct link_route *route = gmc_link_active(link);
    bool has_rtt = link->loss.rtt.smoothed != 0;

    memset(info, 0, sizeof *info);
    info->srtt = link->loss.rtt.smoothed;
    info->min_rtt = has_rtt ? link->loss.rtt.min : 0;
    info->pto = gmc_loss_pto(&link->loss);
    if (route != NULL) {
        info->path = link->active == ROUTE_STREAM ? GMC_PATH_STREAM : GMC_PATH_UDP;
        info->rate_bps = link->pace.rate_bps;
        info->loss_ppm = link->cc->loss_ppm(link->cc_state);
        info->udp_payload_max = route->mtu;
        info->mtu_settled = route->settled;
    }
    info->from = gmc_link_from(link);
    info->inflight_bytes = link->loss.inflight_bytes;
    info->packets_sent = link->packets_sent;
    info->packets_lost = link->packets_lost;
    info->packets_marked = link->packets_marked;
    info->ecn =
        link->active == ROUTE_UDP && link->cc->takes_ecn && link->ecn.state == GMC_ECN_CAPABLE;
    info->data_sent = link->data_sent;
    info->bytes_sent = link->bytes_sent;
    info->bytes_received = link->bytes_received;
    info->streamed_bytes_queued = gmc_stream_tx_bytes(&link->tx);
}
