/* SPDX-License-Identifier: BSD-2-Clause */
/* schedule: who sends to whom in which step, and what can be said of it. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interconnect/command/command.h"
#include "interconnect/command/schedule.h"
#include "interconnect/star/multicast.h"
#include "interconnect/torus/links.h"
#include "interconnect/torus/multicast.h"
#include "interconnect/torus/names.h"
#include "sim-wan/mem.h"

#define NAME "schedule"

_Static_assert((int)IC_TORUS_ALGORITHMS <= (int)IC_OUTCOMES_MAX &&
                   (int)IC_STAR_ALGORITHMS <= (int)IC_OUTCOMES_MAX,
               "there is room for all");

static void add_common(struct ic_outcome *outcome, const struct ic_schedule_metrics *metrics)
{
    ic_outcome_add(outcome, "steps", metrics->steps);
    ic_outcome_add(outcome, "step_concurrency", metrics->concurrency);
    ic_outcome_add(outcome, "max_intermediate", metrics->max_intermediate);
    ic_outcome_add(outcome, "root_sends", metrics->root_sends);
}

void ic_schedule_refuse(const char *asked, const char *shape, const char *const names[],
                        size_t count, char *error)
{
    struct ic_text list = {0};
    for (size_t i = 0; i < count; i++)
        ic_text_add(&list, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " or ", names[i]);
    ic_refuse(error, "no algorithm of a %s is called '%.60s'; it must be %s", shape, asked,
              list.bytes);
    ic_text_fini(&list);
}

/* ---- torus ---- */
static gmc_status torus_outcome(const struct ic_schedule_options *options,
                                const struct ic_torus *torus, const struct ic_torus_group *group,
                                enum ic_torus_algorithm algorithm, struct ic_outcome *outcome,
                                char *error)
{
    struct ic_schedule schedule = {0};
    struct ic_schedule_metrics metrics;
    struct ic_torus_links links = {0};
    uint32_t r = options->r > 0 ? (uint32_t)options->r : torus->k;
    gmc_status status =
        (options->joins ? ic_torus_multicast_joined : ic_torus_multicast)(torus, group, algorithm,
                                                                          r, &schedule, error);
    if (status != GMC_OK)
        return status;
    status = ic_schedule_measure(&schedule, &metrics);
    if (status == GMC_OK)
        status = ic_torus_measure_links(torus, group, &schedule, IC_TORUS_BY_DIMENSION, &links);
    if (status == GMC_OK) {
        outcome->algorithm = ic_torus_algorithm_name(algorithm);
        ic_torus_add_schedule(&outcome->sends, torus, group, &schedule);
        ic_outcome_add(outcome, "link_visits", (double)links.visits);
        ic_outcome_add(outcome, "used_links", (double)links.used);
        ic_outcome_add(outcome, "link_concentration", links.concentration);
        add_common(outcome, &metrics);
    }
    ic_schedule_fini(&schedule);
    return status;
}

static gmc_status choose_group(const struct ic_schedule_options *options,
                               const struct ic_torus *torus, struct ic_torus_group *group,
                               char *error)
{
    struct gmc_prng prng;
    if (options->members != NULL) {
        char *root = sim_strdup(options->root != NULL ? options->root : options->members);
        if (options->root == NULL)
            root[strcspn(root, " ")] = '\0';
        gmc_status status = ic_torus_read_group(torus, options->members, root, group, error);
        free(root);
        return status;
    }
    uint64_t size = options->group > 0 ? options->group : torus->nodes;
    gmc_status status = ic_check_range("G, the group's size,", size, 2, torus->nodes, error);
    if (status != GMC_OK)
        return status;
    uint32_t *nodes = sim_calloc(size, sizeof(*nodes));
    gmc_prng_init(&prng, options->seed);
    ic_torus_draw_group(torus, (uint32_t)size, &prng, nodes, group);
    return GMC_OK;
}

