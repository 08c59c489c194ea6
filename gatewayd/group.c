/* SPDX-License-Identifier: BSD-2-Clause */
/* The self-test of a gateway's group: see group.h. All nodes that wait for a test are tested at
 * once, in rounds: they listen; test datagrams are sent; they report. */
#include "gatewayd/group.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "gatewayd/text.h"
#include "gatewayd/tree.h"

#define TICK_USEC 50000
#define LISTEN_WAIT GMC_S(2) /* for the answers of all */
#define REPORT_WAIT GMC_S(2)
#define SETTLE GMC_MS(300)    /* for the last datagram */
#define AGAIN_AFTER GMC_S(60) /* when it did not arrive */
#define SILENT_AGAIN GMC_S(5) /* when a node that has a link did not answer: it was busy */

enum state {
    UNTESTED,
    ASKED,     /* to listen */
    LISTENS,   /* it does */
    REPORTING, /* what came */
    HEARS,
    DEAF
};

struct member {
    enum state state;
    enum state told;                     /* HEARS or DEAF, as last logged */
    gmc_time again;                      /* DEAF: when it is tested once more, ... */
    char reason[GWD_GROUP_TEXT_MAX + 1]; /* ... and why it was not reached */
};

enum phase { REST, LISTENING, SENDING, SETTLING, ASKING };

enum use { UNDECIDED, UNUSED, USED };

struct gwd_group {
    struct gwd_group_config config;
    struct gwd_mcast_group group;
    char address[GWD_ADDR_TEXT_MAX];
    char interface[GWD_MCAST_INTERFACE_MAX];
    uint64_t rate_bps;
    bool has_tree; /* nodes that nobody reaches by multicast feed each other */
    struct event *tick;
    struct member *members; /* by peer */
    size_t member_count;
    enum phase phase;
    gmc_time until;
    uint64_t token;
    unsigned sent; /* of the test */
    enum use use;
};

static void write_address(struct gwd_group *g)
{
    struct gwd_sockaddr address;
    int family = g->group.group.len == 6 ? AF_INET : AF_INET6;
    gwd_text(g->address, sizeof g->address, "?");
    if (gwd_addr_from_core(&g->group.group, family, &address))
        gwd_addr_text((struct sockaddr *)&address.storage, g->address);
}

struct gwd_group_stats gwd_group_stats(const struct gwd_group *g)
{
    struct gwd_group_stats stats = {0};
    for (size_t i = 0; i < g->member_count; i++) {
        stats.hear += g->members[i].told == HEARS;
        stats.deaf += g->members[i].told == DEAF;
    }
    return stats;
}

struct gwd_group_verdict gwd_group_verdict(const struct gwd_group *g, gmc_peer peer)
{
    const struct member *member = peer < g->member_count ? &g->members[peer] : NULL;
    if (member == NULL || member->told == UNTESTED)
        return (struct gwd_group_verdict){0};
    return (struct gwd_group_verdict){true, member->told == HEARS, member->reason};
}

void gwd_group_doubt(struct gwd_group *g, gmc_peer peer)
{
    if (peer < g->member_count && g->members[peer].state == HEARS)
        g->members[peer].state = UNTESTED;
}

/* ---- whom to test ---- */
static bool make_room(struct gwd_group *g, size_t count)
{
    struct member *more;
    if (count <= g->member_count)
        return true;
    more = realloc(g->members, count * sizeof *more);
    if (more == NULL)
        return false;
    memset(more + g->member_count, 0, (count - g->member_count) * sizeof *more);
    g->members = more;
    g->member_count = count;
    return true;
}

/* Nodes come, go and lose their link. True when one waits for a test. */
static bool look(struct gwd_group *g, gmc_time now)
{
    struct gmc_peer_info info;
    bool is_node, waits = false;
    for (gmc_peer peer = 0; g->config.node(g->config.ctx, peer, &is_node, &info); peer++) {
        if (!make_room(g, (size_t)peer + 1))
            return waits;
        struct member *member = &g->members[peer];
        if (!is_node || !info.up) {
            member->state = UNTESTED;
            member->told = is_node ? member->told : UNTESTED;
        } else if (member->state > UNTESTED && member->state < HEARS) {
            member->state = UNTESTED; /* its link was down when its turn came */
        } else if (member->state == DEAF && now >= member->again) {
            member->state = UNTESTED;
        }
        waits = waits || (is_node && info.up && member->state == UNTESTED);
    }
    return waits;
}

