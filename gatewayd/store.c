/* SPDX-License-Identifier: BSD-2-Clause */
/* The store: operations to the workers and back, what is allowed, the table of open channels. */
#include "gatewayd/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/assert.h"
#include "gatewayd/store_int.h"
#include "gatewayd/workers.h"

struct gwd_store {
    const struct gmc_crypto *crypto;
    int channels_fd;
    size_t threads;
    uint32_t writer;
    struct gwd_workers *workers;

    /* the loop's */
    struct gwd_job *spare; /* jobs to use again */
    struct gwd_job *taken; /* whose reason the loop borrows */

    pthread_mutex_t lock;  /* all below */
    pthread_cond_t unused; /* a channel lost a user */
    struct gwd_chan *chans;
    struct gwd_policy *policy;
};

/* ---- results ---- */
gmc_status gwd_job_fail(struct gwd_job *job, gmc_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(job->reason, sizeof job->reason, format, args);
    va_end(args);
    job->result.status = status;
    job->result.reason = job->reason;
    return status;
}

gmc_status gwd_status_of_errno(int error)
{
    switch (error) {
    case ENOSPC:
        return GMC_ERR_NOSPACE;
    case EDQUOT:
        return GMC_ERR_QUOTA;
    case EACCES:
    case EPERM:
    case EROFS:
    case EXDEV: /* openat2: the path leads out */
    case ELOOP: /* openat2: a symlink is in the way */
        return GMC_ERR_ACCESS;
    case ENOENT:
    case ENOTDIR:
        return GMC_ERR_NOT_FOUND;
    case EEXIST:
        return GMC_ERR_EXISTS;
    case ENOMEM:
        return GMC_ERR_NOMEM;
    default:
        return GMC_ERR_IO;
    }
}

/* In words that fit what we do, where the system's would puzzle. */
static const char *text_of_errno(int error)
{
    switch (error) {
    case EXDEV:
        return "leads out of the directory that is granted or exported";
    case ELOOP:
        return "leads over a symbolic link, and none is followed here; name what it points at";
    default:
        return strerror(error);
    }
}

gmc_status gwd_job_errno(struct gwd_job *job, const char *what)
{
    int error = errno;
    return gwd_job_fail(job, gwd_status_of_errno(error), "%s: %s", what, text_of_errno(error));
}

uint32_t gwd_store_writer(const struct gwd_store *store)
{
    return store->writer;
}

int gwd_store_channels_fd(const struct gwd_store *store)
{
    return store->channels_fd;
}

size_t gwd_store_threads(const struct gwd_store *store)
{
    return store->threads;
}

/* ---- policy ---- */
static void free_grants(struct gwd_policy_grant *grants, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(grants[i].domain);
        free(grants[i].directory);
        free(grants[i].configured);
    }
    free(grants);
}

static void policy_free(struct gwd_policy *policy)
{
    if (policy == NULL)
        return;
    for (size_t i = 0; i < policy->export_count; i++)
        free(policy->exports[i]);
    free(policy->exports);
    free_grants(policy->receives, policy->receive_count);
    free_grants(policy->serves, policy->serve_count);
    free(policy);
}

static char *canonical(const char *path)
{
    char *real = realpath(path, NULL);
    return real != NULL ? real : strdup(path);
}

static struct gwd_policy_grant *copy_grants(const struct gwd_conf_grant *from, size_t count)
{
    struct gwd_policy_grant *grants = calloc(count + 1, sizeof *grants);
    for (size_t i = 0; grants != NULL && i < count; i++) {
        grants[i].domain = strdup(from[i].domain);
        grants[i].directory = canonical(from[i].directory);
        grants[i].configured = strdup(from[i].directory);
        grants[i].quota = from[i].quota;
        GMC_ASSERT(grants[i].domain != NULL && grants[i].directory != NULL &&
                   grants[i].configured != NULL);
    }
    return grants;
}

