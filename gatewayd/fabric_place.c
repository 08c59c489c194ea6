/* SPDX-License-Identifier: BSD-2-Clause */
/* Who of this domain is to be reached by the fabric: their names, their endpoints, and whether what
 * is for them goes by it. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "gatewayd/fabric_int.h"
#include "gatewayd/text.h"

#define AGAIN_AFTER GMC_S(30)
#define ASK_AGAIN_AFTER GMC_S(10)
#define DRIFT 4096 /* two clocks differ by less than this part of the time that passes */
#define WAITED_MAX GMC_S(1)
#define FRAME_MAX 1024

/* ---- names ---- */
struct gwd_place *gwd_place_find(const struct gwd_fabric *g, const char *name)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &g->places)
    {
        struct gwd_place *place = GMC_CONTAINER_OF(node, struct gwd_place, node);
        if (strcasecmp(place->name, name) == 0)
            return place;
    }
    return NULL;
}

static void forget_numbers(struct gwd_fabric *g)
{
    if (g->numbers > 0)
        memset(g->by_number, 0, g->numbers * sizeof(*g->by_number));
}

/* NULL: out of memory. */
static struct gwd_place *find_or_add(struct gwd_fabric *g, const char *name)
{
    struct gwd_place *place = gwd_place_find(g, name);
    if (place != NULL)
        return place;
    place = calloc(1, sizeof *place);
    if (place == NULL)
        return NULL;
    gwd_text(place->name, sizeof place->name, "%s", name);
    place->number = GMC_PEER_NONE;
    place->unanswered = GMC_TIME_NEVER;
    gmc_list_init(&place->node);
    gmc_list_push_back(&g->places, &place->node);
    forget_numbers(g); /* it may have been nobody until now */
    return place;
}

static bool make_room(struct gwd_fabric *g, size_t count)
{
    if (count <= g->numbers)
        return true;
    struct gwd_place **more = realloc(g->by_number, count * sizeof(*more));
    if (more == NULL)
        return false;
    memset(more + g->numbers, 0, (count - g->numbers) * sizeof(*more));
    g->by_number = more;
    g->numbers = count;
    return true;
}

struct gwd_place *gwd_place_of(struct gwd_fabric *g, gmc_peer peer)
{
    if (peer < g->numbers && g->by_number[peer] != NULL)
        return g->by_number[peer];
    const char *name = g->config.name_of(g->config.ctx, peer);
    if (name == NULL || !make_room(g, (size_t)peer + 1))
        return &g->nobody;
    struct gwd_place *place = gwd_place_find(g, name);
    /* Whoever else a node sends to is a node. */
    if (place == NULL && !gwd_fabric_is_gateway(g))
        place = find_or_add(g, name);
    if (place == NULL)
        place = &g->nobody;
    else
        place->number = peer;
    g->by_number[peer] = place;
    return place;
}

void gwd_place_number(struct gwd_fabric *g, struct gwd_place *place)
{
    const char *name;
    for (gmc_peer peer = 0; (name = g->config.name_of(g->config.ctx, peer)) != NULL; peer++)
        if (strcasecmp(name, place->name) == 0)
            place->number = peer;
}

/* ---- endpoints ---- */
static void tell(struct gwd_fabric *g, const char *to, const struct gwd_endpoint *end,
                 const char *of)
{
    uint8_t frame[FRAME_MAX];
    struct gwd_endpoint named = *end;
    gwd_text(named.node, sizeof named.node, "%s", of);
    size_t len = gwd_endpoint_put(&named, frame, sizeof frame);
    if (len > 0)
        g->config.tell(g->config.ctx, to, gmc_bytes(frame, len));
}

void gwd_fabric_tell_own(struct gwd_fabric *g, const char *to)
{
    struct gwd_endpoint own = {.id = g->id};
    gwd_text(own.speaks, sizeof own.speaks, "%s",
             g->fab != NULL ? fab_wire(g->fab)->name : g->provider);
    if (g->fab != NULL && fab_wire(g->fab)->address.len <= sizeof own.address) {
        own.address_len = fab_wire(g->fab)->address.len;
        memcpy(own.address, fab_wire(g->fab)->address.data, own.address_len);
    }
    tell(g, to, &own, "");
}