static size_t count_in(const struct gwd_group *g, enum state state)
{
    size_t count = 0;
    for (size_t i = 0; i < g->member_count; i++)
        count += g->members[i].state == state;
    return count;
}

/* ---- a round ---- */
static void ask(struct gwd_group *g, gmc_peer peer, enum gwd_group_step step)
{
    uint8_t bytes[GWD_GROUP_TEST_MAX];
    struct gwd_group_test test = {.step = step, .token = g->token, .group = g->group};
    size_t len = gwd_group_test_put(&test, bytes);
    g->config.ask(g->config.ctx, peer, GWD_GROUP_IDS | peer, gmc_bytes(bytes, len));
}

/* Asks all that are in one state, which makes it the other. */
static void ask_all(struct gwd_group *g, enum state from, enum state to, enum gwd_group_step step)
{
    struct gmc_peer_info info;
    bool is_node;
    for (size_t i = 0; i < g->member_count; i++) {
        if (g->members[i].state != from ||
            !g->config.node(g->config.ctx, (gmc_peer)i, &is_node, &info) || !is_node || !info.up)
            continue;
        g->members[i].state = to;
        ask(g, (gmc_peer)i, step);
    }
}

static void send_datagram(struct gwd_group *g)
{
    struct gwd_group_test test = {.step = GWD_GROUP_DATAGRAM, .token = g->token};
    uint8_t bytes[GWD_GROUP_TEST_MAX];
    g->sent++;
    g->config.send(g->config.ctx, gmc_bytes(bytes, gwd_group_test_put(&test, bytes)));
}

static const char *name_of(const struct gwd_group *g, gmc_peer peer)
{
    struct gmc_peer_info info;
    bool is_node;
    return g->config.node(g->config.ctx, peer, &is_node, &info) ? info.domain : "?";
}

static void judge(struct gwd_group *g, gmc_peer peer, unsigned received, const char *text)
{
    struct member *member = &g->members[peer];
    bool hears = received > 0, is_error = text[0] == '!';
    const char *reason = is_error ? text + 1 : "none of the test datagrams arrived";
    member->state = hears ? HEARS : DEAF;
    member->again = gmc_time_add(g->config.now(), AGAIN_AFTER);
    gwd_text(member->reason, sizeof member->reason, "%s", hears ? "" : reason);
    if (member->told == member->state)
        return;
    member->told = member->state;
    if (hears)
        gwd_log(g->config.log, GMC_LEVEL_INFO, "multicast.arrives",
                GWD_STR("node", name_of(g, peer)), GWD_STR("group", g->address),
                GWD_STR("from_interface", g->interface), GWD_STR("to_interface", text),
                GWD_NUM("sent", g->sent), GWD_NUM("received", received));
    else
        gwd_log(g->config.log, GMC_LEVEL_WARN, "multicast.lost", GWD_STR("node", name_of(g, peer)),
                GWD_STR("group", g->address), GWD_STR("from_interface", g->interface),
                GWD_STR("to_interface", is_error ? "" : text), GWD_STR("reason", reason),
                GWD_STR("text", "this node gets everything by unicast, unless one of its subnet "
                                "relays"));
}

/* All that are still in one of these states have not answered. */
static void give_up(struct gwd_group *g, enum state state)
{
    for (size_t i = 0; i < g->member_count; i++) {
        if (g->members[i].state != state)
            continue;
        judge(g, (gmc_peer)i, 0, "!the node did not answer");
        g->members[i].again = gmc_time_add(g->config.now(), SILENT_AGAIN);
    }
}

static void conclude(struct gwd_group *g)
{
    uint8_t word[GWD_MCAST_WORD_MAX];
    size_t len = gwd_mcast_put_word(&g->group, word);
    struct gwd_group_stats stats = gwd_group_stats(g);
    enum use use = stats.hear > 0 ? USED : UNUSED, before = g->use;
    g->phase = REST;
    g->use = use;
    if (use == before)
        return;
    if (use == USED)
        gwd_log(g->config.log, GMC_LEVEL_INFO, "multicast.used", GWD_STR("group", g->address),
                GWD_STR("interface", g->interface), GWD_NUM("rate_bps", g->rate_bps));
    else
        gwd_log(g->config.log, GMC_LEVEL_WARN, "multicast.unused", GWD_STR("group", g->address),
                GWD_STR("interface", g->interface),
                GWD_STR("text", g->has_tree ? "multicast arrives at no node; they feed each other "
                                              "as a tree (delivery_tree)"
                                            : "multicast arrives at no node; all of them get "
                                              "unicast"));
    if (use == USED || before == USED)
        g->config.use(g->config.ctx, gmc_bytes(word, use == USED ? len : 0), g->rate_bps);
}

