/* SPDX-License-Identifier: BSD-2-Clause */
/* gatewayd: the gateway of a domain. */
#include "gatewayd/program.h"

#ifndef GWD_CONF_FILE
#define GWD_CONF_FILE "/etc/gmcast/gatewayd.conf"
#endif

int main(int argc, char **argv)
{
    static const struct gwd_program gatewayd = {
        "gatewayd", "The gateway of a domain: receives, forwards and stages data for it.",
        GWD_CONF_FILE, false};
    return gwd_program_main(&gatewayd, argc, argv);
}
