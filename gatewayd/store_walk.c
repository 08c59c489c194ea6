/* SPDX-License-Identifier: BSD-2-Clause */
/* Walking a tree that is staged. What a walk costs is asking about each file; so further threads
 * read directories ahead of the one that lists them, which is in order whatever they do. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/list.h"
#include "gatewayd/store_int.h"

#define EXTENTS_MAX 65536 /* of one file; a file in more pieces is sent with its last holes */
#define DEPTH_MAX 500
#define THREADS_MAX 16u
#define AHEAD_MAX 65536u /* entries that are read ahead, which is memory */
#define SHARED_MIN 4u    /* directories that are worth a thread */

struct folder;

/* What stands in a directory under one name. */
struct found {
    const char *name;
    struct gwd_ident ident;
    mode_t mode;
    size_t extent_count;        /* FILE */
    struct gmc_extent *extents; /* FILE; NULL: one, all of it */
    char *target;               /* SYMLINK */
    struct folder *folder;      /* DIRECTORY */
};

enum folder_state { WAITING, IN_WORK, READ };

/* A directory, from when its name was found until all beneath it is listed. */
struct folder {
    struct gmc_list link; /* WAITING: in walk.waiting */
    enum folder_state state;
    int depth;
    char *path;  /* as listed */
    char *names; /* of found, one behind the other */
    struct found *found;
    size_t count;
    gmc_status status; /* why not all was read, behind the last one of found */
    char *reason;
};

struct walk {
    const struct gwd_root *root;
    struct gwd_job *job;
    gwd_walk_visit visit;
    void *ctx;
    size_t threads; /* beside the one that lists */
    size_t started; /* of these */
    pthread_t ids[THREADS_MAX];
    char path[GMC_PATH_BYTES_MAX]; /* of the current entry, as listed */

    sem_t work; /* for the threads; see workers.c why not a condition variable */
    sem_t read; /* for the one that lists: wanted was read */

    pthread_mutex_t lock;    /* all below, and the states of folders */
    struct gmc_list waiting; /* folders that nobody reads yet, about in the order of listing */
    size_t waiting_count;
    size_t ahead;    /* entries read and not come to yet */
    size_t sleeping; /* threads in wait for work */
    bool over;
    const struct folder *wanted; /* by the one that lists, which sleeps */
};

/* What one thread needs to read a folder. */
struct reader {
    const struct gwd_root *root;
    struct gwd_job failed;         /* takes the reason */
    char path[GMC_PATH_BYTES_MAX]; /* of the entry in work, as listed */
    struct gmc_extent *extents;
    size_t extent_room;
};

/* ---- extents ---- */
static bool add_extent(struct reader *reader, size_t *count, uint64_t begin, uint64_t end)
{
    if (*count == reader->extent_room) {
        size_t room = reader->extent_room == 0 ? 64 : reader->extent_room * 2;
        struct gmc_extent *grown = realloc(reader->extents, room * sizeof *grown);
        if (grown == NULL)
            return false;
        reader->extents = grown;
        reader->extent_room = room;
    }
    reader->extents[(*count)++] = (struct gmc_extent){begin, end - begin};
    return true;
}

/* The data parts of a sparse file. File systems without SEEK_DATA report one part. */
static bool find_extents(struct reader *reader, int fd, uint64_t size, size_t *count)
{
    uint64_t at = 0;
    *count = 0;
    while (at < size) {
        off_t data = lseek(fd, (off_t)at, SEEK_DATA);
        off_t hole;
        if (data < 0 && errno == ENXIO)
            return true;
        if (data < 0 || *count == EXTENTS_MAX - 1)
            return add_extent(reader, count, at, size);
        hole = lseek(fd, data, SEEK_HOLE);
        if (hole < 0 || (uint64_t)hole > size)
            hole = (off_t)size;
        if ((uint64_t)data >= size || hole <= data)
            return true;
        if (!add_extent(reader, count, (uint64_t)data, (uint64_t)hole))
            return false;
        at = (uint64_t)hole;
    }
    return true;
}

