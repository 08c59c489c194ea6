/* SPDX-License-Identifier: BSD-2-Clause */
/* Collecting a map; see draft.h. */
#include "sim-wan/topo/draft.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim-wan/mem.h"
#include "sim-wan/topo/speed.h"
#include "sim-wan/topo/units.h"

#define ID_BYTES_MAX 255u

void sim_draft_init(struct sim_draft *draft, const char *path, char *error)
{
    *draft = (struct sim_draft){.path = path, .error = error};
    sim_names_init(&draft->ids);
}

void sim_draft_fini(struct sim_draft *draft)
{
    for (size_t i = 0; i < draft->node_count; i++)
        free(draft->nodes[i].label);
    free(draft->nodes);
    free(draft->links);
    sim_names_fini(&draft->ids);
}

gmc_status sim_draft_fail(struct sim_draft *draft, uint32_t line, const char *format, ...)
{
    size_t len;
    if (line > 0)
        snprintf(draft->error, SIM_TOPO_ERROR_MAX, "%.100s:%u: ", draft->path, line);
    else
        snprintf(draft->error, SIM_TOPO_ERROR_MAX, "%.100s: ", draft->path);
    len = strlen(draft->error);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(draft->error + len, SIM_TOPO_ERROR_MAX - len, format, arguments);
    va_end(arguments);
    return GMC_ERR_INVALID;
}

gmc_status sim_draft_mention(struct sim_draft *draft, const char *id, uint32_t line, uint32_t *node)
{
    if (id[0] == '\0' || strlen(id) > ID_BYTES_MAX)
        return sim_draft_fail(draft, line, "a node's id has 1 to %u bytes", ID_BYTES_MAX);
    *node = sim_names_put(&draft->ids, id);
    if (*node < draft->node_count)
        return GMC_OK;
    if (draft->node_count == SIM_TOPO_NODES_MAX)
        return sim_draft_fail(draft, line, "more than %u nodes", SIM_TOPO_NODES_MAX);
    draft->nodes =
        sim_reserve(draft->nodes, draft->node_count, &draft->node_capacity, sizeof(*draft->nodes));
    draft->nodes[draft->node_count++] = (struct sim_draft_node){.mentioned = line};
    return GMC_OK;
}

gmc_status sim_draft_declare(struct sim_draft *draft, const char *id, uint32_t line, uint32_t *node)
{
    gmc_status status = sim_draft_mention(draft, id, line, node);
    if (status != GMC_OK)
        return status;
    if (draft->nodes[*node].line != 0)
        return sim_draft_fail(draft, line,
                              "a second node with the id '%.60s'; the first is in line %u", id,
                              draft->nodes[*node].line);
    draft->nodes[*node].line = line;
    return GMC_OK;
}

gmc_status sim_draft_add_link(struct sim_draft *draft, const struct sim_draft_link *link)
{
    if (draft->link_count == SIM_TOPO_LINKS_MAX)
        return sim_draft_fail(draft, link->line, "more than %u links", SIM_TOPO_LINKS_MAX);
    draft->links =
        sim_reserve(draft->links, draft->link_count, &draft->link_capacity, sizeof(*draft->links));
    draft->links[draft->link_count++] = *link;
    return GMC_OK;
}

/* ---- attributes ---- */
static gmc_status parse_degrees(struct sim_draft *draft, const char *key, const char *value,
                                uint32_t line, double limit, double *degrees)
{
    if (!sim_parse_real(value, degrees) || *degrees < -limit || *degrees > limit)
        return sim_draft_fail(draft, line, "%s '%.60s' is not in degrees from %.0f to %.0f", key,
                              value, -limit, limit);
    return GMC_OK;
}

