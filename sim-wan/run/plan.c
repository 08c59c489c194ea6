/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading scenarios; see plan.h. Transfers are in plan_transfer.c, message channels in
 * plan_channel.c, faults in plan_fault.c, background traffic in plan_traffic.c. */
#include "sim-wan/run/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim-wan/mem.h"
#include "sim-wan/run/plan_internal.h"
#include "sim-wan/topo/conf.h"
#include "sim-wan/topo/family.h"

#define SETTLE GMC_S(1)
#define LIMIT GMC_S(3600)
#define RECORD_EVERY GMC_MS(100)

bool sim_plan_seeds(const char *text, uint64_t *first, uint64_t *last)
{
    static const struct sim_conf_option number = {"seeds", SIM_CONF_NUMBER, 0, 0, NULL};
    const char *dots = strstr(text, "..");
    char begin[32];
    int64_t a, b;
    size_t len = dots != NULL ? (size_t)(dots - text) : strlen(text);
    if (len >= sizeof(begin))
        return false;
    memcpy(begin, text, len);
    begin[len] = '\0';
    if (!sim_conf_meaning(&number, begin, &a))
        return false;
    b = a;
    if (dots != NULL && (!sim_conf_meaning(&number, dots + 2, &b) || b < a))
        return false;
    *first = (uint64_t)a;
    *last = (uint64_t)b;
    return true;
}

/* ---- the top of the file ---- */
static gmc_status read_top(struct sim_plan_reader *reader)
{
    const struct sim_conf_part *top = &reader->conf.parts[0];
    struct sim_plan *plan = reader->plan;
    struct sim_world_config *world = &plan->world;
    plan->file = sim_strdup(reader->conf.file);
    plan->title = sim_strdup(sim_conf_text(top, "title", plan->file));
    plan->settle = sim_conf_number(top, "settle", SETTLE);
    plan->warm_up = sim_conf_number(top, "warm-up", 0) != 0;
    plan->limit = sim_conf_number(top, "limit", LIMIT);
    world->crypto = (enum sim_crypto)sim_conf_number(top, "crypto", SIM_CRYPTO_CHEAP);
    world->exact_clocks = sim_conf_number(top, "clocks", 0) != 0;
    world->shuffle = sim_conf_number(top, "shuffle", 0) != 0;
    world->cache_bytes = (size_t)sim_conf_number(top, "cache", 0);
    world->children_max = (uint32_t)sim_conf_number(top, "children", 0);
    world->patience = sim_conf_number(top, "patience", 0);
    world->fixed_rate_bps = sim_conf_number(top, "fixed-rate", 0);
    if (!sim_plan_seeds(sim_conf_text(top, "seeds", "1"), &plan->seed_first, &plan->seed_last))
        return sim_conf_refuse(&reader->conf, top, "seeds",
                               "'%.60s' is not right for seeds: expected a number or 1..1000",
                               sim_conf_text(top, "seeds", ""));
    return GMC_OK;
}

/* ---- the topology ---- */
/* The wire that the topology section names, over what the links of a file or family have. */
static gmc_status overlay_wire(struct sim_plan_reader *reader, const struct sim_conf_part *part)
{
    struct sim_topo *topo = &reader->plan->topo;
    gmc_status status = GMC_OK;
    if (sim_conf_value(part, "wire") == NULL)
        return GMC_OK;
    for (size_t i = 0; i < topo->link_count && status == GMC_OK; i++) {
        struct sim_wire_config *ways[2] = {&topo->links[i].a_to_b, &topo->links[i].b_to_a};
        for (size_t way = 0; way < 2 && status == GMC_OK; way++) {
            struct sim_wire_spec spec = {.config = *ways[way]};
            status = sim_topo_conf_apply_named(&reader->conf, part, "wire", topo, &spec);
            if (status == GMC_OK)
                status = sim_topo_conf_finish(&reader->conf, part, &spec, ways[way]);
        }
    }
    return status;
}

/* What the topology section says a map leaves open. */
static struct sim_topo_options map_options(const struct sim_conf_part *part)
{
    return (struct sim_topo_options){
        .rate_bps = sim_conf_number(part, "rate", 0),
        .delay = sim_conf_number(part, "delay", 0),
        .queue = sim_conf_number(part, "queue", 0),
        .largest_component = sim_conf_number(part, "largest-part", 0) != 0,
    };
}

