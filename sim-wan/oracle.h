/* SPDX-License-Identifier: BSD-2-Clause */
/* What has to be true whatever happens, judged from outside of the core.
 *
 * All the time: caches stay within their bound; who is said to be complete has the whole object
 * under its final name; nothing was accepted that the source did not send (the disks see that);
 * parents form no lasting loop; no gateway spins at one instant. When asked: bytes are conserved on
 * every wire; given hosts have given objects.
 */
#ifndef SIM_ORACLE_H
#define SIM_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/io.h"
#include "sim-wan/engine.h"

struct sim_world;
struct sim_host;

#define SIM_VIOLATIONS_KEPT 16

/* Who is whose child, by the gateways' own news. */
struct sim_attachment {
    struct gmc_channel_key key;
    uint32_t host;
    uint32_t stripe;
    uint32_t parent; /* SIM_NO_HOST: none */
    gmc_time since;
};

struct sim_oracle {
    struct sim_world *world;
    uint64_t violations;
    char *texts[SIM_VIOLATIONS_KEPT]; /* the first ones */
    struct sim_attachment *attachments;
    size_t attachment_count, attachment_capacity;
    struct sim_event patrol;
};

void sim_oracle_init(struct sim_oracle *oracle, struct sim_world *world);
void sim_oracle_fini(struct sim_oracle *oracle);
/* Begins the regular checks. */
void sim_oracle_start(struct sim_oracle *oracle);

void sim_oracle_violated(struct sim_oracle *oracle, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* News of a gateway. */
void sim_oracle_on_event(struct sim_oracle *oracle, struct sim_host *host,
                         const struct gmc_event *event);
void sim_oracle_on_crash(struct sim_oracle *oracle, struct sim_host *host);
/* What the gateway says of itself and others is so. */
void sim_oracle_check_claims(struct sim_oracle *oracle, struct sim_host *host);

/* At the end of a run. */
void sim_oracle_check_wires(struct sim_oracle *oracle);
/* All transfers are over: no gateway holds data or waits for its disk. */
void sim_oracle_check_idle(struct sim_oracle *oracle);
/* The host has the object, and says so. */
void sim_oracle_check_delivered(struct sim_oracle *oracle, struct sim_host *host,
                                const struct gmc_channel_key *key);

/* The present parent of a host in the tree of the first stripe; SIM_NO_HOST. */
uint32_t sim_oracle_parent(const struct sim_oracle *oracle, uint32_t host,
                           const struct gmc_channel_key *key);

#endif
