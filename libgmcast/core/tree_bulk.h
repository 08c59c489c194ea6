/* SPDX-License-Identifier: BSD-2-Clause */
/* The shape `bulk`. The rules are numbered in tree_bulk.c. Private to tree*.c. */
#ifndef GMC_CORE_TREE_BULK_H
#define GMC_CORE_TREE_BULK_H

#include "core/tree_order.h"

extern const struct gmc_tree_ops gmc_tree_bulk;

/* Whether any uplink is known (K0). */
bool gmc_tree_bulk_knows(const struct gmc_tree_graph *graph);

#endif
