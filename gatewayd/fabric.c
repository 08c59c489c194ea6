/* SPDX-License-Identifier: BSD-2-Clause */
/* The domain's interconnect under its links: see fabric.h. */
#include "gatewayd/fabric.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/list.h"
#include "base/map.h"
#include "fabric/fabric.h"
#include "fabric/ofi.h"
#include "gatewayd/text.h"

#define ROUNDS_MAX 32 /* then the loop looks at others */
#define AGAIN_AFTER GMC_S(30)
#define ASK_AGAIN_AFTER GMC_S(10)
#define REOPEN_AFTER GMC_S(5)
#define UNANSWERED GMC_S(3)
#define SELDOM GMC_S(2)
#define WHILE_WAITING GMC_MS(2) /* a look at what is under way */
#define WHILE_ALIVE GMC_MS(5)   /* also where something tells: providers are not all sure to */
#define AT_REST GMC_MS(100)
#define DRIFT 4096 /* two clocks differ by less than this part of the time that passes */
#define WAITED_MAX GMC_S(1)
#define FRAME_MAX 1024

/* Where nothing tells that there is something: how long after the last sign of life it is looked
 * how often. A look is some microseconds of CPU. */
static const struct {
    gmc_duration until, every;
} looks[] = {{GMC_MS(2), GMC_US(50)},
             {GMC_MS(100), GMC_US(500)},
             {GMC_S(2), GMC_MS(5)},
             {UINT64_MAX, GMC_MS(20)}};

/* Somebody of this domain. */
struct place {
    struct gmc_list node;
    char name[GMC_DOMAIN_NAME_MAX + 1];
    gmc_peer number;         /* NONE: the core has not named it */
    bool has_session;        /* its word comes from itself */
    struct gwd_endpoint end; /* address_len 0: not known */
    struct fab_peer *peer;   /* NULL: sockets carry what is for it */
    bool is_used;            /* both ways were tried: it carries data */
    bool is_heard;           /* something came from it since it is peer */
    gmc_time again;          /* before that nothing is tried */
    struct gmc_addr udp;     /* where the core sends to it; len 0: as its session shows */
    bool has_least;
    uint64_t least; /* from its clock to ours, for the fastest message of late; modulo 2^64 */
    gmc_time least_at;
    gmc_duration waited; /* what comes now did so, as the message's time tells */
    gmc_time unanswered; /* the first that was sent since something came; NEVER */
    gmc_time sent_at;    /* the last */
    uint64_t bytes_sent, bytes_received;
};

struct gwd_fabric {
    struct gwd_fabric_config config;
    char domain[GMC_DOMAIN_NAME_MAX + 1];
    char gateway[GMC_DOMAIN_NAME_MAX + 1]; /* "": this is it */
    char provider[GWD_FABRIC_NAME_MAX + 1], of_provider[GWD_FABRIC_NAME_MAX + 1];
    char machine_name[32]; /* ours, on this machine */
    bool may_share_memory;
    uint64_t id;
    struct fab *fab; /* NULL: it cannot be used now */
    gmc_time reopen; /* if so, when it is tried again */
    struct gmc_list places;
    struct gmc_map by_id;
    struct place **by_number; /* NULL: not looked up yet; &nobody: none of ours */
    size_t numbers;
    struct place nobody;
    struct event *fd_event, *timer_event;
    int timer_fd;
    gmc_time armed;
    gmc_time alive; /* the last sign of life */
    bool is_fresh;  /* something was put since the last flush */
    bool was_full;
    uint64_t took; /* datagrams, in this turn */
    uint64_t unknown, lost;
    struct fab_stats before; /* of earlier openings */
};

