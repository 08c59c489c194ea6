/* SPDX-License-Identifier: BSD-2-Clause */
/* The state folder of a channel: hash pages in fixed slots, small files that the core saved, and
 * its end. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/manifest.h"
#include "gatewayd/store_int.h"

/* A slot is a mark and the page; holes read as zeros, so an unwritten slot has no mark. */
#define SLOT_MARK 0x676d6370u
#define SLOT_BYTES (GMC_PAGE_WIRE_BYTES + 8u)

/* ---- pages ---- */
static gmc_status check_page(struct gwd_chan *chan, struct gwd_job *job)
{
    if (chan->pages_fd < 0)
        return gwd_job_fail(job, GMC_ERR_STATE, "the channel is not open");
    if (job->op.len > GMC_PAGE_WIRE_BYTES || job->op.offset > UINT32_MAX)
        return gwd_job_fail(job, GMC_ERR_INVALID, "no such page");
    return GMC_OK;
}

gmc_status gwd_op_read_page(struct gwd_chan *chan, struct gwd_job *job)
{
    uint8_t slot[SLOT_BYTES] = {0};
    gmc_status status = check_page(chan, job);
    ssize_t n;
    if (status != GMC_OK)
        return status;
    n = gwd_read_all(chan->pages_fd, slot, job->op.len + 8, job->op.offset * SLOT_BYTES);
    if (n < 0)
        return gwd_job_errno(job, "state folder");
    if ((size_t)n < job->op.len + 8 || gmc_get32(slot) != SLOT_MARK ||
        gmc_get32(slot + 4) != job->op.len)
        return gwd_job_fail(job, GMC_ERR_NOT_FOUND, "the page was never written");
    memcpy(job->op.data, slot + 8, job->op.len);
    return GMC_OK;
}

gmc_status gwd_op_write_page(struct gwd_chan *chan, struct gwd_job *job)
{
    uint8_t slot[SLOT_BYTES];
    gmc_status status = check_page(chan, job);
    if (status != GMC_OK)
        return status;
    gmc_put32(slot, SLOT_MARK);
    gmc_put32(slot + 4, (uint32_t)job->op.len);
    memcpy(slot + 8, job->op.data, job->op.len);
    if (!gwd_write_all(chan->pages_fd, slot, job->op.len + 8, job->op.offset * SLOT_BYTES))
        return gwd_job_errno(job, "state folder");
    (void)pthread_mutex_lock(&chan->lock);
    chan->meta_dirty = true;
    (void)pthread_mutex_unlock(&chan->lock);
    return GMC_OK;
}

/* ---- saved states ---- */
static bool name_ok(const char *name)
{
    return name != NULL && name[0] != '\0' && strlen(name) < 64 &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz") == strlen(name);
}

gmc_status gwd_op_save(struct gwd_chan *chan, struct gwd_job *job)
{
    struct timespec modified = {.tv_nsec = UTIME_NOW};
    char name[80];
    if (!name_ok(job->op.name))
        return gwd_job_fail(job, GMC_ERR_INVALID, "not a name for a state file");
    (void)snprintf(name, sizeof name, GWD_SAVED_PREFIX "%s", job->op.name);
    if (strcmp(job->op.name, GMC_SAVED_HAVE) == 0)
        modified = gwd_target_checkpoint_time(chan);
    if (!gwd_replace_file_dated(chan->state_fd, name, job->op.bytes.data, job->op.bytes.len,
                                modified))
        return gwd_job_errno(job, "state folder");
    return GMC_OK;
}

static bool visit_folder(int fd, const struct gmc_channel_key *key, gwd_saved_visit visit,
                         void *ctx)
{
    int copy = dup(fd);
    DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
    struct dirent *entry;
    bool any = false;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        size_t prefix = strlen(GWD_SAVED_PREFIX), len = 0;
        struct gmc_saved saved = {.key = *key};
        char *data;
        if (strncmp(entry->d_name, GWD_SAVED_PREFIX, prefix) != 0 ||
            !name_ok(entry->d_name + prefix))
            continue;
        data = gwd_read_file(fd, entry->d_name, &len);
        if (data == NULL)
            continue;
        saved.name = entry->d_name + prefix;
        saved.bytes = gmc_bytes(data, len);
        visit(ctx, &saved);
        free(data);
        any = true;
    }
    if (dir != NULL)
        (void)closedir(dir);
    else if (copy >= 0)
        (void)close(copy);
    return any;
}

/* ---- the end of a channel ---- */
/* Where the whole receive directory is gone, what it is on is not mounted: the tree is still there.
 */
static bool remove_part(struct gwd_chan *chan)
{
    char part[64];
    bool ok;
    int dest = chan->dest_fd >= 0 ? dup(chan->dest_fd) : gwd_target_open_dest(chan);
    if (dest < 0)
        return errno == ENOENT && access(chan->granted, F_OK) == 0;
    gwd_target_part_name(chan, part, sizeof part);
    ok = gwd_remove_tree(dest, part);
    (void)close(dest);
    gwd_target_remove_dest(chan);
    return ok;
}

