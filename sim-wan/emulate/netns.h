/* SPDX-License-Identifier: BSD-2-Clause */
/* Network namespaces with a name, as ip-netns(8) keeps them, so that `ip netns exec` works on them:
 * /run/netns/NAME, and /etc/netns/NAME/hosts with the names that are known inside. */
#ifndef SIM_EMULATE_NETNS_H
#define SIM_EMULATE_NETNS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define EMU_NETNS_DIR "/run/netns"
#define EMU_NETNS_ETC "/etc/netns"
#define EMU_NETNS_NAME_MAX 255u

/* All functions: 0, or -1 with words in error (EMU_ERROR_MAX bytes). */
#define EMU_ERROR_MAX 400u

/* Makes the namespace and goes into it; emu_netns_leave() comes back out. */
int emu_netns_create(const char *name, char *error);
/* A descriptor of the namespace that the process is in, to come back to. */
int emu_netns_home(char *error);
int emu_netns_leave(int home, char *error);

/* Goes into one that is there. */
int emu_netns_join(const char *name, char *error);
/* For a child process: goes in, in a mount namespace of its own where /etc/hosts is the
 * namespace's. */
int emu_netns_enter(const char *name, char *error);

/* Kills whatever runs inside those that exist and waits until it is gone, at most two seconds. */
void emu_netns_kill(char *const *names, size_t count);
/* Takes the name away, and the files in /etc. What is not there is no error. */
void emu_netns_remove(const char *name);

#endif
