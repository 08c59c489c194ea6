/* SPDX-License-Identifier: BSD-2-Clause */
/* What scenarios are made of: topologies, transfers, and questions about them. */
#ifndef SIM_SCENARIO_H
#define SIM_SCENARIO_H

#include "sim-wan/host.h"
#include "sim-wan/world.h"

/* ---- topologies ---- */
/* Gateway i is called "s.example", "a.example" ... "z.example", then "g26.example" and so on. Host
 * 0 is the first that is added. */
void sim_host_name(char *out, size_t size, uint32_t i);
/* A source and n receivers, each with a wire of its own to the source. */
void sim_build_flat(struct sim_world *world, uint32_t n, const struct sim_wire_config *config);
/* S-A, A-B, A-C, B-D, B-E, C-F: three hops, seven hosts. */
void sim_build_tree3(struct sim_world *world, const struct sim_wire_config *config);
/* A line: each host joined to the next. */
void sim_build_chain(struct sim_world *world, uint32_t n, const struct sim_wire_config *config);
/* A random tree of n hosts and `extra` more wires; delays between 1 ms and delay_max, everything
 * else as in config. */
void sim_build_random(struct sim_world *world, uint32_t n, uint32_t extra,
                      const struct sim_wire_config *config, gmc_duration delay_max,
                      struct gmc_prng *prng);

/* ---- transfers ---- */
struct sim_stage {
    uint64_t object_seed;
    uint64_t bytes;
    struct sim_host *const *targets;
    size_t target_count;
    enum gmc_tree_shape shape;
    uint64_t rate_bps;
    bool background;
    bool plan; /* the trees and their time, and nothing is sent */
};
GMC_NODISCARD gmc_status sim_stage(struct sim_host *source, const struct sim_stage *stage,
                                   struct gmc_channel_key *key, const char **error);
GMC_NODISCARD gmc_status sim_add(struct sim_host *source, const struct gmc_channel_key *key,
                                 struct sim_host *target, const char **error);
GMC_NODISCARD gmc_status sim_cancel(struct sim_host *source, const struct gmc_channel_key *key,
                                    const char **error);
GMC_NODISCARD gmc_status sim_resume(struct sim_host *source, const struct gmc_channel_key *key,
                                    const char **error);

/* ---- messages ---- */
/* Ordered, over an eco tree, unless the request says otherwise. */
GMC_NODISCARD gmc_status sim_open(struct sim_host *source, const char *name,
                                  struct sim_host *const *targets, size_t target_count,
                                  enum gmc_message_order order, struct gmc_channel_key *key,
                                  const char **error);
GMC_NODISCARD gmc_status sim_publish(struct sim_host *source, const struct gmc_channel_key *key,
                                     struct gmc_bytes message);
GMC_NODISCARD gmc_status sim_end(struct sim_host *source, const struct gmc_channel_key *key,
                                 const char *reason);

/* ---- questions ---- */
/* What a gateway says of a channel; false when it is down or does not know it. */
bool sim_channel(struct sim_host *host, const struct gmc_channel_key *key,
                 struct gmc_channel_info *info);
/* Its number at the gateway, for gmc_gateway_member_info. */
bool sim_channel_index(struct sim_host *host, const struct gmc_channel_key *key, size_t *index);
/* What a source says of one of its targets. */
bool sim_member(struct sim_host *source, const struct gmc_channel_key *key,
                const struct sim_host *target, struct gmc_member_info *info);
/* The channel has ended at its source, one way or another. */
bool sim_has_ended(struct sim_host *source, const struct gmc_channel_key *key);
/* Runs until the source has ended the channel, for at most `limit`; whether it has. It is looked at
 * every `every`. */
bool sim_run_to_end(struct sim_host *source, const struct gmc_channel_key *key, gmc_duration every,
                    gmc_duration limit);
uint64_t sim_counter(const struct sim_host *host, const char *name);

#endif
