/* SPDX-License-Identifier: BSD-2-Clause */
/* After a restart: are the files of what was stored still in the unfinished tree? Their blocks are
 * not read again, so one that was removed or cut meanwhile would be finished with holes in it. */
#include <fcntl.h>
#include <sys/stat.h>

#include "core/manifest.h"
#include "gatewayd/store_int.h"

struct check {
    const struct gwd_chan *chan;
    struct gwd_job *job;
};

static gmc_status check_piece(void *ctx, size_t entry, uint64_t file_offset, size_t buffer_offset,
                              size_t len)
{
    const struct check *check = ctx;
    const char *path = gmc_listing_entry(check->chan->listing, entry)->path;
    struct stat st;
    (void)buffer_offset;
    if (fstatat(check->chan->tree_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
        (uint64_t)st.st_size >= file_offset + len)
        return GMC_OK;
    return gwd_job_fail(check->job, GMC_ERR_IO,
                        "%s was removed or cut in the unfinished tree while gatewayd did not run; "
                        "resume the transfer to get all of it again",
                        path);
}

gmc_status gwd_target_check_stored(struct gwd_chan *chan, struct gwd_job *job)
{
    const struct gmc_object object = {.listing_bytes = chan->listing_bytes,
                                      .total_bytes = chan->total_bytes,
                                      .block_bytes = chan->block_bytes};
    struct check check = {chan, job};
    gmc_status status = GMC_OK;
    for (size_t i = 0; i < gmc_interval_ranges(job->op.stored) && status == GMC_OK; i++) {
        struct gmc_interval range = gmc_interval_range_at(job->op.stored, i);
        uint64_t from = gmc_object_file_bytes_below(&object, gmc_block_data_below(range.lo));
        uint64_t to = gmc_object_file_bytes_below(&object, gmc_block_data_below(range.hi));
        if (from < to)
            status = gmc_listing_map(chan->listing, from, to - from, check_piece, &check);
    }
    return status;
}
