/* SPDX-License-Identifier: BSD-2-Clause */
/* What local people ask about the nodes of this domain: tokens, removal, the list. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gatewayd/gatewayd_int.h"
#include "gatewayd/text.h"

#define LIFETIME_DEFAULT_S 86400u

static gmc_status refuse(struct gwd *gwd, gmc_status status, const char *text, const char *name)
{
    gwd_text(gwd->hook_reason, sizeof gwd->hook_reason, text, name);
    return status;
}

/* A name as the configuration and certificates have it; NULL after a refusal. */
static const char *plain_name(struct gwd *gwd, const char *text, char out[GMC_DOMAIN_NAME_MAX + 1])
{
    static const struct gwd_option name = {.name = "name", .type = GWD_NAME};
    gwd_text(out, GMC_DOMAIN_NAME_MAX + 1, "%s", text);
    for (char *p = out; *p != '\0'; p++)
        *p = (char)tolower((unsigned char)*p);
    if (gwd_conf_value_error(&name, out, NULL, 0) == NULL)
        return out;
    (void)refuse(gwd, GMC_ERR_INVALID,
                 "\"%s\" is no name for a node: write a DNS name such as "
                 "n1.cern.example",
                 text);
    return NULL;
}

static gmc_status add(struct gwd *gwd, const char *name, uint32_t lifetime_s,
                      struct gmc_ctl_reply *reply)
{
    struct gwd_token token;
    gmc_status status;
    if (strcmp(name, gwd->conf->domain) == 0 || gwd_conf_peer_find(gwd->conf, name) != NULL)
        return refuse(gwd, GMC_ERR_EXISTS,
                      "%s stands in the configuration already, with a certificate: remove its "
                      "section, or choose another name",
                      name);
    if (lifetime_s > GWD_TOKEN_SECONDS_MAX)
        return refuse(gwd, GMC_ERR_LIMIT, "a token for %s may be valid for 30 days at most", name);
    status = gwd_nodes_add(gwd->nodes, name,
                           (int64_t)time(NULL) + (lifetime_s > 0 ? lifetime_s : LIFETIME_DEFAULT_S),
                           token.secret, gwd->hook_reason, sizeof gwd->hook_reason);
    if (status != GMC_OK)
        return status;
    gwd_peers_key_hash(gwd->peers, token.gateway);
    gwd_token_text(&token, gwd->token_text);
    reply->token = gwd->token_text;
    gwd_log(gwd->log, GMC_LEVEL_INFO, "node.invited", GWD_STR("node", name));
    return GMC_OK;
}

static gmc_status remove_node(struct gwd *gwd, const char *name)
{
    const struct gwd_conf_peer *peer = gwd_conf_peer_find(gwd->conf, name);
    gmc_status status;
    if (peer != NULL && peer->is_node)
        return refuse(gwd, GMC_ERR_STATE,
                      "%s is a node by its section of the configuration: remove that and reload",
                      name);
    status = gwd_nodes_remove(gwd->nodes, name, gwd->hook_reason, sizeof gwd->hook_reason);
    if (status != GMC_OK)
        return status;
    gwd->nodes_changed = true;
    gwd_log(gwd->log, GMC_LEVEL_INFO, "node.removed", GWD_STR("node", name));
    return GMC_OK;
}

static struct gmc_ctl_node tell(const struct gwd *gwd, const struct gwd_node *node)
{
    struct gmc_ctl_node told = {.name = node->peer.name,
                                .state = GMC_CTL_NODE_INVITED,
                                .up = node->enrolled &&
                                      gwd_peers_has_session(gwd->peers, node->peer.name),
                                .since = node->enrolled ? node->since : 0,
                                .expires = node->open ? node->expires : 0};
    if (node->enrolled)
        told.state = GMC_CTL_NODE_ENROLLED;
    else if (node->expires <= (int64_t)time(NULL))
        told.state = GMC_CTL_NODE_EXPIRED;
    return told;
}

static gmc_status list(struct gwd *gwd, struct gmc_ctl_reply *reply)
{
    const struct gwd_node *node;
    size_t count = gwd->conf->peer_count;
    while (gwd_nodes_at(gwd->nodes, count - gwd->conf->peer_count) != NULL)
        count++;
    free(gwd->node_list);
    gwd->node_list = calloc(count + 1, sizeof *gwd->node_list);
    if (gwd->node_list == NULL)
        return refuse(gwd, GMC_ERR_NOMEM, "%s", "out of memory");
    count = 0;
    for (size_t i = 0; i < gwd->conf->peer_count; i++) {
        const struct gwd_conf_peer *peer = &gwd->conf->peers[i];
        if (peer->is_node)
            gwd->node_list[count++] =
                (struct gmc_ctl_node){.name = peer->name,
                                      .state = GMC_CTL_NODE_CONFIGURED,
                                      .up = gwd_peers_has_session(gwd->peers, peer->name)};
    }
    for (size_t i = 0; (node = gwd_nodes_at(gwd->nodes, i)) != NULL; i++)
        gwd->node_list[count++] = tell(gwd, node);
    reply->nodes = gwd->node_list;
    reply->node_count = count;
    return GMC_OK;
}

gmc_status gwd_hook_nodes(void *ctx, const struct gmc_ctl_request *request,
                          struct gmc_ctl_reply *reply, const char **reason)
{
    struct gwd *gwd = ctx;
    char copy[GMC_DOMAIN_NAME_MAX + 1];
    *reason = gwd->hook_reason;
    if (request->kind == GMC_CTL_NODES)
        return list(gwd, reply);
    const char *name = plain_name(gwd, request->node, copy);
    if (name == NULL)
        return GMC_ERR_INVALID;
    return request->kind == GMC_CTL_NODE_ADD ? add(gwd, name, request->lifetime_s, reply)
                                             : remove_node(gwd, name);
}

void gwd_take_nodes(struct gwd *gwd)
{
    if (!gwd->nodes_changed)
        return;
    gwd->nodes_changed = false;
    gwd_peers_take_nodes(gwd->peers);
    gwd_tell_nodes(gwd);
    gwd_nodes_sweep(gwd->nodes);
}
