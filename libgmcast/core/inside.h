/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a domain delivers what it receives, as people write it: "gateway" (its storage only),
 * "nodes" (and every node), "shared" (and exactly one node, which writes to a file system that all
 * see), or names of nodes with + between them. A name is a node's, or the part of it before the
 * first dot. */
#ifndef GMC_CORE_INSIDE_H
#define GMC_CORE_INSIDE_H

#include <stdbool.h>
#include <stddef.h>

#include "wire/control.h"

enum gmc_inside {
    GMC_INSIDE_NONE, /* text is no choice */
    GMC_INSIDE_GATEWAY,
    GMC_INSIDE_NODES,
    GMC_INSIDE_SHARED,
    GMC_INSIDE_NAMED
};

/* What text, of at most GMC_INSIDE_BYTES_MAX bytes, asks for. */
enum gmc_inside gmc_inside_kind(const char *text);
/* The next of the names at *at, as so many bytes of it; false behind the last one. */
bool gmc_inside_next(const char **at, const char **name, size_t *len);
/* name, of so many bytes, means this node. */
bool gmc_inside_means(const char *name, size_t len, const char *node);
/* What asks for both; out has room for GMC_INSIDE_BYTES_MAX bytes and a 0. "" as the domain is
 * configured. EXISTS: have asks for all of more. INVALID: nothing asks for both. LIMIT: it is too
 * long. */
GMC_NODISCARD gmc_status gmc_inside_join(const char *have, const char *more, char *out);
/* text asks for this node: by its name, or as one of all. */
bool gmc_inside_has(const char *text, const char *node);

#endif
