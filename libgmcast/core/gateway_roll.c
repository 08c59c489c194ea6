/* SPDX-License-Identifier: BSD-2-Clause */
/* Who is a member, and how that is proved. The source keeps the roll: what each member is told of
 * the others, and the Merkle tree over all of it, whose root it signs. A member keeps its own place
 * and shows it to whom it wants to be served by. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_impl.h"

#define SIGNED_PREFIX "gmcast-record-2\n"

_Static_assert(GMC_ANCESTORS_MAX + 1 == GMC_OVERLAY_DEPTH_MAX, "ancestors, then the source");

/* ---- places ---- */
static struct gmc_bytes put(uint8_t **at, struct gmc_bytes bytes)
{
    struct gmc_bytes copy = gmc_bytes(*at, bytes.len);
    if (bytes.len > 0)
        memcpy(*at, bytes.data, bytes.len);
    *at += bytes.len;
    return copy;
}

gmc_status gw_place_copy(struct gwplace *place, const struct gmc_place *from)
{
    uint8_t *owned =
        malloc(from->record.len + from->signature.len + from->member.len + from->siblings.len + 1);
    if (owned == NULL)
        return GMC_ERR_NOMEM;
    uint8_t *at = owned;
    struct gmc_place view = {.index = from->index};
    view.record = put(&at, from->record);
    view.signature = put(&at, from->signature);
    view.member = put(&at, from->member);
    view.siblings = put(&at, from->siblings);
    free(place->owned);
    *place = (struct gwplace){.view = view, .owned = owned};
    return GMC_OK;
}

void gw_place_free(struct gwplace *place)
{
    free(place->owned);
    *place = (struct gwplace){0};
}

/* ---- the signature ---- */
static uint8_t *to_be_signed(struct gmc_bytes record, size_t *len)
{
    size_t prefix = sizeof(SIGNED_PREFIX) - 1;
    uint8_t *bytes = malloc(prefix + record.len);
    if (bytes == NULL)
        return NULL;
    memcpy(bytes, SIGNED_PREFIX, prefix);
    memcpy(bytes + prefix, record.data, record.len);
    *len = prefix + record.len;
    return bytes;
}

gmc_status gw_record_sign(struct gmc_gateway *gw, const struct gmc_pubkey *key,
                          struct gmc_bytes record, uint8_t *signature, size_t *signature_len)
{
    size_t len;
    uint8_t *bytes = to_be_signed(record, &len);
    if (bytes == NULL)
        return GMC_ERR_NOMEM;
    const struct gmc_crypto *crypto = gw->config.crypto;
    gmc_status status =
        crypto->ops->sign(crypto->ctx, key, gmc_bytes(bytes, len), signature, signature_len);
    free(bytes);
    return status;
}

gmc_status gw_record_verify(struct gmc_gateway *gw, struct gmc_pubkey *key, struct gmc_bytes record,
                            struct gmc_bytes signature)
{
    size_t len;
    uint8_t *bytes = to_be_signed(record, &len);
    if (bytes == NULL)
        return GMC_ERR_NOMEM;
    gmc_status status = gw->config.crypto->ops->verify(key, gmc_bytes(bytes, len), signature);
    free(bytes);
    return status;
}

/* ---- checking places ---- */
bool gw_place_fits(const struct gmc_gateway *gw, const struct gmc_record *record,
                   const struct gmc_place *place)
{
    return gmc_merkle_check(gw->config.crypto, record->root, record->members, place->index,
                            place->member, place->siblings);
}

static bool is_named(struct gmc_bytes bytes, const char *domain)
{
    struct gmc_member member;
    struct gmc_record_holder *holder;
    if (gmc_member_decode(bytes, &member, &holder) != GMC_OK)
        return false;
    bool named = strcmp(member.domain, domain) == 0;
    gmc_record_release(holder);
    return named;
}

/* A record of this channel, signed by its source, of the epoch that is served here. Another version
 * than ours will do: news of it come to one before they come to the other. */
static bool take_other(struct gmc_gateway *gw, const struct gwchannel *ch,
                       const struct gmc_place *place, struct gmc_record *record)
{
    struct gmc_record_holder *holder;
    if (gw_record_verify(gw, ch->source_key, place->record, place->signature) != GMC_OK ||
        gmc_record_decode(place->record, record, &holder) != GMC_OK)
        return false;
    bool ours = record->e == ch->key.e && strcmp(record->source, ch->key.source) == 0 &&
                record->epoch == ch->epoch;
    gmc_record_release(holder);
    return ours;
}

