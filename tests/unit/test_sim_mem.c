/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests sim-wan/mem: what is allocated after the wish for large pages lies where they are given. */
#include <config.h>

#include "tests/lib/unit.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim-wan/mem.h"

#define BYTES ((size_t)64 << 20)

/* The flags of the mapping in which the address lies; false when the system does not tell. */
static bool flags_of(const void *address, char flags[256])
{
    FILE *maps = fopen("/proc/self/smaps", "re");
    char line[512];
    bool is_inside = false, found = false;

    while (maps != NULL && !found && fgets(line, sizeof line, maps) != NULL) {
        uintptr_t begin, end;

        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &begin, &end) == 2)
            is_inside = begin <= (uintptr_t)address && (uintptr_t)address < end;
        found = is_inside && sscanf(line, "VmFlags: %255[^\n]", flags) == 1;
    }
    if (maps != NULL)
        fclose(maps);
    return found;
}

/* Checkers bring an allocator of their own, which is not asked. */
static bool is_checked(void)
{
#ifdef GMC_SANITIZERS
    return true;
#else
    const char *loaded = getenv("LD_PRELOAD");

    return loaded != NULL && strstr(loaded, "vgpreload") != NULL;
#endif
}

static bool is_advised(const void *address)
{
    char flags[256];

    return flags_of(address, flags) && strstr(flags, " hg") != NULL;
}

/* Emulators take advice and do nothing with it. */
static bool advice_shows(void)
{
    bool shows = false;
#ifdef MADV_HUGEPAGE
    void *all = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (all == MAP_FAILED)
        return false;
    shows = madvise(all, BYTES, MADV_HUGEPAGE) == 0 && is_advised(all);
    munmap(all, BYTES);
#endif
    return shows;
}

static void memory_lies_in_large_pages(void **state)
{
    (void)state;
    if (is_checked() || !advice_shows() || !sim_large_pages())
        skip();
    char *first = sim_alloc(BYTES), *second = sim_alloc(BYTES);
    /* The beginning may lie before the first whole page. */
    bool is_so = is_advised(first + BYTES / 2) && is_advised(second);

    free(first);
    free(second);
    assert_true(is_so);
}

/* Twice does no harm, and small things come as before. */
static void may_be_asked_for_again(void **state)
{
    (void)state;
    (void)sim_large_pages();
    char *text = sim_strdup("small");

    assert_string_equal(text, "small");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_lies_in_large_pages),
        cmocka_unit_test(may_be_asked_for_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
