/* SPDX-License-Identifier: BSD-2-Clause */
/* What an experiment leaves behind: a table (CSV), pictures (gnuplot, when it is there), claims
 * with holds or does not hold and the figure, notes; and one page (HTML) over all of them. */
#ifndef EXPERIMENTS_REPORT_H
#define EXPERIMENTS_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sim-wan/out_file.h"

enum ex_kind { EX_FIGURE, EX_CLAIM, EX_NOTE };

struct ex_entry {
    enum ex_kind kind;
    bool holds;   /* claims */
    char *text;   /* figure: its caption; claim: what is claimed */
    char *detail; /* figure: its file, "" when it could not be drawn; claim: what was found */
};

struct ex_report {
    const char *folder; /* of everything */
    const char *name;   /* of its files */
    const char *title;
    const char *about; /* what is simulated, HTML */
    bool quick;
    bool lacks_files; /* one could not be written or drawn, which was said */
    struct sim_out_file csv, script;
    FILE *plot;     /* the script of the figure that is open */
    char stem[128]; /* of its files */
    struct ex_entry *entries;
    size_t count, capacity;
    uint64_t runs, events; /* simulated, by the experiment */
    double seconds;        /* of wall clock */
};

/* Opens FOLDER/NAME.csv. False, with words on standard error, when that cannot be. Borrows the
 * texts. */
bool ex_report_begin(struct ex_report *report, const char *folder, const char *name,
                     const char *title, const char *about);
/* Puts the table in its place. Without it the table of an earlier run stays. */
void ex_report_end(struct ex_report *report);
void ex_report_fini(struct ex_report *report);

/* One line of the table; the newline is added. */
void ex_row(struct ex_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Begins FOLDER/NAME-WHAT.gp, a script that has its style already and whose data stand in it as
 * blocks: the caller writes data and plot into report->plot. The end draws FOLDER/NAME-WHAT.png. */
void ex_figure_begin(struct ex_report *report, const char *what, const char *caption);
void ex_figure_end(struct ex_report *report);

/* A picture that was drawn otherwise: a file in the folder, "" when it could not be drawn. */
void ex_picture(struct ex_report *report, const char *caption, const char *file);

/* `claim` is a sentence of the source; the rest says what was found. */
void ex_claim(struct ex_report *report, bool holds, const char *claim, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void ex_note(struct ex_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What stands on top of the page. */
struct ex_page {
    const char *title;
    const char *about; /* HTML */
};

/* FOLDER/index.html over these reports, and their claims in FOLDER/claims.csv. False, with words,
 * when they, or a table, cannot be written. */
bool ex_overview(const char *folder, const struct ex_page *page, const struct ex_report *reports,
                 size_t count);

#endif
