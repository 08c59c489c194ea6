/* SPDX-License-Identifier: BSD-2-Clause */
/* Pictures by gnuplot; see plot.h. */
#include "sim-wan/plot/plot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim-wan/mem.h"

#define PATH_BYTES_MAX 4096

/* What execvp's failure looks like from outside, as in the shell. */
#define EXIT_NOT_FOUND 127

static FILE *create(const struct sim_plot *plot, const char *extension, char *error)
{
    char path[PATH_BYTES_MAX];
    int len = snprintf(path, sizeof(path), "%s/%s.%s", plot->folder, plot->stem, extension);
    FILE *file = NULL;
    errno = ENAMETOOLONG;
    if (len > 0 && (size_t)len < sizeof(path))
        file = fopen(path, "we");
    if (file == NULL)
        snprintf(error, SIM_PLOT_ERROR_MAX, "%.120s: %s", path, strerror(errno));
    return file;
}

/* Of lines, told apart by most eyes on white. */
static void set_colours(FILE *out)
{
    static const char *const colours[] = {"1f5fa8", "d9480f", "2b8a3e", "7b3fb3", "b8860b",
                                          "00b4c4", "c2255c", "868e96", "74b816", "b197fc",
                                          "ffa94d", "74c0fc", "f783ac", "000000", "8c5a3c"};
    for (size_t i = 0; i < sizeof(colours) / sizeof(colours[0]); i++)
        fprintf(out, "set linetype %zu linecolor rgb \"#%s\"\n", i + 1, colours[i]);
    fputs("set grid linetype 1 linewidth 1 linecolor rgb \"#dddddd\"\n", out);
}

static void begin_script(const struct sim_plot *plot, unsigned width, unsigned height)
{
    FILE *out = plot->script;
    fprintf(out, "# Drawn by: gnuplot %s.gp\n", plot->stem);
    fputs("do for [kind in \"svg png\"] {\nreset\n", out);
    fprintf(out,
            "if (kind eq \"svg\") { set terminal svg noenhanced size %u,%u dynamic "
            "background rgb \"white\" font \"Helvetica,14\" }\n",
            width, height);
    fprintf(out,
            "if (kind eq \"png\") { set terminal pngcairo noenhanced size %u,%u "
            "background rgb \"white\" font \"Helvetica,11\" }\n",
            width, height);
    fputs("set output ", out);
    sim_plot_text(out, plot->stem);
    fputs(".\".\".kind\ndata = ", out);
    sim_plot_text(out, plot->stem);
    fputs(".\".dat\"\n", out);
    set_colours(out);
}

static void release(struct sim_plot *plot)
{
    if (plot->script != NULL)
        fclose(plot->script);
    if (plot->data != NULL)
        fclose(plot->data);
    free(plot->folder);
    free(plot->stem);
    *plot = (struct sim_plot){0};
}

/* The folder of a prefix, to be given back with free. */
static char *folder_of(const char *prefix)
{
    const char *slash = strrchr(prefix, '/');
    char *folder = sim_strdup(slash == NULL ? "." : prefix);
    if (slash != NULL)
        folder[slash == prefix ? 1 : slash - prefix] = '\0';
    return folder;
}

bool sim_plot_check(const char *prefix, char *error)
{
    char *folder = folder_of(prefix);
    struct stat info;
    bool ok = stat(folder, &info) == 0 && access(folder, W_OK | X_OK) == 0;
    if (ok && !S_ISDIR(info.st_mode)) {
        errno = ENOTDIR;
        ok = false;
    }
    if (!ok)
        snprintf(error, SIM_PLOT_ERROR_MAX, "no pictures can be put into %.120s: %s", folder,
                 strerror(errno));
    free(folder);
    return ok;
}

gmc_status sim_plot_open(struct sim_plot *plot, const char *prefix, const char *name,
                         unsigned width, unsigned height, char *error)
{
    const char *slash = strrchr(prefix, '/');
    const char *base = slash != NULL ? slash + 1 : prefix;
    size_t size = strlen(base) + strlen(name) + 2;
    *plot = (struct sim_plot){0};
    plot->folder = folder_of(prefix);
    plot->stem = sim_alloc(size);
    snprintf(plot->stem, size, "%s%s%s", base, base[0] != '\0' ? "-" : "", name);
    plot->script = create(plot, "gp", error);
    plot->data = plot->script != NULL ? create(plot, "dat", error) : NULL;
    if (plot->data == NULL) {
        release(plot);
        return GMC_ERR_IO;
    }
    begin_script(plot, width, height);
    return GMC_OK;
}

/* Closes both; errno of the first failure, 0: none. */
static int finish_files(struct sim_plot *plot)
{
    int reason = 0;
    fputs("}\nunset output\n", plot->script);
    FILE *files[] = {plot->script, plot->data};
    for (size_t i = 0; i < 2; i++) {
        bool failed = ferror(files[i]) != 0;
        if ((fclose(files[i]) != 0 || failed) && reason == 0)
            reason = errno != 0 ? errno : EIO;
    }
    plot->script = plot->data = NULL;
    return reason;
}

/* In the child. */
static void exec_gnuplot(const struct sim_plot *plot, char *script)
{
    char program[] = "gnuplot";
    char *arguments[] = {program, script, NULL};
    if (chdir(plot->folder) != 0)
        _exit(EXIT_FAILURE);
    execvp(program, arguments);
    _exit(EXIT_NOT_FOUND);
}

static gmc_status draw(const struct sim_plot *plot, char *error)
{
    char script[PATH_BYTES_MAX];
    int status = 0;
    snprintf(script, sizeof(script), "%s.gp", plot->stem);
    pid_t child = fork();
    if (child == 0)
        exec_gnuplot(plot, script);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS)
        return GMC_OK;
    if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NOT_FOUND)
        snprintf(error, SIM_PLOT_ERROR_MAX,
                 "gnuplot is not installed; the script and its data are written: %.100s/%.80s",
                 plot->folder, script);
    else
        snprintf(error, SIM_PLOT_ERROR_MAX, "gnuplot failed at %.100s/%.80s", plot->folder, script);
    return GMC_ERR_IO;
}

gmc_status sim_plot_close(struct sim_plot *plot, char *error)
{
    gmc_status status = GMC_OK;
    int reason = finish_files(plot);
    if (reason != 0) {
        snprintf(error, SIM_PLOT_ERROR_MAX, "%.100s/%.80s.gp: %s", plot->folder, plot->stem,
                 strerror(reason));
        status = GMC_ERR_IO;
    }
    if (status == GMC_OK)
        status = draw(plot, error);
    release(plot);
    return status;
}

void sim_plot_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
    }
    fputc('"', out);
}