/* ---- entries ---- */
static gmc_status no_memory(struct reader *reader)
{
    return gwd_job_fail(&reader->failed, GMC_ERR_NOMEM, "out of memory");
}

static bool keep_extents(struct reader *reader, struct found *found, int fd)
{
    size_t count;
    if (!find_extents(reader, fd, found->ident.size, &count))
        return false;
    found->extent_count = count;
    if (count == 1 && reader->extents[0].len == found->ident.size)
        return true;
    found->extents = malloc(count * sizeof *found->extents + 1);
    if (found->extents != NULL && count > 0)
        memcpy(found->extents, reader->extents, count * sizeof *found->extents);
    return found->extents != NULL;
}

static gmc_status look_at_file(struct reader *reader, int dirfd, const char *name,
                               const struct stat *st, struct found *found)
{
    bool ok;
    int fd;
    found->extent_count = st->st_size > 0;
    /* What all may read need not be asked about. */
    if ((st->st_mode & 0444) != 0444 && faccessat(dirfd, name, R_OK, AT_EACCESS) != 0)
        return gwd_job_errno(&reader->failed, reader->path);
    /* Fewer blocks than bytes: there may be holes (or the file system compresses). */
    if ((uint64_t)st->st_blocks * 512u >= (uint64_t)st->st_size)
        return GMC_OK;
    fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return gwd_job_errno(&reader->failed, reader->path);
    ok = keep_extents(reader, found, fd);
    (void)close(fd);
    return ok ? GMC_OK : no_memory(reader);
}

static gmc_status look_at_link(struct reader *reader, int dirfd, const char *name,
                               struct found *found)
{
    char target[GMC_PATH_BYTES_MAX];
    ssize_t len = readlinkat(dirfd, name, target, sizeof target - 1);
    if (len < 0)
        return gwd_job_errno(&reader->failed, reader->path);
    found->target = strndup(target, (size_t)len);
    return found->target != NULL ? GMC_OK : no_memory(reader);
}

static gmc_status look_at_directory(struct reader *reader, int depth, struct found *found)
{
    struct folder *folder = calloc(1, sizeof *folder);
    if (folder == NULL)
        return no_memory(reader);
    gmc_list_init(&folder->link);
    folder->depth = depth;
    folder->path = strdup(reader->path);
    found->folder = folder;
    return folder->path != NULL ? GMC_OK : no_memory(reader);
}

/* reader->path is that of the entry. */
static gmc_status look(struct reader *reader, int dirfd, const char *name, int depth,
                       struct found *found)
{
    struct stat st;
    if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return gwd_job_errno(&reader->failed, reader->path);
    found->ident = gwd_ident_of(&st);
    found->mode = st.st_mode;
    switch (st.st_mode & S_IFMT) {
    case S_IFREG:
        return look_at_file(reader, dirfd, name, &st, found);
    case S_IFDIR:
        return look_at_directory(reader, depth, found);
    case S_IFLNK:
        return look_at_link(reader, dirfd, name, found);
    default:
        return gwd_job_fail(&reader->failed, GMC_ERR_INVALID,
                            "%s is neither file, directory nor symbolic link; leave it out",
                            reader->path);
    }
}

static void folder_free(struct folder *folder);

static void found_fini(struct found *found)
{
    free(found->extents);
    free(found->target);
    folder_free(found->folder);
}

static void folder_free(struct folder *folder)
{
    if (folder == NULL)
        return;
    for (size_t i = 0; i < folder->count; i++)
        found_fini(&folder->found[i]);
    free(folder->found);
    free(folder->names);
    free(folder->path);
    free(folder->reason);
    free(folder);
}

/* ---- directories, in the order of their names ---- */
static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct found *)a)->name, ((const struct found *)b)->name);
}

