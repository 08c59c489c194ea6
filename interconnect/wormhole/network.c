/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of a network. */
#include "interconnect/wormhole/network.h"

#include <stdlib.h>

void ic_wh_network_fini(struct ic_wh_network *network)
{
    free(network->from);
    free(network->to);
    if (network->free != NULL)
        network->free(network->ctx);
    *network = (struct ic_wh_network){0};
}
