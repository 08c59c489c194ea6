/* SPDX-License-Identifier: BSD-2-Clause */
/* Arithmetic on the torus. */
#include "interconnect/torus/torus.h"

#include <stdbool.h>

gmc_status ic_torus_init(struct ic_torus *torus, uint64_t k, uint64_t dimensions, char *error)
{
    gmc_status status = ic_check_range("k, nodes per ring,", k, 2, IC_TORUS_K_MAX, error);
    if (status == GMC_OK)
        status = ic_check_range("N, dimensions,", dimensions, 1, IC_TORUS_DIMENSIONS_MAX, error);
    if (status != GMC_OK)
        return status;
    uint64_t nodes = 1;
    for (uint64_t i = 0; i < dimensions && nodes <= IC_TORUS_NODES_MAX; i++)
        nodes *= k;
    status = ic_check_range("k^N, the nodes of the torus,", nodes, 2, IC_TORUS_NODES_MAX, error);
    if (status == GMC_OK)
        *torus = (struct ic_torus){(uint32_t)k, (uint32_t)dimensions, (uint32_t)nodes};
    return status;
}

/* What one step of that coordinate adds to a node's number. */
static uint32_t weight(const struct ic_torus *torus, uint32_t dimension)
{
    uint32_t weight = 1;
    for (uint32_t i = dimension + 1; i < torus->dimensions; i++)
        weight *= torus->k;
    return weight;
}

uint32_t ic_torus_digit(const struct ic_torus *torus, uint32_t node, uint32_t dimension)
{
    return node / weight(torus, dimension) % torus->k;
}

gmc_status ic_torus_node(const struct ic_torus *torus, const uint32_t *coordinates, uint32_t *node,
                         char *error)
{
    *node = 0;
    for (uint32_t i = 0; i < torus->dimensions; i++) {
        if (coordinates[i] < 1 || coordinates[i] > torus->k)
            return ic_refuse(error, "coordinate %u is %u; it must be 1 to %u", i + 1,
                             coordinates[i], torus->k);
        *node = *node * torus->k + coordinates[i] - 1;
    }
    return GMC_OK;
}

uint32_t ic_torus_offset(const struct ic_torus *torus, uint32_t a, uint32_t b, uint32_t dimension)
{
    return (ic_torus_digit(torus, b, dimension) + torus->k - ic_torus_digit(torus, a, dimension)) %
           torus->k;
}

uint32_t ic_torus_next(const struct ic_torus *torus, uint32_t node, uint32_t dimension)
{
    uint32_t one = weight(torus, dimension);
    bool is_last = ic_torus_digit(torus, node, dimension) == torus->k - 1;
    return is_last ? node - one * (torus->k - 1) : node + one;
}

uint32_t ic_torus_hops(const struct ic_torus *torus, uint32_t a, uint32_t b)
{
    uint32_t hops = 0;
    for (uint32_t i = 0; i < torus->dimensions; i++)
        hops += ic_torus_offset(torus, a, b, i);
    return hops;
}

/* Coordinates count from 1 in the sums, as printed; so the top digit is 1..k and ranks do not
 * begin with 0. */
uint32_t ic_torus_rank(const struct ic_torus *torus, uint32_t node)
{
    uint32_t sum = ic_torus_digit(torus, node, 0) + 1;
    uint32_t rank = sum;
    for (uint32_t i = 1; i < torus->dimensions; i++) {
        sum += ic_torus_digit(torus, node, i) + 1;
        rank = rank * torus->k + sum % torus->k;
    }
    return rank;
}

/* Adding one to a rank counts up its lowest digit that is not k - 1; the digits below turn to 0. In
 * coordinates that is one hop along the dimension of the digit that was counted up. */
uint32_t ic_torus_rank_next(const struct ic_torus *torus, uint32_t node)
{
    uint32_t rank = ic_torus_rank(torus, node);
    uint32_t dimension = torus->dimensions - 1;
    for (; dimension > 0 && rank % torus->k == torus->k - 1; dimension--)
        rank /= torus->k;
    return ic_torus_next(torus, node, dimension);
}

gmc_status ic_torus_check_group(const struct ic_torus *torus, const struct ic_torus_group *group,
                                char *error)
{
    gmc_status status =
        ic_check_range("G, the group's size,", group->count, 2, torus->nodes, error);
    if (status == GMC_OK)
        status = ic_check_range("the root's position", group->root, 0, group->count - 1, error);
    for (uint32_t i = 0; i < group->count && status == GMC_OK; i++) {
        status =
            ic_check_range("a member's node number", group->nodes[i], 0, torus->nodes - 1, error);
        if (status == GMC_OK && i > 0 && group->nodes[i] <= group->nodes[i - 1])
            status = ic_refuse(error,
                               "members are not in growing order, or one stands twice: node "
                               "%u after node %u",
                               group->nodes[i], group->nodes[i - 1]);
    }
    return status;
}

void ic_torus_draw_group(const struct ic_torus *torus, uint32_t size, struct gmc_prng *prng,
                         uint32_t *nodes, struct ic_torus_group *group)
{
    uint32_t chosen = 0;
    for (uint32_t node = 0; node < torus->nodes && chosen < size; node++)
        if (gmc_prng_below(prng, torus->nodes - node) < size - chosen)
            nodes[chosen++] = node;
    *group = (struct ic_torus_group){nodes, size, (uint32_t)gmc_prng_below(prng, size)};
}
