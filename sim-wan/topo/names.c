/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbered texts; an open hash table that is at most half full. */
#include "sim-wan/topo/names.h"

#include <stdlib.h>
#include <string.h>

#include "sim-wan/mem.h"

void sim_names_init(struct sim_names *names)
{
    *names = (struct sim_names){0};
}

void sim_names_fini(struct sim_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->texts[i]);
    free(names->texts);
    free(names->slots);
    *names = (struct sim_names){0};
}

/* FNV-1a, 64 bit (Fowler, Noll, Vo). */
static uint64_t hash(const char *text)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *text != '\0'; text++)
        h = (h ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    return h;
}

/* The text's slot, or the free one where it would go. The table is not empty. */
static size_t slot_of(const struct sim_names *names, const char *text)
{
    size_t slot = (size_t)hash(text) & (names->slot_count - 1);
    while (names->slots[slot] != 0 && strcmp(names->texts[names->slots[slot] - 1], text) != 0)
        slot = (slot + 1) & (names->slot_count - 1);
    return slot;
}

static void grow(struct sim_names *names)
{
    free(names->slots);
    names->slot_count = names->slot_count > 0 ? names->slot_count * 2 : 16;
    names->slots = sim_calloc(names->slot_count, sizeof(*names->slots));
    for (size_t i = 0; i < names->count; i++)
        names->slots[slot_of(names, names->texts[i])] = (uint32_t)i + 1;
}

uint32_t sim_names_find(const struct sim_names *names, const char *text)
{
    if (names->slot_count == 0)
        return UINT32_MAX;
    return names->slots[slot_of(names, text)] - 1;
}

uint32_t sim_names_put(struct sim_names *names, const char *text)
{
    if (2 * (names->count + 1) > names->slot_count)
        grow(names);
    size_t slot = slot_of(names, text);
    if (names->slots[slot] == 0) {
        names->texts =
            sim_reserve(names->texts, names->count, &names->capacity, sizeof(*names->texts));
        names->texts[names->count++] = sim_strdup(text);
        names->slots[slot] = (uint32_t)names->count;
    }
    return names->slots[slot] - 1;
}