static void next_phase(struct gwd_group *g, enum phase phase, gmc_duration at_most)
{
    g->phase = phase;
    g->until = gmc_time_add(g->config.now(), at_most);
}

static void step(struct gwd_group *g)
{
    gmc_time now = g->config.now();
    switch (g->phase) {
    case REST:
        if (!look(g, now) || getrandom(&g->token, sizeof g->token, 0) != (ssize_t)sizeof g->token)
            return;
        g->sent = 0;
        ask_all(g, UNTESTED, ASKED, GWD_GROUP_LISTEN);
        next_phase(g, LISTENING, LISTEN_WAIT);
        return;
    case LISTENING:
        if (count_in(g, ASKED) > 0 && now < g->until)
            return;
        give_up(g, ASKED);
        next_phase(g, SENDING, 0);
        return;
    case SENDING:
        /* A few at a time: one burst may be lost as a whole. */
        for (unsigned i = 0; i < 4 && g->sent < GWD_GROUP_TEST_DATAGRAMS; i++)
            send_datagram(g);
        if (g->sent == GWD_GROUP_TEST_DATAGRAMS)
            next_phase(g, SETTLING, SETTLE);
        return;
    case SETTLING:
        if (now < g->until)
            return;
        ask_all(g, LISTENS, REPORTING, GWD_GROUP_REPORT);
        next_phase(g, ASKING, REPORT_WAIT);
        return;
    case ASKING:
        if (count_in(g, REPORTING) > 0 && now < g->until)
            return;
        give_up(g, REPORTING);
        conclude(g);
        return;
    }
}

static void on_tick(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    step(ctx);
}

/* Its link was lost, or it was started anew, in the middle: that says nothing of multicast. */
static bool is_cut_off(const struct member *member, struct gmc_bytes reply,
                       const struct gwd_group_test *answer)
{
    bool waits = member->state == ASKED || member->state == REPORTING;
    bool has_no_report = member->state == REPORTING && answer != NULL && answer->text[0] == '!';
    return waits && (reply.len == 0 || has_no_report);
}

void gwd_group_on_reply(struct gwd_group *g, uint64_t id, struct gmc_bytes reply)
{
    gmc_peer peer = (gmc_peer)(id & ~GWD_GROUP_IDS);
    struct gwd_group_test test;
    struct member *member = peer < g->member_count ? &g->members[peer] : NULL;
    bool is_answer = gwd_group_test_get(reply, &test) && test.token == g->token;
    if (member == NULL)
        return;
    if (is_cut_off(member, reply, is_answer ? &test : NULL))
        member->state = UNTESTED; /* the next round tests it */
    else if (member->state == ASKED && (!is_answer || test.text[0] == '!'))
        judge(g, peer, 0, is_answer ? test.text : "!the node cannot be tested");
    else if (member->state == ASKED && test.step == GWD_GROUP_LISTENS)
        member->state = LISTENS;
    else if (member->state == REPORTING && is_answer && test.step == GWD_GROUP_REPORT_IS)
        judge(g, peer, test.received, test.text);
}

struct gwd_group *gwd_group_new(const struct gwd_group_config *config)
{
    static const struct timeval every = {.tv_usec = TICK_USEC};
    struct gwd_group *g = calloc(1, sizeof *g);
    if (g == NULL)
        return NULL;
    g->config = *config;
    g->config.conf = NULL;
    g->group = *config->group;
    g->rate_bps = config->conf->multicast_rate;
    g->has_tree = !gwd_tree_is_flat(config->conf);
    gwd_text(g->interface, sizeof g->interface, "%s", config->conf->multicast_interface);
    write_address(g);
    g->tick = event_new(config->base, -1, EV_PERSIST, on_tick, g);
    if (g->tick == NULL || event_add(g->tick, &every) != 0) {
        gwd_group_free(g);
        return NULL;
    }
    return g;
}

void gwd_group_free(struct gwd_group *g)
{
    if (g == NULL)
        return;
    if (g->tick != NULL)
        event_free(g->tick);
    free(g->members);
    free(g);
}