static size_t torus_outcomes(const struct ic_schedule_options *options, struct ic_outcome *outcomes,
                             char *error)
{
    struct ic_torus torus;
    struct ic_torus_group group;
    enum ic_torus_algorithm only = IC_TORUS_MD;
    size_t count = 0;
    if (!options->is_all && ic_torus_algorithm_from_name(options->algorithm, &only) != GMC_OK) {
        const char *names[IC_TORUS_ALGORITHMS];
        for (int a = 0; a < IC_TORUS_ALGORITHMS; a++)
            names[a] = ic_torus_algorithm_name((enum ic_torus_algorithm)a);
        ic_schedule_refuse(options->algorithm, "torus", names, IC_TORUS_ALGORITHMS, error);
        return 0;
    }
    if (ic_torus_init(&torus, options->k, options->dimensions, error) != GMC_OK ||
        (options->r != 0 &&
         ic_check_range("r, the partition length,", options->r, 1, torus.nodes, error) != GMC_OK) ||
        choose_group(options, &torus, &group, error) != GMC_OK)
        return 0;
    for (int a = 0; a < IC_TORUS_ALGORITHMS; a++) {
        if (!options->is_all && a != (int)only)
            continue;
        if (torus_outcome(options, &torus, &group, (enum ic_torus_algorithm)a, &outcomes[count],
                          error) != GMC_OK)
            break;
        count++;
    }
    free((void *)group.nodes);
    return error[0] == '\0' ? count : 0;
}

/* ---- star ---- */
static gmc_status star_outcome(const struct ic_schedule_options *options,
                               enum ic_star_algorithm algorithm, struct ic_outcome *outcome,
                               char *error)
{
    struct ic_schedule schedule;
    struct ic_schedule_metrics metrics;
    struct ic_star_links links;
    uint64_t group = options->group > 0 ? options->group : 16;
    gmc_status status = ic_star_multicast(group, algorithm, &schedule, error);
    if (status != GMC_OK)
        return status;
    status = ic_schedule_measure(&schedule, &metrics);
    ic_star_measure_links(&schedule, &links);
    outcome->algorithm = ic_star_algorithm_name(algorithm);
    for (size_t i = 0; i < schedule.count; i++)
        ic_text_add(&outcome->sends, "%s%u:%u>%u", i > 0 ? " " : "", schedule.sends[i].step,
                    schedule.sends[i].from, schedule.sends[i].to);
    ic_outcome_add(outcome, "link_visits", (double)links.visits);
    ic_outcome_add(outcome, "used_cables", (double)links.used_cables);
    ic_outcome_add(outcome, "concentration_cable", links.concentration_cable);
    ic_outcome_add(outcome, "used_directed_links", (double)links.used_directed);
    ic_outcome_add(outcome, "concentration_directed", links.concentration_directed);
    add_common(outcome, &metrics);
    ic_schedule_fini(&schedule);
    return status;
}

static size_t star_outcomes(const struct ic_schedule_options *options, struct ic_outcome *outcomes,
                            char *error)
{
    enum ic_star_algorithm only = IC_STAR_BINOMIAL;
    size_t count = 0;
    if (!options->is_all && ic_star_algorithm_from_name(options->algorithm, &only) != GMC_OK) {
        const char *names[IC_STAR_ALGORITHMS];
        for (int a = 0; a < IC_STAR_ALGORITHMS; a++)
            names[a] = ic_star_algorithm_name((enum ic_star_algorithm)a);
        ic_schedule_refuse(options->algorithm, "star", names, IC_STAR_ALGORITHMS, error);
        return 0;
    }
    for (int a = 0; a < IC_STAR_ALGORITHMS; a++) {
        if (!options->is_all && a != (int)only)
            continue;
        if (star_outcome(options, (enum ic_star_algorithm)a, &outcomes[count], error) != GMC_OK)
            return 0;
        count++;
    }
    return count;
}

