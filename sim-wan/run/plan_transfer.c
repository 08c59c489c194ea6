/* SPDX-License-Identifier: BSD-2-Clause */
/* The transfers of a scenario. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim-wan/mem.h"
#include "sim-wan/run/plan_internal.h"

gmc_status sim_plan_targets(struct sim_plan_reader *reader, const struct sim_conf_part *part,
                            uint32_t source, uint32_t **targets, size_t *count)
{
    const struct sim_topo *topo = &reader->plan->topo;
    const struct sim_conf_value *value = sim_conf_value(part, "to");
    size_t room = value != NULL ? value->count : topo->node_count, taken = 0;
    bool *is_taken = sim_calloc(topo->node_count, sizeof(*is_taken));
    uint32_t *list = *targets = sim_calloc(room, sizeof(*list));
    gmc_status status = GMC_OK;
    is_taken[source] = true;
    for (uint32_t i = 0; value == NULL && i < topo->node_count; i++)
        if (topo->nodes[i].has_gateway && !is_taken[i])
            list[taken++] = i;
    for (size_t i = 0; value != NULL && i < value->count && status == GMC_OK; i++) {
        uint32_t node;
        status = sim_plan_node(reader, part, "to", value->texts[i], true, &node);
        if (status == GMC_OK && is_taken[node])
            status = sim_conf_refuse(&reader->conf, part, "to",
                                     "'%.80s' is the source, or a target for the second time",
                                     value->texts[i]);
        if (status != GMC_OK)
            break;
        is_taken[node] = true;
        list[taken++] = node;
    }
    free(is_taken);
    *count = taken;
    if (status == GMC_OK && taken == 0)
        status = sim_conf_refuse(&reader->conf, part, "to",
                                 "the %s has no target: no other node has a gateway",
                                 part->section->name);
    return status;
}

static gmc_status read_shape(struct sim_plan_reader *reader, const struct sim_conf_part *part,
                             enum gmc_tree_shape *shape)
{
    const char *name = sim_conf_text(part, "tree", gmc_tree_ops(GMC_TREE_BULK)->name);
    char known[128] = "";
    if (gmc_tree_shape_from_name(name, shape) == GMC_OK)
        return GMC_OK;
    for (int i = 0; i < GMC_TREE_SHAPES; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof(known) - used, "%s%s", i == 0 ? "" : ", ",
                 gmc_tree_ops((enum gmc_tree_shape)i)->name);
    }
    return sim_conf_refuse(&reader->conf, part, "tree", "no tree is called '%.40s'; there are: %s",
                           name, known);
}

static gmc_status read_transfer(struct sim_plan_reader *reader, const struct sim_conf_part *part,
                                struct sim_plan_transfer *transfer)
{
    struct sim_conf *conf = &reader->conf;
    const char *from = sim_conf_text(part, "from", NULL);
    if (from == NULL)
        return sim_conf_refuse(conf, part, NULL, "from is missing: the node of the source");
    if (sim_conf_value(part, "size") == NULL)
        return sim_conf_refuse(conf, part, NULL, "size is missing: of the object, such as 1GB");
    transfer->bytes = sim_conf_number(part, "size", 0);
    transfer->at = sim_conf_number(part, "at", 0);
    transfer->rate_bps = sim_conf_number(part, "rate", 0);
    transfer->background = sim_conf_number(part, "background", 0) != 0;
    gmc_status status = read_shape(reader, part, &transfer->shape);
    if (status == GMC_OK)
        status = sim_plan_node(reader, part, "from", from, true, &transfer->source);
    return status == GMC_OK ? sim_plan_targets(reader, part, transfer->source, &transfer->targets,
                                               &transfer->target_count)
                            : status;
}

/* Finds what each one waits for; a chain of them may not lead back. */
static gmc_status link_transfers(struct sim_plan_reader *reader)
{
    struct sim_plan *plan = reader->plan;
    const struct sim_conf_part *part;
    size_t at = 0;
    for (size_t i = 0; (part = sim_conf_next(&reader->conf, "transfer", &at)) != NULL; i++) {
        const char *after = sim_conf_text(part, "after", NULL);
        for (uint32_t j = 0; after != NULL && j < plan->transfer_count; j++)
            if (strcmp(plan->transfers[j].name, after) == 0)
                plan->transfers[i].after = j;
        if (after != NULL && plan->transfers[i].after == UINT32_MAX)
            return sim_conf_refuse(&reader->conf, part, "after", "no transfer is called '%.80s'",
                                   after);
        size_t steps = 0;
        for (uint32_t j = plan->transfers[i].after; j != UINT32_MAX; j = plan->transfers[j].after)
            if (steps++ > plan->transfer_count)
                return sim_conf_refuse(&reader->conf, part, "after",
                                       "transfers wait for each other in a circle");
    }
    return GMC_OK;
}

gmc_status sim_plan_read_transfers(struct sim_plan_reader *reader)
{
    struct sim_plan *plan = reader->plan;
    const struct sim_conf_part *part;
    gmc_status status = GMC_OK;
    size_t at = 0;
    while (status == GMC_OK && (part = sim_conf_next(&reader->conf, "transfer", &at)) != NULL) {
        if (plan->transfer_count == SIM_PLAN_TRANSFERS_MAX)
            return sim_conf_refuse(&reader->conf, part, NULL, "more than %u transfers",
                                   SIM_PLAN_TRANSFERS_MAX);
        plan->transfers = sim_reserve(plan->transfers, plan->transfer_count,
                                      &plan->transfer_capacity, sizeof(*plan->transfers));
        struct sim_plan_transfer *transfer = &plan->transfers[plan->transfer_count++];
        *transfer =
            (struct sim_plan_transfer){.name = sim_strdup(part->title), .after = UINT32_MAX};
        status = read_transfer(reader, part, transfer);
    }
    return status == GMC_OK ? link_transfers(reader) : status;
}
