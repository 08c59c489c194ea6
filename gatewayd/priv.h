/* SPDX-License-Identifier: BSD-2-Clause */
/* Giving up privileges, and telling the service manager. */
#ifndef GWD_PRIV_H
#define GWD_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The ids that user and group stand for; (uid_t)-1 and (gid_t)-1 for "". False with a reason. */
bool gwd_priv_ids(const char *user, const char *group, uid_t *uid, gid_t *gid, char *reason,
                  size_t size);
/* Drops to these ids for good (all threads), and checks that they cannot be had back. Without
 * root privileges only ids that we have already are accepted. */
bool gwd_priv_drop(const char *user, uid_t uid, gid_t gid, char *reason, size_t size);
/* May this user ("": whom we are) and group read, write or enter path (mode as of access())? False
 * with errno. Only for a process without threads when it is root: it forks. */
bool gwd_priv_may(const char *user, const char *group, const char *path, int mode);
/* Sends state ("READY=1") to $NOTIFY_SOCKET; nothing when it is not set. */
void gwd_notify(const char *state);

#endif
