/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables, claims and pictures of one experiment. */
#include "experiments/report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim-wan/mem.h"

#define TEXT_MAX 1024

static FILE *open_file(const struct ex_report *report, const char *what, const char *suffix)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s%s%s", report->folder, report->name, what, suffix);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        fprintf(stderr, "cannot write %s: %s\n", path, strerror(errno));
    return file;
}

bool ex_report_begin(struct ex_report *report, const char *folder, const char *name,
                     const char *title, const char *about)
{
    report->folder = folder;
    report->name = name;
    report->title = title;
    report->about = about;
    report->csv = open_file(report, "", ".csv");
    return report->csv != NULL;
}

void ex_report_fini(struct ex_report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        free(report->entries[i].text);
        free(report->entries[i].detail);
    }
    free(report->entries);
    if (report->csv != NULL)
        fclose(report->csv);
    *report = (struct ex_report){0};
}

void ex_row(struct ex_report *report, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(report->csv, format, args);
    va_end(args);
    fputc('\n', report->csv);
}

static void add(struct ex_report *report, enum ex_kind kind, bool holds, const char *text,
                const char *detail)
{
    report->entries =
        sim_reserve(report->entries, report->count, &report->capacity, sizeof(*report->entries));
    report->entries[report->count++] =
        (struct ex_entry){kind, holds, sim_strdup(text), sim_strdup(detail)};
}

void ex_claim(struct ex_report *report, bool holds, const char *claim, const char *format, ...)
{
    char detail[TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(detail, sizeof(detail), format, args);
    va_end(args);
    add(report, EX_CLAIM, holds, claim, detail);
    printf("  %-14s %s\n                 %s\n", holds ? "holds" : "DOES NOT HOLD", claim, detail);
}

void ex_note(struct ex_report *report, const char *format, ...)
{
    char text[TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    add(report, EX_NOTE, true, text, "");
}

/* ---- pictures ---- */
/* Colours that the colour-blind tell apart too (Okabe and Ito 2008). */
static const char style[] =
    "set terminal pngcairo size 1000,560 font 'DejaVu Sans,11' background '#ffffff'\n"
    "set border 3 lc rgb '#666666'\nset tics nomirror textcolor rgb '#333333'\n"
    "set grid ytics lc rgb '#dddddd' lt 1\nset key outside right top spacing 1.2\n"
    "set linetype 1 lc rgb '#0072b2' lw 2.5 pt 7 ps 1.1\n"
    "set linetype 2 lc rgb '#d55e00' lw 2.5 pt 5 ps 1.1\n"
    "set linetype 3 lc rgb '#009e73' lw 2.5 pt 9 ps 1.2\n"
    "set linetype 4 lc rgb '#cc79a7' lw 2.5 pt 11 ps 1.2\n"
    "set linetype 5 lc rgb '#e69f00' lw 2.5 pt 13 ps 1.3\n"
    "set linetype 6 lc rgb '#56b4e9' lw 2.5 pt 6 ps 1.1\n"
    "set linetype 7 lc rgb '#555555' lw 2.5 pt 4 ps 1.1\n"
    "set linetype 8 lc rgb '#a8a000' lw 2.5 pt 8 ps 1.2\n"
    "set linetype cycle 8\n";

void ex_figure_begin(struct ex_report *report, const char *what, const char *caption)
{
    snprintf(report->plot_name, sizeof(report->plot_name), "-%s", what);
    report->plot = open_file(report, report->plot_name, ".gp");
    add(report, EX_FIGURE, true, caption, "");
    if (report->plot == NULL)
        report->plot = fopen("/dev/null", "w");
    fputs(style, report->plot);
    fprintf(report->plot, "set output '%s%s.png'\n", report->name, report->plot_name);
}

/* gnuplot in the folder. 127: it is not there. */
static int draw(const struct ex_report *report)
{
    char script[128];
    int status = 0;
    snprintf(script, sizeof(script), "%s%s.gp", report->name, report->plot_name);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        if (chdir(report->folder) != 0)
            _exit(1);
        execlp("gnuplot", "gnuplot", script, (char *)NULL);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
        return 1;
    return WEXITSTATUS(status);
}

void ex_picture(struct ex_report *report, const char *caption, const char *file)
{
    add(report, EX_FIGURE, true, caption, file);
}

void ex_figure_end(struct ex_report *report)
{
    static bool has_said;
    struct ex_entry *figure = &report->entries[report->count - 1];
    fclose(report->plot);
    report->plot = NULL;
    int status = draw(report);
    if (status == 0) {
        char file[128];
        free(figure->detail);
        snprintf(file, sizeof(file), "%s%s.png", report->name, report->plot_name);
        figure->detail = sim_strdup(file);
    } else if (status != 127) {
        fprintf(stderr, "gnuplot could not draw %s%s.gp\n", report->name, report->plot_name);
    } else if (!has_said) {
        has_said = true;
        fprintf(stderr, "gnuplot is not installed; the scripts (.gp) are there, the "
                        "pictures are not\n");
    }
}
