/* SPDX-License-Identifier: BSD-2-Clause */
/* Putting a summary together: jansson where memory does not run out. */
#ifndef SIM_RUN_JSON_H
#define SIM_RUN_JSON_H

#include <jansson.h>

#include "base/time.h"

double sim_seconds(gmc_duration time);
/* JSON has no infinity: null. */
json_t *sim_json_real(double value);
json_t *sim_json_integer(uint64_t value);
/* JSON is UTF-8; of names from files that are not, the bytes that are no ASCII become '?'. */
json_t *sim_json_text(const char *name);
/* Take the value. */
void sim_json_put(json_t *object, const char *name, json_t *value);
void sim_json_append(json_t *list, json_t *value);

#endif
