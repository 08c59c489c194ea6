/* SPDX-License-Identifier: BSD-2-Clause */
/* A schedule of faults: each begins at its time and ends after its duration. Scripted one by one,
 * or drawn from a seed. */
#ifndef SIM_FAULTS_H
#define SIM_FAULTS_H

#include "sim-wan/host.h"

enum sim_fault_kind {
    SIM_FAULT_KILL,                   /* the gateway's process; it is started again at the end */
    SIM_FAULT_POWER,                  /* the host */
    SIM_FAULT_FREEZE,                 /* the process is stopped, and continued at the end */
    SIM_FAULT_CUT,                    /* a wire is down */
    SIM_FAULT_LOSS,                   /* a wire loses one packet in three */
    SIM_FAULT_BREAK,                  /* the session of two hosts breaks, at once */
    SIM_FAULT_BLOCK,                  /* UDP does not pass between two hosts */
    SIM_FAULT_STALL,                  /* a disk answers nothing */
    SIM_FAULT_READS,                  /* one read in ten fails */
    SIM_FAULT_DRAWN,                  /* those before are what is drawn */
    SIM_FAULT_WIRE = SIM_FAULT_DRAWN, /* a wire has other properties */
    SIM_FAULT_DISK,                   /* a disk has */
    SIM_FAULT_KINDS
};

enum sim_fault_ways { SIM_FAULT_BOTH_WAYS, SIM_FAULT_FORTH, SIM_FAULT_BACK };

struct sim_fault {
    enum sim_fault_kind kind;
    gmc_time at;
    gmc_duration duration;           /* GMC_TIME_NEVER: until healed */
    uint32_t host;                   /* or one end of a pair */
    uint32_t other;                  /* BREAK, BLOCK */
    uint32_t wire;                   /* CUT, LOSS, WIRE */
    enum sim_fault_ways ways;        /* CUT, WIRE: directions of the wire */
    struct sim_wire_config lanes[2]; /* WIRE */
    struct sim_disk_config disk;     /* DISK */
};

struct sim_fault_entry;

struct sim_faults {
    struct sim_world *world;
    struct sim_fault_entry **entries;
    size_t count, capacity;
};

void sim_faults_init(struct sim_faults *faults, struct sim_world *world);
/* Before the world is freed. */
void sim_faults_fini(struct sim_faults *faults);
void sim_faults_add(struct sim_faults *faults, const struct sim_fault *fault);
/* Whether two faults set the same thing at the same time: they would undo each other's end. One
 * that begins when the other ends does not collide with it. */
bool sim_faults_collide(const struct sim_fault *a, const struct sim_fault *b);
/* `count` faults between two times, none lasting beyond the second. */
void sim_faults_draw(struct sim_faults *faults, struct gmc_prng *prng, size_t count, gmc_time from,
                     gmc_time until);
/* Ends all that is under way, drops all to come, starts all gateways. */
void sim_faults_heal(struct sim_faults *faults);
const char *sim_fault_name(enum sim_fault_kind kind);
/* Whether the fault of a wire is about this direction of it. */
bool sim_fault_is_on_way(const struct sim_fault *fault, int way);

#endif
