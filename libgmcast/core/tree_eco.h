/* SPDX-License-Identifier: BSD-2-Clause */
/* The shape `eco`, and its choice for one gateway, which joining a running tree uses too. The
 * rules are numbered in tree_eco.c. Private to tree*.c. */
#ifndef GMC_CORE_TREE_ECO_H
#define GMC_CORE_TREE_ECO_H

#include "core/tree_order.h"

/* The parent of a gateway by rules E3 to E5: 0 (the source) or v; v is -1 when there is none. */
int32_t gmc_tree_eco_parent(uint64_t from_source, int32_t v, uint64_t from_v);

extern const struct gmc_tree_ops gmc_tree_eco;

#endif
