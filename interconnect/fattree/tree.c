/* SPDX-License-Identifier: BSD-2-Clause */
/* Sizes and distances of m-port n-trees. */
#include "interconnect/fattree/tree.h"

#include "base/assert.h"

gmc_status ic_fat_tree_init(struct ic_fat_tree *tree, uint64_t ports, uint64_t levels, char *error)
{
    gmc_status status =
        ic_check_range("m, ports of a switch,", ports, 4, IC_FAT_TREE_PORTS_MAX, error);
    if (status == GMC_OK && ports % 2 != 0)
        status = ic_refuse(error, "m, ports of a switch, is %u; it must be even", (unsigned)ports);
    if (status == GMC_OK)
        status = ic_check_range("n, levels of the tree,", levels, 1, IC_FAT_TREE_LEVELS_MAX, error);
    if (status != GMC_OK)
        return status;
    uint64_t half = ports / 2, power = 1; /* q^(n-1) */
    for (uint64_t i = 1; i < levels && power <= IC_FAT_TREE_NODES_MAX; i++)
        power *= half;
    status = ic_check_range("2 (m/2)^n, the nodes of the tree,", 2 * power * half, 2,
                            IC_FAT_TREE_NODES_MAX, error);
    if (status == GMC_OK)
        *tree = (struct ic_fat_tree){.ports = (uint32_t)ports,
                                     .levels = (uint32_t)levels,
                                     .half = (uint32_t)half,
                                     .nodes = (uint32_t)(2 * power * half),
                                     .switches = (2 * levels - 1) * power};
    return status;
}

double ic_fat_tree_share(const struct ic_fat_tree *tree, uint32_t j)
{
    GMC_ASSERT(j >= 1 && j <= tree->levels);
    double power = 1;
    for (uint32_t i = 1; i < j; i++)
        power *= tree->half;
    return (j < tree->levels ? tree->half - 1 : tree->ports - 1) * power / (tree->nodes - 1);
}

double ic_fat_tree_distance(const struct ic_fat_tree *tree)
{
    double sum = 0;
    for (uint32_t j = 1; j <= tree->levels; j++)
        sum += 2 * j * ic_fat_tree_share(tree, j);
    return sum;
}
