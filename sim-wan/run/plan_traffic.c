/* SPDX-License-Identifier: BSD-2-Clause */
/* The background traffic of a scenario. */
#include <string.h>

#include "sim-wan/mem.h"
#include "sim-wan/run/plan_internal.h"

#define PACKET_BYTES 1500u
#define PARETO_SHAPE 1.5 /* as measured by Willinger et al., see traffic.h */

static gmc_status read_ends(struct sim_plan_reader *reader, const struct sim_conf_part *part,
                            struct sim_traffic_config *traffic)
{
    static const char *const names[] = {"from", "to"};
    uint32_t *const ends[] = {&traffic->from, &traffic->to};
    gmc_status status = GMC_OK;
    for (size_t i = 0; i < 2 && status == GMC_OK; i++) {
        const char *name = sim_conf_text(part, names[i], NULL);
        if (name == NULL)
            return sim_conf_refuse(&reader->conf, part, NULL, "%s is missing: a node", names[i]);
        status = sim_plan_node(reader, part, names[i], name, false, ends[i]);
    }
    return status;
}

static gmc_status read_traffic(struct sim_plan_reader *reader, const struct sim_conf_part *part,
                               struct sim_traffic_config *traffic)
{
    char error[SIM_TRAFFIC_ERROR_MAX];
    double shape = sim_conf_real(part, "shape", PARETO_SHAPE);
    *traffic = (struct sim_traffic_config){
        .kind = (enum sim_traffic_kind)sim_conf_number(part, "kind", SIM_TRAFFIC_CBR),
        .rate_bps = sim_conf_number(part, "rate", 0),
        .packet_bytes = (uint32_t)sim_conf_number(part, "packet", PACKET_BYTES),
        .start = sim_conf_number(part, "at", 0),
        .on = sim_conf_number(part, "on", 0),
        .off = sim_conf_number(part, "off", 0),
        .ecn = sim_conf_number(part, "ecn", 0) != 0 ? SIM_ECN_ECT0 : SIM_ECN_NOT_ECT,
    };
    traffic->stop = gmc_time_add(traffic->start, sim_conf_number(part, "for", GMC_TIME_NEVER));
    bool is_pareto = traffic->kind == SIM_TRAFFIC_PARETO;
    bool has_spells = is_pareto || traffic->kind == SIM_TRAFFIC_ONOFF;
    const char *idle = !has_spells && sim_conf_value(part, "on") != NULL     ? "on"
                       : !has_spells && sim_conf_value(part, "off") != NULL  ? "off"
                       : !is_pareto && sim_conf_value(part, "shape") != NULL ? "shape"
                                                                             : NULL;
    if (idle != NULL)
        return sim_conf_refuse(&reader->conf, part, idle, "%s is for kind = %spareto", idle,
                               strcmp(idle, "shape") == 0 ? "" : "on-off or ");
    if (is_pareto)
        traffic->pareto_shape_milli =
            shape > 0 && shape <= 1000 ? (uint32_t)(shape * 1000 + 0.5) : 0;
    gmc_status status = read_ends(reader, part, traffic);
    if (status == GMC_OK && sim_traffic_check(traffic, error) != GMC_OK)
        status = sim_conf_refuse(&reader->conf, part, NULL, "%s", error);
    return status;
}

gmc_status sim_plan_read_traffic(struct sim_plan_reader *reader)
{
    struct sim_plan *plan = reader->plan;
    gmc_status status = GMC_OK;
    const struct sim_conf_part *part;
    for (size_t at = 0;
         status == GMC_OK && (part = sim_conf_next(&reader->conf, "traffic", &at)) != NULL;) {
        if (plan->traffic_count == SIM_PLAN_TRAFFIC_MAX)
            return sim_conf_refuse(&reader->conf, part, NULL, "more than %u sections traffic",
                                   SIM_PLAN_TRAFFIC_MAX);
        plan->traffic = sim_reserve(plan->traffic, plan->traffic_count, &plan->traffic_capacity,
                                    sizeof(*plan->traffic));
        struct sim_plan_traffic *traffic = &plan->traffic[plan->traffic_count++];
        *traffic = (struct sim_plan_traffic){.name = sim_strdup(part->title)};
        status = read_traffic(reader, part, &traffic->config);
    }
    return status;
}
