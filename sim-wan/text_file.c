/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading texts; see text_file.h. */
#include "sim-wan/text_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim-wan/mem.h"

#define BYTES_MAX ((size_t)64 << 20)
#define BYTES_FIRST ((size_t)1 << 16)
#define BOM "\xef\xbb\xbf"

/* errno of what went wrong, 0: nothing. *text has room for BYTES_FIRST bytes. */
static int load(const char *path, char **text, size_t *len)
{
    FILE *file = fopen(path, "re");
    size_t capacity = BYTES_FIRST, got;
    if (file == NULL)
        return errno;
    while ((got = fread(*text + *len, 1, capacity - 1 - *len, file)) > 0 && *len <= BYTES_MAX) {
        *len += got;
        if (*len == capacity - 1) {
            capacity *= 2;
            *text = sim_grow(*text, capacity, 1);
        }
    }
    int reason = ferror(file) != 0 ? errno : 0;
    fclose(file);
    return reason;
}

char *sim_text_read(const char *path, size_t *len, char *error)
{
    char *text = sim_alloc(BYTES_FIRST);
    *len = 0;
    error[0] = '\0';
    int reason = load(path, &text, len);
    if (reason != 0)
        snprintf(error, SIM_TEXT_ERROR_MAX, "cannot be read: %s", strerror(reason));
    else if (*len > BYTES_MAX)
        snprintf(error, SIM_TEXT_ERROR_MAX, "is larger than %zu MiB", BYTES_MAX >> 20);
    else if (memchr(text, '\0', *len) != NULL)
        snprintf(error, SIM_TEXT_ERROR_MAX, "holds a zero byte; expected a text");
    if (error[0] != '\0') {
        free(text);
        return NULL;
    }
    text[*len] = '\0';
    if (strncmp(text, BOM, strlen(BOM)) == 0) {
        *len -= strlen(BOM);
        memmove(text, text + strlen(BOM), *len + 1);
    }
    return text;
}
