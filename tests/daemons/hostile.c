/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns what a domain with a good certificate may do to others: the linker puts these functions in
 * front of those of gatewayd (--wrap). The environment says what is done: GMC_HOSTILE_LISTING has
 * lines FROM=TO, put into each listing that is served; GMC_HOSTILE_MISREAD has the same lines, and
 * what such a listing says is passed on to nodes and read here as if it were honest;
 * GMC_HOSTILE_WORDS spoils and repeats control messages; GMC_HOSTILE_CHANNEL acts on the channels
 * of others. */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "core/gateway_impl.h"
#include "gatewayd/store_int.h"

#define LINKS_MAX 8
#define ROUNDS 3
#define BEGIN_AFTER GMC_MS(400) /* others have attached then, and data flows */
#define HANDLES_AT_ONCE 1000

bool __real_gwd_replace_file(int dirfd, const char *name, const void *data, size_t len);
bool __wrap_gwd_replace_file(int dirfd, const char *name, const void *data, size_t len);
gmc_status __real_gmc_listing_parse(struct gmc_bytes bytes, uint64_t data_bytes,
                                    struct gmc_listing **out, char *reason, size_t reason_len);
gmc_status __wrap_gmc_listing_parse(struct gmc_bytes bytes, uint64_t data_bytes,
                                    struct gmc_listing **out, char *reason, size_t reason_len);
gmc_status __real_gmc_link_send_message(struct gmc_link *link, gmc_time now,
                                        struct gmc_bytes message);
gmc_status __wrap_gmc_link_send_message(struct gmc_link *link, gmc_time now,
                                        struct gmc_bytes message);
bool __real_gmc_link_next_packet(struct gmc_link *link, gmc_time now, uint8_t *buffer,
                                 size_t capacity, struct gmc_dgram_out *out);
bool __wrap_gmc_link_next_packet(struct gmc_link *link, gmc_time now, uint8_t *buffer,
                                 size_t capacity, struct gmc_dgram_out *out);
void __real_gw_target_channel(struct gmc_gateway *gw, struct gwpeer *peer,
                              const struct gmc_msg *msg);
void __wrap_gw_target_channel(struct gmc_gateway *gw, struct gwpeer *peer,
                              const struct gmc_msg *msg);

static void *copy(const void *bytes, size_t len)
{
    void *to = malloc(len + 1);
    GMC_ASSERT(to != NULL);
    if (len > 0) /* and bytes may be none */
        memcpy(to, bytes, len);
    return to;
}

/* ---- a listing that leads out ---- */

static void replace(uint8_t *bytes, size_t bytes_len, const char *from, const char *to, size_t len)
{
    for (size_t at = 0; at + len <= bytes_len; at++) {
        if (memcmp(bytes + at, from, len) == 0)
            memcpy(bytes + at, to, len);
    }
}

/* A copy in which each FROM of the lines is TO, or the other way round. */
static uint8_t *rewrite(const char *lines, const void *data, size_t len, bool undo)
{
    uint8_t *bytes = copy(data, len);
    while (*lines != '\0') {
        size_t from = strcspn(lines, "=");
        const char *to = lines + from + 1;
        GMC_ASSERT(lines[from] == '=' && strcspn(to, "\n") == from);
        replace(bytes, len, undo ? to : lines, undo ? lines : to, from);
        lines += 2 * from + 1;
        lines += strspn(lines, "\n");
    }
    return bytes;
}

/* What is served is the file; the source itself reads by the listing as it was. */
bool __wrap_gwd_replace_file(int dirfd, const char *name, const void *data, size_t len)
{
    const char *lines = getenv("GMC_HOSTILE_LISTING");
    if (lines == NULL || strcmp(name, GWD_LISTING_FILE) != 0)
        return __real_gwd_replace_file(dirfd, name, data, len);
    uint8_t *served = rewrite(lines, data, len, false);
    bool done = __real_gwd_replace_file(dirfd, name, served, len);
    free(served);
    return done;
}

gmc_status __wrap_gmc_listing_parse(struct gmc_bytes bytes, uint64_t data_bytes,
                                    struct gmc_listing **out, char *reason, size_t reason_len)
{
    const char *lines = getenv("GMC_HOSTILE_MISREAD");
    if (lines == NULL)
        return __real_gmc_listing_parse(bytes, data_bytes, out, reason, reason_len);
    uint8_t *honest = rewrite(lines, bytes.data, bytes.len, true);
    gmc_status status =
        __real_gmc_listing_parse(gmc_bytes(honest, bytes.len), data_bytes, out, reason, reason_len);
    free(honest);
    return status;
}

/* ---- control messages ---- */

static void say(struct gmc_link *link, gmc_time now, struct gmc_bytes message)
{
    gmc_status status = __real_gmc_link_send_message(link, now, message);
    (void)status;
}