/* All names, one behind the other. */
static char *read_names(DIR *dir, size_t *count)
{
    struct dirent *entry;
    size_t used = 0, room = 512;
    char *names = malloc(room);
    *count = 0;
    if (names == NULL)
        return NULL;
    while ((entry = readdir(dir)) != NULL) {
        const char *name = entry->d_name;
        size_t len = strlen(name) + 1;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || gwd_is_part_name(name))
            continue;
        if (room - used < len) {
            char *grown = realloc(names, room *= 2); /* a name has 255 bytes at most */
            if (grown == NULL) {
                free(names);
                return NULL;
            }
            names = grown;
        }
        memcpy(names + used, name, len);
        used += len;
        ++*count;
    }
    return names;
}

/* Makes folder->found of the names that stand in dir; returns their number. */
static size_t sort_names(struct folder *folder, DIR *dir)
{
    size_t count;
    const char *name = folder->names = read_names(dir, &count);
    folder->found = calloc(count + 1, sizeof *folder->found);
    if (name == NULL || folder->found == NULL)
        return SIZE_MAX;
    for (size_t i = 0; i < count; i++, name += strlen(name) + 1)
        folder->found[i].name = name;
    if (count > 1)
        qsort(folder->found, count, sizeof *folder->found, by_name);
    return count;
}

static gmc_status read_entries(struct reader *reader, struct folder *folder, DIR *dir)
{
    size_t path_len = strlen(folder->path), count;
    gmc_status status = GMC_OK;
    if (folder->depth > DEPTH_MAX)
        return gwd_job_fail(&reader->failed, GMC_ERR_LIMIT, "more than %d directories deep: %s",
                            DEPTH_MAX, folder->path);
    count = sort_names(folder, dir);
    if (count == SIZE_MAX)
        return no_memory(reader);
    memcpy(reader->path, folder->path, path_len);
    for (size_t i = 0; i < count && status == GMC_OK; i++) {
        struct found *found = &folder->found[i];
        size_t len = strlen(found->name);
        if (path_len + 1 + len >= sizeof reader->path)
            return gwd_job_fail(&reader->failed, GMC_ERR_LIMIT, "the path is too long: %s/%s",
                                folder->path, found->name);
        reader->path[path_len] = '/';
        memcpy(reader->path + path_len + 1, found->name, len + 1);
        status = look(reader, dirfd(dir), found->name, folder->depth + 1, found);
        if (status == GMC_OK)
            folder->count++;
        else
            found_fini(found);
    }
    return status;
}

/* Opened by its path: a descriptor of each directory on the way would be too many. */
static gmc_status read_directory(struct reader *reader, struct folder *folder)
{
    const char *beneath = folder->path + strlen(reader->root->name);
    int fd = gwd_open_beneath(reader->root->fd, *beneath == '/' ? beneath + 1 : beneath,
                              O_RDONLY | O_DIRECTORY, 0);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    gmc_status status;
    if (dir == NULL) {
        status = gwd_job_errno(&reader->failed, folder->path);
        if (fd >= 0)
            (void)close(fd);
        return status;
    }
    status = read_entries(reader, folder, dir);
    (void)closedir(dir);
    return status;
}

static void read_folder(struct reader *reader, struct folder *folder)
{
    folder->status = read_directory(reader, folder);
    if (folder->status != GMC_OK)
        folder->reason = strdup(reader->failed.reason);
}

static void reader_init(struct reader *reader, const struct gwd_root *root)
{
    reader->root = root;
    reader->failed.result = (struct gmc_store_result){.status = GMC_OK};
    reader->extents = NULL;
    reader->extent_room = 0;
}

/* ---- threads; all with the lock held ---- */
static void sleep_on(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0 && errno == EINTR)
        ;
}

static void wake(struct walk *walk, size_t count)
{
    for (; count > 0 && walk->sleeping > 0; count--) {
        walk->sleeping--;
        (void)sem_post(&walk->work);
    }
}

