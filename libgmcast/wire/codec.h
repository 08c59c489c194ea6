/* SPDX-License-Identifier: BSD-2-Clause */
/* What the codecs of control messages and records share: borrowed fields of protobuf-c, packing,
 * the bound on unpacking, and the checks of names. Only libgmcast/wire includes it. */
#ifndef GMC_WIRE_CODEC_H
#define GMC_WIRE_CODEC_H

#include <stdbool.h>

#include "wire/arena.h"
#include "wire/control.h"

/* protobuf-c does not change what it packs, but does not say so in its types. */
static inline char *gmc_codec_text(const char *text)
{
    return (char *)(uintptr_t)(text != NULL ? text : "");
}

static inline ProtobufCBinaryData gmc_codec_data(const uint8_t *data, size_t len)
{
    return (ProtobufCBinaryData){len, (uint8_t *)(uintptr_t)data};
}

/* Bytes that unpacking a message of len bytes may take: each byte of a sensible message needs
 * fewer than 32, with what protobuf-c notes while it scans. */
static inline size_t gmc_codec_limit(size_t len)
{
    return 4096 + 32 * len;
}

/* Packs into a new buffer; LIMIT above GMC_MSG_BYTES_MAX, NOMEM. */
GMC_NODISCARD gmc_status gmc_codec_pack(const ProtobufCMessage *message, uint8_t **out,
                                        size_t *len);

/* Unpacks into the arena; INVALID (malformed, or wants too much memory), NOMEM. */
GMC_NODISCARD gmc_status gmc_codec_unpack(const ProtobufCMessageDescriptor *type,
                                          struct gmc_bytes bytes, struct gmc_arena *arena,
                                          ProtobufCMessage **out);

/* A domain's name: 1 to 255 printable characters of ASCII, no space. */
bool gmc_codec_name_ok(const char *name);

/* Whether no name is twice among count names, which are reordered. O(n log n) whatever the
 * names. */
bool gmc_codec_names_unique(const char **names, size_t count);

/* The bounds of gmc_msg that hold on both sides. */
GMC_NODISCARD gmc_status gmc_msg_check(const struct gmc_msg *msg);

#endif
