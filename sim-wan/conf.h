/* SPDX-License-Identifier: BSD-2-Clause */
/* Text files with options and sections: scenarios and topologies of ours. The caller says in tables
 * what there may be; what a file holds is checked value by value against them, and kept as a list
 * of parts with the lines where things stood, so that later messages can name the place too.
 *
 *     name = value
 *     names = {value, value}
 *     section "title" { name = value }
 */
#ifndef SIM_CONF_H
#define SIM_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define SIM_CONF_ERROR_MAX 512u
#define SIM_CONF_SECTIONS_MAX 16u

/* What a value means; the ranges of options are in these units. */
enum sim_conf_type {
    SIM_CONF_TEXT,
    SIM_CONF_TEXTS,    /* a list */
    SIM_CONF_NUMBER,   /* whole */
    SIM_CONF_RATE,     /* bits per second: 100Mbit, 2.5Gbit/s, 64kbit */
    SIM_CONF_DURATION, /* nanoseconds: 15ms, 0.3s, 250us, 2min, 1h */
    SIM_CONF_SIZE,     /* bytes: 64KiB, 1GB, 1500B, 1500 */
    SIM_CONF_SHARE,    /* parts per million: 1%, 0.05%, 300ppm */
    SIM_CONF_DRIFT,    /* parts per thousand million, with sign: 20ppm, -300ppb */
    SIM_CONF_QUEUE,    /* a size, a duration, or 100packets; see sim_conf_queue */
    SIM_CONF_REAL,     /* 13.4, -0.5 */
    SIM_CONF_CHOICE,   /* index in choices */
    SIM_CONF_SWITCH    /* yes, no */
};

struct sim_conf_option {
    const char *name;
    enum sim_conf_type type;
    uint64_t min, max; /* of numbers; max 0: no bound */
    const char *const *choices;
};

struct sim_conf_section {
    const char *name; /* "" for what stands outside of sections */
    bool is_titled;   /* titles of one name differ */
    bool is_single;
    /* Ended by an option without name; `more` may be NULL. */
    const struct sim_conf_option *options, *more;
};

struct sim_conf_value {
    const struct sim_conf_option *option;
    int line; /* of the last text; 0: not from the file */
    char **texts;
    int *lines; /* of each text */
    size_t count, capacity, line_capacity;
};

/* One section of a file, or (the first part) what stands outside. */
struct sim_conf_part {
    const struct sim_conf_section *section;
    char *title; /* NULL: none */
    int line;
    struct sim_conf_value *values;
    size_t count, capacity;
};

struct sim_conf {
    char *file; /* as named in messages */
    const struct sim_conf_section *sections;
    size_t section_count;
    struct sim_conf_part *parts;
    size_t part_count, part_capacity;
    char error[SIM_CONF_ERROR_MAX]; /* the first one: file, line, what is wrong, what is right */
};

/* Reads a file, or a text that is named `name` in messages. Borrows the sections. On an error the
 * conf holds its words, and nothing else that can be used. Always to be ended with fini. */
GMC_NODISCARD gmc_status sim_conf_read(struct sim_conf *conf, const char *path,
                                       const struct sim_conf_section *sections,
                                       size_t section_count);
GMC_NODISCARD gmc_status sim_conf_parse(struct sim_conf *conf, const char *name, const char *text,
                                        const struct sim_conf_section *sections,
                                        size_t section_count);
void sim_conf_fini(struct sim_conf *conf);

/* Sets one value from outside: "name=value", "section.name=value" (of a section that stands there
 * once), "section.title.name=value"; sections without titles are numbered from 1. Values of a list
 * are separated by commas. */
GMC_NODISCARD gmc_status sim_conf_set(struct sim_conf *conf, const char *assignment);

/* The parts of a section by number, in the order of the file; by title. NULL: no such. */
const struct sim_conf_part *sim_conf_part(const struct sim_conf *conf, const char *section,
                                          size_t n);
const struct sim_conf_part *sim_conf_titled(const struct sim_conf *conf, const char *section,
                                            const char *title);
/* The next part of a section behind *cursor, which begins at 0; NULL: no more. */
const struct sim_conf_part *sim_conf_next(const struct sim_conf *conf, const char *section,
                                          size_t *cursor);

/* NULL: not given. */
const struct sim_conf_value *sim_conf_value(const struct sim_conf_part *part, const char *name);
/* Values with a fallback for options that are not given; part may be NULL. Texts are borrowed from
 * the conf. */
const char *sim_conf_text(const struct sim_conf_part *part, const char *name, const char *fallback);
uint64_t sim_conf_number(const struct sim_conf_part *part, const char *name, uint64_t fallback);
int64_t sim_conf_signed(const struct sim_conf_part *part, const char *name, int64_t fallback);
double sim_conf_real(const struct sim_conf_part *part, const char *name, double fallback);

/* A queue's length; one of the three is set. */
struct sim_conf_queue {
    uint64_t bytes, packets, duration;
};
/* False: not given. */
bool sim_conf_queue(const struct sim_conf_part *part, const char *name,
                    struct sim_conf_queue *queue);

/* Puts the words, after file and line of the option (or of the part, when it was not given or is
 * NULL), into conf->error. Returns GMC_ERR_INVALID. */
gmc_status sim_conf_refuse(struct sim_conf *conf, const struct sim_conf_part *part,
                           const char *option, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same at a line; 0: none. */
gmc_status sim_conf_refuse_at(struct sim_conf *conf, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- values (conf_value.c) ---- */
/* The number that a text means, in the units of its type; false when it means none. */
bool sim_conf_meaning(const struct sim_conf_option *option, const char *text, int64_t *number);
bool sim_conf_queue_meaning(const char *text, struct sim_conf_queue *queue);
bool sim_conf_real_meaning(const char *text, double *number);
/* NULL when the text is right for the option, else what would be (static, or in buffer). */
const char *sim_conf_wanted(const struct sim_conf_option *option, const char *text, char *buffer,
                            size_t size);

#endif
