/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns what fuzz targets of the readers of maps ask of each: words that begin with the file's name,
 * or a topology that is one. */
#ifndef GMC_TESTS_FUZZ_TOPO_CHECK_H
#define GMC_TESTS_FUZZ_TOPO_CHECK_H

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "sim-wan/topo/label.h"
#include "sim-wan/topo/read.h"
#include "sim-wan/topo/units.h"

static inline void check_wire(const struct sim_wire_config *wire)
{
    GMC_ASSERT(wire->rate_bps > 0 && wire->rate_bps <= SIM_RATE_MAX_BPS);
    GMC_ASSERT(wire->delay <= SIM_DELAY_MAX);
    GMC_ASSERT(wire->queue_bytes >= SIM_TOPO_QUEUE_BYTES_MIN);
}

static inline void check_topo(struct sim_topo *topo, const char *name, gmc_status status,
                              const char *error)
{
    char again[SIM_TOPO_ERROR_MAX];
    GMC_ASSERT((status == GMC_OK) == (error[0] == '\0'));
    GMC_ASSERT(status == GMC_OK || strncmp(error, name, strlen(name)) == 0);
    GMC_ASSERT((status == GMC_OK) == (topo->node_count > 0));
    GMC_ASSERT(status != GMC_OK || sim_topo_check(topo, NULL, again) == GMC_OK);
    for (size_t i = 0; i < topo->node_count; i++)
        GMC_ASSERT(sim_is_host_name(topo->nodes[i].name));
    for (size_t i = 0; i < topo->link_count; i++) {
        check_wire(&topo->links[i].a_to_b);
        check_wire(&topo->links[i].b_to_a);
    }
    sim_topo_fini(topo);
}

/* Both ways of dealing with parts. */
static inline void check_map(const char *name, const uint8_t *data, size_t size)
{
    struct sim_topo_options options = {0};
    if (memchr(data, 0, size) != NULL)
        return;
    for (int i = 0; i < 2; i++) {
        struct sim_topo topo;
        char error[SIM_TOPO_ERROR_MAX], *text = malloc(size + 1);
        GMC_ASSERT(text != NULL);
        memcpy(text, data, size);
        text[size] = '\0';
        options.largest_component = i == 1;
        gmc_status status = sim_topo_parse_map(name, text, size, &options, &topo, NULL, error);
        check_topo(&topo, name, status, error);
        free(text);
    }
}

#endif
