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

void *sim_alloc_aligned(size_t alignment, size_t bytes)
{
    return checked(aligned_alloc(alignment, bytes));
}

#if defined(__GLIBC__) && defined(MADV_HUGEPAGE) && !defined(GMC_SANITIZERS)
#define LARGE_PAGE ((size_t)2 << 20)

bool sim_large_pages(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t pages = (size_t)sysconf(_SC_PHYS_PAGES) / 2;
    size_t bytes = pages < SIZE_MAX / 4 / page ? pages * page : SIZE_MAX / 4;
    /* One heap that is never given back: advice that it was given would go with it, and what is
     * mapped by itself would have none. */
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1);
    char *heap = malloc(bytes);
    if (heap == NULL)
        return false;
    size_t ahead = LARGE_PAGE - ((uintptr_t)heap & (LARGE_PAGE - 1));
    bool is_advised = ahead < bytes && madvise(heap + ahead, (bytes - ahead) & ~(LARGE_PAGE - 1),
                                               MADV_HUGEPAGE) == 0;
    free(heap);
    return is_advised;
}
#else
bool sim_large_pages(void)
{
    return false;
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
