/* SPDX-License-Identifier: BSD-2-Clause */
/* A text that grows. */
#include "interconnect/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static bool make_room(struct ic_text *text, size_t more)
{
    size_t wanted = text->length + more + 1;
    if (text->is_short || wanted <= text->capacity)
        return !text->is_short;
    size_t capacity = wanted < 64 ? 64 : wanted + wanted / 2;
    char *bytes = realloc(text->bytes, capacity);
    text->is_short = bytes == NULL;
    if (bytes == NULL)
        return false;
    text->bytes = bytes;
    text->capacity = capacity;
    return true;
}

void ic_text_add(struct ic_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0 || !make_room(text, (size_t)length))
        return;
    va_start(args, format);
    vsnprintf(text->bytes + text->length, text->capacity - text->length, format, args);
    va_end(args);
    text->length += (size_t)length;
}

void ic_text_clear(struct ic_text *text)
{
    text->length = 0;
    text->is_short = false;
    if (text->bytes != NULL)
        text->bytes[0] = '\0';
}

void ic_text_fini(struct ic_text *text)
{
    free(text->bytes);
    *text = (struct ic_text){0};
}
