/* SPDX-License-Identifier: BSD-2-Clause */
/* The UDP socket: datagrams in and out in batches, with their ECN marks. Neither direction
 * allocates. */
#ifndef GWD_UDP_H
#define GWD_UDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/io.h"
#include "gatewayd/addr.h"

#define GWD_UDP_PAYLOAD_MAX 65507u

struct gwd_udp;

struct gwd_udp_stats {
    uint64_t received;      /* datagrams */
    uint64_t receive_calls; /* recvmmsg that brought something */
    uint64_t truncated;     /* dropped: longer than a slab */
    uint64_t sent;          /* datagrams given to the kernel */
    uint64_t send_calls;    /* sendmmsg */
    uint64_t grouped;       /* datagrams that left in runs by UDP_SEGMENT */
    uint64_t too_long;      /* dropped: EMSGSIZE, a path probe as a rule */
    uint64_t blocked;       /* the socket was full */
    uint64_t failed;        /* dropped: any other error */
    int last_error;         /* of failed */
};

/* Binds; NULL with a reason. */
struct gwd_udp *gwd_udp_new(const struct gwd_sockaddr *listen, char *reason, size_t size);
/* Binds to a multicast address, which others of this machine may do too; who receives has to join
 * (gatewayd/mcast.h). */
struct gwd_udp *gwd_udp_new_group(const struct gwd_sockaddr *group, char *reason, size_t size);
void gwd_udp_free(struct gwd_udp *udp);
int gwd_udp_fd(const struct gwd_udp *udp);
uint16_t gwd_udp_port(const struct gwd_udp *udp);
/* Effective buffer sizes, as the kernel reports them. */
void gwd_udp_buffers(const struct gwd_udp *udp, int *receive_bytes, int *send_bytes);
const struct gwd_udp_stats *gwd_udp_stats(const struct gwd_udp *udp);
/* Switches UDP_SEGMENT off or on (tests and kernels that fail with it). */
void gwd_udp_set_segmentation(struct gwd_udp *udp, bool on);

/* Reads one batch; what is taken is borrowed for the call. `now` (CLOCK_MONOTONIC) is when it was
 * read, until which it has waited. True: there may be more. The core's outputs are to leave before
 * the next one: acknowledgements tell of the last thousands of packets alone. */
typedef void (*gwd_udp_take)(void *ctx, gmc_time now, const struct gmc_dgram_in *in);
bool gwd_udp_receive(struct gwd_udp *udp, gwd_udp_take take, void *ctx);

/* Puts a datagram into the batch; body and tail are borrowed until the next flush, which has to
 * come before the next input of the core. False when the batch is full (flush and put it again)
 * or the socket is blocked (keep it). */
bool gwd_udp_put(struct gwd_udp *udp, const struct gmc_dgram_out *out, const struct gmc_addr *to);
/* Whether put() takes a further datagram of any length and destination. */
bool gwd_udp_has_room(const struct gwd_udp *udp);
/* Sends the batch. False when the socket is full: what is left was copied, put() is refused until
 * a flush on writability returns true. */
bool gwd_udp_flush(struct gwd_udp *udp);
bool gwd_udp_is_blocked(const struct gwd_udp *udp);

/* Largest UDP payload that the interface on the way to `to` takes whole; 0 when unknown. */
uint32_t gwd_udp_payload_max(const struct gmc_addr *to);

#endif
