/* SPDX-License-Identifier: BSD-2-Clause */
/* The reader of GraphML; see graphml.h. */
#include "sim-wan/topo/graphml.h"

#include <expat.h>
#include <stdlib.h>
#include <string.h>

#include "sim-wan/mem.h"

#define VALUE_BYTES_MAX 4096u

struct graphml {
    struct sim_draft *draft;
    XML_Parser parser;
    gmc_status status; /* of the first error; then nothing more is read */
    uint32_t graphs;
    struct sim_names keys; /* ids of <key> */
    char **key_names;      /* by number: attr.name */
    size_t key_count, key_capacity;
    bool in_node, in_edge, in_data;
    uint32_t node;
    struct sim_draft_link link;
    struct sim_link_attributes values;
    uint32_t data_key;
    char *value; /* of the <data> that is being read */
    size_t value_len;
};

static uint32_t line_of(const struct graphml *graphml)
{
    return (uint32_t)XML_GetCurrentLineNumber(graphml->parser);
}

static void stop(struct graphml *graphml, gmc_status status)
{
    if (graphml->status == GMC_OK && status != GMC_OK) {
        graphml->status = status;
        XML_StopParser(graphml->parser, XML_FALSE);
    }
}

static const char *find(const char *const *attributes, const char *name)
{
    for (; attributes[0] != NULL; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return NULL;
}

/* The attribute, which has to be there. */
static const char *need(struct graphml *graphml, const char *const *attributes, const char *element,
                        const char *name)
{
    const char *value = find(attributes, name);
    if (value == NULL)
        stop(graphml, sim_draft_fail(graphml->draft, line_of(graphml), "<%s> without %s=\"...\"",
                                     element, name));
    return value;
}

static void start_key(struct graphml *graphml, const char *const *attributes)
{
    const char *id = need(graphml, attributes, "key", "id");
    const char *name = find(attributes, "attr.name");
    if (id == NULL)
        return;
    uint32_t number = sim_names_put(&graphml->keys, id);
    if (number < graphml->key_count) {
        stop(graphml, sim_draft_fail(graphml->draft, line_of(graphml),
                                     "a second <key> with the id '%.60s'", id));
        return;
    }
    graphml->key_names = sim_reserve(graphml->key_names, graphml->key_count, &graphml->key_capacity,
                                     sizeof(*graphml->key_names));
    /* Without a name the key stands for itself. */
    graphml->key_names[graphml->key_count++] = sim_strdup(name != NULL ? name : id);
}

static void start_graph(struct graphml *graphml, const char *const *attributes)
{
    const char *kind = find(attributes, "edgedefault");
    graphml->draft->is_directed = kind != NULL && strcmp(kind, "directed") == 0;
    if (graphml->graphs++ > 0)
        stop(graphml, sim_draft_fail(graphml->draft, line_of(graphml),
                                     "a second <graph>; one topology is one graph"));
}

static void stop_inside(struct graphml *graphml, const char *element)
{
    if (graphml->in_node || graphml->in_edge)
        stop(graphml, sim_draft_fail(graphml->draft, line_of(graphml), "a <%s> inside of a <%s>",
                                     element, graphml->in_node ? "node" : "edge"));
}

static void start_node(struct graphml *graphml, const char *const *attributes)
{
    const char *id = need(graphml, attributes, "node", "id");
    if (id == NULL)
        return;
    stop_inside(graphml, "node");
    graphml->in_node = true;
    if (graphml->status == GMC_OK)
        stop(graphml, sim_draft_declare(graphml->draft, id, line_of(graphml), &graphml->node));
}

static void start_edge(struct graphml *graphml, const char *const *attributes)
{
    uint32_t line = line_of(graphml);
    const char *source = need(graphml, attributes, "edge", "source");
    const char *target = need(graphml, attributes, "edge", "target");
    if (source == NULL || target == NULL)
        return;
    stop_inside(graphml, "edge");
    graphml->in_edge = true;
    graphml->link = (struct sim_draft_link){.line = line};
    graphml->values = (struct sim_link_attributes){0};
    if (graphml->status == GMC_OK)
        stop(graphml, sim_draft_mention(graphml->draft, source, line, &graphml->link.a));
    if (graphml->status == GMC_OK)
        stop(graphml, sim_draft_mention(graphml->draft, target, line, &graphml->link.b));
}

static void start_data(struct graphml *graphml, const char *const *attributes)
{
    const char *id = need(graphml, attributes, "data", "key");
    if (id == NULL)
        return;
    graphml->data_key = sim_names_find(&graphml->keys, id);
    graphml->in_data = true;
    graphml->value_len = 0;
    if (graphml->data_key == UINT32_MAX)
        stop(graphml,
             sim_draft_fail(graphml->draft, line_of(graphml), "no <key> has the id '%.60s'", id));
}

static void XMLCALL on_start(void *ctx, const char *name, const char **attributes)
{
    static const struct {
        const char *name;
        void (*start)(struct graphml *graphml, const char *const *attributes);
    } elements[] = {
        {"key", start_key},   {"graph", start_graph}, {"node", start_node},
        {"edge", start_edge}, {"data", start_data},
    };
    struct graphml *graphml = ctx;
    const char *const *values = (const char *const *)attributes;
    if (graphml->status != GMC_OK)
        return;
    if (strcmp(name, "hyperedge") == 0 || strcmp(name, "port") == 0)
        stop(graphml,
             sim_draft_fail(graphml->draft, line_of(graphml),
                            "<%s> is not known here; links have two ends, both nodes", name));
    for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]); i++)
        if (graphml->status == GMC_OK && strcmp(name, elements[i].name) == 0)
            elements[i].start(graphml, values);
}

