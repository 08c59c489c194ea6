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

/* A name of a list is one of another, as it stands there. */
static bool lists(const char *text, const char *name, size_t len)
{
    const char *other;
    size_t other_len;
    while (gmc_inside_next(&text, &other, &other_len))
        if (other_len == len && memcmp(name, other, len) == 0)
            return true;
    return false;
}

static gmc_status join_lists(const char *have, const char *more, char *out)
{
    const char *name;
    size_t len, used = strlen(have);
    gmc_status status = GMC_ERR_EXISTS;
    memcpy(out, have, used);
    while (gmc_inside_next(&more, &name, &len)) {
        if (lists(have, name, len))
            continue;
        if (used + 1 + len > GMC_INSIDE_BYTES_MAX)
            return GMC_ERR_LIMIT;
        out[used] = '+';
        memcpy(out + used + 1, name, len);
        used += 1 + len;
        status = GMC_OK;
    }
    out[used] = '\0';
    return status;
}

gmc_status gmc_inside_join(const char *have, const char *more, char *out)
{
    enum gmc_inside is = gmc_inside_kind(have), wanted = gmc_inside_kind(more);
    if (strcmp(have, more) == 0 || more[0] == '\0' || wanted == GMC_INSIDE_GATEWAY)
        return GMC_ERR_EXISTS;
    if (is == GMC_INSIDE_NODES && wanted == GMC_INSIDE_NAMED)
        return GMC_ERR_EXISTS;
    if (is == GMC_INSIDE_SHARED || wanted == GMC_INSIDE_SHARED || wanted == GMC_INSIDE_NONE)
        return GMC_ERR_INVALID;
    if (is == GMC_INSIDE_NAMED && wanted == GMC_INSIDE_NAMED)
        return join_lists(have, more, out);
    if (have[0] == '\0' && wanted != GMC_INSIDE_NODES)
        return GMC_ERR_INVALID;
    strcpy(out, more);
    return GMC_OK;
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
