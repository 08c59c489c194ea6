/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading and writing lists of edges. */
#include "interconnect/graph/edges.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

#define WORDS_MAX 4u

/* One place where a name stands. */
struct mention {
    const char *name;
    uint32_t number; /* of the mention, and then of its node */
};

/* Ends are mentions, and then nodes. */
struct link {
    uint32_t a, b, line;
};

struct reader {
    char *bytes;
    struct mention *mentions;
    size_t count, capacity;
    struct link *links;
    size_t link_count, link_capacity;
    char *error;
};

/* Room for one more. */
static bool grow(void **items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return true;
    size_t more = *capacity > 0 ? 2 * *capacity : 64;
    void *grown = realloc(*items, more * size);
    if (grown == NULL)
        return false;
    *items = grown;
    *capacity = more;
    return true;
}

static bool is_name(const char *word)
{
    for (const char *c = word; *c != '\0'; c++) {
        bool is_letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
        bool is_digit = *c >= '0' && *c <= '9';
        if (!is_letter && !is_digit && strchr("-_.", *c) == NULL)
            return false;
    }
    return strlen(word) <= IC_EDGES_NAME_MAX;
}

static gmc_status mention(struct reader *reader, const char *name, uint32_t line)
{
    if (!is_name(name))
        return ic_refuse(reader->error,
                         "line %u: '%.40s' is no name: up to %u letters, digits, '-', '_' and '.'",
                         line, name, IC_EDGES_NAME_MAX);
    if (reader->count >= 2 * (size_t)IC_GRAPH_LINKS_MAX)
        return ic_refuse(reader->error, "line %u: more than %u links", line, IC_GRAPH_LINKS_MAX);
    void *items = reader->mentions;
    if (!grow(&items, reader->count, &reader->capacity, sizeof(*reader->mentions)))
        return GMC_ERR_NOMEM;
    reader->mentions = items;
    reader->mentions[reader->count] = (struct mention){name, (uint32_t)reader->count};
    reader->count++;
    return GMC_OK;
}

static gmc_status add_link(struct reader *reader, uint32_t line)
{
    void *items = reader->links;
    if (!grow(&items, reader->link_count, &reader->link_capacity, sizeof(*reader->links)))
        return GMC_ERR_NOMEM;
    reader->links = items;
    uint32_t last = (uint32_t)reader->count - 1;
    reader->links[reader->link_count++] = (struct link){last - 1, last, line};
    return GMC_OK;
}

static gmc_status read_line(struct reader *reader, char *text, uint32_t line)
{
    gmc_status status = GMC_OK;
    char *rest = NULL;
    const char *first = NULL;
    uint32_t words = 0;
    text[strcspn(text, "#")] = '\0';
    for (char *word = strtok_r(text, " \t\r", &rest); word != NULL && status == GMC_OK;
         word = strtok_r(NULL, " \t\r", &rest)) {
        if (++words > WORDS_MAX)
            return ic_refuse(reader->error,
                             "line %u: too much: '%.40s'; a line is A B [RATE [DELAY]]", line,
                             word);
        if (words <= 2)
            status = mention(reader, word, line);
        if (words == 2 && first != NULL && strcmp(word, first) == 0)
            return ic_refuse(reader->error, "line %u: a link joins '%.60s' to itself", line, word);
        if (words == 1)
            first = word;
        if (words == 2 && status == GMC_OK)
            status = add_link(reader, line);
    }
    return status;
}

static gmc_status read_lines(struct reader *reader, size_t length)
{
    gmc_status status = GMC_OK;
    char *end = reader->bytes + length;
    uint32_t line = 1;
    for (char *text = reader->bytes; text < end && status == GMC_OK; line++) {
        char *next = text + strcspn(text, "\n");
        if (*next == '\0' && next < end)
            return ic_refuse(reader->error, "line %u: there is a NUL in it", line);
        *next = '\0';
        status = read_line(reader, text, line);
        text = next + 1;
    }
    return status;
}