static void end_edge(struct graphml *graphml)
{
    graphml->in_edge = false;
    stop(graphml, sim_draft_end_link(graphml->draft, &graphml->link, &graphml->values));
}

/* The value without the blanks around it. */
static char *trimmed_value(struct graphml *graphml)
{
    char *value = graphml->value, *end = value + graphml->value_len;
    while (end > value && strchr(" \t\r\n", end[-1]) != NULL)
        end--;
    *end = '\0';
    return value + strspn(value, " \t\r\n");
}

static void end_data(struct graphml *graphml)
{
    const char *key = graphml->key_names[graphml->data_key];
    graphml->in_data = false;
    if (graphml->in_node)
        stop(graphml, sim_draft_node_attribute(graphml->draft, graphml->node, key,
                                               trimmed_value(graphml), line_of(graphml)));
    else if (graphml->in_edge)
        stop(graphml, sim_draft_link_attribute(graphml->draft, &graphml->values, key,
                                               trimmed_value(graphml), line_of(graphml)));
}

static void XMLCALL on_end(void *ctx, const char *name)
{
    struct graphml *graphml = ctx;
    if (graphml->status != GMC_OK)
        return;
    if (strcmp(name, "data") == 0)
        end_data(graphml);
    else if (strcmp(name, "edge") == 0)
        end_edge(graphml);
    else if (strcmp(name, "node") == 0)
        graphml->in_node = false;
}

static void XMLCALL on_text(void *ctx, const char *text, int len)
{
    struct graphml *graphml = ctx;
    if (!graphml->in_data || graphml->status != GMC_OK)
        return;
    if (graphml->value_len + (size_t)len > VALUE_BYTES_MAX) {
        stop(graphml, sim_draft_fail(graphml->draft, line_of(graphml),
                                     "a <data> of more than %u bytes", VALUE_BYTES_MAX));
        return;
    }
    memcpy(graphml->value + graphml->value_len, text, (size_t)len);
    graphml->value_len += (size_t)len;
}

/* Maps need no document type; without one there are no entities that grow. */
static void XMLCALL on_doctype(void *ctx, const char *name, const char *system, const char *public,
                               int has_internal)
{
    struct graphml *graphml = ctx;
    (void)name;
    (void)system;
    (void)public;
    if (has_internal)
        stop(graphml, sim_draft_fail(graphml->draft, line_of(graphml),
                                     "a document type of its own; leave <!DOCTYPE ...> out"));
}

static gmc_status parse(struct graphml *graphml, const char *text, size_t len)
{
    XML_SetUserData(graphml->parser, graphml);
    XML_SetElementHandler(graphml->parser, on_start, on_end);
    XML_SetCharacterDataHandler(graphml->parser, on_text);
    XML_SetStartDoctypeDeclHandler(graphml->parser, on_doctype);
    enum XML_Status result = XML_Parse(graphml->parser, text, (int)len, XML_TRUE);
    if (graphml->status != GMC_OK)
        return graphml->status;
    if (result != XML_STATUS_OK)
        return sim_draft_fail(graphml->draft, line_of(graphml), "not well-formed XML: %s",
                              XML_ErrorString(XML_GetErrorCode(graphml->parser)));
    if (graphml->graphs == 0)
        return sim_draft_fail(graphml->draft, 0, "no <graph> in it");
    return GMC_OK;
}

gmc_status sim_graphml_read(struct sim_draft *draft, const char *text, size_t len)
{
    struct graphml graphml = {.draft = draft};
    gmc_status status = GMC_ERR_NOMEM;
    graphml.value = sim_alloc(VALUE_BYTES_MAX + 1);
    sim_names_init(&graphml.keys);
    graphml.parser = XML_ParserCreate(NULL);
    if (graphml.parser != NULL)
        status = parse(&graphml, text, len);
    XML_ParserFree(graphml.parser);
    for (size_t i = 0; i < graphml.key_count; i++)
        free(graphml.key_names[i]);
    free(graphml.key_names);
    free(graphml.value);
    sim_names_fini(&graphml.keys);
    return status;
}
