/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames inside the TLS connection of two gateways. */
#include "gatewayd/frame.h"

#include <string.h>

#define MAGIC 0x676d6348u /* "gmcH" */

void gwd_frame_head(uint8_t out[GWD_FRAME_HEAD_BYTES], enum gwd_frame_type type, size_t len)
{
    out[0] = (uint8_t)type;
    gmc_put24(out + 1, (uint32_t)len);
}

size_t gwd_hello_put(const struct gwd_hello *hello, uint8_t *out, size_t capacity)
{
    struct gmc_writer writer;
    size_t name = strlen(hello->domain);
    gmc_writer_init(&writer, out, capacity);
    gmc_writer_u8(&writer, GWD_FRAME_HELLO);
    gmc_writer_u24(&writer, (uint32_t)(21 + name));
    gmc_writer_u32(&writer, MAGIC);
    gmc_writer_u16(&writer, hello->version);
    gmc_writer_u16(&writer, hello->udp_port);
    gmc_writer_u32(&writer, hello->session);
    gmc_writer_u64(&writer, hello->capabilities);
    gmc_writer_u8(&writer, (uint8_t)name);
    gmc_writer_bytes(&writer, gmc_bytes(hello->domain, name));
    return gmc_writer_status(&writer) == GMC_OK ? gmc_writer_written(&writer).len : 0;
}

gmc_status gwd_hello_get(struct gmc_bytes body, struct gwd_hello *hello)
{
    struct gwd_hello read = {0};
    struct gmc_reader reader;
    struct gmc_bytes name;
    uint32_t magic;
    gmc_reader_init(&reader, body);
    magic = gmc_reader_u32(&reader);
    read.version = gmc_reader_u16(&reader);
    read.udp_port = gmc_reader_u16(&reader);
    read.session = gmc_reader_u32(&reader);
    read.capabilities = gmc_reader_u64(&reader);
    name = gmc_reader_bytes(&reader, gmc_reader_u8(&reader));
    if (gmc_reader_status(&reader) != GMC_OK)
        return GMC_ERR_TRUNCATED;
    if (magic != MAGIC || read.session == 0 || name.len == 0 ||
        memchr(name.data, '\0', name.len) != NULL)
        return GMC_ERR_INVALID;
    if (read.version != GWD_FRAME_VERSION)
        return GMC_ERR_VERSION;
    memcpy(read.domain, name.data, name.len);
    *hello = read;
    return GMC_OK;
}

size_t gwd_bye_put(const struct gwd_bye *bye, uint8_t *out, size_t capacity)
{
    struct gmc_writer writer;
    size_t len = strlen(bye->text);
    gmc_writer_init(&writer, out, capacity);
    gmc_writer_u8(&writer, GWD_FRAME_BYE);
    gmc_writer_u24(&writer, (uint32_t)(2 + len));
    gmc_writer_u16(&writer, (uint16_t)-bye->status);
    gmc_writer_bytes(&writer, gmc_bytes(bye->text, len));
    return gmc_writer_status(&writer) == GMC_OK ? gmc_writer_written(&writer).len : 0;
}

gmc_status gwd_bye_get(struct gmc_bytes body, struct gwd_bye *bye)
{
    struct gmc_reader reader;
    struct gmc_bytes text;
    memset(bye, 0, sizeof *bye);
    gmc_reader_init(&reader, body);
    bye->status = -(gmc_status)gmc_reader_u16(&reader);
    text = gmc_reader_rest(&reader);
    if (gmc_reader_status(&reader) != GMC_OK)
        return GMC_ERR_TRUNCATED;
    if (text.len >= sizeof bye->text)
        text.len = sizeof bye->text - 1;
    /* It goes into our log: printable ASCII and UTF-8 only. */
    for (size_t i = 0; i < text.len; i++)
        bye->text[i] = text.data[i] < 0x20 || text.data[i] == 0x7f ? '?' : (char)text.data[i];
    return GMC_OK;
}

size_t gwd_endpoint_put(const struct gwd_endpoint *endpoint, uint8_t *out, size_t capacity)
{
    struct gmc_writer writer;
    size_t speaks = strlen(endpoint->speaks), node = strlen(endpoint->node);
    gmc_writer_init(&writer, out, capacity);
    gmc_writer_u8(&writer, GWD_FRAME_FABRIC);
    gmc_writer_u24(&writer, (uint32_t)(10 + speaks + node + endpoint->address_len));
    gmc_writer_u64(&writer, endpoint->id);
    gmc_writer_u8(&writer, (uint8_t)speaks);
    gmc_writer_bytes(&writer, gmc_bytes(endpoint->speaks, speaks));
    gmc_writer_u8(&writer, (uint8_t)node);
    gmc_writer_bytes(&writer, gmc_bytes(endpoint->node, node));
    gmc_writer_bytes(&writer, gmc_bytes(endpoint->address, endpoint->address_len));
    return gmc_writer_status(&writer) == GMC_OK ? gmc_writer_written(&writer).len : 0;
}

/* Printable ASCII: it is compared with names, and logged. */
static bool take_word(struct gmc_bytes word, char *out, size_t max)
{
    if (word.len > max)
        return false;
    for (size_t i = 0; i < word.len; i++)
        if (word.data[i] <= 0x20 || word.data[i] >= 0x7f)
            return false;
    if (word.len > 0)
        memcpy(out, word.data, word.len);
    out[word.len] = '\0';
    return true;
}

gmc_status gwd_endpoint_get(struct gmc_bytes body, struct gwd_endpoint *endpoint)
{
    struct gwd_endpoint read = {0};
    struct gmc_reader reader;
    gmc_reader_init(&reader, body);
    read.id = gmc_reader_u64(&reader);
    struct gmc_bytes speaks = gmc_reader_bytes(&reader, gmc_reader_u8(&reader));
    struct gmc_bytes node = gmc_reader_bytes(&reader, gmc_reader_u8(&reader));
    struct gmc_bytes address = gmc_reader_rest(&reader);
    if (gmc_reader_status(&reader) != GMC_OK)
        return GMC_ERR_TRUNCATED;
    if (speaks.len == 0 || !take_word(speaks, read.speaks, GWD_FABRIC_NAME_MAX) ||
        !take_word(node, read.node, GMC_DOMAIN_NAME_MAX) || address.len > GWD_FABRIC_ADDRESS_MAX)
        return GMC_ERR_INVALID;
    read.address_len = address.len;
    if (address.len > 0)
        memcpy(read.address, address.data, address.len);
    *endpoint = read;
    return GMC_OK;
}

size_t gwd_where_put(const char *node, uint8_t *out, size_t capacity)
{
    size_t len = strlen(node);
    if (capacity < GWD_FRAME_HEAD_BYTES + len)
        return 0;
    gwd_frame_head(out, GWD_FRAME_WHERE, len);
    memcpy(out + GWD_FRAME_HEAD_BYTES, node, len);
    return GWD_FRAME_HEAD_BYTES + len;
}

gmc_status gwd_where_get(struct gmc_bytes body, char node[GMC_DOMAIN_NAME_MAX + 1])
{
    return body.len > 0 && take_word(body, node, GMC_DOMAIN_NAME_MAX) ? GMC_OK : GMC_ERR_INVALID;
}
