/* SPDX-License-Identifier: BSD-2-Clause */
/* Topologies in our own format; see conf.h. */
#include "sim-wan/topo/conf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim-wan/mem.h"

#define RATE_MAX UINT64_C(100000000000000) /* 100 Tbit/s */
#define DELAY_MAX GMC_S(3600)
#define SIZE_MAX_BYTES (UINT64_C(1) << 40)
#define ALL_PPM 1000000

/* ---- the tables ---- */
const struct sim_conf_option sim_topo_conf_top[] = {{"nodes", SIM_CONF_TEXTS, 0, 0, NULL},
                                                    {"routers", SIM_CONF_TEXTS, 0, 0, NULL},
                                                    {NULL, SIM_CONF_TEXT, 0, 0, NULL}};

const struct sim_conf_option sim_topo_conf_wire[] = {
    {"rate", SIM_CONF_RATE, 0, RATE_MAX, NULL}, /* 0: no limit */
    {"delay", SIM_CONF_DURATION, 0, DELAY_MAX, NULL},
    {"jitter", SIM_CONF_DURATION, 0, DELAY_MAX, NULL},
    {"loss", SIM_CONF_SHARE, 0, ALL_PPM, NULL},
    {"duplicate", SIM_CONF_SHARE, 0, ALL_PPM, NULL},
    {"reorder", SIM_CONF_SHARE, 0, ALL_PPM, NULL},
    {"reorder-by", SIM_CONF_DURATION, 0, DELAY_MAX, NULL},
    {"queue", SIM_CONF_QUEUE, 0, 0, NULL}, /* 0: no bound */
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
gmc_status sim_topo_conf_apply(struct sim_conf *conf, const struct sim_conf_part *part,
                               struct sim_wire_spec *spec)
{
    struct sim_wire_config *wire = &spec->config;
    struct sim_conf_queue queue;
    (void)conf;
    wire->rate_bps = sim_conf_number(part, "rate", wire->rate_bps);
    wire->delay = sim_conf_number(part, "delay", wire->delay);
    wire->jitter = sim_conf_number(part, "jitter", wire->jitter);
    wire->loss_ppm = (uint32_t)sim_conf_number(part, "loss", wire->loss_ppm);
    wire->duplicate_ppm = (uint32_t)sim_conf_number(part, "duplicate", wire->duplicate_ppm);
    wire->reorder_ppm = (uint32_t)sim_conf_number(part, "reorder", wire->reorder_ppm);
    wire->reorder_by = sim_conf_number(part, "reorder-by", wire->reorder_by);
    wire->mtu = (uint32_t)sim_conf_number(part, "mtu", wire->mtu);
    if (sim_conf_queue(part, "queue", &queue)) {
        spec->queue_time = queue.duration;
        wire->queue_bytes = queue.bytes;
    }
    return GMC_OK;
}

gmc_status sim_topo_conf_finish(struct sim_conf *conf, const struct sim_conf_part *part,
                                const struct sim_wire_spec *spec, struct sim_wire_config *config)
{
    *config = spec->config;
    if (config->reorder_ppm > 0 && config->reorder_by == 0)
        return sim_conf_refuse(conf, part, "reorder",
                               "packets are reordered by no time: reorder-by is missing");
    if (spec->queue_time > 0 && config->rate_bps == 0)
        return sim_conf_refuse(conf, part, "queue",
                               "a queue given as a time needs a rate on the same wire");
    if (spec->queue_time > 0) {
        /* Rate and time are bounded, but not their product. */
        double bytes = (double)config->rate_bps / 8e9 * (double)spec->queue_time;
        if (bytes > (double)SIZE_MAX_BYTES)
            return sim_conf_refuse(conf, part, "queue", "the queue would hold more than 1 TiB");
        config->queue_bytes = config->rate_bps / 8 * (spec->queue_time / 1000) / 1000000;
        if (config->queue_bytes == 0)
            config->queue_bytes = 1; /* an idle transmitter takes a packet whatever the queue */
    }
    return GMC_OK;
}

/* ---- nodes ---- */
/* Names of nodes for finding: sorted. */
struct name {
    const char *text;
    uint32_t node;
};

struct names {
    struct name *list;
    size_t count;
};

static int by_text(const void *left, const void *right)
{
    return strcmp(((const struct name *)left)->text, ((const struct name *)right)->text);
}

static void make_names(const struct sim_topo *topo, struct names *names)
{
    names->list = sim_calloc(topo->node_count, sizeof(*names->list));
    names->count = topo->node_count;
    for (uint32_t i = 0; i < topo->node_count; i++)
        names->list[i] = (struct name){topo->nodes[i].name, i};
    if (names->count > 0)
        qsort(names->list, names->count, sizeof(*names->list), by_text);
}

static uint32_t find(const struct names *names, const char *text)
{
    struct name wanted = {text, 0};
    const struct name *found = names->count > 0 ? bsearch(&wanted, names->list, names->count,
                                                          sizeof(*names->list), by_text)
                                                : NULL;
    return found != NULL ? found->node : UINT32_MAX;
}

static void add_listed(const struct sim_conf *conf, const char *option, bool has_gateway,
                       struct sim_topo *topo)
{
    const struct sim_conf_value *value = sim_conf_value(&conf->parts[0], option);
    for (size_t i = 0; value != NULL && i < value->count; i++) {
        uint32_t node = sim_topo_add_node(topo, value->texts[i]);
        topo->nodes[node].has_gateway = has_gateway;
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
    struct names listed;
    add_listed(conf, "nodes", true, topo);
    add_listed(conf, "routers", false, topo);
    make_names(topo, &listed);
    for (size_t i = 0; i < conf->part_count && status == GMC_OK; i++) {
        const struct sim_conf_part *part = &conf->parts[i];
        if (strcmp(part->section->name, "node") != 0)
            continue;
        uint32_t node = find(&listed, part->title);
        if (node == UINT32_MAX)
            node = sim_topo_add_node(topo, part->title);
        status = describe_node(conf, part, &topo->nodes[node]);
    }
    free(listed.list);
    return status;
}

/* ---- links ---- */
static gmc_status apply_named(struct sim_conf *conf, const struct sim_conf_part *link,
                              const char *option, struct sim_wire_spec *spec)
{
    const char *name = sim_conf_text(link, option, NULL);
    if (name == NULL)
        return GMC_OK;
    const struct sim_conf_part *wire = sim_conf_titled(conf, "wire", name);
    if (wire == NULL)
        return sim_conf_refuse(conf, link, option, "no wire is called '%.80s'", name);
    return sim_topo_conf_apply(conf, wire, spec);
}

static gmc_status make_direction(struct sim_conf *conf, const struct sim_conf_part *link,
                                 const char *option, struct sim_wire_config *config)
{
    struct sim_wire_spec spec = {0};
    gmc_status status = apply_named(conf, link, option, &spec);
    if (status == GMC_OK)
        status = sim_topo_conf_apply(conf, link, &spec);
    return status == GMC_OK ? sim_topo_conf_finish(conf, link, &spec, config) : status;
}

static gmc_status add_link(struct sim_conf *conf, const struct sim_conf_part *part,
                           const struct names *names, struct sim_topo *topo)
{
    const struct sim_conf_value *between = sim_conf_value(part, "between");
    const char *back = sim_conf_value(part, "back") != NULL ? "back" : "wire";
    struct sim_wire_config forth_config, back_config;
    uint32_t ends[2];
    if (between == NULL || between->count != 2)
        return sim_conf_refuse(conf, part, "between",
                               "a link joins two nodes: expected between = {name, name}");
    for (size_t i = 0; i < 2; i++) {
        ends[i] = find(names, between->texts[i]);
        if (ends[i] == UINT32_MAX)
            return sim_conf_refuse(conf, part, "between",
                                   "no node is called '%.80s'; list it in nodes or routers",
                                   between->texts[i]);
    }
    if (ends[0] == ends[1])
        return sim_conf_refuse(conf, part, "between", "a link joins '%.80s' to itself",
                               between->texts[0]);
    gmc_status status = make_direction(conf, part, "wire", &forth_config);
    if (status == GMC_OK)
        status = make_direction(conf, part, back, &back_config);
    if (status == GMC_OK)
        sim_topo_add_link(topo, ends[0], ends[1], &forth_config, &back_config);
    return status;
}

static gmc_status add_links(struct sim_conf *conf, struct sim_topo *topo)
{
    gmc_status status = GMC_OK;
    struct names names;
    make_names(topo, &names);
    for (size_t i = 0; i < conf->part_count && status == GMC_OK; i++)
        if (strcmp(conf->parts[i].section->name, "link") == 0)
            status = add_link(conf, &conf->parts[i], &names, topo);
    free(names.list);
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
    gmc_status status = add_nodes(conf, topo);
    if (status == GMC_OK)
        status = add_links(conf, topo);
    if (status == GMC_OK && sim_topo_check(topo, error) != GMC_OK)
        status = sim_conf_refuse(conf, NULL, NULL, "%s", error);
    return status;
}

gmc_status sim_topo_conf_read(const char *path, struct sim_topo *topo, char *error)
{
    struct sim_conf_section sections[1 + SIM_TOPO_CONF_SECTIONS] = {
        {"", false, true, sim_topo_conf_top, NULL}};
    struct sim_conf conf;
    memcpy(sections + 1, sim_topo_conf_sections, sizeof(sim_topo_conf_sections));
    gmc_status status = sim_conf_read(&conf, path, sections, 1 + SIM_TOPO_CONF_SECTIONS);
    if (status == GMC_OK)
        status = sim_topo_conf_build(&conf, topo);
    memcpy(error, conf.error, sizeof(conf.error));
    sim_conf_fini(&conf);
    return status;
}
