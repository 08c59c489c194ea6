/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts of message channels. The last one that was looked for is found at once: messages come in
 * runs. */
#include "gatewayd/traffic.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "core/io.h"
#include "gatewayd/text.h"

#define CHANNELS_MAX 1024u /* then the one that was quiet the longest is forgotten */

struct channel {
    struct gmc_list node; /* those that moved last in front */
    char source[GMC_DOMAIN_NAME_MAX + 1];
    uint64_t e;
    uint64_t first, next; /* sequences: of the first that came, one above the highest */
    uint64_t in, out, dropped;
    uint64_t in_before, out_before; /* at the last tick */
    uint64_t in_rate, out_rate;
};

struct gwd_traffic {
    struct gmc_list channels;
    size_t count;
};

struct gwd_traffic *gwd_traffic_new(void)
{
    struct gwd_traffic *traffic = calloc(1, sizeof *traffic);
    if (traffic != NULL)
        gmc_list_init(&traffic->channels);
    return traffic;
}

void gwd_traffic_free(struct gwd_traffic *traffic)
{
    struct gmc_list *node;
    if (traffic == NULL)
        return;
    while ((node = gmc_list_pop_front(&traffic->channels)) != NULL)
        free(GMC_CONTAINER_OF(node, struct channel, node));
    free(traffic);
}

static struct channel *find(const struct gwd_traffic *traffic, const char *source, uint64_t e)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &traffic->channels)
    {
        struct channel *channel = GMC_CONTAINER_OF(node, struct channel, node);
        if (channel->e == e && strcmp(channel->source, source) == 0)
            return channel;
    }
    return NULL;
}

static struct channel *add(struct gwd_traffic *traffic, const char *source, uint64_t e)
{
    struct gmc_list *oldest =
        traffic->count >= CHANNELS_MAX ? gmc_list_last(&traffic->channels) : NULL;
    struct channel *channel =
        oldest != NULL ? GMC_CONTAINER_OF(oldest, struct channel, node) : malloc(sizeof *channel);
    if (channel == NULL)
        return NULL;
    if (oldest != NULL)
        gmc_list_remove(oldest);
    else
        traffic->count++;
    *channel = (struct channel){.e = e};
    gwd_text(channel->source, sizeof channel->source, "%s", source);
    gmc_list_init(&channel->node);
    gmc_list_push_front(&traffic->channels, &channel->node);
    return channel;
}

void gwd_traffic_arrived(struct gwd_traffic *traffic, const char *source, uint64_t e,
                         uint64_t sequence)
{
    struct channel *channel = find(traffic, source, e);
    if (channel == NULL) {
        channel = add(traffic, source, e);
        if (channel == NULL)
            return; /* it is carried, and not counted */
        channel->first = channel->next = sequence;
    }
    gmc_list_remove(&channel->node);
    gmc_list_push_front(&traffic->channels, &channel->node);
    channel->in++;
    if (sequence >= channel->next)
        channel->next = sequence + 1;
    if (sequence < channel->first)
        channel->first = sequence; /* not ordered */
}

void gwd_traffic_handed(struct gwd_traffic *traffic, const char *source, uint64_t e,
                        uint64_t messages, bool lost)
{
    struct channel *channel = find(traffic, source, e);
    if (channel == NULL)
        return;
    if (lost)
        channel->dropped += messages;
    else
        channel->out += messages;
}

void gwd_traffic_tick(struct gwd_traffic *traffic)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &traffic->channels)
    {
        struct channel *channel = GMC_CONTAINER_OF(node, struct channel, node);
        channel->in_rate = channel->in - channel->in_before;
        channel->out_rate = channel->out - channel->out_before;
        channel->in_before = channel->in;
        channel->out_before = channel->out;
    }
}

struct gmc_ctl_traffic gwd_traffic_of(const struct gwd_traffic *traffic, const char *source,
                                      uint64_t e)
{
    const struct channel *channel = find(traffic, source, e);
    if (channel == NULL)
        return (struct gmc_ctl_traffic){0};
    return (struct gmc_ctl_traffic){.in_rate = channel->in_rate,
                                    .out_rate = channel->out_rate,
                                    .handed = channel->out,
                                    .missed = channel->next - channel->first - channel->in,
                                    .dropped = channel->dropped};
}
