/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files that read scenarios share. */
#ifndef SIM_RUN_PLAN_INTERNAL_H
#define SIM_RUN_PLAN_INTERNAL_H

#include "sim-wan/run/plan.h"
#include "sim-wan/topo/index.h"

/* A scenario while it is read. */
struct sim_plan_reader {
    struct sim_conf conf;
    struct sim_plan *plan;
    struct sim_topo_index nodes;
};

/* ---- the tables (plan_table.c) ---- */
extern const char *const sim_plan_fault_names[]; /* ended by NULL */
/* Fills in the sections that there may be; `record` is borrowed by them. Returns their count. */
size_t sim_plan_sections(struct sim_conf_section sections[SIM_CONF_SECTIONS_MAX],
                         struct sim_conf_option record[SIM_RECORDERS_MAX + 2]);

/* ---- parts of the reading; words are in reader->conf.error ---- */
/* The number of a node by its name in an option's value; refused when there is none, or when a
 * gateway is wanted and it has none. */
GMC_NODISCARD gmc_status sim_plan_node(struct sim_plan_reader *reader,
                                       const struct sim_conf_part *part, const char *option,
                                       const char *name, bool wants_gateway, uint32_t *node);
void sim_plan_disk(const struct sim_conf_part *part, struct sim_disk_config *disk);
/* The nodes of `to`, all others with a gateway where it is not given; to be given back. */
GMC_NODISCARD gmc_status sim_plan_targets(struct sim_plan_reader *reader,
                                          const struct sim_conf_part *part, uint32_t source,
                                          uint32_t **targets, size_t *count);
GMC_NODISCARD gmc_status sim_plan_read_transfers(struct sim_plan_reader *reader);
/* After the transfers, at whose end those of no length end. */
GMC_NODISCARD gmc_status sim_plan_read_channels(struct sim_plan_reader *reader);
GMC_NODISCARD gmc_status sim_plan_read_traffic(struct sim_plan_reader *reader);
GMC_NODISCARD gmc_status sim_plan_read_faults(struct sim_plan_reader *reader);

#endif
