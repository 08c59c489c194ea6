/* SPDX-License-Identifier: BSD-2-Clause */
/* An open channel: its state folder, its open files, and reading the object's byte space. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gatewayd/store_int.h"

struct gwd_chan *gwd_chan_new(const struct gmc_channel_key *key)
{
    struct gwd_chan *chan = calloc(1, sizeof *chan);
    if (chan == NULL)
        return NULL;
    chan->key = *key;
    chan->state_fd = chan->listing_fd = chan->pages_fd = -1;
    chan->dest_fd = chan->tree_fd = -1;
    for (size_t i = 0; i < GWD_FDS_MAX; i++)
        chan->files[i].fd = -1;
    (void)pthread_mutex_init(&chan->lock, NULL);
    (void)pthread_rwlock_init(&chan->place, NULL);
    (void)pthread_mutex_init(&chan->sync, NULL);
    return chan;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

void gwd_chan_free(struct gwd_chan *chan)
{
    gwd_chan_close_files(chan);
    gwd_source_fini(chan);
    gwd_target_fini(chan);
    close_fd(&chan->listing_fd);
    close_fd(&chan->pages_fd);
    close_fd(&chan->state_fd);
    gmc_listing_free(chan->listing);
    free(chan->listing_copy);
    free((void *)chan->timed);
    (void)pthread_mutex_destroy(&chan->lock);
    (void)pthread_rwlock_destroy(&chan->place);
    (void)pthread_mutex_destroy(&chan->sync);
    free(chan);
}

/* ---- the state folder ---- */
bool gwd_chan_key_ok(const struct gmc_channel_key *key)
{
    return key->source[0] != '\0' && key->source[0] != '.' && strchr(key->source, '/') == NULL &&
           strlen(key->source) <= GWD_DOMAIN_BYTES_MAX;
}

void gwd_chan_folder(const struct gmc_channel_key *key, char *out, size_t size)
{
    (void)snprintf(out, size, "%016" PRIx64 "@%s", key->e, key->source);
}

bool gwd_chan_folder_parse(const char *name, struct gmc_channel_key *key)
{
    /* strtoull alone would also take blanks, a sign and 0x. */
    if (strspn(name, "0123456789abcdef") != 16 || name[16] != '@' ||
        strlen(name + 17) > GMC_DOMAIN_NAME_MAX)
        return false;
    memset(key, 0, sizeof *key);
    key->e = strtoull(name, NULL, 16);
    memcpy(key->source, name + 17, strlen(name + 17));
    return gwd_chan_key_ok(key);
}

gmc_status gwd_chan_open_state(struct gwd_store *store, struct gwd_chan *chan, struct gwd_job *job,
                               bool create)
{
    int parent = gwd_store_channels_fd(store), fd;
    char name[300];
    gmc_status status = GMC_OK;
    (void)pthread_mutex_lock(&chan->lock);
    if (chan->state_fd < 0) {
        gwd_chan_folder(&chan->key, name, sizeof name);
        if (create && mkdirat(parent, name, 0700) == 0)
            (void)fsync(parent);
        fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        chan->state_fd = fd;
        /* Nothing to close is well closed. */
        if (fd < 0 && (create || errno != ENOENT))
            status = gwd_job_errno(job, "state folder");
        else if (fd < 0)
            status = GMC_ERR_NOT_FOUND;
    }
    (void)pthread_mutex_unlock(&chan->lock);
    return status;
}

gmc_status gwd_chan_open_files(struct gwd_chan *chan, struct gwd_job *job)
{
    int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
    if (chan->listing_fd < 0)
        chan->listing_fd = openat(chan->state_fd, GWD_LISTING_FILE, flags, 0600);
    if (chan->pages_fd < 0)
        chan->pages_fd = openat(chan->state_fd, GWD_PAGES_FILE, flags, 0600);
    if (chan->listing_fd < 0 || chan->pages_fd < 0)
        return gwd_job_errno(job, "state folder");
    return GMC_OK;
}

