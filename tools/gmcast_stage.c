/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns `gmcast stage`: what is to go where. */
#include "tools/gmcast.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/report.h"
#include "tools/session.h"
#include "tools/targets.h"
#include "tools/text.h"

static const char help[] =
    "Usage: gmcast stage SOURCE... --to TARGET[,TARGET...] [OPTIONS]\n"
    "Sends files or directory trees to many domains and waits until each has verified them.\n"
    "\n"
    "SOURCE is a local path, or DOMAIN:PATH for data that another domain holds and lets us stage\n"
    "(write ./a:b for a local name with a colon). TARGET is DOMAIN[/NODES][:PATH], by name or\n"
    "alias. NODES is nodes (all of the domain's), gateway (none), shared (one storage) or\n"
    "NODE+NODE...; else as the domain is configured. PATH is beneath the directory that the\n"
    "domain grants us: x/ puts the sources into x, x is the new name of a single source, none\n"
    "puts them into the granted directory. Nothing there is overwritten. A comma in PATH is\n"
    "written \\,\n"
    "\n"
    "  -t, --to TARGET[,...]  where to; may be given several times\n"
    "  -i, --into PATH        the same directory at all targets that name none\n"
    "  -T, --tree SHAPE       bulk (the default: from the uplinks), eco (from measured\n"
    "                         latencies), flat, binomial, binary or chain\n"
    "  -r, --rate RATE        no link carries more than this: 200M, 1.5G (bit/s) or 50MB/s\n"
    "  -b, --background       yield to everyone else: use what others leave of the paths\n"
    "  -n, --plan             send nothing: measure, and print the trees, the time that is\n"
    "                         predicted, and what limits it\n"
    "  -d, --detach           print the channel and end once it is saved; see gmcast watch\n"
    "      --json             JSON lines (also when the output is not a terminal)\n"
    "      --plain            a line per event and a table, for logs\n"
    "\n"
    "An interrupt leaves the transfer running. Exit status: 0 complete everywhere, 1 could not\n"
    "start, 2 complete at some, 3 cancelled, 4 interrupted while the transfer goes on. With\n"
    "--plan: 0 for all domains, 1 no plan, 2 for those that can be reached.";

/* Asking twice would begin two transfers, so this one is patient. */
#define STAGE_TIMEOUT_MS 15000
#define POLL_TIMEOUT_MS 5000

struct stage_options {
    struct targets targets;
    const char *into;
    const char *shape;
    uint64_t rate_bps;
    bool background;
    bool plan;
    bool detach;
    enum session_output output;
};

/* Sources as the gateway wants them. */
struct sources {
    char **paths;
    size_t count;
    char *from; /* NULL: local */
};

static void sources_free(struct sources *sources)
{
    for (size_t i = 0; i < sources->count; i++)
        free(sources->paths[i]);
    free(sources->paths);
    free(sources->from);
}

/* A word of the command line; false after a message. */
static bool sources_add(struct sources *sources, const char *word)
{
    char *domain, *path, *absolute;

    if (word[0] == '\0') {
        gmcast_usage_error("stage", "\"\" is no source: a variable may be empty");
        return false;
    }
    if (!text_split_place(word, &domain, &path)) {
        gmcast_error("out of memory");
        return false;
    }
    if (sources->count > 0 && ((domain == NULL) != (sources->from == NULL) ||
                               (domain != NULL && strcmp(domain, sources->from) != 0))) {
        gmcast_usage_error("stage", "all sources have to be at one domain: stage \"%s\" by itself",
                           word);
        free(domain);
        free(path);
        return false;
    }
    absolute = domain != NULL ? path : text_absolute(path);
    if (absolute == NULL)
        gmcast_error("cannot find %s: %s", word, strerror(errno));
    if (domain == NULL)
        free(path);
    if (sources->from == NULL)
        sources->from = domain;
    else
        free(domain);
    if (absolute == NULL)
        return false;
    sources->paths[sources->count++] = absolute;
    return true;
}

/* A wrong name is found here at once; whether the gateway may read it is found there. */
static bool source_exists(const struct gmcast_globals *globals, const char *path, const char *word)
{
    struct stat st;

    if (strncmp(globals->gateway, "ipc:", 4) != 0 || lstat(path, &st) == 0 ||
        (errno != ENOENT && errno != ENOTDIR))
        return true;
    gmcast_error("cannot find %s: %s", word, strerror(errno));
    return false;
}

static bool sources_parse(const struct gmcast_globals *globals, int count, char **words,
                          struct sources *sources)
{
    *sources = (struct sources){calloc((size_t)count + 1, sizeof(char *)), 0, NULL};
    if (sources->paths == NULL) {
        gmcast_error("out of memory");
        return false;
    }
    for (int i = 0; i < count; i++) {
        if (!sources_add(sources, words[i]) ||
            (sources->from == NULL && !source_exists(globals, sources->paths[i], words[i])))
            return false;
    }
    return true;
}

