/* SPDX-License-Identifier: BSD-2-Clause */
/* Text of bounded length for people: what does not fit is cut off, on purpose. */
#ifndef GWD_TEXT_H
#define GWD_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

__attribute__((format(printf, 3, 4))) static inline void gwd_text(char *out, size_t size,
                                                                  const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(out, size, format, args);
    va_end(args);
}

#endif
