/* SPDX-License-Identifier: BSD-2-Clause */
/* Which nodes were stopped in the middle of a transfer: their names, a line each, in what is saved
 * of it. A gateway that was restarted meanwhile lets them go as it would have done, and does not
 * take them for lost. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_impl.h"

void gw_stopped_save(struct gmc_gateway *gw, struct gwchannel *ch)
{
    size_t size = 1, len = 0;
    if (ch->talk != NULL)
        return; /* of which nothing is saved */
    for (size_t i = 0; i < ch->dst->node_count; i++)
        size += strlen(ch->dst->nodes[i].peer->name) + 1;
    char *text = malloc(size);
    if (text == NULL)
        return; /* then a restart takes them for lost */
    for (size_t i = 0; i < ch->dst->node_count; i++) {
        const char *name = ch->dst->nodes[i].peer->name;
        size_t name_len = strlen(name);
        if (!ch->dst->nodes[i].stopped)
            continue;
        memcpy(text + len, name, name_len);
        text[len + name_len] = '\n';
        len += name_len + 1;
    }
    text[len] = '\n'; /* an empty line is nobody's */
    gw_save(gw, ch, "stopped", (const uint8_t *)text, len + 1);
    free(text);
}

void gw_stopped_restore(struct gwchannel *ch, struct gmc_bytes saved)
{
    free(ch->dst->saved_stopped);
    ch->dst->saved_stopped = (char *)gw_copy(saved);
    ch->dst->saved_stopped[saved.len] = '\0';
}

bool gw_stopped_has(const struct gwchannel *ch, const char *name)
{
    const char *at = ch->dst->saved_stopped;
    size_t len = strlen(name);
    while (at != NULL && *at != '\0') {
        size_t line = strcspn(at, "\n");
        if (line == len && memcmp(at, name, len) == 0)
            return true;
        at += line + (at[line] == '\n');
    }
    return false;
}
