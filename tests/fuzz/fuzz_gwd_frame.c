/* SPDX-License-Identifier: BSD-2-Clause */
/* What comes from outside before or beside the core: greetings and farewells of neighbours, their
 * endpoints of a fabric, SRV answers of name servers. The first byte chooses; accepted greetings
 * encode to what they were. */
#include <string.h>

#include "base/assert.h"
#include "gatewayd/frame.h"
#include "gatewayd/resolve.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void hello(struct gmc_bytes body)
{
    struct gwd_hello first, second;
    uint8_t frame[GWD_FRAME_SMALL_MAX];
    size_t len;
    if (gwd_hello_get(body, &first) != GMC_OK)
        return;
    GMC_ASSERT(first.session != 0 && strlen(first.domain) > 0);
    len = gwd_hello_put(&first, frame, sizeof frame);
    GMC_ASSERT(len > GWD_FRAME_HEAD_BYTES);
    GMC_ASSERT(memcmp(frame + GWD_FRAME_HEAD_BYTES, body.data, len - GWD_FRAME_HEAD_BYTES) == 0);
    GMC_ASSERT(gwd_hello_get(gmc_bytes(frame + GWD_FRAME_HEAD_BYTES, len - GWD_FRAME_HEAD_BYTES),
                             &second) == GMC_OK);
    GMC_ASSERT(memcmp(&first, &second, sizeof first) == 0);
}

static void bye(struct gmc_bytes body)
{
    struct gwd_bye read;
    uint8_t frame[GWD_FRAME_SMALL_MAX];
    if (gwd_bye_get(body, &read) != GMC_OK)
        return;
    GMC_ASSERT(strlen(read.text) < sizeof read.text);
    for (const char *p = read.text; *p != '\0'; p++)
        GMC_ASSERT((unsigned char)*p >= 0x20 && *p != 0x7f);
    GMC_ASSERT(gwd_bye_put(&read, frame, sizeof frame) > 0);
}

static void endpoint(struct gmc_bytes body)
{
    struct gwd_endpoint read;
    uint8_t frame[GWD_FRAME_SMALL_MAX];
    if (gwd_endpoint_get(body, &read) != GMC_OK)
        return;
    GMC_ASSERT(read.speaks[0] != '\0' && read.address_len <= sizeof read.address);
    size_t len = gwd_endpoint_put(&read, frame, sizeof frame);
    GMC_ASSERT(len == GWD_FRAME_HEAD_BYTES + body.len);
    GMC_ASSERT(memcmp(frame + GWD_FRAME_HEAD_BYTES, body.data, body.len) == 0);
}

static void where(struct gmc_bytes body)
{
    char node[GMC_DOMAIN_NAME_MAX + 1];
    uint8_t frame[GWD_FRAME_SMALL_MAX];
    if (gwd_where_get(body, node) != GMC_OK)
        return;
    GMC_ASSERT(gwd_where_put(node, frame, sizeof frame) == GWD_FRAME_HEAD_BYTES + body.len);
    GMC_ASSERT(memcmp(frame + GWD_FRAME_HEAD_BYTES, body.data, body.len) == 0);
}

static void srv(struct gmc_bytes answer)
{
    struct gwd_srv targets[GWD_RESOLVE_MAX];
    size_t count = gwd_srv_parse(answer.data, answer.len, targets, GWD_RESOLVE_MAX);
    GMC_ASSERT(count <= GWD_RESOLVE_MAX);
    for (size_t i = 0; i < count; i++) {
        GMC_ASSERT(targets[i].port != 0);
        GMC_ASSERT(memchr(targets[i].target, '\0', sizeof targets[i].target) != NULL);
        GMC_ASSERT(i == 0 || targets[i - 1].priority <= targets[i].priority);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gmc_bytes body;
    if (size == 0)
        return 0;
    body = gmc_bytes(data + 1, size - 1);
    if (data[0] == GWD_FRAME_HELLO)
        hello(body);
    else if (data[0] == GWD_FRAME_BYE)
        bye(body);
    else if (data[0] == GWD_FRAME_FABRIC)
        endpoint(body);
    else if (data[0] == GWD_FRAME_WHERE)
        where(body);
    else
        srv(body);
    return 0;
}