static struct folder *take(struct walk *walk, struct gmc_list *link)
{
    struct folder *folder = GMC_CONTAINER_OF(link, struct folder, link);
    gmc_list_remove(link);
    walk->waiting_count--;
    folder->state = IN_WORK;
    return folder;
}

/* The next one to be read ahead; NULL: there is none, or enough was read. */
static struct folder *take_next(struct walk *walk)
{
    struct gmc_list *link = gmc_list_first(&walk->waiting);
    return link != NULL && walk->ahead < AHEAD_MAX ? take(walk, link) : NULL;
}

static void *read_ahead(void *ctx);

static void start_threads(struct walk *walk)
{
    while (walk->started < walk->threads && walk->started + SHARED_MIN <= walk->waiting_count) {
        if (pthread_create(&walk->ids[walk->started], NULL, read_ahead, walk) == 0)
            walk->started++;
        else
            walk->threads = walk->started;
    }
}

/* Directories beneath a folder are listed before what waits already. */
static void queue_folders(struct walk *walk, struct folder *folder)
{
    size_t before = walk->waiting_count;
    for (size_t i = folder->count; i-- > 0;) {
        if (folder->found[i].folder != NULL) {
            gmc_list_push_front(&walk->waiting, &folder->found[i].folder->link);
            walk->waiting_count++;
        }
    }
    wake(walk, walk->waiting_count - before);
}

/* Reads a folder that was taken; the lock is let go meanwhile. */
static void work_on(struct walk *walk, struct reader *reader, struct folder *folder)
{
    (void)pthread_mutex_unlock(&walk->lock);
    read_folder(reader, folder);
    (void)pthread_mutex_lock(&walk->lock);
    folder->state = READ;
    walk->ahead += folder->count;
    queue_folders(walk, folder);
    if (walk->wanted == folder) {
        walk->wanted = NULL;
        (void)sem_post(&walk->read);
    }
}

static void *read_ahead(void *ctx)
{
    struct walk *walk = ctx;
    struct reader reader;
    reader_init(&reader, walk->root);
    (void)pthread_mutex_lock(&walk->lock);
    while (!walk->over) {
        struct folder *folder = take_next(walk);
        if (folder != NULL) {
            work_on(walk, &reader, folder);
            continue;
        }
        walk->sleeping++;
        (void)pthread_mutex_unlock(&walk->lock);
        sleep_on(&walk->work);
        (void)pthread_mutex_lock(&walk->lock);
    }
    (void)pthread_mutex_unlock(&walk->lock);
    free(reader.extents);
    return NULL;
}

/* Reads the folder, or others while another thread does. */
static void come_to(struct walk *walk, struct reader *reader, struct folder *folder)
{
    (void)pthread_mutex_lock(&walk->lock);
    while (folder->state != READ) {
        struct folder *next =
            folder->state == WAITING ? take(walk, &folder->link) : take_next(walk);
        if (next != NULL) {
            work_on(walk, reader, next);
            continue;
        }
        walk->wanted = folder;
        (void)pthread_mutex_unlock(&walk->lock);
        sleep_on(&walk->read);
        (void)pthread_mutex_lock(&walk->lock);
    }
    walk->ahead -= folder->count;
    if (walk->ahead < AHEAD_MAX)
        wake(walk, walk->waiting_count);
    start_threads(walk);
    (void)pthread_mutex_unlock(&walk->lock);
}

static void end_threads(struct walk *walk)
{
    (void)pthread_mutex_lock(&walk->lock);
    walk->over = true;
    wake(walk, walk->sleeping);
    (void)pthread_mutex_unlock(&walk->lock);
    for (size_t i = 0; i < walk->started; i++)
        (void)pthread_join(walk->ids[i], NULL);
}

