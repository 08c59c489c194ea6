/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading a file. */
#include "interconnect/command/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim-wan/mem.h"

#define READ_BYTES 65536u
#define FILE_BYTES_MAX ((size_t)1 << 30)

char *ic_read_file(const char *name, size_t *length)
{
    FILE *file = fopen(name, "re");
    char *bytes = NULL;
    size_t got = 1;
    *length = 0;
    if (file == NULL)
        return NULL;
    while (got > 0 && *length < FILE_BYTES_MAX) {
        bytes = sim_grow(bytes, *length + READ_BYTES, 1);
        got = fread(bytes + *length, 1, READ_BYTES, file);
        *length += got;
    }
    if (*length >= FILE_BYTES_MAX)
        errno = EFBIG;
    if (ferror(file) || *length >= FILE_BYTES_MAX) {
        free(bytes);
        bytes = NULL;
    }
    fclose(file);
    return bytes;
}
