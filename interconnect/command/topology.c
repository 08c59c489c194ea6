/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading graphs, and making choices of them. */
#include "interconnect/command/topology.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interconnect/command/command.h"
#include "interconnect/command/file.h"
#include "interconnect/ldr/network.h"
#include "sim-wan/mem.h"

int ic_read_edges(const char *command, const char *file, struct ic_edges *edges)
{
    char error[IC_ERROR_MAX] = "";
    size_t length;
    char *bytes = ic_read_file(file, &length);
    if (bytes == NULL)
        return ic_bad(command, "%s: %s", file, strerror(errno));
    gmc_status status = ic_edges_parse(edges, bytes, length, error);
    free(bytes);
    if (status == GMC_OK)
        return IC_DONE;
    return ic_bad(command, "%s: %s", file, error[0] != '\0' ? error : gmc_status_text(status));
}

static bool is_choice(const struct ic_topologies *topologies, const char *word)
{
    for (size_t i = 0; i < topologies->own + topologies->files; i++)
        if (strcmp(topologies->choices[i], word) == 0)
            return true;
    return strcmp(word, "all") == 0;
}

/* Neither a word nor a file: the words that could have been meant. */
static int refuse(const struct ic_topologies *topologies, const char *command, const char *word)
{
    char list[IC_ERROR_MAX] = "";
    size_t at = 0;
    for (size_t i = 0; i < topologies->own && at < sizeof(list); i++)
        at += (size_t)snprintf(list + at, sizeof(list) - at, "%s, ", topologies->choices[i]);
    return ic_bad(command, "%s is \"%s\"; it must be %sor the file of a list of edges: %s",
                  IC_FAMILY_GRAPHS, word, list, strerror(errno));
}

static int take_file(struct ic_topologies *topologies, const char *command, char *file)
{
    char error[IC_ERROR_MAX] = "";
    struct ic_edges edges;
    if (access(file, R_OK) != 0)
        return refuse(topologies, command, file);
    if (ic_read_edges(command, file, &edges) != IC_DONE)
        return IC_BAD;
    gmc_status status = ic_edges_check(&edges, IC_NETWORK_PORTS_MAX, error);
    if (status != GMC_OK) {
        ic_edges_fini(&edges);
        return ic_bad(command, "%s: %s", file, error[0] != '\0' ? error : gmc_status_text(status));
    }
    topologies->choices[topologies->own + topologies->files] = file;
    topologies->edges[topologies->files++] = edges;
    return IC_DONE;
}

static void extend(struct ic_topologies *topologies, const struct ic_family *family, size_t place,
                   const char *list)
{
    const char *const *own = family->params[place].choices;
    size_t most = 1;
    for (const char *c = list; *c != '\0'; c++)
        most += *c == ',';
    while (own[topologies->own] != NULL)
        topologies->own++;
    topologies->choices = sim_calloc(topologies->own + most + 1, sizeof(*topologies->choices));
    memcpy(topologies->choices, own, topologies->own * sizeof(*own));
    topologies->edges = sim_calloc(most, sizeof(*topologies->edges));
    topologies->params = sim_calloc(family->param_count, sizeof(*topologies->params));
    memcpy(topologies->params, family->params, family->param_count * sizeof(*family->params));
    topologies->params[place].choices = topologies->choices;
    topologies->family = *family;
    topologies->family.params = topologies->params;
    topologies->text = sim_strdup(list);
}

int ic_topologies_read(struct ic_topologies *topologies, const char *command,
                       const struct ic_family *family, const char *list)
{
    char *rest = NULL;
    *topologies = (struct ic_topologies){.own = 0};
    extend(topologies, family, ic_family_param(family, IC_FAMILY_GRAPHS), list);
    for (char *word = strtok_r(topologies->text, ",", &rest); word != NULL;
         word = strtok_r(NULL, ",", &rest))
        if (!is_choice(topologies, word) && take_file(topologies, command, word) != IC_DONE)
            return IC_BAD;
    return IC_DONE;
}

void ic_topologies_fini(struct ic_topologies *topologies)
{
    for (size_t i = 0; i < topologies->files; i++)
        ic_edges_fini(&topologies->edges[i]);
    free(topologies->edges);
    free(topologies->choices);
    free(topologies->params);
    free(topologies->text);
    *topologies = (struct ic_topologies){.own = 0};
}