/* ---- places ---- */
static struct place *find(const struct gwd_fabric *g, const char *name)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &g->places)
    {
        struct place *place = GMC_CONTAINER_OF(node, struct place, node);
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
static struct place *find_or_add(struct gwd_fabric *g, const char *name)
{
    struct place *place = find(g, name);
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

static bool is_gateway(const struct gwd_fabric *g)
{
    return g->gateway[0] == '\0';
}

static bool make_room(struct gwd_fabric *g, size_t count)
{
    if (count <= g->numbers)
        return true;
    struct place **more = realloc(g->by_number, count * sizeof(*more));
    if (more == NULL)
        return false;
    memset(more + g->numbers, 0, (count - g->numbers) * sizeof(*more));
    g->by_number = more;
    g->numbers = count;
    return true;
}

/* Who a neighbour of the core is. */
static struct place *place_of(struct gwd_fabric *g, gmc_peer peer)
{
    if (peer < g->numbers && g->by_number[peer] != NULL)
        return g->by_number[peer];
    const char *name = g->config.name_of(g->config.ctx, peer);
    if (name == NULL || !make_room(g, (size_t)peer + 1))
        return &g->nobody;
    struct place *place = find(g, name);
    /* Whoever else a node sends to is a node. */
    if (place == NULL && !is_gateway(g))
        place = find_or_add(g, name);
    if (place == NULL)
        place = &g->nobody;
    else
        place->number = peer;
    g->by_number[peer] = place;
    return place;
}

static void find_number(struct gwd_fabric *g, struct place *place)
{
    const char *name;
    for (gmc_peer peer = 0; (name = g->config.name_of(g->config.ctx, peer)) != NULL; peer++)
        if (strcasecmp(name, place->name) == 0)
            place->number = peer;
}

/* ---- endpoints ---- */
static void arm(struct gwd_fabric *g, gmc_duration after)
{
    gmc_time at = gmc_time_add(g->config.now(), after);
    if (g->armed <= at)
        return;
    struct itimerspec when = {
        .it_value = {.tv_sec = (time_t)(at / 1000000000u), .tv_nsec = (long)(at % 1000000000u)}};
    g->armed = at;
    (void)timerfd_settime(g->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

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

static void tell_own(struct gwd_fabric *g, const char *to)
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

static void ask(struct gwd_fabric *g, struct place *place, gmc_time now)
{
    uint8_t frame[FRAME_MAX];
    place->again = gmc_time_add(now, ASK_AGAIN_AFTER);
    size_t len = gwd_where_put(place->name, frame, sizeof frame);
    if (len > 0)
        g->config.tell(g->config.ctx, g->gateway, gmc_bytes(frame, len));
}

static void detach(struct place *place)
{
    if (place->peer != NULL)
        fab_peer_free(place->peer);
    place->peer = NULL;
    place->is_used = place->is_heard = place->has_least = false;
    place->unanswered = GMC_TIME_NEVER;
}

/* Back to sockets, for a while. */
static void lose(struct gwd_fabric *g, struct place *place, const char *reason)
{
    detach(place);
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
static void try_use(const struct gwd_fabric *g, struct place *place)
{
    if (place->is_used || !place->is_heard || !fab_peer_is_reached(place->peer))
        return;
    place->is_used = true;
    gwd_log(g->config.log, GMC_LEVEL_INFO, "fabric.used", GWD_STR("peer", place->name),
            GWD_STR("fabric", place->end.speaks));
}

static void on_reached(void *ctx, void *peer)
{
    try_use(ctx, peer);
}

/* A message waits at the two hosts, and not on a path that others share: where it takes longer than
 * the fastest of late, the core is not to see a queue in it and to slow down. A fabric that can
 * take no more says so. */
static void note_wait(struct place *place, gmc_time now, gmc_time begun)
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
static void on_heard(void *ctx, uint64_t id, gmc_time begun)
{
    struct gwd_fabric *g = ctx;
    struct place *place = gmc_map_get(&g->by_id, id);
    if (place == NULL)
        return;
    note_wait(place, g->config.now(), begun);
    if (place->peer == NULL || place->is_heard)
        return;
    place->is_heard = true;
    fab_peer_greet(place->peer, g->config.now());
    try_use(g, place);
}

static void on_lost(void *ctx, void *peer, const char *reason)
{
    lose(ctx, peer, reason);
}

static void attach(struct gwd_fabric *g, struct place *place)
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
        lose(g, place, "its endpoint cannot be reached from here");
        return;
    }
    arm(g, 0); /* to greet it */
}

static void set_endpoint(struct gwd_fabric *g, struct place *place, const struct gwd_endpoint *end)
{
    const struct place *other = gmc_map_get(&g->by_id, end->id);
    /* Two that ask for each other are told twice. */
    if (place->peer != NULL && place->end.id == end->id &&
        gmc_bytes_equal(gmc_bytes(place->end.address, place->end.address_len),
                        gmc_bytes(end->address, end->address_len)))
        return;
    detach(place);
    if (gmc_map_get(&g->by_id, place->end.id) == place)
        (void)gmc_map_remove(&g->by_id, place->end.id);
    place->end = *end;
    place->again = 0;
    if ((other != NULL && other != place) || gmc_map_put(&g->by_id, end->id, place) != GMC_OK)
        place->end.address_len = 0;
    attach(g, place);
}

/* ---- opening ---- */
static void take(void *ctx, uint64_t id, struct gmc_bytes datagram)
{
    struct gwd_fabric *g = ctx;
    struct place *place = gmc_map_get(&g->by_id, id);
    struct gmc_dgram_in in = {.path = GMC_PATH_UDP,
                              .peer = GMC_PEER_NONE,
                              .bytes = datagram,
                              .ecn = GMC_NOT_ECT};
    if (place != NULL && place->number == GMC_PEER_NONE)
        find_number(g, place);
    if (place != NULL) {
        in.from = place->udp;
        in.waited = place->waited;
    }
    if (place == NULL ||
        (in.from.len == 0 && !g->config.address(g->config.ctx, place->number, &in.from))) {
        g->unknown++;
        return;
    }
    place->bytes_received += datagram.len;
    place->unanswered = GMC_TIME_NEVER;
    g->took++;
    g->config.take(g->config.ctx, g->config.now(), &in);
}

static struct fab_ofi_options options_of(const struct gwd_fabric *g)
{
    return (struct fab_ofi_options){g->provider, g->of_provider, g->machine_name,
                                    g->may_share_memory};
}

static void turn(struct gwd_fabric *g);

static void on_turn(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    turn(ctx);
}

static void on_timer(evutil_socket_t fd, short what, void *ctx)
{
    struct gwd_fabric *g = ctx;
    uint64_t count;
    (void)what;
    if (read((int)fd, &count, sizeof count) < 0)
        return;
    g->armed = GMC_TIME_NEVER;
    turn(g);
}

static void tell_all(struct gwd_fabric *g)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &g->places)
    {
        const struct place *place = GMC_CONTAINER_OF(node, struct place, node);
        if (place->has_session)
            tell_own(g, place->name);
    }
}

static void shut(struct gwd_fabric *g)
{
    struct gmc_list *node;
    if (g->fab == NULL)
        return;
    GMC_LIST_FOREACH(node, &g->places)
    {
        detach(GMC_CONTAINER_OF(node, struct place, node));
    }
    if (g->fd_event != NULL)
        event_free(g->fd_event);
    g->fd_event = NULL;
    const struct fab_stats *now = fab_stats(g->fab);
    g->before.sent += now->sent;
    g->before.received += now->received;
    g->before.busy += now->busy;
    g->before.dropped += now->dropped;
    g->before.failed += now->failed + now->malformed;
    fab_free(g->fab);
    g->fab = NULL;
}

static void fail(struct gwd_fabric *g, const char *reason)
{
    shut(g);
    g->reopen = gmc_time_add(g->config.now(), REOPEN_AFTER);
    gwd_log_refusal(g->config.log, g->config.now(), "fabric.failed", GWD_STR("fabric", g->provider),
                    GWD_STR("reason", reason),
                    GWD_STR("text", "sockets carry all data until it works"));
}

static bool watch(struct gwd_fabric *g, int fd)
{
    if (fd < 0)
        return true;
    g->fd_event = event_new(g->config.base, fd, EV_READ | EV_PERSIST, on_turn, g);
    return g->fd_event != NULL && event_add(g->fd_event, NULL) == 0;
}

static void open_fabric(struct gwd_fabric *g)
{
    struct fab_ofi_options options = options_of(g);
    struct fab_owner owner = {g, on_heard, take, on_reached, on_lost};
    struct fab_wire wire;
    struct gmc_list *node;
    char reason[512];
    if (!fab_ofi_open(&options, &wire, reason, sizeof reason)) {
        fail(g, reason);
        return;
    }
    g->fab = fab_new(&wire, g->id, &owner);
    if (g->fab == NULL || !watch(g, fab_wire(g->fab)->fd)) {
        fail(g, "no memory or descriptors for it");
        return;
    }
    gwd_log(g->config.log, GMC_LEVEL_INFO, "fabric.open", GWD_STR("fabric", fab_wire(g->fab)->name),
            GWD_STR("looked_at", g->fd_event != NULL ? "when it says so" : "by a timer"));
    if (fab_wire(g->fab)->shares_memory)
        gwd_log(g->config.log, GMC_LEVEL_WARN, "fabric.trying", GWD_STR("fabric", g->provider),
                GWD_STR("text",
                        "for trying only: it shares memory with other daemons, and one that is "
                        "stopped or killed can hang this one"));
    tell_all(g);
    GMC_LIST_FOREACH(node, &g->places)
    {
        attach(g, GMC_CONTAINER_OF(node, struct place, node));
    }
    turn(g);
}

/* One per daemon of this machine: its state is nobody else's. */
static void name_machine(struct gwd_fabric *g, const char *state)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (const char *p = state; *p != '\0'; p++)
        hash = (hash ^ (uint8_t)*p) * UINT64_C(1099511628211);
    gwd_text(g->machine_name, sizeof g->machine_name, "%016llx", (unsigned long long)hash);
}