void gwd_place_ask(struct gwd_fabric *g, struct gwd_place *place, gmc_time now)
{
    uint8_t frame[FRAME_MAX];
    place->again = gmc_time_add(now, ASK_AGAIN_AFTER);
    size_t len = gwd_where_put(place->name, frame, sizeof frame);
    if (len > 0)
        g->config.tell(g->config.ctx, g->gateway, gmc_bytes(frame, len));
}

void gwd_place_detach(struct gwd_place *place)
{
    if (place->peer != NULL)
        fab_peer_free(place->peer);
    place->peer = NULL;
    place->is_used = place->is_heard = place->has_least = false;
    place->unanswered = GMC_TIME_NEVER;
}

void gwd_place_lose(struct gwd_fabric *g, struct gwd_place *place, const char *reason)
{
    gwd_place_detach(place);
    place->again = gmc_time_add(g->config.now(), AGAIN_AFTER);
    /* It may have another endpoint by then. */
    if (!place->has_session)
        place->end.address_len = 0;
    g->lost++;
    gwd_log(g->config.log, GMC_LEVEL_WARN, "fabric.lost", GWD_STR("peer", place->name),
            GWD_STR("fabric", place->end.speaks), GWD_STR("reason", reason),
            GWD_STR("text", "sockets carry its data; the fabric is tried again in 30 s"));
}

/* A connection that was made says little of who reads it, and nothing of the way back: data goes by
 * it when a message has left and one has come. */
static void try_use(const struct gwd_fabric *g, struct gwd_place *place)
{
    if (place->is_used || !place->is_heard || !fab_peer_is_reached(place->peer))
        return;
    place->is_used = true;
    gwd_log(g->config.log, GMC_LEVEL_INFO, "fabric.used", GWD_STR("peer", place->name),
            GWD_STR("fabric", place->end.speaks));
}

void gwd_place_on_reached(void *ctx, void *peer)
{
    try_use(ctx, peer);
}

/* A message waits at the two hosts, and not on a path that others share: where it takes longer than
 * the fastest of late, the core is not to see a queue in it and to slow down. A fabric that can
 * take no more says so. */
static void note_wait(struct gwd_place *place, gmc_time now, gmc_time begun)
{
    uint64_t took = now - begun;
    if (place->has_least)
        place->least += (now - place->least_at) / DRIFT;
    /* Modulo: less than the least. */
    if (!place->has_least || took - place->least > UINT64_MAX / 2)
        place->least = took;
    place->has_least = true;
    place->least_at = now;
    place->waited = took - place->least;
    if (place->waited > WAITED_MAX)
        place->waited = WAITED_MAX;
}

/* What we sent first may have come before it knew us; now it does, or will in a moment. */
void gwd_place_on_heard(void *ctx, uint64_t id, gmc_time begun)
{
    struct gwd_fabric *g = ctx;
    struct gwd_place *place = gmc_map_get(&g->by_id, id);
    if (place == NULL)
        return;
    note_wait(place, g->config.now(), begun);
    if (place->peer == NULL || place->is_heard)
        return;
    place->is_heard = true;
    fab_peer_greet(place->peer, g->config.now());
    try_use(g, place);
}

void gwd_place_on_lost(void *ctx, void *peer, const char *reason)
{
    gwd_place_lose(ctx, peer, reason);
}

