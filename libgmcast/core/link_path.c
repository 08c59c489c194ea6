/* SPDX-License-Identifier: BSD-2-Clause */
/* The link's ways to the peer: challenges, the peer's address, MTU, UDP or the TLS connection. */
#include <string.h>

#include "core/link_impl.h"
#include "core/manifest.h"

/* Waits between the challenges of a series. The second one follows soon, because the first may
 * arrive before the peer has finished its side of the session. */
static const uint16_t wait_ms[] = {5, 25, 50, 100, 200, 200, 200, 200, 400};
#define WAITS (sizeof wait_ms / sizeof wait_ms[0])
#define NEW_ATTEMPTS 8
#define AGAIN_ATTEMPTS 4

/* Ethernet with PPPoE, Ethernet, jumbo frames, loopback and the like (UDP payloads). The last is
 * what the local interface takes where that is more than UDP can carry, in simulations. */
static const uint32_t mtu_sizes[LINK_MTU_SIZES] = {1452, 1472, 8952, 33000, UINT32_MAX};
#define UDP_PAYLOAD_MAX 65507u

static bool same_addr(const struct gmc_addr *a, const struct gmc_addr *b)
{
    return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

static void open_route(struct gmc_link *link, uint8_t index, const struct gmc_addr *to,
                       gmc_time now)
{
    struct link_route *route = &link->routes[index];

    memset(route, 0, sizeof *route);
    for (size_t i = 0; i < LINK_CHALLENGES; i++) {
        if (link->challenges[i].route == index)
            link->challenges[i].route = ROUTES;
    }
    route->open = true;
    if (to != NULL)
        route->to = *to;
    route->next = now;
    link->wakes = true;
}

void gmc_link_path_init(struct gmc_link *link, const struct gmc_addr *to, gmc_time now)
{
    link->active = ROUTES;
    link->reach.since = now;
    for (size_t i = 0; i < LINK_CHALLENGES; i++)
        link->challenges[i].route = ROUTES;
    for (size_t i = 0; i < ROUTES; i++)
        link->routes[i].next = GMC_TIME_NEVER;
    /* Both sides challenge the configured address; where there is none, the shell sends nothing
     * and the peer's challenge shows its address. */
    if (link->transport == GMC_TRANSPORT_TCP)
        open_route(link, ROUTE_STREAM, NULL, now);
    else
        open_route(link, ROUTE_UDP, to, now);
}

const struct link_route *gmc_link_active(const struct gmc_link *link)
{
    return link->active != ROUTES ? &link->routes[link->active] : NULL;
}

/* ---- MTU ---- */

/* The UDP payload of the i-th probe, bounded by what the local interface takes. */
static uint32_t mtu_size(const struct gmc_link *link, size_t i)
{
    return mtu_sizes[i] < link->udp_max ? mtu_sizes[i] : link->udp_max;
}

static bool mtu_is_probed(const struct gmc_link *link, const struct link_route *route, size_t i)
{
    bool exists = mtu_sizes[i] != UINT32_MAX || link->udp_max > UDP_PAYLOAD_MAX;

    return exists && mtu_size(link, i) > route->mtu &&
           (i == 0 || mtu_size(link, i) > mtu_size(link, i - 1));
}

/* Begins the next round of probes for all sizes that are still open, or ends the search. */
static void mtu_round(struct gmc_link *link, struct link_route *route, gmc_time now)
{
    bool any = false;

    memset(route->copies, 0, sizeof route->copies);
    for (size_t i = 0; i < LINK_MTU_SIZES && route->round < LINK_MTU_ROUNDS; i++) {
        if (!mtu_is_probed(link, route, i))
            continue;
        route->copies[i] = LINK_MTU_COPIES;
        any = true;
    }
    route->round++;
    route->settled = !any;
    route->searched = route->searched || !any;
    route->settled_at = now;
    route->next = GMC_TIME_NEVER;
    if (any)
        route->next = gmc_time_add(now, gmc_duration_scale(route->rtt, 5, 4) + GMC_MS(5));
}

static bool mtu_is_open(const struct gmc_link *link, const struct link_route *route)
{
    for (size_t i = 0; i < LINK_MTU_SIZES; i++) {
        if (mtu_is_probed(link, route, i))
            return true;
    }
    return false;
}

/* ---- a route becomes the one in use ---- */

void gmc_link_start_cc(struct gmc_link *link, gmc_time now)
{
    const struct link_route *route = gmc_link_active(link);
    struct gmc_cc_params params = {
        .packet_bytes = route->mtu + LINK_WIRE_BYTES,
        .fixed_rate_bps = link->fixed_rate_bps,
        .initial_rtt = gmc_time_min(link->loss.rtt.smoothed, route->rtt),
    };

    link->cc_first = link->loss.next;
    memset(link->cc_state, 0, link->cc->state_size);
    link->cc->init(link->cc_state, &params, &link->cc_prng, now);
    link->pace.paid_until = now;
    gmc_link_update_pace(link);
}

static void use_route(struct gmc_link *link, uint8_t index, gmc_time now)
{
    link->active = index;
    gmc_ecn_reset(&link->ecn);
    /* Where TCP has met losses, a round trip within TLS takes seconds: probes that waited for such
     * a one would come far too late. */
    gmc_loss_rtt_restart(&link->loss, link->routes[index].rtt);
    if (link->state == GMC_LINK_VALIDATING) {
        link->state = GMC_LINK_UP;
        gmc_trace_emit(link->trace, now, GMC_TRACE_LINK_UP, link->peer, 0, 0, 0, 0);
    }
    gmc_link_start_cc(link, now);
}

/* A UDP route that was found while the TLS connection is in use is taken once it is known to
 * carry what is being sent. */
static void consider_udp(struct gmc_link *link, gmc_time now)
{
    const struct link_route *udp = &link->routes[ROUTE_UDP];

    if (link->active == ROUTE_STREAM && udp->valid && udp->settled && udp->mtu >= link->data_max)
        use_route(link, ROUTE_UDP, now);
}

/* The TLS connection carries what seems too large for UDP. Where that is because all probes were
 * lost, it is the path on which TCP is slowest: they go out again, less and less often. */
static void search_later(struct gmc_link *link, gmc_time now)
{
    struct link_route *udp = &link->routes[ROUTE_UDP];

    if (link->active != ROUTE_STREAM || !link->watch || !udp->settled || !mtu_is_open(link, udp))
        return;
    udp->again = udp->again == 0 ? LINK_MTU_AGAIN : gmc_time_min(2 * udp->again, LINK_UDP_AGAIN);
    udp->next = gmc_time_add(now, udp->again);
}

/* The reverse: what is to be sent is larger than what UDP carries. */
static void consider_stream(struct gmc_link *link, gmc_time now)
{
    const struct link_route *udp = &link->routes[ROUTE_UDP];

    if (link->active != ROUTE_UDP || !link->routes[ROUTE_STREAM].valid || !udp->settled ||
        udp->mtu >= link->data_max)
        return;
    use_route(link, ROUTE_STREAM, now);
    search_later(link, now);
}

static void settle(struct gmc_link *link, struct link_route *route, gmc_time now)
{
    bool is_first = link->data_sent == 0 && gmc_link_active(link) == route;

    /* What was learnt so far came from small packets. */
    if (is_first && route->mtu > LINK_MTU_MIN)
        gmc_link_start_cc(link, now);
    consider_udp(link, now);
    search_later(link, now);
}

static void validate(struct gmc_link *link, uint8_t index, gmc_time now, gmc_duration rtt,
                     const struct gmc_dgram_in *in, uint32_t size)
{
    struct link_route *route = &link->routes[index];

    route->valid = true;
    route->mtu = size;
    route->rtt = rtt;
    route->challenge_due = false;
    if (index == ROUTE_NEW) {
        /* The peer moved, or has no configured address. Where it moved, the path has most likely
         * changed at its end only, so what was learnt about the MTU is kept. */
        route->searched = link->routes[ROUTE_UDP].searched;
        if (route->searched && link->routes[ROUTE_UDP].mtu > route->mtu)
            route->mtu = link->routes[ROUTE_UDP].mtu;
        link->routes[ROUTE_UDP] = *route;
        gmc_ecn_reset(&link->ecn);
        link->routes[ROUTE_NEW].open = false;
        link->routes[ROUTE_NEW].next = GMC_TIME_NEVER;
        for (size_t i = 0; i < LINK_CHALLENGES; i++)
            link->challenges[i].route =
                link->challenges[i].route == ROUTE_STREAM ? ROUTE_STREAM : ROUTES;
        index = ROUTE_UDP;
        route = &link->routes[ROUTE_UDP];
    }
    if (index == ROUTE_STREAM) {
        route->mtu = LINK_STREAM_MTU;
        route->settled = true;
        route->next = GMC_TIME_NEVER;
        gmc_link_reach_may_be_told(link, now);
        /* The peer may have finished its side of the session just now. */
        if (!link->routes[ROUTE_UDP].valid && link->routes[ROUTE_UDP].open) {
            link->routes[ROUTE_UDP].attempts = 0;
            link->routes[ROUTE_UDP].next = now;
        }
    } else {
        link->from = in->from;
        if (link->routes[ROUTE_NEW].open && same_addr(&link->routes[ROUTE_NEW].to, &in->from)) {
            link->routes[ROUTE_NEW].open = false;
            link->routes[ROUTE_NEW].next = GMC_TIME_NEVER;
        }
    }
    if (link->state == GMC_LINK_VALIDATING)
        use_route(link, index, now);
    else if (index == ROUTE_STREAM)
        consider_stream(link, now);
    if (index == ROUTE_UDP)
        mtu_round(link, route, now);
    if (route->settled)
        settle(link, route, now);
    gmc_link_update_pace(link);
}

/* ---- what comes in ---- */

void gmc_link_path_heard(struct gmc_link *link, gmc_time now, const struct gmc_dgram_in *in,
                         bool newest)
{
    const struct link_route *udp = &link->routes[ROUTE_UDP];

    if (in->path != GMC_PATH_UDP || !newest || link->transport == GMC_TRANSPORT_TCP)
        return;
    if (udp->valid && same_addr(&link->from, &in->from))
        return;
    /* One candidate at a time, so that datagrams with forged sources do not make us challenge many
     * addresses; before the first path is found, the latest one is the best guess. */
    if (link->routes[ROUTE_NEW].open &&
        (link->active != ROUTES || same_addr(&link->routes[ROUTE_NEW].to, &in->from)))
        return;
    if (now < link->refused_until && same_addr(&link->refused, &in->from))
        return;
    open_route(link, ROUTE_NEW, &in->from, now);
}

static void answer(struct gmc_link *link, enum gmc_path path, const struct gmc_addr *to,
                   struct gmc_bytes content)
{
    if (link->response_count == LINK_RESPONSES) {
        /* The oldest is the least use to the peer. */
        memmove(&link->responses[0], &link->responses[1],
                (LINK_RESPONSES - 1) * sizeof link->responses[0]);
        link->response_count--;
    }
    struct link_response *response = &link->responses[link->response_count++];
    memcpy(response->token, content.data, LINK_TOKEN_BYTES);
    response->path = path;
    response->to = *to;
}

void gmc_link_path_challenged(struct gmc_link *link, const struct gmc_dgram_in *in,
                              struct gmc_bytes content)
{
    struct link_route *udp = &link->routes[ROUTE_UDP];

    answer(link, in->path, &in->from, content);
    if (link->active != ROUTE_STREAM || !udp->open)
        return;
    if (in->path == GMC_PATH_UDP) {
        /* What answers over UDP may be lost: the peer is to know that it was heard. */
        if (!udp->valid)
            answer(link, GMC_PATH_STREAM, &in->from, content);
    } else if (!udp->valid && udp->next > gmc_time_add(link->now, LINK_HEARD_AGAIN)) {
        /* The peer looks at its ways anew (gmc_link_test), for which it needs to hear us. */
        udp->attempts = 0;
        udp->next = link->now;
    }
}

void gmc_link_path_answered(struct gmc_link *link, gmc_time now, const struct gmc_dgram_in *in,
                            struct gmc_bytes content)
{
    struct link_challenge *found = NULL;

    for (size_t i = 0; i < LINK_CHALLENGES && found == NULL; i++) {
        struct link_challenge *challenge = &link->challenges[i];
        if (challenge->route != ROUTES &&
            memcmp(challenge->token, content.data, LINK_TOKEN_BYTES) == 0)
            found = challenge;
    }
    if (found == NULL)
        return;
    uint8_t index = found->route;
    struct link_route *route = &link->routes[index];
    if (index != ROUTE_STREAM)
        link->reach.arrived = true;
    if (index != ROUTE_STREAM && in->path == GMC_PATH_STREAM)
        return; /* the answer over UDP may come yet */
    found->route = ROUTES;
    if (!route->open || (index == ROUTE_STREAM) != (in->path == GMC_PATH_STREAM))
        return;
    if (!route->valid) {
        validate(link, index, now, gmc_time_sub(now, found->sent), in, found->size);
        return;
    }
    if (index == ROUTE_STREAM || found->size <= route->mtu)
        return;
    route->mtu = found->size;
    gmc_link_update_pace(link);
    if (!route->settled && !mtu_is_open(link, route)) {
        mtu_round(link, route, now);
        settle(link, route, now);
    }
}

/* ---- time ---- */

static void close_new(struct gmc_link *link, gmc_time now)
{
    struct link_route *route = &link->routes[ROUTE_NEW];

    link->refused = route->to;
    link->refused_until =
        gmc_time_add(now, link->active == ROUTE_STREAM ? LINK_HEARD_AGAIN : LINK_UDP_AGAIN);
    route->open = false;
    route->next = GMC_TIME_NEVER;
}

/* The next challenge of a route that has not answered. */
static void challenge_again(struct gmc_link *link, uint8_t index, gmc_time now)
{
    struct link_route *route = &link->routes[index];

    if (index == ROUTE_NEW && route->attempts >= NEW_ATTEMPTS && link->active != ROUTES) {
        close_new(link, now);
        return;
    }
    size_t i = route->attempts < WAITS ? route->attempts : WAITS - 1;
    route->attempts++;
    route->challenge_due = true;
    route->next = gmc_time_add(now, GMC_MS(wait_ms[i]));
    /* With the TLS connection in use, UDP is only looked at now and then. */
    if (index == ROUTE_UDP && link->active == ROUTE_STREAM && route->attempts >= AGAIN_ATTEMPTS) {
        route->attempts = 0;
        route->next = gmc_time_add(now, link->watch ? LINK_UDP_AGAIN : 6 * LINK_UDP_AGAIN);
    }
}

static gmc_time stream_time(const struct gmc_link *link)
{
    bool may = link->transport == GMC_TRANSPORT_AUTO && link->state == GMC_LINK_VALIDATING &&
               !link->routes[ROUTE_STREAM].open;
    return may ? gmc_time_add(link->created, LINK_AUTO_WAIT) : GMC_TIME_NEVER;
}

void gmc_link_path_on_timer(struct gmc_link *link, gmc_time now)
{
    if (stream_time(link) <= now)
        open_route(link, ROUTE_STREAM, NULL, now);
    for (uint8_t i = 0; i < ROUTES; i++) {
        struct link_route *route = &link->routes[i];
        if (!route->open || route->next > now)
            continue;
        if (!route->valid) {
            challenge_again(link, i, now);
            continue;
        }
        if (route->settled) /* the search is repeated */
            route->round = 0;
        mtu_round(link, route, now);
        if (route->settled)
            settle(link, route, now);
    }
}

void gmc_link_path_test(struct gmc_link *link, gmc_time now)
{
    struct link_route *udp = &link->routes[ROUTE_UDP];

    if (udp->open && !udp->valid) {
        udp->attempts = 0;
        udp->next = now;
    }
    udp->challenge_due = udp->open;
    link->routes[ROUTE_STREAM].challenge_due = link->routes[ROUTE_STREAM].valid;
}

uint32_t gmc_link_payload(const struct gmc_link *link)
{
    const struct link_route *udp = &link->routes[ROUTE_UDP];
    return udp->open && udp->searched ? udp->mtu : 0;
}

bool gmc_link_want_payload(struct gmc_link *link, gmc_time now, size_t udp_payload)
{
    struct link_route *route = &link->routes[ROUTE_UDP];
    const struct link_route *active = gmc_link_active(link);

    link->now = now;
    if (active == NULL || active->mtu >= udp_payload)
        return true;
    if (active != route)
        return false;
    /* Who wants it asks anew after a round trip and a moment, see core/overlay.h. */
    gmc_duration wait = gmc_time_add(LINK_MTU_WANTED, 2 * route->rtt);
    if (route->settled && mtu_is_open(link, route) &&
        now >= gmc_time_add(route->settled_at, wait)) {
        route->round = 0;
        mtu_round(link, route, now);
    }
    if (!route->settled)
        return true;
    if (link->transport != GMC_TRANSPORT_AUTO || udp_payload > LINK_STREAM_MTU)
        return false;
    if (udp_payload > link->data_max)
        link->data_max = (uint32_t)udp_payload;
    if (!link->routes[ROUTE_STREAM].open)
        open_route(link, ROUTE_STREAM, NULL, now);
    consider_stream(link, now);
    return true;
}

void gmc_link_path_hurry(struct gmc_link *link)
{
    struct link_route *udp = &link->routes[ROUTE_UDP];

    if (link->watch && link->active == ROUTE_STREAM && udp->open && !udp->valid)
        udp->next = gmc_time_min(udp->next, gmc_time_add(link->now, LINK_UDP_AGAIN));
    consider_udp(link, link->now);
    if (udp->next == GMC_TIME_NEVER)
        search_later(link, link->now);
}

gmc_time gmc_link_path_deadline(const struct gmc_link *link)
{
    gmc_time deadline = stream_time(link);
    for (size_t i = 0; i < ROUTES; i++) {
        if (link->routes[i].open)
            deadline = gmc_time_min(deadline, link->routes[i].next);
    }
    return deadline;
}

/* ---- what goes out ---- */

static void direct(const struct gmc_link *link, uint8_t index, struct gmc_dgram_out *out)
{
    out->path = index == ROUTE_STREAM ? GMC_PATH_STREAM : GMC_PATH_UDP;
    out->to = link->routes[index].to;
}

_Static_assert(GMC_VIRTUAL_BYTES >= LINK_TOKEN_BYTES, "of a challenge the token exists always");

static bool emit_challenge(struct gmc_link *link, gmc_time now, uint8_t index, uint32_t size,
                           uint8_t *buffer, struct gmc_dgram_out *out)
{
    struct link_challenge *challenge = &link->challenges[link->challenge_next++ % LINK_CHALLENGES];
    size_t len = size - GMC_GATE_OVERHEAD;
    size_t kept = gmc_gate_kept(&link->gate, GMC_KIND_CHALLENGE, len);
    bool is_whole = kept == len || index == ROUTE_STREAM;
    uint8_t *content = buffer + GMC_HEAD_BYTES;

    link->crypto->ops->random(link->crypto->ctx, challenge->token, LINK_TOKEN_BYTES);
    memcpy(content, challenge->token, LINK_TOKEN_BYTES);
    memset(content + LINK_TOKEN_BYTES, 0, (is_whole ? len : kept) - LINK_TOKEN_BYTES);
    challenge->sent = now;
    challenge->size = size;
    challenge->route = index;
    if (index != ROUTE_STREAM)
        gmc_link_reach_asks(link);
    if (!gmc_link_emit(link, now, GMC_KIND_CHALLENGE, buffer, len, out))
        return false;
    if (!is_whole) { /* as of a fragment: the shell leaves the middle out */
        memcpy(out->head, buffer, GMC_HEAD_BYTES);
        out->head_len = GMC_HEAD_BYTES;
        out->body = gmc_bytes(content, len);
        out->tail = gmc_bytes(content + len, GMC_SEAL_TAG_BYTES);
    }
    direct(link, index, out);
    return true;
}

static bool next_response(struct gmc_link *link, gmc_time now, uint8_t *buffer,
                          struct gmc_dgram_out *out)
{
    if (link->response_count == 0)
        return false;
    struct link_response response = link->responses[0];
    link->response_count--;
    memmove(&link->responses[0], &link->responses[1],
            link->response_count * sizeof link->responses[0]);
    memcpy(buffer + GMC_HEAD_BYTES, response.token, LINK_TOKEN_BYTES);
    if (!gmc_link_emit(link, now, GMC_KIND_RESPONSE, buffer, LINK_TOKEN_BYTES, out))
        return false;
    out->path = response.path;
    out->to = response.to;
    return true;
}

static bool next_probe(struct gmc_link *link, gmc_time now, uint8_t *buffer, size_t capacity,
                       struct gmc_dgram_out *out)
{
    struct link_route *route = &link->routes[ROUTE_UDP];

    if (route->settled) /* then no copies are left */
        return false;
    for (size_t i = 0; i < LINK_MTU_SIZES; i++) {
        if (!mtu_is_probed(link, route, i))
            route->copies[i] = 0; /* a larger one was answered meanwhile */
        if (route->copies[i] == 0 || mtu_size(link, i) > capacity)
            continue; /* the next buffer may be larger */
        route->copies[i]--;
        return emit_challenge(link, now, ROUTE_UDP, mtu_size(link, i), buffer, out);
    }
    return false;
}

bool gmc_link_path_next(struct gmc_link *link, gmc_time now, uint8_t *buffer, size_t capacity,
                        struct gmc_dgram_out *out)
{
    if (next_response(link, now, buffer, out))
        return true;
    for (uint8_t i = 0; i < ROUTES; i++) {
        struct link_route *route = &link->routes[i];
        if (!route->open || !route->challenge_due)
            continue;
        uint32_t size = LINK_MTU_MIN < link->udp_max ? LINK_MTU_MIN : link->udp_max;
        route->challenge_due = false;
        return emit_challenge(link, now, i, size, buffer, out);
    }
    return next_probe(link, now, buffer, capacity, out);
}
