/* SPDX-License-Identifier: BSD-2-Clause */
/* What is written down while a scenario runs, beside its summary. A recorder is one table here and
 * one file; the option of its name in a scenario's `record` section, and on the command line, says
 * where to. */
#ifndef SIM_RUN_RECORD_H
#define SIM_RUN_RECORD_H

#include "core/io.h"
#include "sim-wan/net.h"
#include "sim-wan/topo/topo.h"

#define SIM_RECORDERS_MAX 8
#define SIM_RECORD_ERROR_MAX 256u

struct sim_run;
struct sim_run_channel;
struct sim_host;

struct sim_recorder_ops {
    const char *name;    /* of the option */
    const char *target;  /* what its value is: FILE, DIRECTORY */
    const char *summary; /* for people, after "write" */
    /* Whether the target can be right for this topology, before anything is run; may be NULL.
     * False: words are in error, as of open. */
    bool (*check)(const struct sim_topo *topo, const char *target, char *error);
    /* Before the first event after the warm-up: run->world is built, run->zero is now. Returns the
     * recorder's state; NULL: words are in error (SIM_RECORD_ERROR_MAX bytes). */
    void *(*open)(const struct sim_run *run, const char *target, char *error);
    /* Each may be NULL: everything that happens on wires; the gateways' events; every
     * plan->record_every of virtual time, beginning with run->zero. */
    void (*packet)(void *state, uint32_t wire, int direction, enum sim_wire_news news,
                   enum sim_drop drop, const struct sim_packet *packet);
    void (*event)(void *state, struct sim_host *host, const struct gmc_event *event);
    void (*sample)(void *state);
    /* A message reached a subscriber of the channel, by its number; latency as in channel.h. */
    void (*message)(void *state, const struct sim_run_channel *channel, size_t subscriber,
                    gmc_duration latency);
    /* After the run, while the world still stands. Frees the state. Without `keep` the run failed,
     * and what was written goes. False: words are in error. */
    bool (*close)(void *state, bool keep, char *error);
};

/* All of them, ended by NULL; at most SIM_RECORDERS_MAX. */
extern const struct sim_recorder_ops *const sim_recorders[];

#endif
