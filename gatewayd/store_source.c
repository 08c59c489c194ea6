/* SPDX-License-Identifier: BSD-2-Clause */
/* The source's side of the store: listing what is staged, and opening it again later. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gatewayd/store_int.h"

#define SOURCE_MAGIC "gmcast source 1"

struct scan {
    struct gwd_chan *chan;
    struct gwd_job *job;
    struct gmc_listing_writer *writer;
    size_t entries, ident_room;
    uint64_t files;
};

static int64_t mtime_of(const struct stat *st)
{
    return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

struct gwd_ident gwd_ident_of(const struct stat *st)
{
    return (struct gwd_ident){.dev = st->st_dev,
                              .ino = st->st_ino,
                              .size = (uint64_t)st->st_size,
                              .mtime_ns = mtime_of(st)};
}

/* ---- entries ---- */
static gmc_status add_entry(void *ctx, const struct gmc_entry *entry, const struct gwd_ident *ident)
{
    struct scan *scan = ctx;
    const char *reason = NULL;
    gmc_status status;
    if (scan->entries == scan->ident_room) {
        size_t room = scan->ident_room == 0 ? 256 : scan->ident_room * 2;
        struct gwd_ident *grown = realloc(scan->chan->idents, room * sizeof *grown);
        if (grown == NULL)
            return gwd_job_fail(scan->job, GMC_ERR_NOMEM, "out of memory");
        scan->chan->idents = grown;
        scan->ident_room = room;
    }
    status = gmc_listing_add(scan->writer, entry, &reason);
    if (status != GMC_OK)
        return gwd_job_fail(scan->job, status, "%s: %s", entry->path,
                            reason != NULL ? reason : gmc_status_text(status));
    scan->chan->idents[scan->entries++] = *ident;
    scan->files += entry->type == GMC_ENTRY_FILE;
    return GMC_OK;
}

/* ---- roots ---- */
static bool may_scan(struct gwd_store *store, const char *real)
{
    struct gwd_policy *policy = gwd_policy_get(store);
    bool may = false;
    /* What a remote domain asked for was held against its own grant when the request came. */
    for (size_t i = 0; i < policy->export_count; i++)
        may = may || gwd_path_is_beneath(real, policy->exports[i]);
    for (size_t i = 0; i < policy->serve_count; i++)
        may = may || gwd_path_is_beneath(real, policy->serves[i].directory);
    gwd_policy_put(store, policy);
    return may;
}

/* The last component of what was asked for, or of what it stands for ("dir/.", "/"). */
static char *root_name(const char *asked, const char *real)
{
    size_t end = strlen(asked), begin;
    while (end > 1 && asked[end - 1] == '/')
        end--;
    for (begin = end; begin > 0 && asked[begin - 1] != '/';)
        begin--;
    char *name = strndup(asked + begin, end - begin);
    if (name != NULL && (*name == '\0' || strcmp(name, "/") == 0 || strcmp(name, ".") == 0 ||
                         strcmp(name, "..") == 0)) {
        free(name);
        name = strdup(strrchr(real, '/') + 1);
    }
    return name;
}

