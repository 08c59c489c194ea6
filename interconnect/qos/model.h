/* SPDX-License-Identifier: BSD-2-Clause */
/* Latency of message classes in a pipelined wormhole router with VirtualClock scheduling, alone or
 * in a hypercube of such routers: the analytic model.
 *
 * Classes have a virtual channel each; all but the last are real-time, the last is best effort (BE)
 * and is served when no real-time flit can be. Times are cycles, rates messages per cycle and node,
 * lengths flits. With P stages, M flits of a message, b flits of a buffer, mx = max(b, M),
 * e = 1 + 2 mx / M, and weights v_c = rate_c M_c (VirtualClock's 1/Vtick):
 *
 *   sharing     Markov chain over the sets Z of real-time channels that are busy: c enters at
 *               rate'_c, leaves at 1/L_c(Z) - rate'_c; S_c(Z) = sum of v over Z / v_c is the
 *               stretch of c's flits in Z, S_c its mean over the sets with c              (6)-(8)
 *   router      L_c = P - 1 + (M + P_c (mx + M/2)) S_c                                 (2), (5)
 *               P_c = (rate'_c L_c)^e, rate'_c = (1 - P_c) rate_c                       (3), (4)
 *               BE: S = (2 - rho) / (2 (1 - rho)^2), rho = 1 - Pi(empty)                     (9)
 *   cube        e-cube routing, lowest dimension first; channel s = 0..n-1 of a dimension and n,
 *               ejection: equations (10)-(14), written at their places in cube.c
 *   source      W_c = rate_c (L_c^2 + (L_c - T)^2) / (2 (1 - rate_c L_c)) + S_c           (15)
 *               T the latency of an empty network
 *
 * P_c is iterated from 0 with 0.9 old + 0.1 new (0.5 oscillates for BE at high loads). What
 * oscillates even so, beyond the load that the source can send, goes on in shorter steps.
 *
 * Where the source can be read in more than one way: (2) has S where the print has Z; the rate in
 * (4) is the one at which messages are generated, and so it is in the rates of a cube's channels;
 * rho in (9) is 1 - Pi(empty), not a sum of rates; the latency that blocks at the ejection channel
 * is not printed, it is the pipeline and the transfer there; what is stretched on a cube's channel
 * is open, see ic_qos_variant.
 *
 * Source: Kim, Yum, Das 2005.
 */
#ifndef INTERCONNECT_QOS_MODEL_H
#define INTERCONNECT_QOS_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "interconnect/error.h"

#define IC_QOS_CLASSES_MAX 6u
#define IC_QOS_DIMENSION_MAX 10u
#define IC_QOS_CHANNELS (IC_QOS_DIMENSION_MAX + 1u)
#define IC_QOS_SHARINGS (1u << (IC_QOS_CLASSES_MAX - 1u)) /* sets of real-time channels */
#define IC_QOS_FLITS_MAX 4096u
#define IC_QOS_STAGES_MAX 64u
#define IC_QOS_RATE_LEAST 1e-9

/* Which part of a message's time on a channel of the cube is stretched by sharing. */
enum ic_qos_variant {
    IC_QOS_STRETCH_WAIT, /* A: only the waits at the channel, the transfer at ejection */
    IC_QOS_STRETCH_ALL,  /* B: the transfer too; nearer to simulations for BE */
};

struct ic_qos {
    uint64_t dimension;                 /* of the cube, 2..10; 0: one router */
    uint64_t classes;                   /* 2..6 */
    double rate[IC_QOS_CLASSES_MAX];    /* messages per cycle and node, more than 0 */
    uint64_t flits[IC_QOS_CLASSES_MAX]; /* of a message */
    uint64_t stages;                    /* P, 1..64 */
    uint64_t buffer_flits;              /* b, 1..4096 */
    enum ic_qos_variant variant;        /* of a cube */
};

/* Without a solution of its own a class has INFINITY throughout. */
struct ic_qos_latency {
    double network;                   /* L_c; INFINITY: no solution */
    double wait;                      /* W_c at the source; INFINITY: more than it can send */
    double blocking[IC_QOS_CHANNELS]; /* P_c of each channel; of one router the first alone */
    double stretch[IC_QOS_CHANNELS];  /* S_c */
};

