/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns `gmcast cancel`: end a transfer everywhere. */
#include "tools/gmcast.h"

#include <stdio.h>

#include "tools/session.h"

static const char help[] =
    "Usage: gmcast cancel CHANNEL [--local]\n"
    "Ends a transfer at all its domains. What is unfinished is removed there; domains that have\n"
    "verified the object already keep it.\n"
    "  -l, --local     give up, here alone, what comes from another domain, or at a node from its\n"
    "                  gateway; also when that is not heard any more";

int gmcast_cancel(const struct gmcast_globals *globals, int argc, char **argv)
{
    static const struct option long_options[] = {{"help", no_argument, NULL, 'h'},
                                                 {"local", no_argument, NULL, 'l'},
                                                 {NULL, 0, NULL, 0}};
    struct gmc_ctl_request request = {.kind = GMC_CTL_CANCEL};
    const struct gmc_ctl_reply *reply;
    struct gmc_client *client;
    int found;
    bool ok;

    while ((found = getopt_long(argc, argv, ":hl", long_options, NULL)) != -1) {
        if (found == 'h') {
            puts(help);
            return EXIT_COMPLETE;
        }
        if (found != 'l')
            return gmcast_option_error("cancel", found, argv);
        request.local = true;
    }
    if (argc - optind != 1)
        return gmcast_usage_error("cancel", "cancel needs one channel");
    request.channel = argv[optind];
    client = session_open(globals);
    if (client == NULL)
        return EXIT_REFUSED;
    ok = session_call(client, &request, &reply);
    if (ok)
        printf("cancelled %s\n", reply->channel);
    gmc_client_free(client);
    return ok ? EXIT_COMPLETE : EXIT_REFUSED;
}
