/* SPDX-License-Identifier: BSD-2-Clause */
/* A gatewayd in every emulated host that has a gateway, with certificates of an authority that
 * exists for this run only. In the work directory:
 *
 *   ca/                 the authority
 *   HOST/conf           configuration; HOST/gateway.crt, .key; HOST/log
 *   HOST/state          journal
 *   HOST/in             where data from the others arrives
 *   HOST/control, HOST/events   sockets
 *
 * Each may send everything to each, and fetch from each. */
#ifndef SIM_EMULATE_GATEWAYS_H
#define SIM_EMULATE_GATEWAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "sim-wan/emulate/hosts.h"
#include "sim-wan/emulate/place.h"

struct emu_gateways {
    const struct emu_hosts *hosts;
    const struct emu_place *place;
    char *gmcast, *gatewayd; /* the programs */
    pid_t *pids;             /* by host; 0: none runs */
    bool *ready;
    size_t count, ready_count;
    int notify; /* where they say that they are ready; to be watched */
};

/* Makes certificates and configurations; extra (may be NULL) is text for all configurations. The
 * programs: $GMCAST and $GATEWAYD, else what $PATH finds. -1 with words in error; can be
 * taken apart in any case. */
int emu_gateways_init(struct emu_gateways *gateways, const struct emu_hosts *hosts,
                      const struct emu_place *place, const char *extra, char *error);
void emu_gateways_fini(struct emu_gateways *gateways);

int emu_gateways_start(struct emu_gateways *gateways, char *error);
/* To be called when notify can be read. */
void emu_gateways_on_notify(struct emu_gateways *gateways);
/* A process has ended: whether it was one of them; *host says whose. */
bool emu_gateways_on_end(struct emu_gateways *gateways, pid_t pid, uint32_t *host);
bool emu_gateways_are_ready(const struct emu_gateways *gateways);
/* Whether any still runs. */
bool emu_gateways_run(const struct emu_gateways *gateways);
/* Asks all to end. */
void emu_gateways_stop(const struct emu_gateways *gateways);

/* The control socket's endpoint; malloc'ed. */
char *emu_gateways_endpoint(const struct emu_gateways *gateways, uint32_t host);
/* The end of its log, for a message. */
void emu_gateways_print_log(const struct emu_gateways *gateways, uint32_t host);

#endif
