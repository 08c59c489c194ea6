/* SPDX-License-Identifier: BSD-2-Clause */
/* Generated topologies, named "FAMILY:SIZE[,KEY=VALUE...]":
 *
 *   star:N               a middle and N around it
 *   line:N  ring:N
 *   tree:N,fanout=K      node i's parent is (i - 1) / K; K is 2 where it is not said
 *   mesh:WxH             a grid, each node joined to its neighbours in row and column
 *   full:N               every two nodes
 *   random:N,extra=M     a random recursive tree (each node's parent is uniform among those before)
 *                        and M links more, N / 2 where it is not said
 *   ba:N,m=M             Barabasi, Albert: Emergence of Scaling in Random Networks, Science 286,
 *                        1999: M + 1 nodes joined each to each, then nodes that take M different
 *                        ones with a probability that is proportional to their degree; M is 2
 *   waxman:N,alpha=A,beta=B   Waxman: Routing of Multipoint Connections, IEEE JSAC 6(9), 1988:
 *                        places uniform in a square of 20 by 20 degrees, two nodes are joined with
 *                        probability B exp(-d / (L A)), d their distance and L the largest; A is
 *                        0.15, B is 0.2. Parts that remain are joined by their shortest links.
 *
 * Keys of all: seed=S (1), rate=R, delay=D or delay=D1..D2 (uniform, for each link). Waxman's
 * delays are those of its places where none is given. Nodes are called n0, n1, ... Same text, same
 * topology: what is drawn is drawn in integers, probabilities are rounded to millionths. */
#ifndef SIM_TOPO_FAMILY_H
#define SIM_TOPO_FAMILY_H

#include "sim-wan/topo/draft.h"

/* Whether the text begins with a family's name and a colon. */
bool sim_family_is_named(const char *text);

/* Draws the family that draft->path names. */
GMC_NODISCARD gmc_status sim_family_draw(struct sim_draft *draft);

#endif
