/* SPDX-License-Identifier: BSD-2-Clause */
/* What stories share: a world with a fixed seed, one transfer, and words for what has to come out.
 * A story that fails prints what happened, line by line. */
#ifndef TESTS_SCENARIOS_STORY_H
#define TESTS_SCENARIOS_STORY_H

#include "tests/lib/unit.h"

#include <stdlib.h>
#include <string.h>

#include "sim-wan/scenario.h"

#define MB UINT64_C(1000000)

struct story {
    struct sim_world *world;
    struct sim_wire_config wire;
    struct gmc_channel_key key;
    struct sim_host *source;
    uint64_t bytes;
    gmc_time began;
};

/* An empty world with the wires: 100 Mbit/s, 15 ms, 50 ms of queue; clocks are exact. */
void story_open(struct story *story, uint64_t seed);
void story_open_with(struct story *story, const struct sim_world_config *config);
/* Host by its first letters, e.g. "s" for s.example. */
struct sim_host *story_host(struct story *story, const char *name);
/* Starts the gateways. */
void story_start(struct story *story);
/* Stages an object from s.example to all others (or those named, e.g. "abc"). */
void story_stage(struct story *story, uint64_t bytes, enum gmc_tree_shape shape,
                 const char *targets);
void story_run(struct story *story, gmc_duration duration);
/* Until the source has ended the channel; fails when it does not within the limit. */
void story_run_to_end(struct story *story, gmc_duration limit);
/* Until a host has at least this part of the object, in percent. */
void story_run_to_percent(struct story *story, const char *host, unsigned percent,
                          gmc_duration limit);
/* Runs until a block is on its way to this host, and changes a byte of it: as if a node that knows
 * the group's keys had forged it. */
void story_spoil(struct story *story, struct sim_host *host);

enum gmc_channel_state story_state(struct story *story);
enum gmc_member_state story_member_state(struct story *story, const char *host);
const char *story_member_reason(struct story *story, const char *host);
/* The parent as the host itself said; "" none. */
const char *story_parent(struct story *story, const char *host);
double story_seconds(const struct story *story); /* since the stage */

void story_expect_complete(struct story *story);
/* These hosts (letters) hold the object under its final name. */
void story_expect_delivered(struct story *story, const char *hosts);
void story_expect_not_delivered(struct story *story, const char *hosts);
/* The lines, without times and of this host only, are these, in order; NULL ends the list. */
void story_expect_lines(struct story *story, const char *host, const char *const *expected);
bool story_has_line(const char *part);
/* Bytes that a wire carried, one way. */
uint64_t story_wire_bytes(struct story *story, const char *from, const char *to);
void story_cut(struct story *story, const char *a, const char *b, bool cut);

/* Checks the oracles and ends the world. */
void story_close(struct story *story);

/* A group's set-up: prints the lines of a story that failed. */
int story_teardown(void **state);
#define story_test(function) cmocka_unit_test_teardown(function, story_teardown)

#endif
