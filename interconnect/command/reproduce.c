/* SPDX-License-Identifier: BSD-2-Clause */
/* reproduce: the published figures and tables, their claims, and a page of all. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "interconnect/command/command.h"
#include "interconnect/command/study.h"
#include "sim-wan/mem.h"

#define NAME "reproduce"

static const struct ex_page page = {
    "Interconnects, as published",
    "Figures and tables of Oral 2003, Javadi et al. 2006, Patooghy and Sarbazi-Azad, Kim, Yum and "
    "Das 2005 and Mehta 2005, computed and simulated again."};

static const struct option table[] = {
    {"out", required_argument, NULL, 'o'},  {"quick", no_argument, NULL, 'Q'},
    {"jobs", required_argument, NULL, 'j'}, {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},       {NULL, 0, NULL, 0},
};

static void print_help(void)
{
    puts("Usage: gmcast-interconnect reproduce [OPTIONS] [FIGURE]...\n"
         "Makes published figures and tables again: CSV, picture, and each claim with whether it\n"
         "holds and what was found. The page over them is FOLDER/index.html.\n"
         "\n"
         "  --out FOLDER  everything goes there; default: interconnect-out\n"
         "  --quick       shorter simulations\n"
         "  --jobs N      processes; default: one per core\n"
         "  --quiet       no progress bar\n"
         "\n"
         "Figures (all, when none is named):");
    for (size_t i = 0; i < ic_study_count; i++)
        printf("  %-12s %s\n", ic_studies[i]->name, ic_studies[i]->title);
}

static int take(struct ic_study_options *options, int letter)
{
    uint64_t workers;
    switch (letter) {
    case 'o':
        options->folder = optarg;
        return IC_DONE;
    case 'Q':
        options->is_quick = true;
        return IC_DONE;
    case 'q':
        options->is_quiet = true;
        return IC_DONE;
    case 'j':
        if (ic_read_count(NAME, "jobs", optarg, 1, &workers) != IC_DONE)
            return IC_BAD;
        options->workers = workers;
        return IC_DONE;
    default:
        fputs("Try: gmcast-interconnect reproduce --help\n", stderr);
        return IC_BAD;
    }
}

static double wall(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static const struct ic_study *find(const char *name)
{
    for (size_t i = 0; i < ic_study_count; i++)
        if (strcmp(ic_studies[i]->name, name) == 0)
            return ic_studies[i];
    return NULL;
}

static bool run_one(const struct ic_study *study, const struct ic_study_options *options,
                    struct ex_report *report)
{
    double began = wall();
    printf("%s: %s\n", study->name, study->title);
    fflush(stdout);
    report->quick = options->is_quick;
    bool ok = ic_study_run(study, options, report);
    if (ok)
        ex_report_end(report);
    report->seconds = wall() - began;
    return ok;
}

static int run_all(const struct ic_study *const *studies, size_t count,
                   const struct ic_study_options *options)
{
    struct ex_report *reports = sim_calloc(count, sizeof(*reports));
    bool ok = true;
    if (sim_mpi_is_root() && mkdir(options->folder, 0777) != 0 && errno != EEXIST) {
        free(reports);
        return ic_bad(NAME, "cannot make %s: %s", options->folder, strerror(errno));
    }
    for (size_t i = 0; i < count && ok; i++)
        ok = run_one(studies[i], options, &reports[i]);
    if (sim_mpi_is_root())
        ok = ok && ex_overview(options->folder, &page, reports, count);
    for (size_t i = 0; i < count; i++)
        ex_report_fini(&reports[i]);
    free(reports);
    if (ok)
        printf("overview: %s/index.html\n", options->folder);
    int status = ic_finish_output(NAME);
    return ok ? status : IC_BAD;
}

int ic_command_reproduce(int argc, char **argv)
{
    struct ic_study_options options = {.folder = "interconnect-out"};
    int letter, status = IC_DONE;
    optind = 1;
    while (status == IC_DONE && (letter = getopt_long(argc, argv, "h", table, NULL)) != -1) {
        if (letter == 'h') {
            print_help();
            return IC_DONE;
        }
        status = take(&options, letter);
    }
    if (status != IC_DONE)
        return status;
    if (optind == argc)
        return run_all(ic_studies, ic_study_count, &options);
    size_t count = (size_t)(argc - optind);
    const struct ic_study **chosen = sim_calloc(count, sizeof(*chosen));
    for (size_t i = 0; i < count && status == IC_DONE; i++) {
        chosen[i] = find(argv[optind + (int)i]);
        if (chosen[i] == NULL)
            status = ic_bad(NAME, "no figure is called '%s'; see --help", argv[optind + (int)i]);
    }
    if (status == IC_DONE)
        status = run_all(chosen, count, &options);
    free(chosen);
    return status;
}
