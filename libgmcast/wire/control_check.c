/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the bounds of control messages, which hold for what is sent and for what is received. */
#include <string.h>

#include "wire/codec.h"

#define STATUS_MAX 65535
#define SIGNATURE_MAX 1024
#define HANDLE_MAX 65535u

static bool names_ok(const struct gmc_msg *msg)
{
    if (msg->name_count > GMC_MEMBERS_MAX)
        return false;
    for (size_t i = 0; i < msg->name_count; i++) {
        if (!gmc_codec_name_ok(msg->names[i]))
            return false;
    }
    return true;
}

/* "" or NULL: nobody. */
static bool name_or_none_ok(const char *name)
{
    return name == NULL || name[0] == 0 || gmc_codec_name_ok(name);
}

/* In growing order and apart; block indexes have 32 bits. */
static bool ranges_ok(const struct gmc_msg *msg)
{
    uint64_t next = 0;

    if (msg->range_count > GMC_RANGES_MAX)
        return false;
    for (size_t i = 0; i < msg->range_count; i++) {
        const struct gmc_msg_range *range = &msg->ranges[i];

        if (range->first < next || range->last < range->first || range->last > UINT32_MAX)
            return false;
        next = range->last + 1;
    }
    return true;
}

/* Ascending from the source's, which is 0, and below the total. */
static bool numbers_ok(const struct gmc_msg *msg)
{
    if (msg->total > GMC_MEMBERS_MAX || (msg->numbers == NULL) != (msg->total == 0))
        return false;
    for (size_t i = 0; msg->numbers != NULL && i < msg->name_count; i++)
        if (msg->numbers[i] >= msg->total ||
            (i == 0 ? msg->numbers[i] != 0 : msg->numbers[i] <= msg->numbers[i - 1]))
            return false;
    return true;
}

static bool probe_ok(const struct gmc_msg *msg)
{
    return msg->secret != NULL && msg->name_count > 0 && names_ok(msg) && numbers_ok(msg) &&
           msg->rates <= GMC_RATES_ANEW &&
           (msg->mask.len == 0 || msg->mask.len == (msg->name_count + 7) / 8);
}

static bool join_ok(const struct gmc_msg *msg)
{
    if (msg->latency_count > GMC_MEMBERS_MAX)
        return false;
    for (size_t i = 0; i < msg->latency_count; i++) {
        if (msg->latencies[i].participant >= GMC_MEMBERS_MAX)
            return false;
    }
    return true;
}

static bool children_ok(const struct gmc_msg *msg)
{
    if (msg->child_count > GMC_MEMBERS_MAX)
        return false;
    for (size_t i = 0; i < msg->child_count; i++) {
        if (!gmc_codec_name_ok(msg->children[i].domain) ||
            msg->children[i].stripe >= GMC_STRIPES_MAX || msg->children[i].loss_ppm >= 1000000)
            return false;
    }
    return true;
}

static bool parents_ok(const struct gmc_msg *msg)
{
    if (msg->name_count >= GMC_STRIPES_MAX)
        return false;
    for (size_t i = 0; i < msg->name_count; i++) {
        if (!name_or_none_ok(msg->names[i]))
            return false;
    }
    return name_or_none_ok(msg->parent);
}

static bool status_ok(const struct gmc_msg *msg)
{
    return msg->status <= 0 && msg->status >= -STATUS_MAX;
}

static bool place_ok(const struct gmc_place *place)
{
    return place->record.len > 0 && place->signature.len > 0 &&
           place->signature.len <= SIGNATURE_MAX && place->member.len > 0 &&
           place->index < GMC_MEMBERS_MAX && place->siblings.len % GMC_DIGEST_BYTES == 0 &&
           place->siblings.len <= GMC_PROOF_HASHES_MAX * GMC_DIGEST_BYTES;
}

/* A source needs no place to tell, and none is told of nobody. */
static bool place_or_none_ok(const struct gmc_place *place)
{
    return (place->record.len == 0 && place->signature.len == 0 && place->member.len == 0 &&
            place->siblings.len == 0) ||
           place_ok(place);
}

