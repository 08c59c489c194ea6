/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the memory of control-API messages while they are encoded or looked at. */
#include "wire/ctl_arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/ctl_codec.h"

struct gmc_ctl_piece {
    struct gmc_ctl_piece *next;
    max_align_t data[];
};

struct gmc_ctl_holder *gmc_ctl_holder_new(void)
{
    return calloc(1, sizeof(struct gmc_ctl_holder));
}

void *gmc_ctl_alloc(struct gmc_ctl_holder *holder, size_t count, size_t size)
{
    struct gmc_ctl_piece *piece;

    if (count > (SIZE_MAX - sizeof *piece) / size)
        return NULL;
    piece = calloc(1, sizeof *piece + count * size);
    if (piece == NULL)
        return NULL;
    piece->next = holder->pieces;
    holder->pieces = piece;
    return piece->data;
}

gmc_status gmc_ctl_copy_path(struct gmc_ctl_holder *holder, const ProtobufCBinaryData *data,
                             size_t max, const char **out)
{
    char *copy;

    if (data->len > max || (data->len > 0 && memchr(data->data, 0, data->len) != NULL))
        return GMC_ERR_INVALID;
    copy = gmc_ctl_alloc(holder, data->len + 1, 1);
    if (copy == NULL)
        return GMC_ERR_NOMEM;
    if (data->len > 0)
        memcpy(copy, data->data, data->len);
    *out = copy;
    return GMC_OK;
}

char *gmc_ctl_text(const char *text)
{
    return (char *)(uintptr_t)(text != NULL ? text : "");
}

ProtobufCBinaryData gmc_ctl_data(const void *data, size_t len)
{
    return (ProtobufCBinaryData){len, (uint8_t *)(uintptr_t)data};
}

gmc_status gmc_ctl_pack(const ProtobufCMessage *message, uint8_t **out, size_t *len)
{
    size_t size = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = malloc(size > 0 ? size : 1);

    if (bytes == NULL)
        return GMC_ERR_NOMEM;
    protobuf_c_message_pack(message, bytes);
    *out = bytes;
    *len = size;
    return GMC_OK;
}

bool gmc_ctl_text_fits(const char *text, size_t max)
{
    return text == NULL || strlen(text) <= max;
}

bool gmc_ctl_name_fits(const char *name, size_t max)
{
    for (const char *at = name; at != NULL && *at != '\0'; at++) {
        if (*at <= ' ' || *at > '~')
            return false;
    }
    return gmc_ctl_text_fits(name, max);
}

void gmc_ctl_bytes_free(uint8_t *bytes)
{
    free(bytes);
}

void gmc_ctl_release(struct gmc_ctl_holder *holder)
{
    if (holder == NULL)
        return;
    while (holder->pieces != NULL) {
        struct gmc_ctl_piece *piece = holder->pieces;

        holder->pieces = piece->next;
        free(piece);
    }
    if (holder->message != NULL)
        protobuf_c_message_free_unpacked(holder->message, NULL);
    free(holder);
}
