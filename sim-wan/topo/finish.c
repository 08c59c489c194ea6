/* SPDX-License-Identifier: BSD-2-Clause */
/* From a map to a topology: names, links, places, delays and queues. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim-wan/mem.h"
#include "sim-wan/topo/draft.h"
#include "sim-wan/topo/label.h"
#include "sim-wan/topo/place.h"

/* ---- nodes ---- */
static gmc_status check_declared(struct sim_draft *draft)
{
    for (size_t i = 0; i < draft->node_count; i++)
        if (draft->nodes[i].line == 0)
            return sim_draft_fail(draft, draft->nodes[i].mentioned,
                                  "a link to the node '%.60s', which is not in the file",
                                  draft->ids.texts[i]);
    return GMC_OK;
}

/* The node's name but for those before it. Whether the map gave it. */
static bool name_from_map(const struct sim_draft *draft, size_t node, char out[SIM_LABEL_NAME_MAX])
{
    const struct sim_draft_node *at = &draft->nodes[node];
    const char *id = draft->ids.texts[node];
    out[0] = '\0';
    if (at->label != NULL)
        sim_label_to_name(at->label, out);
    if (out[0] != '\0' && strcmp(out, "none") != 0)
        return true;
    sim_label_to_name(id, out);
    if (out[0] == '\0' || out[strspn(out, "0123456789")] == '\0') {
        char number[SIM_LABEL_NAME_MAX - 8];
        snprintf(number, sizeof(number), "%.*s", (int)sizeof(number) - 1, out);
        snprintf(out, SIM_LABEL_NAME_MAX, "%s%s", at->is_hyperedge ? "joint" : "node", number);
    }
    return false;
}

/* Adds "-2", "-3", ... to a name that is taken. last[n] is the last number that was given to the
 * n-th name, so that many nodes of one label take no longer than others. */
static void make_unique(struct sim_names *taken, uint32_t *last, char *name, size_t size)
{
    uint32_t base = sim_names_find(taken, name);
    size_t len = strlen(name);
    if (base == UINT32_MAX) {
        last[sim_names_put(taken, name)] = 1;
        return;
    }
    do
        snprintf(name + len, size - len, "-%" PRIu32, ++last[base]);
    while (sim_names_find(taken, name) != UINT32_MAX);
    last[sim_names_put(taken, name)] = 1;
}

static void add_nodes(const struct sim_draft *draft, struct sim_topo *topo,
                      struct sim_topo_notes *notes)
{
    struct sim_names taken;
    uint32_t *last = sim_calloc(draft->node_count, sizeof(*last));
    sim_names_init(&taken);
    for (size_t i = 0; i < draft->node_count; i++) {
        char base[SIM_LABEL_NAME_MAX], name[SIM_LABEL_NAME_MAX + 12];
        const struct sim_draft_node *from = &draft->nodes[i];
        const char *text = draft->ids.texts[i];
        if (!draft->ids_are_names) {
            bool is_given = name_from_map(draft, i, base);
            snprintf(name, sizeof(name), "%s", base);
            make_unique(&taken, last, name, sizeof(name));
            notes->renamed_nodes += !is_given || strcmp(name, base) != 0;
            text = name;
        }
        uint32_t number = sim_topo_add_node(topo, text);
        struct sim_topo_node *node = &topo->nodes[number];
        node->has_gateway = !from->is_hyperedge;
        node->line = (int)from->line;
        node->is_placed = from->has_longitude && from->has_latitude;
        node->longitude = node->is_placed ? from->longitude : 0;
        node->latitude = node->is_placed ? from->latitude : 0;
        notes->routers += from->is_hyperedge;
    }
    free(last);
    sim_names_fini(&taken);
}

/* ---- parts ---- */
/* "'a' and 39 more, 'k', 'm' and 1 more": each part by its first node. */
static void describe_parts(const struct sim_topo *topo, const uint32_t *part_of, uint32_t parts,
                           const uint32_t *sizes, char *out, size_t size)
{
    size_t len = 0;
    uint32_t part = 0;
    out[0] = '\0';
    for (size_t i = 0; i < topo->node_count && part < parts && len + 60 < size; i++) {
        if (part_of[i] != part)
            continue;
        len += (size_t)snprintf(out + len, size - len, "%s'%.24s'", part > 0 ? ", " : "",
                                topo->nodes[i].name);
        if (sizes[part] > 1)
            len +=
                (size_t)snprintf(out + len, size - len, " and %" PRIu32 " more", sizes[part] - 1);
        part++;
    }
    if (part < parts)
        snprintf(out + len, size - len, ", ...");
}