static gmc_status add_root(struct gwd_chan *chan, struct gwd_job *job, struct gwd_store *store,
                           const char *asked)
{
    struct gwd_root *root = &chan->roots[chan->root_count];
    struct stat st;
    *root = (struct gwd_root){.path = realpath(asked, NULL), .fd = -1};
    if (root->path == NULL)
        return gwd_job_errno(job, asked);
    chan->root_count++;
    root->name = root_name(asked, root->path);
    if (!may_scan(store, root->path))
        return gwd_job_fail(job, GMC_ERR_ACCESS,
                            "%s is not beneath a directory that gatewayd exports (option export)",
                            root->path);
    if (root->name == NULL || root->name[0] == '\0')
        return gwd_job_fail(job, GMC_ERR_INVALID, "%s has no name to be staged under", asked);
    for (size_t i = 0; i + 1 < chan->root_count; i++) {
        if (strcmp(chan->roots[i].name, root->name) == 0)
            return gwd_job_fail(job, GMC_ERR_INVALID,
                                "%s and %s have the same name '%s'; stage them apart",
                                chan->roots[i].path, root->path, root->name);
    }
    if (stat(root->path, &st) != 0)
        return gwd_job_errno(job, root->path);
    if (S_ISDIR(st.st_mode))
        root->fd = open(root->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (S_ISDIR(st.st_mode) && root->fd < 0)
        return gwd_job_errno(job, root->path);
    return GMC_OK;
}

void gwd_source_fini(struct gwd_chan *chan)
{
    for (size_t i = 0; i < chan->root_count; i++) {
        if (chan->roots[i].fd >= 0)
            (void)close(chan->roots[i].fd);
        free(chan->roots[i].name);
        free(chan->roots[i].path);
    }
    free(chan->roots);
    free(chan->idents);
    chan->roots = NULL;
    chan->root_count = 0;
    chan->idents = NULL;
}

/* ---- what a restart needs: roots and identities ---- */
static bool save_source(struct gwd_chan *chan, size_t entries)
{
    char *data = NULL;
    size_t len = 0;
    bool ok;
    FILE *out = open_memstream(&data, &len);
    if (out == NULL)
        return false;
    (void)fwrite(SOURCE_MAGIC, 1, sizeof SOURCE_MAGIC, out);
    (void)fwrite(&chan->root_count, sizeof chan->root_count, 1, out);
    (void)fwrite(&entries, sizeof entries, 1, out);
    for (size_t i = 0; i < chan->root_count; i++)
        (void)fprintf(out, "%s%c%s%c", chan->roots[i].name, 0, chan->roots[i].path, 0);
    (void)fwrite(chan->idents, sizeof *chan->idents, entries, out);
    ok = fclose(out) == 0 && gwd_replace_file(chan->state_fd, GWD_SOURCE_FILE, data, len);
    free(data);
    return ok;
}

static const char *take_text(const char **at, const char *end)
{
    const char *text = *at, *zero = memchr(text, '\0', (size_t)(end - text));
    if (zero == NULL)
        return NULL;
    *at = zero + 1;
    return text;
}

bool gwd_source_parse(struct gwd_chan *chan, const char *data, size_t len, size_t entries)
{
    const char *at = data + sizeof SOURCE_MAGIC, *end = data + len;
    size_t roots, count;
    if (len < sizeof SOURCE_MAGIC + 2 * sizeof(size_t) ||
        memcmp(data, SOURCE_MAGIC, sizeof SOURCE_MAGIC) != 0)
        return false;
    memcpy(&roots, at, sizeof roots);
    memcpy(&count, at + sizeof roots, sizeof count);
    at += 2 * sizeof(size_t);
    if (count != entries || roots == 0 || roots > len)
        return false;
    chan->roots = calloc(roots, sizeof *chan->roots);
    for (size_t i = 0; chan->roots != NULL && i < roots; i++) {
        const char *name = take_text(&at, end), *path = name ? take_text(&at, end) : NULL;
        if (path == NULL)
            return false;
        struct gwd_root *root = &chan->roots[chan->root_count++];
        *root = (struct gwd_root){.name = strdup(name), .path = strdup(path), .fd = -1};
        if (root->name == NULL || root->path == NULL)
            return false;
        root->fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    }
    if (chan->roots == NULL || (size_t)(end - at) != count * sizeof *chan->idents)
        return false;
    chan->idents = malloc(count * sizeof *chan->idents + 1);
    if (chan->idents == NULL)
        return false;
    memcpy(chan->idents, at, count * sizeof *chan->idents);
    return true;
}

/* ---- operations ---- */
static gmc_status keep_listing(struct scan *scan)
{
    struct gwd_chan *chan = scan->chan;
    struct gmc_bytes bytes = gmc_listing_bytes(scan->writer);
    uint64_t total = gmc_listing_data_bytes(scan->writer);
    char reason[GMC_REASON_BYTES_MAX] = "";
    gmc_status status;
    chan->listing_copy = malloc(bytes.len + 1);
    if (chan->listing_copy == NULL)
        return gwd_job_fail(scan->job, GMC_ERR_NOMEM, "out of memory");
    memcpy(chan->listing_copy, bytes.data, bytes.len);
    status = gmc_listing_parse(gmc_bytes(chan->listing_copy, bytes.len), total, &chan->listing,
                               reason, sizeof reason);
    if (status != GMC_OK)
        return gwd_job_fail(scan->job, status, "%s", reason);
    if (!gwd_replace_file(chan->state_fd, GWD_LISTING_FILE, bytes.data, bytes.len) ||
        !save_source(chan, scan->entries))
        return gwd_job_errno(scan->job, "state folder");
    chan->listing_bytes = scan->job->result.listing_bytes = bytes.len;
    chan->total_bytes = scan->job->result.total_bytes = total;
    scan->job->result.file_count = scan->files;
    return gwd_chan_open_files(chan, scan->job);
}

gmc_status gwd_op_scan(struct gwd_store *store, struct gwd_chan *chan, struct gwd_job *job)
{
    struct scan *scan;
    gmc_status status = GMC_OK;
    if (chan->kind != GWD_CHAN_NEW)
        return gwd_job_fail(job, GMC_ERR_STATE, "the channel was scanned already");
    if (job->op.path_count == 0)
        return gwd_job_fail(job, GMC_ERR_INVALID, "nothing to stage");
    scan = calloc(1, sizeof *scan);
    chan->roots = calloc(job->op.path_count, sizeof *chan->roots);
    if (scan == NULL || chan->roots == NULL || (scan->writer = gmc_listing_writer_new()) == NULL) {
        free(scan);
        return gwd_job_fail(job, GMC_ERR_NOMEM, "out of memory");
    }
    chan->kind = GWD_CHAN_SOURCE;
    chan->block_bytes = job->op.block_bytes;
    scan->chan = chan;
    scan->job = job;
    for (size_t i = 0; i < job->op.path_count && status == GMC_OK; i++)
        status = add_root(chan, job, store, job->op.paths[i]);
    for (size_t i = 0; i < chan->root_count && status == GMC_OK; i++)
        status = gwd_walk(&chan->roots[i], gwd_store_threads(store), job, add_entry, scan);
    if (status == GMC_OK)
        status = keep_listing(scan);
    gmc_listing_writer_free(scan->writer);
    free(scan);
    return status;
}

gmc_status gwd_op_reopen(struct gwd_store *store, struct gwd_chan *chan, struct gwd_job *job)
{
    char reason[GMC_REASON_BYTES_MAX] = "", *data;
    size_t len = 0;
    gmc_status status;
    bool known;
    (void)store;
    if (chan->kind == GWD_CHAN_SOURCE && chan->listing != NULL)
        return GMC_OK;
    chan->kind = GWD_CHAN_SOURCE;
    chan->block_bytes = job->op.block_bytes;
    chan->listing_bytes = job->op.listing_bytes;
    chan->total_bytes = job->op.total_bytes;
    chan->listing_copy = gwd_read_file(chan->state_fd, GWD_LISTING_FILE, &len);
    if (chan->listing_copy == NULL || len != job->op.listing_bytes)
        return gwd_job_fail(job, GMC_ERR_CHANGED, "the listing of this transfer is lost");
    status = gmc_listing_parse(gmc_bytes(chan->listing_copy, len), job->op.total_bytes,
                               &chan->listing, reason, sizeof reason);
    if (status != GMC_OK)
        return gwd_job_fail(job, GMC_ERR_CHANGED, "%s", reason);
    data = gwd_read_file(chan->state_fd, GWD_SOURCE_FILE, &len);
    known = data != NULL && gwd_source_parse(chan, data, len, gmc_listing_count(chan->listing));
    free(data);
    if (!known)
        return gwd_job_fail(job, GMC_ERR_CHANGED, "the state of this transfer is lost");
    for (size_t i = 0; i < chan->root_count && status == GMC_OK; i++) {
        if (access(chan->roots[i].path, R_OK) != 0)
            status =
                gwd_job_fail(job, GMC_ERR_CHANGED, "%s: %s", chan->roots[i].path, strerror(errno));
    }
    return status == GMC_OK ? gwd_chan_open_files(chan, job) : status;
}

/* ---- reading ---- */
int gwd_source_open_entry(struct gwd_chan *chan, size_t entry)
{
    const char *path = gmc_listing_entry(chan->listing, entry)->path;
    int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    for (size_t i = 0; i < chan->root_count; i++) {
        const struct gwd_root *root = &chan->roots[i];
        size_t len = strlen(root->name);
        if (strncmp(path, root->name, len) != 0)
            continue;
        if (path[len] == '\0')
            return open(root->path, flags);
        if (path[len] == '/' && root->fd >= 0)
            return gwd_open_beneath(root->fd, path + len + 1, flags, 0);
    }
    errno = ENOENT;
    return -1;
}

bool gwd_source_unchanged(const struct gwd_chan *chan, size_t entry, int fd)
{
    struct gwd_ident now;
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    now = gwd_ident_of(&st);
    return memcmp(&now, &chan->idents[entry], sizeof now) == 0;
}
