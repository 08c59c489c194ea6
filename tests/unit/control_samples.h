/* SPDX-License-Identifier: BSD-2-Clause */
/* One message of each type, with every field of it set, a record and a member of one; their bytes
 * stand in
 * tests/vectors/control.txt. */
#ifndef TESTS_UNIT_CONTROL_SAMPLES_H
#define TESTS_UNIT_CONTROL_SAMPLES_H

#include "wire/control.h"

struct control_sample {
    const char *name;
    struct gmc_msg msg;
};

extern const struct control_sample control_samples[];
extern const size_t control_sample_count;
extern const struct gmc_record record_sample;
extern const struct gmc_member member_sample;

#endif
