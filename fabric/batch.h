/* SPDX-License-Identifier: BSD-2-Clause */
/* A message of a fabric: datagrams for one receiver, one behind the other, since a message costs
 * what it costs however short it is. Bytes <-> datagrams, nothing else.
 *
 *   magic "gmF1" (4), id of the sender (8), its clock when the first datagram was written (8), then
 *   each datagram as its length u16 (not 0) and bytes
 */
#ifndef FAB_BATCH_H
#define FAB_BATCH_H

#include "base/bytes.h"
#include "base/time.h"

#define FAB_BATCH_HEAD_BYTES 20u
#define FAB_BATCH_EACH_BYTES 2u
#define FAB_DATAGRAM_MAX 65535u

/* Writes the head and returns its length. */
size_t fab_batch_begin(uint8_t *out, uint64_t id, gmc_time now);
/* Writes a datagram of these pieces (at most FAB_DATAGRAM_MAX bytes in all, at least 1) behind len
 * bytes of a message, which has room for it; returns the new length. */
size_t fab_batch_add(uint8_t *out, size_t len, const struct gmc_bytes *pieces, size_t count);

/* Begins to read a message. TRUNCATED, INVALID. */
GMC_NODISCARD gmc_status fab_batch_open(struct gmc_bytes message, uint64_t *id, gmc_time *begun,
                                        struct gmc_reader *reader);
/* The next datagram, borrowed; false behind the last one, and where a length is wrong, after which
 * fab_batch_is_whole is false. */
bool fab_batch_next(struct gmc_reader *reader, struct gmc_bytes *datagram);
bool fab_batch_is_whole(const struct gmc_reader *reader);

#endif
