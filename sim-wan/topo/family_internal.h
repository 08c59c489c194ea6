/* SPDX-License-Identifier: BSD-2-Clause */
/* What the families share: their parameters, and the table that names them. */
#ifndef SIM_TOPO_FAMILY_INTERNAL_H
#define SIM_TOPO_FAMILY_INTERNAL_H

#include "base/prng.h"
#include "sim-wan/topo/draft.h"

struct sim_family {
    struct sim_draft *draft;
    uint64_t size;          /* nodes, as given: of a star those around the middle */
    uint64_t width, height; /* of a mesh */
    uint64_t fanout, extra, m;
    bool has_extra;
    double alpha, beta;
    uint64_t seed, rate_bps;
    bool has_delay;
    gmc_duration delay_min, delay_max;
    struct gmc_prng links, delays; /* streams: which nodes are joined, how far they are */
};

/* Nodes n0 ... */
GMC_NODISCARD gmc_status sim_family_add_nodes(struct sim_family *family, uint64_t count);
/* A link with the family's rate, and a delay that is drawn. */
GMC_NODISCARD gmc_status sim_family_join(struct sim_family *family, uint64_t a, uint64_t b);

GMC_NODISCARD gmc_status sim_family_random(struct sim_family *family);
GMC_NODISCARD gmc_status sim_family_ba(struct sim_family *family);
GMC_NODISCARD gmc_status sim_family_waxman(struct sim_family *family);

#endif
