/* SPDX-License-Identifier: BSD-2-Clause */
/* A text that grows. Running out of memory is kept and told at the end: what is added then is
 * lost. */
#ifndef INTERCONNECT_TEXT_H
#define INTERCONNECT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct ic_text {
    char *bytes; /* ended by NUL once something was added; NULL before */
    size_t length, capacity;
    bool is_short; /* of memory */
};

void ic_text_add(struct ic_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Empty, with its memory kept. */
void ic_text_clear(struct ic_text *text);
void ic_text_fini(struct ic_text *text);

#endif