struct gwd_fabric *gwd_fabric_new(const struct gwd_fabric_config *config)
{
    struct gwd_fabric *g = calloc(1, sizeof *g);
    uint64_t seed;
    if (g == NULL)
        return NULL;
    g->config = *config;
    g->config.conf = NULL;
    g->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    g->armed = GMC_TIME_NEVER;
    gmc_list_init(&g->places);
    gwd_text(g->domain, sizeof g->domain, "%s", config->conf->domain);
    gwd_text(g->gateway, sizeof g->gateway, "%s", config->conf->node_of);
    gwd_text(g->provider, sizeof g->provider, "%s", config->conf->fabric);
    gwd_text(g->of_provider, sizeof g->of_provider, "%s", config->conf->fabric_domain);
    name_machine(g, config->conf->state);
    g->may_share_memory = config->conf->fabric_shared_memory == GWD_ALLOWED;
    bool ok = getrandom(&g->id, sizeof g->id, 0) == (ssize_t)sizeof g->id &&
              getrandom(&seed, sizeof seed, 0) == (ssize_t)sizeof seed;
    gmc_map_init(&g->by_id, ok ? seed : 0);
    g->timer_event = event_new(config->base, g->timer_fd, EV_READ | EV_PERSIST, on_timer, g);
    if (!ok || g->timer_fd < 0 || g->timer_event == NULL || event_add(g->timer_event, NULL) != 0) {
        gwd_fabric_free(g);
        return NULL;
    }
    open_fabric(g);
    return g;
}

