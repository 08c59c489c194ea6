/* SPDX-License-Identifier: BSD-2-Clause */
/* The target's side of the store: permission and room, the temporary tree, verified writes. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "gatewayd/store_int.h"

#define TARGET_MAGIC "gmcast target 2"
#define PART_TRIES 8u

/* ---- what is kept on disk ---- */
bool gwd_target_note(struct gwd_chan *chan)
{
    const char flags[3] = {chan->laid_out ? '1' : '0', chan->finishing ? '1' : '0',
                           chan->finished ? '1' : '0'};
    char data[3 * GMC_PATH_BYTES_MAX], made[24];
    size_t used = 0;
    const char *const texts[] = {TARGET_MAGIC, chan->granted, chan->relative, chan->new_name, made};
    (void)snprintf(made, sizeof made, "%zu", chan->made);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        /* None is NULL where place() went well. NOLINTNEXTLINE(clang-analyzer-core.*) */
        size_t len = strlen(texts[i]) + 1;
        if (used + len + sizeof flags > sizeof data) {
            errno = ENAMETOOLONG;
            return false;
        }
        memcpy(data + used, texts[i], len);
        used += len;
    }
    memcpy(data + used, flags, sizeof flags);
    return gwd_replace_file(chan->state_fd, GWD_TARGET_FILE, data, used + sizeof flags);
}

bool gwd_target_parse(struct gwd_chan *chan, const char *data, size_t len)
{
    size_t used = 0;
    const char *texts[5] = {NULL};
    for (size_t i = 0; i < 5 && used < len; i++) {
        texts[i] = data + used;
        used += strlen(data + used) + 1;
    }
    if (texts[4] == NULL || used + 3 != len || strcmp(texts[0], TARGET_MAGIC) != 0)
        return false;
    chan->granted = strdup(texts[1]);
    chan->relative = strdup(texts[2]);
    chan->new_name = strdup(texts[3]);
    chan->made = strtoul(texts[4], NULL, 10);
    chan->laid_out = data[used] == '1';
    chan->finishing = data[used + 1] == '1';
    chan->finished = data[used + 2] == '1';
    return chan->granted != NULL && chan->relative != NULL && chan->new_name != NULL;
}

bool gwd_target_load(struct gwd_chan *chan)
{
    size_t len = 0;
    char *data = gwd_read_file(chan->state_fd, GWD_TARGET_FILE, &len);
    bool ok = data != NULL && gwd_target_parse(chan, data, len);
    free(data);
    return ok;
}

void gwd_target_fini(struct gwd_chan *chan)
{
    free(chan->granted);
    free(chan->relative);
    free(chan->new_name);
    chan->granted = chan->relative = chan->new_name = NULL;
    if (chan->dest_fd >= 0)
        (void)close(chan->dest_fd);
    if (chan->tree_fd >= 0)
        (void)close(chan->tree_fd);
    chan->dest_fd = chan->tree_fd = -1;
}

void gwd_target_part_name(const struct gwd_chan *chan, char *out, size_t size)
{
    if (chan->writer == 0)
        (void)snprintf(out, size, ".gmcast-%016" PRIx64 ".part", chan->key.e);
    else
        (void)snprintf(out, size, ".gmcast-%016" PRIx64 "-%08x.part", chan->key.e, chan->writer);
}

