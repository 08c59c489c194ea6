/* SPDX-License-Identifier: BSD-2-Clause */
/* sim-wan: the simulated and the emulated WAN. Owns main: the table of sub-commands. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim-wan/command.h"

static const struct command {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"emulate", "run a command on an emulated network, in real time", sim_command_emulate},
    {"run", "run a scenario in virtual time", sim_command_run},
    {"topology", "read, generate, draw and write topologies", sim_command_topology},
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static void print_help(FILE *out)
{
    fputs("Usage: sim-wan COMMAND [ARGUMENTS]\n"
          "Wide area networks with gateways of gmcast, simulated or emulated on one machine.\n"
          "\n"
          "Commands:\n",
          out);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].summary);
    fputs("\n"
          "Options:\n"
          "  -h, --help     this help; also after each command\n"
          "  -V, --version  the version\n",
          out);
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) {
        print_help(stdout);
        return EXIT_SUCCESS;
    }
    if (strcmp(word, "-V") == 0 || strcmp(word, "--version") == 0) {
        puts("sim-wan " PACKAGE_VERSION);
        return EXIT_SUCCESS;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(word, commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    if (word[0] == '\0')
        fputs("sim-wan: a command is needed\n", stderr);
    else
        fprintf(stderr, "sim-wan: no command is called '%s'\n", word);
    print_help(stderr);
    return EXIT_FAILURE;
}