struct ic_qos_solution {
    bool has_solution; /* false: real-time traffic alone is too much; all is INFINITY */
    uint64_t channels; /* dimensions + 1 */
    struct ic_qos_latency latency[IC_QOS_CLASSES_MAX];
    /* Pi of the sets of busy real-time channels, bit c being class c; channels as above. */
    double sharing[IC_QOS_CHANNELS][IC_QOS_SHARINGS];
};

/* INVALID with words; a rate that the source's own channel cannot carry is. */
GMC_NODISCARD gmc_status ic_qos_check(const struct ic_qos *qos, char *error);
/* How messages call the rate of a class: of R1, R2, .. and of best effort. */
const char *ic_qos_rate_words(const struct ic_qos *qos, uint64_t traffic_class);
/* INVALID with words; otherwise OK, also where there is no solution, and for rates up to 1, which
 * the equations do not bound. */
GMC_NODISCARD gmc_status ic_qos_model(const struct ic_qos *qos, struct ic_qos_solution *solution,
                                      char *error);

/* The rate of the first class from which on a class's wait is INFINITY, all real-time rates growing
 * alike while BE's stays; to 1e-4 of itself. Not above what the sources' channels carry. 0:
 * whatever the real-time traffic. The given rates need be right only to each other. */
double ic_qos_saturation(const struct ic_qos *qos);

/* T: header through all routers, then the tail; of a mean distance in a cube. */
double ic_qos_empty_latency(const struct ic_qos *qos, uint64_t traffic_class);
/* Mean distance to another node of an n-cube. */
double ic_qos_mean_hops(uint64_t dimension);
/* Of class c while the set of busy real-time channels is this: S_c(Z). */
double ic_qos_stretch(const struct ic_qos *qos, uint64_t traffic_class, unsigned busy);

/* ---- the parts of the model, for its own files ---- */

/* (3): e of a class, and (rate L)^e, 1 at most. */
double ic_qos_exponent(const struct ic_qos *qos, uint64_t traffic_class);
double ic_qos_blocking(double rate, double latency, double exponent);
/* How far a blocking probability goes in a step; begins with zeros. */
struct ic_qos_pace {
    double shortened; /* the part of a usual step that it does not go */
    double gap;       /* to what was wanted, in the step before */
};
/* Steps after which paces are shortened where probabilities still swing. */
#define IC_QOS_STEPS_USUAL 800
/* One damped step, the given one since the beginning, of a blocking probability; how much it would
 * move in a usual one. */
double ic_qos_approach(double *blocking, double wanted, int step, struct ic_qos_pace *pace);
/* (15). */
double ic_qos_source_wait(double rate, double latency, double empty, double stretch);

/* It settles in some 300 steps, in more as the load nears saturation. Where a long step would pass
 * the solution by far (BE beyond saturation, long buffers), steps half as long find it in some
 * hundred more. */
#define IC_QOS_STEPS (2 * IC_QOS_STEPS_USUAL)

/* Whether all sources keep up, of an iteration on its way. Begins with zeros. */
struct ic_qos_watch {
    double busy;                       /* share of the time, of the busiest source */
    double change[IC_QOS_CLASSES_MAX]; /* as in what follows */
    bool is_decided, is_sound;
};
#define IC_QOS_WATCH_STEPS 4 /* it looks after so many */
/* Looks at the present latencies and how much each class moved; true: it is decided. */
bool ic_qos_watch(struct ic_qos_watch *watch, const struct ic_qos *qos, const double *latency,
                  const double *change);

/* The iterations, until they settle, STEPS are done, or a watch that is not NULL has decided.
 * `change` is how much each class moved in the last one. */
void ic_qos_solve(const struct ic_qos *qos, struct ic_qos_watch *watch, double *change,
                  struct ic_qos_solution *solution);
void ic_qos_solve_router(const struct ic_qos *qos, struct ic_qos_watch *watch, double *change,
                         struct ic_qos_solution *solution);
void ic_qos_solve_cube(const struct ic_qos *qos, struct ic_qos_watch *watch, double *change,
                       struct ic_qos_solution *solution);
/* By how much each class moved: no step leads back to a real-time class's probabilities, and
 * without one of them there is no solution. */
bool ic_qos_is_lost(const struct ic_qos *qos, const double *change);
/* Sharing is: where classes come faster than they can leave it is not. */
bool ic_qos_are_probabilities(const struct ic_qos *qos, const struct ic_qos_solution *solution);
/* What did not settle has no solution. */
void ic_qos_judge(const struct ic_qos *qos, const double *change, struct ic_qos_solution *solution);

#endif