/* Cut short, noise, and what was said before; then what was meant. */
gmc_status __wrap_gmc_link_send_message(struct gmc_link *link, gmc_time now,
                                        struct gmc_bytes message)
{
    if (getenv("GMC_HOSTILE_WORDS") != NULL) {
        say(link, now, gmc_bytes(message.data, message.len - 1));
        say(link, now, gmc_bytes("\xff\xff\xff\xff noise", 10));
        say(link, now, message);
    }
    return __real_gmc_link_send_message(link, now, message);
}

/* ---- the channel of somebody else ---- */

/* What was told of the first channel that this gateway is a member of, and on which link. */
static struct gmc_msg told;
static const struct gmc_link *told_on;
static gmc_time told_at;
static uint32_t last_block; /* which comes last, so others lack it */

/* How far the attack on each link got. */
static struct attack {
    const struct gmc_link *link;
    unsigned rounds;
    uint32_t handle;
    gmc_time at; /* of the last batch of fragments, and how many there were */
    uint32_t batch;
} attacks[LINKS_MAX];

void __wrap_gw_target_channel(struct gmc_gateway *gw, struct gwpeer *peer,
                              const struct gmc_msg *msg)
{
    __real_gw_target_channel(gw, peer, msg);
    const struct gwchannel *ch = gw_channel_find(gw, msg->source, msg->e);
    if (told_on == NULL && ch != NULL) {
        told = *msg;
        told.source = copy(msg->source, strlen(msg->source) + 1);
        told.secret = copy(msg->secret, GMC_KEY_BYTES);
        told.place.record.data = copy(msg->place.record.data, msg->place.record.len);
        told.place.signature.data = copy(msg->place.signature.data, msg->place.signature.len);
        told.place.member.data = copy(msg->place.member.data, msg->place.member.len);
        told.place.siblings.data = copy(msg->place.siblings.data, msg->place.siblings.len);
        told_on = peer->link;
        told_at = gw->now;
        last_block = (uint32_t)ch->blocks - 1;
    }
}

static struct attack *attack_on(const struct gmc_link *link, gmc_time now)
{
    if (getenv("GMC_HOSTILE_CHANNEL") == NULL || told_on == NULL ||
        now < gmc_time_add(told_at, BEGIN_AFTER) || gmc_link_state(link) != GMC_LINK_UP)
        return NULL;
    for (size_t i = 0; i < LINKS_MAX; i++) {
        if (attacks[i].link == NULL)
            attacks[i] = (struct attack){.link = link, .handle = 1};
        if (attacks[i].link == link)
            return &attacks[i];
    }
    return NULL;
}

/* As if this gateway were the source, or the parent. Of what a member may say, the source gets
 * nothing: that would be about this gateway itself. */
static void speak_for_others(struct gmc_link *link, gmc_time now)
{
    static const enum gmc_msg_type types[] = {GMC_MSG_CHANNEL,  GMC_MSG_CLOSE,  GMC_MSG_ATTACHED,
                                              GMC_MSG_REDIRECT, GMC_MSG_DETACH, GMC_MSG_COMPLETE,
                                              GMC_MSG_LEAVE};
    static const uint8_t digest[GMC_HASH_BYTES];
    struct gmc_msg msg = told;
    size_t count = link == told_on ? 4 : sizeof types / sizeof *types;

    msg.names = &told.source;
    msg.name_count = 1;
    msg.version = msg.epoch = msg.handle = 1;
    msg.status = GMC_ERR_CANCELLED;
    msg.text = "hostile";
    msg.redirect = "";
    msg.discard = true;
    msg.digest = digest;
    for (size_t i = 0; i < count; i++) {
        uint8_t *bytes;
        size_t len;
        msg.type = types[i];
        gmc_status status = gmc_msg_encode(&msg, &bytes, &len);
        GMC_ASSERT(status == GMC_OK);
        say(link, now, gmc_bytes(bytes, len));
        gmc_msg_bytes_free(bytes);
    }
}

/* A fragment for each handle that the receiver may have given to its parent. After a batch the link
 * wakes up for their fates. */
static bool send_fragment(struct attack *attack, struct gmc_link *link, gmc_time now,
                          struct gmc_dgram_out *out)
{
    static const uint8_t body[48];
    if (attack->at != now)
        attack->batch = 0;
    attack->at = now;
    if (attack->handle > UINT16_MAX || attack->batch++ == HANDLES_AT_ONCE)
        return false;
    struct gmc_data_head head = {.handle = (uint16_t)attack->handle++, .block = last_block};
    return gmc_link_send_data(link, now, &head, gmc_bytes(body, 32), body + 32, UINT64_MAX, out) ==
           GMC_OK;
}

bool __wrap_gmc_link_next_packet(struct gmc_link *link, gmc_time now, uint8_t *buffer,
                                 size_t capacity, struct gmc_dgram_out *out)
{
    struct attack *attack = attack_on(link, now);

    if (attack != NULL && attack->rounds < ROUNDS) {
        attack->rounds++;
        speak_for_others(link, now);
    }
    return __real_gmc_link_next_packet(link, now, buffer, capacity, out) ||
           (attack != NULL && send_fragment(attack, link, now, out));
}
