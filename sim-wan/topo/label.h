/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of hosts from the labels of maps. */
#ifndef SIM_TOPO_LABEL_H
#define SIM_TOPO_LABEL_H

#include <stdbool.h>

#define SIM_LABEL_NAME_MAX                                                                         \
    56 /* with the zero; leaves room for "-12345" within a DNS label's 63                          \
        */

/* Makes a name that may stand in a certificate and be a domain's: small letters, digits and inner
 * hyphens and dots (RFC 1123, 2.1). Accents go (UTF-8, HTML's &#233;), runs of anything else become
 * one hyphen: "St. Gallen" is st-gallen. Empty when nothing is left. */
void sim_label_to_name(const char *label, char out[SIM_LABEL_NAME_MAX]);

/* Whether the text is such a name as it stands, of up to 255 bytes; capitals and underscores are
 * let through. */
bool sim_is_host_name(const char *text);

#endif
