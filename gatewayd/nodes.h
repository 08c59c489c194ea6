/* SPDX-License-Identifier: BSD-2-Clause */
/* The nodes of this domain that enrolled by a token: each one's name and the hash of the key that
 * it made itself, and the tokens that are open. Kept in the file `nodes` of the state directory:
 *
 *   gmcast-nodes 1
 *   node NAME KEY WHEN      enrolled: SHA-256 of its SubjectPublicKeyInfo, when (Unix time)
 *   token NAME HASH UNTIL   open: SHA-256 of its secret, when it expires
 *   used NAME HASH          the token that NAME last enrolled with
 *
 * Nobody who reads the file can enrol, and there is no key that could issue anything.
 */
#ifndef GWD_NODES_H
#define GWD_NODES_H

#include "base/status.h"
#include "gatewayd/conf.h"
#include "gatewayd/token.h"

#define GWD_NODES_MAX 16384u
#define GWD_TOKEN_SECONDS_MAX (30 * 86400)

struct gwd_node {
    struct gwd_conf_peer peer; /* as if a node section had this name */
    bool enrolled;
    uint8_t key[GWD_KEY_HASH_BYTES];
    int64_t since;
    bool open; /* a token waits for it */
    uint8_t token[GWD_KEY_HASH_BYTES];
    int64_t expires;
    bool has_used;
    uint8_t used[GWD_KEY_HASH_BYTES];
};

struct gwd_nodes;

/* Reads the file in the directory state, if there is one. NULL with a reason. */
struct gwd_nodes *gwd_nodes_new(const char *state, char *reason, size_t size);
void gwd_nodes_free(struct gwd_nodes *nodes);
/* Takes what bytes of such a file say in the place of all that is there; 0, or the number of the
 * line that is wrong. A zero byte stands behind them. */
unsigned gwd_nodes_parse(struct gwd_nodes *nodes, const char *text, size_t len);

/* Entries in order of coming; NULL behind the last one. */
const struct gwd_node *gwd_nodes_at(const struct gwd_nodes *nodes, size_t index);
const struct gwd_node *gwd_nodes_find(const struct gwd_nodes *nodes, const char *name);

/* Opens a token for name (lower case), in the place of one that was open; it expires at `expires`.
 * What is enrolled under the name stays so until the token is used. IO, FULL with a reason. */
GMC_NODISCARD gmc_status gwd_nodes_add(struct gwd_nodes *nodes, const char *name, int64_t expires,
                                       uint8_t secret[GWD_SECRET_BYTES], char *reason, size_t size);
/* Whether the owner of the key with this hash is the node name: enrolled already, or enrolled now,
 * by this secret (NULL: it shows none). *changed says that it was now. AUTH with a reason that says
 * what is wrong; IO when it could not be noted, and the token stays open. */
GMC_NODISCARD gmc_status gwd_nodes_admit(struct gwd_nodes *nodes, const char *name,
                                         const uint8_t key[GWD_KEY_HASH_BYTES],
                                         const uint8_t *secret, int64_t now, bool *changed,
                                         char *reason, size_t size);
/* name is no longer enrolled and has no open token; the entry stays, empty, until
 * gwd_nodes_sweep. NOT_FOUND, IO with a reason. */
GMC_NODISCARD gmc_status gwd_nodes_remove(struct gwd_nodes *nodes, const char *name, char *reason,
                                          size_t size);
/* Frees entries that were removed: when nobody points at them any more. */
void gwd_nodes_sweep(struct gwd_nodes *nodes);

#endif
