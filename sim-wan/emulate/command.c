/* SPDX-License-Identifier: BSD-2-Clause */
/* sim-wan emulate: its arguments, and what has to be so that it can run. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim-wan/command.h"
#include "sim-wan/emulate/emulate.h"
#include "sim-wan/topo/read.h"

#define BAD_USE 125 /* what emu_run() gives when it could not run the command */
#define CONF_BYTES_MAX 65536

static void print_help(FILE *out)
{
    fputs("Usage: sim-wan emulate TOPOLOGY [OPTIONS] -- COMMAND [ARGUMENTS]\n"
          "       sim-wan emulate --clean\n"
          "Makes a network namespace for every host of the topology, carries packets between them "
          "over\n"
          "the topology's wires in real time, and runs COMMAND at the first host. Needs root, "
          "/dev/net/tun\n"
          "and network namespaces. Leaves nothing.\n"
          "\n"
          "Options:\n"
          "  -g, --gateways        a gatewayd with its own certificates in each host that has a "
          "gateway;\n"
          "                        gmcast at COMMAND's host then just works\n"
          "  -a, --at HOST         run COMMAND there\n"
          "  -s, --seed N          what the wires lose follows from it [1]\n"
          "  -j, --json FILE       a summary: wires, real time; SIGUSR1 writes it at once\n"
          "  -w, --work DIR        configurations, logs and received files of gateways go there "
          "and stay\n"
          "  -c, --gateway-conf FILE  lines for every gateway's configuration\n"
          "      --clean           remove what killed runs left\n"
          "  -h, --help\n"
          "\n"
          "The exit status is COMMAND's; 125 when it could not be run.\n",
          out);
}

struct options {
    struct emu_config config;
    const char *topology, *at, *gateway_conf;
    bool clean, help;
};

static bool parse_seed(const char *text, uint64_t *seed)
{
    char *end;
    errno = 0;
    *seed = strtoull(text, &end, 10);
    if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0)
        return true;
    fprintf(stderr, "sim-wan emulate: '%s' is no seed; give a number from 0 to 2^64-1\n", text);
    return false;
}

static bool parse_options(int argc, char **argv, struct options *options)
{
    static const struct option names[] = {{"gateways", no_argument, NULL, 'g'},
                                          {"at", required_argument, NULL, 'a'},
                                          {"seed", required_argument, NULL, 's'},
                                          {"json", required_argument, NULL, 'j'},
                                          {"work", required_argument, NULL, 'w'},
                                          {"gateway-conf", required_argument, NULL, 'c'},
                                          {"clean", no_argument, NULL, 'C'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    bool ok = true;
    int letter;
    while (ok && (letter = getopt_long(argc, argv, "ga:s:j:w:c:h", names, NULL)) != -1) {
        switch (letter) {
        case 'g':
            options->config.gateways = true;
            break;
        case 'a':
            options->at = optarg;
            break;
        case 's':
            ok = parse_seed(optarg, &options->config.seed);
            break;
        case 'j':
            options->config.json = optarg;
            break;
        case 'w':
            options->config.work = optarg;
            break;
        case 'c':
            options->gateway_conf = optarg;
            break;
        case 'C':
            options->clean = true;
            break;
        case 'h':
            options->help = true;
            break;
        default:
            ok = false;
        }
    }
    return ok;
}

/* What stands behind "--" is the command; the number of words before it. */
static int split_command(int argc, char **argv, struct options *options)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0) {
            options->config.command = &argv[i + 1];
            return i;
        }
    }
    return argc;
}

static bool is_complete(const struct options *options)
{
    if (options->topology == NULL)
        fputs("sim-wan emulate: no topology is given\n", stderr);
    else if (options->config.command == NULL || options->config.command[0] == NULL)
        fputs("sim-wan emulate: no command is given; it stands behind --\n", stderr);
    else
        return true;
    return false;
}

/* ---- what the machine must have ---- */
static bool is_possible(void)
{
    if (geteuid() != 0) {
        fputs("sim-wan emulate: makes network namespaces and TUN devices, which only root may: run "
              "it with sudo\n",
              stderr);
        return false;
    }
    if (access("/proc/self/ns/net", F_OK) != 0) {
        fputs("sim-wan emulate: this kernel has no network namespaces (CONFIG_NET_NS)\n", stderr);
        return false;
    }
    int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        fprintf(stderr,
                "sim-wan emulate: cannot open /dev/net/tun: %s; load the module (modprobe tun), "
                "and give a container the device (--device /dev/net/tun --cap-add NET_ADMIN "
                "--cap-add SYS_ADMIN)\n",
                strerror(errno));
        return false;
    }
    close(fd);
    return true;
}

