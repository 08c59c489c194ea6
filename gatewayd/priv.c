/* SPDX-License-Identifier: BSD-2-Clause */
/* Giving up privileges, and telling the service manager. */
#include "gatewayd/priv.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gatewayd/text.h"

bool gwd_priv_ids(const char *user, const char *group, uid_t *uid, gid_t *gid, char *reason,
                  size_t size)
{
    *uid = (uid_t)-1;
    *gid = (gid_t)-1;
    if (user[0] != '\0') {
        const struct passwd *entry = getpwnam(user);
        if (entry == NULL) {
            gwd_text(reason, size, "user '%s' does not exist", user);
            return false;
        }
        *uid = entry->pw_uid;
        *gid = entry->pw_gid;
    }
    if (group[0] != '\0') {
        const struct group *entry = getgrnam(group);
        if (entry == NULL) {
            gwd_text(reason, size, "group '%s' does not exist", group);
            return false;
        }
        *gid = entry->gr_gid;
    }
    return true;
}

bool gwd_priv_drop(const char *user, uid_t uid, gid_t gid, char *reason, size_t size)
{
    if (geteuid() != 0) {
        if ((uid != (uid_t)-1 && uid != geteuid()) || (gid != (gid_t)-1 && gid != getegid())) {
            gwd_text(reason, size,
                     "only root can change to user '%s'; start as root, or leave user and group "
                     "out",
                     user);
            return false;
        }
        return true;
    }
    if (gid != (gid_t)-1 && (setgroups(0, NULL) != 0 || setresgid(gid, gid, gid) != 0)) {
        gwd_text(reason, size, "the group cannot be changed: %s", strerror(errno));
        return false;
    }
    /* Further groups of the user: data may be shared through them. */
    if (uid != (uid_t)-1 && gid != (gid_t)-1 && initgroups(user, gid) != 0) {
        gwd_text(reason, size, "the groups of '%s' cannot be set: %s", user, strerror(errno));
        return false;
    }
    if (uid == (uid_t)-1 || uid == 0)
        return true;
    if (setresuid(uid, uid, uid) != 0) {
        gwd_text(reason, size, "the user cannot be changed: %s", strerror(errno));
        return false;
    }
    if (setuid(0) == 0 || seteuid(0) == 0) {
        gwd_text(reason, size, "privileges could be had back after they were dropped");
        return false;
    }
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return true;
}

bool gwd_priv_may(const char *user, const char *group, const char *path, int mode)
{
    char reason[256];
    uid_t uid;
    gid_t gid;
    int status;
    if (geteuid() != 0 || (user[0] == '\0' && group[0] == '\0'))
        return access(path, mode) == 0;
    pid_t child = fork();
    if (child == 0) {
        bool ok = gwd_priv_ids(user, group, &uid, &gid, reason, sizeof reason) &&
                  gwd_priv_drop(user, uid, gid, reason, sizeof reason);
        /* Who cannot be asked for is a mistake of another option. */
        _exit(!ok || access(path, mode) == 0 ? 0 : errno);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return true;
    errno = WEXITSTATUS(status);
    return errno == 0;
}

void gwd_notify(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = path != NULL ? strlen(path) : 0;
    int fd;
    if (len < 2 || len >= sizeof address.sun_path || (path[0] != '/' && path[0] != '@'))
        return;
    memcpy(address.sun_path, path, len);
    if (path[0] == '@')
        address.sun_path[0] = '\0'; /* an abstract name */
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    (void)sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address,
                 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
    (void)close(fd);
}
