/* SPDX-License-Identifier: BSD-2-Clause */
/* A simulated disk: does the core's store operations with latency and a transfer rate, several at a
 * time and therefore out of order, and with faults. What a crash leaves behind follows store.h.
 *
 * An operation takes effect when it is answered, not when it is asked for; buffers are looked at
 * until then, so a core that lets go of one too early is caught by the address sanitizer.
 */
#ifndef SIM_DISK_H
#define SIM_DISK_H

#include "base/pool.h"
#include "base/prng.h"
#include "core/io.h"
#include "sim-wan/engine.h"
#include "sim-wan/store.h"

struct sim_disk_config {
    gmc_duration latency;    /* of every operation; 0: 100 us */
    gmc_duration jitter;     /* uniform in [0, jitter]; 0: as much as the latency */
    uint64_t rate_bps;       /* of all transfers together, bits per second; 0: no limit */
    uint64_t capacity_bytes; /* 0: no limit */
    uint32_t read_error_ppm; /* IO error */
    uint32_t write_error_ppm;
    uint32_t read_flip_ppm; /* one byte comes back wrong */
};

enum sim_crash {
    SIM_CRASH_KILL, /* the process ends: its operations under way may have happened or not */
    SIM_CRASH_POWER /* the same, and what was not durable may be lost or torn */
};

/* Planted faults that the oracles have to report; only for canary runs. */
enum sim_canary {
    SIM_CANARY_NONE,
    SIM_CANARY_FLIP, /* a byte of a block changes after its hash was checked */
    SIM_CANARY_LOSE  /* a block is answered as written, and is not */
};

struct sim_disk_op;

struct sim_disk_sink {
    void *ctx;
    void (*answered)(void *ctx, const struct gmc_store_result *result);
    /* The core broke the store's contract, or stored what the source did not send. */
    void (*violated)(void *ctx, const char *what);
    /* Operations are done, and sim_disk_answer is to be called, now or later. NULL: they are
     * answered by themselves. */
    void (*due)(void *ctx);
};

struct sim_disk_counters {
    uint64_t ops, reads, writes, syncs, saves, errors, mismatches;
    uint64_t written_bytes, read_bytes;
};

struct sim_disk {
    struct sim_engine *engine;
    struct sim_objects *objects;
    struct gmc_pool *ops;            /* records of operations, to use again */
    const struct gmc_crypto *crypto; /* for the hashes that workers make */
    struct sim_disk_sink sink;
    struct sim_disk_config config;
    bool virtual_bodies; /* buffers hold gmc_virtual_kept() bytes of a block */
    struct gmc_prng prng;
    struct sim_event event;
    struct sim_disk_op *first, *last; /* by due time */
    size_t pending;
    gmc_time busy_until;
    struct sim_store **stores;
    size_t store_count, store_capacity;
    bool stalled; /* answers nothing until it is no longer */
    bool is_due;  /* the sink was told */
    /* One planted failure: operations of this kind, so many times, this status. */
    enum gmc_store_kind fail_kind;
    uint32_t fail_times;
    gmc_status fail_status;
    bool source_changed; /* files are no longer what was scanned */
    bool dest_exists;
    enum sim_canary canary;
    struct sim_disk_counters count;
};

/* A pool for the operations of disks, which keeps at most so many records. */
void sim_disk_ops_init(struct gmc_pool *ops, size_t most);

/* Borrows engine, objects, ops and crypto for the disk's life. */
void sim_disk_init(struct sim_disk *disk, struct sim_engine *engine, struct sim_objects *objects,
                   struct gmc_pool *ops, const struct gmc_crypto *crypto,
                   const struct sim_disk_sink *sink, const struct sim_disk_config *config,
                   const struct gmc_prng *prng);
void sim_disk_fini(struct sim_disk *disk);
/* A new rate is that of what waits, too. */
void sim_disk_configure(struct sim_disk *disk, const struct sim_disk_config *config);

/* Takes an operation; it is answered through the sink, later. */
void sim_disk_submit(struct sim_disk *disk, const struct gmc_store_op *op);
/* What will be looked at next, beside the structure itself. */
void sim_disk_near(const struct sim_disk *disk, struct gmc_near *near);
/* Answers what is done, at most so many operations. */
void sim_disk_answer(struct sim_disk *disk, size_t count_max);
/* To be called before the gateway is freed: operations under way end, unanswered. */
void sim_disk_crash(struct sim_disk *disk, enum sim_crash crash);
void sim_disk_stall(struct sim_disk *disk, bool stalled);

/* State to hand back at start, of channels not closed. */
size_t sim_disk_saved_count(const struct sim_disk *disk);
void sim_disk_saved(const struct sim_disk *disk, size_t i, struct gmc_saved *saved);

struct sim_store *sim_disk_store(const struct sim_disk *disk, const struct gmc_channel_key *key);
/* The object stands here under its final name (whole, or a violation was reported). */
bool sim_disk_has_delivered(const struct sim_disk *disk, const struct gmc_channel_key *key);

const char *sim_store_kind_name(enum gmc_store_kind kind);

#endif
