/* SPDX-License-Identifier: BSD-2-Clause */
/* What gatewayd and gmcast-noded do alike: read their options, check the configuration, run. */
#include "gatewayd/program.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config.h"
#include "gatewayd/doctor.h"
#include "gatewayd/gatewayd.h"
#include "gatewayd/policy.h"

static const char usage[] =
    "usage: %s [options]\n"
    "%s\n"
    "\n"
    "  -c, --config FILE   configuration (default %s)\n"
    "  -T, --test          check the configuration and exit\n"
    "      --doctor        what gmcast doctor asks while this does not run: JSON lines\n"
    "      --defaults      print every option with its default and meaning\n"
    "      --record FILE   record the core's inputs for gmcast-replay (holds keys and data)\n"
    "      --discard       benchmarks: hash nothing, store nothing that is received\n"
    "  -h, --help          this text\n"
    "  -V, --version       the version\n"
    "\n"
    "SIGHUP reads the configuration, certificates and revocation lists again; SIGTERM and SIGINT\n"
    "stop, a second one at once.\n";

enum { OPT_DEFAULTS = 256, OPT_RECORD, OPT_DISCARD, OPT_DOCTOR };

static const struct option options[] = {{"config", required_argument, NULL, 'c'},
                                        {"test", no_argument, NULL, 'T'},
                                        {"defaults", no_argument, NULL, OPT_DEFAULTS},
                                        {"doctor", no_argument, NULL, OPT_DOCTOR},
                                        {"record", required_argument, NULL, OPT_RECORD},
                                        {"discard", no_argument, NULL, OPT_DISCARD},
                                        {"help", no_argument, NULL, 'h'},
                                        {"version", no_argument, NULL, 'V'},
                                        {NULL, 0, NULL, 0}};

/* What to do instead of running. */
struct instead {
    bool test, doctor;
};

/* -1: go on; else exit with it. */
static int parse(const struct gwd_program *program, int argc, char **argv, struct gwd_options *out,
                 struct instead *instead)
{
    int option;
    while ((option = getopt_long(argc, argv, "c:ThV", options, NULL)) != -1) {
        switch (option) {
        case 'c':
            out->file = optarg;
            break;
        case 'T':
            instead->test = true;
            break;
        case OPT_DOCTOR:
            instead->doctor = true;
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
            (void)printf(usage, program->name, program->text, program->file);
            return 0;
        case 'V':
            (void)printf("%s (gmcast) " PACKAGE_VERSION "\n", program->name);
            return 0;
        default:
            fprintf(stderr, "%s: see %s --help\n", program->name, program->name);
            return 1;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "%s: unexpected argument '%s'; see %s --help\n", program->name,
                argv[optind], program->name);
        return 1;
    }
    return -1;
}

static int examine(const char *file)
{
    struct gmc_findings findings = {0};
    gwd_doctor_without_daemon(&findings, file);
    bool ok = gwd_doctor_print(&findings, stdout);
    gmc_findings_clear(&findings);
    return ok ? 0 : 1;
}

/* Each program has its kind of configuration. */
static bool is_for(const struct gwd_program *program, const struct gwd_conf *conf,
                   struct gwd_errors *errors)
{
    bool is_node = conf->node_of[0] != '\0';
    if (is_node == program->is_node)
        return true;
    gwd_errors_add(errors, conf->file, gwd_conf_line(conf, GWD_TOP, "node_of"),
                   is_node ? "node_of is for gmcast-noded; a gateway has none"
                           : "'node_of' is missing: the domain whose node this is");
    return false;
}

int gwd_program_main(const struct gwd_program *program, int argc, char **argv)
{
    struct gwd_options chosen = {.file = program->file};
    struct gwd_errors errors = {0};
    struct instead instead = {0};
    int status = parse(program, argc, argv, &chosen, &instead);
    if (status >= 0)
        return status;
    if (instead.doctor)
        return examine(chosen.file);
    struct gwd_conf *conf = gwd_conf_read(chosen.file, &errors);
    bool good = conf != NULL && is_for(program, conf, &errors) && gwd_conf_check(conf, &errors);
    bool receives = conf == NULL || gwd_conf_check_receives(conf, &errors);
    if (!good || instead.test) {
        gwd_errors_print(&errors, stderr);
        if (good)
            printf("%s: good%s\n", chosen.file, receives ? "" : ", but not all can be received");
        gwd_errors_clear(&errors);
        gwd_conf_free(conf);
        return good ? 0 : 1;
    }
    gwd_errors_clear(&errors); /* of what is received: for the log, when it runs */
    (void)umask(022);
    chosen.batches = gwd_policy_batch(); /* before there is a second thread */
    struct gwd_log *log = gwd_log_new(conf->log_file, (enum gmc_trace_level)conf->log);
    if (log == NULL) {
        fprintf(stderr, "%s: log_file %s: %s\n", program->name, conf->log_file, strerror(errno));
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
