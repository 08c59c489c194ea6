/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a domain delivers. */
#include "core/inside.h"

#include <string.h>

bool gmc_inside_next(const char **at, const char **name, size_t *len)
{
    if (**at == '\0')
        return false;
    *name = *at;
    *len = strcspn(*at, "+");
    *at += *len + ((*at)[*len] == '+');
    return true;
}

/* Names alone; and no + without one on both sides. */
static bool is_list(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789.-_+";
    size_t len = strlen(text);
    return len > 0 && len <= GMC_INSIDE_BYTES_MAX && strspn(text, letters) == len &&
           text[0] != '+' && text[len - 1] != '+' && strstr(text, "++") == NULL;
}

enum gmc_inside gmc_inside_kind(const char *text)
{
    static const char *const words[] = {[GMC_INSIDE_GATEWAY] = "gateway",
                                        [GMC_INSIDE_NODES] = "nodes",
                                        [GMC_INSIDE_SHARED] = "shared"};
    for (size_t i = GMC_INSIDE_GATEWAY; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(text, words[i]) == 0)
            return (enum gmc_inside)i;
    return is_list(text) ? GMC_INSIDE_NAMED : GMC_INSIDE_NONE;
}

bool gmc_inside_means(const char *name, size_t len, const char *node)
{
    return strncmp(name, node, len) == 0 && (node[len] == '\0' || node[len] == '.') &&
           (node[len] == '\0' || memchr(name, '.', len) == NULL);
}

bool gmc_inside_has(const char *text, const char *node)
{
    enum gmc_inside kind = gmc_inside_kind(text);
    const char *name;
    size_t len;
    if (kind != GMC_INSIDE_NAMED)
        return kind == GMC_INSIDE_NODES || kind == GMC_INSIDE_SHARED;
    while (gmc_inside_next(&text, &name, &len))
        if (gmc_inside_means(name, len, node))
            return true;
    return false;
}
