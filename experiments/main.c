/* SPDX-License-Identifier: BSD-2-Clause */
/* experiments: runs the experiments that are named, or all, and writes what they found into a
 * folder. `make experiments` calls it. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "experiments/experiment.h"

static const struct ex_experiment *const experiments[] = {&ex_case1,  &ex_case2, &ex_shapes,
                                                          &ex_sweeps, &ex_relay, &ex_map};
static const struct ex_page page = {
    "gmcast experiments", "Published case studies and sweeps of our own, simulated event by event "
                          "with the protocol core that the gateways run."};
#define EXPERIMENTS (sizeof(experiments) / sizeof(experiments[0]))

static void usage(FILE *out)
{
    fputs("experiments [--out FOLDER] [--quick] [--jobs N] [--topology FILE] [NAME...]\n"
          "  --out FOLDER     tables, pictures and index.html go there; default: experiments-out\n"
          "  --quick          fewer points, smaller objects\n"
          "  --jobs N         runs at once; default: one per core\n"
          "  --topology FILE  a map for the experiment `map` (GML, GraphML, or our own form)\n",
          out);
    for (size_t i = 0; i < EXPERIMENTS; i++)
        fprintf(out, "  %-8s %s\n", experiments[i]->name, experiments[i]->summary);
}

static bool parse_jobs(const char *text, unsigned *jobs)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || n < 1 || n > 1024) {
        fprintf(stderr, "experiments: --jobs is '%s'; it must be 1 to 1024\n", text);
        return false;
    }
    *jobs = (unsigned)n;
    return true;
}

/* Said before anything runs, not minutes later. */
static bool make_folder(const char *folder)
{
    struct stat status;
    if (mkdir(folder, 0777) == 0 || (errno == EEXIST && stat(folder, &status) == 0 &&
                                     S_ISDIR(status.st_mode) && access(folder, W_OK | X_OK) == 0))
        return true;
    fprintf(stderr, "experiments: cannot write into %s: %s; --out names another folder\n", folder,
            strerror(errno == EEXIST ? ENOTDIR : errno));
    return false;
}

static bool check(const struct ex_experiment **chosen, size_t count,
                  const struct ex_options *options)
{
    bool ok = true;
    for (size_t i = 0; i < count; i++)
        ok = (chosen[i]->check == NULL || chosen[i]->check(options)) && ok;
    return ok && make_folder(options->folder);
}

/* 1: go on; 0: done; -1: wrong. */
static int parse_options(int argc, char **argv, struct ex_options *options)
{
    static const struct option names[] = {{"out", required_argument, NULL, 'o'},
                                          {"quick", no_argument, NULL, 'q'},
                                          {"jobs", required_argument, NULL, 'j'},
                                          {"topology", required_argument, NULL, 't'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int letter;
    while ((letter = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (letter) {
        case 'o':
            options->folder = optarg;
            break;
        case 'q':
            options->quick = true;
            break;
        case 'j':
            if (!parse_jobs(optarg, &options->parallel))
                return -1;
            break;
        case 't':
            options->topology = optarg[0] != '\0' ? optarg : NULL;
            break;
        case 'h':
            usage(stdout);
            return 0;
        default:
            usage(stderr);
            return -1;
        }
    }
    return 1;
}

/* Those that are named, in order; all when none is. */
static size_t choose(char **names, int count, const struct ex_experiment **chosen)
{
    size_t n = 0;
    for (int i = 0; i < count; i++) {
        size_t at = 0;
        while (at < EXPERIMENTS && strcmp(experiments[at]->name, names[i]) != 0)
            at++;
        if (at == EXPERIMENTS) {
            fprintf(stderr, "experiments: no experiment is called '%s'\n", names[i]);
            usage(stderr);
            return 0;
        }
        if (n < EXPERIMENTS)
            chosen[n++] = experiments[at];
    }
    for (size_t i = 0; count == 0 && i < EXPERIMENTS; i++)
        chosen[n++] = experiments[i];
    return n;
}

static bool run(const struct ex_experiment *experiment, const struct ex_options *options,
                struct ex_report *report)
{
    struct timespec begin, end;
    printf("%s: %s\n", experiment->name, experiment->summary);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    report->quick = options->quick;
    if (!experiment->run(options, report))
        return false;
    ex_report_end(report);
    clock_gettime(CLOCK_MONOTONIC, &end);
    report->seconds =
        (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
    printf("  %" PRIu64 " runs, %" PRIu64 " events, %.1f s\n", report->runs, report->events,
           report->seconds);
    return true;
}

int main(int argc, char **argv)
{
    struct ex_report reports[EXPERIMENTS] = {0};
    const struct ex_experiment *chosen[EXPERIMENTS];
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct ex_options options = {.folder = "experiments-out",
                                 .parallel = cores > 0 ? (unsigned)cores : 1};
    int go = parse_options(argc, argv, &options);
    if (go <= 0)
        return go == 0 ? 0 : 2;
    size_t count = choose(argv + optind, argc - optind, chosen);
    if (count == 0)
        return 2;
    if (!check(chosen, count, &options))
        return 1;
    /* What others found is kept when one fails. */
    size_t good = 0;
    for (size_t i = 0; i < count; i++) {
        if (run(chosen[i], &options, &reports[good])) {
            good++;
            continue;
        }
        fprintf(stderr, "experiments: %s failed, and is not on the page\n", chosen[i]->name);
        ex_report_fini(&reports[good]);
    }
    bool ok = ex_overview(options.folder, &page, reports, good) && good == count;
    for (size_t i = 0; i < good; i++)
        ex_report_fini(&reports[i]);
    if (ok)
        printf("overview: %s/index.html\n", options.folder);
    return ok ? 0 : 1;
}
