/* SPDX-License-Identifier: BSD-2-Clause */
/* The domain's interconnect under its links: see fabric.h. */
#include "gatewayd/fabric.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "fabric/ofi.h"
#include "gatewayd/fabric_int.h"
#include "gatewayd/text.h"

#define ROUNDS_MAX 32 /* then the loop looks at others */
#define REOPEN_AFTER GMC_S(5)
#define UNANSWERED GMC_S(3)
#define SELDOM GMC_S(2)
#define WHILE_WAITING GMC_MS(2) /* a look at what is under way */
#define WHILE_ALIVE GMC_MS(5)   /* also where something tells: providers are not all sure to */
#define AT_REST GMC_MS(100)

/* Where nothing tells that there is something: how long after the last sign of life it is looked
 * how often. A look is some microseconds of CPU. */
static const struct {
    gmc_duration until, every;
} looks[] = {{GMC_MS(2), GMC_US(50)},
             {GMC_MS(100), GMC_US(500)},
             {GMC_S(2), GMC_MS(5)},
             {UINT64_MAX, GMC_MS(20)}};

/* ---- opening ---- */
void gwd_fabric_arm(struct gwd_fabric *g, gmc_duration after)
{
    gmc_time at = gmc_time_add(g->config.now(), after);
    if (g->armed <= at)
        return;
    struct itimerspec when = {
        .it_value = {.tv_sec = (time_t)(at / 1000000000u), .tv_nsec = (long)(at % 1000000000u)}};
    g->armed = at;
    (void)timerfd_settime(g->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static void take(void *ctx, uint64_t id, struct gmc_bytes datagram)
{
    struct gwd_fabric *g = ctx;
    struct gwd_place *place = gmc_map_get(&g->by_id, id);
    struct gmc_dgram_in in = {.path = GMC_PATH_UDP,
                              .peer = GMC_PEER_NONE,
                              .bytes = datagram,
                              .ecn = GMC_NOT_ECT};
    if (place != NULL && place->number == GMC_PEER_NONE)
        gwd_place_number(g, place);
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
        const struct gwd_place *place = GMC_CONTAINER_OF(node, struct gwd_place, node);
        if (place->has_session)
            gwd_fabric_tell_own(g, place->name);
    }
}

static void shut(struct gwd_fabric *g)
{
    struct gmc_list *node;
    if (g->fab == NULL)
        return;
    GMC_LIST_FOREACH(node, &g->places)
    {
        gwd_place_detach(GMC_CONTAINER_OF(node, struct gwd_place, node));
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
    struct fab_owner owner = {g, gwd_place_on_heard, take, gwd_place_on_reached, gwd_place_on_lost};
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
        gwd_place_attach(g, GMC_CONTAINER_OF(node, struct gwd_place, node));
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
        free(GMC_CONTAINER_OF(node, struct gwd_place, node));
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
        gwd_fabric_arm(g, 0);
    else if (g->fd_event == NULL)
        gwd_fabric_arm(g, next_look(g, g->config.now()));
    else if (!may_sleep(g))
        gwd_fabric_arm(g, looks[0].every);
    else if (fab_is_waiting(g->fab))
        gwd_fabric_arm(g, WHILE_WAITING);
    else
        gwd_fabric_arm(g,
                       gmc_time_sub(g->config.now(), g->alive) < GMC_S(2) ? WHILE_ALIVE : AT_REST);
}

bool gwd_fabric_put(struct gwd_fabric *g, const struct gmc_dgram_out *out)
{
    const struct gmc_bytes pieces[3] = {gmc_bytes(out->head, out->head_len), out->body, out->tail};
    if (g->fab == NULL || out->peer == GMC_PEER_NONE)
        return false;
    struct gwd_place *place = gwd_place_of(g, out->peer);
    if (place == &g->nobody)
        return false;
    if (out->to.len > 0)
        place->udp = out->to;
    gmc_time now = g->config.now();
    if (place->peer == NULL) {
        if (!place->has_session && !gwd_fabric_is_gateway(g) && now >= place->again)
            gwd_place_ask(g, place, now);
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

/* ---- now and then ---- */
static void try_again(struct gwd_fabric *g, struct gwd_place *place, gmc_time now)
{
    if (place->peer == NULL && now >= place->again)
        gwd_place_attach(g, place);
    else if (place->peer != NULL && !place->is_heard)
        fab_peer_greet(place->peer, now);
    else if (place->peer != NULL && place->unanswered != GMC_TIME_NEVER &&
             gmc_time_sub(place->sent_at, place->unanswered) > UNANSWERED)
        gwd_place_lose(g, place, "it does not answer");
}

void gwd_fabric_tick(struct gwd_fabric *g)
{
    struct gmc_list *node;
    gmc_time now = g->config.now();
    if (!fail_if_broken(g) && g->fab == NULL && now >= g->reopen)
        open_fabric(g);
    GMC_LIST_FOREACH(node, &g->places)
    {
        try_again(g, GMC_CONTAINER_OF(node, struct gwd_place, node), now);
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
        stats.peers += GMC_CONTAINER_OF(node, struct gwd_place, node)->is_used;
    }
    return stats;
}

struct gwd_fabric_use gwd_fabric_use(const struct gwd_fabric *g, const char *name)
{
    const struct gwd_place *place = gwd_place_find(g, name);
    if (place == NULL)
        return (struct gwd_fabric_use){0};
    return (struct gwd_fabric_use){.name = place->is_used ? fab_wire(g->fab)->name : NULL,
                                   .bytes_sent = place->bytes_sent,
                                   .bytes_received = place->bytes_received};
}