gmc_status sim_draft_node_attribute(struct sim_draft *draft, uint32_t node, const char *key,
                                    const char *value, uint32_t line)
{
    struct sim_draft_node *at = &draft->nodes[node];
    if (strcmp(key, "label") == 0) {
        free(at->label);
        at->label = sim_strdup(value);
    } else if (strcmp(key, "hyperedge") == 0) {
        at->is_hyperedge = strcmp(value, "0") != 0;
    } else if (strcmp(key, "Longitude") == 0) {
        at->has_longitude = true;
        return parse_degrees(draft, key, value, line, 180, &at->longitude);
    } else if (strcmp(key, "Latitude") == 0) {
        at->has_latitude = true;
        return parse_degrees(draft, key, value, line, 90, &at->latitude);
    }
    return GMC_OK;
}

static void keep(char *out, size_t size, const char *value)
{
    snprintf(out, size, "%s", value);
}

gmc_status sim_draft_link_attribute(struct sim_draft *draft, struct sim_link_attributes *attributes,
                                    const char *key, const char *value, uint32_t line)
{
    if (strcmp(key, "LinkSpeedRaw") == 0) {
        if (!sim_parse_real(value, &attributes->raw_bps) || attributes->raw_bps < 0 ||
            attributes->raw_bps > (double)SIM_RATE_MAX_BPS)
            return sim_draft_fail(draft, line, "LinkSpeedRaw '%.60s' is not a rate in bit/s",
                                  value);
    } else if (strcmp(key, "LinkSpeed") == 0) {
        keep(attributes->speed, sizeof(attributes->speed), value);
    } else if (strcmp(key, "LinkSpeedUnits") == 0) {
        keep(attributes->units, sizeof(attributes->units), value);
    } else if (strcmp(key, "LinkLabel") == 0) {
        keep(attributes->label, sizeof(attributes->label), value);
    } else if (strcmp(key, "rate") == 0) {
        if (!sim_parse_rate(value, &attributes->rate_bps))
            return sim_draft_fail(draft, line, "'%.60s' is no rate; write it as in \"100Mbit\"",
                                  value);
    } else if (strcmp(key, "delay") == 0) {
        attributes->has_delay = true;
        if (!sim_parse_delay(value, &attributes->delay))
            return sim_draft_fail(
                draft, line, "'%.60s' is no delay from 0 to an hour; write it as in \"12.5ms\"",
                value);
    }
    return GMC_OK;
}

/* LinkSpeed is a number as a rule, but some maps write all of it there. */
static void speed_with_units(const struct sim_link_attributes *attributes, char *out, size_t size)
{
    size_t number = strspn(attributes->speed, "<>=~ .0123456789");
    bool is_whole = attributes->units[0] == '\0' || attributes->speed[number] != '\0';
    snprintf(out, size, "%s%s%s", attributes->speed, is_whole ? "" : " ",
             is_whole ? "" : attributes->units);
}

static void note_unread(struct sim_draft *draft, struct sim_draft_link *link, const char *text)
{
    link->speed_is_unread = true;
    if (draft->unread_line != 0)
        return;
    draft->unread_line = link->line;
    keep(draft->unread_speed, sizeof(draft->unread_speed), text);
    for (char *at = draft->unread_speed; *at != '\0'; at++)
        if (*at < ' ' || *at > '~') /* in which code it is written the file does not say */
            *at = '?';
}

gmc_status sim_draft_end_link(struct sim_draft *draft, struct sim_draft_link *link,
                              const struct sim_link_attributes *attributes)
{
    char speed[sizeof(attributes->speed) + sizeof(attributes->units) + 1];
    link->has_delay = attributes->has_delay;
    link->delay = attributes->delay;
    link->rate_bps = attributes->rate_bps;
    if (link->rate_bps == 0)
        link->rate_bps = (uint64_t)llround(attributes->raw_bps);
    speed_with_units(attributes, speed, sizeof(speed));
    if (link->rate_bps == 0 && !sim_speed_parse(speed, &link->rate_bps) &&
        !sim_speed_parse(attributes->label, &link->rate_bps)) {
        link->rate_bps = 0;
        if (attributes->speed[0] != '\0')
            note_unread(draft, link, speed);
        else if (strpbrk(attributes->label, "0123456789") != NULL) /* or it is a name */
            note_unread(draft, link, attributes->label);
    }
    return sim_draft_add_link(draft, link);
}
