/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory for the simulator; see mem.h. */
#include <config.h>

#include "sim-wan/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

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

#if defined(__GLIBC__) && defined(MADV_HUGEPAGE) && !defined(GMC_SANITIZERS)
#define LARGE_PAGE ((size_t)2 << 20)

void sim_large_pages(void)
{
    size_t small = (size_t)sysconf(_SC_PAGESIZE);
    size_t bytes = (size_t)sysconf(_SC_PHYS_PAGES) / 2 * small;
    /* One heap that is never given back: advice that it was given would go with it, and what is
     * mapped by itself would have none. */
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1);
    char *heap = malloc(bytes);
    if (heap == NULL)
        return;
    uintptr_t begin = ((uintptr_t)heap + LARGE_PAGE) & ~(uintptr_t)(LARGE_PAGE - 1);
    size_t ahead = begin - (uintptr_t)heap;
    if (ahead < bytes) /* Refused: small pages then. */
        (void)madvise(heap + ahead, (bytes - ahead) & ~(LARGE_PAGE - 1), MADV_HUGEPAGE);
    free(heap);
}
#else
void sim_large_pages(void)
{
}
#endif

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
