/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns what an entry of a listing may be, whoever wrote it, and the words for what it may not. */
#include <string.h>

#include "core/listing_impl.h"

const uint8_t gmc_listing_head[GMC_LISTING_HEAD_BYTES] = {'g', 'm', 'c', 'l', 1};

const char *gmc_listing_check_name(struct gmc_bytes name)
{
    if (name.len == 0)
        return "its path has an empty component";
    if (name.len > GMC_LISTING_NAME_MAX)
        return "a component of its path is longer than 255 bytes";
    if (memchr(name.data, 0, name.len) != NULL)
        return "its path has a NUL byte";
    if (memchr(name.data, '/', name.len) != NULL)
        return "a component of its path has a '/'";
    if (name.data[0] == '.' && (name.len == 1 || (name.len == 2 && name.data[1] == '.')))
        return "its path has a component \".\" or \"..\"";
    return NULL;
}

const char *gmc_listing_check_mode(uint64_t mode)
{
    return mode > 0777 ? "its mode has bits beyond 0777" : NULL;
}

const char *gmc_listing_check_extent(uint64_t size, bool first, uint64_t end, uint64_t skipped,
                                     uint64_t len)
{
    if (len == 0)
        return "it has an empty extent";
    if (!first && skipped == 0)
        return "its extents touch or overlap";
    /* end <= size holds, so the differences cannot wrap. */
    if (skipped > size - end || len > size - end - skipped)
        return "an extent passes the end of the file";
    return NULL;
}

const char *gmc_listing_check_target(struct gmc_bytes target, uint32_t depth)
{
    /* How far up it may go: to the top-level entry's directory, which is one component deep. */
    uint32_t up = depth > 0 ? depth - 1 : 0;
    bool below = false;

    if (target.len == 0)
        return "its target is empty";
    if (target.len >= GMC_PATH_BYTES_MAX)
        return "its target is too long";
    if (memchr(target.data, 0, target.len) != NULL)
        return "its target has a NUL byte";
    if (target.data[0] == '/')
        return "its target is an absolute path; make it relative, or leave the link out";
    for (size_t i = 0; i < target.len;) {
        const uint8_t *slash = memchr(target.data + i, '/', target.len - i);
        size_t end = slash != NULL ? (size_t)(slash - target.data) : target.len;
        size_t len = end - i;
        const uint8_t *part = target.data + i;

        i = end + 1;
        if (len == 0 || (len == 1 && part[0] == '.'))
            continue;
        if (len != 2 || part[0] != '.' || part[1] != '.') {
            below = true;
            continue;
        }
        if (below)
            return "its target goes up again behind another component";
        if (up == 0)
            return "its target leads out of the tree; leave the link out";
        up--;
    }
    return NULL;
}