/* ---- files ---- */
static char *read_text(const char *path)
{
    FILE *in = fopen(path, "re");
    char *text = malloc(CONF_BYTES_MAX + 1);
    if (in == NULL || text == NULL) {
        fprintf(stderr, "sim-wan emulate: cannot read %s: %s\n", path, strerror(errno));
        free(text);
        text = NULL;
    } else {
        size_t len = fread(text, 1, CONF_BYTES_MAX + 1, in);
        bool is_read = ferror(in) == 0 && len <= CONF_BYTES_MAX;
        if (is_read) {
            text[len] = '\0';
        } else {
            fprintf(stderr, "sim-wan emulate: cannot read %s: %s\n", path,
                    ferror(in) != 0 ? strerror(errno) : "it has more than 64 KiB");
            free(text);
            text = NULL;
        }
    }
    if (in != NULL)
        fclose(in);
    return text;
}

static int emulate(struct options *options, const struct sim_topo *topo)
{
    struct emu_hosts hosts;
    int status = BAD_USE;
    emu_hosts_init(&hosts, topo);
    if (options->at != NULL)
        options->config.at = emu_hosts_find(&hosts, topo, options->at);
    if (options->config.at == EMU_NO_HOST)
        fprintf(stderr, "sim-wan emulate: no host of %s is called '%s'\n", options->topology,
                options->at);
    else
        status = emu_run(&options->config, topo, &hosts);
    emu_hosts_fini(&hosts);
    return status;
}

static int read_and_emulate(struct options *options)
{
    struct sim_topo topo;
    char error[SIM_TOPO_ERROR_MAX];
    int status = BAD_USE;
    if (sim_topo_read(options->topology, &topo, error) != GMC_OK) {
        fprintf(stderr, "sim-wan emulate: %s\n", error);
        return BAD_USE;
    }
    if (options->gateway_conf != NULL)
        options->config.gateway_conf = read_text(options->gateway_conf);
    if (topo.node_count > EMU_HOSTS_MAX)
        fprintf(stderr, "sim-wan emulate: %s has %zu hosts; at most %u can be emulated\n",
                options->topology, topo.node_count, EMU_HOSTS_MAX);
    else if (options->gateway_conf == NULL || options->config.gateway_conf != NULL)
        status = emulate(options, &topo);
    free(options->config.gateway_conf);
    sim_topo_fini(&topo);
    return status;
}

static int clean(void)
{
    char error[EMU_ERROR_MAX];
    int count = emu_place_clean(error);
    if (count < 0) {
        fprintf(stderr, "sim-wan emulate: %s\n", error);
        return BAD_USE;
    }
    printf("removed what %d killed runs left\n", count);
    return 0;
}

int sim_command_emulate(int argc, char **argv)
{
    struct options options = {.config.seed = 1};
    int words = split_command(argc, argv, &options);
    if (!parse_options(words, argv, &options)) {
        fputs("Try sim-wan emulate --help\n", stderr);
        return BAD_USE;
    }
    if (options.help) {
        print_help(stdout);
        return 0;
    }
    if (options.clean && (optind < words || options.config.command != NULL)) {
        fputs("sim-wan emulate: --clean runs nothing, and takes no topology\n", stderr);
        return BAD_USE;
    }
    if (optind < words)
        options.topology = argv[optind++];
    if (optind < words) {
        fprintf(stderr,
                "sim-wan emulate: '%s' is one word too many; the command stands behind --\n",
                argv[optind]);
        return BAD_USE;
    }
    if (options.gateway_conf != NULL && !options.config.gateways) {
        fputs("sim-wan emulate: --gateway-conf is for gateways: give --gateways too\n", stderr);
        return BAD_USE;
    }
    if (!options.clean && !is_complete(&options))
        return BAD_USE;
    if (!is_possible())
        return BAD_USE;
    return options.clean ? clean() : read_and_emulate(&options);
}
