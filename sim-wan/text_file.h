/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts that people give: scenarios and maps. */
#ifndef SIM_TEXT_FILE_H
#define SIM_TEXT_FILE_H

#include <stddef.h>

#define SIM_TEXT_ERROR_MAX 128u

/* All of a file, ended with a zero and with none inside, without the byte order mark that some
 * editors put before UTF-8; to be given back with free. NULL: error has words, not the path. */
char *sim_text_read(const char *path, size_t *len, char *error);

#endif
