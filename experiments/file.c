/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of a report's folder; see file.h. */
#include "experiments/file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PATH_BYTES_MAX 4096

static bool cannot_write(const char *path)
{
    fprintf(stderr, "cannot write %s: %s\n", path, strerror(errno));
    return false;
}

bool ex_file_open(struct sim_out_file *out, const char *folder, const char *format, ...)
{
    char path[PATH_BYTES_MAX];
    int len = snprintf(path, sizeof(path), "%s/", folder);
    size_t at = len < (int)sizeof(path) ? (size_t)len : sizeof(path) - 1;
    va_list args;
    va_start(args, format);
    len = vsnprintf(path + at, sizeof(path) - at, format, args);
    va_end(args);
    errno = ENAMETOOLONG;
    return ((size_t)len < sizeof(path) - at && sim_out_open(out, path)) || cannot_write(path);
}

bool ex_file_close(struct sim_out_file *out)
{
    char path[PATH_BYTES_MAX];
    snprintf(path, sizeof(path), "%s", out->path != NULL ? out->path : "");
    return sim_out_close(out, true) || cannot_write(path);
}
