/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns `gmcast watch`: follow a transfer that was started elsewhere or earlier. */
#include "tools/gmcast.h"

#include <stdio.h>

#include "tools/session.h"

static const char help[] =
    "Usage: gmcast watch CHANNEL [--json|--plain]\n"
    "Follows a transfer until it ends, as gmcast stage does. CHANNEL is its id as gmcast stage or\n"
    "gmcast status printed it, or the first digits of it; DIGITS@DOMAIN asks that domain.\n"
    "Exit status: that of gmcast stage.";

int gmcast_watch(const struct gmcast_globals *globals, int argc, char **argv)
{
    static const struct option long_options[] = {{"help", no_argument, NULL, 'h'},
                                                 SESSION_OUTPUT_OPTIONS,
                                                 {NULL, 0, NULL, 0}};
    enum session_output output = SESSION_AUTO;
    struct gmc_client *client;
    int found, status;

    while ((found = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        if (found == 'h') {
            puts(help);
            return EXIT_COMPLETE;
        }
        if (!session_take_output(found, &output))
            return gmcast_option_error("watch", found, argv);
    }
    if (argc - optind != 1)
        return gmcast_usage_error("watch", "watch needs one channel");
    client = session_open(globals);
    if (client == NULL)
        return EXIT_REFUSED;
    status = session_follow(client, argv[optind], output);
    gmc_client_free(client);
    return status;
}
