/* SPDX-License-Identifier: BSD-2-Clause */
/* A TUN device: the one way out of an emulated host's network. */
#ifndef SIM_EMULATE_TUN_H
#define SIM_EMULATE_TUN_H

#include <stdint.h>

#include "sim-wan/emulate/hosts.h"
#include "sim-wan/emulate/netns.h"

#define EMU_TUN_NAME "wan0"

/* Makes the device in the network namespace that the process is in, gives it the host's addresses
 * and takes it and loopback up. Packets are at most mtu bytes: the kernel cuts what it would leave
 * to an interface card. Returns a descriptor that does not block, or -1 with words in error; the
 * device ends with it. */
int emu_tun_open(const struct emu_host *host, uint32_t mtu, char *error);

/* Packets that the kernel could not put into the device's queue since it was full. To be called
 * in the device's namespace. */
uint64_t emu_tun_dropped(void);

#endif