gmc_status gwd_op_close(struct gwd_store *store, struct gwd_chan *chan, struct gwd_job *job)
{
    char name[300], part[64], full[2 * GMC_PATH_BYTES_MAX];
    bool is_target = chan->granted != NULL || gwd_target_load(chan);
    gwd_store_unclaim(store, chan);
    gwd_chan_close_files(chan);
    if (is_target && job->op.discard && chan->laid_out && !chan->finished && !remove_part(chan)) {
        int error = errno;
        gwd_target_part_name(chan, part, sizeof part);
        gwd_target_full_path(chan, part, full, sizeof full);
        (void)gwd_replace_file(chan->state_fd, GWD_DISCARD_FILE, "", 0);
        return gwd_job_fail(job, GMC_ERR_IO,
                            "%s cannot be removed whole: %s; the next start tries again", full,
                            strerror(error));
    }
    gwd_chan_folder(&chan->key, name, sizeof name);
    if (!gwd_remove_tree(gwd_store_channels_fd(store), name))
        return gwd_job_fail(job, GMC_ERR_IO, "the state folder cannot be removed whole");
    return GMC_OK;
}

/* ---- what an earlier run left ---- */
typedef void (*folder_visit)(void *ctx, const char *name, const struct gmc_channel_key *key,
                             int fd);

static void visit_folders(int channels_fd, folder_visit visit, void *ctx)
{
    int copy = dup(channels_fd);
    DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
    struct dirent *entry;
    if (dir != NULL)
        rewinddir(dir); /* the place in it is shared by all copies */
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        struct gmc_channel_key key;
        int fd;
        if (!gwd_chan_folder_parse(entry->d_name, &key))
            continue;
        fd = openat(channels_fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
            continue;
        visit(ctx, entry->d_name, &key, fd);
        (void)close(fd);
    }
    if (dir != NULL)
        (void)closedir(dir);
    else if (copy >= 0)
        (void)close(copy);
}

static bool is_discarded(int fd)
{
    return faccessat(fd, GWD_DISCARD_FILE, F_OK, 0) == 0;
}

/* What a folder notes of a target; NULL when it is none. */
static struct gwd_chan *load_target(const struct gwd_store *store,
                                    const struct gmc_channel_key *key, int fd)
{
    struct gwd_chan *chan = gwd_chan_new(key);
    if (chan == NULL)
        return NULL;
    chan->writer = gwd_store_writer(store);
    chan->state_fd = dup(fd);
    if (chan->state_fd >= 0 && gwd_target_load(chan))
        return chan;
    gwd_chan_free(chan);
    return NULL;
}

struct saved {
    struct gwd_store *store;
    gwd_saved_visit visit;
    void *ctx;
};

/* A folder in which the core saved nothing is left from a crash at the very beginning. It goes when
 * the tree has gone of which it is the only note. */
static void restore_folder(void *ctx, const char *name, const struct gmc_channel_key *key, int fd)
{
    const struct saved *saved = ctx;
    struct gwd_chan *chan;
    bool gone = true;
    if (!is_discarded(fd) && visit_folder(fd, key, saved->visit, saved->ctx))
        return;
    chan = load_target(saved->store, key, fd);
    if (chan != NULL) {
        gone = !chan->laid_out || chan->finished || remove_part(chan);
        gwd_chan_free(chan);
    }
    if (gone)
        (void)gwd_remove_tree(gwd_store_channels_fd(saved->store), name);
}

void gwd_store_saved(struct gwd_store *store, gwd_saved_visit visit, void *ctx)
{
    struct saved saved = {store, visit, ctx};
    visit_folders(gwd_store_channels_fd(store), restore_folder, &saved);
}

struct blocked {
    struct gwd_store *store;
    char *reason;
    size_t size;
    bool any;
};

static void check_folder(void *ctx, const char *name, const struct gmc_channel_key *key, int fd)
{
    struct blocked *blocked = ctx;
    struct gwd_chan *chan;
    if (blocked->any || is_discarded(fd))
        return;
    chan = load_target(blocked->store, key, fd);
    if (chan == NULL)
        return;
    if (access(chan->granted, W_OK | X_OK) != 0) {
        const char *error = strerror(errno);
        char part[64];
        blocked->any = true;
        gwd_target_part_name(chan, part, sizeof part);
        (void)snprintf(blocked->reason, blocked->size,
                       "%s, where a transfer of %s is to go on: %s; make it writable (mount it), "
                       "or give that transfer up: remove channels/%s from the state directory, and "
                       "%s where it was received",
                       chan->granted, key->source, error, name, part);
    }
    gwd_chan_free(chan);
}

bool gwd_store_can_go_on(struct gwd_store *store, char *reason, size_t size)
{
    struct blocked blocked = {store, reason, size, false};
    visit_folders(gwd_store_channels_fd(store), check_folder, &blocked);
    return !blocked.any;
}