static struct gwd_policy *policy_new(const struct gwd_conf *conf)
{
    struct gwd_policy *policy = calloc(1, sizeof *policy);
    if (policy == NULL)
        return NULL;
    policy->refs = 1;
    policy->exports = calloc(conf->exports.count + 1, sizeof *policy->exports);
    policy->receives = copy_grants(conf->receives, conf->receive_count);
    policy->serves = copy_grants(conf->serves, conf->serve_count);
    if (policy->exports == NULL || policy->receives == NULL || policy->serves == NULL) {
        policy_free(policy);
        return NULL;
    }
    policy->receive_count = conf->receive_count;
    policy->serve_count = conf->serve_count;
    for (size_t i = 0; i < conf->exports.count; i++)
        policy->exports[policy->export_count++] = canonical(conf->exports.items[i]);
    return policy;
}

struct gwd_policy *gwd_policy_get(struct gwd_store *store)
{
    struct gwd_policy *policy;
    (void)pthread_mutex_lock(&store->lock);
    policy = store->policy;
    policy->refs++;
    (void)pthread_mutex_unlock(&store->lock);
    return policy;
}

void gwd_policy_put(struct gwd_store *store, struct gwd_policy *policy)
{
    bool last;
    (void)pthread_mutex_lock(&store->lock);
    last = --policy->refs == 0;
    (void)pthread_mutex_unlock(&store->lock);
    if (last)
        policy_free(policy);
}

const struct gwd_policy_grant *gwd_policy_find(const struct gwd_policy_grant *grants, size_t count,
                                               const char *domain)
{
    const struct gwd_policy_grant *any = NULL;
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(grants[i].domain, domain) == 0)
            return &grants[i];
        if (strcmp(grants[i].domain, "*") == 0)
            any = &grants[i];
    }
    return any;
}

bool gwd_store_configure(struct gwd_store *store, const struct gwd_conf *conf)
{
    struct gwd_policy *policy = policy_new(conf), *old;
    if (policy == NULL)
        return false;
    (void)pthread_mutex_lock(&store->lock);
    old = store->policy;
    store->policy = policy;
    (void)pthread_mutex_unlock(&store->lock);
    if (old != NULL)
        gwd_policy_put(store, old);
    return true;
}

gmc_status gwd_store_may_read(struct gwd_store *store, const char *from, const char *path,
                              char *reason, size_t size)
{
    struct gwd_policy *policy;
    const struct gwd_policy_grant *grant;
    bool may = false;
    char *real = realpath(path, NULL);
    if (real == NULL) {
        gmc_status status = gwd_status_of_errno(errno);
        (void)snprintf(reason, size, "%s: %s", path, strerror(errno));
        return status;
    }
    policy = gwd_policy_get(store);
    for (size_t i = 0; from == NULL && i < policy->export_count; i++)
        may = may || gwd_path_is_beneath(real, policy->exports[i]);
    grant = from != NULL ? gwd_policy_find(policy->serves, policy->serve_count, from) : NULL;
    may = may || (grant != NULL && gwd_path_is_beneath(real, grant->directory));
    gwd_policy_put(store, policy);
    if (!may && from == NULL)
        (void)snprintf(reason, size,
                       "%s is not beneath a directory that gatewayd exports (option export)", real);
    else if (!may)
        (void)snprintf(reason, size, "%s is not beneath a directory that is served to %s", path,
                       from);
    free(real);
    return may ? GMC_OK : GMC_ERR_ACCESS;
}

bool gwd_store_is_beneath(const char *path, const char *directory)
{
    return strstr(path, "..") == NULL && gwd_path_is_beneath(path, directory);
}

/* ---- channels ---- */
static bool same_key(const struct gmc_channel_key *a, const struct gmc_channel_key *b)
{
    return a->e == b->e && strcmp(a->source, b->source) == 0;
}

static struct gwd_chan *chan_get(struct gwd_store *store, const struct gmc_channel_key *key,
                                 bool create)
{
    struct gwd_chan *chan;
    (void)pthread_mutex_lock(&store->lock);
    for (chan = store->chans; chan != NULL && !same_key(&chan->key, key);)
        chan = chan->next;
    if (chan == NULL && create && (chan = gwd_chan_new(key)) != NULL) {
        chan->writer = store->writer;
        chan->next = store->chans;
        store->chans = chan;
    }
    if (chan != NULL)
        chan->refs++;
    (void)pthread_mutex_unlock(&store->lock);
    return chan;
}

