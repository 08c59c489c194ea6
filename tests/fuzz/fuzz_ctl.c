/* SPDX-License-Identifier: BSD-2-Clause */
/* Control-API messages: any bytes are refused or give a request or reply inside its bounds, which
 * encodes again to something that decodes to the same. */
#include <stdlib.h>
#include <string.h>

#include "wire/ctl_codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void try_request(struct gmc_bytes bytes)
{
    struct gmc_ctl_request first, second;
    struct gmc_ctl_holder *holder, *again;
    uint8_t *encoded;
    size_t len;

    if (gmc_ctl_decode_request(bytes, &first, &holder) != GMC_OK)
        return;
    require(first.source_count <= GMC_CTL_SOURCES_MAX && first.target_count <= GMC_CTL_TARGETS_MAX);
    require(gmc_ctl_encode_request(&first, &encoded, &len) == GMC_OK);
    require(gmc_ctl_decode_request(gmc_bytes(encoded, len), &second, &again) == GMC_OK);
    require(first.kind == second.kind && first.rate_bps == second.rate_bps);
    require(strcmp(first.channel, second.channel) == 0);
    require(first.target_count == second.target_count);
    for (size_t i = 0; i < first.source_count; i++)
        require(strcmp(first.sources[i], second.sources[i]) == 0);
    gmc_ctl_bytes_free(encoded);
    gmc_ctl_release(again);
    gmc_ctl_release(holder);
}

static void try_reply(struct gmc_bytes bytes)
{
    struct gmc_ctl_reply first, second;
    struct gmc_ctl_holder *holder, *again;
    uint8_t *encoded;
    size_t len;

    if (gmc_ctl_decode_reply(bytes, &first, &holder) != GMC_OK)
        return;
    require(gmc_ctl_encode_reply(&first, &encoded, &len) == GMC_OK);
    require(gmc_ctl_decode_reply(gmc_bytes(encoded, len), &second, &again) == GMC_OK);
    require(first.status == second.status && strcmp(first.error, second.error) == 0);
    require(first.transfer_count == second.transfer_count);
    require(first.peer_count == second.peer_count);
    require(first.node_count == second.node_count);
    require(strcmp(first.token, second.token) == 0);
    gmc_ctl_bytes_free(encoded);
    gmc_ctl_release(again);
    gmc_ctl_release(holder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_request(gmc_bytes(data, size));
    try_reply(gmc_bytes(data, size));
    return 0;
}
