/* SPDX-License-Identifier: BSD-2-Clause */
/* Topologies in our own format; see conf.h. */
#include "sim-wan/topo/conf.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim-wan/mem.h"
#include "sim-wan/topo/index.h"

#define RATE_MAX UINT64_C(100000000000000) /* 100 Tbit/s */
#define DELAY_MAX GMC_S(3600)
#define SIZE_MAX_BYTES (UINT64_C(1) << 40)
#define ALL_PPM 1000000
#define MTU_FULL 1500u

/* ---- the tables ---- */
const struct sim_conf_option sim_topo_conf_top[] = {{"nodes", SIM_CONF_TEXTS, 0, 0, NULL},
                                                    {"routers", SIM_CONF_TEXTS, 0, 0, NULL},
                                                    {NULL, SIM_CONF_TEXT, 0, 0, NULL}};

static const char *const ecn_paths[] = {"kept", "bleached", "forced", NULL};

const struct sim_conf_option sim_topo_conf_wire[] = {
    {"rate", SIM_CONF_RATE, 0, RATE_MAX, NULL}, /* 0: no limit */
    {"delay", SIM_CONF_DURATION, 0, DELAY_MAX, NULL},
    {"jitter", SIM_CONF_DURATION, 0, DELAY_MAX, NULL},
    {"loss", SIM_CONF_SHARE, 0, ALL_PPM, NULL},
    {"burst-enter", SIM_CONF_SHARE, 0, ALL_PPM, NULL}, /* Gilbert-Elliott: good to bad */
    {"burst-leave", SIM_CONF_SHARE, 0, ALL_PPM, NULL}, /* bad to good */
    {"burst-loss", SIM_CONF_SHARE, 0, ALL_PPM, NULL},  /* in the bad state */
    {"loss-trace", SIM_CONF_TEXT, 0, 0, NULL},
    {"duplicate", SIM_CONF_SHARE, 0, ALL_PPM, NULL},
    {"reorder", SIM_CONF_SHARE, 0, ALL_PPM, NULL},
    {"reorder-by", SIM_CONF_DURATION, 0, DELAY_MAX, NULL},
    {"queue", SIM_CONF_QUEUE, 0, 0, NULL}, /* 0: no bound */
    {"codel", SIM_CONF_SWITCH, 0, 0, NULL},
    {"codel-target", SIM_CONF_DURATION, 1, SIM_CODEL_INTERVAL_MAX, NULL},
    {"codel-interval", SIM_CONF_DURATION, 1, SIM_CODEL_INTERVAL_MAX, NULL},
    {"codel-ecn", SIM_CONF_SWITCH, 0, 0, NULL},
    {"mark-above", SIM_CONF_QUEUE, 0, 0, NULL}, /* ECN */
    {"ecn", SIM_CONF_CHOICE, 0, 0, ecn_paths},
    {"mtu", SIM_CONF_SIZE, 576, 1000000, NULL},
    {NULL, SIM_CONF_TEXT, 0, 0, NULL}};

static const struct sim_conf_option node_options[] = {{"gateway", SIM_CONF_SWITCH, 0, 0, NULL},
                                                      {"longitude", SIM_CONF_REAL, 0, 0, NULL},
                                                      {"latitude", SIM_CONF_REAL, 0, 0, NULL},
                                                      {NULL, SIM_CONF_TEXT, 0, 0, NULL}};

static const struct sim_conf_option link_options[] = {{"between", SIM_CONF_TEXTS, 0, 0, NULL},
                                                      {"wire", SIM_CONF_TEXT, 0, 0, NULL},
                                                      {"back", SIM_CONF_TEXT, 0, 0, NULL},
                                                      {NULL, SIM_CONF_TEXT, 0, 0, NULL}};

const struct sim_conf_section sim_topo_conf_sections[SIM_TOPO_CONF_SECTIONS] = {
    {"node", true, false, node_options, NULL},
    {"wire", true, false, sim_topo_conf_wire, NULL},
    {"link", false, false, link_options, sim_topo_conf_wire}};

