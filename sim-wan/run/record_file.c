/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of recorders; see record_file.h. */
#include "sim-wan/run/record_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "sim-wan/run/record.h"

#define PATH_BYTES_MAX 4096

static bool fail(const char *name, char *error)
{
    snprintf(error, SIM_RECORD_ERROR_MAX, "%.150s: %s", name, strerror(errno));
    return false;
}

bool sim_record_make_folder(const char *folder, char *error)
{
    struct stat info;
    if (mkdir(folder, 0777) == 0 || (errno == EEXIST && stat(folder, &info) == 0))
        return true; /* what is no folder shows when a file is made in it */
    return fail(folder, error);
}

bool sim_record_create(struct sim_out_file *out, const char *folder, const char *name, char *error)
{
    char path[PATH_BYTES_MAX];
    snprintf(path, sizeof(path), "%s%s%s", folder != NULL ? folder : "", folder != NULL ? "/" : "",
             name);
    return sim_out_open(out, path) || fail(path, error);
}

bool sim_record_close(struct sim_out_file *out, bool keep, char *error)
{
    char path[PATH_BYTES_MAX];
    snprintf(path, sizeof(path), "%s", out->path != NULL ? out->path : "");
    return sim_out_close(out, keep) || fail(path, error);
}

void sim_record_put_field(FILE *out, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}