static int open_granted(const struct gwd_chan *chan)
{
    return open(chan->granted, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void close_quietly(int fd)
{
    int error = errno;
    (void)close(fd);
    errno = error;
}

int gwd_target_open_dest(const struct gwd_chan *chan)
{
    int granted = open_granted(chan), fd = -1;
    if (granted < 0)
        return -1;
    fd = gwd_open_beneath(granted, chan->relative, O_RDONLY | O_DIRECTORY, 0);
    close_quietly(granted);
    return fd;
}

static int make_dest(struct gwd_chan *chan)
{
    size_t made = 0;
    int granted = open_granted(chan), fd = -1;
    if (granted < 0)
        return -1;
    fd = gwd_make_beneath(granted, chan->relative, &made);
    close_quietly(granted);
    /* After a restart they are there already. */
    if (fd >= 0 && made > chan->made)
        chan->made = made;
    return fd;
}

void gwd_target_remove_dest(struct gwd_chan *chan)
{
    char *path = strdup(chan->relative);
    int granted = open_granted(chan);
    while (path != NULL && granted >= 0 && chan->made > 0) {
        char *slash = strrchr(path, '/');
        int above = granted;
        if (slash != NULL) {
            *slash = '\0';
            above = gwd_open_beneath(granted, path, O_RDONLY | O_DIRECTORY, 0);
        }
        /* What somebody has put something into stays, and so do those above it. */
        bool gone =
            above >= 0 && unlinkat(above, slash != NULL ? slash + 1 : path, AT_REMOVEDIR) == 0;
        if (above >= 0 && above != granted)
            (void)close(above);
        chan->made = gone ? chan->made - 1 : 0;
    }
    if (granted >= 0)
        (void)close(granted);
    free(path);
}

void gwd_target_final_path(const struct gwd_chan *chan, const char *path, char *out, size_t size)
{
    const char *rest = strchr(path, '/');
    if (chan->new_name[0] == '\0')
        (void)snprintf(out, size, "%s", path);
    else
        (void)snprintf(out, size, "%s%s", chan->new_name, rest != NULL ? rest : "");
}

void gwd_target_full_path(const struct gwd_chan *chan, const char *path, char *out, size_t size)
{
    (void)snprintf(out, size, "%s%s%s/%s", chan->granted, chan->relative[0] != '\0' ? "/" : "",
                   chan->relative, path);
}

/* ---- OPEN: where to ---- */
/* What is left of dest behind the granted directory; NULL when it lies outside. */
static const char *behind_granted(const struct gwd_policy_grant *grant, const char *dest)
{
    if (dest[0] != '/')
        return dest;
    if (gwd_path_is_beneath(dest, grant->directory))
        return dest + strlen(grant->directory);
    if (gwd_path_is_beneath(dest, grant->configured))
        return dest + strlen(grant->configured);
    return NULL;
}

static void append(char *path, const char *part)
{
    if (path[0] != '\0')
        strcat(path, "/");
    strcat(path, part);
}

/* Takes path (changed) apart: all components but the last into directory (as large as path), the
 * last one is returned, NULL when there is none. False for a component that may not be. */
static bool take_apart(char *path, char *directory, const char **last)
{
    char *save = NULL;
    *last = NULL;
    for (char *part = strtok_r(path, "/", &save); part != NULL; part = strtok_r(NULL, "/", &save)) {
        if (strcmp(part, ".") == 0)
            continue;
        if (strcmp(part, "..") == 0 || strlen(part) > 255 || gwd_is_part_name(part))
            return false;
        if (*last != NULL)
            append(directory, *last);
        *last = part;
    }
    return true;
}

/* Splits dest into directory and new name, both relative to the granted directory. */
static gmc_status resolve(struct gwd_chan *chan, struct gwd_job *job,
                          const struct gwd_policy_grant *grant)
{
    const char *dest = job->op.dest != NULL ? job->op.dest : "", *last = NULL;
    const char *rest = behind_granted(grant, dest);
    bool into = dest[0] == '\0' || dest[strlen(dest) - 1] == '/';
    char *copy;
    if (rest == NULL)
        return gwd_job_fail(job, GMC_ERR_ACCESS,
                            "%s is outside of the directory that is granted to %s", dest,
                            chan->key.source);
    copy = strdup(rest);
    chan->relative = calloc(1, strlen(rest) + 2);
    chan->granted = strdup(grant->directory);
    if (copy == NULL || chan->relative == NULL || chan->granted == NULL)
        (void)gwd_job_fail(job, GMC_ERR_NOMEM, "out of memory");
    else if (!take_apart(copy, chan->relative, &last))
        (void)gwd_job_fail(job, GMC_ERR_ACCESS,
                           "%s: '..', names over 255 bytes and .gmcast-*.part (unfinished "
                           "transfers) are not allowed in a destination",
                           dest);
    if (job->result.status == GMC_OK && into && last != NULL)
        append(chan->relative, last);
    chan->new_name = strdup(!into && last != NULL ? last : "");
    free(copy);
    if (chan->new_name == NULL)
        return gwd_job_fail(job, GMC_ERR_NOMEM, "out of memory");
    return job->result.status;
}

static gmc_status claim(struct gwd_store *store, struct gwd_chan *chan, struct gwd_job *job,
                        uint64_t quota)
{
    uint64_t used = quota > 0 ? gwd_tree_bytes(chan->granted) : 0;
    uint64_t quota_left = quota == 0 ? UINT64_MAX : used < quota ? quota - used : 0;
    struct statvfs fs;
    struct stat st;
    gmc_status status;
    if (stat(chan->granted, &st) != 0 || statvfs(chan->granted, &fs) != 0)
        return gwd_job_errno(job, chan->granted);
    if (chan->laid_out) {
        /* What the unfinished tree holds already needs no room any more. */
        char part[64], path[GMC_PATH_BYTES_MAX + 64];
        gwd_target_part_name(chan, part, sizeof part);
        gwd_target_full_path(chan, part, path, sizeof path);
        chan->written = gwd_tree_bytes(path);
    }
    status =
        gwd_store_claim(store, chan, st.st_dev, quota_left, (uint64_t)fs.f_bavail * fs.f_frsize);
    if (status == GMC_ERR_QUOTA)
        return gwd_job_fail(job, status,
                            "%" PRIu64 " bytes are more than the quota of %s leaves: %" PRIu64
                            " of %" PRIu64 " are free",
                            chan->total_bytes, chan->granted, quota_left, quota);
    if (status == GMC_ERR_NOSPACE)
        return gwd_job_fail(job, status,
                            "%" PRIu64 " bytes do not fit into %s, where %" PRIu64
                            " are free (less what other transfers still need)",
                            chan->total_bytes, chan->granted, (uint64_t)fs.f_bavail * fs.f_frsize);
    return status;
}

/* A transfer that went on before a restart stays where it is, if that is still granted. */
static gmc_status place(struct gwd_chan *chan, struct gwd_job *job,
                        const struct gwd_policy_grant *grant)
{
    if (chan->granted == NULL && gwd_target_load(chan)) {
        if (strcmp(chan->granted, grant->directory) != 0)
            return gwd_job_fail(job, GMC_ERR_ACCESS,
                                "%s, where this transfer began, is no longer granted to %s",
                                chan->granted, chan->key.source);
        return GMC_OK;
    }
    gwd_target_fini(chan);
    return resolve(chan, job, grant);
}

static gmc_status open_target(struct gwd_store *store, struct gwd_chan *chan, struct gwd_job *job,
                              const struct gwd_policy_grant *grant)
{
    gmc_status status = place(chan, job, grant);
    if (status == GMC_OK && !chan->finished)
        status = claim(store, chan, job, grant->quota);
    if (status == GMC_OK)
        (void)unlinkat(chan->state_fd, GWD_DISCARD_FILE, 0); /* it is wanted again */
    if (status == GMC_OK && !gwd_target_note(chan))
        status = gwd_job_errno(job, "state folder");
    if (status == GMC_OK)
        status = gwd_chan_open_files(chan, job);
    if (status == GMC_OK && chan->laid_out)
        status = gwd_op_layout(store, chan, job);
    return status;
}

/* The directory as it is now: what it is on may not have been mounted, or not for writing, when the
 * configuration was read. */
static gmc_status open_granted_now(struct gwd_store *store, struct gwd_chan *chan,
                                   struct gwd_job *job, const struct gwd_policy_grant *grant)
{
    struct gwd_policy_grant now = *grant;
    gmc_status status;
    now.directory = realpath(grant->configured, NULL);
    if (now.directory == NULL || access(now.directory, W_OK | X_OK) != 0)
        status = gwd_job_errno(job, grant->configured);
    else
        status = open_target(store, chan, job, &now);
    free(now.directory);
    return status;
}

gmc_status gwd_op_open(struct gwd_store *store, struct gwd_chan *chan, struct gwd_job *job)
{
    struct gwd_policy *policy;
    const struct gwd_policy_grant *grant;
    gmc_status status;
    if (chan->kind != GWD_CHAN_NEW)
        return gwd_job_fail(job, GMC_ERR_STATE, "the channel is open already");
    policy = gwd_policy_get(store);
    grant = gwd_policy_find(policy->receives, policy->receive_count, chan->key.source);
    if (grant == NULL) {
        status = gwd_job_fail(job, GMC_ERR_ACCESS,
                              "%s may not send here: there is no section receive for it",
                              chan->key.source);
    } else {
        chan->listing_bytes = job->op.listing_bytes;
        chan->total_bytes = job->op.total_bytes;
        chan->block_bytes = job->op.block_bytes;
        status = open_granted_now(store, chan, job, grant);
    }
    gwd_policy_put(store, policy);
    if (status == GMC_OK) {
        chan->kind = GWD_CHAN_TARGET;
    } else {
        gwd_store_unclaim(store, chan);
        gwd_target_fini(chan);
    }
    return status;
}

/* ---- LAYOUT: the temporary tree ---- */
/* What others may not do under any usual mask of modes is left out; the rest is right at once and
 * needs no change at the end. The tree above is closed to others until then. */
mode_t gwd_entry_made_mode(const struct gmc_entry *entry)
{
    return entry->type == GMC_ENTRY_FILE ? (entry->mode & 0755u) | 0600u : 0700u;
}

static bool is_top(const struct gmc_entry *entry)
{
    return strchr(entry->path, '/') == NULL;
}

static const char *last_name(const struct gmc_entry *entry)
{
    const char *slash = strrchr(entry->path, '/');
    return slash != NULL ? slash + 1 : entry->path;
}

/* Trees of unfinished transfers are not entered by others, who would add to what is verified, and
 * do not count in quotas; so nobody else's file may look like one. */
static gmc_status check_destinations(struct gwd_chan *chan, struct gwd_job *job)
{
    size_t tops = 0;
    for (size_t i = 0; i < gmc_listing_count(chan->listing); i++) {
        const struct gmc_entry *entry = gmc_listing_entry(chan->listing, i);
        char name[GMC_PATH_BYTES_MAX], full[2 * GMC_PATH_BYTES_MAX];
        struct stat st;
        if (gwd_is_part_name(last_name(entry)))
            return gwd_job_fail(job, GMC_ERR_ACCESS,
                                "%s: names like .gmcast-*.part are for unfinished transfers; "
                                "rename it",
                                entry->path);
        if (!is_top(entry))
            continue;
        gwd_target_final_path(chan, entry->path, name, sizeof name);
        if (++tops > 1 && chan->new_name[0] != '\0')
            return gwd_job_fail(job, GMC_ERR_INVALID,
                                "several sources cannot all be named '%s'; write '%s/' for a "
                                "directory",
                                chan->new_name, chan->new_name);
        if (chan->finishing || fstatat(chan->dest_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        gwd_target_full_path(chan, name, full, sizeof full);
        if (S_ISDIR(st.st_mode) && chan->new_name[0] != '\0')
            return gwd_job_fail(job, GMC_ERR_EXISTS,
                                "%s exists already; write '%s/' to put the source into it", full,
                                chan->new_name);
        return gwd_job_fail(job, GMC_ERR_EXISTS,
                            "%s exists already; choose another name or move it away", full);
    }
    return GMC_OK;
}

/* Files whose last byte lies in a hole, and empty ones, get their size here; the others come into
 * being with their first write. */
static gmc_status make_file(struct gwd_chan *chan, struct gwd_job *job,
                            const struct gmc_entry *entry)
{
    const struct gmc_extent *last =
        entry->extent_count > 0 ? &entry->extents[entry->extent_count - 1] : NULL;
    bool ok;
    int fd;
    if (last != NULL && last->offset + last->len == entry->size)
        return GMC_OK;
    fd = gwd_open_beneath(chan->tree_fd, entry->path, O_RDWR | O_CREAT | O_NOFOLLOW,
                          gwd_entry_made_mode(entry));
    if (fd < 0)
        return gwd_job_errno(job, entry->path);
    ok = entry->size == 0 || ftruncate(fd, (off_t)entry->size) == 0;
    if (!ok)
        (void)gwd_job_errno(job, entry->path);
    (void)close(fd);
    return ok ? GMC_OK : job->result.status;
}

static gmc_status make_entry(struct gwd_chan *chan, struct gwd_job *job,
                             const struct gmc_entry *entry)
{
    /* Intermediate components are directories that this loop made itself, in a tree that only
     * this user may enter. */
    switch (entry->type) {
    case GMC_ENTRY_DIRECTORY:
        if (mkdirat(chan->tree_fd, entry->path, 0700) != 0 && errno != EEXIST)
            return gwd_job_errno(job, entry->path);
        return GMC_OK;
    case GMC_ENTRY_SYMLINK:
        if (symlinkat(entry->target, chan->tree_fd, entry->path) != 0 && errno != EEXIST)
            return gwd_job_errno(job, entry->path);
        return GMC_OK;
    case GMC_ENTRY_FILE:
        return make_file(chan, job, entry);
    }
    return gwd_job_fail(job, GMC_ERR_INVALID, "%s: unknown kind of entry", entry->path);
}

/* After the fact: a sync before it must not take the mark for a file that it did not see. */
static void mark_created(struct gwd_chan *chan)
{
    (void)pthread_mutex_lock(&chan->lock);
    chan->created = true;
    (void)pthread_mutex_unlock(&chan->lock);
}

/* The destination may go before it has something in it: it was made for another transfer, which was
 * refused. */
static bool make_part(struct gwd_chan *chan, const char *part)
{
    for (unsigned again = 0; mkdirat(chan->dest_fd, part, 0700) != 0; again++) {
        int fd = errno == ENOENT && again < PART_TRIES ? make_dest(chan) : -1;
        if (fd < 0)
            return false;
        (void)close(chan->dest_fd);
        chan->dest_fd = fd;
    }
    return true;
}

static gmc_status make_tree(struct gwd_chan *chan, struct gwd_job *job)
{
    bool before = chan->laid_out;
    char part[64], full[2 * GMC_PATH_BYTES_MAX];
    gmc_status status = GMC_OK;
    int tree;
    gwd_target_part_name(chan, part, sizeof part);
    gwd_target_full_path(chan, part, full, sizeof full);
    chan->laid_out = true; /* noted first: a tree without a note would be nobody's */
    if (!before && !gwd_target_note(chan))
        return gwd_job_errno(job, "state folder");
    if (!make_part(chan, part) && (errno != EEXIST || !before))
        return gwd_job_errno(job, full);
    tree = openat(chan->dest_fd, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (tree < 0)
        return gwd_job_errno(job, full);
    (void)pthread_rwlock_wrlock(&chan->place); /* a checkpoint may be on its way */
    chan->tree_fd = tree;
    (void)pthread_rwlock_unlock(&chan->place);
    /* Once renaming began, what is missing here is in its final place. */
    if (!chan->finishing && job->op.stored != NULL)
        status = gwd_target_check_stored(chan, job);
    for (size_t i = 0; status == GMC_OK && !chan->finishing && i < gmc_listing_count(chan->listing);
         i++) {
        status = make_entry(chan, job, gmc_listing_entry(chan->listing, i));
    }
    if (status == GMC_OK)
        mark_created(chan);
    return status;
}

static gmc_status parse_listing(struct gwd_chan *chan, struct gwd_job *job)
{
    char reason[GMC_REASON_BYTES_MAX] = "";
    size_t len = 0;
    gmc_status status;
    free(chan->listing_copy);
    chan->listing_copy = gwd_read_file(chan->state_fd, GWD_LISTING_FILE, &len);
    if (chan->listing_copy == NULL || len < chan->listing_bytes)
        return gwd_job_fail(job, GMC_ERR_STATE, "the listing is not complete");
    status = gmc_listing_parse(gmc_bytes(chan->listing_copy, (size_t)chan->listing_bytes),
                               chan->total_bytes, &chan->listing, reason, sizeof reason);
    if (status != GMC_OK)
        return gwd_job_fail(job, status, "listing refused: %s", reason);
    free((void *)chan->timed);
    chan->timed = calloc(gmc_listing_count(chan->listing) + 1, sizeof *chan->timed);
    if (chan->timed == NULL)
        return gwd_job_fail(job, GMC_ERR_NOMEM, "out of memory");
    return GMC_OK;
}

gmc_status gwd_op_layout(struct gwd_store *store, struct gwd_chan *chan, struct gwd_job *job)
{
    gmc_status status = GMC_OK;
    (void)store;
    if (chan->granted == NULL)
        return gwd_job_fail(job, GMC_ERR_STATE, "the channel is not open");
    if (chan->listing == NULL) {
        status = parse_listing(chan, job);
        if (status == GMC_OK) {
            chan->dest_fd = chan->finished ? gwd_target_open_dest(chan) : make_dest(chan);
            if (chan->dest_fd < 0)
                status = gwd_job_errno(job, chan->relative[0] ? chan->relative : chan->granted);
        }
        if (status == GMC_OK)
            status = check_destinations(chan, job);
        if (status == GMC_OK && !chan->finished)
            status = make_tree(chan, job);
    }
    for (size_t i = 0; status == GMC_OK && i < gmc_listing_count(chan->listing); i++)
        job->result.file_count += gmc_listing_entry(chan->listing, i)->type == GMC_ENTRY_FILE;
    if (status != GMC_OK) {
        gmc_listing_free(chan->listing);
        chan->listing = NULL;
        if (!chan->laid_out)
            gwd_target_remove_dest(chan);
    }
    return status;
}

/* ---- WRITE ---- */
/* With chan->place held. */
int gwd_target_open_entry(struct gwd_chan *chan, size_t entry)
{
    const char *path = gmc_listing_entry(chan->listing, entry)->path;
    char final[2 * GMC_PATH_BYTES_MAX];
    int fd;
    if (chan->finished) {
        gwd_target_final_path(chan, path, final, sizeof final);
        return gwd_open_beneath(chan->dest_fd, final, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    }
    if (chan->tree_fd < 0) {
        errno = ENOENT;
        return -1;
    }
    fd = gwd_open_beneath(chan->tree_fd, path, O_RDWR | O_CREAT | O_NOFOLLOW,
                          gwd_entry_made_mode(gmc_listing_entry(chan->listing, entry)));
    if (fd >= 0)
        mark_created(chan);
    return fd;
}

static void mark_dirty(struct gwd_chan *chan, size_t entry)
{
    (void)pthread_mutex_lock(&chan->lock);
    size_t i = 0;
    while (i < chan->dirty_count && i < GWD_DIRTY_MAX && chan->dirty[i] != entry)
        i++;
    if (i == chan->dirty_count && i < GWD_DIRTY_MAX)
        chan->dirty[i] = entry; /* else, beyond the end, everything is synced */
    if (i == chan->dirty_count || i == GWD_DIRTY_MAX)
        chan->dirty_count = i + 1;
    (void)pthread_mutex_unlock(&chan->lock);
}

/* When all of a file was written at once: on its descriptor, which spares FINISH the way to it. A
 * block that comes again does so again. */
static bool set_time(const struct gwd_chan *chan, size_t entry, int fd)
{
    struct timespec times[2];
    gwd_entry_times(gmc_listing_entry(chan->listing, entry), times);
    return futimens(fd, times) == 0;
}

struct write {
    struct gwd_chan *chan;
    struct gwd_job *job;
    const uint8_t *data;
};

static gmc_status write_piece(void *ctx, size_t entry, uint64_t file_offset, size_t buffer_offset,
                              size_t len)
{
    struct write *write = ctx;
    bool whole = gwd_entry_is_whole(write->chan, entry, len), ok;
    gmc_status status;
    int fd, slot;
    status = gwd_chan_acquire(write->chan, write->job, entry, whole, &fd, &slot);
    if (status != GMC_OK)
        return status;
    ok = gwd_write_all(fd, write->data + buffer_offset, len, file_offset);
    if (ok)
        write->chan->written += len;
    else
        status = gwd_job_errno(write->job, gmc_listing_entry(write->chan->listing, entry)->path);
    if (whole)
        write->chan->timed[entry] = ok && set_time(write->chan, entry, fd);
    mark_dirty(write->chan, entry);
    gwd_chan_release(write->chan, fd, slot);
    return status;
}

static gmc_status write_listing(struct gwd_chan *chan, struct gwd_job *job, size_t len)
{
    if (chan->listing_fd < 0)
        return gwd_job_fail(job, GMC_ERR_STATE, "the channel is not open");
    if (!gwd_write_all(chan->listing_fd, job->op.data, len, job->op.offset))
        return gwd_job_errno(job, "state folder");
    (void)pthread_mutex_lock(&chan->lock);
    chan->meta_dirty = true;
    (void)pthread_mutex_unlock(&chan->lock);
    return GMC_OK;
}

gmc_status gwd_op_write(struct gwd_chan *chan, struct gwd_job *job)
{
    uint64_t data_at = gwd_chan_padding_end(chan);
    struct write write = {chan, job, job->op.data};
    size_t head = 0;
    gmc_status status = GMC_OK;
    if (memcmp(job->hash, job->op.hash, sizeof job->hash) != 0)
        return gwd_job_fail(job, GMC_ERR_MISMATCH, "a block does not match its hash");
    if (job->op.offset < data_at) {
        head = job->op.len < data_at - job->op.offset ? job->op.len
                                                      : (size_t)(data_at - job->op.offset);
        status = write_listing(chan, job, head);
    }
    if (status == GMC_OK && head < job->op.len) {
        if (chan->listing == NULL || chan->kind != GWD_CHAN_TARGET || chan->finished)
            return gwd_job_fail(job, GMC_ERR_STATE, "the channel takes no data now");
        write.data += head;
        status = gmc_listing_map(chan->listing, job->op.offset + head - data_at, job->op.len - head,
                                 write_piece, &write);
        if (status != GMC_OK && job->result.reason == NULL)
            (void)gwd_job_fail(job, status, "outside of the object");
    }
    return status;
}

/* ---- SYNC ---- */
static gmc_status sync_files(struct gwd_chan *chan, struct gwd_job *job, const size_t *entries,
                             size_t count)
{
    gmc_status status = GMC_OK;
    for (size_t i = 0; i < count && status == GMC_OK; i++) {
        int fd, slot;
        status = gwd_chan_acquire(chan, job, entries[i], false, &fd, &slot);
        if (status != GMC_OK)
            break;
        if (fdatasync(fd) != 0)
            status = gwd_job_errno(job, gmc_listing_entry(chan->listing, entries[i])->path);
        gwd_chan_release(chan, fd, slot);
    }
    return status;
}

static gmc_status sync_all(struct gwd_chan *chan, struct gwd_job *job)
{
    size_t dirty[GWD_DIRTY_MAX], count;
    bool everything, meta;
    (void)pthread_mutex_lock(&chan->lock);
    count = chan->dirty_count;
    /* New files need their directories on disk too. */
    everything = count > GWD_DIRTY_MAX || (count > 0 && chan->created);
    meta = chan->meta_dirty;
    memcpy(dirty, chan->dirty, sizeof dirty);
    chan->dirty_count = 0;
    chan->meta_dirty = false;
    chan->created = chan->created && !everything;
    (void)pthread_mutex_unlock(&chan->lock);
    if (meta && (fdatasync(chan->listing_fd) != 0 || fdatasync(chan->pages_fd) != 0))
        return gwd_job_errno(job, "state folder");
    if (everything && chan->dest_fd >= 0 && syncfs(chan->dest_fd) != 0)
        return gwd_job_errno(job, chan->granted);
    return everything ? GMC_OK : sync_files(chan, job, dirty, count);
}

gmc_status gwd_op_sync(struct gwd_store *store, struct gwd_chan *chan, struct gwd_job *job)
{
    gmc_status status;
    (void)store;
    (void)pthread_mutex_lock(&chan->sync);
    status = sync_all(chan, job);
    (void)pthread_mutex_unlock(&chan->sync);
    return status;
}
