/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the fuzzer of tokens, and of the file in which a gateway keeps its nodes: any bytes are
 * refused, or give entries inside their bounds. */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "gatewayd/nodes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_token(const char *text)
{
    struct gwd_token token, again;
    char out[GWD_TOKEN_TEXT_MAX];

    if (!gwd_token_parse(text, &token))
        return;
    gwd_token_text(&token, out);
    GMC_ASSERT(strstr(text, out) != NULL);
    GMC_ASSERT(gwd_token_parse(out, &again) && memcmp(&token, &again, sizeof token) == 0);
}

static void check_file(const char *text, size_t size)
{
    static struct gwd_nodes *nodes;
    const struct gwd_node *node;
    char reason[256];

    if (nodes == NULL)
        nodes = gwd_nodes_new("/", reason, sizeof reason); /* has no such file */
    GMC_ASSERT(nodes != NULL);
    if (gwd_nodes_parse(nodes, text, size) != 0)
        return;
    for (size_t i = 0; (node = gwd_nodes_at(nodes, i)) != NULL; i++) {
        GMC_ASSERT(i < GWD_NODES_MAX && (node->enrolled || node->open));
        GMC_ASSERT(strlen(node->peer.name) > 0 && strlen(node->peer.name) < 256);
        GMC_ASSERT(gwd_nodes_find(nodes, node->peer.name) == node);
        GMC_ASSERT(node->since >= 0 && node->expires >= 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    check_token(text);
    check_file(text, size);
    free(text);
    return 0;
}
