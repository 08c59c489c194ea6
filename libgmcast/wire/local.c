/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames between a gateway and the publishers and subscribers of its domain: bytes <-> fields. */
#include "wire/local.h"

#include <string.h>

bool gmc_local_next_text(struct gmc_bytes *rest, const char **text)
{
    const uint8_t *end = rest->len > 0 ? memchr(rest->data, 0, rest->len) : NULL;
    if (end == NULL)
        return false;
    size_t len = (size_t)(end - rest->data) + 1;
    *text = (const char *)rest->data;
    *rest = gmc_bytes(rest->data + len, rest->len - len);
    return true;
}

static bool get_fields(struct gmc_reader *r, struct gmc_local *local)
{
    struct gmc_bytes rest;
    bool ok = true;
    switch (local->kind) {
    case GMC_LOCAL_OPEN:
        local->order = gmc_reader_u8(r);
        local->rest = gmc_reader_rest(r);
        return gmc_local_next_text(&local->rest, &local->name) &&
               (local->rest.len == 0 || local->rest.data[local->rest.len - 1] == 0);
    case GMC_LOCAL_PUBLISH:
    case GMC_LOCAL_PIECES:
    case GMC_LOCAL_MESSAGES:
        local->rest = gmc_reader_rest(r);
        return true;
    case GMC_LOCAL_SUBSCRIBE:
        rest = gmc_reader_rest(r);
        ok = gmc_local_next_text(&rest, &local->name) && gmc_local_next_text(&rest, &local->source);
        return ok && rest.len == 0;
    case GMC_LOCAL_END:
    case GMC_LOCAL_REFUSED:
    case GMC_LOCAL_OVER:
    case GMC_LOCAL_WARNING:
        rest = gmc_reader_rest(r);
        return gmc_local_next_text(&rest, &local->text) && rest.len == 0;
    case GMC_LOCAL_OPENED:
        local->number = gmc_reader_u64(r);
        local->messages_max = gmc_reader_u32(r);
        local->bytes_max = gmc_reader_u32(r);
        break;
    case GMC_LOCAL_TAKEN:
    case GMC_LOCAL_ACCEPTED:
        local->number = gmc_reader_u64(r);
        break;
    case GMC_LOCAL_SUBSCRIBED:
    case GMC_LOCAL_ALIVE:
        break;
    }
    return gmc_reader_left(r) == 0 && gmc_reader_status(r) == GMC_OK;
}

static bool is_kind(uint8_t kind)
{
    return (kind >= GMC_LOCAL_OPEN && kind <= GMC_LOCAL_PIECES) ||
           (kind >= GMC_LOCAL_OPENED && kind <= GMC_LOCAL_WARNING);
}

gmc_status gmc_local_get(struct gmc_bytes frame, struct gmc_local *local)
{
    struct gmc_reader r;
    gmc_reader_init(&r, frame);
    uint8_t kind = gmc_reader_u8(&r);
    if (gmc_reader_status(&r) != GMC_OK)
        return GMC_ERR_TRUNCATED;
    if (!is_kind(kind))
        return GMC_ERR_TYPE;
    struct gmc_local got = {.kind = (enum gmc_local_kind)kind};
    if (!get_fields(&r, &got))
        return GMC_ERR_INVALID;
    *local = got;
    return GMC_OK;
}

bool gmc_local_next_entry(struct gmc_bytes *rest, struct gmc_local_entry *entry)
{
    struct gmc_reader r;
    struct gmc_local_entry got;
    gmc_reader_init(&r, *rest);
    got.e = gmc_reader_u64(&r);
    got.sequence = gmc_reader_u64(&r);
    got.end = gmc_reader_u8(&r) != 0;
    struct gmc_bytes texts = gmc_reader_rest(&r);
    if (!gmc_local_next_text(&texts, &got.source) || !gmc_local_next_text(&texts, &got.name) ||
        texts.len < 4 || gmc_get32(texts.data) > texts.len - 4)
        return false;
    got.body = gmc_bytes(texts.data + 4, gmc_get32(texts.data));
    *rest = gmc_bytes(got.body.data + got.body.len, texts.len - 4 - got.body.len);
    *entry = got;
    return true;
}

