/* SPDX-License-Identifier: BSD-2-Clause */
/* Checkpoints, and after a restart: whose hands were in the unfinished tree meanwhile? What was
 * stored is not read again, so a file that was changed, removed or cut would be finished as it is
 * now. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "core/manifest.h"
#include "gatewayd/store_int.h"

struct check {
    const struct gwd_chan *chan;
    struct gwd_job *job;
    struct gmc_object object;
    struct timespec trusted; /* what did not change before may have been changed by others */
    uint64_t from;           /* of the data: where the range in hand begins */
    size_t files, first;     /* doubtful ones: how many, and which */
    size_t entry;            /* the one that was looked at last, and what came of it */
    bool doubtful;
};

/* A file server is asked, not what this host remembers of it: others may write there too. */
static bool look(int tree_fd, const char *path, struct statx *st)
{
    int flags = AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_STATX_FORCE_SYNC;
    return statx(tree_fd, path, flags, STATX_TYPE | STATX_SIZE | STATX_CTIME, st) == 0;
}

/* ---- when a checkpoint is saved ---- */
/* Of the checkpoint that is there; the beginning of time where there is none. */
static struct timespec date_of_saved(const struct gwd_chan *chan)
{
    struct stat st;
    if (fstatat(chan->state_fd, GWD_SAVED_PREFIX GMC_SAVED_HAVE, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return (struct timespec){0};
    return st.st_mtim;
}

/* Times of change are by the clock of the receive folder's file system, so a checkpoint, which may
 * lie on another one, is dated by that clock too: by the time of change of the tree, touched now.
 * Its own would do only where both are of one host: a file server that is ahead would make all
 * doubtful, and one that is behind would hide what others did. */
struct timespec gwd_target_checkpoint_time(struct gwd_chan *chan)
{
    struct timespec now = {.tv_nsec = UTIME_NOW};
    struct statx st;
    (void)pthread_rwlock_rdlock(&chan->place);
    /* Files that were doubtful at the start may not be compared yet; they stay so in this run. */
    if (chan->doubted)
        now = date_of_saved(chan);
    else if (chan->tree_fd >= 0 && futimens(chan->tree_fd, NULL) == 0 &&
             look(chan->tree_fd, "", &st))
        now = (struct timespec){st.stx_ctime.tv_sec, st.stx_ctime.tv_nsec};
    else if (chan->tree_fd >= 0)
        now = (struct timespec){0}; /* not known: all is compared */
    (void)pthread_rwlock_unlock(&chan->place);
    return now;
}

/* What this run wrote after its last checkpoint is its own: after an end in order that makes
 * nothing doubtful. One that wrote nothing since then leaves the date, so that what others did
 * shows. */
void gwd_target_rest(struct gwd_chan *chan)
{
    static const char name[] = GWD_SAVED_PREFIX GMC_SAVED_HAVE;
    if (chan->kind != GWD_CHAN_TARGET || chan->dirty_count == 0 || chan->state_fd < 0)
        return;
    struct timespec now = gwd_target_checkpoint_time(chan);
    const struct timespec times[2] = {now, now};
    (void)utimensat(chan->state_fd, name, times, AT_SYMLINK_NOFOLLOW); /* or it is compared */
}

/* ---- after a restart ---- */
/* Clocks of file systems tick every few milliseconds: at the same time may be after it. */
static bool is_before(struct statx_timestamp a, struct timespec b)
{
    return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

/* The time of change is the kernel's: who sets times, as this store does, cannot set that. */
static bool is_doubtful(const struct check *check, size_t entry, uint64_t end)
{
    const char *path = gmc_listing_entry(check->chan->listing, entry)->path;
    struct statx st;
    return !look(check->chan->tree_fd, path, &st) || !S_ISREG(st.stx_mode) || st.stx_size < end ||
           !is_before(st.stx_ctime, check->trusted);
}

/* Blocks of bytes of the data, ends included. */
static gmc_status doubt(struct check *check, uint64_t first, uint64_t last)
{
    uint64_t listing = gmc_object_listing_blocks(&check->object);
    uint32_t lo = gmc_block_of_data(listing + first / check->object.block_bytes);
    uint32_t hi = gmc_block_of_data(listing + last / check->object.block_bytes);
    return gmc_interval_add(&check->job->doubtful, lo, (uint64_t)hi + 1);
}

static gmc_status check_piece(void *ctx, size_t entry, uint64_t file_offset, size_t buffer_offset,
                              size_t len)
{
    struct check *check = ctx;
    bool before = check->doubtful && check->entry == entry;
    check->entry = entry;
    check->doubtful = before || is_doubtful(check, entry, file_offset + len);
    if (!check->doubtful)
        return GMC_OK;
    if (!before && check->files++ == 0)
        check->first = entry;
    return doubt(check, check->from + buffer_offset, check->from + buffer_offset + len - 1);
}

static void tell(const struct check *check)
{
    struct gwd_job *job = check->job;
    char others[48] = "";
    if (check->files > 1)
        (void)snprintf(others, sizeof others, " and %zu more", check->files - 1);
    (void)
        snprintf(job->reason, sizeof job->reason,
                 "%s%s: changed in the unfinished tree after the last checkpoint, by this gateway "
                 "before it was killed or by others since; what was stored is compared with its "
                 "hashes meanwhile, and what differs is fetched anew",
                 gmc_listing_entry(check->chan->listing, check->first)->path, others);
    job->result.reason = job->reason;
    job->result.doubtful = &job->doubtful;
}

gmc_status gwd_target_check_stored(struct gwd_chan *chan, struct gwd_job *job)
{
    struct check check = {.chan = chan,
                          .job = job,
                          .trusted = date_of_saved(chan),
                          .object = {.listing_bytes = chan->listing_bytes,
                                     .total_bytes = chan->total_bytes,
                                     .block_bytes = chan->block_bytes}};
    gmc_status status = GMC_OK;
    for (size_t i = 0; i < gmc_interval_ranges(job->op.stored) && status == GMC_OK; i++) {
        struct gmc_interval range = gmc_interval_range_at(job->op.stored, i);
        uint64_t to;
        check.from = gmc_object_file_bytes_below(&check.object, gmc_block_data_below(range.lo));
        to = gmc_object_file_bytes_below(&check.object, gmc_block_data_below(range.hi));
        if (check.from < to)
            status =
                gmc_listing_map(chan->listing, check.from, to - check.from, check_piece, &check);
    }
    if (status != GMC_OK)
        return gwd_job_fail(job, status, "the blocks that were stored cannot be looked at: %s",
                            gmc_status_text(status));
    chan->doubted = chan->doubted || check.files > 0;
    if (check.files > 0)
        tell(&check);
    return GMC_OK;
}
