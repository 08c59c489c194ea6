/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of results; see out_file.h. */
#include "sim-wan/out_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim-wan/mem.h"
#include "sim-wan/unfinished.h"

#define ENDING ".tmp"

/* Whether the path is that of a file of its own, or of none yet. */
static bool is_replaced(const char *path)
{
    struct stat info;
    return strcmp(path, "-") != 0 && (lstat(path, &info) != 0 || S_ISREG(info.st_mode));
}

bool sim_out_open(struct sim_out_file *out, const char *path)
{
    bool replaced = is_replaced(path);
    size_t size = strlen(path) + sizeof(ENDING);
    *out = (struct sim_out_file){.path = sim_strdup(path), .before = sim_alloc(size)};
    snprintf(out->before, size, "%s%s", path, replaced ? ENDING : "");
    if (replaced)
        out->unfinished = sim_unfinished_add(out->before);
    out->file = strcmp(path, "-") == 0 ? stdout : fopen(out->before, "we");
    if (out->file != NULL)
        return true;
    int reason = errno;
    (void)sim_out_close(out, false);
    errno = reason;
    return false;
}

/* What was written goes out; errno of the first failure, 0: none. */
static int finish(FILE *file)
{
    errno = 0;
    bool failed = fflush(file) != 0 || ferror(file) != 0;
    int reason = failed && errno == 0 ? EIO : failed ? errno : 0;
    if (file != stdout && fclose(file) != 0 && reason == 0)
        reason = errno;
    return reason;
}

bool sim_out_close(struct sim_out_file *out, bool keep)
{
    int reason = 0;
    if (out->file != NULL) {
        bool moves = strcmp(out->before, out->path) != 0;
        reason = finish(out->file);
        if (moves && keep && reason == 0 && rename(out->before, out->path) != 0)
            reason = errno;
        if (moves && (!keep || reason != 0))
            (void)unlink(out->before);
    }
    sim_unfinished_drop(out->unfinished);
    free(out->path);
    free(out->before);
    *out = (struct sim_out_file){0};
    errno = reason;
    return reason == 0;
}

bool sim_out_flush(void)
{
    errno = finish(stdout);
    return errno == 0;
}

bool sim_out_check(const char *path)
{
    struct sim_out_file out;
    if (!is_replaced(path)) /* to open a device or pipe is already to use it */
        return strcmp(path, "-") == 0 || access(path, W_OK) == 0 || errno == ENOENT;
    return sim_out_open(&out, path) && sim_out_close(&out, false);
}
