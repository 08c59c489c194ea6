/* SPDX-License-Identifier: BSD-2-Clause */
/* The heads that a simulated packet would have on a real wire: IPv4 (RFC 791) and UDP (RFC 768), or
 * TCP (RFC 9293) with time stamps (RFC 7323).
 *
 * Host i has the address 10.0.0.0 + i + 1. Gateways talk from and to port 7411, a TCP connection
 * comes from port 32768 + its number; background traffic goes to port 9 (discard). The simulator's
 * TCP numbers segments: here each counts as a full one, so that after short ones numbers are
 * missing.
 */
#ifndef SIM_RUN_IP_HEAD_H
#define SIM_RUN_IP_HEAD_H

#include "sim-wan/packet.h"

#define SIM_IP_HEAD_MAX 52u /* bytes */

/* Writes the heads; returns their length: 28, or 52 for TCP. What follows them on the wire is
 * packet->wire_bytes minus that: packet->len bytes of data, or where those are fewer, zeros (the
 * simulator does not carry the bytes of TCP and of background traffic). now is the sender's
 * clock for time stamps. Packets of more than 65,535 bytes have lengths of 0, as they have in
 * captures of hosts that leave cutting them up to their network card. */
size_t sim_ip_head(const struct sim_packet *packet, gmc_time now, uint8_t out[SIM_IP_HEAD_MAX]);

#endif