void gwd_fabric_free(struct gwd_fabric *g)
{
    struct gmc_list *node;
    if (g == NULL)
        return;
    shut(g);
    while ((node = gmc_list_pop_front(&g->places)) != NULL)
        free(GMC_CONTAINER_OF(node, struct place, node));
    if (g->timer_event != NULL)
        event_free(g->timer_event);
    if (g->timer_fd >= 0)
        (void)close(g->timer_fd);
    gmc_map_fini(&g->by_id);
    free(g->by_number);
    free(g);
}

bool gwd_fabric_check(const struct gwd_conf *conf, char *reason, size_t size)
{
    struct fab_ofi_options options = {conf->fabric, conf->fabric_domain, "",
                                      conf->fabric_shared_memory == GWD_ALLOWED};
    return fab_ofi_is_there(&options, reason, size);
}

/* ---- data ---- */
static gmc_duration next_look(const struct gwd_fabric *g, gmc_time now)
{
    size_t i = 0;
    while (gmc_time_sub(now, g->alive) > looks[i].until)
        i++;
    return looks[i].every;
}

static bool may_sleep(const struct gwd_fabric *g)
{
    const struct fab_wire *wire = fab_wire(g->fab);
    return g->fd_event == NULL || wire->ops->may_sleep(wire->ctx);
}