static bool group_report_ok(const struct gmc_msg *msg)
{
    if (msg->need_count > GMC_GROUP_NEEDS_MAX || msg->received > msg->next)
        return false;
    for (size_t i = 0; i < msg->need_count; i++) {
        const struct gmc_msg_need *need = &msg->needs[i];

        if (need->seen > UINT16_MAX || need->need < 1 || need->need > GMC_GROUP_SOURCES_MAX ||
            need->missing.len > GMC_GROUP_SOURCES_MAX / 8)
            return false;
    }
    return status_ok(msg);
}

static bool neighbours_ok(const struct gmc_msg *msg)
{
    size_t parents = 0;

    if (msg->neighbour_count > GMC_NEIGHBOURS_MAX)
        return false;
    for (size_t i = 0; i < msg->neighbour_count; i++) {
        const struct gmc_msg_neighbour *at = &msg->neighbours[i];

        parents += at->is_parent;
        if (!gmc_codec_name_ok(at->name) || at->address.len < 1 ||
            at->address.len > GMC_ADDRESS_MAX || at->send_id == 0 || at->receive_id == 0 ||
            at->send_key == NULL || at->receive_key == NULL)
            return false;
    }
    return parents <= 1;
}

static bool body_ok(const struct gmc_msg *msg)
{
    if (msg->stripe >= GMC_STRIPES_MAX)
        return false;
    switch (msg->type) {
    case GMC_MSG_PROBE:
        return probe_ok(msg);
    case GMC_MSG_JOIN:
        return join_ok(msg);
    case GMC_MSG_CHANNEL:
        return msg->secret != NULL && place_ok(&msg->place) &&
               msg->source_key.len <= GMC_SOURCE_KEY_MAX;
    case GMC_MSG_LEAVE:
    case GMC_MSG_DETACH:
    case GMC_MSG_CLOSE:
        return status_ok(msg);
    case GMC_MSG_REDIRECT:
        return status_ok(msg) && name_or_none_ok(msg->redirect) && place_or_none_ok(&msg->place);
    case GMC_MSG_ATTACH:
        return msg->handle >= 1 && msg->handle <= HANDLE_MAX && ranges_ok(msg) &&
               place_or_none_ok(&msg->place);
    case GMC_MSG_ATTACHED:
        return msg->handle <= HANDLE_MAX && names_ok(msg);
    case GMC_MSG_HAVE:
    case GMC_MSG_WANT:
        return ranges_ok(msg);
    case GMC_MSG_STATUS:
        return parents_ok(msg) && children_ok(msg);
    case GMC_MSG_GROUP:
        return msg->secret != NULL && msg->payload.len <= GMC_GROUP_ADDRESS_MAX;
    case GMC_MSG_GROUP_REPORT:
        return group_report_ok(msg);
    case GMC_MSG_TREE:
        return neighbours_ok(msg);
    case GMC_MSG_DOMAIN:
        return msg->nodes_payload == 0 || msg->nodes_payload >= GMC_NODES_PAYLOAD_MIN;
    case GMC_MSG_COMPLETE:
        return msg->digest != NULL;
    case GMC_MSG_TREE_READY:
        return name_or_none_ok(msg->subnet) &&
               (msg->subnet == NULL || strlen(msg->subnet) <= GMC_SUBNET_MAX);
    case GMC_MSG_REQUEST:
    case GMC_MSG_REPLY:
    case GMC_MSG_SKIP:
        return true;
    }
    return false;
}

static bool has_channel(enum gmc_msg_type type)
{
    return type != GMC_MSG_PROBE && type != GMC_MSG_JOIN && type != GMC_MSG_REQUEST &&
           type != GMC_MSG_REPLY && type != GMC_MSG_DOMAIN;
}

gmc_status gmc_msg_check(const struct gmc_msg *msg)
{
    if (has_channel(msg->type) && !gmc_codec_name_ok(msg->source))
        return GMC_ERR_INVALID;
    return body_ok(msg) ? GMC_OK : GMC_ERR_INVALID;
}
