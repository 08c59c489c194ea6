/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns `gmcast node`: who may be a node of this domain without a certificate. */
#include "tools/gmcast.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tools/report.h"
#include "tools/session.h"

#define LIFETIME_MAX_S (30L * 86400)

static const char help[] =
    "Usage: gmcast node add NAME [--expires DURATION]\n"
    "       gmcast node list [--json]\n"
    "       gmcast node remove NAME\n"
    "The nodes of the domain whose gateway is asked.\n"
    "\n"
    "add     writes a token to standard output, with which one machine enrols as NAME, once. Put "
    "it\n"
    "        into a file there and name that as `token` in noded.conf. Whoever has it can be "
    "NAME.\n"
    "list    all nodes: by the configuration, enrolled, or still expected\n"
    "remove  cuts the node off at once; its token, if it was not used, is worth nothing any more\n"
    "\n"
    "      --expires DURATION  the token is valid so long: 30s, 90min, 12h or 7d (default 24h)\n"
    "      --json              one JSON object instead of a table";

/* A number and a unit; false: none, or out of bounds. */
static bool parse_duration(const char *text, uint32_t *seconds)
{
    static const struct {
        const char *name;
        long seconds;
    } units[] = {{"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}};
    size_t digits = strspn(text, "0123456789");
    char number[8];
    long value;

    if (digits == 0 || digits >= sizeof number)
        return false;
    memcpy(number, text, digits);
    number[digits] = '\0';
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(text + digits, units[i].name) != 0)
            continue;
        if (!gmcast_number(number, 1, LIFETIME_MAX_S / units[i].seconds, &value))
            return false;
        *seconds = (uint32_t)(value * units[i].seconds);
        return true;
    }
    return false;
}

static const char *state_name(enum gmc_ctl_node_state state)
{
    static const char *const names[] = {"unknown", "configured", "enrolled", "invited", "expired"};

    return names[state];
}

/* "2026-11-22 02:40" in UTC; "-" when it is not known. */
static const char *date(int64_t when, char out[32])
{
    time_t seconds = (time_t)when;
    struct tm parts;

    if (when <= 0 || gmtime_r(&seconds, &parts) == NULL ||
        strftime(out, 32, "%Y-%m-%d %H:%M", &parts) == 0)
        strcpy(out, "-");
    return out;
}

static void print_table(const struct gmc_ctl_reply *reply)
{
    char since[32], expires[32];

    printf("%-10s  %-9s  %-16s  %-16s  %s\n", "STATE", "SESSION", "ENROLLED", "TOKEN UNTIL",
           "NODE");
    for (size_t i = 0; i < reply->node_count; i++) {
        const struct gmc_ctl_node *node = &reply->nodes[i];

        printf("%-10s  %-9s  %-16s  %-16s  %s\n", state_name(node->state), node->up ? "up" : "down",
               date(node->since, since), date(node->expires, expires), node->name);
    }
}

static json_t *to_json(const struct gmc_ctl_reply *reply)
{
    json_t *list = json_array();

    for (size_t i = 0; i < reply->node_count; i++) {
        const struct gmc_ctl_node *node = &reply->nodes[i];

        json_array_append_new(list, json_pack("{s:s, s:s, s:b, s:I, s:I}", "node", node->name,
                                              "state", state_name(node->state), "up", node->up,
                                              "since", (json_int_t)node->since, "expires",
                                              (json_int_t)node->expires));
    }
    return json_pack("{s:s, s:o}", "domain", reply->domain, "nodes", list);
}

static int run(const struct gmcast_globals *globals, const struct gmc_ctl_request *request,
               bool json)
{
    struct gmc_client *client = session_open(globals);
    const struct gmc_ctl_reply *reply;
    bool ok;

    if (client == NULL)
        return EXIT_REFUSED;
    ok = session_call(client, request, &reply);
    if (ok && request->kind == GMC_CTL_NODE_ADD)
        puts(reply->token);
    else if (ok && request->kind == GMC_CTL_NODES && json)
        report_line(to_json(reply), stdout);
    else if (ok && request->kind == GMC_CTL_NODES)
        print_table(reply);
    gmc_client_free(client);
    return ok ? EXIT_COMPLETE : EXIT_REFUSED;
}

static bool find_action(const char *word, enum gmc_ctl_kind *kind)
{
    static const struct {
        const char *name;
        enum gmc_ctl_kind kind;
    } actions[] = {{"add", GMC_CTL_NODE_ADD},
                   {"list", GMC_CTL_NODES},
                   {"remove", GMC_CTL_NODE_REMOVE}};

    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        if (strcmp(word, actions[i].name) != 0)
            continue;
        *kind = actions[i].kind;
        return true;
    }
    return false;
}

int gmcast_node(const struct gmcast_globals *globals, int argc, char **argv)
{
    static const struct option long_options[] = {{"expires", required_argument, NULL, 'e'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {"json", no_argument, NULL, 'j'},
                                                 {NULL, 0, NULL, 0}};
    struct gmc_ctl_request request = {0};
    bool json = false;
    int found, wanted;

    while ((found = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        if (found == 'h') {
            puts(help);
            return EXIT_COMPLETE;
        }
        if (found == 'j')
            json = true;
        else if (found != 'e')
            return gmcast_option_error("node", found, argv);
        else if (!parse_duration(optarg, &request.lifetime_s))
            return gmcast_usage_error("node",
                                      "\"%s\" is no duration such as 30s, 90min, 12h or 7d, "
                                      "of 30 days at most",
                                      optarg);
    }
    if (optind >= argc || !find_action(argv[optind], &request.kind))
        return gmcast_usage_error("node", "node needs one of: add NAME, list, remove NAME");
    wanted = request.kind == GMC_CTL_NODES ? 1 : 2;
    if (argc - optind != wanted)
        return gmcast_usage_error("node", "node %s takes %s", argv[optind],
                                  wanted == 1 ? "no name" : "one NAME");
    if (wanted == 2 && argv[optind + 1][0] == '\0')
        return gmcast_usage_error("node", "\"\" is no NAME: a variable may be empty");
    request.node = wanted == 2 ? argv[optind + 1] : NULL;
    return run(globals, &request, json);
}
