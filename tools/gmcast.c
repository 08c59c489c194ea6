/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns main of the gmcast command: what stands before the sub-command, and the messages that all
 * sub-commands share. */
#include <config.h>

#include "tools/gmcast.h"

#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_GATEWAY "ipc:///run/gmcast/control"

static const struct gmcast_command commands[] = {
    {"stage", "send files or directory trees to many domains", gmcast_stage},
    {"watch", "follow a transfer until it ends", gmcast_watch},
    {"status", "what this gateway sends and receives", gmcast_status},
    {"tree", "draw a transfer's tree, as text or for Graphviz", gmcast_tree},
    {"peers", "the gateways known here, and latencies between them", gmcast_peers},
    {"doctor", "what is wrong, blocked or slow here, and what to do", gmcast_doctor},
    {"node", "who may be a node of this domain: add, list, remove", gmcast_node},
    {"add", "let a further domain join a running transfer", gmcast_add},
    {"resume", "go on with a transfer that ended incomplete", gmcast_resume},
    {"cancel", "end a transfer everywhere", gmcast_cancel},
    {"pub", "publish lines or files as messages of a channel", gmcast_pub},
    {"sub", "write the messages of a channel", gmcast_sub},
    {"ca", "make a certificate authority, issue and revoke certificates", gmcast_ca},
};

#define COMMAND_COUNT (sizeof commands / sizeof commands[0])

static char last_error[8192];

static void print_message(const char *format, va_list args)
{
    vsnprintf(last_error, sizeof last_error, format, args);
    fprintf(stderr, "gmcast: %s\n", last_error);
}

const char *gmcast_last_error(void)
{
    return last_error;
}

int gmcast_error(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print_message(format, args);
    va_end(args);
    return EXIT_REFUSED;
}

int gmcast_usage_error(const char *command, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print_message(format, args);
    va_end(args);
    fprintf(stderr, "Try: gmcast %s%s--help\n", command, command[0] != '\0' ? " " : "");
    return EXIT_REFUSED;
}

int gmcast_option_error(const char *command, int found, char **argv)
{
    /* getopt_long leaves the culprit just before optind. */
    const char *culprit = argv[optind > 0 ? optind - 1 : 0];

    if (found == ':')
        return gmcast_usage_error(command, "option %s needs a value", culprit);
    return gmcast_usage_error(command, "option %s is not known or takes no value", culprit);
}

bool gmcast_number(const char *text, long min, long max, long *value)
{
    char *end;
    long number;

    errno = 0;
    number = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || number < min || number > max)
        return false;
    *value = number;
    return true;
}

static void print_help(void)
{
    puts("Usage: gmcast [--gateway ENDPOINT] COMMAND [ARGUMENTS]\n"
         "Stages files and publishes messages from one domain to many, over a multicast tree of\n"
         "gateways.\n"
         "\n"
         "Commands:");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        printf("  %-8s %s\n", commands[i].name, commands[i].summary);
    puts(
        "\n"
        "  -g, --gateway ENDPOINT  control socket of the local gatewayd; else $GMCAST_GATEWAY,\n"
        "                          else " DEFAULT_GATEWAY "\n"
        "  -h, --help              this text; gmcast COMMAND --help says more\n"
        "  -V, --version           the version\n"
        "\n"
        "Exit status: 0 done (stage: complete everywhere), 1 could not start, 2 complete at some,\n"
        "3 cancelled, 4 interrupted while the transfer goes on, 5 doctor found what does not "
        "work.\n"
        "Manual: man gmcast");
}

static int run_command(const struct gmcast_globals *globals, int argc, char **argv)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(argv[0], commands[i].name) == 0) {
            optind = 0; /* glibc: begin anew on another argument list */
            return commands[i].run(globals, argc, argv);
        }
    }
    return gmcast_usage_error("", "there is no command \"%s\"", argv[0]);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"gateway", required_argument, NULL, 'g'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    struct gmcast_globals globals = {getenv("GMCAST_GATEWAY")};
    int found;

    setlocale(LC_CTYPE, "");
    if (globals.gateway == NULL || globals.gateway[0] == '\0')
        globals.gateway = DEFAULT_GATEWAY;
    while ((found = getopt_long(argc, argv, "+:g:hV", options, NULL)) != -1) {
        switch (found) {
        case 'g':
            globals.gateway = optarg;
            break;
        case 'h':
            print_help();
            return EXIT_COMPLETE;
        case 'V':
            puts(PACKAGE_STRING);
            return EXIT_COMPLETE;
        default:
            return gmcast_option_error("", found, argv);
        }
    }
    if (optind >= argc) {
        print_help();
        return EXIT_REFUSED;
    }
    return run_command(&globals, argc - optind, argv + optind);
}