static void chan_put(struct gwd_store *store, struct gwd_chan *chan)
{
    (void)pthread_mutex_lock(&store->lock);
    chan->refs--;
    (void)pthread_cond_broadcast(&store->unused);
    (void)pthread_mutex_unlock(&store->lock);
}

/* Takes the channel out of the table and waits until the caller is its only user. */
static void chan_take_out(struct gwd_store *store, struct gwd_chan *chan)
{
    (void)pthread_mutex_lock(&store->lock);
    for (struct gwd_chan **at = &store->chans; *at != NULL; at = &(*at)->next) {
        if (*at == chan) {
            *at = chan->next;
            break;
        }
    }
    while (chan->refs > 1)
        (void)pthread_cond_wait(&store->unused, &store->lock);
    (void)pthread_mutex_unlock(&store->lock);
}

gmc_status gwd_store_claim(struct gwd_store *store, struct gwd_chan *chan, dev_t dev,
                           uint64_t quota_left, uint64_t space_left)
{
    uint64_t in_directory = 0, on_device = 0, mine = chan->total_bytes;
    uint64_t missing = mine - (chan->written < mine ? chan->written : mine);
    gmc_status status = GMC_OK;
    (void)pthread_mutex_lock(&store->lock);
    for (const struct gwd_chan *c = store->chans; c != NULL; c = c->next) {
        uint64_t written = c->written < c->claim_bytes ? c->written : c->claim_bytes;
        if (c == chan || c->claim_dir == NULL)
            continue;
        if (strcmp(c->claim_dir, chan->granted) == 0)
            in_directory += c->claim_bytes;
        if (c->claim_dev == dev)
            on_device += c->claim_bytes - written;
    }
    if (in_directory > quota_left || mine > quota_left - in_directory)
        status = GMC_ERR_QUOTA;
    else if (on_device > space_left || missing > space_left - on_device)
        status = GMC_ERR_NOSPACE;
    if (status == GMC_OK) {
        chan->claim_dir = chan->granted;
        chan->claim_dev = dev;
        chan->claim_bytes = mine;
    }
    (void)pthread_mutex_unlock(&store->lock);
    return status;
}

void gwd_store_unclaim(struct gwd_store *store, struct gwd_chan *chan)
{
    (void)pthread_mutex_lock(&store->lock);
    chan->claim_dir = NULL;
    (void)pthread_mutex_unlock(&store->lock);
}

/* ---- operations ---- */
static gmc_status dispatch(struct gwd_store *store, struct gwd_chan *chan, struct gwd_job *job)
{
    switch (job->op.kind) {
    case GMC_STORE_SCAN:
        return gwd_op_scan(store, chan, job);
    case GMC_STORE_REOPEN:
        return gwd_op_reopen(store, chan, job);
    case GMC_STORE_OPEN:
        return gwd_op_open(store, chan, job);
    case GMC_STORE_LAYOUT:
        return gwd_op_layout(store, chan, job);
    case GMC_STORE_READ:
        return gwd_op_read(chan, job);
    case GMC_STORE_WRITE:
        return gwd_op_write(chan, job);
    case GMC_STORE_READ_PAGE:
        return gwd_op_read_page(chan, job);
    case GMC_STORE_WRITE_PAGE:
        return gwd_op_write_page(chan, job);
    case GMC_STORE_SYNC:
        return gwd_op_sync(store, chan, job);
    case GMC_STORE_SAVE:
        return gwd_op_save(chan, job);
    case GMC_STORE_FINISH:
        return gwd_op_finish(store, chan, job);
    case GMC_STORE_CLOSE:
        return gwd_op_close(store, chan, job);
    }
    return gwd_job_fail(job, GMC_ERR_INVALID, "unknown store operation");
}

static bool makes_channel(enum gmc_store_kind kind)
{
    return kind == GMC_STORE_SCAN || kind == GMC_STORE_REOPEN || kind == GMC_STORE_OPEN ||
           kind == GMC_STORE_SAVE || kind == GMC_STORE_CLOSE;
}

