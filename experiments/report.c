/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables, claims and pictures of one experiment. */
#include "experiments/report.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/status.h"
#include "experiments/file.h"
#include "sim-wan/mem.h"
#include "sim-wan/plot/gnuplot.h"

#define TEXT_MAX 1024

bool ex_report_begin(struct ex_report *report, const char *folder, const char *name,
                     const char *title, const char *about)
{
    report->folder = folder;
    report->name = name;
    report->title = title;
    report->about = about;
    return ex_file_open(&report->csv, folder, "%s.csv", name);
}

void ex_report_end(struct ex_report *report)
{
    if (!ex_file_close(&report->csv))
        report->lacks_files = true;
}

void ex_report_fini(struct ex_report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        free(report->entries[i].text);
        free(report->entries[i].detail);
    }
    free(report->entries);
    (void)sim_out_close(&report->csv, false);
    *report = (struct ex_report){0};
}

void ex_row(struct ex_report *report, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(report->csv.file, format, args);
    va_end(args);
    fputc('\n', report->csv.file);
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
    snprintf(report->stem, sizeof(report->stem), "%s-%s", report->name, what);
    add(report, EX_FIGURE, true, caption, "");
    bool is_open = ex_file_open(&report->script, report->folder, "%s.gp", report->stem);
    report->plot = is_open ? report->script.file : fopen("/dev/null", "we");
    fputs(style, report->plot);
    sim_gnuplot_output(report->plot, report->stem, "png");
}

void ex_picture(struct ex_report *report, const char *caption, const char *file)
{
    add(report, EX_FIGURE, true, caption, file);
}

static gmc_status draw(struct ex_report *report)
{
    static const char *const kinds[] = {"png"};
    static bool has_said;
    char error[SIM_GNUPLOT_ERROR_MAX] = "";
    gmc_status status = sim_gnuplot_draw(report->folder, report->stem, kinds, 1, error);
    if (status == GMC_ERR_NOT_FOUND && !has_said)
        fputs("gnuplot is not installed; the scripts (.gp) are there, the pictures are not\n",
              stderr);
    else if (status != GMC_OK && status != GMC_ERR_NOT_FOUND)
        fprintf(stderr, "%s\n", error);
    has_said = has_said || status == GMC_ERR_NOT_FOUND;
    return status;
}

void ex_figure_end(struct ex_report *report)
{
    struct ex_entry *figure = &report->entries[report->count - 1];
    gmc_status status = GMC_ERR_IO;
    if (report->script.file == NULL)
        (void)fclose(report->plot);
    else if (ex_file_close(&report->script))
        status = draw(report);
    report->plot = NULL;
    if (status == GMC_OK) {
        char file[sizeof(report->stem) + 4];
        free(figure->detail);
        snprintf(file, sizeof(file), "%s.png", report->stem);
        figure->detail = sim_strdup(file);
    } else if (status != GMC_ERR_NOT_FOUND) {
        report->lacks_files = true;
    }
}
