/* SPDX-License-Identifier: BSD-2-Clause */
/* The shapes that are a rule on the order of gateways; each file numbers its rules. Private to
 * tree*.c. */
#ifndef GMC_CORE_TREE_SHAPES_H
#define GMC_CORE_TREE_SHAPES_H

#include "core/tree_order.h"

extern const struct gmc_tree_ops gmc_tree_flat;
extern const struct gmc_tree_ops gmc_tree_binomial;
extern const struct gmc_tree_ops gmc_tree_binary;
extern const struct gmc_tree_ops gmc_tree_chain;

#endif
