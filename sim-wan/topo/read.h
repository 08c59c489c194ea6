/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading topologies: our own format (conf.h), GML and GraphML as the Internet Topology Zoo writes
 * them, lists of edges, and the names of generated families (family.h).
 *
 *   Knight, Nguyen, Falkner, Bowden, Roughan: The Internet Topology Zoo, IEEE JSAC 29(9), 2011
 *
 * Maps are not hosts and wires: what has to be added or left out is counted, and can be shown.
 */
#ifndef SIM_TOPO_READ_H
#define SIM_TOPO_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/time.h"
#include "sim-wan/topo/topo.h"

#define SIM_TOPO_QUEUE_MAX GMC_S(10)
#define SIM_TOPO_QUEUE_BYTES_MIN 3000u /* two full packets */
#define SIM_TOPO_SPEED_MAX 64u         /* bytes of a speed in words that are kept, with the zero */

/* What a map does not say. Zero stands for what is in brackets. */
struct sim_topo_options {
    uint64_t rate_bps;      /* of links without one [1 Gbit/s] */
    gmc_duration delay;     /* of links that have neither one nor places at both ends [5 ms, as
                             * 1,000 km of fibre have] */
    gmc_duration queue;     /* every wire's queue, in time at its rate, at most
                             * SIM_TOPO_QUEUE_MAX [50 ms] */
    bool largest_component; /* leave out what no path joins to the largest part, instead of
                             * refusing the map */
};

/* What was done to a map so that it became a topology. */
struct sim_topo_notes {
    uint32_t renamed_nodes;    /* labels that were missing or there before */
    uint32_t routers;          /* hyperedges: joints of a wire with several ends, no gateway */
    uint32_t estimated_places; /* put amid their neighbours */
    uint32_t unplaced_nodes;   /* and none of their neighbours is placed */
    uint32_t map_delays;       /* links with the delay of the great circle */
    uint32_t default_delays, default_rates; /* links of which nothing is said */
    uint32_t unread_rates; /* links with the default rate, as what is said is not understood */
    char unread_rate[SIM_TOPO_SPEED_MAX]; /* the first of these, and its line */
    uint32_t unread_line;
    uint32_t merged_links;  /* between the same two nodes, put together into another */
    uint32_t self_loops;    /* left out */
    uint32_t one_way_links; /* of directed maps, taken both ways */
    uint32_t dropped_nodes; /* outside of the largest component */
};

/* Reads a file, by its extension (.gml, .graphml, .xml, .conf, .edges, .txt) or else by how it
 * begins, or makes a family where path is "FAMILY:..." and there is no such file. options may be
 * NULL (all defaults) and so may notes. GMC_OK, or an error with words in error
 * (SIM_TOPO_ERROR_MAX bytes) that begin with "PATH:LINE: " where a line is to blame; then topo is
 * empty. topo is initialised here. */
GMC_NODISCARD gmc_status sim_topo_read_with(const char *path,
                                            const struct sim_topo_options *options,
                                            struct sim_topo *topo, struct sim_topo_notes *notes,
                                            char *error);
GMC_NODISCARD gmc_status sim_topo_read(const char *path, struct sim_topo *topo, char *error);

/* The same of a text in memory, which is changed: any format but ours, chosen by the extension of
 * the name or by how it begins. text[len] is a zero, and none is before. */
GMC_NODISCARD gmc_status sim_topo_parse_map(const char *name, char *text, size_t len,
                                            const struct sim_topo_options *options,
                                            struct sim_topo *topo, struct sim_topo_notes *notes,
                                            char *error);

/* The next of the notes in words, e.g. "2 links from a node to itself were left out"; NULL after
 * the last. buffer has SIM_TOPO_NOTE_MAX bytes. Those with a count of zero are passed over: *cursor
 * begins at 0. */
#define SIM_TOPO_NOTE_MAX 200u
const char *sim_topo_next_note(const struct sim_topo_notes *notes, size_t *cursor, char *buffer);

#endif
