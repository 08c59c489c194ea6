/* SPDX-License-Identifier: BSD-2-Clause */
/* What all families of interconnects offer to commands, sweeps and pages: parameters with units and
 * ranges, figures with units, a model and a simulator as functions from the one to the other.
 *
 * A family is one table (x/family.c) over the plain functions of its folder, and one line in
 * families.c. A folder may offer several, when their parameters differ (a router alone, a cube of
 * routers).
 */
#ifndef INTERCONNECT_FAMILY_H
#define INTERCONNECT_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interconnect/error.h"
#include "interconnect/memo.h"

/* Who knows a parameter or a figure. */
#define IC_MODEL 1u
#define IC_SIMULATOR 2u
#define IC_BOTH (IC_MODEL | IC_SIMULATOR)
/* With a figure that may be next to nothing: what the model is apart from a smaller one than 1 of
 * its unit (0.01 of a share) is told relative to that. */
#define IC_SMALL 4u

enum ic_kind {
    IC_COUNT,  /* a whole number up to 2^53 */
    IC_NUMBER, /* any finite one */
    IC_CHOICE, /* a word of a list; its value is the place in the list */
};

struct ic_param {
    const char *name; /* of the option: "k" is --k; no spaces */
    const char *unit; /* "bytes", "messages/cycle/node"; "" for a bare number */
    const char *about;
    enum ic_kind kind;
    double least, most;         /* numbers; what else has to hold the functions say */
    double usual;               /* without the option; of a choice its place */
    const char *const *choices; /* ended by NULL; NULL for numbers */
    unsigned whose;
};

struct ic_output {
    const char *name; /* of the column, without the unit: "latency" */
    const char *unit; /* "us", "cycles"; "" for a bare number */
    const char *about;
    unsigned whose;
};

enum ic_figure_state {
    IC_FIGURE_NONE,      /* there is none: another algorithm has it, or nothing was seen of it */
    IC_FIGURE_KNOWN,     /* finite */
    IC_FIGURE_SATURATED, /* without bound; the result says where */
};

struct ic_figure {
    enum ic_figure_state state;
    double value;
    double half_width; /* of the 95 % interval; 0: exact, as a model's are; INFINITY: not known */
};

struct ic_result {
    struct ic_figure *figures; /* one per output, NONE at first; the caller's */
    bool is_saturated;
    uint64_t warmup;          /* messages before those that a run has measured */
    char where[IC_ERROR_MAX]; /* what is saturated, and from which load on where that is known */
};

/* One message of a simulation. Times are in the family's unit of latency, that of its first output.
 */
struct ic_message_record {
    uint32_t run;    /* of several */
    uint64_t number; /* in it */
    uint32_t from, to;
    uint32_t traffic_class; /*; 0 where there is one */
    uint32_t hops;
    double created;   /* at its source */
    double entered;   /* the network: before it, it was in the source's queue */
    double delivered; /* its last part */
};

/* One channel at the end of a simulation. */
struct ic_channel_record {
    uint32_t from, to; /* nodes or switches, as the family numbers them */
    const char *what;  /* "link", "injection", "ejection" */
    double load;       /* share of the time in which it was busy */
};

/* How a simulation is run. Zeros are good: seed 0, the family's own length, no records. */
struct ic_run {
    uint64_t seed;      /* the same seed and parameters give the same figures */
    uint64_t messages;  /* to be measured after the warm-up; 0: as many as the family thinks good */
    uint32_t runs;      /* that they are divided among (runs.h), up to IC_RUNS; 0: as many */
    uint64_t watched;   /* for so many queues must have grown before that is saturation; it goes on
                         * for that when they did in those measured; 0: those are enough */
    bool only_measures; /* whether queues grow is not looked into: another run has done so */
    /* Called about 100 times, with the share that is done; false ends the simulation, which then
     * gives GMC_ERR_STATE with words. May be NULL. */
    bool (*on_progress)(void *ctx, double share);
    void (*on_message)(void *ctx, const struct ic_message_record *message); /* or NULL */
    void (*on_channel)(void *ctx, const struct ic_channel_record *channel); /* or NULL */
    void *ctx;
};

/* Beside its values, what a point is computed with. */
struct ic_setting {
    const struct ic_edges *graphs; /* that were read from files (graph/edges.h) */
    size_t graph_count;
    struct ic_memo *memo; /* of the points before and after, or NULL */
};

