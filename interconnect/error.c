/* SPDX-License-Identifier: BSD-2-Clause */
/* The words of a refusal. */
#include "interconnect/error.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

gmc_status ic_refuse(char *error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error, IC_ERROR_MAX, format, args);
    va_end(args);
    return GMC_ERR_INVALID;
}

gmc_status ic_check_range(const char *what, uint64_t value, uint64_t least, uint64_t most,
                          char *error)
{
    if (value >= least && value <= most)
        return GMC_OK;
    return ic_refuse(error, "%s is %" PRIu64 "; it must be %" PRIu64 " to %" PRIu64, what, value,
                     least, most);
}

gmc_status ic_check_number(const char *what, double value, double least, double most, char *error)
{
    if (isfinite(value) && value >= least && value <= most)
        return GMC_OK;
    return ic_refuse(error, "%s is %g; it must be %g to %g", what, value, least, most);
}

gmc_status ic_stopped(char *error)
{
    ic_refuse(error, "the simulation was ended before it had its figures");
    return GMC_ERR_STATE;
}
