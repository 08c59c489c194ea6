/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns `gmcast tree`: the way that a transfer takes. */
#include "tools/gmcast.h"

#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/draw.h"
#include "tools/report.h"
#include "tools/session.h"
#include "tools/trees.h"

static const char help[] =
    "Usage: gmcast tree CHANNEL [--dot|--json]\n"
    "Draws the tree of a transfer: who receives from whom, with probed latencies and states.\n"
    "An object that is sent in stripes has a tree for each. Nodes are drawn at the gateway of\n"
    "their domain.\n"
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

static bool has_member(const struct gmc_ctl_transfer *transfer, const char *domain)
{
    for (size_t i = 0; i < transfer->member_count; i++)
        if (strcmp(transfer->members[i].domain, domain) == 0)
            return true;
    return false;
}

/* The source knows domains, and this gateway its nodes. */
static void print_with_nodes(const struct gmc_ctl_transfer *known,
                             const struct gmc_ctl_transfer *here, int format)
{
    struct gmc_ctl_transfer both = *known;
    size_t most = known->member_count + (here != NULL ? here->member_count : 0);
    struct gmc_ctl_member *members = calloc(most + 1, sizeof *members);

    if (members == NULL) {
        print_tree(known, format);
        return;
    }
    for (size_t i = 0; i < known->member_count; i++)
        members[i] = known->members[i];
    for (size_t i = 0; here != NULL && i < here->member_count; i++)
        if (!has_member(known, here->members[i].domain))
            members[both.member_count++] = here->members[i];
    both.members = members;
    print_tree(&both, format);
    free(members);
}

/* A second client, since an answer lives until the next question. */
static bool show(struct gmc_client *client, struct gmc_client *local, const char *channel,
                 int format)
{
    struct gmc_ctl_request request = {.kind = GMC_CTL_STATUS, .channel = channel};
    const struct gmc_ctl_reply *reply, *inside;
    const struct gmc_ctl_transfer *here = NULL;

    if (!session_call(client, &request, &reply))
        return false;
    if (reply->transfer_count != 1)
        return true;
    request.channel = reply->transfers[0].channel;
    request.local = true;
    if (session_ask(local, &request, &inside) == GMC_CLIENT_OK && inside->transfer_count == 1)
        here = &inside->transfers[0];
    print_with_nodes(&reply->transfers[0], here, format);
    return true;
}

int gmcast_tree(const struct gmcast_globals *globals, int argc, char **argv)
{
    static const struct option long_options[] = {
        {"dot", no_argument, NULL, 'd'},
        {"help", no_argument, NULL, 'h'},
        {"json", no_argument, NULL, 'j'},
        {NULL, 0, NULL, 0},
    };
    struct gmc_client *client, *local;
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
    client = session_open(globals);
    local = client != NULL ? session_open(globals) : NULL;
    ok = local != NULL && show(client, local, argv[optind], format);
    gmc_client_free(local);
    gmc_client_free(client);
    return ok ? EXIT_COMPLETE : EXIT_REFUSED;
}
