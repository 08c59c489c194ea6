/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads libfabric: see ofi_library.h. */
#include "fabric/ofi_library.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define FILE_NAME "libfabric.so.1"
#define SIGNALS 32 /* with a name */

static bool take(void *handle, const char *name, void *function)
{
    void *symbol = dlsym(handle, name);
    memcpy(function, &symbol, sizeof symbol); /* ISO C has no cast from an object to a function */
    return symbol != NULL;
}

/* Drivers of interconnects may take signals when they are loaded (libinfinipath: those of crashes):
 * they stay the daemon's. */
static void *load(void)
{
    struct sigaction ours[SIGNALS];
    for (int i = 1; i < SIGNALS; i++)
        (void)sigaction(i, NULL, &ours[i]);
    void *handle = dlopen(FILE_NAME, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    for (int i = 1; i < SIGNALS; i++)
        (void)sigaction(i, &ours[i], NULL);
    return handle;
}

const struct fab_ofi_library *fab_ofi_library(char *reason, size_t size)
{
    static struct fab_ofi_library library;
    static bool loaded;
    if (loaded)
        return &library;
    void *handle = load();
    loaded = handle != NULL && take(handle, "fi_getinfo", &library.getinfo) &&
             take(handle, "fi_freeinfo", &library.freeinfo) &&
             take(handle, "fi_dupinfo", &library.dupinfo) &&
             take(handle, "fi_fabric", &library.fabric) &&
             take(handle, "fi_strerror", &library.strerror);
    if (loaded)
        return &library;
    (void)snprintf(reason, size, FILE_NAME " cannot be loaded (Debian: package libfabric1): %s",
                   dlerror());
    return NULL;
}
