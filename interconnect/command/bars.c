/* SPDX-License-Identifier: BSD-2-Clause */
/* Bars by gnuplot. */
#include "interconnect/command/bars.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "experiments/file.h"
#include "sim-wan/plot/gnuplot.h"

#define NAME_WIDTH 6u /* characters that have room below the bars of a row */

void ic_bars_add(struct ic_bars *bars, const char *name, const double *values)
{
    GMC_ASSERT(bars->series_count <= IC_BARS_SERIES_MAX);
    bars->rows++;
    if (strlen(name) > bars->longest)
        bars->longest = strlen(name);
    ic_text_add(&bars->csv, "%s", name);
    ic_text_add(&bars->data, "\"%s\"", name);
    for (size_t i = 0; i < bars->series_count; i++) {
        if (isfinite(values[i]))
            ic_text_add(&bars->csv, ",%.10g", values[i]);
        else
            ic_text_add(&bars->csv, ",none");
        ic_text_add(&bars->data, " %.10g", values[i]);
    }
    ic_text_add(&bars->csv, "\n");
    ic_text_add(&bars->data, "\n");
}

static void put_unit(FILE *out, const char *unit)
{
    if (unit[0] != '\0')
        fprintf(out, " [%s]", unit);
}

static void put_csv(const struct ic_bars *bars, FILE *file)
{
    fputs(bars->row, file);
    for (size_t i = 0; i < bars->series_count; i++) {
        fprintf(file, ",%s", bars->series[i]);
        put_unit(file, bars->unit);
    }
    fprintf(file, "\n%s", bars->csv.bytes);
}

static bool write_csv(const struct ic_bars *bars, const struct ex_report *report)
{
    struct sim_out_file out;
    if (!ex_file_open(&out, report->folder, "%s-%s.csv", report->name, bars->what))
        return false;
    put_csv(bars, out.file);
    return ex_file_close(&out);
}

static void draw(const struct ic_bars *bars, struct ex_report *report)
{
    ex_figure_begin(report, bars->what, bars->caption);
    FILE *out = report->plot;
    fprintf(out, "$rows << END\n%sEND\n", bars->data.bytes);
    fputs("set style data histograms\nset style fill solid 0.8\nset yrange [0:*]\nset xlabel ",
          out);
    sim_gnuplot_text(out, bars->row);
    if (bars->longest > NAME_WIDTH)
        fputs("\nset xtics rotate by -30", out);
    fputs("\nset ylabel ", out);
    sim_gnuplot_text(out, bars->unit);
    fputs("\nplot", out);
    for (size_t i = 0; i < bars->series_count; i++) {
        fprintf(out, "%s $rows using %zu%s title ", i > 0 ? "," : "", i + 2,
                i == 0 ? ":xtic(1)" : "");
        sim_gnuplot_text(out, bars->series[i]);
    }
    fputc('\n', out);
    ex_figure_end(report);
}

bool ic_bars_end(struct ic_bars *bars, struct ex_report *report)
{
    bool is_good = !bars->csv.is_short && !bars->data.is_short;
    if (!is_good)
        fputs("no memory for a table\n", stderr);
    is_good = is_good && write_csv(bars, report);
    if (is_good) {
        ex_row(report, "%s-%s.csv,none,%zu", report->name, bars->what, bars->rows);
        draw(bars, report);
    }
    ic_text_fini(&bars->csv);
    ic_text_fini(&bars->data);
    return is_good;
}