/* ---- the command line ---- */
static void print_help(void)
{
    puts("Usage: gmcast-interconnect schedule torus|star|ldr [OPTIONS]\n"
         "Writes the multicast schedules STEP:FROM>TO of algorithms, and their metrics.\n"
         "\n"
         "  --algorithm NAME  one of them; default: all\n"
         "  --group G         so many members: drawn at random, ranks 0..G-1 in a star\n"
         "  --json            JSON instead of text\n"
         "\n"
         "In a torus, whose nodes are coordinates 1..K with dots between, such as 2.4, and in a\n"
         "graph (ldr), whose nodes are numbers from 0 on, or names of a file:\n"
         "  --members NODES   the members, with blanks between\n"
         "  --root NODE       one of them (the first); of a graph any node\n"
         "  --seed N          of a group that is drawn (1)\n"
         "\n"
         "Of the torus:\n"
         "  --k K             nodes per ring (4)\n"
         "  --N DIMENSIONS    (2)\n"
         "  --r R             partition length of Mu-torus (K)\n"
         "  --joins           members left over by Mu-torus join the last full run\n"
         "\n"
         "Of the graph, which has the multicast tree of its stored shortest ways (tree), that of\n"
         "the smallest subcube (subcube, hypercubes only), and a packet to each (separate):\n"
         "  --topology WHAT   hypercube, ldr, improved, or the FILE of a list of edges (ldr)\n"
         "  --nodes N, --degree D, --samples N, --steps N, --graph-seed N\n"
         "                    as of model ldr (list ldr)");
}

/* Networks, and which of them an option is of. */
enum { TORUS = 1, STAR = 2, LDR = 4, ANY = TORUS | STAR | LDR };

static const struct known {
    const char *name;
    char letter; /* getopt's value; of a graph's parameter none */
    bool has_argument;
    unsigned networks;
    unsigned param; /* of a graph */
} known[] = {
    {"algorithm", 'a', true, ANY, 0},
    {"group", 'g', true, ANY, 0},
    {"json", 'J', false, ANY, 0},
    {"help", 'h', false, ANY, 0},
    {"members", 'm', true, TORUS | LDR, 0},
    {"root", 'R', true, TORUS | LDR, 0},
    {"seed", 's', true, TORUS | LDR, 0},
    {"k", 'k', true, TORUS, 0},
    {"N", 'N', true, TORUS, 0},
    {"r", 'r', true, TORUS, 0},
    {"joins", 'o', false, TORUS, 0},
    {"topology", 'G', true, LDR, IC_LDR_PARAM_TOPOLOGY},
    {"nodes", 'G', true, LDR, IC_LDR_PARAM_NODES},
    {"degree", 'G', true, LDR, IC_LDR_PARAM_DEGREE},
    {"samples", 'G', true, LDR, IC_LDR_PARAM_SAMPLES},
    {"steps", 'G', true, LDR, IC_LDR_PARAM_STEPS},
    {"graph-seed", 'G', true, LDR, IC_LDR_PARAM_SEED},
};

#define KNOWN (sizeof(known) / sizeof(known[0]))

static const struct {
    const char *name;
    unsigned bit;
} networks[] = {{"torus", TORUS}, {"star", STAR}, {"ldr", LDR}};

static int take(struct ic_schedule_options *options, const struct known *option)
{
    switch (option->letter) {
    case 'a':
        options->algorithm = optarg;
        options->is_all = strcmp(optarg, "all") == 0;
        return IC_DONE;
    case 'g':
        return ic_read_count(NAME, "group", optarg, 1, &options->group);
    case 'J':
        options->is_json = true;
        return IC_DONE;
    case 'k':
        return ic_read_count(NAME, "k", optarg, 0, &options->k);
    case 'N':
        return ic_read_count(NAME, "N", optarg, 0, &options->dimensions);
    case 'r':
        return ic_read_count(NAME, "r", optarg, 1, &options->r);
    case 'o':
        options->joins = true;
        return IC_DONE;
    case 'm':
        options->members = optarg;
        return IC_DONE;
    case 'R':
        options->root = optarg;
        return IC_DONE;
    case 's':
        return ic_read_count(NAME, "seed", optarg, 0, &options->seed);
    default:
        options->graph[option->param] = optarg;
        return IC_DONE;
    }
}

