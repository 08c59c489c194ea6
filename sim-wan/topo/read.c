/* SPDX-License-Identifier: BSD-2-Clause */
/* Which reader a file is for, and what was done to its map in words. */
#include "sim-wan/topo/read.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim-wan/text_file.h"
#include "sim-wan/topo/conf.h"
#include "sim-wan/topo/draft.h"
#include "sim-wan/topo/edges.h"
#include "sim-wan/topo/family.h"
#include "sim-wan/topo/gml.h"
#include "sim-wan/topo/graphml.h"

#define RATE_DEFAULT_BPS UINT64_C(1000000000)
#define DELAY_DEFAULT GMC_MS(5)
#define QUEUE_DEFAULT GMC_MS(50)

enum format { FORMAT_CONF, FORMAT_GML, FORMAT_GRAPHML, FORMAT_EDGES };

/* ---- the format ---- */
static bool begins_with_word(const char *text, const char *word)
{
    size_t len = strlen(word);
    return strncmp(text, word, len) == 0 && strchr(" \t\r\n[{", text[len]) != NULL;
}

/* By content, where the name says nothing: the first words of a line of each kind. */
static enum format format_of_text(const char *text)
{
    for (const char *line = text; *line != '\0';) {
        line += strspn(line, " \t\r\n");
        if (*line == '<')
            return FORMAT_GRAPHML;
        if (begins_with_word(line, "graph"))
            return FORMAT_GML;
        if (strncmp(line, "link {", 6) == 0 || strncmp(line, "nodes =", 7) == 0)
            return FORMAT_CONF;
        line += strcspn(line, "\n");
    }
    return FORMAT_EDGES;
}

static enum format format_of(const char *path, const char *text)
{
    static const struct {
        const char *extension;
        enum format format;
    } names[] = {
        {".gml", FORMAT_GML},   {".graphml", FORMAT_GRAPHML}, {".xml", FORMAT_GRAPHML},
        {".conf", FORMAT_CONF}, {".edges", FORMAT_EDGES},     {".txt", FORMAT_EDGES},
    };
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot != NULL && i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(dot, names[i].extension) == 0)
            return names[i].format;
    return format_of_text(text);
}

/* ---- reading ---- */
static gmc_status parse(struct sim_draft *draft, char *text, size_t len)
{
    switch (format_of(draft->path, text)) {
    case FORMAT_GML:
        return sim_gml_read(draft, text);
    case FORMAT_GRAPHML:
        return sim_graphml_read(draft, text, len);
    default:
        return sim_edges_read(draft, text);
    }
}

/* What all ways of reading end with. */
static gmc_status end(gmc_status status, const char *path, struct sim_topo *topo, char *error)
{
    if (status != GMC_OK)
        sim_topo_fini(topo);
    if (status != GMC_OK && error[0] == '\0')
        snprintf(error, SIM_TOPO_ERROR_MAX, "%.100s: %s", path, gmc_status_text(status));
    return status;
}

/* text NULL: the path names a family. */
static gmc_status read_map(const char *path, char *text, size_t len,
                           const struct sim_topo_options *given, struct sim_topo *topo,
                           struct sim_topo_notes *notes, char *error)
{
    struct sim_topo_notes unread = {0};
    struct sim_draft draft;
    struct sim_topo_options options = given != NULL ? *given : (struct sim_topo_options){0};
    if (options.rate_bps == 0)
        options.rate_bps = RATE_DEFAULT_BPS;
    if (options.delay == 0)
        options.delay = DELAY_DEFAULT;
    if (options.queue == 0)
        options.queue = QUEUE_DEFAULT;
    options.queue = gmc_time_min(options.queue, SIM_TOPO_QUEUE_MAX);
    sim_topo_init(topo);
    error[0] = '\0';
    notes = notes != NULL ? notes : &unread;
    *notes = (struct sim_topo_notes){0};
    sim_draft_init(&draft, path, error);
    gmc_status status = text != NULL ? parse(&draft, text, len) : sim_family_draw(&draft);
    if (status == GMC_OK)
        status = sim_draft_finish(&draft, &options, topo, notes);
    sim_draft_fini(&draft);
    return end(status, path, topo, error);
}

