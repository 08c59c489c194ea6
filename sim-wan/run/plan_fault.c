/* SPDX-License-Identifier: BSD-2-Clause */
/* The schedule of faults of a scenario. */
#include <stdlib.h>
#include <string.h>

#include "sim-wan/mem.h"
#include "sim-wan/run/plan_internal.h"
#include "sim-wan/topo/conf.h"

/* What an entry needs to be said. */
enum needs { NODE = 1, PAIR = 2, LINK = 4, DISK = 8, WIRE = 16 };

/* By the names of sim_plan_fault_names. */
static const struct {
    enum sim_fault_kind kind;
    unsigned needs;
} kinds[] = {
    {SIM_FAULT_KILL, NODE},  {SIM_FAULT_POWER, NODE},       {SIM_FAULT_FREEZE, NODE},
    {SIM_FAULT_CUT, LINK},   {SIM_FAULT_WIRE, LINK | WIRE}, {SIM_FAULT_BREAK, PAIR},
    {SIM_FAULT_BLOCK, PAIR}, {SIM_FAULT_STALL, NODE},       {SIM_FAULT_DISK, NODE | DISK},
    {SIM_FAULT_DISK, NODE}, /* disk-full */
};

#define WHAT_DISK_FULL 9

static gmc_status read_pair(struct sim_plan_reader *reader, const struct sim_conf_part *part,
                            bool gateways, uint32_t ends[2])
{
    const struct sim_conf_value *between = sim_conf_value(part, "between");
    gmc_status status = GMC_OK;
    if (between == NULL || between->count != 2)
        return sim_conf_refuse(&reader->conf, part, "between", "expected between = {name, name}");
    for (size_t i = 0; i < 2 && status == GMC_OK; i++)
        status = sim_plan_node(reader, part, "between", between->texts[i], gateways, &ends[i]);
    if (status == GMC_OK && ends[0] == ends[1])
        status = sim_conf_refuse(&reader->conf, part, "between", "expected two different nodes");
    return status;
}

/* Which link joins the two, and which of its directions leads from the first to the second. */
static gmc_status find_link(struct sim_plan_reader *reader, const struct sim_conf_part *part,
                            const uint32_t ends[2], struct sim_fault *fault)
{
    const struct sim_topo *topo = &reader->plan->topo;
    for (uint32_t i = 0; i < topo->link_count; i++) {
        const struct sim_topo_link *link = &topo->links[i];
        if ((link->a == ends[0] && link->b == ends[1]) ||
            (link->a == ends[1] && link->b == ends[0])) {
            fault->wire = i;
            fault->ways = sim_conf_number(part, "one-way", 0) == 0 ? SIM_FAULT_BOTH_WAYS
                          : link->a == ends[0]                     ? SIM_FAULT_FORTH
                                                                   : SIM_FAULT_BACK;
            return GMC_OK;
        }
    }
    return sim_conf_refuse(&reader->conf, part, "between", "no link joins '%.80s' and '%.80s'",
                           topo->nodes[ends[0]].name, topo->nodes[ends[1]].name);
}

/* The wire as the topology has it, with what the fault says. */
static gmc_status read_wires(struct sim_plan_reader *reader, const struct sim_conf_part *part,
                             struct sim_fault *fault)
{
    struct sim_topo *topo = &reader->plan->topo;
    struct sim_topo_link *link = &topo->links[fault->wire];
    gmc_status status = GMC_OK;
    link->a_to_b.may_change = link->b_to_a.may_change = true;
    for (int way = 0; way < 2 && status == GMC_OK; way++) {
        struct sim_wire_spec spec = {.config = way == 0 ? link->a_to_b : link->b_to_a};
        status = sim_topo_conf_apply(&reader->conf, part, topo, &spec);
        if (status == GMC_OK)
            status = sim_topo_conf_finish(&reader->conf, part, &spec, &fault->lanes[way]);
    }
    return status;
}

