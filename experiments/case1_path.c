/* SPDX-License-Identifier: BSD-2-Clause */
/* Case study 1, one multicast: cluster, Ethernet to the gateway, WAN, Ethernet, cluster, one after
 * the other on one clock. The root serves the gateway first, then its own cluster. */
#include "experiments/case1.h"

#include "sim-wan/mem.h"

#define FRAME_PAYLOAD 1460u
#define FRAME_WIRE_BITS (1538.0 * 8)

static const double ethernet_bps[CASE1_GATEWAYS] = {0, 1e9, 1e8,
                                                    1e9 * 0.5242880 / 1.2 * 1538 / 1460,
                                                    1e8 * 5.242880 / 12 * 1538 / 1460};

/* Legs of the way to the other cluster. */
enum leg { TO_HEAD, CONVERT, TO_GATEWAY, OVER_WAN, FROM_GATEWAY, CONVERT_BACK, TO_MEMBERS };

struct path {
    struct sim_engine engine;
    struct sim_event event; /* of the leg */
    const struct case1_point *point;
    double wan_seconds;
    enum leg leg;
    uint32_t frames; /* still to come over the Ethernet */
    struct ex_san *to_head, *local, *remote;
    gmc_time end;
};

static void on_served(void *ctx, gmc_time now)
{
    struct path *path = ctx;
    if (now > path->end)
        path->end = now;
}

static gmc_duration frame_time(const struct path *path)
{
    return (gmc_duration)(FRAME_WIRE_BITS / ethernet_bps[path->point->gateway] * 1e9);
}

static struct ex_san_config cluster(const struct path *path, uint32_t members)
{
    struct ex_san_config config = path->point->san;
    config.group = members;
    config.message = CASE1_MESSAGE;
    return config;
}

static void enter(struct path *path, enum leg leg, gmc_time now)
{
    bool in_san = path->point->gateway == CASE1_IN_SAN;
    path->leg = leg;
    switch (leg) {
    case CONVERT:
    case CONVERT_BACK:
        sim_engine_at(&path->engine, &path->event,
                      now + (in_san ? 0 : GMC_US((uint64_t)CASE1_CONVERT_US)));
        break;
    case TO_GATEWAY:
    case FROM_GATEWAY:
        path->frames = in_san ? 0 : (CASE1_MESSAGE + FRAME_PAYLOAD - 1) / FRAME_PAYLOAD;
        sim_engine_at(&path->engine, &path->event, in_san ? now : now + frame_time(path));
        break;
    case OVER_WAN:
        sim_engine_at(&path->engine, &path->event, now + (gmc_duration)(path->wan_seconds * 1e9));
        break;
    default: {
        /* The head or gateway is the root there. */
        struct ex_san_config config = cluster(path, path->point->remote + 1);
        path->remote = ex_san_start(&path->engine, &config, now, on_served, path);
        break;
    }
    }
}

static void on_leg(struct sim_event *event, gmc_time now)
{
    struct path *path = SIM_OWNER(event, struct path, event);
    bool ethernet = path->leg == TO_GATEWAY || path->leg == FROM_GATEWAY;
    if (ethernet && path->frames > 1) {
        path->frames--;
        sim_engine_at(&path->engine, &path->event, now + frame_time(path));
        return;
    }
    enter(path, (enum leg)(path->leg + 1), now);
}

static void start_local(struct path *path, gmc_time when)
{
    struct ex_san_config config = cluster(path, path->point->local);
    if (path->point->local > 1)
        path->local = ex_san_start(&path->engine, &config, when, on_served, path);
}

static void on_head(void *ctx, gmc_time now)
{
    struct path *path = ctx;
    start_local(path, now);
    enter(path, CONVERT, now);
}

static void run_once(const struct case1_point *point, double wan_seconds,
                     struct case1_result *result)
{
    struct path path = {.point = point, .wan_seconds = wan_seconds};
    sim_engine_init(&path.engine);
    sim_event_init(&path.event, on_leg);
    if (point->kind == CASE1_LOCAL) {
        start_local(&path, 0);
    } else {
        struct ex_san_config config = cluster(&path, 2);
        path.to_head = ex_san_start(&path.engine, &config, 0, on_head, &path);
    }
    sim_engine_run(&path.engine, GMC_S(3600));
    result->seconds += (double)path.end / 1e9;
    result->events += path.engine.fired;
    if (path.to_head != NULL)
        ex_san_free(path.to_head);
    if (path.local != NULL)
        ex_san_free(path.local);
    if (path.remote != NULL)
        ex_san_free(path.remote);
    sim_engine_fini(&path.engine);
}

void case1_run(const struct case1_point *point, double wan_seconds, struct case1_result *result)
{
    struct case1_point drawn = *point;
    uint32_t draws = point->san.kind == EX_SCI ? CASE1_DRAWS : 1;
    *result = (struct case1_result){0};
    for (uint32_t i = 0; i < draws; i++) {
        drawn.san.draw = i;
        run_once(&drawn, wan_seconds, result);
    }
    result->seconds /= draws;
}
