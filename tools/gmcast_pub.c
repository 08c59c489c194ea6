/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns `gmcast pub`: lines of the input, or files, as messages of a channel. */
#include "tools/gmcast.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <gmcast/messages.h>

#include "tools/session.h"

#define DOMAINS_MAX 1024

static const char help[] =
    "Usage: gmcast pub CHANNEL [--to DOMAIN[/NODES][,...]] [--order ORDER] [FILE]...\n"
    "Publishes each line of the standard input, or each FILE, as a message of a channel. It goes\n"
    "to subscribers in this domain and in those that are named, over a tree of gateways.\n"
    "\n"
    "  --to DOMAIN,...    domains that get it, by name or alias; DOMAIN/nodes, DOMAIN/gateway or\n"
    "                     DOMAIN/NODE+NODE: where in them, else as they are configured\n"
    "  --order ORDER      ordered (all, in order), unordered (all, as they come) or latest (the\n"
    "                     newest; older ones may be left out); ordered unless given\n"
    "  -h, --help         this text\n"
    "\n"
    "A message has at most 1 MiB. Where links are slower than the input, the input waits. The\n"
    "channel ends with its last publisher. Exit status: 0 all was taken by the gateway; 2 but for\n"
    "files that cannot be read, lines or files that are too long, or a domain or node that\n"
    "refuses the messages or was not heard for a time, each of which is named; 1 not.";

static bool take_order(const char *text, enum gmc_client_order *order)
{
    static const char *const names[] = {"ordered", "unordered", "latest"};

    for (int i = 0; i < 3; i++) {
        if (strcmp(text, names[i]) == 0) {
            *order = (enum gmc_client_order)i;
            return true;
        }
    }
    return false;
}

/* Splits the list in place. */
static size_t split(char *list, const char **domains)
{
    size_t count = 0;

    for (char *rest = NULL, *name = strtok_r(list, ",", &rest); name != NULL && count < DOMAINS_MAX;
         name = strtok_r(NULL, ",", &rest))
        domains[count++] = name;
    return count;
}

enum outcome {
    TAKEN,
    SKIPPED, /* this one cannot be published; others can */
    ENDED    /* nor can any other, or a signal came */
};

/* SKIPPED and ENDED after an error message, or when a signal came. */
static enum outcome publish(struct gmc_publisher *publisher, const char *what, const char *bytes,
                            size_t len)
{
    enum gmc_client_result result = GMC_CLIENT_INTERRUPTED;

    while (result == GMC_CLIENT_INTERRUPTED && !session_interrupted())
        result = gmc_publisher_send(publisher, bytes, len, -1);
    if (result == GMC_CLIENT_OK)
        return TAKEN;
    if (!session_interrupted())
        (void)gmcast_error("%s: %s", what, gmc_publisher_error(publisher));
    return result == GMC_CLIENT_INVALID ? SKIPPED : ENDED;
}

/* Those that cannot be published were named. */
static int exit_status_of(size_t taken, size_t skipped)
{
    if (skipped == 0)
        return EXIT_COMPLETE;
    return taken > 0 ? EXIT_PARTIAL : EXIT_REFUSED;
}

/* Each that can be published is. */
static int publish_lines(struct gmc_publisher *publisher)
{
    char *line = NULL, what[64];
    size_t room = 0, taken = 0, skipped = 0;
    ssize_t len;
    bool ended = false;

    while (!ended && !session_interrupted() && (len = getline(&line, &room, stdin)) >= 0) {
        size_t count = (size_t)len - (len > 0 && line[len - 1] == '\n');
        (void)snprintf(what, sizeof what, "standard input, line %zu", taken + skipped + 1);
        enum outcome outcome = publish(publisher, what, line, count);
        ended = outcome == ENDED;
        taken += outcome == TAKEN;
        skipped += outcome == SKIPPED;
    }
    free(line);
    if (ended || session_interrupted())
        return EXIT_REFUSED;
    return exit_status_of(taken, skipped);
}

static enum outcome publish_file(struct gmc_publisher *publisher, const char *path)
{
    char *bytes = malloc(GMC_PUBLISH_MAX + 1);
    FILE *file = fopen(path, "rb");
    enum outcome outcome = SKIPPED;

    if (bytes == NULL || file == NULL) {
        (void)gmcast_error("%s: %s", path, strerror(errno));
    } else {
        size_t len = fread(bytes, 1, GMC_PUBLISH_MAX + 1, file);
        if (ferror(file))
            (void)gmcast_error("%s: %s", path, strerror(errno));
        else
            outcome = publish(publisher, path, bytes, len);
    }
    if (file != NULL)
        (void)fclose(file);
    free(bytes);
    return outcome;
}

/* The same. */
static int publish_files(struct gmc_publisher *publisher, int count, char **files)
{
    size_t taken = 0;

    for (int i = 0; i < count; i++) {
        enum outcome outcome = session_interrupted() ? ENDED : publish_file(publisher, files[i]);
        if (outcome == ENDED)
            return EXIT_REFUSED;
        taken += outcome == TAKEN;
    }
    return exit_status_of(taken, (size_t)count - taken);
}

/* Of a domain or node that gets nothing, or does not get it now. */
static void warn(void *ctx, const char *text)
{
    bool *warned = ctx;

    *warned = true;
    (void)gmcast_error("%s", text);
}

static int publish_all(const struct gmc_publisher_config *config, int count, char **files)
{
    char error[512];
    bool warned = false;
    struct gmc_publisher_config with = *config;
    int status;

    with.warn = warn;
    with.warn_ctx = &warned;
    struct gmc_publisher *publisher = gmc_publisher_open(&with, error, sizeof error);
    if (publisher == NULL)
        return gmcast_error("%s: %s", config->channel, error);
    session_catch_signals();
    if (count > 0)
        status = publish_files(publisher, count, files);
    else
        status = publish_lines(publisher);
    enum gmc_client_result closed =
        gmc_publisher_close(publisher, NULL, status == EXIT_REFUSED ? 1000 : -1);
    if (status != EXIT_REFUSED && closed != GMC_CLIENT_OK)
        return gmcast_error("%s: the gateway did not take all of it", config->channel);
    return warned && status == EXIT_COMPLETE ? EXIT_PARTIAL : status;
}

int gmcast_pub(const struct gmcast_globals *globals, int argc, char **argv)
{
    static const struct option long_options[] = {{"help", no_argument, NULL, 'h'},
                                                 {"to", required_argument, NULL, 't'},
                                                 {"order", required_argument, NULL, 'o'},
                                                 {NULL, 0, NULL, 0}};
    const char *domains[DOMAINS_MAX];
    struct gmc_publisher_config config = {.gateway = globals->gateway, .domains = domains};
    int found;

    while ((found = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        if (found == 'h') {
            puts(help);
            return EXIT_COMPLETE;
        } else if (found == 't') {
            config.domain_count = split(optarg, domains);
        } else if (found == 'o') {
            if (!take_order(optarg, &config.order))
                return gmcast_usage_error("pub", "--order %s: give ordered, unordered or latest",
                                          optarg);
        } else {
            return gmcast_option_error("pub", found, argv);
        }
    }
    if (optind >= argc)
        return gmcast_usage_error("pub", "which channel?");
    config.channel = argv[optind];
    return publish_all(&config, argc - optind - 1, argv + optind + 1);
}