/* ---- wires ---- */
void sim_topo_conf_path(const struct sim_conf *conf, const char *path, char *out, size_t size)
{
    const char *slash = strrchr(conf->file, '/');
    if (path[0] == '/' || slash == NULL)
        snprintf(out, size, "%s", path);
    else
        snprintf(out, size, "%.*s/%s", (int)(slash - conf->file), conf->file, path);
}

static void apply_bursts(const struct sim_conf_part *part, struct sim_gilbert *gilbert)
{
    if (sim_conf_value(part, "burst-enter") != NULL && gilbert->bad_loss_ppm == 0)
        gilbert->bad_loss_ppm = ALL_PPM;
    gilbert->to_bad_ppm = (uint32_t)sim_conf_number(part, "burst-enter", gilbert->to_bad_ppm);
    gilbert->to_good_ppm = (uint32_t)sim_conf_number(part, "burst-leave", gilbert->to_good_ppm);
    gilbert->bad_loss_ppm = (uint32_t)sim_conf_number(part, "burst-loss", gilbert->bad_loss_ppm);
}

static void apply_queue(const struct sim_conf_part *part, struct sim_wire_spec *spec)
{
    struct sim_wire_config *wire = &spec->config;
    struct sim_codel_config *codel = &wire->codel;
    struct sim_conf_queue queue;
    if (sim_conf_queue(part, "queue", &queue)) {
        spec->queue_time = queue.duration;
        wire->queue_bytes = queue.bytes;
        wire->queue_packets = (uint32_t)queue.packets;
    }
    if (sim_conf_queue(part, "mark-above", &queue)) {
        spec->mark_time = queue.duration;
        wire->mark_bytes = queue.bytes;
    }
    if (sim_conf_value(part, "codel") != NULL) {
        bool on = sim_conf_number(part, "codel", 0) != 0;
        *codel = on ? (struct sim_codel_config){SIM_CODEL_TARGET, SIM_CODEL_INTERVAL, codel->ecn}
                    : (struct sim_codel_config){0};
    }
    codel->target = sim_conf_number(part, "codel-target", codel->target);
    codel->interval = sim_conf_number(part, "codel-interval", codel->interval);
    codel->ecn = sim_conf_number(part, "codel-ecn", codel->ecn) != 0;
    wire->ecn_path = (enum sim_ecn_path)sim_conf_number(part, "ecn", wire->ecn_path);
}

/* Options that mean nothing without another, which may also say 0. */
static const struct {
    const char *option, *needs;
} companions[] = {{"burst-leave", "burst-enter"},
                  {"burst-loss", "burst-enter"},
                  {"reorder-by", "reorder"},
                  {"codel-ecn", "codel"}};
#define COMPANIONS (sizeof(companions) / sizeof(companions[0]))

static void note_companions(const struct sim_conf_part *part, struct sim_wire_spec *spec)
{
    for (size_t i = 0; i < COMPANIONS; i++) {
        if (sim_conf_value(part, companions[i].option) != NULL)
            spec->given |= 1u << 2 * i;
        if (sim_conf_value(part, companions[i].needs) != NULL)
            spec->given |= 2u << 2 * i;
    }
}

static gmc_status check_companions(struct sim_conf *conf, const struct sim_conf_part *part,
                                   const struct sim_wire_spec *spec)
{
    const struct sim_wire_config *wire = &spec->config;
    const bool works[COMPANIONS] = {wire->gilbert.to_bad_ppm > 0, wire->gilbert.to_bad_ppm > 0,
                                    wire->reorder_ppm > 0, wire->codel.target > 0};
    for (size_t i = 0; i < COMPANIONS; i++)
        if (!works[i] && (spec->given >> 2 * i & 3u) == 1u)
            return sim_conf_refuse(conf, part, companions[i].option,
                                   "%s does nothing alone: %s is missing", companions[i].option,
                                   companions[i].needs);
    return GMC_OK;
}