bool gw_place_is_of(struct gmc_gateway *gw, const struct gwchannel *ch,
                    const struct gmc_place *place, const char *domain)
{
    struct gmc_record other;
    const struct gmc_record *record = &ch->record;
    if (place->member.len == 0 || !is_named(place->member, domain))
        return false;
    if (!gmc_bytes_equal(place->record, ch->place.view.record)) {
        if (!take_other(gw, ch, place, &other))
            return false;
        record = &other;
    }
    return gw_place_fits(gw, record, place);
}

/* ---- the roll ---- */
void gw_roll_free(struct gwroll *roll)
{
    GMC_ASSERT(roll->count == 0 || roll->entries != NULL);
    for (size_t i = 0; i < roll->count; i++)
        gmc_msg_bytes_free(roll->entries[i].bytes);
    free(roll->entries);
    gmc_merkle_fini(&roll->tree);
    *roll = (struct gwroll){0};
}

/* The way up in the tree of a stripe. Members that are not in the record are stepped over as the
 * source is: their children go to it. */
static void climb(struct gmc_gateway *gw, const struct gwsource *src, const struct gwmember *member,
                  uint32_t stripe, const char **names, struct gmc_ancestors *tree)
{
    int32_t at = member->parent[stripe];
    tree->domains = names;
    tree->count = 0;
    while (at > 0 && tree->count < GMC_ANCESTORS_MAX) {
        const struct gwmember *above = &src->members[at - 1];
        if (!gw_source_is_in_record(above))
            return;
        names[tree->count++] = gmc_gateway_peer_name(gw, above->peer);
        at = above->parent[stripe];
    }
}

static gmc_status add_entry(struct gmc_gateway *gw, const struct gwchannel *ch,
                            const struct gwmember *who, bool is_relay, struct gwroll *roll)
{
    const char *names[GMC_STRIPES_MAX][GMC_ANCESTORS_MAX];
    const struct gwpeer *peer = gw->peers[who->peer];
    struct gmc_member member = {.domain = peer->is_node ? gw->domain : peer->name,
                                .path = who->path,
                                .inside = who->inside,
                                .stripes = ch->stripe_count,
                                .is_relay = is_relay};
    for (uint32_t k = 0; k < ch->stripe_count; k++)
        climb(gw, ch->src, who, k, names[k], &member.trees[k]);
    struct gwentry *entry = &roll->entries[roll->count];
    gmc_status status = gmc_member_encode(&member, &entry->bytes, &entry->len);
    if (status == GMC_OK)
        gmc_merkle_put(&roll->tree, roll->count++, gmc_bytes(entry->bytes, entry->len));
    return status;
}

/* Who has children, in the tree of any stripe. */
static bool *find_relays(const struct gwchannel *ch)
{
    const struct gwsource *src = ch->src;
    bool *relays = calloc(src->member_count + 1, sizeof(*relays));
    for (size_t i = 0; relays != NULL && i < src->member_count; i++)
        for (uint32_t k = 0; k < ch->stripe_count && gw_source_is_in_record(&src->members[i]); k++)
            if (src->members[i].parent[k] > 0)
                relays[src->members[i].parent[k] - 1] = true;
    return relays;
}

gmc_status gw_roll_make(struct gmc_gateway *gw, struct gwchannel *ch, struct gwroll *roll,
                        uint8_t root[GMC_HASH_BYTES])
{
    const struct gwsource *src = ch->src;
    size_t count = 0;
    for (size_t i = 0; i < src->member_count; i++)
        count += gw_source_is_in_record(&src->members[i]);
    *roll = (struct gwroll){.entries = calloc(count + 1, sizeof(*roll->entries))};
    bool *relays = find_relays(ch);
    gmc_status status = gmc_merkle_init(&roll->tree, gw->config.crypto, count);
    if (roll->entries == NULL || relays == NULL)
        status = GMC_ERR_NOMEM;
    for (size_t i = 0; i < src->member_count && status == GMC_OK; i++)
        if (gw_source_is_in_record(&src->members[i]))
            status = add_entry(gw, ch, &src->members[i], relays[i], roll);
    if (status == GMC_OK)
        gmc_merkle_finish(&roll->tree, root);
    else
        gw_roll_free(roll);
    free(relays);
    return status;
}

struct gmc_place gw_roll_place(const struct gwchannel *ch, const struct gwmember *member,
                               uint8_t siblings[GMC_MERKLE_HEIGHT_MAX][GMC_HASH_BYTES])
{
    const struct gwroll *roll = &ch->src->roll;
    const struct gwentry *entry = &roll->entries[member->entry];
    size_t height = gmc_merkle_proof(&roll->tree, member->entry, siblings);
    return (struct gmc_place){.record = ch->place.view.record,
                              .signature = ch->place.view.signature,
                              .member = gmc_bytes(entry->bytes, entry->len),
                              .index = member->entry,
                              .siblings = gmc_bytes(siblings[0], height * GMC_HASH_BYTES)};
}