uint64_t gwd_chan_padding_end(const struct gwd_chan *chan)
{
    uint64_t block = chan->block_bytes != 0 ? chan->block_bytes : 65536;
    return (chan->listing_bytes + block - 1) / block * block;
}

/* ---- open files of an object ---- */
static struct gwd_open_file *find_file(struct gwd_chan *chan, size_t entry)
{
    for (size_t i = 0; i < GWD_FDS_MAX; i++) {
        if (chan->files[i].fd >= 0 && chan->files[i].entry == entry)
            return &chan->files[i];
    }
    return NULL;
}

/* A free slot, or that of the file that nobody has used for longest; NULL: all are in use. */
static struct gwd_open_file *find_room(struct gwd_chan *chan)
{
    struct gwd_open_file *best = NULL;
    for (size_t i = 0; i < GWD_FDS_MAX; i++) {
        struct gwd_open_file *file = &chan->files[i];
        if (file->fd < 0)
            return file;
        if (file->users == 0 && (best == NULL || file->used_at < best->used_at))
            best = file;
    }
    return best;
}

static gmc_status open_failed(struct gwd_chan *chan, struct gwd_job *job, size_t entry)
{
    const char *path = gmc_listing_entry(chan->listing, entry)->path;
    if (chan->kind == GWD_CHAN_SOURCE && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
        return gwd_job_fail(job, GMC_ERR_CHANGED, "%s was removed or replaced since it was listed",
                            path);
    return gwd_job_errno(job, path);
}

bool gwd_entry_is_whole(const struct gwd_chan *chan, size_t entry, size_t len)
{
    const struct gmc_entry *e = gmc_listing_entry(chan->listing, entry);
    return e->extent_count == 1 && e->extents[0].len == len;
}

static int open_entry(struct gwd_chan *chan, size_t entry)
{
    int fd, error;
    if (chan->kind == GWD_CHAN_SOURCE)
        return gwd_source_open_entry(chan, entry);
    (void)pthread_rwlock_rdlock(&chan->place);
    fd = gwd_target_open_entry(chan, entry);
    error = errno;
    (void)pthread_rwlock_unlock(&chan->place);
    errno = error;
    return fd;
}

/* Takes the kept descriptor of an entry; false when there is none. With chan->lock held. */
static bool take_kept(struct gwd_chan *chan, size_t entry, int *fd, int *slot)
{
    struct gwd_open_file *file = find_file(chan, entry);
    if (file == NULL)
        return false;
    file->users++;
    file->used_at = ++chan->clock;
    *fd = file->fd;
    *slot = (int)(file - chan->files);
    return true;
}

/* Keeps a descriptor just opened, if there is room, and takes it. With chan->lock held. */
static void keep(struct gwd_chan *chan, size_t entry, int opened, int *fd, int *slot)
{
    struct gwd_open_file *file;
    if (take_kept(chan, entry, fd, slot)) {
        (void)close(opened); /* another worker was faster */
        return;
    }
    file = find_room(chan);
    *fd = opened;
    *slot = -1; /* used once, closed at release */
    if (file == NULL)
        return;
    if (file->fd >= 0)
        (void)close(file->fd);
    *file =
        (struct gwd_open_file){.entry = entry, .fd = opened, .users = 1, .used_at = ++chan->clock};
    *slot = (int)(file - chan->files);
}

gmc_status gwd_chan_acquire(struct gwd_chan *chan, struct gwd_job *job, size_t entry, bool once,
                            int *fd, int *slot)
{
    int opened;
    if (!once) {
        bool kept;
        (void)pthread_mutex_lock(&chan->lock);
        kept = take_kept(chan, entry, fd, slot);
        (void)pthread_mutex_unlock(&chan->lock);
        if (kept)
            return GMC_OK;
    }
    opened = open_entry(chan, entry);
    if (opened < 0)
        return open_failed(chan, job, entry);
    *fd = opened;
    *slot = -1;
    if (!once) {
        (void)pthread_mutex_lock(&chan->lock);
        keep(chan, entry, opened, fd, slot);
        (void)pthread_mutex_unlock(&chan->lock);
    }
    return GMC_OK;
}

void gwd_chan_release(struct gwd_chan *chan, int fd, int slot)
{
    if (slot < 0) {
        (void)close(fd);
        return;
    }
    (void)pthread_mutex_lock(&chan->lock);
    chan->files[slot].users--;
    (void)pthread_mutex_unlock(&chan->lock);
}

/* The caller sees to it that nobody uses them. */
void gwd_chan_close_files(struct gwd_chan *chan)
{
    for (size_t i = 0; i < GWD_FDS_MAX; i++) {
        close_fd(&chan->files[i].fd);
        chan->files[i].users = 0;
    }
}

/* ---- reading ---- */
struct read {
    struct gwd_chan *chan;
    struct gwd_job *job;
    uint8_t *data;
};

static gmc_status read_piece(void *ctx, size_t entry, uint64_t file_offset, size_t buffer_offset,
                             size_t len)
{
    struct read *read = ctx;
    const char *path = gmc_listing_entry(read->chan->listing, entry)->path;
    gmc_status status;
    int fd = -1, slot = -1;
    ssize_t n;
    status = gwd_chan_acquire(read->chan, read->job, entry,
                              gwd_entry_is_whole(read->chan, entry, len), &fd, &slot);
    if (status != GMC_OK)
        return status;
    n = gwd_read_all(fd, read->data + buffer_offset, len, file_offset);
    if (n < 0)
        status = gwd_job_errno(read->job, path);
    else if (read->chan->kind == GWD_CHAN_SOURCE &&
             ((size_t)n < len || !gwd_source_unchanged(read->chan, entry, fd)))
        status = gwd_job_fail(read->job, GMC_ERR_CHANGED,
                              "%s changed while it was sent; stage it again", path);
    else if ((size_t)n < len)
        status = gwd_job_fail(read->job, GMC_ERR_IO, "%s is shorter than what was written", path);
    gwd_chan_release(read->chan, fd, slot);
    return status;
}

static gmc_status read_listing(struct gwd_chan *chan, struct gwd_job *job, size_t len)
{
    ssize_t n;
    if (chan->listing_fd < 0)
        return gwd_job_fail(job, GMC_ERR_STATE, "the channel is not open");
    memset(job->op.data, 0, len);
    if (job->op.offset >= chan->listing_bytes)
        return GMC_OK;
    if (len > chan->listing_bytes - job->op.offset)
        len = (size_t)(chan->listing_bytes - job->op.offset);
    n = gwd_read_all(chan->listing_fd, job->op.data, len, job->op.offset);
    if (n < 0)
        return gwd_job_errno(job, "listing");
    if ((size_t)n < len)
        return gwd_job_fail(job, GMC_ERR_IO, "the listing is shorter than it was");
    return GMC_OK;
}

gmc_status gwd_op_read(struct gwd_chan *chan, struct gwd_job *job)
{
    uint64_t data_at = gwd_chan_padding_end(chan);
    struct read read = {chan, job, job->op.data};
    size_t head = 0;
    gmc_status status = GMC_OK;
    if (job->op.offset < data_at) {
        head = job->op.len < data_at - job->op.offset ? job->op.len
                                                      : (size_t)(data_at - job->op.offset);
        status = read_listing(chan, job, head);
    }
    if (status == GMC_OK && head < job->op.len) {
        if (chan->listing == NULL)
            return gwd_job_fail(job, GMC_ERR_STATE, "the listing was not read yet");
        read.data += head;
        status = gmc_listing_map(chan->listing, job->op.offset + head - data_at, job->op.len - head,
                                 read_piece, &read);
        if (status != GMC_OK && job->result.reason == NULL)
            (void)gwd_job_fail(job, status, "outside of the object");
    }
    return status;
}
