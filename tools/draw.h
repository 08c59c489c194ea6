/* SPDX-License-Identifier: BSD-2-Clause */
/* Pictures of trees and matrices. */
#ifndef GMC_TOOLS_DRAW_H
#define GMC_TOOLS_DRAW_H

#include <stdio.h>

#include <gmcast/client.h>

#include "ctl/findings.h"

/* The tree, or that of each stripe, as indented text, with latencies and states; lines: draw with
 * box characters. Members that are not attached to it are listed below. */
void draw_tree(const struct gmc_ctl_transfer *transfer, bool lines, FILE *out);
/* The same for Graphviz, all trees in one graph: the edges of each have a colour and its number. */
void draw_dot(const struct gmc_ctl_transfer *transfer, FILE *out);
/* The trees that were planned, what they would take, and what limits that. */
void draw_plan(const struct gmc_ctl_transfer *transfer, bool lines, FILE *out);
/* A table of peers, and the round trips between them in milliseconds. */
void draw_peers(const struct gmc_ctl_reply *reply, FILE *out);
/* A line for each: how it is, what was looked at and where, what was found, and what to do. */
void draw_findings(const struct gmc_findings *findings, FILE *out);

#endif
