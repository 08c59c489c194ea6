/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the store share: jobs, the open channel, its descriptors. */
#ifndef GWD_STORE_INT_H
#define GWD_STORE_INT_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "core/listing.h"
#include "gatewayd/store.h"

#define GWD_FDS_MAX 16   /* open files of one channel */
#define GWD_DIRTY_MAX 16 /* files synced one by one; more: the whole file system */
#define GWD_TARGET_FILE "target"
#define GWD_LISTING_FILE "listing"
#define GWD_PAGES_FILE "pages"
#define GWD_SOURCE_FILE "source"
#define GWD_DISCARD_FILE "discard" /* the transfer is over; its tree could not be removed */
#define GWD_SAVED_PREFIX "s."      /* in front of what the core saved */

/* An operation on its way through the workers. */
struct gwd_job {
    struct gwd_job *next;
    struct gmc_store_op op;
    struct gmc_channel_key key; /* of op: compared by other workers after this one's answer */
    struct gmc_store_result result;
    char reason[GMC_REASON_BYTES_MAX];
    uint8_t hash[GMC_HASH_BYTES];     /* READ, WRITE: of the data */
    void *copies;                     /* strings of op */
    struct gmc_interval_set doubtful; /* OPEN, LAYOUT: for the result */
};

/* Sets status and reason of the job's result; returns status. */
gmc_status gwd_job_fail(struct gwd_job *job, gmc_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same from errno: NOSPACE, ACCESS, NOT_FOUND, EXISTS or IO; "what: strerror". */
gmc_status gwd_job_errno(struct gwd_job *job, const char *what);
gmc_status gwd_status_of_errno(int error);

/* ---- what the configuration allows; immutable, shared by reference ---- */
struct gwd_policy_grant {
    char *domain;
    char *directory;  /* canonical */
    char *configured; /* as written */
    uint64_t quota;
};
struct gwd_policy {
    int refs;
    char **exports; /* canonical */
    size_t export_count;
    struct gwd_policy_grant *receives;
    size_t receive_count;
    struct gwd_policy_grant *serves;
    size_t serve_count;
};
struct gwd_policy *gwd_policy_get(struct gwd_store *store);
void gwd_policy_put(struct gwd_store *store, struct gwd_policy *policy);
const struct gwd_policy_grant *gwd_policy_find(const struct gwd_policy_grant *grants, size_t count,
                                               const char *domain);

/* ---- an open channel ---- */
enum gwd_chan_kind { GWD_CHAN_NEW, GWD_CHAN_SOURCE, GWD_CHAN_TARGET };

/* A file as it was scanned; another one under its name, or a later version, is CHANGED. */
struct gwd_ident {
    uint64_t dev, ino, size;
    int64_t mtime_ns;
};

/* A source path of the request: entries NAME and NAME/... of the listing lie at path. */
struct gwd_root {
    char *name;
    char *path; /* canonical */
    int fd;     /* the directory; -1 for a file */
};

struct gwd_open_file {
    size_t entry;
    int fd; /* -1: free */
    int users;
    uint64_t used_at;
};

struct gwd_chan {
    struct gwd_chan *next;
    struct gmc_channel_key key;
    int refs;
    pthread_mutex_t lock;   /* files, dirty set */
    pthread_rwlock_t place; /* where the object is: written by FINISH, read by whoever opens */
    pthread_mutex_t sync;   /* held during SYNC: what another one has begun is waited for */
    enum gwd_chan_kind kind;
    int state_fd;
    int listing_fd;
    int pages_fd;
    uint64_t listing_bytes;
    uint64_t total_bytes;
    uint32_t block_bytes;
    struct gmc_listing *listing; /* NULL before SCAN, REOPEN or LAYOUT */
    char *listing_copy;          /* its bytes */
    struct gwd_open_file files[GWD_FDS_MAX];
    uint64_t clock; /* of files */

    /* source */
    struct gwd_root *roots;
    size_t root_count;
    struct gwd_ident *idents;

    /* target */
    char *granted;   /* canonical granted directory */
    char *relative;  /* destination directory beneath it; "" itself */
    char *new_name;  /* of the single source; "" its own */
    uint32_t writer; /* of the temporary tree's name: several nodes may share a directory */
    int dest_fd;     /* destination directory; -1 before LAYOUT */
    int tree_fd;     /* temporary tree; -1 before LAYOUT and after FINISH */
    /* kept on disk: how far it came */
    size_t made; /* directories at the end of `relative` that were made for it */
    bool laid_out;
    bool finishing; /* renames have begun */
    bool finished;
    /* what it may still need, for quota and space; under the store's lock */
    const char *claim_dir; /* granted; NULL: no claim */
    dev_t claim_dev;
    uint64_t claim_bytes;
    _Atomic uint64_t written; /* data bytes of it that are on disk */
    _Atomic bool *timed;      /* by entry: has its final time; a restart forgets it */
    bool doubted;    /* files were written to after the last checkpoint of the run before */
    bool created;    /* files were made since the last sync */
    bool meta_dirty; /* listing or pages written since then */
    size_t dirty[GWD_DIRTY_MAX];
    _Atomic size_t dirty_count; /* GWD_DIRTY_MAX + 1: more */
};

/* ---- store.c ---- */
int gwd_store_channels_fd(const struct gwd_store *store); /* STATE/channels */
size_t gwd_store_threads(const struct gwd_store *store);  /* as configured; at least 1 */
uint32_t gwd_store_writer(const struct gwd_store *store); /* drawn from a node's name; else 0 */
/* Claims chan->total_bytes beneath chan->granted on device dev, if that and the claims of other
 * unfinished transfers fit into quota_left (of the directory) and space_left (of the device).
 * OK, QUOTA, NOSPACE. */
GMC_NODISCARD gmc_status gwd_store_claim(struct gwd_store *store, struct gwd_chan *chan, dev_t dev,
                                         uint64_t quota_left, uint64_t space_left);
void gwd_store_unclaim(struct gwd_store *store, struct gwd_chan *chan);

/* ---- store_chan.c ---- */
struct gwd_chan *gwd_chan_new(const struct gmc_channel_key *key);
void gwd_chan_free(struct gwd_chan *chan);
void gwd_chan_folder(const struct gmc_channel_key *key, char *out, size_t size);
bool gwd_chan_folder_parse(const char *name, struct gmc_channel_key *key);
bool gwd_chan_key_ok(const struct gmc_channel_key *key);
/* Opens, and with `create` makes, the state folder. */
GMC_NODISCARD gmc_status gwd_chan_open_state(struct gwd_store *store, struct gwd_chan *chan,
                                             struct gwd_job *job, bool create);
/* Opens listing and pages in it. */
GMC_NODISCARD gmc_status gwd_chan_open_files(struct gwd_chan *chan, struct gwd_job *job);
uint64_t gwd_chan_padding_end(const struct gwd_chan *chan); /* offset of the first data byte */
/* A descriptor for an entry; release it with the slot. once: it will not be asked for again soon,
 * so it is not kept open (and no lock is taken: 10,000 small files go this way). */
GMC_NODISCARD gmc_status gwd_chan_acquire(struct gwd_chan *chan, struct gwd_job *job, size_t entry,
                                          bool once, int *fd, int *slot);
/* len bytes are all the data that the entry has. */
bool gwd_entry_is_whole(const struct gwd_chan *chan, size_t entry, size_t len);
void gwd_chan_release(struct gwd_chan *chan, int fd, int slot);
void gwd_chan_close_files(struct gwd_chan *chan);
GMC_NODISCARD gmc_status gwd_op_read(struct gwd_chan *chan, struct gwd_job *job);

/* ---- store_path.c ---- */
/* Opens path beneath dirfd, following no symlink and no "..". errno on failure. */
int gwd_open_beneath(int dirfd, const char *path, int flags, mode_t mode);
/* Makes the missing directories of path beneath dirfd and opens the last one; so many were made, at
 * the end of path, none of them when it fails. */
int gwd_make_beneath(int dirfd, const char *path, size_t *made);
/* path is directory or lies beneath it, by components. Both canonical. */
bool gwd_path_is_beneath(const char *path, const char *directory);
/* Removes name and all beneath it, following nothing. False when something is left. */
bool gwd_remove_tree(int dirfd, const char *name);
/* Bytes allocated beneath directory, without unfinished trees of ours. */
uint64_t gwd_tree_bytes(const char *directory);
bool gwd_is_part_name(const char *name);
/* Writes name in dirfd anew, durably. */
bool gwd_replace_file(int dirfd, const char *name, const void *data, size_t len);
/* The same; its time of modification is said by the caller (UTIME_NOW: as usual). */
bool gwd_replace_file_dated(int dirfd, const char *name, const void *data, size_t len,
                            struct timespec modified);
/* Reads all of name; NULL with errno. One zero byte is put behind it. */
char *gwd_read_file(int dirfd, const char *name, size_t *len);
bool gwd_write_all(int fd, const void *data, size_t len, uint64_t offset);
/* Bytes read, short only at the end of the file; -1 with errno. */
ssize_t gwd_read_all(int fd, void *data, size_t len, uint64_t offset);

/* ---- store_walk.c ---- */
typedef gmc_status (*gwd_walk_visit)(void *ctx, const struct gmc_entry *entry,
                                     const struct gwd_ident *ident);
/* Visits root and all beneath it, directories before what they hold and that in the order of its
 * names, until one is refused. So many threads, this one among them, look at the entries; only
 * this one visits. What it returns has been said to the job too. */
GMC_NODISCARD gmc_status gwd_walk(const struct gwd_root *root, size_t threads, struct gwd_job *job,
                                  gwd_walk_visit visit, void *ctx);

/* ---- store_source.c ---- */
struct gwd_ident gwd_ident_of(const struct stat *st);
gmc_status gwd_op_scan(struct gwd_store *store, struct gwd_chan *chan, struct gwd_job *job);
gmc_status gwd_op_reopen(struct gwd_store *store, struct gwd_chan *chan, struct gwd_job *job);
int gwd_source_open_entry(struct gwd_chan *chan, size_t entry);
bool gwd_source_unchanged(const struct gwd_chan *chan, size_t entry, int fd);
/* Takes what SCAN noted from the bytes of its file, for a listing of so many entries. */
bool gwd_source_parse(struct gwd_chan *chan, const char *data, size_t len, size_t entries);
void gwd_source_fini(struct gwd_chan *chan);

/* ---- store_stored.c ---- */
/* Which of the blocks that the job says are stored are doubtful goes into its result. NOMEM. */
gmc_status gwd_target_check_stored(struct gwd_chan *chan, struct gwd_job *job);
/* What a checkpoint that is saved now is dated with: the time by the clock of the unfinished tree's
 * file system, which may be another machine's. UTIME_NOW where there is no tree yet. */
struct timespec gwd_target_checkpoint_time(struct gwd_chan *chan);
/* Nothing is written any more: the checkpoint that was saved last is dated anew. */
void gwd_target_rest(struct gwd_chan *chan);

/* ---- store_target.c ---- */
gmc_status gwd_op_open(struct gwd_store *store, struct gwd_chan *chan, struct gwd_job *job);
gmc_status gwd_op_layout(struct gwd_store *store, struct gwd_chan *chan, struct gwd_job *job);
gmc_status gwd_op_write(struct gwd_chan *chan, struct gwd_job *job);
gmc_status gwd_op_sync(struct gwd_store *store, struct gwd_chan *chan, struct gwd_job *job);
int gwd_target_open_entry(struct gwd_chan *chan, size_t entry);
/* The mode that an entry is made with, before FINISH. */
mode_t gwd_entry_made_mode(const struct gmc_entry *entry);
void gwd_target_fini(struct gwd_chan *chan);
/* Takes what OPEN noted from the bytes of its file, behind which is a zero byte. */
bool gwd_target_parse(struct gwd_chan *chan, const char *data, size_t len);
/* Reads what OPEN noted; false when there is nothing. */
bool gwd_target_load(struct gwd_chan *chan);
bool gwd_target_note(struct gwd_chan *chan);
void gwd_target_part_name(const struct gwd_chan *chan, char *out, size_t size);
int gwd_target_open_dest(const struct gwd_chan *chan);
/* Removes the directories that were made for the destination and are empty. */
void gwd_target_remove_dest(struct gwd_chan *chan);
/* The final path of an entry, relative to the destination directory. */
void gwd_target_final_path(const struct gwd_chan *chan, const char *path, char *out, size_t size);
/* For messages: the whole path of something in the destination directory. */
void gwd_target_full_path(const struct gwd_chan *chan, const char *path, char *out, size_t size);

/* ---- store_finish.c ---- */
/* As struct timespec for utimensat and futimens: the time of reading stays. */
void gwd_entry_times(const struct gmc_entry *entry, struct timespec times[2]);
gmc_status gwd_op_finish(struct gwd_store *store, struct gwd_chan *chan, struct gwd_job *job);

/* ---- store_state.c ---- */
gmc_status gwd_op_read_page(struct gwd_chan *chan, struct gwd_job *job);
gmc_status gwd_op_write_page(struct gwd_chan *chan, struct gwd_job *job);
gmc_status gwd_op_save(struct gwd_chan *chan, struct gwd_job *job);
gmc_status gwd_op_close(struct gwd_store *store, struct gwd_chan *chan, struct gwd_job *job);

#endif
