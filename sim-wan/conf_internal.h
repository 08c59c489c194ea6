/* SPDX-License-Identifier: BSD-2-Clause */
/* What conf.c, which reads files, and conf_part.c, which keeps what they hold, share. */
#ifndef SIM_CONF_INTERNAL_H
#define SIM_CONF_INTERNAL_H

#include "sim-wan/conf.h"

/* Puts words into conf->error, unless there are some: the first are the cause of others. */
void sim_conf_say(struct sim_conf *conf, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* NULL: there is none of this name. */
const struct sim_conf_section *sim_conf_section_of(const struct sim_conf *conf, const char *name);
const struct sim_conf_option *sim_conf_option_of(const struct sim_conf_section *section,
                                                 const char *name);

/* The names of a section's options, with commas. */
void sim_conf_list_options(const struct sim_conf_section *section, char *out, size_t size);

/* The value of an option, a new and empty one when it was not given before. */
struct sim_conf_value *sim_conf_open_value(struct sim_conf_part *part,
                                           const struct sim_conf_option *option);
void sim_conf_clear_value(struct sim_conf_value *value);
/* Checks a text and adds it to a value; false when it is wrong, which is said. */
bool sim_conf_add_text(struct sim_conf *conf, const struct sim_conf_part *part,
                       struct sim_conf_value *value, const char *text);

#endif
