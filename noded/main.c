/* SPDX-License-Identifier: BSD-2-Clause */
/* gmcast-noded: a node inside a domain. It is the daemon of a gateway that knows no other domain:
 * it gets from its own gateway what that receives, verifies it, stores it, and says so. */
#include "gatewayd/program.h"

#ifndef NODED_CONF_FILE
#define NODED_CONF_FILE "/etc/gmcast/noded.conf"
#endif

int main(int argc, char **argv)
{
    static const struct gwd_program noded = {
        "gmcast-noded", "A node of a domain: receives what its gateway hands on, and stores it.",
        NODED_CONF_FILE, true};
    return gwd_program_main(&noded, argc, argv);
}
