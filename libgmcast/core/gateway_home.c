/* SPDX-License-Identifier: BSD-2-Clause */
/* The nodes of the source's own domain, of a message channel: members like other domains, but that
 * they stand in no tree (all are children of the source), are not measured, and in the record under
 * the name of their domain, so that nobody outside learns of them. */
#include <string.h>

#include "core/gateway_impl.h"

static gmc_status add_node(struct gmc_gateway *gw, struct gwchannel *ch, const struct gwpeer *peer)
{
    gmc_status status = gw_source_add_member(gw, ch, peer->name, "", "");
    if (status != GMC_OK)
        return status;
    gw_source_member(ch, peer->number)->placed = true;
    ch->src->node_count++;
    return GMC_OK;
}

gmc_status gw_source_add_nodes(struct gmc_gateway *gw, struct gwchannel *ch, const char *home,
                               const char **error)
{
    struct gwsource *src = ch->src;
    bool is_asked = home[0] != '\0';
    enum gmc_inside kind = gmc_inside_kind(is_asked ? home : gw->config.deliver);
    char text[GMC_REASON_BYTES_MAX];
    /* Whoever writes files for all does not read messages for all. */
    gw_text(src->home, sizeof(src->home), "%s",
            kind == GMC_INSIDE_SHARED ? "nodes"
            : is_asked                ? home
                                      : gw->config.deliver);
    for (size_t i = 0; i < gw->peer_count; i++)
        if (gw->peers[i]->is_node && gmc_inside_has(src->home, gw->peers[i]->name) &&
            add_node(gw, ch, gw->peers[i]) != GMC_OK)
            return gw_say(gw, error, GMC_ERR_NOMEM, "no memory for the nodes of %s", gw->domain);
    gmc_status status =
        gw_nodes_check(gw, src->home, src->node_count, is_asked, text, sizeof(text));
    return status == GMC_OK ? GMC_OK : gw_say(gw, error, status, "%s", text);
}

void gw_source_node_changed(struct gmc_gateway *gw, struct gwchannel *ch, const struct gwpeer *peer)
{
    struct gwmember *member = gw_source_member(ch, peer->number);
    if (!peer->is_node && member != NULL)
        gw_source_member_failed(gw, ch, member, "it is no longer a node of this domain");
    else if (peer->is_node && member == NULL && gmc_inside_has(ch->src->home, peer->name))
        (void)add_node(gw, ch, peer); /* without memory it gets the next channel */
    gw_source_step(gw, ch);
}

bool gw_source_is_awaited(const struct gmc_gateway *gw, const struct gwchannel *ch)
{
    const struct gwsource *src = ch->src;
    bool any = false;
    for (size_t i = 0; i < src->member_count && !any; i++) {
        const struct gwpeer *peer = gw->peers[src->members[i].peer];
        any = peer->is_node ? peer->up : src->members[i].state != GMC_MEMBER_FAILED;
    }
    return any;
}
