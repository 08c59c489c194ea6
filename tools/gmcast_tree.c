/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns `gmcast tree`: the way that a transfer takes. */
#include "tools/gmcast.h"

#include <langinfo.h>
#include <stdio.h>
#include <string.h>

#include "tools/draw.h"
#include "tools/report.h"
#include "tools/session.h"
#include "tools/trees.h"

static const char help[] =
    "Usage: gmcast tree CHANNEL [--dot|--json]\n"
    "Draws the tree of a transfer: who receives from whom, with probed latencies and states.\n"
    "An object that is sent in stripes has a tree for each.\n"
    "\n"
    "  -d, --dot   for Graphviz: gmcast tree CHANNEL --dot | dot -Tsvg > tree.svg\n"
    "      --json  an object child -> parent for each tree, one per line";

static void print_json(const struct gmc_ctl_transfer *transfer)
{
    for (size_t stripe = 0; stripe < trees_count(transfer); stripe++)
        report_line(report_tree(transfer, stripe), stdout);
}

static void print_tree(const struct gmc_ctl_transfer *transfer, int format)
{
    if (format == 'd')
        draw_dot(transfer, stdout);
    else if (format == 'j')
        print_json(transfer);
    else
        draw_tree(transfer, strcmp(nl_langinfo(CODESET), "UTF-8") == 0, stdout);
}

int gmcast_tree(const struct gmcast_globals *globals, int argc, char **argv)
{
    static const struct option long_options[] = {
        {"dot", no_argument, NULL, 'd'},
        {"help", no_argument, NULL, 'h'},
        {"json", no_argument, NULL, 'j'},
        {NULL, 0, NULL, 0},
    };
    struct gmc_ctl_request request = {.kind = GMC_CTL_STATUS};
    const struct gmc_ctl_reply *reply;
    struct gmc_client *client;
    int format = 0;
    int found;
    bool ok;

    while ((found = getopt_long(argc, argv, ":dh", long_options, NULL)) != -1) {
        if (found == 'h') {
            puts(help);
            return EXIT_COMPLETE;
        }
        if (found == '?' || found == ':')
            return gmcast_option_error("tree", found, argv);
        format = found;
    }
    if (argc - optind != 1 || argv[optind][0] == '\0')
        return gmcast_usage_error("tree", "tree needs one channel");
    request.channel = argv[optind];
    client = session_open(globals);
    if (client == NULL)
        return EXIT_REFUSED;
    ok = session_call(client, &request, &reply);
    if (ok && reply->transfer_count == 1)
        print_tree(&reply->transfers[0], format);
    gmc_client_free(client);
    return ok ? EXIT_COMPLETE : EXIT_REFUSED;
}
