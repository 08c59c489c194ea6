/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the fuzzer of networks, and of their nodes, as they are typed: "NETWORK NODE". */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "interconnect/place.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ic_network network;
    char error[IC_ERROR_MAX] = "";
    char *text = malloc(size + 1);
    GMC_ASSERT(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    char *space = strchr(text, ' ');
    if (space != NULL)
        *space = '\0';
    gmc_status status = ic_network_parse(text, &network, error);
    GMC_ASSERT(status == GMC_OK ? network.family != NULL && network.nodes >= 2 : error[0] != '\0');
    uint32_t node;
    if (status == GMC_OK && space != NULL) {
        error[0] = '\0';
        status = ic_place_node(&network, space + 1, &node, error);
        GMC_ASSERT(status == GMC_OK ? node < network.nodes : error[0] != '\0');
    }
    free(text);
    return 0;
}
