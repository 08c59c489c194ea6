/* SPDX-License-Identifier: BSD-2-Clause */
/* The message channels of a scenario. */
#include "sim-wan/mem.h"
#include "sim-wan/run/plan_internal.h"
#include "wire/control.h"

#define BYTES 1024u

/* The time from one message to the next, given as it is or by the rate of all of them. */
static gmc_status read_pace(struct sim_plan_reader *reader, const struct sim_conf_part *part,
                            struct sim_plan_channel *channel)
{
    struct sim_conf *conf = &reader->conf;
    bool has_rate = sim_conf_value(part, "rate") != NULL;
    if (has_rate == (sim_conf_value(part, "every") != NULL))
        return sim_conf_refuse(conf, part, has_rate ? "rate" : NULL,
                               "expected either every, the time from one message to the next such "
                               "as 10ms, or rate, what they come to such as 1Mbit");
    channel->bytes = (uint32_t)sim_conf_number(part, "size", BYTES);
    channel->every = sim_conf_number(part, "every", 0);
    if (has_rate)
        channel->every =
            (gmc_duration)channel->bytes * 8 * GMC_S(1) / sim_conf_number(part, "rate", 0);
    if (channel->every < SIM_PLAN_MESSAGES_EVERY_MIN)
        return sim_conf_refuse(conf, part, "rate",
                               "the rate is more than a million messages of %u bytes a second; "
                               "expected at most %uMbit",
                               channel->bytes, channel->bytes * 8);
    return GMC_OK;
}

/* How many messages there are. */
static gmc_status read_length(struct sim_plan_reader *reader, const struct sim_conf_part *part,
                              struct sim_plan_channel *channel)
{
    const struct sim_plan *plan = reader->plan;
    channel->at = sim_conf_number(part, "at", 0);
    if (sim_conf_value(part, "for") != NULL)
        channel->count = (sim_conf_number(part, "for", 0) - 1) / channel->every + 1;
    else if (plan->transfer_count == 0)
        return sim_conf_refuse(&reader->conf, part, NULL,
                               "for is missing: how long messages are published, such as 10s; only "
                               "beside a transfer it may be left out, at whose end they end");
    return GMC_OK;
}

static gmc_status read_channel(struct sim_plan_reader *reader, const struct sim_conf_part *part,
                               struct sim_plan_channel *channel)
{
    const char *from = sim_conf_text(part, "from", NULL);
    if (!gmc_channel_name_ok(part->title))
        return sim_conf_refuse(&reader->conf, part, NULL,
                               "'%.40s' cannot be the name of a channel; expected up to %u "
                               "printable characters without space and slash",
                               part->title, GMC_CHANNEL_NAME_MAX);
    if (from == NULL)
        return sim_conf_refuse(&reader->conf, part, NULL,
                               "from is missing: the node of the publisher");
    channel->order = (enum gmc_message_order)sim_conf_number(part, "order", GMC_MESSAGES_ORDERED);
    gmc_status status = sim_plan_node(reader, part, "from", from, true, &channel->source);
    if (status == GMC_OK)
        status = sim_plan_targets(reader, part, channel->source, &channel->targets,
                                  &channel->target_count);
    if (status == GMC_OK)
        status = read_pace(reader, part, channel);
    return status == GMC_OK ? read_length(reader, part, channel) : status;
}

gmc_status sim_plan_read_channels(struct sim_plan_reader *reader)
{
    struct sim_plan *plan = reader->plan;
    gmc_status status = GMC_OK;
    const struct sim_conf_part *part;
    for (size_t at = 0;
         status == GMC_OK && (part = sim_conf_next(&reader->conf, "channel", &at)) != NULL;) {
        if (plan->channel_count == SIM_PLAN_CHANNELS_MAX)
            return sim_conf_refuse(&reader->conf, part, NULL, "more than %u channels",
                                   SIM_PLAN_CHANNELS_MAX);
        plan->channels = sim_reserve(plan->channels, plan->channel_count, &plan->channel_capacity,
                                     sizeof(*plan->channels));
        struct sim_plan_channel *channel = &plan->channels[plan->channel_count++];
        *channel = (struct sim_plan_channel){.name = sim_strdup(part->title)};
        status = read_channel(reader, part, channel);
    }
    return status;
}
