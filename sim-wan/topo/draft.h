/* SPDX-License-Identifier: BSD-2-Clause */
/* A map as a reader finds it, each thing with its line; and what makes a topology of it. */
#ifndef SIM_TOPO_DRAFT_H
#define SIM_TOPO_DRAFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "sim-wan/topo/names.h"
#include "sim-wan/topo/read.h"

struct sim_draft_node {
    char *label;        /* NULL: none */
    uint32_t line;      /* of its declaration; 0: there is none */
    uint32_t mentioned; /* line of the first link to it */
    bool is_hyperedge;
    bool has_longitude, has_latitude;
    double longitude, latitude; /* degrees */
};

struct sim_draft_link {
    uint32_t a, b;
    uint32_t line;
    bool has_delay;
    gmc_duration delay;
    uint64_t rate_bps;    /* 0: not said */
    bool speed_is_unread; /* or said in words that are not understood */
};

struct sim_draft {
    const char *path; /* for messages */
    char *error;
    bool is_directed;
    bool ids_are_names;
    struct sim_names ids;
    struct sim_draft_node *nodes; /* by the number of the id */
    size_t node_count, node_capacity;
    struct sim_draft_link *links;
    size_t link_count, link_capacity;
    char unread_speed[SIM_TOPO_SPEED_MAX]; /* the first that was not understood, and where */
    uint32_t unread_line;
};

/* Borrows path and error (SIM_TOPO_ERROR_MAX bytes). */
void sim_draft_init(struct sim_draft *draft, const char *path, char *error);
void sim_draft_fini(struct sim_draft *draft);

/* Writes "PATH:LINE: ..."; line 0: without. GMC_ERR_INVALID. */
GMC_NODISCARD gmc_status sim_draft_fail(struct sim_draft *draft, uint32_t line, const char *format,
                                        ...) __attribute__((format(printf, 3, 4)));

/* The node with that id, made when new: links may come before their nodes. *node is its number. */
GMC_NODISCARD gmc_status sim_draft_mention(struct sim_draft *draft, const char *id, uint32_t line,
                                           uint32_t *node);
/* The same as a declaration; an error when it was declared before. */
GMC_NODISCARD gmc_status sim_draft_declare(struct sim_draft *draft, const char *id, uint32_t line,
                                           uint32_t *node);
GMC_NODISCARD gmc_status sim_draft_add_link(struct sim_draft *draft,
                                            const struct sim_draft_link *link);

/* ---- attributes, as GML and GraphML have them ---- */
/* Of a node: label, Longitude, Latitude, hyperedge. Others are left alone. */
GMC_NODISCARD gmc_status sim_draft_node_attribute(struct sim_draft *draft, uint32_t node,
                                                  const char *key, const char *value,
                                                  uint32_t line);

/* Of a link: the Zoo's LinkSpeedRaw (bit/s), LinkSpeed with LinkSpeedUnits, LinkLabel, which are
 * read in this order, the first that is a rate counts; and our own delay ("12.5ms") and rate
 * ("100Mbit"), which go before. */
struct sim_link_attributes {
    double raw_bps;
    char speed[24], units[16], label[SIM_TOPO_SPEED_MAX];
    uint64_t rate_bps;
    bool has_delay;
    gmc_duration delay;
};
GMC_NODISCARD gmc_status sim_draft_link_attribute(struct sim_draft *draft,
                                                  struct sim_link_attributes *attributes,
                                                  const char *key, const char *value,
                                                  uint32_t line);
/* Adds the link with the rate and delay that its attributes say. */
GMC_NODISCARD gmc_status sim_draft_end_link(struct sim_draft *draft, struct sim_draft_link *link,
                                            const struct sim_link_attributes *attributes);

/* Adds the links, between two nodes one, with rates; delays that are not given are
 * GMC_TIME_NEVER. All of options is set. */
void sim_draft_add_links(const struct sim_draft *draft, const struct sim_topo_options *options,
                         struct sim_topo *topo, struct sim_topo_notes *notes);

/* Makes the topology: names, places, delays, rates; what readers may not let through is refused
 * with its line. All of options is set; topo is initialised and empty. */
GMC_NODISCARD gmc_status sim_draft_finish(struct sim_draft *draft,
                                          const struct sim_topo_options *options,
                                          struct sim_topo *topo, struct sim_topo_notes *notes);

#endif
