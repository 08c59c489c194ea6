/* SPDX-License-Identifier: BSD-2-Clause */
/* Topologies in our own format, alone in a file or as a part of a scenario:
 *
 *     nodes = {s.example, a.example}        routers = {r1, r2}
 *     node "b.example" { gateway = no  longitude = 13.4  latitude = 52.5 }
 *     wire "wan" { rate = 100Mbit  delay = 15ms  loss = 1%  queue = 50ms }
 *     link { between = {s.example, r1}  wire = wan }
 *     link { between = {r1, a.example}  wire = wan  back = other  delay = 2ms }
 *
 * A link has what its wire says, then what it says itself; `back` is the wire of the direction from
 * the second node to the first.
 */
#ifndef SIM_TOPO_CONF_H
#define SIM_TOPO_CONF_H

#include "sim-wan/conf.h"
#include "sim-wan/topo/topo.h"

/* For the tables of who reads these sections beside others. */
extern const struct sim_conf_option sim_topo_conf_top[];
extern const struct sim_conf_option sim_topo_conf_wire[];
#define SIM_TOPO_CONF_SECTIONS 3
extern const struct sim_conf_section sim_topo_conf_sections[SIM_TOPO_CONF_SECTIONS];

/* A wire while it is put together: a queue given as a time depends on the rate in the end. */
struct sim_wire_spec {
    struct sim_wire_config config;
    gmc_duration queue_time, mark_time; /* 0: config holds the bytes */
    unsigned given;                     /* of options that mean nothing without another one */
};

/* Takes over what a part says with the options of a wire; its loss trace becomes the topology's.
 * Words in conf->error. */
GMC_NODISCARD gmc_status sim_topo_conf_apply(struct sim_conf *conf,
                                             const struct sim_conf_part *part,
                                             struct sim_topo *topo, struct sim_wire_spec *spec);
/* The same for the wire that the part names with `option`, if it names one. */
GMC_NODISCARD gmc_status sim_topo_conf_apply_named(struct sim_conf *conf,
                                                   const struct sim_conf_part *part,
                                                   const char *option, struct sim_topo *topo,
                                                   struct sim_wire_spec *spec);
/* What came out; refuses what does not fit together, at the place of `part`. */
GMC_NODISCARD gmc_status sim_topo_conf_finish(struct sim_conf *conf,
                                              const struct sim_conf_part *part,
                                              const struct sim_wire_spec *spec,
                                              struct sim_wire_config *config);

/* A path in the file counts from the folder of the file. Writes at most size bytes. */
void sim_topo_conf_path(const struct sim_conf *conf, const char *path, char *out, size_t size);
/* Whether the conf says anything of nodes and links. */
bool sim_topo_conf_is_given(const struct sim_conf *conf);
/* Makes the topology of an initialised, empty topo, and checks it. Words in conf->error. */
GMC_NODISCARD gmc_status sim_topo_conf_build(struct sim_conf *conf, struct sim_topo *topo);

/* A text of its own, called so. topo is initialised here, and left empty on an error, which has its
 * words in error (SIM_TOPO_ERROR_MAX bytes). */
GMC_NODISCARD gmc_status sim_topo_conf_parse(const char *name, const char *text,
                                             struct sim_topo *topo, char *error);

#endif
