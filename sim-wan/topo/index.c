/* SPDX-License-Identifier: BSD-2-Clause */
/* Nodes by name; see index.h. */
#include "sim-wan/topo/index.h"

#include <stdlib.h>
#include <string.h>

#include "sim-wan/mem.h"

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct sim_topo_entry *)left)->name,
                  ((const struct sim_topo_entry *)right)->name);
}

void sim_topo_index_init(struct sim_topo_index *index, const struct sim_topo *topo)
{
    index->entries = sim_calloc(topo->node_count, sizeof(*index->entries));
    index->count = topo->node_count;
    for (uint32_t i = 0; i < topo->node_count; i++)
        index->entries[i] = (struct sim_topo_entry){topo->nodes[i].name, i};
    qsort(index->entries, index->count, sizeof(*index->entries), by_name);
}

void sim_topo_index_fini(struct sim_topo_index *index)
{
    free(index->entries);
    *index = (struct sim_topo_index){0};
}

uint32_t sim_topo_index_find(const struct sim_topo_index *index, const char *name)
{
    struct sim_topo_entry wanted = {name, 0};
    const struct sim_topo_entry *found =
        bsearch(&wanted, index->entries, index->count, sizeof(*index->entries), by_name);
    return found != NULL ? found->node : UINT32_MAX;
}
