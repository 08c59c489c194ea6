/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns `gmcast status`: what a gateway sends and receives. */
#include "tools/gmcast.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/progress.h"
#include "tools/report.h"
#include "tools/session.h"
#include "tools/text.h"

static const char help[] =
    "Usage: gmcast status [CHANNEL] [--json] [--follow | --local]\n"
    "       gmcast status --counters [--json]\n"
    "Without CHANNEL the transfers that this gateway knows; with it one transfer and its domains.\n"
    "\n"
    "  -f, --follow    until it ends, as gmcast watch\n"
    "  -l, --local     as this gateway sees it, with the nodes of its domain\n"
    "  -c, --counters  what the gateway counts: datagrams dropped and why, and more\n"
    "      --json      as one JSON object (per transfer a line)";

struct status_options {
    const char *channel;
    bool follow;
    bool local;
    bool counters;
    bool json;
};

static void print_line(const struct gmc_ctl_transfer *t)
{
    char size[TEXT_FIGURE_MAX], clock[TEXT_FIGURE_MAX], verified[TEXT_FIGURE_MAX] = "-";
    char *reason = text_safe(t->reason), *name = text_safe(t->name);

    if (t->total_members > 0)
        snprintf(verified, sizeof verified, "%u/%u", t->verified_members, t->total_members);
    if (t->name[0] != '\0')
        snprintf(size, sizeof size, "%llu msg", (unsigned long long)t->message_count);
    else
        text_size(t->total_bytes, size);
    printf("%-10s  %-7s  %8s  %8s  %7s  %s%s%s%s%s\n", gmc_client_transfer_state_name(t->state),
           t->is_source ? "send" : "receive", size, verified,
           text_clock((double)t->elapsed_ns / 1e9, clock), t->channel,
           t->name[0] != '\0' ? "  " : "", name != NULL ? name : "",
           t->reason[0] != '\0' ? "  " : "", reason != NULL ? reason : "");
    free(reason);
    free(name);
}

static void print_all(const struct gmc_ctl_reply *reply)
{
    if (reply->transfer_count == 0) {
        printf("%s: no transfers\n", reply->domain);
        return;
    }
    printf("%-10s  %-7s  %8s  %8s  %7s  %s\n", "STATE", "HERE", "BYTES", "VERIFIED", "TIME",
           "CHANNEL");
    for (size_t i = 0; i < reply->transfer_count; i++)
        print_line(&reply->transfers[i]);
}

static void print_messages(const struct gmc_ctl_transfer *t, const char *name)
{
    const struct gmc_ctl_traffic *traffic = &t->traffic;

    printf("messages  %llu, name %s\n", (unsigned long long)t->message_count, name);
    printf("traffic   %llu/s in, %llu/s out; %llu handed to subscribers here, %llu did not come, "
           "%llu lost to slow subscribers\n",
           (unsigned long long)traffic->in_rate, (unsigned long long)traffic->out_rate,
           (unsigned long long)traffic->handed, (unsigned long long)traffic->missed,
           (unsigned long long)traffic->dropped);
}

static void print_one(const struct gmc_ctl_transfer *t)
{
    char total[TEXT_FIGURE_MAX], here[TEXT_FIGURE_MAX], clock[TEXT_FIGURE_MAX];
    char *reason = text_safe(t->reason), *name = text_safe(t->name);

    printf("channel   %s\nstate     %s%s%s\n", t->channel, gmc_client_transfer_state_name(t->state),
           t->reason[0] != '\0' ? ": " : "", reason != NULL ? reason : "");
    if (t->name[0] != '\0')
        print_messages(t, name != NULL ? name : "");
    else
        printf("object    %s in %llu file%s (%s here)\n", text_size(t->total_bytes, total),
               (unsigned long long)t->file_count, t->file_count == 1 ? "" : "s",
               text_size(t->bytes, here));
    printf("tree      %s, version %u\ntime      %s (set-up %.3f s)\n", t->shape, t->tree_version,
           text_clock((double)t->elapsed_ns / 1e9, clock), (double)t->setup_ns / 1e9);
    if (t->rate_bps > 0)
        printf("rate      at most %.3f Mbit/s per link\n", (double)t->rate_bps / 1e6);
    if (t->background)
        puts("priority  background: yields to everyone else");
    if (t->member_count > 0) {
        putchar('\n');
        progress_table(t, stdout);
    }
    free(reason);
    free(name);
}

static void print_counters(const struct gmc_ctl_reply *reply)
{
    for (size_t i = 0; i < reply->counter_count; i++)
        printf("%-32s  %llu\n", reply->counters[i].name,
               (unsigned long long)reply->counters[i].value);
}

static int print_reply(const struct status_options *options, const struct gmc_ctl_reply *reply)
{
    if (options->counters && options->json) {
        report_line(report_counters(reply), stdout);
    } else if (options->counters) {
        print_counters(reply);
    } else if (options->json) {
        for (size_t i = 0; i < reply->transfer_count; i++)
            report_line(report_transfer(&reply->transfers[i]), stdout);
    } else if (options->channel != NULL && reply->transfer_count == 1) {
        print_one(&reply->transfers[0]);
    } else {
        print_all(reply);
    }
    return EXIT_COMPLETE;
}

static int run(const struct gmcast_globals *globals, const struct status_options *options)
{
    struct gmc_ctl_request request = {.kind = options->counters ? GMC_CTL_COUNTERS : GMC_CTL_STATUS,
                                      .channel = options->channel,
                                      .local = options->local};
    struct gmc_client *client = session_open(globals);
    const struct gmc_ctl_reply *reply;
    int status = EXIT_REFUSED;

    if (client == NULL)
        return EXIT_REFUSED;
    if (options->follow)
        status =
            session_follow(client, options->channel, options->json ? SESSION_JSON : SESSION_AUTO);
    else if (session_call(client, &request, &reply))
        status = print_reply(options, reply);
    gmc_client_free(client);
    return status;
}

int gmcast_status(const struct gmcast_globals *globals, int argc, char **argv)
{
    static const struct option long_options[] = {
        {"counters", no_argument, NULL, 'c'}, {"follow", no_argument, NULL, 'f'},
        {"help", no_argument, NULL, 'h'},     {"json", no_argument, NULL, 'j'},
        {"local", no_argument, NULL, 'l'},    {NULL, 0, NULL, 0},
    };
    struct status_options options = {0};
    int found;

    while ((found = getopt_long(argc, argv, ":cfhl", long_options, NULL)) != -1) {
        if (found == 'h') {
            puts(help);
            return EXIT_COMPLETE;
        }
        if (found == '?' || found == ':')
            return gmcast_option_error("status", found, argv);
        options.counters |= found == 'c';
        options.follow |= found == 'f';
        options.json |= found == 'j';
        options.local |= found == 'l';
    }
    if (argc - optind > 1)
        return gmcast_usage_error("status", "status takes one channel, or none for all");
    options.channel = argv[optind];
    if (options.follow && options.channel == NULL)
        return gmcast_usage_error("status", "--follow needs a channel");
    if (options.local && (options.channel == NULL || options.follow))
        return gmcast_usage_error("status", "--local needs a channel, and shows it once");
    if (options.counters && (options.channel != NULL || options.follow))
        return gmcast_usage_error("status", "--counters is about the gateway, not about a channel");
    return run(globals, &options);
}
