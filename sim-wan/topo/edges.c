/* SPDX-License-Identifier: BSD-2-Clause */
/* The reader of lists of edges; see edges.h. */
#include "sim-wan/topo/edges.h"

#include <string.h>

#include "sim-wan/topo/label.h"
#include "sim-wan/topo/units.h"

#define WORDS_MAX 5u /* one more than there may be */

static gmc_status parse_name(struct sim_draft *draft, const char *name, uint32_t line,
                             uint32_t *node)
{
    gmc_status status;
    if (!sim_is_host_name(name))
        return sim_draft_fail(draft, line,
                              "'%.60s' is no host's name: letters, digits, and '-', '.', '_' "
                              "inside, 255 at most",
                              name);
    status = sim_draft_mention(draft, name, line, node);
    if (status == GMC_OK)
        draft->nodes[*node].line = draft->nodes[*node].mentioned;
    return status;
}

static gmc_status parse_line(struct sim_draft *draft, char *text, uint32_t line)
{
    const char *words[WORDS_MAX] = {NULL};
    struct sim_draft_link link = {.line = line};
    size_t count = 0;
    gmc_status status;
    char *rest = NULL;
    for (char *word = strtok_r(text, " \t\r", &rest); word != NULL && count < WORDS_MAX;
         word = strtok_r(NULL, " \t\r", &rest))
        words[count++] = word;
    if (count == 0)
        return GMC_OK;
    if (count == WORDS_MAX)
        return sim_draft_fail(draft, line, "too much: '%.40s'; a line is A B [RATE [DELAY]]",
                              words[WORDS_MAX - 1]);
    status = parse_name(draft, words[0], line, &link.a);
    if (status != GMC_OK || count == 1)
        return status;
    status = parse_name(draft, words[1], line, &link.b);
    if (status != GMC_OK)
        return status;
    if (count > 2 && !sim_parse_rate(words[2], &link.rate_bps))
        return sim_draft_fail(draft, line, "'%.40s' is no rate; write it as in 100Mbit", words[2]);
    link.has_delay = count > 3;
    if (count > 3 && !sim_parse_delay(words[3], &link.delay))
        return sim_draft_fail(draft, line,
                              "'%.40s' is no delay from 0 to an hour; write it as in 12.5ms",
                              words[3]);
    return sim_draft_add_link(draft, &link);
}

gmc_status sim_edges_read(struct sim_draft *draft, char *text)
{
    uint32_t line = 0;
    gmc_status status = GMC_OK;
    draft->ids_are_names = true;
    while (*text != '\0' && status == GMC_OK) {
        char *end = text + strcspn(text, "\n");
        char *next = *end == '\0' ? end : end + 1;
        *end = '\0';
        text[strcspn(text, "#")] = '\0';
        status = parse_line(draft, text, ++line);
        text = next;
    }
    return status;
}