static void execute_one(struct gwd_store *store, struct gwd_job *job)
{
    enum gmc_store_kind kind = job->op.kind;
    struct gwd_chan *chan;
    if (!gwd_chan_key_ok(&job->key)) {
        (void)gwd_job_fail(job, GMC_ERR_INVALID, "'%s' cannot be a domain", job->key.source);
        return;
    }
    chan = chan_get(store, &job->key, makes_channel(kind));
    if (chan == NULL) {
        (void)gwd_job_fail(job, GMC_ERR_STATE, "the channel is not open");
        return;
    }
    if (kind == GMC_STORE_CLOSE)
        chan_take_out(store, chan);
    job->result.status = GMC_OK;
    if (gwd_chan_open_state(store, chan, job, kind != GMC_STORE_CLOSE) == GMC_OK)
        job->result.status = dispatch(store, chan, job);
    if (job->result.status != GMC_OK && job->result.reason == NULL)
        job->result.reason = gmc_status_text(job->result.status);
    if (kind == GMC_STORE_CLOSE)
        gwd_chan_free(chan);
    else
        chan_put(store, chan);
}

/* Hashes the data of job and of mate, if there is one. */
static void hash(const struct gwd_store *store, struct gwd_job *job, struct gwd_job *mate)
{
    const struct gmc_crypto_ops *ops = store->crypto->ops;
    if (mate == NULL)
        ops->hash(job->op.data, job->op.len, job->hash);
    else
        ops->hash_pair((const uint8_t *const[2]){job->op.data, mate->op.data}, job->op.len,
                       (uint8_t *const[2]){job->hash, mate->hash});
}

/* What is written is hashed before, what was read behind. */
static void execute(void *ctx, struct gwd_job *job, struct gwd_job *mate)
{
    struct gwd_store *store = ctx;
    if (job->op.kind == GMC_STORE_WRITE)
        hash(store, job, mate);
    execute_one(store, job);
    if (mate != NULL)
        execute_one(store, mate);
    if (job->op.kind == GMC_STORE_READ) {
        hash(store, job, mate);
        memcpy(job->result.hash, job->hash, sizeof job->hash);
        if (mate != NULL)
            memcpy(mate->result.hash, mate->hash, sizeof mate->hash);
    }
}

/* ---- for the loop ---- */
/* Two daemons with one journal would both go on with each transfer, into the same files. The lock
 * ends with the process, however that ends; a file system without locks is taken as it is. */