/* Marking looks at bytes. */
static gmc_status check_mark(struct sim_conf *conf, const struct sim_conf_part *part)
{
    struct sim_conf_queue queue;
    if (sim_conf_queue(part, "mark-above", &queue) && queue.packets > 0)
        return sim_conf_refuse(conf, part, "mark-above",
                               "mark-above counts bytes: expected a size such as %" PRIu64
                               " (as many full packets), or a time such as 10ms",
                               queue.packets * MTU_FULL);
    return GMC_OK;
}

static gmc_status apply_trace(struct sim_conf *conf, const struct sim_conf_part *part,
                              struct sim_topo *topo, struct sim_wire_config *wire)
{
    const char *name = sim_conf_text(part, "loss-trace", NULL);
    char path[4096], error[SIM_LOSS_TRACE_ERROR_MAX];
    if (name == NULL)
        return GMC_OK;
    sim_topo_conf_path(conf, name, path, sizeof(path));
    if (sim_topo_trace(topo, path, &wire->loss_trace, error) == GMC_OK)
        return GMC_OK;
    return sim_conf_refuse(conf, part, "loss-trace", "%s", error);
}

gmc_status sim_topo_conf_apply(struct sim_conf *conf, const struct sim_conf_part *part,
                               struct sim_topo *topo, struct sim_wire_spec *spec)
{
    struct sim_wire_config *wire = &spec->config;
    wire->rate_bps = sim_conf_number(part, "rate", wire->rate_bps);
    wire->delay = sim_conf_number(part, "delay", wire->delay);
    wire->jitter = sim_conf_number(part, "jitter", wire->jitter);
    wire->loss_ppm = (uint32_t)sim_conf_number(part, "loss", wire->loss_ppm);
    wire->duplicate_ppm = (uint32_t)sim_conf_number(part, "duplicate", wire->duplicate_ppm);
    wire->reorder_ppm = (uint32_t)sim_conf_number(part, "reorder", wire->reorder_ppm);
    wire->reorder_by = sim_conf_number(part, "reorder-by", wire->reorder_by);
    wire->mtu = (uint32_t)sim_conf_number(part, "mtu", wire->mtu);
    apply_bursts(part, &wire->gilbert);
    apply_queue(part, spec);
    note_companions(part, spec);
    gmc_status status = check_mark(conf, part);
    return status == GMC_OK ? apply_trace(conf, part, topo, wire) : status;
}

gmc_status sim_topo_conf_apply_named(struct sim_conf *conf, const struct sim_conf_part *part,
                                     const char *option, struct sim_topo *topo,
                                     struct sim_wire_spec *spec)
{
    const char *name = sim_conf_text(part, option, NULL);
    if (name == NULL)
        return GMC_OK;
    const struct sim_conf_part *wire = sim_conf_titled(conf, "wire", name);
    if (wire == NULL)
        return sim_conf_refuse(conf, part, option, "no wire is called '%.80s'", name);
    return sim_topo_conf_apply(conf, wire, topo, spec);
}

/* Bytes of a time at the wire's rate. */
static gmc_status bytes_of(struct sim_conf *conf, const struct sim_conf_part *part,
                           const char *option, uint64_t rate_bps, gmc_duration time,
                           uint64_t *bytes)
{
    if (time == 0)
        return GMC_OK;
    if (rate_bps == 0)
        return sim_conf_refuse(conf, part, option,
                               "%s given as a time needs a rate on the same wire", option);
    /* Rate and time are bounded, but not their product. */
    if ((double)rate_bps / 8e9 * (double)time > (double)SIZE_MAX_BYTES)
        return sim_conf_refuse(conf, part, option, "the queue would hold more than 1 TiB");
    *bytes = rate_bps / 8 * (time / 1000) / 1000000;
    if (*bytes == 0)
        *bytes = 1; /* an idle transmitter takes a packet whatever the queue */
    return GMC_OK;
}

