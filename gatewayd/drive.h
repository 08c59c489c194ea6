/* SPDX-License-Identifier: BSD-2-Clause */
/* The core and the control API behind one set of calls, which the daemon makes and, when asked
 * to, records; and the same calls made again from a recording. */
#ifndef GWD_DRIVE_H
#define GWD_DRIVE_H

#include "core/gateway.h"
#include "ctl/ctl.h"
#include "gatewayd/record.h"

struct gwd_drive;
struct gwd_replay_state;

struct gwd_drive_config {
    struct gmc_gateway_config gateway; /* crypto, trace and domain are borrowed for life */
    struct gmc_ctl_hooks hooks;
    struct gwd_recorder *recorder;   /* NULL: nothing is recorded; borrowed */
    struct gwd_replay_state *replay; /* NULL but for gwd_replay */
};

/* NULL when out of memory. */
struct gwd_drive *gwd_drive_new(const struct gwd_drive_config *config, gmc_time now);
void gwd_drive_free(struct gwd_drive *drive);
struct gmc_gateway *gwd_drive_gateway(struct gwd_drive *drive); /* to look at */

gmc_peer gwd_drive_peer(struct gwd_drive *drive, gmc_time now, const char *domain);
void gwd_drive_node(struct gwd_drive *drive, gmc_time now, gmc_peer peer, bool is_node);
void gwd_drive_group(struct gwd_drive *drive, gmc_time now, struct gmc_bytes word,
                     uint64_t rate_bps, uint32_t payload_max);
/* Another key of this domain (DER), which crypto holds. NOMEM: it stays as it is. */
gmc_status gwd_drive_key(struct gwd_drive *drive, gmc_time now, struct gmc_bytes spki);
void gwd_drive_subnet(struct gwd_drive *drive, gmc_time now, const char *subnet);
void gwd_drive_deliver(struct gwd_drive *drive, gmc_time now, const char *inside);
/* NULL: none. ctx is borrowed for life. */
void gwd_drive_tree(struct gwd_drive *drive, gmc_time now, const struct gmc_inside_tree *tree);
gmc_status gwd_drive_saved(struct gwd_drive *drive, gmc_time now, const struct gmc_saved *saved);
void gwd_drive_start(struct gwd_drive *drive, gmc_time now);
gmc_status gwd_drive_datagram(struct gwd_drive *drive, gmc_time now, const struct gmc_dgram_in *in);
void gwd_drive_change(struct gwd_drive *drive, gmc_time now, const struct gmc_peer_change *change);
/* op is what was asked (its data is recorded where it was read). */
void gwd_drive_stored(struct gwd_drive *drive, gmc_time now, const struct gmc_store_result *result,
                      const struct gmc_store_op *op);
void gwd_drive_timer(struct gwd_drive *drive, gmc_time now);
void gwd_drive_request(struct gwd_drive *drive, gmc_time now, gmc_peer origin,
                       struct gmc_bytes request, struct gmc_ctl_answer *answer);
bool gwd_drive_reply(struct gwd_drive *drive, gmc_time now, uint64_t id, struct gmc_bytes reply,
                     struct gmc_ctl_answer *answer);
gmc_status gwd_drive_forward(struct gwd_drive *drive, gmc_time now, gmc_peer peer, uint64_t id,
                             struct gmc_bytes request);
void gwd_drive_answer(struct gwd_drive *drive, gmc_time now, gmc_peer peer, uint64_t id,
                      struct gmc_bytes reply);
gmc_status gwd_drive_open(struct gwd_drive *drive, gmc_time now,
                          const struct gmc_open_request *request, struct gmc_channel_key *key,
                          const char **error);
gmc_status gwd_drive_publish(struct gwd_drive *drive, gmc_time now, uint64_t e,
                             struct gmc_bytes message);
gmc_status gwd_drive_end(struct gwd_drive *drive, gmc_time now, uint64_t e, const char *reason);
bool gwd_drive_next_output(struct gwd_drive *drive, struct gmc_output *out);
/* Outputs were taken; to be called before the next input when any was. */
void gwd_drive_drained(struct gwd_drive *drive, gmc_time now);
gmc_time gwd_drive_deadline(const struct gwd_drive *drive);

/* ---- again ---- */
struct gwd_replay_result {
    uint64_t records, inputs, outputs;
    uint64_t hash;       /* of all outputs */
    uint64_t differs_at; /* record where outputs first differ, or that is damaged; 0: none */
    bool is_cut;         /* it ends inside of a record, as when its gateway was killed */
    char reason[256];    /* what is wrong; "" nothing */
};
/* True when the outputs are the recorded ones. */
bool gwd_replay(const char *path, struct gwd_replay_result *result);

#endif
