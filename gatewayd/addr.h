/* SPDX-License-Identifier: BSD-2-Clause */
/* Network addresses: text <-> sockaddr <-> the core's opaque gmc_addr. */
#ifndef GWD_ADDR_H
#define GWD_ADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "core/io.h"

struct gwd_sockaddr {
    struct sockaddr_storage storage;
    socklen_t len;
};

#define GWD_ADDR_TEXT_MAX 64

/* "host:port" or "[v6]:port" into its parts; false when it is neither. */
bool gwd_addr_split(const char *text, char *host, size_t size, uint16_t *port);
/* A numeric address without asking a name server; false when host is a name. */
bool gwd_addr_numeric(const char *host, uint16_t port, struct gwd_sockaddr *out);
/* IPv4 is 4 + 2 bytes, IPv6 16 + 2 + 4 (scope); IPv4 mapped into IPv6 counts as IPv4, so that an
 * address has one form whatever socket it came through. */
void gwd_addr_to_core(const struct sockaddr *from, struct gmc_addr *to);
/* For a socket of this family (AF_INET6 sockets take mapped IPv4); false when it cannot. */
bool gwd_addr_from_core(const struct gmc_addr *from, int family, struct gwd_sockaddr *to);
void gwd_addr_text(const struct sockaddr *from, char out[GWD_ADDR_TEXT_MAX]);
void gwd_addr_core_text(const struct gmc_addr *from, char *out, size_t size);
uint16_t gwd_addr_port(const struct sockaddr *from);
/* Why a socket could not be bound, by errno, and what to look at. what: "TCP", "UDP". */
void gwd_addr_not_bound(const char *what, const struct gwd_sockaddr *address, char *reason,
                        size_t size);

#endif