/* ---- numbers of nodes ---- */
static int by_name(const void *left, const void *right)
{
    const struct mention *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    return order != 0 ? order : (a->number > b->number) - (a->number < b->number);
}

static int by_number(const void *left, const void *right)
{
    const struct mention *a = left, *b = right;
    return (a->number > b->number) - (a->number < b->number);
}

/* The number that the name is, written as numbers are; IC_GRAPH_NONE. */
static uint32_t number_of(const char *name, uint32_t below)
{
    uint64_t number = 0;
    if (name[0] == '0' && name[1] != '\0')
        return IC_GRAPH_NONE;
    for (const char *c = name; *c != '\0'; c++) {
        if (*c < '0' || *c > '9')
            return IC_GRAPH_NONE;
        number = number * 10 + (uint64_t)(*c - '0');
        if (number >= below)
            return IC_GRAPH_NONE;
    }
    return (uint32_t)number;
}

/* Numbers the mentions, which are in the order of names; nodes[] becomes the first mention of each
 * name, in the order of its number. How many there are. */
static uint32_t number_nodes(struct reader *reader, struct mention *nodes, uint32_t *node_of)
{
    uint32_t count = 0;
    bool are_numbers = true;
    for (size_t i = 0; i < reader->count; i++)
        if (i == 0 || strcmp(reader->mentions[i].name, reader->mentions[i - 1].name) != 0)
            nodes[count++] = reader->mentions[i];
    for (uint32_t i = 0; i < count; i++)
        are_numbers = are_numbers && number_of(nodes[i].name, count) != IC_GRAPH_NONE;
    if (are_numbers)
        for (uint32_t i = 0; i < count; i++)
            nodes[i].number = number_of(nodes[i].name, count);
    qsort(nodes, count, sizeof(*nodes), by_number);
    /* Mentions of one name stand together, the first one first. */
    for (uint32_t i = 0; i < count; i++)
        nodes[i].number = i;
    struct mention *sorted = nodes + count;
    memcpy(sorted, nodes, count * sizeof(*nodes));
    qsort(sorted, count, sizeof(*sorted), by_name);
    for (size_t i = 0, j = 0; i < reader->count; i++) {
        j += strcmp(sorted[j].name, reader->mentions[i].name) != 0;
        node_of[reader->mentions[i].number] = sorted[j].number;
    }
    return count;
}

/* Links that stand twice in the order of their lines. */
static int by_ends(const void *left, const void *right)
{
    const struct link *x = left, *y = right;
    if (x->a != y->a)
        return x->a > y->a ? 1 : -1;
    if (x->b != y->b)
        return x->b > y->b ? 1 : -1;
    return (x->line > y->line) - (x->line < y->line);
}

/* Links of nodes, those that stand twice refused by their names. */
static gmc_status number_links(struct reader *reader, const struct mention *nodes,
                               const uint32_t *node_of, struct ic_graph_link *ends)
{
    struct link *links = reader->links;
    for (size_t i = 0; i < reader->link_count; i++) {
        uint32_t a = node_of[links[i].a], b = node_of[links[i].b];
        links[i].a = a < b ? a : b;
        links[i].b = a < b ? b : a;
    }
    qsort(links, reader->link_count, sizeof(*links), by_ends);
    for (size_t i = 0; i < reader->link_count; i++) {
        ends[i] = (struct ic_graph_link){links[i].a, links[i].b};
        if (i > 0 && links[i].a == links[i - 1].a && links[i].b == links[i - 1].b)
            return ic_refuse(reader->error,
                             "line %u: '%.60s' and '%.60s' are joined in line %u too",
                             links[i].line, nodes[links[i].a].name, nodes[links[i].b].name,
                             links[i - 1].line);
    }
    return GMC_OK;
}

