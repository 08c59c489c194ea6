/* SPDX-License-Identifier: BSD-2-Clause */
/* The disk: worker threads that execute the core's store operations by ticket. Results come back
 * to the loop through a queue that an eventfd announces. */
#ifndef GWD_STORE_H
#define GWD_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/io.h"
#include "gatewayd/conf.h"
#include "gatewayd/workers.h"

struct gwd_store;

/* Starts the workers; conf gives state directory, workers, exports and grants (copied). hash is
 * crypto->ops->hash. NULL with a reason. */
struct gwd_store *gwd_store_new(const struct gwd_conf *conf, const struct gmc_crypto *crypto,
                                char *reason, size_t size);
/* Finishes what is queued, ends the workers, closes everything; keeps the state directory. */
void gwd_store_free(struct gwd_store *store);
/* New exports and grants, from here on; running transfers keep what they opened. */
bool gwd_store_configure(struct gwd_store *store, const struct gwd_conf *conf);

/* Copies the operation; op->data stays borrowed until its result was taken. Operations are
 * gathered; flush hands them to the workers. */
void gwd_store_submit(struct gwd_store *store, const struct gmc_store_op *op);
void gwd_store_flush(struct gwd_store *store);
/* Readable when results wait. */
int gwd_store_fd(const struct gwd_store *store);
/* Takes the next result; its reason is borrowed until the next call. op (may be NULL) is filled
 * with what was asked. */
bool gwd_store_next(struct gwd_store *store, struct gmc_store_result *result,
                    struct gmc_store_op *op);
size_t gwd_store_pending(const struct gwd_store *store);
struct gwd_workers_load gwd_store_load(struct gwd_store *store);

/* May a local user (from NULL) or a domain have path staged? The canonical path is beneath an
 * export, or beneath what serve grants to it. ACCESS, NOT_FOUND with a reason. */
GMC_NODISCARD gmc_status gwd_store_may_read(struct gwd_store *store, const char *from,
                                            const char *path, char *reason, size_t size);

/* path lies beneath directory as it is written, without looking at the disk. */
bool gwd_store_is_beneath(const char *path, const char *directory);

/* Whether the directories of all unfinished transfers can be written to; else reason names one. To
 * go on without would be to give that transfer up, with all of it that has arrived: a file system
 * may only be mounted late. */
bool gwd_store_can_go_on(struct gwd_store *store, char *reason, size_t size);

/* Calls visit for every state that an earlier run saved. Folders without one are left-overs of a
 * crash: they are removed, and so is what could not be removed when its transfer ended. To be
 * called before anything is submitted. */
typedef void (*gwd_saved_visit)(void *ctx, const struct gmc_saved *saved);
void gwd_store_saved(struct gwd_store *store, gwd_saved_visit visit, void *ctx);

#endif