/* When the next turn is. By the timer also where it is at once: an event that makes itself active
 * is run again before any other of the loop. */
static void wait_for_more(struct gwd_fabric *g, bool more)
{
    if (more)
        arm(g, 0);
    else if (g->fd_event == NULL)
        arm(g, next_look(g, g->config.now()));
    else if (!may_sleep(g))
        arm(g, looks[0].every);
    else if (fab_is_waiting(g->fab))
        arm(g, WHILE_WAITING);
    else
        arm(g, gmc_time_sub(g->config.now(), g->alive) < GMC_S(2) ? WHILE_ALIVE : AT_REST);
}

bool gwd_fabric_put(struct gwd_fabric *g, const struct gmc_dgram_out *out)
{
    const struct gmc_bytes pieces[3] = {gmc_bytes(out->head, out->head_len), out->body, out->tail};
    if (g->fab == NULL || out->peer == GMC_PEER_NONE)
        return false;
    struct place *place = place_of(g, out->peer);
    if (place == &g->nobody)
        return false;
    if (out->to.len > 0)
        place->udp = out->to;
    gmc_time now = g->config.now();
    if (place->peer == NULL) {
        if (!place->has_session && !is_gateway(g) && now >= place->again)
            ask(g, place, now);
        return false;
    }
    enum fab_put result = place->is_used ? fab_put(place->peer, now, pieces, 3) : FAB_ELSEWHERE;
    if (result == FAB_ELSEWHERE)
        return false;
    if (result == FAB_TAKEN)
        place->bytes_sent += gmc_dgram_out_len(out);
    /* What is sent now and then needs no answer. */
    if (place->unanswered == GMC_TIME_NEVER || gmc_time_sub(now, place->sent_at) > SELDOM)
        place->unanswered = now;
    place->sent_at = now;
    g->is_fresh = true;
    g->alive = now;
    return true;
}

bool gwd_fabric_has_room(const struct gwd_fabric *g)
{
    return g->fab == NULL || fab_has_room(g->fab);
}

void gwd_fabric_flush(struct gwd_fabric *g)
{
    if (g->fab == NULL || !g->is_fresh)
        return;
    g->is_fresh = false;
    fab_flush(g->fab, g->config.now());
    g->was_full = g->was_full || !fab_has_room(g->fab);
    wait_for_more(g, false); /* what was sent may be over already, and then nothing tells of it */
}

static bool fail_if_broken(struct gwd_fabric *g)
{
    char reason[256];
    if (g->fab == NULL || fab_broken(g->fab) == NULL)
        return false;
    gwd_text(reason, sizeof reason, "%s", fab_broken(g->fab));
    fail(g, reason);
    tell_all(g);
    return true;
}

/* Takes what came, and goes on sending. */
static void turn(struct gwd_fabric *g)
{
    if (g->fab == NULL)
        return;
    g->took = 0;
    bool more = true;
    for (unsigned i = 0; i < ROUNDS_MAX && more; i++)
        more = fab_progress(g->fab, g->config.now()) || !may_sleep(g);
    if (fail_if_broken(g)) {
        g->was_full = false;
        g->config.taken(g->config.ctx); /* whoever waited for room goes on, by sockets */
        return;
    }
    if (g->took > 0)
        g->alive = g->config.now();
    bool has_room = fab_has_room(g->fab), again = g->was_full && has_room;
    g->was_full = !has_room;
    wait_for_more(g, more);
    if (g->took > 0 || again)
        g->config.taken(g->config.ctx);
}

/* ---- what neighbours say ---- */
void gwd_fabric_on_session(struct gwd_fabric *g, const char *name, bool up)
{
    struct place *place = find(g, name);
    if (up && g->config.is_ours(g->config.ctx, name)) {
        place = find_or_add(g, name);
        if (place == NULL)
            return;
        place->has_session = true;
        tell_own(g, name);
    } else if (place != NULL && place->has_session) {
        place->has_session = false;
        detach(place);
        if (gmc_map_get(&g->by_id, place->end.id) == place)
            (void)gmc_map_remove(&g->by_id, place->end.id);
        place->end.address_len = 0;
    }
}

