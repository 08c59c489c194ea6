/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns how people name a transfer, and finds what they mean. */
#include <stdio.h>
#include <string.h>

#include "ctl/ctl_internal.h"

#define DIGITS 16
/* Fewer would hit something by accident. */
#define DIGITS_MIN 4

void gmc_ctl_channel_text(const struct gmc_channel_key *key, char out[GMC_CTL_CHANNEL_TEXT_MAX])
{
    snprintf(out, GMC_CTL_CHANNEL_TEXT_MAX, "%016llx@%.255s", (unsigned long long)key->e,
             key->source);
}

/* The value of a hexadecimal digit, or -1. */
static int digit_of(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at;

    if (c >= 'A' && c <= 'F')
        c = (char)(c - 'A' + 'a');
    at = c != '\0' ? strchr(digits, c) : NULL;
    return at != NULL ? (int)(at - digits) : -1;
}

static bool fail_name(struct call *call, const char *text)
{
    gmc_ctl_fail(call, GMC_ERR_INVALID,
                 "\"%s\" names no transfer: give its id as gmcast status shows it, e.g. "
                 "00f3a9c2d4e5b617@cern.example, or the first digits of it (at least %d)",
                 text, DIGITS_MIN);
    return false;
}

bool gmc_ctl_parse_channel(struct call *call, const char *text, struct channel_name *name)
{
    const char *source;
    const char *at = text;

    *name = (struct channel_name){0};
    for (; digit_of(*at) >= 0 && name->digits < DIGITS; at++, name->digits++)
        name->e |= (uint64_t)digit_of(*at) << (4 * (DIGITS - 1 - name->digits));
    if (name->digits < DIGITS_MIN || (*at != '\0' && *at != '@'))
        return fail_name(call, text);
    if (*at == '\0')
        return true;
    at++;
    source = strcmp(at, call->ctl->domain) == 0
                 ? at
                 : call->ctl->hooks.resolve(call->ctl->hooks.ctx, at);
    /* A node knows sources from its gateway alone, by their channels. */
    if (source == NULL && gmc_ctl_is_local(call) && strlen(at) < sizeof name->source)
        source = at;
    if (source == NULL || source[0] == '\0') {
        gmc_ctl_fail(call, GMC_ERR_NOT_FOUND,
                     "%s knows no domain \"%s\": see gmcast peers for the names", call->ctl->domain,
                     at);
        return false;
    }
    snprintf(name->source, sizeof name->source, "%s", source);
    return true;
}

static bool fits(const struct channel_name *name, const struct gmc_channel_key *key)
{
    unsigned shift = 4 * (DIGITS - name->digits);

    /* digits is at least 4 here, so the shift is below 64 */
    return key->e >> shift == name->e >> shift &&
           (name->source[0] == '\0' || strcmp(name->source, key->source) == 0);
}

gmc_status gmc_ctl_find(struct gmc_ctl *ctl, gmc_time now, const struct channel_name *name,
                        size_t *index, struct gmc_channel_info *info)
{
    struct gmc_channel_info candidate;
    size_t found = 0;

    for (size_t i = 0; gmc_gateway_channel_info(ctl->gateway, now, i, &candidate); i++) {
        if (!fits(name, &candidate.key))
            continue;
        if (found++ > 0)
            return GMC_ERR_INVALID;
        *index = i;
        *info = candidate;
    }
    return found == 1 ? GMC_OK : GMC_ERR_NOT_FOUND;
}