/* An option that means nothing for this fault was meant for another; and a change needs one. */
static gmc_status refuse_others(struct sim_plan_reader *reader, const struct sim_conf_part *part,
                                unsigned needs)
{
    unsigned seen = 0;
    for (size_t i = 0; i < part->count; i++) {
        const char *name = part->values[i].option->name;
        unsigned need = 0;
        if (strcmp(name, "node") == 0)
            need = NODE;
        else if (strcmp(name, "between") == 0)
            need = PAIR | LINK;
        else if (strcmp(name, "one-way") == 0)
            need = LINK;
        else if (strncmp(name, "disk-", 5) == 0 || strstr(name, "-errors") != NULL ||
                 strcmp(name, "bit-flips") == 0)
            need = DISK;
        else if (strcmp(name, "what") != 0 && strcmp(name, "at") != 0 && strcmp(name, "for") != 0)
            need = WIRE;
        seen |= need;
        if (need != 0 && (needs & need) == 0)
            return sim_conf_refuse(&reader->conf, part, name, "%s means nothing for what = %s",
                                   name, sim_conf_text(part, "what", ""));
    }
    if ((needs & ~seen & (WIRE | DISK)) != 0)
        return sim_conf_refuse(&reader->conf, part, NULL, "nothing changes: expected %s",
                               (needs & WIRE) != 0 ? "options of wires, such as loss = 5%"
                                                   : "options of disks, such as disk-rate = 1Mbit");
    return GMC_OK;
}

static gmc_status read_fault(struct sim_plan_reader *reader, const struct sim_conf_part *part,
                             struct sim_fault *fault)
{
    uint32_t ends[2] = {0, 0};
    if (sim_conf_value(part, "what") == NULL)
        return sim_conf_refuse(&reader->conf, part, NULL, "what is missing, such as what = kill");
    size_t what = sim_conf_number(part, "what", 0);
    unsigned needs = kinds[what].needs;
    fault->kind = kinds[what].kind;
    fault->at = sim_conf_number(part, "at", 0);
    fault->duration =
        sim_conf_number(part, "for", fault->kind == SIM_FAULT_BREAK ? 0 : GMC_TIME_NEVER);
    if (fault->kind == SIM_FAULT_BREAK && sim_conf_value(part, "for") != NULL)
        return sim_conf_refuse(&reader->conf, part, "for",
                               "a connection breaks once: for means nothing for what = break; "
                               "block-udp and wire-down last");
    gmc_status status = refuse_others(reader, part, needs);
    if (status == GMC_OK && (needs & NODE) != 0) {
        const char *node = sim_conf_text(part, "node", NULL);
        if (node == NULL)
            return sim_conf_refuse(&reader->conf, part, NULL, "node is missing: who it befalls");
        status = sim_plan_node(reader, part, "node", node, true, &fault->host);
    }
    if (status == GMC_OK && (needs & (PAIR | LINK)) != 0)
        status = read_pair(reader, part, (needs & PAIR) != 0, ends);
    if (status == GMC_OK && (needs & PAIR) != 0) {
        fault->host = ends[0];
        fault->other = ends[1];
    }
    if (status == GMC_OK && (needs & LINK) != 0)
        status = find_link(reader, part, ends, fault);
    if (status == GMC_OK && (needs & WIRE) != 0)
        status = read_wires(reader, part, fault);
    if (fault->kind == SIM_FAULT_DISK && status == GMC_OK) {
        fault->disk = reader->plan->hosts[fault->host].disk;
        sim_plan_disk(part, &fault->disk);
        if (what == WHAT_DISK_FULL)
            fault->disk.capacity_bytes = 1;
    }
    return status;
}

gmc_status sim_plan_read_faults(struct sim_plan_reader *reader)
{
    struct sim_plan *plan = reader->plan;
    gmc_status status = GMC_OK;
    const struct sim_conf_part *part;
    for (size_t at = 0;
         status == GMC_OK && (part = sim_conf_next(&reader->conf, "fault", &at)) != NULL;) {
        if (plan->fault_count == SIM_PLAN_FAULTS_MAX)
            return sim_conf_refuse(&reader->conf, part, NULL, "more than %u faults",
                                   SIM_PLAN_FAULTS_MAX);
        plan->faults = sim_reserve(plan->faults, plan->fault_count, &plan->fault_capacity,
                                   sizeof(*plan->faults));
        struct sim_fault *fault = &plan->faults[plan->fault_count];
        *fault = (struct sim_fault){0};
        status = read_fault(reader, part, fault);
        for (size_t j = 0; j < plan->fault_count && status == GMC_OK; j++)
            if (sim_faults_collide(fault, &plan->faults[j]))
                status = sim_conf_refuse(&reader->conf, part, NULL,
                                         "the fault overlaps with that of line %d, which changes "
                                         "the same: the first to end would undo both; let one "
                                         "begin when the other has ended",
                                         sim_conf_part(&reader->conf, "fault", j)->line);
        plan->fault_count++;
    }
    return status;
}
