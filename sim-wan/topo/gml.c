/* SPDX-License-Identifier: BSD-2-Clause */
/* The reader of GML; see gml.h. A file is a list of keys, each with a number, a text or a list in
 * brackets; a stack of the open lists says where we are. */
#include "sim-wan/topo/gml.h"

#include <stdlib.h>
#include <string.h>

#include "sim-wan/mem.h"

#define DEPTH_MAX 32u

enum list { LIST_FILE, LIST_GRAPH, LIST_NODE, LIST_EDGE, LIST_OTHER };

/* A key and its value, somewhere in the text; ended with zeros when their list is complete. */
struct attribute {
    char *key, *value;
    size_t key_len, value_len;
    uint32_t line;
};

struct gml {
    struct sim_draft *draft;
    char *at;
    uint32_t line;
    enum list lists[DEPTH_MAX]; /* open ones, the file first */
    uint32_t opened[DEPTH_MAX]; /* in which line */
    uint32_t depth;             /* of the innermost */
    bool has_graph;
    struct attribute *attributes; /* of the node or edge that is being read */
    size_t count, capacity;
};

/* ---- what a file is made of ---- */
static void skip_blank(struct gml *gml)
{
    for (;; gml->at++) {
        if (*gml->at == '#') /* a comment, to the end of the line */
            gml->at += strcspn(gml->at, "\n");
        if (*gml->at == '\n')
            gml->line++;
        else if (*gml->at != ' ' && *gml->at != '\t' && *gml->at != '\r')
            break;
    }
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The underscore is the Zoo's, as in geocode_id. */
static bool is_word(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_';
}

static gmc_status parse_key(struct gml *gml, struct attribute *attribute)
{
    attribute->key = gml->at;
    attribute->line = gml->line;
    if (!is_letter(*gml->at))
        return sim_draft_fail(gml->draft, gml->line,
                              *gml->at == '\0' ? "the file ends where a key or ']' should be"
                                               : "here a key (a word) or ']' should be");
    while (is_word(*gml->at))
        gml->at++;
    attribute->key_len = (size_t)(gml->at - attribute->key);
    return GMC_OK;
}

static gmc_status parse_string(struct gml *gml, struct attribute *attribute)
{
    uint32_t first = gml->line;
    attribute->value = ++gml->at;
    for (; *gml->at != '"'; gml->at++) {
        if (*gml->at == '\0')
            return sim_draft_fail(gml->draft, first, "a text in quotes does not end");
        if (*gml->at == '\n')
            gml->line++;
    }
    attribute->value_len = (size_t)(gml->at++ - attribute->value);
    return GMC_OK;
}

static gmc_status parse_number(struct gml *gml, struct attribute *attribute)
{
    attribute->value = gml->at;
    gml->at += strspn(gml->at, "+-.0123456789eE");
    attribute->value_len = (size_t)(gml->at - attribute->value);
    if (attribute->value_len == 0 || is_word(*gml->at))
        return sim_draft_fail(gml->draft, gml->line,
                              "here a number, a text in quotes or '[' should be, after '%.*s'",
                              (int)(attribute->key_len < 40 ? attribute->key_len : 40),
                              attribute->key);
    return GMC_OK;
}

/* ---- what it says ---- */
static gmc_status close_node(struct gml *gml, uint32_t line)
{
    gmc_status status = GMC_OK;
    const char *id = NULL;
    uint32_t node = 0;
    for (size_t i = 0; i < gml->count; i++)
        if (strcmp(gml->attributes[i].key, "id") == 0)
            id = gml->attributes[i].value;
    if (id == NULL)
        return sim_draft_fail(gml->draft, line, "a node without an id");
    status = sim_draft_declare(gml->draft, id, line, &node);
    for (size_t i = 0; i < gml->count && status == GMC_OK; i++)
        status = sim_draft_node_attribute(gml->draft, node, gml->attributes[i].key,
                                          gml->attributes[i].value, gml->attributes[i].line);
    return status;
}

static gmc_status close_edge(struct gml *gml, uint32_t line)
{
    gmc_status status = GMC_OK;
    struct sim_draft_link link = {.line = line};
    struct sim_link_attributes values = {0};
    bool has_source = false, has_target = false;
    for (size_t i = 0; i < gml->count && status == GMC_OK; i++) {
        const struct attribute *at = &gml->attributes[i];
        if (strcmp(at->key, "source") == 0) {
            has_source = true;
            status = sim_draft_mention(gml->draft, at->value, at->line, &link.a);
        } else if (strcmp(at->key, "target") == 0) {
            has_target = true;
            status = sim_draft_mention(gml->draft, at->value, at->line, &link.b);
        } else {
            status = sim_draft_link_attribute(gml->draft, &values, at->key, at->value, at->line);
        }
    }
    if (status != GMC_OK)
        return status;
    if (!has_source || !has_target)
        return sim_draft_fail(gml->draft, line, "an edge without a %s",
                              has_source ? "target" : "source");
    return sim_draft_end_link(gml->draft, &link, &values);
}

static gmc_status close_list(struct gml *gml)
{
    enum list list = gml->lists[gml->depth];
    uint32_t line = gml->opened[gml->depth];
    gml->at++;
    gml->depth--;
    if (list != LIST_NODE && list != LIST_EDGE)
        return GMC_OK;
    for (size_t i = 0; i < gml->count; i++) {
        gml->attributes[i].key[gml->attributes[i].key_len] = '\0';
        gml->attributes[i].value[gml->attributes[i].value_len] = '\0';
    }
    return list == LIST_NODE ? close_node(gml, line) : close_edge(gml, line);
}

static bool is_key(const struct attribute *attribute, const char *key)
{
    return attribute->key_len == strlen(key) &&
           strncmp(attribute->key, key, attribute->key_len) == 0;
}

static gmc_status open_list(struct gml *gml, const struct attribute *attribute)
{
    enum list in = gml->lists[gml->depth], list = LIST_OTHER;
    if (in == LIST_FILE && is_key(attribute, "graph"))
        list = LIST_GRAPH;
    else if (in == LIST_GRAPH && is_key(attribute, "node"))
        list = LIST_NODE;
    else if (in == LIST_GRAPH && is_key(attribute, "edge"))
        list = LIST_EDGE;
    if (list == LIST_GRAPH && gml->has_graph)
        return sim_draft_fail(gml->draft, gml->line, "a second graph in one file");
    gml->has_graph |= list == LIST_GRAPH;
    if (list == LIST_NODE || list == LIST_EDGE)
        gml->count = 0;
    if (gml->depth + 1 == DEPTH_MAX)
        return sim_draft_fail(gml->draft, gml->line, "more than %u lists in each other", DEPTH_MAX);
    gml->at++;
    gml->lists[++gml->depth] = list;
    gml->opened[gml->depth] = attribute->line;
    return GMC_OK;
}

static gmc_status parse_entry(struct gml *gml)
{
    struct attribute attribute = {0};
    gmc_status status = parse_key(gml, &attribute);
    if (status != GMC_OK)
        return status;
    skip_blank(gml);
    if (*gml->at == '[')
        return open_list(gml, &attribute);
    status = *gml->at == '"' ? parse_string(gml, &attribute) : parse_number(gml, &attribute);
    if (status != GMC_OK)
        return status;
    enum list in = gml->lists[gml->depth];
    if (in == LIST_GRAPH && is_key(&attribute, "directed"))
        gml->draft->is_directed = attribute.value[0] == '1';
    if (in == LIST_NODE || in == LIST_EDGE) {
        gml->attributes =
            sim_reserve(gml->attributes, gml->count, &gml->capacity, sizeof(*gml->attributes));
        gml->attributes[gml->count++] = attribute;
    }
    return GMC_OK;
}

gmc_status sim_gml_read(struct sim_draft *draft, char *text)
{
    struct gml gml = {.draft = draft, .at = text, .line = 1};
    gmc_status status = GMC_OK;
    for (skip_blank(&gml); status == GMC_OK; skip_blank(&gml)) {
        if (*gml.at == '\0' && gml.depth == 0)
            break;
        status = *gml.at == ']' && gml.depth > 0 ? close_list(&gml) : parse_entry(&gml);
    }
    free(gml.attributes);
    if (status == GMC_OK && !gml.has_graph)
        return sim_draft_fail(draft, 0, "no graph in it: GML begins with 'graph ['");
    return status;
}
