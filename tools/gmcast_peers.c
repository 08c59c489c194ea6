/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns `gmcast peers`: the gateways that this one knows, and the latencies between them. */
#include "tools/gmcast.h"

#include <stdio.h>

#include "tools/draw.h"
#include "tools/report.h"
#include "tools/session.h"

static const char help[] =
    "Usage: gmcast peers [--json]\n"
    "The gateways that this one knows: whether the link is up and how, round trips, bytes, loss,\n"
    "and why a link is down; then the round trips between all of them, as last measured.";

int gmcast_peers(const struct gmcast_globals *globals, int argc, char **argv)
{
    static const struct option long_options[] = {{"help", no_argument, NULL, 'h'},
                                                 {"json", no_argument, NULL, 'j'},
                                                 {NULL, 0, NULL, 0}};
    struct gmc_ctl_request request = {.kind = GMC_CTL_PEERS};
    const struct gmc_ctl_reply *reply;
    struct gmc_client *client;
    bool json = false;
    bool ok;
    int found;

    while ((found = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        if (found == 'h') {
            puts(help);
            return EXIT_COMPLETE;
        }
        if (found != 'j')
            return gmcast_option_error("peers", found, argv);
        json = true;
    }
    if (argc != optind)
        return gmcast_usage_error("peers", "peers takes no arguments");
    client = session_open(globals);
    if (client == NULL)
        return EXIT_REFUSED;
    ok = session_call(client, &request, &reply);
    if (ok && json)
        report_line(report_peers(reply), stdout);
    else if (ok)
        draw_peers(reply, stdout);
    gmc_client_free(client);
    return ok ? EXIT_COMPLETE : EXIT_REFUSED;
}
