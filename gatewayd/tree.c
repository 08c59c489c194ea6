/* SPDX-License-Identifier: BSD-2-Clause */
/* The shape of a domain's tree, from its network and the interconnect's schedules. */
#include "gatewayd/tree.h"

#include <stdlib.h>
#include <string.h>

#include "core/inside.h"
#include "gatewayd/text.h"
#include "interconnect/place.h"

/* A member and where it stands. */
struct place {
    char *name; /* so many bytes; behind them the coordinates, for people */
    size_t len;
    uint32_t node;
};

struct gwd_tree {
    struct gwd_log *log;
    struct ic_network network;
    bool has_places;
    char *algorithm; /* NULL: the best one */
    struct place *places;
    size_t count;
};

bool gwd_tree_is_flat(const struct gwd_conf *conf)
{
    return strcmp(conf->delivery_tree, "separate") == 0;
}

static bool read_network(struct gwd_tree *tree, const struct gwd_conf *conf, const char **option,
                         char *reason, size_t size)
{
    char error[IC_ERROR_MAX];
    /* Any number of nodes around one switch. */
    const char *text = strcmp(conf->network, "star") == 0 ? "star:1048576" : conf->network;
    *option = "network";
    if (ic_network_parse(text, &tree->network, error) != GMC_OK) {
        gwd_text(reason, size, "network: %s", error);
        return false;
    }
    tree->has_places = strncmp(text, "torus:", 6) == 0;
    *option = "delivery_tree";
    if (strcmp(conf->delivery_tree, "auto") == 0)
        return true;
    if (ic_place_has(&tree->network, conf->delivery_tree))
        return (tree->algorithm = strdup(conf->delivery_tree)) != NULL;
    gwd_text(reason, size, "delivery_tree: '%s' is no schedule of this network; expected auto, %s",
             conf->delivery_tree,
             tree->has_places ? "separate, U-torus, S-torus, Md-torus or Mu-torus"
                              : "separate, serial, binary or binomial");
    return false;
}

static const struct place *place_of(const struct gwd_tree *tree, const char *name)
{
    for (size_t i = 0; i < tree->count; i++)
        if (gmc_inside_means(tree->places[i].name, tree->places[i].len, name))
            return &tree->places[i];
    return NULL;
}

static bool read_place(struct gwd_tree *tree, const char *item, char *reason, size_t size)
{
    char error[IC_ERROR_MAX];
    struct place place = {.len = strcspn(item, "=")};
    const char *node = item + place.len + (item[place.len] == '=');
    if (ic_place_node(&tree->network, node, &place.node, error) != GMC_OK) {
        gwd_text(reason, size, "network_nodes: '%s': %s", item, error);
        return false;
    }
    for (size_t i = 0; i < tree->count; i++) {
        bool is_name =
            tree->places[i].len == place.len && strncmp(tree->places[i].name, item, place.len) == 0;
        if (!is_name && tree->places[i].node != place.node)
            continue;
        gwd_text(reason, size, "network_nodes: '%s' and '%s' %s", tree->places[i].name, item,
                 is_name ? "are places of one node" : "are at one place");
        return false;
    }
    place.name = strdup(item);
    tree->places[tree->count] = place;
    tree->count += place.name != NULL;
    return place.name != NULL;
}

static bool read_places(struct gwd_tree *tree, const struct gwd_conf *conf, char *reason,
                        size_t size)
{
    for (size_t i = 0; i < conf->network_nodes.count; i++)
        if (!read_place(tree, conf->network_nodes.items[i], reason, size))
            return false;
    if (!tree->has_places || place_of(tree, conf->domain) != NULL)
        return true;
    gwd_text(reason, size,
             "network_nodes: %s, this gateway, has no place on %s; give it and the nodes one, such "
             "as network_nodes = {\"%s=1,1\", \"NODE=1,2\"}",
             conf->domain, conf->network, conf->domain);
    return false;
}

struct gwd_tree *gwd_tree_new(const struct gwd_conf *conf, struct gwd_log *log, const char **option,
                              char *reason, size_t size)
{
    struct gwd_tree *tree = calloc(1, sizeof *tree);
    *option = "";
    gwd_text(reason, size, "out of memory");
    if (tree == NULL)
        return NULL;
    tree->log = log;
    tree->places = calloc(conf->network_nodes.count + 1, sizeof *tree->places);
    bool ok = tree->places != NULL && read_network(tree, conf, option, reason, size);
    if (ok) {
        *option = "network_nodes";
        ok = read_places(tree, conf, reason, size);
    }
    if (ok)
        return tree;
    gwd_tree_free(tree);
    return NULL;
}

void gwd_tree_free(struct gwd_tree *tree)
{
    if (tree == NULL)
        return;
    for (size_t i = 0; i < tree->count; i++)
        free(tree->places[i].name);
    free(tree->places);
    free(tree->algorithm);
    free(tree);
}

/* Those with a place; all of them around a switch. Who has none is fed by the gateway. */
static size_t choose(const struct gwd_tree *tree, const char *const *names, size_t count,
                     uint32_t *members, uint32_t *at)
{
    size_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct place *place = tree->has_places ? place_of(tree, names[i]) : NULL;
        if (tree->has_places && place == NULL)
            continue;
        members[kept] = i;
        at[kept++] = place != NULL ? place->node : 0;
    }
    return kept;
}

gmc_status gwd_tree_shape(void *ctx, const char *const *names, size_t count, uint64_t bytes,
                          uint32_t *parent, const char **name)
{
    struct gwd_tree *tree = ctx;
    char error[IC_ERROR_MAX] = "out of memory";
    uint32_t *members = calloc(3 * count, sizeof *members);
    if (members == NULL)
        return GMC_ERR_NOMEM;
    uint32_t *at = members + count, *above = at + count;
    size_t kept = choose(tree, names, count, members, at);
    gmc_status status = GMC_OK;
    *name = "separate";
    memset(parent, 0, count * sizeof *parent);
    if (kept > 1)
        status = ic_place(&tree->network, tree->algorithm, at, kept, bytes, above, name, error);
    for (size_t i = 1; i < kept && status == GMC_OK; i++)
        parent[members[i]] = members[above[i]];
    if (status != GMC_OK && tree->log != NULL)
        gwd_log(tree->log, GMC_LEVEL_WARN, "tree.unused", GWD_NUM("nodes", count - 1),
                GWD_STR("reason", error), GWD_STR("text", "the gateway sends to every node"));
    free(members);
    return status;
}