/* ---- listing ---- */
static gmc_status visit_found(struct walk *walk, const struct found *found)
{
    struct gmc_extent whole = {0, found->ident.size};
    struct gmc_entry entry = {.path = walk->path,
                              .mode = (uint32_t)found->mode & 0777u,
                              .mtime_ns = found->ident.mtime_ns};
    if (S_ISREG(found->mode)) {
        entry.type = GMC_ENTRY_FILE;
        entry.size = found->ident.size;
        entry.extent_count = found->extent_count;
        entry.extents = found->extents != NULL ? found->extents : &whole;
    } else if (S_ISLNK(found->mode)) {
        entry.type = GMC_ENTRY_SYMLINK;
        entry.target = found->target;
    } else {
        entry.type = GMC_ENTRY_DIRECTORY;
    }
    return walk->visit(walk->ctx, &entry, &found->ident);
}

/* walk->path is that of found. */
static gmc_status list(struct walk *walk, struct reader *reader, struct found *found)
{
    size_t path_len = strlen(walk->path);
    struct folder *folder = found->folder;
    gmc_status status = visit_found(walk, found);
    if (folder == NULL || status != GMC_OK)
        return status;
    come_to(walk, reader, folder);
    for (size_t i = 0; i < folder->count && status == GMC_OK; i++) {
        const char *name = folder->found[i].name;
        /* Its length was looked at when it was read. */
        walk->path[path_len] = '/';
        memcpy(walk->path + path_len + 1, name, strlen(name) + 1);
        status = list(walk, reader, &folder->found[i]);
        walk->path[path_len] = '\0';
    }
    if (status == GMC_OK && folder->status != GMC_OK)
        status = gwd_job_fail(walk->job, folder->status, "%s",
                              folder->reason != NULL ? folder->reason : "out of memory");
    if (status == GMC_OK) { /* else others may still read beneath it */
        folder_free(folder);
        found->folder = NULL;
    }
    return status;
}

static gmc_status list_root(struct walk *walk, struct reader *reader)
{
    struct found found = {0};
    size_t len = strlen(walk->root->name) + 1;
    gmc_status status;
    memcpy(walk->path, walk->root->name, len);
    memcpy(reader->path, walk->root->name, len);
    status = look(reader, AT_FDCWD, walk->root->path, 0, &found);
    if (status == GMC_OK && found.folder != NULL) {
        (void)pthread_mutex_lock(&walk->lock);
        gmc_list_push_front(&walk->waiting, &found.folder->link);
        walk->waiting_count++;
        (void)pthread_mutex_unlock(&walk->lock);
    }
    if (status == GMC_OK)
        status = list(walk, reader, &found);
    else
        status = gwd_job_fail(walk->job, status, "%s", reader->failed.reason);
    end_threads(walk);
    found_fini(&found);
    return status;
}

gmc_status gwd_walk(const struct gwd_root *root, size_t threads, struct gwd_job *job,
                    gwd_walk_visit visit, void *ctx)
{
    struct reader reader;
    struct walk *walk;
    gmc_status status;
    if (strlen(root->name) >= sizeof walk->path)
        return gwd_job_fail(job, GMC_ERR_LIMIT, "%s: the name is too long", root->path);
    walk = calloc(1, sizeof *walk);
    if (walk == NULL)
        return gwd_job_fail(job, GMC_ERR_NOMEM, "out of memory");
    walk->root = root;
    walk->threads = threads - 1 < THREADS_MAX ? threads - 1 : THREADS_MAX;
    walk->job = job;
    walk->visit = visit;
    walk->ctx = ctx;
    gmc_list_init(&walk->waiting);
    (void)pthread_mutex_init(&walk->lock, NULL);
    (void)sem_init(&walk->work, 0, 0);
    (void)sem_init(&walk->read, 0, 0);
    reader_init(&reader, root);
    status = list_root(walk, &reader);
    free(reader.extents);
    (void)sem_destroy(&walk->read);
    (void)sem_destroy(&walk->work);
    (void)pthread_mutex_destroy(&walk->lock);
    free(walk);
    return status;
}
