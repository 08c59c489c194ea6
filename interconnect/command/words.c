/* SPDX-License-Identifier: BSD-2-Clause */
/* What all sub-commands say in the same way. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "interconnect/command/command.h"

int ic_bad(const char *command, const char *format, ...)
{
    va_list args;
    fprintf(stderr, "gmcast-interconnect %s: ", command);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return IC_BAD;
}

int ic_finish_output(const char *command)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return IC_DONE;
    return ic_bad(command, "standard output: %s", strerror(errno));
}