/* Leaves the nodes of one part and their links. */
static void keep_part(struct sim_topo *topo, const uint32_t *part_of, uint32_t part)
{
    uint32_t *number = sim_alloc(topo->node_count * sizeof(*number));
    size_t nodes = 0, links = 0;
    for (size_t i = 0; i < topo->node_count; i++) {
        number[i] = (uint32_t)nodes;
        if (part_of[i] == part)
            topo->nodes[nodes++] = topo->nodes[i];
        else
            free(topo->nodes[i].name);
    }
    for (size_t i = 0; i < topo->link_count; i++) {
        struct sim_topo_link link = topo->links[i];
        if (part_of[link.a] != part)
            continue;
        link.a = number[link.a];
        link.b = number[link.b];
        topo->links[links++] = link;
    }
    topo->node_count = nodes;
    topo->link_count = links;
    free(number);
}

static gmc_status join_parts(struct sim_draft *draft, const struct sim_topo_options *options,
                             struct sim_topo *topo, struct sim_topo_notes *notes)
{
    gmc_status status = GMC_OK;
    uint32_t *part_of = sim_alloc(topo->node_count * sizeof(*part_of));
    uint32_t parts = sim_topo_parts(topo, part_of), largest = 0, other = 0;
    uint32_t *sizes = sim_calloc(parts, sizeof(*sizes));
    for (size_t i = 0; i < topo->node_count; i++)
        sizes[part_of[i]]++;
    for (uint32_t part = 1; part < parts; part++)
        if (sizes[part] > sizes[largest])
            largest = part;
    if (parts > 1 && options->largest_component) {
        notes->dropped_nodes = (uint32_t)topo->node_count - sizes[largest];
        keep_part(topo, part_of, largest);
    } else if (parts > 1) {
        char words[120];
        describe_parts(topo, part_of, parts, sizes, words, sizeof(words));
        while (part_of[other] != 1)
            other++;
        status = sim_draft_fail(draft, draft->nodes[other].line,
                                "no path joins these %" PRIu32
                                " parts: %s; 'sim-wan topology --largest-component', or "
                                "largest-part = yes in a scenario, keeps the largest",
                                parts, words);
    }
    free(sizes);
    free(part_of);
    return status;
}

/* ---- wires ---- */
static uint64_t queue_bytes(uint64_t rate_bps, gmc_duration queue)
{
    /* Below 2^64 for SIM_RATE_MAX_BPS and SIM_TOPO_QUEUE_MAX. */
    uint64_t bytes = rate_bps / 8000 * (queue / 1000) / 1000;
    return bytes > SIM_TOPO_QUEUE_BYTES_MIN ? bytes : SIM_TOPO_QUEUE_BYTES_MIN;
}

static void finish_wire(struct sim_wire_config *wire, gmc_duration delay, gmc_duration queue)
{
    if (wire->delay == GMC_TIME_NEVER)
        wire->delay = delay;
    wire->queue_bytes = queue_bytes(wire->rate_bps, queue);
}

static void finish_links(const struct sim_topo_options *options, struct sim_topo *topo,
                         struct sim_topo_notes *notes)
{
    for (size_t i = 0; i < topo->link_count; i++) {
        struct sim_topo_link *link = &topo->links[i];
        const struct sim_topo_node *a = &topo->nodes[link->a], *b = &topo->nodes[link->b];
        gmc_duration delay = options->delay;
        if (link->a_to_b.delay == GMC_TIME_NEVER || link->b_to_a.delay == GMC_TIME_NEVER) {
            if (a->is_placed && b->is_placed) {
                delay = sim_place_delay(a, b);
                notes->map_delays++;
            } else {
                notes->default_delays++;
            }
        }
        finish_wire(&link->a_to_b, delay, options->queue);
        finish_wire(&link->b_to_a, delay, options->queue);
    }
}

gmc_status sim_draft_finish(struct sim_draft *draft, const struct sim_topo_options *options,
                            struct sim_topo *topo, struct sim_topo_notes *notes)
{
    gmc_status status = check_declared(draft);
    if (status != GMC_OK)
        return status;
    if (draft->node_count == 0)
        return sim_draft_fail(draft, 0, "no node in it");
    add_nodes(draft, topo, notes);
    sim_draft_add_links(draft, options, topo, notes);
    snprintf(notes->unread_rate, sizeof(notes->unread_rate), "%s", draft->unread_speed);
    notes->unread_line = draft->unread_line;
    status = join_parts(draft, options, topo, notes);
    if (status != GMC_OK)
        return status;
    notes->estimated_places = sim_place_estimate(topo, &notes->unplaced_nodes);
    if (notes->unplaced_nodes == topo->node_count)
        notes->unplaced_nodes = 0; /* a list of links, no map */
    finish_links(options, topo, notes);
    char words[SIM_TOPO_ERROR_MAX];
    int line;
    status = sim_topo_check(topo, &line, words);
    return status == GMC_OK ? GMC_OK : sim_draft_fail(draft, (uint32_t)line, "%s", words);
}
