/* SPDX-License-Identifier: BSD-2-Clause */
/* A multicast schedule over the members of one group, as a tree: who sends to whom on a torus or
 * around a switch, by a given algorithm or by the one that is best for just these members and this
 * length. In which order a member serves those below it is not told. */
#ifndef INTERCONNECT_PLACE_H
#define INTERCONNECT_PLACE_H

#include "interconnect/advise.h"

/* Is there such an algorithm on this network, by its name there? */
bool ic_place_has(const struct ic_network *network, const char *algorithm);

/* The number of a network's node as people write it: of a torus the coordinates "2,3", each from 1,
 * in the order of torus/torus.h. A star has none to give. INVALID with words. */
GMC_NODISCARD gmc_status ic_place_node(const struct ic_network *network, const char *text,
                                       uint32_t *node, char *error);

/* parent[i], for i from 1 to count - 1, is the member that sends to member i; member 0 is the root,
 * and parent[0] is not written. at: of a torus, the node at which each member stands; of a star not
 * read. algorithm NULL: that in which the last member has `bytes` first, by the simulators of the
 * family, pipelined, each packet to all that it is for before the next one; of those within 5 % of
 * it that in which the root sends least. Around a switch they are of scheme HB where the network
 * names none. *chosen is its name. The same arguments give the same tree. INVALID with words:
 * members at one node, or fewer than two of them. NOMEM. */
GMC_NODISCARD gmc_status ic_place(const struct ic_network *network, const char *algorithm,
                                  const uint32_t *at, size_t count, uint64_t bytes,
                                  uint32_t *parent, const char **chosen, char *error);

#endif
