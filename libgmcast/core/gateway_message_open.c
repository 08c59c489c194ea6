/* SPDX-License-Identifier: BSD-2-Clause */
/* A message channel is opened: what its publisher asks for is checked, and becomes a channel whose
 * members are probed. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_impl.h"

static struct gwchannel *find_by_name(const struct gmc_gateway *gw, const char *name)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &gw->channels)
    {
        struct gwchannel *ch = GMC_CONTAINER_OF(node, struct gwchannel, node);
        if (ch->is_source && !ch->closing && ch->talk != NULL && !ch->talk->ended &&
            strcmp(ch->talk->name, name) == 0)
            return ch;
    }
    return NULL;
}

/* DOMAIN or DOMAIN/INSIDE of a request, taken apart. */
struct listeners {
    struct gmc_stage_target *list; /* other domains */
    size_t count;
    const char *home; /* nodes of this domain, "" as it is configured; NULL: none were asked for */
    char *texts;      /* what list and home point into */
};

static void listeners_free(struct listeners *to)
{
    free(to->list);
    free(to->texts);
}

static gmc_status listeners_of(struct gmc_gateway *gw, const struct gmc_open_request *request,
                               struct listeners *to, const char **error)
{
    size_t size = 1;
    for (size_t i = 0; i < request->target_count; i++)
        size += strlen(request->targets[i]) + 2;
    *to = (struct listeners){.list = calloc(request->target_count + 1, sizeof(*to->list)),
                             .texts = malloc(size)};
    if (to->list == NULL || to->texts == NULL)
        return gw_say(gw, error, GMC_ERR_NOMEM, "no memory for the targets%s", "");
    char *at = to->texts;
    for (size_t i = 0; i < request->target_count; i++) {
        size_t len = strlen(request->targets[i]), domain = strcspn(request->targets[i], "/");
        memcpy(at, request->targets[i], len);
        at[domain] = at[len] = at[len + 1] = '\0';
        const char *inside = domain < len ? at + domain + 1 : "";
        if (gmc_inside_kind(inside) == GMC_INSIDE_SHARED || (domain < len && *inside == '\0'))
            return gw_say(gw, error, GMC_ERR_INVALID,
                          "messages do not go to \"%s\": write DOMAIN, DOMAIN/gateway, "
                          "DOMAIN/nodes, or DOMAIN/NODE+NODE",
                          request->targets[i]);
        if (strcmp(at, gw->domain) != 0)
            to->list[to->count++] =
                (struct gmc_stage_target){.domain = at, .path = "", .inside = inside};
        else if (to->home != NULL)
            return gw_say(gw, error, GMC_ERR_INVALID, "%s is named twice", gw->domain);
        else
            to->home = inside;
        at += len + 2;
    }
    return GMC_OK;
}

gmc_status gmc_gateway_open(struct gmc_gateway *gw, gmc_time now,
                            const struct gmc_open_request *request, struct gmc_channel_key *key,
                            const char **error)
{
    gw_begin_input(gw, now);
    if (!gmc_channel_name_ok(request->name))
        return gw_say(gw, error, GMC_ERR_INVALID,
                      "a channel's name is 1 to 128 printable characters, no space, no slash%s",
                      "");
    if (gw->config.node_of != NULL)
        return gw_say(gw, error, GMC_ERR_ACCESS, "publish through %s, the gateway of this domain",
                      gw->config.node_of);
    if (request->order > GMC_MESSAGES_LATEST || (unsigned)request->shape >= GMC_TREE_SHAPES)
        return gw_say(gw, error, GMC_ERR_INVALID, "unknown order or tree shape%s", "");
    if (find_by_name(gw, request->name) != NULL)
        return gw_say(gw, error, GMC_ERR_EXISTS,
                      "channel %s is open already: for other domains or nodes, in another order, "
                      "or about to end",
                      request->name);
    struct listeners to;
    gmc_status status = listeners_of(gw, request, &to, error);
    struct gwchannel *ch =
        status == GMC_OK ? gw_source_new(gw, to.list, to.count, &status, error) : NULL;
    if (ch != NULL && !gw_talk_init(gw, ch, request->name, request->order))
        status = gw_say(gw, error, GMC_ERR_NOMEM, "no memory for another channel%s", "");
    else if (ch != NULL && gw_proof_begin(gw, ch) != GMC_OK)
        status = gw_say(gw, error, GMC_ERR_NOMEM, "no key pair for another channel%s", "");
    else if (ch != NULL && to.home != NULL)
        status = gw_source_add_nodes(gw, ch, to.home, error);
    listeners_free(&to);
    if (ch == NULL)
        return status;
    if (status != GMC_OK) {
        gw_channel_free(gw, ch);
        return status;
    }
    ch->talk->held = true;
    ch->src->shape = request->shape;
    ch->src->scanned = true;
    ch->object = (struct gmc_object){.block_bytes = gw->config.block_bytes,
                                     .fragment_bytes = GW_BLOCK_BYTES / GMC_FRAGMENTS_MAX};
    ch->object_known = true;
    *key = ch->key;
    gw_source_probe(gw, ch);
    return GMC_OK;
}
