/* SPDX-License-Identifier: BSD-2-Clause */
/* What sub-commands do with the gateway: ask it once, or follow a transfer to its end. */
#ifndef GMC_TOOLS_SESSION_H
#define GMC_TOOLS_SESSION_H

#include <gmcast/client_zmq.h>
#include <jansson.h>

#include "tools/gmcast.h"

/* A client of the gateway that the user means; NULL after an error message. */
struct gmc_client *session_open(const struct gmcast_globals *globals);

/* One request; while a domain that has to be asked is being connected to, it is repeated. */
enum gmc_client_result session_ask(struct gmc_client *client, const struct gmc_ctl_request *request,
                                   const struct gmc_ctl_reply **reply);
/* Says why the last request failed; returns EXIT_REFUSED. */
int session_error(const struct gmc_client *client);
/* One request; false after an error message. */
bool session_call(struct gmc_client *client, const struct gmc_ctl_request *request,
                  const struct gmc_ctl_reply **reply);

enum session_output {
    SESSION_AUTO,  /* a progress display on a terminal, JSON lines otherwise */
    SESSION_PLAIN, /* a line per event and a table, for logs */
    SESSION_JSON
};

/* Shows how the transfer goes until it is over and returns the exit status. A gateway that does
 * not answer for a while (it restarts) is waited for. An interrupt ends this, not the transfer. */
int session_follow(struct gmc_client *client, const char *channel, enum session_output output);

/* Waits until its source has the transfer on its disk, so that it survives a crash there; the exit
 * status, 0 then. */
int session_wait_saved(struct gmc_client *client, const char *channel);

/* Catches SIGINT, SIGTERM and SIGHUP from now on; session_interrupted says whether one came. */
void session_catch_signals(void);
bool session_interrupted(void);

/* The long options that commands with output share, and what they mean; false: not one of them. */
#define SESSION_OUTPUT_OPTIONS                                                                     \
    {"json", no_argument, NULL, 'j'},                                                              \
    {                                                                                              \
        "plain", no_argument, NULL, 'p'                                                            \
    }
bool session_take_output(int found, enum session_output *output);

#endif
