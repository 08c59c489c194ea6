/* SPDX-License-Identifier: BSD-2-Clause */
/* How the interconnect models refuse a parameter: by its name, with the range that is allowed. */
#ifndef INTERCONNECT_ERROR_H
#define INTERCONNECT_ERROR_H

#include <stdint.h>

#include "base/status.h"

/* Bytes of every `error` that a function here takes; filled when it returns INVALID. */
#define IC_ERROR_MAX 256u

/* GMC_OK when least <= value <= most, otherwise INVALID with "WHAT is VALUE; ...". */
GMC_NODISCARD gmc_status ic_check_range(const char *what, uint64_t value, uint64_t least,
                                        uint64_t most, char *error);
/* The same for a number that has to be finite. */
GMC_NODISCARD gmc_status ic_check_number(const char *what, double value, double least, double most,
                                         char *error);
/* GMC_ERR_STATE: who runs a simulation has ended it. */
gmc_status ic_stopped(char *error);
/* INVALID with these words. */
gmc_status ic_refuse(char *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
