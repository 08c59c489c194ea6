/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory for the simulator: asking for it cannot fail. A simulation that does not fit ends with a
 * message; nothing useful could go on. */
#ifndef SIM_MEM_H
#define SIM_MEM_H

#include <stdbool.h>
#include <stddef.h>

void *sim_alloc(size_t bytes);                         /* contents undefined */
void *sim_calloc(size_t count, size_t bytes);          /* zeros */
void *sim_grow(void *old, size_t count, size_t bytes); /* realloc of an array */
/* Bytes that are a multiple of the alignment, a power of two. */
void *sim_alloc_aligned(size_t alignment, size_t bytes);
char *sim_strdup(const char *text);

/* What is allocated from now on lies in large pages, where the system gives them to those that ask
 * and half of the machine's memory may be set aside; nothing is taken of it before it is used.
 * For worlds of many hosts: most of a look at memory that is in no cache is the search for its
 * page. To be called by the only thread. False: everything stays in small pages. */
bool sim_large_pages(void);

/* Grows an array for one more element; doubles. */
void *sim_reserve(void *array, size_t count, size_t *capacity, size_t bytes);

/* The struct of which ptr points at a member. */
#define SIM_OWNER(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

#endif
