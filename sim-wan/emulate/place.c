/* SPDX-License-Identifier: BSD-2-Clause */
/* Marks, work directories and names of runs; see place.h. */
#include "sim-wan/emulate/place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim-wan/mem.h"
#include "sim-wan/out_file.h"

#define MARKS "/run/sim-wan"
#define NETNS_PREFIX "simwan-"
#define WORK_PREFIX "sim-wan-"

static int fail(char *error, const char *what, const char *name)
{
    snprintf(error, EMU_ERROR_MAX, "%s %s: %s", what, name, strerror(errno));
    return -1;
}

static char *format(const char *form, const char *a, const char *b, const char *c)
{
    char *text = NULL;
    if (asprintf(&text, form, a, b, c) < 0)
        abort();
    return text;
}

char *emu_place_path(const struct emu_place *place, const char *a, const char *b)
{
    return b != NULL ? format("%s/%s/%s", place->work, a, b)
                     : format("%s/%s%s", place->work, a, "");
}

/* ---- removing ---- */
static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st;
    (void)kind;
    (void)ftw;
    (void)remove(path);
    return 0;
}

static void remove_tree(const char *path)
{
    (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static void remove_namespaces(char *const *names, size_t count)
{
    emu_netns_kill(names, count);
    for (size_t i = 0; i < count; i++)
        emu_netns_remove(names[i]);
}

/* Folders that nobody else uses. */
static void remove_empty_folders(void)
{
    (void)rmdir(MARKS);
    (void)rmdir(EMU_NETNS_ETC);
}

/* ---- what others left ---- */
static bool is_of_run(const char *entry, const char *pid)
{
    size_t len = strlen(NETNS_PREFIX), digits = strlen(pid);
    return strncmp(entry, NETNS_PREFIX, len) == 0 && strncmp(entry + len, pid, digits) == 0 &&
           entry[len + digits] == '-';
}

static void remove_listed(const char *folder, const char *pid)
{
    char **names = NULL;
    size_t count = 0, capacity = 0;
    DIR *dir = opendir(folder);
    struct dirent *entry;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (!is_of_run(entry->d_name, pid))
            continue;
        names = sim_reserve(names, count, &capacity, sizeof(char *));
        names[count++] = sim_strdup(entry->d_name);
    }
    if (dir != NULL)
        closedir(dir);
    remove_namespaces(names, count);
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

/* Only a directory with the name that a run of that number gives is removed, whatever the mark
 * says. */
static bool is_work_of(const char *path, const char *pid)
{
    const char *last = strrchr(path, '/');
    size_t len = strlen(WORK_PREFIX), digits = strlen(pid);
    return path[0] == '/' && strncmp(last + 1, WORK_PREFIX, len) == 0 &&
           strncmp(last + 1 + len, pid, digits) == 0 && last[1 + len + digits] == '-';
}

/* Whether the run is dead; what it left is then gone. */
static bool clean_run(const char *pid)
{
    char *mark = format("%s/%s%s", MARKS, pid, "");
    char work[4096];
    int lock = open(mark, O_RDONLY | O_CLOEXEC);
    bool dead = lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0;
    if (dead) {
        ssize_t len = read(lock, work, sizeof(work) - 1);
        work[len > 0 ? len : 0] = '\0';
        remove_listed(EMU_NETNS_DIR, pid);
        remove_listed(EMU_NETNS_ETC, pid);
        if (is_work_of(work, pid))
            remove_tree(work);
        (void)unlink(mark);
    }
    if (lock >= 0)
        close(lock);
    free(mark);
    return dead;
}

/* ---- opening ---- */
static int open_mark(struct emu_place *place, char *error)
{
    char pid[24];
    snprintf(pid, sizeof(pid), "%ld", (long)getpid());
    place->mark = format("%s/%s%s", MARKS, pid, "");
    (void)clean_run(pid); /* the number was somebody else's before */
    if (mkdir(MARKS, 0755) != 0 && errno != EEXIST)
        return fail(error, "cannot make", MARKS);
    place->lock = open(place->mark, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (place->lock < 0)
        return fail(error, "cannot make", place->mark);
    if (flock(place->lock, LOCK_EX | LOCK_NB) != 0)
        return fail(error, "cannot lock", place->mark);
    return 0;
}

static bool is_empty(const char *path)
{
    DIR *folder = opendir(path);
    int entries = 0;
    while (folder != NULL && readdir(folder) != NULL)
        entries++;
    if (folder != NULL)
        closedir(folder);
    return entries <= 2;
}

static int make_given(struct emu_place *place, const char *work, char *error)
{
    if (mkdir(work, 0755) != 0 && errno != EEXIST)
        return fail(error, "cannot make", work);
    place->work = realpath(work, NULL);
    if (place->work == NULL)
        return fail(error, "cannot use", work);
    place->stays = true;
    if (is_empty(place->work))
        return 0;
    snprintf(error, EMU_ERROR_MAX, "%s is not empty; name a new directory", work);
    return -1;
}

static int make_temporary(struct emu_place *place, char *error)
{
    const char *top = getenv("TMPDIR");
    char *resolved = realpath(top != NULL && top[0] != '\0' ? top : "/tmp", NULL);
    char pid[24];
    if (resolved == NULL)
        return fail(error, "cannot use", top != NULL ? top : "/tmp");
    snprintf(pid, sizeof(pid), "%ld", (long)getpid());
    place->work = format("%s/" WORK_PREFIX "%s-XXXXXX%s", resolved, pid, "");
    free(resolved);
    if (mkdtemp(place->work) != NULL)
        return 0;
    fail(error, "cannot make", place->work);
    free(place->work);
    place->work = NULL;
    return -1;
}

int emu_place_open(struct emu_place *place, const struct emu_hosts *hosts, const char *work,
                   char *error)
{
    *place = (struct emu_place){.lock = -1};
    if (open_mark(place, error) != 0)
        return -1;
    if ((work != NULL ? make_given(place, work, error) : make_temporary(place, error)) != 0)
        return -1;
    /* A directory that stays is nothing that has to be removed. */
    if (!place->stays && write(place->lock, place->work, strlen(place->work)) < 0)
        return fail(error, "cannot write", place->mark);
    place->netns = sim_calloc(hosts->count, sizeof(char *));
    place->count = hosts->count;
    for (size_t i = 0; i < hosts->count; i++) {
        const struct emu_host *host = &hosts->list[i];
        char pid[24];
        snprintf(pid, sizeof(pid), "%ld", (long)getpid());
        place->netns[i] =
            format("%s%s-%s", NETNS_PREFIX, pid, host->alias[0] != '\0' ? host->alias : host->name);
    }
    return 0;
}

void emu_place_close(struct emu_place *place)
{
    remove_namespaces(place->netns, place->count);
    if (place->work != NULL && !place->stays)
        remove_tree(place->work);
    if (place->lock >= 0) {
        (void)unlink(place->mark);
        close(place->lock);
    }
    remove_empty_folders();
    for (size_t i = 0; i < place->count; i++)
        free(place->netns[i]);
    free(place->netns);
    free(place->work);
    free(place->mark);
    *place = (struct emu_place){.lock = -1};
}

/* ---- hosts files ---- */

/* Programs look up the machine's own name; it is not one of the hosts'. */
static void print_machine(FILE *out)
{
    char name[256] = "";
    if (gethostname(name, sizeof(name) - 1) == 0 && name[0] != '\0')
        fprintf(out, "127.0.1.1 %s\n", name);
}

static int write_file(const char *path, const struct emu_hosts *hosts, char *error)
{
    struct sim_out_file out;
    if (!sim_out_open(&out, path))
        return fail(error, "cannot write", path);
    emu_hosts_print(hosts, out.file);
    print_machine(out.file);
    if (!sim_out_close(&out, true))
        return fail(error, "cannot write", path);
    return 0;
}

/* One file with many names: all hosts know the same. */
int emu_place_write_hosts(const struct emu_place *place, const struct emu_hosts *hosts, char *error)
{
    char *first = NULL;
    int status = 0;
    if (mkdir(EMU_NETNS_ETC, 0755) != 0 && errno != EEXIST)
        return fail(error, "cannot make", EMU_NETNS_ETC);
    for (size_t i = 0; i < place->count && status == 0; i++) {
        char *folder = format("%s/%s%s", EMU_NETNS_ETC, place->netns[i], "");
        char *path = format("%s/%s%s", folder, "hosts", "");
        if (mkdir(folder, 0755) != 0)
            status = fail(error, "cannot make", folder);
        else if (first == NULL)
            status = write_file(path, hosts, error);
        else if (link(first, path) != 0)
            status = fail(error, "cannot make", path);
        if (first == NULL)
            first = path;
        else
            free(path);
        free(folder);
    }
    free(first);
    return status;
}

/* ---- --clean ---- */
int emu_place_clean(char *error)
{
    DIR *marks = opendir(MARKS);
    int count = 0;
    struct dirent *entry;
    if (marks == NULL)
        return errno == ENOENT ? 0 : fail(error, "cannot read", MARKS);
    while ((entry = readdir(marks)) != NULL)
        if (entry->d_name[0] != '.' && clean_run(entry->d_name))
            count++;
    closedir(marks);
    remove_empty_folders();
    return count;
}
