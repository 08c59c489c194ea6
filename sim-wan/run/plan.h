/* SPDX-License-Identifier: BSD-2-Clause */
/* A scenario as data: what a scenario file says, checked and with names resolved.
 * docs/sim-wan-run.1 describes the file. Times count from the end of the warm-up. */
#ifndef SIM_RUN_PLAN_H
#define SIM_RUN_PLAN_H

#include "core/message_rx.h"
#include "core/tree.h"
#include "sim-wan/conf.h"
#include "sim-wan/faults.h"
#include "sim-wan/run/record.h"
#include "sim-wan/topo/read.h"
#include "sim-wan/topo/topo.h"
#include "sim-wan/world.h"

#define SIM_PLAN_TRANSFERS_MAX 10000u
#define SIM_PLAN_CHANNELS_MAX 10000u
#define SIM_PLAN_MESSAGES_EVERY_MIN GMC_US(1)
#define SIM_PLAN_FAULTS_MAX 10000u
#define SIM_PLAN_TRAFFIC_MAX 100000u

struct sim_plan_host {
    struct sim_disk_config disk;
    struct sim_cpu_config cpu;
    uint64_t uplink_bps, downlink_bps; /* that its gateway is told; 0: not known */
    bool has_offset, has_drift;        /* else drawn, or exact, as the world says */
    gmc_time clock_offset;
    int32_t clock_drift_ppb;
};

struct sim_plan_transfer {
    char *name;
    uint32_t source; /* nodes */
    uint32_t *targets;
    size_t target_count;
    uint64_t bytes;
    gmc_duration at;
    uint32_t after; /* the transfer at whose end it starts (plus `at`); UINT32_MAX: none */
    enum gmc_tree_shape shape;
    uint64_t rate_bps; /* 0: no cap */
    bool background;
};

/* Message k is due at `at` + k * `every`. */
struct sim_plan_channel {
    char *name;
    uint32_t source; /* nodes */
    uint32_t *targets;
    size_t target_count;
    enum gmc_message_order order;
    uint32_t bytes; /* of a message */
    gmc_duration every;
    gmc_duration at;
    uint64_t count; /* messages; 0: until the last transfer has ended */
};

struct sim_plan_traffic {
    char *name;
    struct sim_traffic_config config; /* hosts are nodes */
};

struct sim_plan {
    char *file;
    char *title; /* the file's name when it says none */
    struct sim_topo topo;
    struct sim_topo_notes notes; /* what was done to a map */
    struct sim_world_config world;
    uint64_t seed_first, seed_last;
    gmc_duration settle; /* after the start of all gateways */
    bool warm_up;        /* see warm_up.h */
    gmc_duration limit;
    struct sim_plan_host *hosts; /* by node */
    struct sim_plan_transfer *transfers;
    size_t transfer_count, transfer_capacity;
    struct sim_plan_channel *channels;
    size_t channel_count, channel_capacity;
    struct sim_fault *faults; /* hosts are nodes, wires are links */
    size_t fault_count, fault_capacity;
    struct sim_plan_traffic *traffic;
    size_t traffic_count, traffic_capacity;
    gmc_duration record_every;
    char *records[SIM_RECORDERS_MAX]; /* targets by recorder; NULL: not asked for */
};

/* Reads a scenario and then sets values (sim_conf_set) as given. The plan is initialised here, and
 * to be ended with fini whatever comes out. GMC_ERR_IO, GMC_ERR_INVALID: with words in error
 * (SIM_CONF_ERROR_MAX bytes), after file and line where they are known. */
GMC_NODISCARD gmc_status sim_plan_read(struct sim_plan *plan, const char *path,
                                       const char *const *sets, size_t set_count, char *error);
void sim_plan_fini(struct sim_plan *plan);

extern const char *const sim_plan_traffic_names[]; /* by kind; ended by NULL */

/* "7" or "1..1000"; false: neither. */
bool sim_plan_seeds(const char *text, uint64_t *first, uint64_t *last);

#endif