gmc_status sim_topo_conf_finish(struct sim_conf *conf, const struct sim_conf_part *part,
                                const struct sim_wire_spec *spec, struct sim_wire_config *config)
{
    const struct sim_codel_config *codel = &spec->config.codel;
    *config = spec->config;
    if (config->reorder_ppm > 0 && config->reorder_by == 0)
        return sim_conf_refuse(conf, part, "reorder",
                               "packets are reordered by no time: reorder-by is missing");
    if (config->gilbert.to_bad_ppm > 0 && config->gilbert.to_good_ppm == 0)
        return sim_conf_refuse(conf, part, "burst-enter",
                               "bursts of losses never end: burst-leave is missing");
    if ((codel->target > 0 || codel->interval > 0) && codel->interval <= codel->target)
        return sim_conf_refuse(conf, part, "codel-target",
                               "CoDel's interval has to be longer than its target; codel = yes "
                               "is 100ms and 5ms");
    gmc_status status = check_companions(conf, part, spec);
    if (status == GMC_OK)
        status =
            bytes_of(conf, part, "queue", config->rate_bps, spec->queue_time, &config->queue_bytes);
    if (status == GMC_OK)
        status = bytes_of(conf, part, "mark-above", config->rate_bps, spec->mark_time,
                          &config->mark_bytes);
    return status;
}

/* ---- nodes ---- */
static void add_listed(const struct sim_conf *conf, const char *option, bool has_gateway,
                       struct sim_topo *topo)
{
    const struct sim_conf_value *value = sim_conf_value(&conf->parts[0], option);
    for (size_t i = 0; value != NULL && i < value->count; i++) {
        uint32_t node = sim_topo_add_node(topo, value->texts[i]);
        topo->nodes[node].has_gateway = has_gateway;
        topo->nodes[node].line = value->lines[i];
    }
}

static gmc_status describe_node(struct sim_conf *conf, const struct sim_conf_part *part,
                                struct sim_topo_node *node)
{
    bool has_longitude = sim_conf_value(part, "longitude") != NULL;
    bool has_latitude = sim_conf_value(part, "latitude") != NULL;
    node->has_gateway = sim_conf_number(part, "gateway", node->has_gateway) != 0;
    if (!has_longitude && !has_latitude)
        return GMC_OK;
    if (!has_longitude || !has_latitude)
        return sim_conf_refuse(conf, part, NULL,
                               "node '%.80s' has one coordinate; expected longitude and latitude",
                               part->title);
    node->is_placed = true;
    node->longitude = sim_conf_real(part, "longitude", 0);
    node->latitude = sim_conf_real(part, "latitude", 0);
    if (node->longitude < -180 || node->longitude > 180)
        return sim_conf_refuse(conf, part, "longitude", "expected -180 to 180 degrees");
    if (node->latitude < -90 || node->latitude > 90)
        return sim_conf_refuse(conf, part, "latitude", "expected -90 to 90 degrees");
    return GMC_OK;
}

/* A node section describes a listed node, or adds one. */
static gmc_status add_nodes(struct sim_conf *conf, struct sim_topo *topo)
{
    gmc_status status = GMC_OK;
    struct sim_topo_index listed;
    add_listed(conf, "nodes", true, topo);
    add_listed(conf, "routers", false, topo);
    sim_topo_index_init(&listed, topo);
    const struct sim_conf_part *part;
    for (size_t at = 0; status == GMC_OK && (part = sim_conf_next(conf, "node", &at)) != NULL;) {
        uint32_t node = sim_topo_index_find(&listed, part->title);
        if (node == UINT32_MAX) {
            node = sim_topo_add_node(topo, part->title);
            topo->nodes[node].line = part->line;
        }
        status = describe_node(conf, part, &topo->nodes[node]);
    }
    sim_topo_index_fini(&listed);
    return status;
}