static int check(const struct ic_schedule_options *options, unsigned network)
{
    if (network == TORUS && options->root != NULL && options->members == NULL)
        return ic_bad(NAME, "--root needs --members, one of which it is");
    if (options->members != NULL && options->group != 0)
        return ic_bad(NAME, "--group draws members; --members names them: give one of the two");
    return IC_DONE;
}

/* The arguments behind the network's name. */
static int read_options(struct ic_schedule_options *options, unsigned network, int argc,
                        char **argv, bool *is_helped)
{
    struct option table[KNOWN + 1] = {0};
    int letter, status = IC_DONE;
    for (size_t i = 0; i < KNOWN; i++)
        table[i] = (struct option){known[i].name, known[i].has_argument, NULL, (int)i + 1};
    optind = 1;
    while (status == IC_DONE && (letter = getopt_long(argc, argv, "", table, NULL)) != -1) {
        if (letter < 1 || letter > (int)KNOWN) {
            fputs("Try: gmcast-interconnect schedule --help\n", stderr);
            return IC_BAD;
        }
        const struct known *option = &known[letter - 1];
        *is_helped |= option->letter == 'h';
        if ((option->networks & network) == 0)
            return ic_bad(NAME, "--%s is not of schedule %s; see --help", option->name, argv[0]);
        status = take(options, option);
    }
    if (status == IC_DONE && optind < argc)
        return ic_bad(NAME, "'%s' is no option", argv[optind]);
    return status == IC_DONE ? check(options, network) : status;
}

/* Those of closed forms, whose words come back. */
static int tell_regular(const struct ic_schedule_options *options, unsigned network,
                        struct ic_outcome *outcomes, size_t *count)
{
    char error[IC_ERROR_MAX] = "";
    *count = network == STAR ? star_outcomes(options, outcomes, error)
                             : torus_outcomes(options, outcomes, error);
    if (*count > 0)
        return IC_DONE;
    return ic_bad(NAME, "%s", error[0] != '\0' ? error : gmc_status_text(GMC_ERR_NOMEM));
}

static int run(const struct ic_schedule_options *options, unsigned network)
{
    struct ic_outcome outcomes[IC_OUTCOMES_MAX] = {0};
    size_t count;
    int status = network == LDR ? ic_ldr_outcomes(options, outcomes, &count)
                                : tell_regular(options, network, outcomes, &count);
    if (status == IC_DONE)
        ic_outcomes_print(outcomes, count, options->is_json);
    for (size_t i = 0; i < IC_OUTCOMES_MAX; i++)
        ic_outcome_fini(&outcomes[i]);
    return status == IC_DONE ? ic_finish_output(NAME) : status;
}

int ic_command_schedule(int argc, char **argv)
{
    struct ic_schedule_options options = {.k = 4, .dimensions = 2, .seed = 1, .is_all = true};
    const char *word = argc > 1 ? argv[1] : "";
    unsigned network = 0;
    bool is_helped = strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0;
    int status = IC_DONE;
    for (size_t i = 0; i < sizeof(networks) / sizeof(networks[0]); i++)
        if (strcmp(word, networks[i].name) == 0)
            network = networks[i].bit;
    if (!is_helped && network == 0)
        return ic_bad(NAME, "schedules are of a torus, a star or a graph (ldr); see --help");
    if (!is_helped)
        status = read_options(&options, network, argc - 1, argv + 1, &is_helped);
    if (status == IC_DONE && is_helped) {
        print_help();
        return IC_DONE;
    }
    return status == IC_DONE ? run(&options, network) : status;
}