static gmc_status read_topology(struct sim_plan_reader *reader)
{
    struct sim_conf *conf = &reader->conf;
    const struct sim_conf_part *part = sim_conf_part(conf, "topology", 0);
    const char *file = sim_conf_text(part, "file", NULL);
    const char *family = sim_conf_text(part, "family", NULL);
    char path[4096] = "", error[SIM_TOPO_ERROR_MAX];
    if (part == NULL && !sim_topo_conf_is_given(conf))
        return sim_conf_refuse(conf, NULL, NULL,
                               "there is no topology; expected nodes and links, or a section "
                               "topology with a file or a family");
    if (part == NULL)
        return sim_topo_conf_build(conf, &reader->plan->topo);
    if (sim_topo_conf_is_given(conf))
        return sim_conf_refuse(conf, part, NULL,
                               "nodes and links stand beside a topology; expected one of both");
    if ((file == NULL) == (family == NULL))
        return sim_conf_refuse(conf, part, NULL, "expected a file, or a family such as \"star:7\"");
    if (family != NULL && !sim_family_is_named(family))
        return sim_conf_refuse(conf, part, "family",
                               "no family is called so: '%.60s'; expected one such as star:7 or "
                               "waxman:50,alpha=0.2, see sim-wan(1)",
                               family);
    if (file != NULL)
        sim_topo_conf_path(conf, file, path, sizeof(path));
    struct sim_topo_options options = map_options(part);
    if (sim_topo_read_with(file != NULL ? path : family, &options, &reader->plan->topo,
                           &reader->plan->notes, error) != GMC_OK)
        return sim_conf_refuse(conf, part, file != NULL ? "file" : "family", "%s", error);
    return overlay_wire(reader, part);
}

gmc_status sim_plan_node(struct sim_plan_reader *reader, const struct sim_conf_part *part,
                         const char *option, const char *name, bool wants_gateway, uint32_t *node)
{
    *node = sim_topo_index_find(&reader->nodes, name);
    if (*node == UINT32_MAX)
        return sim_conf_refuse(&reader->conf, part, option,
                               "no node is called '%.80s'; there are '%.40s' and %zu others", name,
                               reader->plan->topo.nodes[0].name, reader->plan->topo.node_count - 1);
    if (wants_gateway && !reader->plan->topo.nodes[*node].has_gateway)
        return sim_conf_refuse(&reader->conf, part, option,
                               "'%.80s' is a router; expected a node with a gateway", name);
    return GMC_OK;
}

/* A list of gateways at the top takes the place of what the topology says. */
static gmc_status read_gateway_list(struct sim_plan_reader *reader)
{
    const struct sim_conf_part *top = &reader->conf.parts[0];
    const struct sim_conf_value *value = sim_conf_value(top, "gateways");
    struct sim_topo *topo = &reader->plan->topo;
    gmc_status status = GMC_OK;
    for (size_t i = 0; value != NULL && i < topo->node_count; i++)
        topo->nodes[i].has_gateway = false;
    for (size_t i = 0; value != NULL && i < value->count && status == GMC_OK; i++) {
        uint32_t node;
        status = sim_plan_node(reader, top, "gateways", value->texts[i], false, &node);
        if (status == GMC_OK)
            topo->nodes[node].has_gateway = true;
    }
    return status;
}

/* ---- hosts ---- */
void sim_plan_disk(const struct sim_conf_part *part, struct sim_disk_config *disk)
{
    disk->rate_bps = sim_conf_number(part, "disk-rate", disk->rate_bps);
    disk->latency = sim_conf_number(part, "disk-latency", disk->latency);
    disk->jitter = sim_conf_number(part, "disk-jitter", disk->jitter);
    disk->capacity_bytes = sim_conf_number(part, "disk-capacity", disk->capacity_bytes);
    disk->read_error_ppm = (uint32_t)sim_conf_number(part, "read-errors", disk->read_error_ppm);
    disk->write_error_ppm = (uint32_t)sim_conf_number(part, "write-errors", disk->write_error_ppm);
    disk->read_flip_ppm = (uint32_t)sim_conf_number(part, "bit-flips", disk->read_flip_ppm);
}

static void read_host(const struct sim_conf_part *part, struct sim_plan_host *host)
{
    struct sim_cpu_config *cpu = &host->cpu;
    uint64_t cpu_rate_bps = sim_conf_number(part, "cpu-rate", 0);
    sim_plan_disk(part, &host->disk);
    cpu->per_datagram = sim_conf_number(part, "cpu-datagram", cpu->per_datagram);
    if (cpu_rate_bps > 0)
        cpu->per_byte_ps = (uint32_t)(UINT64_C(8000000000000) / cpu_rate_bps);
    cpu->socket_bytes = sim_conf_number(part, "socket", cpu->socket_bytes);
    host->uplink_bps = sim_conf_number(part, "uplink", host->uplink_bps);
    host->downlink_bps = sim_conf_number(part, "downlink", host->downlink_bps);
    host->has_offset = host->has_offset || sim_conf_value(part, "clock-offset") != NULL;
    host->has_drift = host->has_drift || sim_conf_value(part, "clock-drift") != NULL;
    host->clock_offset = sim_conf_number(part, "clock-offset", host->clock_offset);
    host->clock_drift_ppb = (int32_t)sim_conf_signed(part, "clock-drift", host->clock_drift_ppb);
}