/* ---- links ---- */
static gmc_status make_direction(struct sim_conf *conf, const struct sim_conf_part *link,
                                 const char *option, struct sim_topo *topo,
                                 struct sim_wire_config *config)
{
    struct sim_wire_spec spec = {0};
    gmc_status status = sim_topo_conf_apply_named(conf, link, option, topo, &spec);
    if (status == GMC_OK)
        status = sim_topo_conf_apply(conf, link, topo, &spec);
    return status == GMC_OK ? sim_topo_conf_finish(conf, link, &spec, config) : status;
}

static gmc_status add_link(struct sim_conf *conf, const struct sim_conf_part *part,
                           const struct sim_topo_index *names, struct sim_topo *topo)
{
    const struct sim_conf_value *between = sim_conf_value(part, "between");
    const char *back = sim_conf_value(part, "back") != NULL ? "back" : "wire";
    struct sim_wire_config forth_config, back_config;
    uint32_t ends[2];
    if (between == NULL || between->count != 2)
        return sim_conf_refuse(conf, part, "between",
                               "a link joins two nodes: expected between = {name, name}");
    for (size_t i = 0; i < 2; i++) {
        ends[i] = sim_topo_index_find(names, between->texts[i]);
        if (ends[i] == UINT32_MAX)
            return sim_conf_refuse(conf, part, "between",
                                   "no node is called '%.80s'; list it in nodes or routers",
                                   between->texts[i]);
    }
    if (ends[0] == ends[1])
        return sim_conf_refuse(conf, part, "between", "a link joins '%.80s' to itself",
                               between->texts[0]);
    gmc_status status = make_direction(conf, part, "wire", topo, &forth_config);
    if (status == GMC_OK)
        status = make_direction(conf, part, back, topo, &back_config);
    if (status != GMC_OK)
        return status;
    uint32_t link = sim_topo_add_link(topo, ends[0], ends[1], &forth_config, &back_config);
    topo->links[link].line = part->line;
    return GMC_OK;
}

static gmc_status add_links(struct sim_conf *conf, struct sim_topo *topo)
{
    gmc_status status = GMC_OK;
    struct sim_topo_index names;
    sim_topo_index_init(&names, topo);
    const struct sim_conf_part *part;
    for (size_t at = 0; status == GMC_OK && (part = sim_conf_next(conf, "link", &at)) != NULL;)
        status = add_link(conf, part, &names, topo);
    sim_topo_index_fini(&names);
    return status;
}

bool sim_topo_conf_is_given(const struct sim_conf *conf)
{
    return sim_conf_value(&conf->parts[0], "nodes") != NULL ||
           sim_conf_value(&conf->parts[0], "routers") != NULL ||
           sim_conf_part(conf, "node", 0) != NULL || sim_conf_part(conf, "link", 0) != NULL;
}

gmc_status sim_topo_conf_build(struct sim_conf *conf, struct sim_topo *topo)
{
    char error[SIM_TOPO_ERROR_MAX] = "";
    int line = 0;
    gmc_status status = add_nodes(conf, topo);
    if (status == GMC_OK)
        status = add_links(conf, topo);
    if (status == GMC_OK && sim_topo_check(topo, &line, error) != GMC_OK)
        status = sim_conf_refuse_at(conf, line, "%s", error);
    return status;
}

gmc_status sim_topo_conf_parse(const char *name, const char *text, struct sim_topo *topo,
                               char *error)
{
    struct sim_conf_section sections[1 + SIM_TOPO_CONF_SECTIONS] = {
        {"", false, true, sim_topo_conf_top, NULL}};
    struct sim_conf conf;
    memcpy(sections + 1, sim_topo_conf_sections, sizeof(sim_topo_conf_sections));
    sim_topo_init(topo);
    gmc_status status = sim_conf_parse(&conf, name, text, sections, 1 + SIM_TOPO_CONF_SECTIONS);
    if (status == GMC_OK)
        status = sim_topo_conf_build(&conf, topo);
    if (status != GMC_OK) {
        snprintf(error, SIM_TOPO_ERROR_MAX, "%.*s", (int)SIM_TOPO_ERROR_MAX - 1, conf.error);
        sim_topo_fini(topo);
    }
    sim_conf_fini(&conf);
    return status;
}
