/* SPDX-License-Identifier: BSD-2-Clause */
/* A torus's nodes, groups and schedules as text. */
#include "interconnect/torus/names.h"

#include <stdlib.h>
#include <string.h>

gmc_status ic_torus_read_node(const struct ic_torus *torus, const char **text, uint32_t *node,
                              char *error)
{
    uint32_t coordinates[IC_TORUS_DIMENSIONS_MAX];
    const char *at = *text;
    for (uint32_t i = 0; i < torus->dimensions; i++) {
        char *end;
        unsigned long value = strtoul(at, &end, 10);
        bool is_last = i + 1 == torus->dimensions;
        if (*at < '0' || *at > '9' || (is_last ? *end != ' ' && *end != '\0' : *end != '.'))
            return ic_refuse(error,
                             "\"%.40s\" begins with no node; a node is %u coordinates from 1 to "
                             "%u with dots between",
                             *text, torus->dimensions, torus->k);
        coordinates[i] = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
        at = is_last ? end : end + 1;
    }
    *text = at;
    return ic_torus_node(torus, coordinates, node, error);
}

void ic_torus_add_node(struct ic_text *out, const struct ic_torus *torus, uint32_t node)
{
    for (uint32_t i = 0; i < torus->dimensions; i++)
        ic_text_add(out, "%s%u", i > 0 ? "." : "", ic_torus_digit(torus, node, i) + 1);
}

static int by_number(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static gmc_status read_members(const struct ic_torus *torus, const char *members, uint32_t *nodes,
                               uint32_t *count, char *error)
{
    gmc_status status = GMC_OK;
    *count = 0;
    members += strspn(members, " ");
    while (*members != '\0' && status == GMC_OK) {
        if (*count == torus->nodes)
            return ic_refuse(error, "more than %u members are named; that many nodes there are",
                             torus->nodes);
        status = ic_torus_read_node(torus, &members, &nodes[*count], error);
        *count += 1;
        members += strspn(members, " ");
    }
    return status;
}

static gmc_status check_once(const struct ic_torus *torus, const uint32_t *nodes, uint32_t count,
                             char *error)
{
    struct ic_text name = {0};
    gmc_status status = GMC_OK;
    for (uint32_t i = 1; i < count && status == GMC_OK; i++)
        if (nodes[i] == nodes[i - 1]) {
            ic_torus_add_node(&name, torus, nodes[i]);
            status = ic_refuse(error, "member %.60s is named twice",
                               name.bytes != NULL ? name.bytes : "");
        }
    ic_text_fini(&name);
    return status;
}

gmc_status ic_torus_read_group(const struct ic_torus *torus, const char *members,
                               const char *root_text, struct ic_torus_group *group, char *error)
{
    uint32_t *nodes = malloc(torus->nodes * sizeof(*nodes)), count = 0, root = 0;
    if (nodes == NULL)
        return GMC_ERR_NOMEM;
    gmc_status status = read_members(torus, members, nodes, &count, error);
    if (status == GMC_OK)
        status = ic_torus_read_node(torus, &root_text, &root, error);
    if (status == GMC_OK) {
        qsort(nodes, count, sizeof(*nodes), by_number);
        status = check_once(torus, nodes, count, error);
    }
    if (status == GMC_OK) {
        *group = (struct ic_torus_group){nodes, count, 0};
        while (group->root < count && nodes[group->root] != root)
            group->root++;
        status = group->root < count ? ic_torus_check_group(torus, group, error)
                                     : ic_refuse(error, "the root is not one of the members");
    }
    if (status != GMC_OK)
        free(nodes);
    return status;
}

void ic_torus_add_schedule(struct ic_text *out, const struct ic_torus *torus,
                           const struct ic_torus_group *group, const struct ic_schedule *schedule)
{
    for (size_t i = 0; i < schedule->count; i++) {
        const struct ic_send *send = &schedule->sends[i];
        ic_text_add(out, "%s%u:", i > 0 ? " " : "", send->step);
        ic_torus_add_node(out, torus, group->nodes[send->from]);
        ic_text_add(out, ">");
        ic_torus_add_node(out, torus, group->nodes[send->to]);
    }
}
