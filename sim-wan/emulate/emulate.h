/* SPDX-License-Identifier: BSD-2-Clause */
/* A run of the emulator from its first namespace to its last: hosts, gateways, the command, and
 * everything taken away again. */
#ifndef SIM_EMULATE_EMULATE_H
#define SIM_EMULATE_EMULATE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sim-wan/emulate/forward.h"
#include "sim-wan/emulate/gateways.h"
#include "sim-wan/emulate/hosts.h"
#include "sim-wan/emulate/place.h"

struct emu_config {
    uint64_t seed;
    uint32_t at; /* the host where the command runs */
    bool gateways;
    char *gateway_conf; /* text for all configurations; or NULL */
    const char *work;   /* directory that stays; or NULL */
    const char *json;   /* summary; or NULL */
    char **command;
};

struct emu_run {
    const struct emu_config *config;
    const struct sim_topo *topo;
    const struct emu_hosts *hosts;
    struct emu_place place;
    struct emu_forward forward;
    struct emu_gateways gateways;
    int signals;        /* signalfd */
    int wakeful;        /* keeps cores from sleeping deep; -1 */
    int interrupted;    /* by this signal; 0 */
    pid_t command;      /* 0: does not run */
    int command_status; /* as of a shell; -1: did not run or not to its end */
    gmc_time command_begin, command_end;
    struct sim_lane_counters *before; /* wire * 2 + direction, when the command began; NULL */
    bool lost_gateway;                /* one ended that was not asked to */
};

/* The exit status: the command's, 125 when it could not be run, 128 + signal when interrupted. */
int emu_run(const struct emu_config *config, const struct sim_topo *topo,
            const struct emu_hosts *hosts);

/* Packets that did not even get into the emulator. Goes through all namespaces: at the end. */
uint64_t emu_run_overflows(const struct emu_run *run);

#endif