void gwd_place_attach(struct gwd_fabric *g, struct gwd_place *place)
{
    if (g->fab == NULL || place->end.address_len == 0 || place->peer != NULL)
        return;
    const char *own = fab_wire(g->fab)->name;
    if (strcmp(own, place->end.speaks) != 0) {
        place->again = GMC_TIME_NEVER;
        gwd_log_refusal(g->config.log, g->config.now(), "fabric.unused",
                        GWD_STR("peer", place->name), GWD_STR("here", own),
                        GWD_STR("there", place->end.speaks),
                        GWD_STR("text",
                                "both need the same option fabric; sockets carry its data"));
        return;
    }
    place->peer = fab_peer_new(g->fab, g->config.now(),
                               gmc_bytes(place->end.address, place->end.address_len), place);
    if (place->peer == NULL) {
        gwd_place_lose(g, place, "its endpoint cannot be reached from here");
        return;
    }
    gwd_fabric_arm(g, 0); /* to greet it */
}

static void set_endpoint(struct gwd_fabric *g, struct gwd_place *place,
                         const struct gwd_endpoint *end)
{
    const struct gwd_place *other = gmc_map_get(&g->by_id, end->id);
    /* Two that ask for each other are told twice. */
    if (place->peer != NULL && place->end.id == end->id &&
        gmc_bytes_equal(gmc_bytes(place->end.address, place->end.address_len),
                        gmc_bytes(end->address, end->address_len)))
        return;
    gwd_place_detach(place);
    if (gmc_map_get(&g->by_id, place->end.id) == place)
        (void)gmc_map_remove(&g->by_id, place->end.id);
    place->end = *end;
    place->again = 0;
    if ((other != NULL && other != place) || gmc_map_put(&g->by_id, end->id, place) != GMC_OK)
        place->end.address_len = 0;
    gwd_place_attach(g, place);
}

/* ---- what neighbours say ---- */
void gwd_fabric_on_session(struct gwd_fabric *g, const char *name, bool up)
{
    struct gwd_place *place = gwd_place_find(g, name);
    if (up && g->config.is_ours(g->config.ctx, name)) {
        place = find_or_add(g, name);
        if (place == NULL)
            return;
        place->has_session = true;
        gwd_fabric_tell_own(g, name);
    } else if (place != NULL && place->has_session) {
        place->has_session = false;
        gwd_place_detach(place);
        if (gmc_map_get(&g->by_id, place->end.id) == place)
            (void)gmc_map_remove(&g->by_id, place->end.id);
        place->end.address_len = 0;
    }
}

/* Each of the two is told of the other: first the one that did not gwd_place_ask, since the one
 * that did sends at once. */
static void introduce(struct gwd_fabric *g, const struct gwd_place *asks, const char *wanted)
{
    const struct gwd_place *other = gwd_place_find(g, wanted);
    if (other == NULL || other == asks || other->end.address_len == 0 || asks->end.address_len == 0)
        return;
    tell(g, other->name, &asks->end, asks->name);
    tell(g, asks->name, &other->end, other->name);
}

void gwd_fabric_on_frame(struct gwd_fabric *g, const char *from, enum gwd_frame_type type,
                         struct gmc_bytes body)
{
    struct gwd_place *place = gwd_place_find(g, from);
    struct gwd_endpoint end;
    char wanted[GMC_DOMAIN_NAME_MAX + 1];
    if (place == NULL || !place->has_session)
        return; /* not of this domain */
    if (type == GWD_FRAME_WHERE) {
        if (gwd_fabric_is_gateway(g) && gwd_where_get(body, wanted) == GMC_OK)
            introduce(g, place, wanted);
        return;
    }
    if (gwd_endpoint_get(body, &end) != GMC_OK) {
        gwd_log_refusal(g->config.log, g->config.now(), "fabric.refused", GWD_STR("peer", from),
                        GWD_STR("reason", "it tells of an endpoint that cannot be read"));
        return;
    }
    /* A node speaks for itself alone. */
    if (end.node[0] != '\0' && gwd_fabric_is_gateway(g))
        return;
    if (end.node[0] != '\0' && strcasecmp(end.node, g->domain) != 0 &&
        strcasecmp(end.node, g->gateway) != 0)
        place = find_or_add(g, end.node);
    else if (end.node[0] != '\0')
        return;
    if (place != NULL)
        set_endpoint(g, place, &end);
}
