/* SPDX-License-Identifier: BSD-2-Clause */
/* Nodes, groups and schedules of a torus as text: a node is its coordinates, "2.4" in two
 * dimensions, a group its nodes with spaces between, a schedule "1:2.4>3.1 2:...". */
#ifndef INTERCONNECT_TORUS_NAMES_H
#define INTERCONNECT_TORUS_NAMES_H

#include "interconnect/schedule.h"
#include "interconnect/text.h"
#include "interconnect/torus/torus.h"

/* Reads one node; *text moves behind it. INVALID with words. */
GMC_NODISCARD gmc_status ic_torus_read_node(const struct ic_torus *torus, const char **text,
                                            uint32_t *node, char *error);
void ic_torus_add_node(struct ic_text *out, const struct ic_torus *torus, uint32_t node);

/* Members in any order, the root among them. The group's nodes are the caller's then, to be given
 * to free. INVALID with words, NOMEM. */
GMC_NODISCARD gmc_status ic_torus_read_group(const struct ic_torus *torus, const char *members,
                                             const char *root, struct ic_torus_group *group,
                                             char *error);

void ic_torus_add_schedule(struct ic_text *out, const struct ic_torus *torus,
                           const struct ic_torus_group *group, const struct ic_schedule *schedule);

#endif
