/* SPDX-License-Identifier: BSD-2-Clause */
/* What the emulator has to know of real packets: the congestion bits of the IP head, which wires
 * may set (RFC 3168, section 5). */
#ifndef SIM_EMULATE_IP_H
#define SIM_EMULATE_IP_H

#include <stddef.h>
#include <stdint.h>

#define EMU_IP_HEAD_MAX 40u /* without options and extensions */

/* The ECN field, as enum sim_ecn; 0 for what is neither IPv4 nor IPv6. */
uint8_t emu_ip_ecn(const uint8_t *packet, size_t len);
/* Sets it, and the head's checksum with it. */
void emu_ip_set_ecn(uint8_t *packet, size_t len, uint8_t ecn);

#endif