struct ic_family {
    const char *name;   /* "torus" */
    const char *title;  /* a line for people */
    const char *source; /* of its equations */
    const struct ic_param *params;
    size_t param_count;
    const struct ic_output *outputs;
    size_t output_count;
    const char *load; /* name of the parameter that drives it into saturation; NULL: none does */
    /* Of a simulation, usually, which is made of several runs (runs.h); 0: what it sees is
     * independent, and one run knows its intervals. */
    uint64_t messages;
    /* Of values in the order of params, all within their ranges; the setting has a memo. A model
     * that has no solution says so in the result and is GMC_OK. INVALID with words: parameters
     * that do not go together. NOMEM. Either may be NULL. */
    gmc_status (*model)(const double *values, const struct ic_setting *setting,
                        struct ic_result *result, char *error);
    gmc_status (*simulate)(const double *values, const struct ic_setting *setting,
                           const struct ic_run *run, struct ic_result *result, char *error);
    /* The load from which on the model is saturated, whatever load the values have; NULL: it has
     * none. Errors as of model. */
    gmc_status (*limit)(const double *values, const struct ic_setting *setting, double *load,
                        char *error);
    /* Gives parameters that follow from others their values, so that tables show what was computed
     * with: the nodes of a graph that was read. NULL: none do. */
    void (*settle)(double *values, const struct ic_setting *setting);
};

/* The parameter whose choices files of graphs are added to: values behind its words are places in
 * the setting's graphs. */
#define IC_FAMILY_GRAPHS "topology"

/* All families, in the order of the list. */
extern const struct ic_family *const ic_families[];
extern const size_t ic_family_count;

/* NULL: none of this name. */
const struct ic_family *ic_family_find(const char *name);
/* Place of a parameter or an output; its count when there is none of this name. */
size_t ic_family_param(const struct ic_family *family, const char *name);
size_t ic_family_output(const struct ic_family *family, const char *name);

/* The usual values; room for param_count. */
void ic_family_defaults(const struct ic_family *family, double *values);
/* Reads one value: a number in full ("0.004", "4e3", "64K" and "1M" being 1024 and 1024^2 for
 * counts), or a word of the list. INVALID says what is allowed. */
GMC_NODISCARD gmc_status ic_param_parse(const struct ic_param *param, const char *text,
                                        double *value, char *error);
/* Within its range. INVALID with words. */
GMC_NODISCARD gmc_status ic_param_check(const struct ic_param *param, double value, char *error);

/* What an error of a smaller value is relative to; 0: none is so small. */
double ic_output_floor(const struct ic_output *output);

/* What families use for their results. A value that is not finite is SATURATED. */
void ic_result_set(struct ic_result *result, size_t output, double value);
void ic_result_set_interval(struct ic_result *result, size_t output, double value,
                            double half_width);
/* What one of several runs has measured: its interval comes from all. */
void ic_result_set_measured(struct ic_result *result, size_t output, double value);
/* The family's limit, with values and the setting that its model was given: kept in the memo,
 * sought when it is not there. */
GMC_NODISCARD gmc_status ic_limit_find(const struct ic_family *family, const double *values,
                                       const struct ic_setting *setting, double *load, char *error);
/* All figures that are not known become SATURATED, and these words say where. */
void ic_result_saturated(struct ic_result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The model or the simulator with everything checked before and after: ranges, whole numbers, no
 * figure that is not finite. A simulation is of several runs where its family needs them (runs.h).
 * `result` is made empty first. The setting may be NULL: nothing. NOT_FOUND with words: the family
 * has none. */
GMC_NODISCARD gmc_status ic_family_model(const struct ic_family *family, const double *values,
                                         const struct ic_setting *setting, struct ic_result *result,
                                         char *error);
GMC_NODISCARD gmc_status ic_family_simulate(const struct ic_family *family, const double *values,
                                            const struct ic_setting *setting,
                                            const struct ic_run *run, struct ic_result *result,
                                            char *error);

/* The load from which on the model is saturated; sought once for all loads when the setting has a
 * memo. NOT_FOUND with words: the family's model has no limit. Otherwise as ic_family_model. */
GMC_NODISCARD gmc_status ic_family_limit(const struct ic_family *family, const double *values,
                                         const struct ic_setting *setting, double *load,
                                         char *error);

#endif
