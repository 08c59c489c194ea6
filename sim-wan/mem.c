/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory for the simulator; see mem.h. */
#include "sim-wan/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *checked(void *memory)
{
    if (memory == NULL) {
        fputs("sim-wan: out of memory\n", stderr);
        abort();
    }
    return memory;
}

void *sim_alloc(size_t bytes)
{
    return checked(malloc(bytes > 0 ? bytes : 1));
}

void *sim_calloc(size_t count, size_t bytes)
{
    return checked(calloc(count > 0 ? count : 1, bytes > 0 ? bytes : 1));
}

void *sim_grow(void *old, size_t count, size_t bytes)
{
    if (bytes > 0 && count > SIZE_MAX / bytes)
        checked(NULL);
    return checked(realloc(old, count * bytes > 0 ? count * bytes : 1));
}

void *sim_alloc_lines(size_t bytes)
{
    return checked(aligned_alloc(64, bytes));
}

char *sim_strdup(const char *text)
{
    size_t len = strlen(text) + 1;
    return memcpy(sim_alloc(len), text, len);
}

void *sim_reserve(void *array, size_t count, size_t *capacity, size_t bytes)
{
    if (count < *capacity)
        return array;
    *capacity = *capacity > 0 ? *capacity * 2 : 8;
    return sim_grow(array, *capacity, bytes);
}
