/* SPDX-License-Identifier: BSD-2-Clause */
/* gatewayd: reads its options and wires the parts. */
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config.h"
#include "gatewayd/gatewayd.h"

#ifndef GWD_CONF_FILE
#define GWD_CONF_FILE "/etc/gmcast/gatewayd.conf"
#endif

static const char usage[] =
    "usage: gatewayd [options]\n"
    "The gateway of a domain: receives, forwards and stages data for it.\n"
    "\n"
    "  -c, --config FILE   configuration (default " GWD_CONF_FILE ")\n"
    "  -T, --test          check the configuration and exit\n"
    "      --defaults      print every option with its default and meaning\n"
    "      --record FILE   record the core's inputs for gmcast-replay (holds keys and data)\n"
    "      --discard       benchmarks: hash nothing, store nothing that is received\n"
    "  -h, --help          this text\n"
    "  -V, --version       the version\n"
    "\n"
    "SIGHUP reads the configuration, certificates and revocation lists again; SIGTERM and SIGINT\n"
    "stop, a second one at once.\n";

enum { OPT_DEFAULTS = 256, OPT_RECORD, OPT_DISCARD };

static const struct option options[] = {
    {"config", required_argument, NULL, 'c'},      {"test", no_argument, NULL, 'T'},
    {"defaults", no_argument, NULL, OPT_DEFAULTS}, {"record", required_argument, NULL, OPT_RECORD},
    {"discard", no_argument, NULL, OPT_DISCARD},   {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},           {NULL, 0, NULL, 0}};

/* -1: go on; else exit with it. */
static int parse(int argc, char **argv, struct gwd_options *out, bool *test)
{
    int option;
    while ((option = getopt_long(argc, argv, "c:ThV", options, NULL)) != -1) {
        switch (option) {
        case 'c':
            out->file = optarg;
            break;
        case 'T':
            *test = true;
            break;
        case OPT_DEFAULTS:
            gwd_conf_print_defaults(stdout);
            return 0;
        case OPT_RECORD:
            out->record = optarg;
            break;
        case OPT_DISCARD:
            out->discard_data = true;
            break;
        case 'h':
            (void)fputs(usage, stdout);
            return 0;
        case 'V':
            (void)puts("gatewayd (gmcast) " PACKAGE_VERSION);
            return 0;
        default:
            (void)fputs("gatewayd: see gatewayd --help\n", stderr);
            return 1;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "gatewayd: unexpected argument '%s'; see gatewayd --help\n", argv[optind]);
        return 1;
    }
    return -1;
}

/* Gateways, streams and workers on one machine wake each other for each batch of datagrams. With
 * SCHED_BATCH whoever is woken waits until the one that runs is through: larger batches, and a
 * twentieth of the context switches. A policy that the administrator chose stays. */
static void let_others_finish(void)
{
    const struct sched_param none = {0};
    if (sched_getscheduler(0) == SCHED_OTHER)
        (void)sched_setscheduler(0, SCHED_BATCH, &none);
}

int main(int argc, char **argv)
{
    struct gwd_options chosen = {.file = GWD_CONF_FILE};
    struct gwd_errors errors = {0};
    bool test = false;
    int status = parse(argc, argv, &chosen, &test);
    if (status >= 0)
        return status;
    struct gwd_conf *conf = gwd_conf_read(chosen.file, &errors);
    if (conf == NULL || !gwd_conf_check(conf, &errors)) {
        gwd_errors_print(&errors, stderr);
        gwd_errors_clear(&errors);
        gwd_conf_free(conf);
        return 1;
    }
    if (test) {
        printf("%s: good\n", chosen.file);
        gwd_conf_free(conf);
        return 0;
    }
    (void)umask(022);
    let_others_finish(); /* before there is a second thread */
    struct gwd_log *log = gwd_log_new(conf->log_file, (enum gmc_trace_level)conf->log);
    if (log == NULL) {
        fprintf(stderr, "gatewayd: log_file %s: %s\n", conf->log_file, strerror(errno));
        gwd_conf_free(conf);
        return 1;
    }
    struct gwd *gwd = gwd_new(&chosen, conf, log);
    if (gwd == NULL)
        return 1;
    status = gwd_run(gwd);
    gwd_free(gwd);
    return status;
}
