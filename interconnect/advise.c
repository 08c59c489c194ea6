/* SPDX-License-Identifier: BSD-2-Clause */
/* All algorithms of a network's family, one after the other. */
#include "interconnect/advise.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "interconnect/families.h"
#include "interconnect/star/latency.h"
#include "interconnect/torus/torus.h"

#define PARAMS_MAX 16u
#define OUTPUTS_MAX 16u

/* ---- networks ---- */
/* Digits at *text, which moves behind them; a number that is too large is the largest. False: there
 * are none. */
static bool read_size(const char **text, uint64_t *size)
{
    char *end;
    if (**text < '0' || **text > '9')
        return false;
    *size = strtoull(*text, &end, 10);
    *text = end;
    return true;
}

static gmc_status refuse_torus(const char *sizes, char *error)
{
    return ic_refuse(error, "torus:%.40s is no torus; one is written torus:4x4", sizes);
}

static gmc_status parse_torus(const char *sizes, struct ic_network *network, char *error)
{
    struct ic_torus torus;
    const char *at = sizes;
    uint64_t k, other;
    *network = (struct ic_network){.family = &ic_family_torus, .scheme = -1};
    if (!read_size(&at, &k))
        return refuse_torus(sizes, error);
    for (network->dimensions = 1; *at == 'x'; network->dimensions++) {
        at++;
        if (!read_size(&at, &other))
            return refuse_torus(sizes, error);
        if (other != k)
            return ic_refuse(error, "torus:%.40s: all dimensions have to be of one size", sizes);
    }
    if (*at != '\0')
        return refuse_torus(sizes, error);
    gmc_status status = ic_torus_init(&torus, k, network->dimensions, error);
    if (status == GMC_OK) {
        network->k = torus.k;
        network->nodes = torus.nodes;
    }
    return status;
}

static gmc_status parse_star(const char *rest, struct ic_network *network, char *error)
{
    enum ic_myrinet_scheme scheme;
    const char *at = rest;
    uint64_t nodes;
    bool is_star = read_size(&at, &nodes);
    *network = (struct ic_network){.family = &ic_family_star, .scheme = -1};
    if (is_star && *at == ':' && ic_myrinet_scheme_from_name(at + 1, &scheme) == GMC_OK)
        network->scheme = (int)scheme;
    else if (!is_star || *at != '\0')
        return ic_refuse(error,
                         "star:%.40s is no star; one is written star:16 or star:16:NA, with "
                         "HB, NB or NA",
                         rest);
    gmc_status status =
        ic_check_range("the number of the star's nodes", nodes, 2, IC_GROUP_MAX, error);
    if (status == GMC_OK)
        network->nodes = (uint32_t)nodes;
    return status;
}

gmc_status ic_network_parse(const char *text, struct ic_network *network, char *error)
{
    if (strncmp(text, "torus:", 6) == 0)
        return parse_torus(text + 6, network, error);
    if (strncmp(text, "star:", 5) == 0)
        return parse_star(text + 5, network, error);
    return ic_refuse(error, "'%.40s' is no network; one is written torus:4x4 or star:16", text);
}

/* ---- advice ---- */
static void set(const struct ic_family *family, double *values, const char *name, double value)
{
    size_t param = ic_family_param(family, name);
    GMC_ASSERT(param < family->param_count);
    values[param] = value;
}

static void fill(const struct ic_question *question, double *values)
{
    const struct ic_network *network = &question->network;
    const struct ic_family *family = network->family;
    GMC_ASSERT(family->param_count <= PARAMS_MAX && family->output_count <= OUTPUTS_MAX);
    ic_family_defaults(family, values);
    set(family, values, "group", (double)question->group);
    set(family, values, "bytes", (double)question->bytes);
    set(family, values, "packet", (double)question->packet_bytes);
    if (family == &ic_family_torus) {
        set(family, values, "k", network->k);
        set(family, values, "N", network->dimensions);
        set(family, values, "rest", 1); /* as Mu-torus is defined, not as its model counts */
    }
}