/* gateway "*" is for all, and comes first wherever it stands. */
static gmc_status read_hosts(struct sim_plan_reader *reader)
{
    struct sim_plan *plan = reader->plan;
    const struct sim_conf_part *all = sim_conf_titled(&reader->conf, "gateway", "*");
    gmc_status status = GMC_OK;
    bool by_wires = strcmp(sim_conf_text(&reader->conf.parts[0], "uplinks", ""), "wires") == 0;
    plan->hosts = sim_calloc(plan->topo.node_count, sizeof(*plan->hosts));
    for (size_t i = 0; i < plan->topo.node_count; i++) {
        if (by_wires)
            sim_topo_rates(&plan->topo, (uint32_t)i, &plan->hosts[i].uplink_bps,
                           &plan->hosts[i].downlink_bps);
        read_host(all, &plan->hosts[i]);
    }
    const struct sim_conf_part *part;
    for (size_t at = 0;
         status == GMC_OK && (part = sim_conf_next(&reader->conf, "gateway", &at)) != NULL;) {
        uint32_t node;
        if (part == all)
            continue;
        status = sim_plan_node(reader, part, NULL, part->title, true, &node);
        if (status == GMC_OK)
            read_host(part, &plan->hosts[node]);
    }
    return status;
}

static void read_records(struct sim_plan_reader *reader)
{
    const struct sim_conf_part *part = sim_conf_part(&reader->conf, "record", 0);
    reader->plan->record_every = sim_conf_number(part, "every", RECORD_EVERY);
    for (size_t i = 0; sim_recorders[i] != NULL; i++) {
        const char *target = sim_conf_text(part, sim_recorders[i]->name, NULL);
        if (target != NULL)
            reader->plan->records[i] = sim_strdup(target);
    }
}

/* ---- the whole ---- */
static gmc_status read_all(struct sim_plan_reader *reader)
{
    gmc_status status = read_top(reader);
    if (status == GMC_OK)
        status = read_topology(reader);
    if (status != GMC_OK)
        return status;
    sim_topo_index_init(&reader->nodes, &reader->plan->topo);
    status = read_gateway_list(reader);
    if (status == GMC_OK)
        status = read_hosts(reader);
    if (status == GMC_OK)
        status = sim_plan_read_transfers(reader);
    if (status == GMC_OK)
        status = sim_plan_read_channels(reader);
    if (status == GMC_OK)
        status = sim_plan_read_faults(reader);
    if (status == GMC_OK)
        status = sim_plan_read_traffic(reader);
    if (status == GMC_OK)
        read_records(reader);
    sim_topo_index_fini(&reader->nodes);
    return status;
}

gmc_status sim_plan_read(struct sim_plan *plan, const char *path, const char *const *sets,
                         size_t set_count, char *error)
{
    struct sim_conf_section sections[SIM_CONF_SECTIONS_MAX];
    struct sim_conf_option record[SIM_RECORDERS_MAX + 2];
    struct sim_plan_reader reader = {.plan = plan};
    *plan = (struct sim_plan){0};
    sim_topo_init(&plan->topo);
    size_t count = sim_plan_sections(sections, record);
    gmc_status status = sim_conf_read(&reader.conf, path, sections, count);
    for (size_t i = 0; i < set_count && status == GMC_OK; i++)
        status = sim_conf_set(&reader.conf, sets[i]);
    if (status == GMC_OK)
        status = read_all(&reader);
    memcpy(error, reader.conf.error, sizeof(reader.conf.error));
    sim_conf_fini(&reader.conf);
    return status;
}

void sim_plan_fini(struct sim_plan *plan)
{
    for (size_t i = 0; i < plan->transfer_count; i++) {
        free(plan->transfers[i].name);
        free(plan->transfers[i].targets);
    }
    for (size_t i = 0; i < plan->channel_count; i++) {
        free(plan->channels[i].name);
        free(plan->channels[i].targets);
    }
    for (size_t i = 0; i < plan->traffic_count; i++)
        free(plan->traffic[i].name);
    for (size_t i = 0; i < SIM_RECORDERS_MAX; i++)
        free(plan->records[i]);
    free(plan->transfers);
    free(plan->channels);
    free(plan->faults);
    free(plan->traffic);
    free(plan->hosts);
    free(plan->title);
    free(plan->file);
    sim_topo_fini(&plan->topo);
    *plan = (struct sim_plan){0};
}