static bool open_state_dir(struct gwd_store *store, const char *path, char *reason, size_t size)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && (mkdirat(fd, "channels", 0700) == 0 || errno == EEXIST))
        store->channels_fd = openat(fd, "channels", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (store->channels_fd < 0)
        (void)snprintf(reason, size, "state directory %s: %s", path, strerror(errno));
    if (fd >= 0)
        (void)close(fd);
    if (store->channels_fd < 0)
        return false;
    if (flock(store->channels_fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return true;
    (void)snprintf(reason, size,
                   "state directory %s is in use by another daemon; stop it, or give each one of "
                   "its own (option state)",
                   path);
    return false;
}

struct gwd_store *gwd_store_new(const struct gwd_conf *conf, const struct gmc_crypto *crypto,
                                char *reason, size_t size)
{
    struct gwd_store *store = calloc(1, sizeof *store);
    (void)snprintf(reason, size, "out of memory");
    if (store == NULL)
        return NULL;
    store->crypto = crypto;
    store->channels_fd = -1;
    if (conf->node_of[0] != '\0') {
        uint8_t hash[GMC_HASH_BYTES];
        crypto->ops->hash((const uint8_t *)conf->domain, strlen(conf->domain), hash);
        store->writer = gmc_get32(hash);
    }
    (void)pthread_mutex_init(&store->lock, NULL);
    (void)pthread_cond_init(&store->unused, NULL);
    if (!gwd_store_configure(store, conf) || !open_state_dir(store, conf->state, reason, size)) {
        gwd_store_free(store);
        return NULL;
    }
    store->threads = conf->workers;
    store->workers = gwd_workers_new(store->threads, execute, store);
    if (store->workers == NULL) {
        (void)snprintf(reason, size, "no worker thread can be started");
        gwd_store_free(store);
        return NULL;
    }
    return store;
}

static void job_free(struct gwd_job *job)
{
    if (job == NULL)
        return;
    free(job->copies);
    gmc_interval_fini(&job->doubtful);
    free(job);
}

void gwd_store_free(struct gwd_store *store)
{
    if (store == NULL)
        return;
    gwd_workers_free(store->workers, job_free);
    while (store->chans != NULL) {
        struct gwd_chan *next = store->chans->next;
        gwd_target_rest(store->chans);
        gwd_chan_free(store->chans);
        store->chans = next;
    }
    while (store->spare != NULL) {
        struct gwd_job *next = store->spare->next;
        job_free(store->spare);
        store->spare = next;
    }
    job_free(store->taken);
    policy_free(store->policy);
    if (store->channels_fd >= 0)
        (void)close(store->channels_fd);
    (void)pthread_mutex_destroy(&store->lock);
    (void)pthread_cond_destroy(&store->unused);
    free(store);
}

static char *put_text(char **at, const char *text)
{
    size_t len = strlen(text) + 1;
    char *copy = *at;
    memcpy(copy, text, len);
    *at += len;
    return copy;
}

/* Strings and saved bytes are copied; only block buffers stay borrowed. */
static void copy_op(struct gwd_job *job, const struct gmc_store_op *op)
{
    size_t size = op->path_count * sizeof(char *) + op->bytes.len + 2;
    char *at, **paths;
    job->op = *op;
    job->key = *op->key;
    job->op.key = &job->key;
    job->copies = NULL;
    if (op->path_count == 0 && op->dest == NULL && op->name == NULL && op->bytes.len == 0)
        return;
    for (size_t i = 0; i < op->path_count; i++)
        size += strlen(op->paths[i]) + 1;
    size += op->dest != NULL ? strlen(op->dest) + 1 : 0;
    size += op->name != NULL ? strlen(op->name) + 1 : 0;
    job->copies = malloc(size);
    GMC_ASSERT(job->copies != NULL);
    paths = job->copies;
    at = (char *)(paths + op->path_count);
    for (size_t i = 0; i < op->path_count; i++)
        paths[i] = put_text(&at, op->paths[i]);
    job->op.paths = (const char *const *)paths;
    job->op.dest = op->dest != NULL ? put_text(&at, op->dest) : NULL;
    job->op.name = op->name != NULL ? put_text(&at, op->name) : NULL;
    if (op->bytes.len > 0)
        memcpy(at, op->bytes.data, op->bytes.len);
    job->op.bytes.data = (const uint8_t *)at;
}

void gwd_store_submit(struct gwd_store *store, const struct gmc_store_op *op)
{
    struct gwd_job *job = store->spare;
    if (job != NULL)
        store->spare = job->next;
    else
        job = malloc(sizeof *job);
    GMC_ASSERT(job != NULL);
    copy_op(job, op);
    job->result = (struct gmc_store_result){.ticket = op->ticket};
    gmc_interval_init(&job->doubtful, SIZE_MAX);
    gwd_workers_submit(store->workers, job);
}

void gwd_store_flush(struct gwd_store *store)
{
    gwd_workers_flush(store->workers);
}

int gwd_store_fd(const struct gwd_store *store)
{
    return gwd_workers_fd(store->workers);
}

size_t gwd_store_pending(const struct gwd_store *store)
{
    return gwd_workers_pending(store->workers);
}

struct gwd_workers_load gwd_store_load(struct gwd_store *store)
{
    return gwd_workers_load(store->workers);
}

bool gwd_store_next(struct gwd_store *store, struct gmc_store_result *result,
                    struct gmc_store_op *op)
{
    struct gwd_job *job = store->taken;
    if (job != NULL) {
        free(job->copies);
        job->copies = NULL;
        gmc_interval_fini(&job->doubtful);
        job->next = store->spare;
        store->spare = job;
    }
    store->taken = job = gwd_workers_take(store->workers);
    if (job == NULL)
        return false;
    *result = job->result;
    if (op != NULL)
        *op = job->op;
    return true;
}
