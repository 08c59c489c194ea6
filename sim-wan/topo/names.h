/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns a set of texts, each with a number in the order of their coming. */
#ifndef SIM_TOPO_NAMES_H
#define SIM_TOPO_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct sim_names {
    char **texts; /* by number */
    size_t count, capacity;
    uint32_t *slots; /* hash table of number + 1; 0: free */
    size_t slot_count;
};

void sim_names_init(struct sim_names *names);
void sim_names_fini(struct sim_names *names);

/* The text's number, given now when it is new. */
uint32_t sim_names_put(struct sim_names *names, const char *text);
/* UINT32_MAX: not among them. */
uint32_t sim_names_find(const struct sim_names *names, const char *text);

#endif