/* Each of the two is told of the other: first the one that did not ask, since the one that did
 * sends at once. */
static void introduce(struct gwd_fabric *g, const struct place *asks, const char *wanted)
{
    const struct place *other = find(g, wanted);
    if (other == NULL || other == asks || other->end.address_len == 0 || asks->end.address_len == 0)
        return;
    tell(g, other->name, &asks->end, asks->name);
    tell(g, asks->name, &other->end, other->name);
}

void gwd_fabric_on_frame(struct gwd_fabric *g, const char *from, enum gwd_frame_type type,
                         struct gmc_bytes body)
{
    struct place *place = find(g, from);
    struct gwd_endpoint end;
    char wanted[GMC_DOMAIN_NAME_MAX + 1];
    if (place == NULL || !place->has_session)
        return; /* not of this domain */
    if (type == GWD_FRAME_WHERE) {
        if (is_gateway(g) && gwd_where_get(body, wanted) == GMC_OK)
            introduce(g, place, wanted);
        return;
    }
    if (gwd_endpoint_get(body, &end) != GMC_OK) {
        gwd_log_refusal(g->config.log, g->config.now(), "fabric.refused", GWD_STR("peer", from),
                        GWD_STR("reason", "it tells of an endpoint that cannot be read"));
        return;
    }
    /* A node speaks for itself alone. */
    if (end.node[0] != '\0' && is_gateway(g))
        return;
    if (end.node[0] != '\0' && strcasecmp(end.node, g->domain) != 0 &&
        strcasecmp(end.node, g->gateway) != 0)
        place = find_or_add(g, end.node);
    else if (end.node[0] != '\0')
        return;
    if (place != NULL)
        set_endpoint(g, place, &end);
}

/* ---- now and then ---- */
static void try_again(struct gwd_fabric *g, struct place *place, gmc_time now)
{
    if (place->peer == NULL && now >= place->again)
        attach(g, place);
    else if (place->peer != NULL && !place->is_heard)
        fab_peer_greet(place->peer, now);
    else if (place->peer != NULL && place->unanswered != GMC_TIME_NEVER &&
             gmc_time_sub(place->sent_at, place->unanswered) > UNANSWERED)
        lose(g, place, "it does not answer");
}

void gwd_fabric_tick(struct gwd_fabric *g)
{
    struct gmc_list *node;
    gmc_time now = g->config.now();
    if (!fail_if_broken(g) && g->fab == NULL && now >= g->reopen)
        open_fabric(g);
    GMC_LIST_FOREACH(node, &g->places)
    {
        try_again(g, GMC_CONTAINER_OF(node, struct place, node), now);
    }
}

struct gwd_fabric_stats gwd_fabric_stats(const struct gwd_fabric *g)
{
    const struct fab_stats none = {0};
    const struct fab_stats *now = g->fab != NULL ? fab_stats(g->fab) : &none;
    struct gwd_fabric_stats stats = {.sent = g->before.sent + now->sent,
                                     .received = g->before.received + now->received,
                                     .busy = g->before.busy + now->busy,
                                     .dropped = g->before.dropped + now->dropped,
                                     .failed = g->before.failed + now->failed + now->malformed,
                                     .unknown = g->unknown,
                                     .lost = g->lost};
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &g->places)
    {
        stats.peers += GMC_CONTAINER_OF(node, struct place, node)->is_used;
    }
    return stats;
}

struct gwd_fabric_use gwd_fabric_use(const struct gwd_fabric *g, const char *name)
{
    const struct place *place = find(g, name);
    if (place == NULL)
        return (struct gwd_fabric_use){0};
    return (struct gwd_fabric_use){.name = place->is_used ? fab_wire(g->fab)->name : NULL,
                                   .bytes_sent = place->bytes_sent,
                                   .bytes_received = place->bytes_received};
}
