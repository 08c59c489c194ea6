/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of a received object: everything durable, times and modes set, renamed to its final
 * names, which must not exist. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gatewayd/store_int.h"

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1u
#endif

static bool is_top(const struct gmc_entry *entry)
{
    return strchr(entry->path, '/') == NULL;
}

/* A directory without write permission cannot be moved (its ".." changes) by other users than
 * root: such a top directory gets its mode after the rename. */
static bool mode_is_late(const struct gmc_entry *entry)
{
    return entry->type == GMC_ENTRY_DIRECTORY && is_top(entry) && (entry->mode & 0200u) == 0;
}

void gwd_entry_times(const struct gmc_entry *entry, struct timespec times[2])
{
    int64_t seconds = entry->mtime_ns / 1000000000, rest = entry->mtime_ns % 1000000000;
    if (rest < 0) {
        rest += 1000000000;
        seconds--;
    }
    times[0] = (struct timespec){.tv_nsec = UTIME_OMIT};
    times[1] = (struct timespec){.tv_sec = (time_t)seconds, .tv_nsec = (long)rest};
}

/* Somebody else may have removed it from the unfinished tree or cut it: written again it would lack
 * what it had before. */
static gmc_status check_size(struct gwd_chan *chan, struct gwd_job *job,
                             const struct gmc_entry *entry)
{
    struct stat st;
    if (fstatat(chan->tree_fd, entry->path, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return gwd_job_errno(job, entry->path);
    if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size != entry->size)
        return gwd_job_fail(job, GMC_ERR_IO, "%s has not the length that was written", entry->path);
    return GMC_OK;
}

static gmc_status set_entry(struct gwd_chan *chan, struct gwd_job *job, size_t i)
{
    const struct gmc_entry *entry = gmc_listing_entry(chan->listing, i);
    struct timespec times[2];
    gmc_status status = GMC_OK;
    bool ok = true;
    if (entry->type == GMC_ENTRY_FILE && !chan->timed[i])
        status = check_size(chan, job, entry);
    if (status != GMC_OK)
        return status;
    if (!chan->timed[i]) {
        gwd_entry_times(entry, times);
        ok = utimensat(chan->tree_fd, entry->path, times, AT_SYMLINK_NOFOLLOW) == 0;
    }
    if (ok && entry->type != GMC_ENTRY_SYMLINK && entry->mode != gwd_entry_made_mode(entry) &&
        !mode_is_late(entry))
        ok = fchmodat(chan->tree_fd, entry->path, entry->mode, 0) == 0;
    return ok ? GMC_OK : gwd_job_errno(job, entry->path);
}

/* Files first, then directories from the deepest (the last listed) up: what is done to a member
 * changes its directory's time, and a final mode may lock the directory. */
static gmc_status set_metadata(struct gwd_chan *chan, struct gwd_job *job)
{
    size_t count = gmc_listing_count(chan->listing);
    gmc_status status = GMC_OK;
    for (size_t i = 0; i < count && status == GMC_OK; i++) {
        if (gmc_listing_entry(chan->listing, i)->type != GMC_ENTRY_DIRECTORY)
            status = set_entry(chan, job, i);
    }
    for (size_t i = count; i-- > 0 && status == GMC_OK;) {
        if (gmc_listing_entry(chan->listing, i)->type == GMC_ENTRY_DIRECTORY)
            status = set_entry(chan, job, i);
    }
    return status;
}

static bool sync_entry(struct gwd_chan *chan, const struct gmc_entry *entry)
{
    int fd = gwd_open_beneath(chan->tree_fd, entry->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    bool ok;
    if (fd < 0 && errno == EACCES)
        return syncfs(chan->tree_fd) == 0; /* its final mode does not let us read it */
    ok = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0)
        (void)close(fd);
    return ok;
}

static gmc_status make_durable(struct gwd_chan *chan, struct gwd_job *job)
{
    size_t count = gmc_listing_count(chan->listing);
    bool ok = true;
    if (count > GWD_DIRTY_MAX)
        return syncfs(chan->tree_fd) == 0 ? GMC_OK : gwd_job_errno(job, chan->granted);
    for (size_t i = 0; i < count && ok; i++) {
        const struct gmc_entry *entry = gmc_listing_entry(chan->listing, i);
        if (entry->type != GMC_ENTRY_SYMLINK)
            ok = sync_entry(chan, entry);
    }
    return ok && fsync(chan->tree_fd) == 0 ? GMC_OK : gwd_job_errno(job, chan->granted);
}

/* Never replaces: where the file system lacks the flag, the window between looking and renaming
 * stays, and only for others who write into the granted directory. */
static int rename_new(int from_fd, const char *from, int to_fd, const char *to)
{
    struct stat st;
    if (syscall(SYS_renameat2, from_fd, from, to_fd, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    if (fstatat(to_fd, to, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        errno = EEXIST;
        return -1;
    }
    return renameat(from_fd, from, to_fd, to);
}

/* Sets *moved when this call did it. */
static gmc_status rename_top(struct gwd_chan *chan, struct gwd_job *job,
                             const struct gmc_entry *entry, bool *moved)
{
    char name[GMC_PATH_BYTES_MAX], full[2 * GMC_PATH_BYTES_MAX];
    struct stat st;
    gwd_target_final_path(chan, entry->path, name, sizeof name);
    gwd_target_full_path(chan, name, full, sizeof full);
    if (rename_new(chan->tree_fd, entry->path, chan->dest_fd, name) != 0) {
        /* Repeated after a crash: it may be done already. */
        bool done = errno == ENOENT && fstatat(chan->dest_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
        if (!done && errno == EEXIST)
            return gwd_job_fail(job, GMC_ERR_EXISTS,
                                "%s exists already; choose another name or move it away", full);
        if (!done)
            return gwd_job_errno(job, full);
    } else {
        *moved = true;
    }
    if (mode_is_late(entry) && fchmodat(chan->dest_fd, name, entry->mode, 0) != 0)
        return gwd_job_errno(job, full);
    return GMC_OK;
}

static void take_back(struct gwd_chan *chan, const struct gmc_entry *entry)
{
    char name[GMC_PATH_BYTES_MAX];
    gwd_target_final_path(chan, entry->path, name, sizeof name);
    if (mode_is_late(entry))
        (void)fchmodat(chan->dest_fd, name, gwd_entry_made_mode(entry), 0);
    (void)rename_new(chan->dest_fd, name, chan->tree_fd, entry->path);
}

/* All of them or none: what stood in its place while the transfer counts as failed would be in the
 * way of the next attempt. */
static gmc_status rename_tops(struct gwd_chan *chan, struct gwd_job *job)
{
    size_t count = gmc_listing_count(chan->listing), i;
    gmc_status status = GMC_OK;
    bool *moved = calloc(count + 1, sizeof *moved);
    if (moved == NULL)
        return gwd_job_fail(job, GMC_ERR_NOMEM, "out of memory");
    for (i = 0; i < count && status == GMC_OK; i++) {
        const struct gmc_entry *entry = gmc_listing_entry(chan->listing, i);
        if (is_top(entry))
            status = rename_top(chan, job, entry, &moved[i]);
    }
    while (status != GMC_OK && i-- > 0) {
        if (moved[i])
            take_back(chan, gmc_listing_entry(chan->listing, i));
    }
    free((void *)moved);
    return status;
}

/* With chan->place held for writing: nobody opens files meanwhile. */
static gmc_status rename_all(struct gwd_chan *chan, struct gwd_job *job)
{
    gmc_status status = rename_tops(chan, job);
    char part[64];
    if (status != GMC_OK)
        return status;
    gwd_target_part_name(chan, part, sizeof part);
    (void)unlinkat(chan->dest_fd, part, AT_REMOVEDIR);
    if (fsync(chan->dest_fd) != 0)
        return gwd_job_errno(job, chan->granted);
    (void)close(chan->tree_fd);
    chan->tree_fd = -1;
    chan->finished = true;
    return gwd_target_note(chan) ? GMC_OK : gwd_job_errno(job, "state folder");
}

gmc_status gwd_op_finish(struct gwd_store *store, struct gwd_chan *chan, struct gwd_job *job)
{
    gmc_status status = GMC_OK;
    if (chan->finished)
        return GMC_OK;
    if (chan->listing == NULL || chan->tree_fd < 0)
        return gwd_job_fail(job, GMC_ERR_STATE, "there is nothing to finish");
    if (!chan->finishing) {
        status = set_metadata(chan, job);
        if (status == GMC_OK)
            status = make_durable(chan, job);
        if (status != GMC_OK)
            return status;
        chan->finishing = true;
        if (!gwd_target_note(chan))
            return gwd_job_errno(job, "state folder");
    }
    (void)pthread_rwlock_wrlock(&chan->place);
    status = rename_all(chan, job);
    (void)pthread_rwlock_unlock(&chan->place);
    if (status == GMC_OK)
        gwd_store_unclaim(store, chan);
    return status;
}