bool gmc_local_next_piece(struct gmc_bytes *rest, struct gmc_local_piece *piece)
{
    if (rest->len < GMC_LOCAL_PIECE_HEAD || rest->data[0] > 1 ||
        gmc_get32(rest->data + 1) > rest->len - GMC_LOCAL_PIECE_HEAD)
        return false;
    piece->more = rest->data[0] == 1;
    piece->bytes = gmc_bytes(rest->data + GMC_LOCAL_PIECE_HEAD, gmc_get32(rest->data + 1));
    size_t len = GMC_LOCAL_PIECE_HEAD + piece->bytes.len;
    *rest = gmc_bytes(rest->data + len, rest->len - len);
    return true;
}

/* ---- writing ---- */
static struct gmc_bytes text_of(const char *text)
{
    return gmc_bytes(text, strlen(text) + 1);
}

size_t gmc_local_put(const struct gmc_local *local, uint8_t *out, size_t capacity)
{
    uint8_t head[17] = {(uint8_t)local->kind};
    struct gmc_bytes pieces[3] = {{NULL, 0}, {NULL, 0}, local->rest};
    size_t len = 1, total;
    switch (local->kind) {
    case GMC_LOCAL_OPEN:
        head[len++] = local->order;
        pieces[0] = text_of(local->name);
        break;
    case GMC_LOCAL_SUBSCRIBE:
        pieces[0] = text_of(local->name);
        pieces[1] = text_of(local->source);
        break;
    case GMC_LOCAL_END:
    case GMC_LOCAL_REFUSED:
    case GMC_LOCAL_OVER:
    case GMC_LOCAL_WARNING:
        pieces[0] = text_of(local->text);
        break;
    case GMC_LOCAL_OPENED:
        gmc_put64(head + 1, local->number);
        gmc_put32(head + 9, local->messages_max);
        gmc_put32(head + 13, local->bytes_max);
        len = 17;
        break;
    case GMC_LOCAL_TAKEN:
    case GMC_LOCAL_ACCEPTED:
        gmc_put64(head + 1, local->number);
        len = 9;
        break;
    case GMC_LOCAL_PUBLISH:
    case GMC_LOCAL_PIECES:
    case GMC_LOCAL_MESSAGES:
    case GMC_LOCAL_SUBSCRIBED:
    case GMC_LOCAL_ALIVE:
        break;
    }
    total = len + pieces[0].len + pieces[1].len + pieces[2].len;
    if (total > capacity)
        return total;
    memcpy(out, head, len);
    for (size_t i = 0; i < 3; i++) {
        if (pieces[i].len > 0)
            memcpy(out + len, pieces[i].data, pieces[i].len);
        len += pieces[i].len;
    }
    return total;
}

void gmc_local_put_piece(uint8_t out[GMC_LOCAL_PIECE_HEAD], bool more, size_t len)
{
    out[0] = more;
    gmc_put32(out + 1, (uint32_t)len);
}

size_t gmc_local_put_entry(const struct gmc_local_entry *entry, uint8_t *out, size_t capacity)
{
    struct gmc_bytes source = text_of(entry->source), name = text_of(entry->name);
    size_t total = 17 + source.len + name.len + 4 + entry->body.len;
    if (total > capacity)
        return total;
    gmc_put64(out, entry->e);
    gmc_put64(out + 8, entry->sequence);
    out[16] = entry->end;
    memcpy(out + 17, source.data, source.len);
    memcpy(out + 17 + source.len, name.data, name.len);
    uint8_t *body = out + 17 + source.len + name.len;
    gmc_put32(body, (uint32_t)entry->body.len);
    if (entry->body.len > 0)
        memcpy(body + 4, entry->body.data, entry->body.len);
    return total;
}
