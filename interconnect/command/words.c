/* SPDX-License-Identifier: BSD-2-Clause */
/* What all sub-commands say in the same way. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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

int ic_read_count(const char *command, const char *name, const char *text, uint64_t least,
                  uint64_t *value)
{
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || number < least)
        return ic_bad(command, "--%s is '%s'; it must be a whole number from %llu on", name, text,
                      (unsigned long long)least);
    *value = number;
    return IC_DONE;
}
