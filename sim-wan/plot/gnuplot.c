/* SPDX-License-Identifier: BSD-2-Clause */
/* gnuplot as a program; see gnuplot.h. */
#include "sim-wan/plot/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/assert.h"
#include "sim-wan/out_file.h"

#define PATH_BYTES_MAX 4096u

/* What execvp's failure looks like from outside, as in the shell. */
#define EXIT_NOT_FOUND 127

struct drawing {
    const char *folder, *stem;
    const char *const *kinds;
    size_t count;
    struct sim_out_file files[SIM_GNUPLOT_KINDS_MAX];
    int from[SIM_GNUPLOT_KINDS_MAX], to[SIM_GNUPLOT_KINDS_MAX]; /* ends of pipes; -1: none */
    size_t bytes[SIM_GNUPLOT_KINDS_MAX];
    int reasons[SIM_GNUPLOT_KINDS_MAX]; /* errno of what could not be written; 0: none */
    char *error;
};

void sim_gnuplot_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
    }
    fputc('"', out);
}

void sim_gnuplot_output(FILE *script, const char *stem, const char *kind)
{
    fprintf(script, "set output exists(\"%s_file\") ? %s_file : ", kind, kind);
    sim_gnuplot_text(script, stem);
    fprintf(script, ".\".%s\"\n", kind);
}

static gmc_status fail(struct drawing *drawing, const char *kind)
{
    snprintf(drawing->error, SIM_GNUPLOT_ERROR_MAX, "%.100s/%.80s.%s: %s", drawing->folder,
             drawing->stem, kind, strerror(errno));
    return GMC_ERR_IO;
}

static gmc_status open_files(struct drawing *drawing)
{
    char path[PATH_BYTES_MAX];
    for (size_t i = 0; i < drawing->count; i++) {
        int len = snprintf(path, sizeof(path), "%s/%s.%s", drawing->folder, drawing->stem,
                           drawing->kinds[i]);
        int ends[2];
        errno = ENAMETOOLONG;
        if (len < 0 || (size_t)len >= sizeof(path) || !sim_out_open(&drawing->files[i], path) ||
            pipe2(ends, O_CLOEXEC) != 0)
            return fail(drawing, drawing->kinds[i]);
        drawing->from[i] = ends[0];
        drawing->to[i] = ends[1];
    }
    return GMC_OK;
}

static void close_end(int *end)
{
    if (*end >= 0)
        (void)close(*end);
    *end = -1;
}

/* In the child. */
static void exec_gnuplot(const struct drawing *drawing)
{
    char program[] = "gnuplot", option[] = "-e", script[PATH_BYTES_MAX];
    char outputs[SIM_GNUPLOT_KINDS_MAX * 64] = "";
    char *arguments[] = {program, option, outputs, script, NULL};
    for (size_t i = 0, at = 0; i < drawing->count; i++) {
        at += (size_t)snprintf(outputs + at, sizeof(outputs) - at, "%.8s_file = '/dev/fd/%d'; ",
                               drawing->kinds[i], drawing->to[i]);
        (void)fcntl(drawing->to[i], F_SETFD, 0);
    }
    snprintf(script, sizeof(script), "%s.gp", drawing->stem);
    if (chdir(drawing->folder) != 0)
        _exit(EXIT_FAILURE);
    execvp(program, arguments);
    _exit(EXIT_NOT_FOUND);
}

/* All that comes, whichever picture is drawn first; also what cannot be written, or gnuplot would
 * end by a signal and say nothing of the other. */
static void take_pictures(struct drawing *drawing)
{
    struct pollfd ends[SIM_GNUPLOT_KINDS_MAX];
    size_t open = drawing->count;
    char buffer[16384];
    for (size_t i = 0; i < drawing->count; i++)
        ends[i] = (struct pollfd){.fd = drawing->from[i], .events = POLLIN};
    while (open > 0) {
        if (poll(ends, drawing->count, -1) < 0)
            continue;
        for (size_t i = 0; i < drawing->count; i++) {
            if (ends[i].revents == 0)
                continue;
            ssize_t len = read(ends[i].fd, buffer, sizeof(buffer));
            if (len > 0) {
                drawing->bytes[i] += (size_t)len;
                if (fwrite(buffer, 1, (size_t)len, drawing->files[i].file) != (size_t)len)
                    drawing->reasons[i] = errno;
            } else {
                ends[i].fd = -1;
                open--;
            }
        }
    }
}

static gmc_status run(struct drawing *drawing)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        exec_gnuplot(drawing);
    for (size_t i = 0; i < drawing->count; i++)
        close_end(&drawing->to[i]);
    if (child > 0)
        take_pictures(drawing);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    bool has_drawn = child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
    for (size_t i = 0; i < drawing->count; i++)
        has_drawn = has_drawn && drawing->bytes[i] > 0;
    if (has_drawn)
        return GMC_OK;
    if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NOT_FOUND) {
        snprintf(drawing->error, SIM_GNUPLOT_ERROR_MAX,
                 "gnuplot is not installed; the script and its data are written: %.100s/%.80s.gp",
                 drawing->folder, drawing->stem);
        return GMC_ERR_NOT_FOUND;
    }
    snprintf(drawing->error, SIM_GNUPLOT_ERROR_MAX, "gnuplot failed at %.100s/%.80s.gp",
             drawing->folder, drawing->stem);
    return GMC_ERR_IO;
}

gmc_status sim_gnuplot_draw(const char *folder, const char *stem, const char *const *kinds,
                            size_t count, char *error)
{
    struct drawing drawing = {.folder = folder,
                              .stem = stem,
                              .kinds = kinds,
                              .count = count,
                              .from = {-1, -1},
                              .to = {-1, -1},
                              .error = error};
    GMC_ASSERT(count <= SIM_GNUPLOT_KINDS_MAX);
    gmc_status status = open_files(&drawing);
    if (status == GMC_OK)
        status = run(&drawing);
    for (size_t i = 0; i < count; i++) {
        close_end(&drawing.from[i]);
        close_end(&drawing.to[i]);
        bool keep = status == GMC_OK;
        if (!sim_out_close(&drawing.files[i], keep) && keep) {
            errno = drawing.reasons[i] != 0 ? drawing.reasons[i] : errno;
            status = fail(&drawing, kinds[i]);
        }
    }
    return status;
}
