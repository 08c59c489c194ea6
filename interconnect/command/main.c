/* SPDX-License-Identifier: BSD-2-Clause */
/* gmcast-interconnect: models and simulators of interconnects. Owns main: the table of
 * sub-commands. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interconnect/command/command.h"
#include "sim-wan/run/pool.h"

static const struct command {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"advise", "the best multicast algorithm for a cluster", ic_command_advise},
    {"graph", "make, improve, measure and export graphs", ic_command_graph},
    {"list", "families, their parameters and figures", ic_command_list},
    {"model", "compute a family's figures, or a reference table", ic_command_model},
    {"simulate", "simulate a family", ic_command_simulate},
    {"compare", "model and simulator side by side", ic_command_compare},
    {"reproduce", "published figures and their claims, as a page", ic_command_reproduce},
    {"schedule", "who sends to whom in a multicast, and what it costs", ic_command_schedule},
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static void print_help(FILE *out)
{
    fputs("Usage: gmcast-interconnect COMMAND [ARGUMENTS]\n"
          "Interconnects of clusters as they are published: models, simulators, schedules.\n"
          "\n"
          "Commands:\n",
          out);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].summary);
    fputs("\n"
          "Options:\n"
          "  -h, --help     this help; also after each command\n"
          "  -V, --version  the version\n",
          out);
}

static int run(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) {
        print_help(stdout);
        return IC_DONE;
    }
    if (strcmp(word, "-V") == 0 || strcmp(word, "--version") == 0) {
        puts("gmcast-interconnect " PACKAGE_VERSION);
        return IC_DONE;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(word, commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    if (word[0] == '\0')
        fputs("gmcast-interconnect: a command is needed\n", stderr);
    else
        fprintf(stderr, "gmcast-interconnect: no command is called '%s'\n", word);
    print_help(stderr);
    return IC_BAD;
}

int main(int argc, char **argv)
{
    /* Of many ranks one speaks; what the others find comes back to it. */
    if (sim_mpi_begin(&argc, &argv) > 1 && !sim_mpi_is_root() &&
        (freopen("/dev/null", "w", stdout) == NULL || freopen("/dev/null", "w", stderr) == NULL))
        return IC_BAD;
    int status = run(argc, argv);
    sim_mpi_end();
    return status;
}