/* Our own format is no map: it says all there is to say. */
static gmc_status read_conf(const char *path, const char *text, struct sim_topo *topo, char *error)
{
    error[0] = '\0';
    sim_topo_init(topo);
    return end(sim_topo_conf_parse(path, text, topo, error), path, topo, error);
}

gmc_status sim_topo_parse_map(const char *name, char *text, size_t len,
                              const struct sim_topo_options *options, struct sim_topo *topo,
                              struct sim_topo_notes *notes, char *error)
{
    return read_map(name, text, len, options, topo, notes, error);
}

gmc_status sim_topo_read_with(const char *path, const struct sim_topo_options *options,
                              struct sim_topo *topo, struct sim_topo_notes *notes, char *error)
{
    size_t len = 0;
    gmc_status status;
    if (sim_family_is_named(path) && access(path, F_OK) != 0)
        return read_map(path, NULL, 0, options, topo, notes, error);
    char why[SIM_TEXT_ERROR_MAX];
    char *text = sim_text_read(path, &len, why);
    if (text == NULL) {
        sim_topo_init(topo);
        snprintf(error, SIM_TOPO_ERROR_MAX, "%.80s: %.90s%s", path, why,
                 access(path, F_OK) != 0
                     ? "; generated topologies are called star:6, tree:15, ba:100, ..."
                     : "");
        return GMC_ERR_INVALID;
    }
    if (notes != NULL)
        *notes = (struct sim_topo_notes){0};
    if (format_of(path, text) == FORMAT_CONF)
        status = read_conf(path, text, topo, error);
    else
        status = read_map(path, text, len, options, topo, notes, error);
    free(text);
    return status;
}

gmc_status sim_topo_read(const char *path, struct sim_topo *topo, char *error)
{
    return sim_topo_read_with(path, NULL, topo, NULL, error);
}

/* ---- notes ---- */
const char *sim_topo_next_note(const struct sim_topo_notes *notes, size_t *cursor, char *buffer)
{
    char unread[SIM_TOPO_NOTE_MAX - 16];
    snprintf(unread, sizeof(unread),
             "links have the default rate, as their speed is not understood; the first is '%s' in "
             "line %" PRIu32,
             notes->unread_rate, notes->unread_line);
    const struct {
        uint32_t count;
        const char *words; /* behind the count */
    } list[] = {
        {notes->renamed_nodes, "nodes got a name: their label was missing or not unique"},
        {notes->routers, "hyperedges are routers without a gateway"},
        {notes->estimated_places, "nodes without coordinates were put amid their neighbours"},
        {notes->unplaced_nodes, "nodes have no place"},
        {notes->map_delays,
         "links have the delay of the great circle at 2/3 of the speed of light"},
        {notes->default_delays, "links without delay and place have the default delay"},
        {notes->default_rates, "links without a rate have the default rate"},
        {notes->unread_rates, unread},
        {notes->merged_links, "parallel links were put together, with the sum of the rates"},
        {notes->self_loops, "links from a node to itself were left out"},
        {notes->one_way_links, "one-way links are taken both ways"},
        {notes->dropped_nodes, "nodes outside of the largest part were left out"},
    };
    while (*cursor < sizeof(list) / sizeof(list[0]) && list[*cursor].count == 0)
        ++*cursor;
    if (*cursor == sizeof(list) / sizeof(list[0]))
        return NULL;
    snprintf(buffer, SIM_TOPO_NOTE_MAX, "%" PRIu32 " %s", list[*cursor].count, list[*cursor].words);
    ++*cursor;
    return buffer;
}