static gmc_status check(const struct ic_question *question, char *error)
{
    const struct ic_network *network = &question->network;
    gmc_status status = ic_check_range("the group", question->group, 2, network->nodes, error);
    if (status != GMC_OK || (question->by & IC_MODEL) == 0)
        return status;
    if (network->family == &ic_family_torus && network->dimensions != 2)
        return ic_refuse(error,
                         "the models are of tori of two dimensions, this has %u: only the "
                         "simulators can tell (--simulate)",
                         network->dimensions);
    if (network->family == &ic_family_star && question->bytes > IC_MYRINET_BYTES_MAX)
        return ic_refuse(error,
                         "the models of the star hold for 1 to %u bytes: only the "
                         "simulators can tell (--simulate)",
                         IC_MYRINET_BYTES_MAX);
    return GMC_OK;
}

static gmc_status ask(const struct ic_question *question, const double *values,
                      struct ic_answer *answer, char *error)
{
    const struct ic_family *family = question->network.family;
    const struct ic_run run = {.seed = question->seed};
    struct ic_figure figures[OUTPUTS_MAX] = {0};
    struct ic_result result = {.figures = figures};
    size_t latency = ic_family_output(family, "latency");
    gmc_status status = GMC_OK;
    if ((question->by & IC_MODEL) != 0) {
        status = ic_family_model(family, values, NULL, &result, error);
        answer->model = figures[latency];
    }
    if (status == GMC_OK && (question->by & IC_SIMULATOR) != 0) {
        status = ic_family_simulate(family, values, NULL, &run, &result, error);
        answer->simulated = figures[latency];
    }
    return status;
}

/* Both in their order: what was given first stays first among equals. */
static int by_latency(const struct ic_answer *a, const struct ic_answer *b)
{
    const struct ic_figure *left = &a->simulated, *right = &b->simulated;
    if (left->state != IC_FIGURE_KNOWN) {
        left = &a->model;
        right = &b->model;
    }
    return (left->value > right->value) - (left->value < right->value);
}

static void insert(struct ic_advice *advice, const struct ic_answer *answer)
{
    size_t place = advice->count++;
    GMC_ASSERT(place < IC_ANSWERS_MAX);
    for (; place > 0 && by_latency(&advice->answers[place - 1], answer) > 0; place--)
        advice->answers[place] = advice->answers[place - 1];
    advice->answers[place] = *answer;
}

static gmc_status ask_all(const struct ic_question *question, double *values, const char *scheme,
                          struct ic_advice *advice, char *error)
{
    const struct ic_family *family = question->network.family;
    size_t algorithm = ic_family_param(family, "algorithm");
    const char *const *names = family->params[algorithm].choices;
    gmc_status status = GMC_OK;
    for (size_t i = 0; names[i] != NULL && status == GMC_OK; i++) {
        struct ic_answer answer = {.scheme = scheme, .algorithm = names[i]};
        values[algorithm] = (double)i;
        status = ask(question, values, &answer, error);
        if (status == GMC_OK)
            insert(advice, &answer);
    }
    return status;
}

gmc_status ic_advise(const struct ic_question *question, struct ic_advice *advice, char *error)
{
    const struct ic_network *network = &question->network;
    double values[PARAMS_MAX];
    advice->count = 0;
    gmc_status status = check(question, error);
    if (status != GMC_OK)
        return status;
    fill(question, values);
    if (network->family == &ic_family_torus)
        return ask_all(question, values, "", advice, error);
    for (int i = 0; i < IC_MYRINET_SCHEMES && status == GMC_OK; i++) {
        if (network->scheme >= 0 && network->scheme != i)
            continue;
        set(network->family, values, "scheme", i);
        status = ask_all(question, values, ic_myrinet_scheme_name((enum ic_myrinet_scheme)i),
                         advice, error);
    }
    return status;
}
