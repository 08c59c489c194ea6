/* SPDX-License-Identifier: BSD-2-Clause */
/* Whole files into memory. */
#ifndef INTERCONNECT_COMMAND_FILE_H
#define INTERCONNECT_COMMAND_FILE_H

#include <stddef.h>

/* The file's bytes (malloc), at most 1 GiB; NULL with errno. */
char *ic_read_file(const char *name, size_t *length);

#endif