static gmc_status make_graph(struct reader *reader, struct ic_edges *edges)
{
    GMC_ASSERT(reader->mentions != NULL && reader->links != NULL);
    struct mention *nodes = calloc(2 * reader->count, sizeof(*nodes));
    uint32_t *node_of = calloc(reader->count, sizeof(*node_of));
    struct ic_graph_link *ends = calloc(reader->link_count, sizeof(*ends));
    gmc_status status = GMC_ERR_NOMEM;
    if (nodes != NULL && node_of != NULL && ends != NULL) {
        qsort(reader->mentions, reader->count, sizeof(*reader->mentions), by_name);
        uint32_t count = number_nodes(reader, nodes, node_of);
        edges->names = calloc(count, sizeof(*edges->names));
        for (uint32_t i = 0; edges->names != NULL && i < count; i++)
            edges->names[i] = nodes[i].name;
        status = number_links(reader, nodes, node_of, ends);
        if (status == GMC_OK)
            status = ic_graph_init(&edges->graph, count, ends, reader->link_count, reader->error);
        if (status == GMC_OK && edges->names == NULL)
            status = GMC_ERR_NOMEM;
    }
    free(nodes);
    free(node_of);
    free(ends);
    return status;
}

gmc_status ic_edges_parse(struct ic_edges *edges, const char *text, size_t length, char *error)
{
    *edges = (struct ic_edges){0};
    if (length > IC_EDGES_BYTES_MAX)
        return ic_refuse(error, "the list of edges has more than %u bytes", IC_EDGES_BYTES_MAX);
    struct reader reader = {.bytes = malloc(length + 1), .error = error};
    if (reader.bytes == NULL)
        return GMC_ERR_NOMEM;
    memcpy(reader.bytes, text, length);
    reader.bytes[length] = '\0';
    edges->bytes = reader.bytes;
    gmc_status status = read_lines(&reader, length);
    if (status == GMC_OK && reader.link_count == 0)
        status = ic_refuse(error, "there is no link in the list of edges");
    if (status == GMC_OK)
        status = make_graph(&reader, edges);
    if (status != GMC_OK)
        ic_edges_fini(edges);
    free(reader.mentions);
    free(reader.links);
    return status;
}

gmc_status ic_edges_check(const struct ic_edges *edges, uint32_t degree, char *error)
{
    const struct ic_graph *graph = &edges->graph;
    for (uint32_t i = 0; i < graph->nodes; i++)
        if (ic_graph_degree(graph, i) > degree)
            return ic_refuse(error, "'%.60s' has %u links; up to %u can be simulated",
                             edges->names[i], ic_graph_degree(graph, i), degree);
    uint32_t *hops = calloc(graph->nodes, 2 * sizeof(*hops));
    if (hops == NULL)
        return GMC_ERR_NOMEM;
    uint32_t found = ic_graph_search(graph, 0, hops, NULL, hops + graph->nodes), other = 0;
    while (found < graph->nodes && hops[other] != IC_GRAPH_NONE)
        other++;
    free(hops);
    if (found == graph->nodes)
        return GMC_OK;
    return ic_refuse(error, "the network is not connected: no way leads from '%.60s' to '%.60s'",
                     edges->names[0], edges->names[other]);
}

void ic_edges_fini(struct ic_edges *edges)
{
    ic_graph_fini(&edges->graph);
    free(edges->names);
    free(edges->bytes);
    *edges = (struct ic_edges){0};
}

static void add_name(const char *const *names, uint32_t node, char after, struct ic_text *text)
{
    if (names != NULL)
        ic_text_add(text, "%s%c", names[node], after);
    else
        ic_text_add(text, "%u%c", node, after);
}

void ic_edges_format(const struct ic_graph *graph, const char *const *names, struct ic_text *text)
{
    for (uint32_t i = 0; i < graph->nodes; i++) {
        if (ic_graph_degree(graph, i) == 0)
            add_name(names, i, '\n', text);
        for (uint32_t j = graph->first[i]; j < graph->first[i + 1]; j++) {
            if (graph->neighbours[j] < i)
                continue;
            add_name(names, i, ' ', text);
            add_name(names, graph->neighbours[j], '\n', text);
        }
    }
}
