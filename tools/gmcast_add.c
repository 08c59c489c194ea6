/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns `gmcast add`: a further domain joins a transfer. */
#include "tools/gmcast.h"

#include <stdio.h>

#include "tools/session.h"
#include "tools/targets.h"

static const char help[] =
    "Usage: gmcast add CHANNEL --to TARGET[,TARGET...]\n"
    "Lets further domains join a transfer that is running; each is fed from the nearest gateway\n"
    "that has the data. TARGET is DOMAIN[/NODES][:PATH] as for gmcast stage; the nodes of a\n"
    "domain that is a target already are added to those that it has.";

/* As far as a command may say that it was done: a restart of the gateway must not forget it. */
static int add_one(struct gmc_client *client, const char *channel,
                   const struct gmc_ctl_target *target)
{
    struct gmc_ctl_request request = {.kind = GMC_CTL_ADD,
                                      .channel = channel,
                                      .targets = target,
                                      .target_count = 1};
    const struct gmc_ctl_reply *reply;
    char whole[GMC_CTL_CHANNEL_TEXT_MAX]; /* the answer is gone with the next call */

    if (!session_call(client, &request, &reply))
        return EXIT_REFUSED;
    snprintf(whole, sizeof whole, "%s", reply->channel);
    int status = session_wait_saved(client, whole);
    if (status == EXIT_COMPLETE)
        printf("%s joins %s\n", target->domain, whole);
    return status;
}

static int add_all(struct gmc_client *client, const char *channel, const struct targets *targets)
{
    int status = EXIT_COMPLETE;

    for (size_t i = 0; i < targets->count && status == EXIT_COMPLETE; i++)
        status = add_one(client, channel, &targets->list[i]);
    return status;
}

static int add(const struct gmcast_globals *globals, const struct targets *targets, int count,
               char **words)
{
    struct gmc_client *client;
    int status;

    if (count != 1)
        return gmcast_usage_error("add", "add needs one channel");
    if (targets->count == 0)
        return gmcast_usage_error("add", "add needs --to with the domain that joins");
    client = session_open(globals);
    if (client == NULL)
        return EXIT_REFUSED;
    status = add_all(client, words[0], targets);
    gmc_client_free(client);
    return status;
}

int gmcast_add(const struct gmcast_globals *globals, int argc, char **argv)
{
    static const struct option long_options[] = {{"help", no_argument, NULL, 'h'},
                                                 {"to", required_argument, NULL, 't'},
                                                 {NULL, 0, NULL, 0}};
    struct targets targets = {0};
    int status = EXIT_COMPLETE;
    int found;

    while (status == EXIT_COMPLETE &&
           (found = getopt_long(argc, argv, ":ht:", long_options, NULL)) != -1) {
        if (found == 'h') {
            puts(help);
            targets_free(&targets);
            return EXIT_COMPLETE;
        }
        status = found == 't' ? targets_parse(&targets, optarg, "add")
                              : gmcast_option_error("add", found, argv);
    }
    if (status == EXIT_COMPLETE)
        status = add(globals, &targets, argc - optind, argv + optind);
    targets_free(&targets);
    return status;
}
