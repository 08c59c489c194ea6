/* SPDX-License-Identifier: BSD-2-Clause */
/* Network namespaces; see netns.h. The order of mounts is that of ip-netns(8), so that both can
 * remove what the other made. */
#include "sim-wan/emulate/netns.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sim-wan/mem.h"

#define PATH_SIZE 300

static int fail(char *error, const char *what, const char *name)
{
    const char *advice = errno == EPERM || errno == EACCES
                             ? "; in a container, give it --cap-add SYS_ADMIN and NET_ADMIN"
                             : "";
    snprintf(error, EMU_ERROR_MAX, "%s %s: %s%s", what, name, strerror(errno), advice);
    return -1;
}

static void path_of(char out[PATH_SIZE], const char *name)
{
    snprintf(out, PATH_SIZE, EMU_NETNS_DIR "/%s", name);
}

/* Mounts below the folder have to be seen in all mount namespaces, and be gone from all of them. */
static int share_folder(char *error)
{
    if (mkdir(EMU_NETNS_DIR, 0755) != 0 && errno != EEXIST)
        return fail(error, "cannot make", EMU_NETNS_DIR);
    if (mount("", EMU_NETNS_DIR, "none", MS_SHARED | MS_REC, NULL) == 0)
        return 0;
    if (errno != EINVAL ||
        mount(EMU_NETNS_DIR, EMU_NETNS_DIR, "none", MS_BIND | MS_REC, NULL) != 0 ||
        mount("", EMU_NETNS_DIR, "none", MS_SHARED | MS_REC, NULL) != 0)
        return fail(error, "cannot share the mounts in", EMU_NETNS_DIR);
    return 0;
}

int emu_netns_home(char *error)
{
    int fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail(error, "cannot open", "/proc/self/ns/net");
    return fd;
}

int emu_netns_leave(int home, char *error)
{
    if (setns(home, CLONE_NEWNET) != 0)
        return fail(error, "cannot go back to", "the own network");
    return 0;
}

int emu_netns_create(const char *name, char *error)
{
    char path[PATH_SIZE];
    path_of(path, name);
    if (share_folder(error) != 0)
        return -1;
    int fd = open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0);
    if (fd < 0)
        return fail(error, "cannot make", path);
    close(fd);
    if (unshare(CLONE_NEWNET) != 0) {
        unlink(path);
        return fail(error, "cannot make the network namespace", name);
    }
    if (mount("/proc/self/ns/net", path, "none", MS_BIND, NULL) != 0) {
        unlink(path);
        return fail(error, "cannot name the network namespace", name);
    }
    return 0;
}

int emu_netns_join(const char *name, char *error)
{
    char path[PATH_SIZE];
    path_of(path, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail(error, "cannot open", path);
    int status = setns(fd, CLONE_NEWNET);
    close(fd);
    return status == 0 ? 0 : fail(error, "cannot enter the network namespace", name);
}

int emu_netns_enter(const char *name, char *error)
{
    char path[PATH_SIZE];
    if (emu_netns_join(name, error) != 0)
        return -1;
    if (unshare(CLONE_NEWNS) != 0 || mount("", "/", "none", MS_SLAVE | MS_REC, NULL) != 0)
        return fail(error, "cannot make a mount namespace in", name);
    snprintf(path, sizeof(path), EMU_NETNS_ETC "/%s/hosts", name);
    if (mount(path, "/etc/hosts", "none", MS_BIND, NULL) != 0)
        return fail(error, "cannot put in place of /etc/hosts", path);
    return 0;
}

/* ---- the end ---- */
static bool is_number(const char *text)
{
    return text[0] != '\0' && strspn(text, "0123456789") == strlen(text);
}

/* Whether the network of a process is one of these. */
static bool is_inside(const char *pid, const struct stat *netns, size_t count)
{
    char path[PATH_SIZE];
    struct stat st;
    snprintf(path, sizeof(path), "/proc/%.20s/ns/net", pid);
    if (!is_number(pid) || stat(path, &st) != 0)
        return false;
    for (size_t i = 0; i < count; i++)
        if (st.st_ino == netns[i].st_ino && st.st_dev == netns[i].st_dev)
            return true;
    return false;
}

/* Signals every process inside; how many there are. Zombies are in no network. */
static size_t kill_inside(const struct stat *netns, size_t count)
{
    DIR *proc = opendir("/proc");
    size_t killed = 0;
    struct dirent *entry;
    while (proc != NULL && (entry = readdir(proc)) != NULL) {
        if (!is_inside(entry->d_name, netns, count))
            continue;
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (pid != getpid() && kill(pid, SIGKILL) == 0)
            killed++;
    }
    if (proc != NULL)
        closedir(proc);
    return killed;
}

void emu_netns_kill(char *const *names, size_t count)
{
    const struct timespec nap = {0, 10 * 1000000};
    struct stat *netns = sim_calloc(count + 1, sizeof(*netns));
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        char path[PATH_SIZE];
        path_of(path, names[i]);
        if (stat(path, &netns[found]) == 0 && S_ISREG(netns[found].st_mode))
            found++;
    }
    for (int tries = 0; found > 0 && tries < 200 && kill_inside(netns, found) > 0; tries++)
        nanosleep(&nap, NULL);
    free(netns);
}

void emu_netns_remove(const char *name)
{
    char path[PATH_SIZE];
    path_of(path, name);
    (void)umount2(path, MNT_DETACH);
    (void)unlink(path);
    snprintf(path, sizeof(path), EMU_NETNS_ETC "/%s/hosts", name);
    (void)unlink(path);
    snprintf(path, sizeof(path), EMU_NETNS_ETC "/%s", name);
    (void)rmdir(path);
}
