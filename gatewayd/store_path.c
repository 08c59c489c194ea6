/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths and small files: opening strictly beneath a directory, removing trees, replacing files
 * durably. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gatewayd/store_int.h"

#define DEPTH_MAX 1000

bool gwd_path_is_beneath(const char *path, const char *directory)
{
    size_t len = strlen(directory);
    if (strcmp(directory, "/") == 0)
        return path[0] == '/';
    return strncmp(path, directory, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

/* Where the kernel has no openat2 (or a sandbox forbids it): component by component. */
static int open_stepwise(int dirfd, const char *path, int flags, mode_t mode)
{
    char *copy = strdup(path), *part = copy, *slash;
    int at = dirfd, next;
    if (copy == NULL)
        return -1;
    while ((slash = strchr(part, '/')) != NULL) {
        *slash = '\0';
        if (strcmp(part, "..") == 0) {
            errno = EXDEV;
            next = -1;
        } else {
            next = openat(at, *part == '\0' ? "." : part,
                          O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        }
        if (at != dirfd)
            (void)close(at);
        if (next < 0) {
            free(copy);
            return -1;
        }
        at = next;
        part = slash + 1;
    }
    if (strcmp(part, "..") == 0) {
        errno = EXDEV;
        next = -1;
    } else {
        next = openat(at, *part == '\0' ? "." : part, flags | O_NOFOLLOW | O_CLOEXEC, mode);
    }
    if (at != dirfd) {
        int error = errno;
        (void)close(at);
        errno = error;
    }
    free(copy);
    return next;
}

int gwd_open_beneath(int dirfd, const char *path, int flags, mode_t mode)
{
    struct open_how how = {.flags = (uint64_t)(unsigned)flags | O_CLOEXEC,
                           .mode = (flags & O_CREAT) != 0 ? mode : 0,
                           .resolve =
                               RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    if (*path == '\0')
        path = ".";
    for (int attempt = 0; attempt < 8; attempt++) {
        long fd = syscall(SYS_openat2, dirfd, path, &how, sizeof how);
        if (fd >= 0)
            return (int)fd;
        if (errno == ENOSYS || errno == EPERM)
            return open_stepwise(dirfd, path, flags, mode);
        if (errno != EAGAIN && errno != EINTR) /* EAGAIN: something was renamed meanwhile */
            return -1;
    }
    return -1;
}

/* What stands where a directory should be: a link to one is told from a file. */
static void say_if_link(int dirfd, const char *name)
{
    struct stat st;
    int error = errno;
    bool link = error == ENOTDIR && fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                S_ISLNK(st.st_mode);
    errno = link ? ELOOP : error;
}

/* What was made for the rest of a path that then cannot be had goes again. */
static int make_rest(int at, char *path, char **rest, size_t *made)
{
    const char *part = strtok_r(path, "/", rest);
    *made = 0;
    if (part == NULL)
        return openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (strcmp(part, "..") == 0) {
        errno = EXDEV;
        return -1;
    }
    bool is_new = mkdirat(at, part, 0777) == 0;
    int fd = -1, next = -1;
    if (is_new || errno == EEXIST)
        next = openat(at, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (next >= 0)
        fd = make_rest(next, NULL, rest, made);
    else
        say_if_link(at, part);
    int error = errno;
    if (next >= 0)
        (void)close(next);
    if (fd < 0 && is_new)
        (void)unlinkat(at, part, AT_REMOVEDIR);
    *made += is_new;
    errno = error;
    return fd;
}

int gwd_make_beneath(int dirfd, const char *path, size_t *made)
{
    char *copy = strdup(path), *rest = NULL;
    int fd = copy != NULL ? make_rest(dirfd, copy, &rest, made) : -1;
    int error = errno;
    free(copy);
    errno = error;
    return fd;
}

bool gwd_is_part_name(const char *name)
{
    size_t len = strlen(name);
    return strncmp(name, ".gmcast-", 8) == 0 && len > 13 && strcmp(name + len - 5, ".part") == 0;
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static bool remove_at(int dirfd, const char *name, int depth)
{
    bool ok = true;
    struct dirent *entry;
    DIR *dir;
    int fd;
    if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
        return true;
    if ((errno != EISDIR && errno != EPERM) || depth > DEPTH_MAX)
        return false;
    fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == EACCES && fchmodat(dirfd, name, 0700, 0) == 0)
        fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    (void)fchmod(fd, 0700); /* its final mode may forbid to remove what is in it */
    dir = fdopendir(fd);
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (!is_dots(entry->d_name))
            ok = remove_at(fd, entry->d_name, depth + 1) && ok;
    }
    if (dir != NULL)
        (void)closedir(dir);
    else
        (void)close(fd);
    return unlinkat(dirfd, name, AT_REMOVEDIR) == 0 && ok;
}

bool gwd_remove_tree(int dirfd, const char *name)
{
    return remove_at(dirfd, name, 0);
}

static uint64_t bytes_at(int dirfd, const char *name, int depth)
{
    uint64_t bytes = 0;
    struct dirent *entry;
    int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (dir == NULL) {
        if (fd >= 0)
            (void)close(fd);
        return 0;
    }
    while ((entry = readdir(dir)) != NULL) {
        struct stat st;
        if (is_dots(entry->d_name) || gwd_is_part_name(entry->d_name) ||
            fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
            bytes += bytes_at(fd, entry->d_name, depth + 1);
        else
            bytes += (uint64_t)st.st_blocks * 512u;
    }
    (void)closedir(dir);
    return bytes;
}

uint64_t gwd_tree_bytes(const char *directory)
{
    return bytes_at(AT_FDCWD, directory, 0);
}

bool gwd_write_all(int fd, const void *data, size_t len, uint64_t offset)
{
    const char *at = data;
    while (len > 0) {
        ssize_t n = pwrite(fd, at, len, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        len -= (size_t)n;
        offset += (uint64_t)n;
    }
    return true;
}

ssize_t gwd_read_all(int fd, void *data, size_t len, uint64_t offset)
{
    size_t done = 0;
    while (done < len) {
        ssize_t n = pread(fd, (char *)data + done, len - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

bool gwd_replace_file(int dirfd, const char *name, const void *data, size_t len)
{
    return gwd_replace_file_dated(dirfd, name, data, len, (struct timespec){.tv_nsec = UTIME_NOW});
}

bool gwd_replace_file_dated(int dirfd, const char *name, const void *data, size_t len,
                            struct timespec modified)
{
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, modified};
    char temporary[300];
    bool ok;
    int fd;
    (void)snprintf(temporary, sizeof temporary, "%.250s.tmp", name);
    fd = openat(dirfd, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    ok = gwd_write_all(fd, data, len, 0) &&
         (modified.tv_nsec == UTIME_NOW || futimens(fd, times) == 0) && fsync(fd) == 0;
    ok = close(fd) == 0 && ok;
    return ok && renameat(dirfd, temporary, dirfd, name) == 0 && fsync(dirfd) == 0;
}

char *gwd_read_file(int dirfd, const char *name, size_t *len)
{
    int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    char *data = NULL;
    struct stat st;
    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) == 0 && st.st_size >= 0 && st.st_size < (off_t)1 << 32)
        data = malloc((size_t)st.st_size + 1);
    if (data != NULL) {
        ssize_t n = gwd_read_all(fd, data, (size_t)st.st_size, 0);
        if (n < 0) {
            free(data);
            data = NULL;
        } else {
            data[n] = '\0';
            *len = (size_t)n;
        }
    }
    (void)close(fd);
    return data;
}
