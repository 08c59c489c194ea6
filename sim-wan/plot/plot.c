/* SPDX-License-Identifier: BSD-2-Clause */
/* Pictures by gnuplot; see plot.h. */
#include "sim-wan/plot/plot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim-wan/mem.h"

#define PATH_BYTES_MAX 4096

static void fail(const struct sim_plot *plot, const char *extension, char *error)
{
    snprintf(error, SIM_PLOT_ERROR_MAX, "%.120s/%.80s.%s: %s", plot->folder, plot->stem, extension,
             strerror(errno));
}

static bool create(const struct sim_plot *plot, const char *extension, struct sim_out_file *out,
                   char *error)
{
    char path[PATH_BYTES_MAX];
    int len = snprintf(path, sizeof(path), "%s/%s.%s", plot->folder, plot->stem, extension);
    errno = ENAMETOOLONG;
    if (len > 0 && (size_t)len < sizeof(path) && sim_out_open(out, path))
        return true;
    fail(plot, extension, error);
    return false;
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
            "if (kind eq \"svg\") {\nset terminal svg noenhanced size %u,%u dynamic "
            "background rgb \"white\" font \"Helvetica,14\"\n",
            width, height);
    sim_gnuplot_output(out, plot->stem, "svg");
    fprintf(out,
            "}\nif (kind eq \"png\") {\nset terminal pngcairo noenhanced size %u,%u "
            "background rgb \"white\" font \"Helvetica,11\"\n",
            width, height);
    sim_gnuplot_output(out, plot->stem, "png");
    fputs("}\ndata = ", out);
    sim_gnuplot_text(out, plot->stem);
    fputs(".\".dat\"\n", out);
    set_colours(out);
}

static void release(struct sim_plot *plot)
{
    (void)sim_out_close(&plot->script_file, false);
    (void)sim_out_close(&plot->data_file, false);
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
    if (!create(plot, "gp", &plot->script_file, error) ||
        !create(plot, "dat", &plot->data_file, error)) {
        release(plot);
        return GMC_ERR_IO;
    }
    plot->script = plot->script_file.file;
    plot->data = plot->data_file.file;
    begin_script(plot, width, height);
    return GMC_OK;
}

/* A script takes its place when its data are there. */
static gmc_status finish_files(struct sim_plot *plot, char *error)
{
    fputs("}\nunset output\n", plot->script);
    if (!sim_out_close(&plot->data_file, true))
        fail(plot, "dat", error);
    else if (!sim_out_close(&plot->script_file, true))
        fail(plot, "gp", error);
    else
        return GMC_OK;
    return GMC_ERR_IO;
}

gmc_status sim_plot_close(struct sim_plot *plot, char *error)
{
    static const char *const kinds[] = {"svg", "png"};
    gmc_status status = finish_files(plot, error);
    if (status == GMC_OK)
        status = sim_gnuplot_draw(plot->folder, plot->stem, kinds, 2, error);
    release(plot);
    return status;
}
