/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns what the codecs of control messages and records share. */
#include "wire/codec.h"

#include <stdlib.h>
#include <string.h>

gmc_status gmc_codec_pack(const ProtobufCMessage *message, uint8_t **out, size_t *len)
{
    size_t size = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes;

    if (size > GMC_MSG_BYTES_MAX)
        return GMC_ERR_LIMIT;
    bytes = malloc(size > 0 ? size : 1);
    if (bytes == NULL)
        return GMC_ERR_NOMEM;
    protobuf_c_message_pack(message, bytes);
    *out = bytes;
    *len = size;
    return GMC_OK;
}

gmc_status gmc_codec_unpack(const ProtobufCMessageDescriptor *type, struct gmc_bytes bytes,
                            struct gmc_arena *arena, ProtobufCMessage **out)
{
    ProtobufCMessage *message;

    if (bytes.len > GMC_MSG_BYTES_MAX)
        return GMC_ERR_INVALID;
    message = protobuf_c_message_unpack(type, &arena->allocator, bytes.len, bytes.data);
    if (message == NULL)
        return arena->status == GMC_ERR_NOMEM ? GMC_ERR_NOMEM : GMC_ERR_INVALID;
    *out = message;
    return GMC_OK;
}

bool gmc_codec_name_ok(const char *name)
{
    size_t len;

    if (name == NULL)
        return false;
    for (len = 0; name[len] != 0; len++) {
        if (len == GMC_NAME_MAX || name[len] <= ' ' || name[len] > '~')
            return false;
    }
    return len > 0;
}

/* Moves the name at `from` down until no child is greater: heapsort, because its worst case is
 * n log n and the names come from outside. */
static void sift(const char **names, size_t from, size_t count)
{
    const char *moving = names[from];

    for (;;) {
        size_t child = 2 * from + 1;

        if (child >= count)
            break;
        if (child + 1 < count && strcmp(names[child + 1], names[child]) > 0)
            child++;
        if (strcmp(names[child], moving) <= 0)
            break;
        names[from] = names[child];
        from = child;
    }
    names[from] = moving;
}

bool gmc_codec_names_unique(const char **names, size_t count)
{
    for (size_t i = count / 2; i-- > 0;)
        sift(names, i, count);
    for (size_t end = count; end-- > 1;) {
        const char *greatest = names[0];

        names[0] = names[end];
        names[end] = greatest;
        sift(names, 0, end);
    }
    for (size_t i = 1; i < count; i++) {
        if (strcmp(names[i - 1], names[i]) == 0)
            return false;
    }
    return true;
}

void gmc_msg_bytes_free(uint8_t *bytes)
{
    free(bytes);
}
