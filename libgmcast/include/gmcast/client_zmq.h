/* SPDX-License-Identifier: BSD-2-Clause */
/* The usual way to a gateway: ZeroMQ, a DEALER to the gateway's ROUTER. Link with libzmq. */
#ifndef GMCAST_CLIENT_ZMQ_H
#define GMCAST_CLIENT_ZMQ_H

#include <gmcast/client.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where gatewayd listens unless configured otherwise. */
#define GMC_CLIENT_ENDPOINT "ipc:///run/gmcast/control"

/* A client for the gateway at endpoint. Connects in the background: that nobody is there shows in
 * the first call. NULL with the reason in error when endpoint is none. */
struct gmc_client *gmc_client_open(const char *endpoint, char *error, size_t error_len);

#ifdef __cplusplus
}
#endif

#endif