static int take_option(int found, struct stage_options *options)
{
    switch (found) {
    case 't':
        return targets_parse(&options->targets, optarg, "stage");
    case 'i':
        options->into = optarg;
        return EXIT_COMPLETE;
    case 'T':
        options->shape = optarg;
        return EXIT_COMPLETE;
    case 'r':
        if (text_parse_rate(optarg, &options->rate_bps))
            return EXIT_COMPLETE;
        return gmcast_usage_error("stage",
                                  "\"%s\" is no rate: write e.g. 200M or 1.5G (bit/s) or 50MB/s",
                                  optarg);
    case 'b':
        options->background = true;
        return EXIT_COMPLETE;
    case 'n':
        options->plan = true;
        return EXIT_COMPLETE;
    case 'd':
        options->detach = true;
        return EXIT_COMPLETE;
    default:
        return session_take_output(found, &options->output)
                   ? EXIT_COMPLETE
                   : gmcast_usage_error("stage", "unknown option");
    }
}

/* Nobody who reads JSON lines should have to read the messages of the standard error too. */
static bool is_json(const struct stage_options *options)
{
    return options->output == SESSION_JSON ||
           (options->output == SESSION_AUTO && !options->detach && !isatty(STDOUT_FILENO));
}

static int refused(const struct stage_options *options)
{
    if (is_json(options))
        report_line(report_failure(gmcast_last_error()), stdout);
    return EXIT_REFUSED;
}

static int started(struct gmc_client *client, const char *channel,
                   const struct stage_options *options)
{
    char copy[GMC_CTL_CHANNEL_TEXT_MAX];
    bool terminal = options->output == SESSION_AUTO;

    /* The answer is gone with the next call. */
    snprintf(copy, sizeof copy, "%s", channel);
    if (is_json(options))
        report_line(report_started(copy), stdout);
    else if (options->detach)
        puts(copy);
    else
        fprintf(stderr, "%s %s%s\n", options->plan ? "plan" : "transfer", copy,
                terminal ? "" : " (gmcast watch, status, tree, cancel)");
    if (options->detach) {
        fflush(stdout); /* also where the gateway dies before it could save it */
        return session_wait_saved(client, copy);
    }
    return session_follow(client, copy, options->output);
}

static int stage_with(struct gmc_client *client, const struct stage_options *options,
                      const struct sources *sources)
{
    struct gmc_ctl_request request = {.kind = options->plan ? GMC_CTL_PLAN : GMC_CTL_STAGE,
                                      .from = sources->from,
                                      .sources = (const char *const *)sources->paths,
                                      .source_count = sources->count,
                                      .targets = options->targets.list,
                                      .target_count = options->targets.count,
                                      .shape = options->shape,
                                      .rate_bps = options->rate_bps,
                                      .background = options->background};
    const struct gmc_ctl_reply *reply;

    /* A signal from here on must not hide the channel's name. */
    session_catch_signals();
    gmc_client_set_timeout(client, STAGE_TIMEOUT_MS);
    if (session_ask(client, &request, &reply) == GMC_CLIENT_OK) {
        gmc_client_set_timeout(client, POLL_TIMEOUT_MS);
        return started(client, reply->channel, options);
    }
    session_error(client);
    return refused(options);
}

static int stage(const struct gmcast_globals *globals, struct stage_options *options, int count,
                 char **words)
{
    struct sources sources = {0};
    struct gmc_client *client = NULL;
    int status;

    if (count == 0)
        gmcast_usage_error("stage", "stage needs at least one source");
    else if (options->targets.count == 0)
        gmcast_usage_error("stage", "stage needs --to with at least one target");
    else if (!targets_set_directory(&options->targets, options->into))
        gmcast_error("out of memory");
    else if (sources_parse(globals, count, words, &sources))
        client = session_open(globals);
    status = client != NULL ? stage_with(client, options, &sources) : refused(options);
    gmc_client_free(client);
    sources_free(&sources);
    return status;
}

int gmcast_stage(const struct gmcast_globals *globals, int argc, char **argv)
{
    static const struct option long_options[] = {
        {"detach", no_argument, NULL, 'd'},
        {"help", no_argument, NULL, 'h'},
        {"into", required_argument, NULL, 'i'},
        {"plan", no_argument, NULL, 'n'},
        {"rate", required_argument, NULL, 'r'},
        {"background", no_argument, NULL, 'b'},
        {"to", required_argument, NULL, 't'},
        {"tree", required_argument, NULL, 'T'},
        SESSION_OUTPUT_OPTIONS,
        {NULL, 0, NULL, 0},
    };
    struct stage_options options = {0};
    int status = EXIT_COMPLETE;
    int found;

    while ((found = getopt_long(argc, argv, ":bdhi:nr:t:T:", long_options, NULL)) != -1) {
        if (status != EXIT_COMPLETE) {
            session_take_output(found, &options.output); /* how that is told */
            continue;
        }
        if (found == 'h') {
            puts(help);
            targets_free(&options.targets);
            return EXIT_COMPLETE;
        }
        status = found == '?' || found == ':' ? gmcast_option_error("stage", found, argv)
                                              : take_option(found, &options);
    }
    status = status == EXIT_COMPLETE ? stage(globals, &options, argc - optind, argv + optind)
                                     : refused(&options);
    targets_free(&options.targets);
    return status;
}
