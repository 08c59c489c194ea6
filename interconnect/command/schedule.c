/* SPDX-License-Identifier: BSD-2-Clause */
/* schedule: who sends to whom in which step, and what can be said of it. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "interconnect/command/command.h"
#include "interconnect/family.h"
#include "interconnect/star/multicast.h"
#include "interconnect/torus/links.h"
#include "interconnect/torus/multicast.h"
#include "interconnect/torus/names.h"
#include "sim-wan/mem.h"

#define NAME "schedule"

struct schedule_options {
    bool is_star, is_json, is_all, joins;
    const char *algorithm;
    uint64_t k, dimensions, r, group, seed;
    const char *members, *root; /* as they were typed; NULL: drawn */
};

/* ---- what is said of a schedule ---- */
struct metric {
    const char *name;
    double value;
};

#define METRICS_MAX 10u

struct outcome {
    const char *algorithm;
    struct ic_text sends;
    struct metric metrics[METRICS_MAX];
    size_t metric_count;
};

static void add_metric(struct outcome *outcome, const char *name, double value)
{
    outcome->metrics[outcome->metric_count++] = (struct metric){name, value};
}

static void add_common(struct outcome *outcome, const struct ic_schedule_metrics *metrics)
{
    add_metric(outcome, "steps", metrics->steps);
    add_metric(outcome, "step_concurrency", metrics->concurrency);
    add_metric(outcome, "max_intermediate", metrics->max_intermediate);
    add_metric(outcome, "root_sends", metrics->root_sends);
}

static void print_text(const struct outcome *outcome)
{
    unsigned long step = 0;
    printf("%s", outcome->algorithm);
    for (const char *at = outcome->sends.bytes; at != NULL && *at != '\0';) {
        size_t length = strcspn(at, " ");
        unsigned long now = strtoul(at, NULL, 10);
        printf("%s%.*s", now != step ? "\n  " : " ", (int)length, at);
        step = now;
        at += length + (at[length] == ' ');
    }
    putchar('\n');
    for (size_t i = 0; i < outcome->metric_count; i++)
        printf("  %-22s %.6g\n", outcome->metrics[i].name, outcome->metrics[i].value);
}

static json_t *to_json(const struct outcome *outcome)
{
    json_t *object = json_pack("{s:s, s:s}", "algorithm", outcome->algorithm, "schedule",
                               outcome->sends.bytes != NULL ? outcome->sends.bytes : "");
    for (size_t i = 0; i < outcome->metric_count; i++)
        json_object_set_new(object, outcome->metrics[i].name, json_real(outcome->metrics[i].value));
    return object;
}

static void refuse_algorithm(const char *asked, const char *shape, const char *const names[],
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
static gmc_status torus_outcome(const struct schedule_options *options,
                                const struct ic_torus *torus, const struct ic_torus_group *group,
                                enum ic_torus_algorithm algorithm, struct outcome *outcome,
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
        add_metric(outcome, "link_visits", (double)links.visits);
        add_metric(outcome, "used_links", (double)links.used);
        add_metric(outcome, "link_concentration", links.concentration);
        add_common(outcome, &metrics);
    }
    ic_schedule_fini(&schedule);
    return status;
}

static gmc_status choose_group(const struct schedule_options *options, const struct ic_torus *torus,
                               struct ic_torus_group *group, char *error)
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

