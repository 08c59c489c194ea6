/* SPDX-License-Identifier: BSD-2-Clause */
/* What a gateway tells its group; see group.h. */
#include "wire/group.h"

#include "base/assert.h"

#define HEAD_BYTES 7u
#define WINDOW_BYTES 8u

size_t gmc_group_state_put(const struct gmc_group_state *state,
                           uint8_t out[GMC_GROUP_STATE_BYTES_MAX])
{
    GMC_ASSERT(state->count <= GMC_GROUP_STATES_MAX);
    gmc_put16(out, state->members);
    gmc_put32(out + 2, state->backoff_us);
    out[6] = state->count;
    uint8_t *at = out + HEAD_BYTES;
    for (size_t i = 0; i < state->count; i++, at += WINDOW_BYTES) {
        gmc_put32(at, state->windows[i].window);
        gmc_put16(at + 4, state->windows[i].promised);
        gmc_put16(at + 6, state->windows[i].sent);
    }
    return (size_t)(at - out);
}

gmc_status gmc_group_state_get(struct gmc_bytes bytes, struct gmc_group_state *state)
{
    struct gmc_group_state got;
    if (bytes.len < HEAD_BYTES)
        return GMC_ERR_TRUNCATED;
    got.members = gmc_get16(bytes.data);
    got.backoff_us = gmc_get32(bytes.data + 2);
    got.count = bytes.data[6];
    if (got.count > GMC_GROUP_STATES_MAX || bytes.len != HEAD_BYTES + WINDOW_BYTES * got.count)
        return GMC_ERR_INVALID;
    const uint8_t *at = bytes.data + HEAD_BYTES;
    for (size_t i = 0; i < got.count; i++, at += WINDOW_BYTES) {
        got.windows[i] = (struct gmc_group_window){.window = gmc_get32(at),
                                                   .promised = gmc_get16(at + 4),
                                                   .sent = gmc_get16(at + 6)};
        if (got.windows[i].sent > got.windows[i].promised)
            return GMC_ERR_INVALID;
    }
    *state = got;
    return GMC_OK;
}
