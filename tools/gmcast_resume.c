/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns `gmcast resume`: go on with a transfer that ended incomplete. */
#include "tools/gmcast.h"

#include <stdio.h>

#include "tools/session.h"

static const char help[] =
    "Usage: gmcast resume CHANNEL [--detach] [--json|--plain]\n"
    "Asks the domains again where a transfer failed, and follows it as gmcast stage does. What\n"
    "they have already is not sent again.\n"
    "\n"
    "  -d, --detach  do not wait for the end";

struct resume_options {
    bool detach;
    enum session_output output;
};

static int resume(const struct gmcast_globals *globals, const char *channel,
                  const struct resume_options *options)
{
    struct gmc_ctl_request request = {.kind = GMC_CTL_RESUME, .channel = channel};
    struct gmc_client *client = session_open(globals);
    char copy[GMC_CTL_CHANNEL_TEXT_MAX];
    const struct gmc_ctl_reply *reply;
    int status = EXIT_REFUSED;

    if (client == NULL)
        return EXIT_REFUSED;
    if (session_call(client, &request, &reply)) {
        snprintf(copy, sizeof copy, "%s", reply->channel);
        status = EXIT_COMPLETE;
        if (options->detach)
            printf("resumed %s\n", copy);
        else
            status = session_follow(client, copy, options->output);
    }
    gmc_client_free(client);
    return status;
}

int gmcast_resume(const struct gmcast_globals *globals, int argc, char **argv)
{
    static const struct option long_options[] = {
        {"detach", no_argument, NULL, 'd'},
        {"help", no_argument, NULL, 'h'},
        SESSION_OUTPUT_OPTIONS,
        {NULL, 0, NULL, 0},
    };
    struct resume_options options = {0};
    int found;

    while ((found = getopt_long(argc, argv, ":dh", long_options, NULL)) != -1) {
        if (found == 'h') {
            puts(help);
            return EXIT_COMPLETE;
        }
        if (found == 'd')
            options.detach = true;
        else if (!session_take_output(found, &options.output))
            return gmcast_option_error("resume", found, argv);
    }
    if (argc - optind != 1)
        return gmcast_usage_error("resume", "resume needs one channel");
    return resume(globals, argv[optind], &options);
}