static size_t torus_outcomes(const struct schedule_options *options, struct outcome *outcomes,
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
        refuse_algorithm(options->algorithm, "torus", names, IC_TORUS_ALGORITHMS, error);
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
static gmc_status star_outcome(const struct schedule_options *options,
                               enum ic_star_algorithm algorithm, struct outcome *outcome,
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
    add_metric(outcome, "link_visits", (double)links.visits);
    add_metric(outcome, "used_cables", (double)links.used_cables);
    add_metric(outcome, "concentration_cable", links.concentration_cable);
    add_metric(outcome, "used_directed_links", (double)links.used_directed);
    add_metric(outcome, "concentration_directed", links.concentration_directed);
    add_common(outcome, &metrics);
    ic_schedule_fini(&schedule);
    return status;
}

static size_t star_outcomes(const struct schedule_options *options, struct outcome *outcomes,
                            char *error)
{
    enum ic_star_algorithm only = IC_STAR_BINOMIAL;
    size_t count = 0;
    if (!options->is_all && ic_star_algorithm_from_name(options->algorithm, &only) != GMC_OK) {
        const char *names[IC_STAR_ALGORITHMS];
        for (int a = 0; a < IC_STAR_ALGORITHMS; a++)
            names[a] = ic_star_algorithm_name((enum ic_star_algorithm)a);
        refuse_algorithm(options->algorithm, "star", names, IC_STAR_ALGORITHMS, error);
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
    puts("Usage: gmcast-interconnect schedule torus|star [OPTIONS]\n"
         "Writes the multicast schedules STEP:FROM>TO of algorithms, and their metrics.\n"
         "\n"
         "  --algorithm NAME  one of them; default: all\n"
         "  --group G         so many members: drawn at random in a torus, ranks 0..G-1 in a star\n"
         "  --json            JSON instead of text\n"
         "\n"
         "In a torus, whose nodes are coordinates 1..K with dots between, such as 2.4:\n"
         "  --k K             nodes per ring (4)\n"
         "  --N DIMENSIONS    (2)\n"
         "  --r R             partition length of Mu-torus (K)\n"
         "  --joins           members left over by Mu-torus join the last full run\n"
         "  --members NODES   the members, with blanks between\n"
         "  --root NODE       one of them (the first)\n"
         "  --seed N          of a group that is drawn (1)");
}

static const struct option table[] = {
    {"algorithm", required_argument, NULL, 'a'},
    {"group", required_argument, NULL, 'g'},
    {"json", no_argument, NULL, 'J'},
    {"k", required_argument, NULL, 'k'},
    {"N", required_argument, NULL, 'N'},
    {"r", required_argument, NULL, 'r'},
    {"joins", no_argument, NULL, 'o'},
    {"members", required_argument, NULL, 'm'},
    {"root", required_argument, NULL, 'R'},
    {"seed", required_argument, NULL, 's'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int take(struct schedule_options *options, int letter)
{
    switch (letter) {
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
        fputs("Try: gmcast-interconnect schedule --help\n", stderr);
        return IC_BAD;
    }
}

static int check(const struct schedule_options *options)
{
    if (options->is_star && (options->members != NULL || options->root != NULL))
        return ic_bad(NAME, "members of a star are ranks: --group says how many");
    if (options->root != NULL && options->members == NULL)
        return ic_bad(NAME, "--root needs --members, one of which it is");
    if (options->members != NULL && options->group != 0)
        return ic_bad(NAME, "--group draws members; --members names them: give one of the two");
    return IC_DONE;
}

static void print_all(const struct schedule_options *options, const struct outcome *outcomes,
                      size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        if (options->is_json)
            json_array_append_new(list, to_json(&outcomes[i]));
        else
            print_text(&outcomes[i]);
    if (options->is_json) {
        json_dumpf(list, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
        putchar('\n');
    }
    json_decref(list);
}

static int run(const struct schedule_options *options)
{
    struct outcome outcomes[IC_TORUS_ALGORITHMS + IC_STAR_ALGORITHMS] = {0};
    char error[IC_ERROR_MAX] = "";
    size_t count = options->is_star ? star_outcomes(options, outcomes, error)
                                    : torus_outcomes(options, outcomes, error);
    int status = IC_DONE;
    if (count == 0)
        status = ic_bad(NAME, "%s", error[0] != '\0' ? error : gmc_status_text(GMC_ERR_NOMEM));
    else
        print_all(options, outcomes, count);
    for (size_t i = 0; i < sizeof(outcomes) / sizeof(outcomes[0]); i++)
        ic_text_fini(&outcomes[i].sends);
    return status == IC_DONE ? ic_finish_output(NAME) : status;
}

int ic_command_schedule(int argc, char **argv)
{
    struct schedule_options options = {.k = 4, .dimensions = 2, .seed = 1, .is_all = true};
    const char *word = argc > 1 ? argv[1] : "";
    int letter, status = IC_DONE;
    if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) {
        print_help();
        return IC_DONE;
    }
    options.is_star = strcmp(word, "star") == 0;
    if (!options.is_star && strcmp(word, "torus") != 0)
        return ic_bad(NAME, "schedules are of a torus or a star; see --help");
    optind = 1;
    while (status == IC_DONE && (letter = getopt_long(argc - 1, argv + 1, "", table, NULL)) != -1) {
        if (letter == 'h') {
            print_help();
            return IC_DONE;
        }
        status = take(&options, letter);
    }
    if (status == IC_DONE && optind < argc - 1)
        status = ic_bad(NAME, "'%s' is no option", argv[optind + 1]);
    if (status == IC_DONE)
        status = check(&options);
    return status == IC_DONE ? run(&options) : status;
}
