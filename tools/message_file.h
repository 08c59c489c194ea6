/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages that are kept as files, whatever their bytes are. */
#ifndef GMC_TOOLS_MESSAGE_FILE_H
#define GMC_TOOLS_MESSAGE_FILE_H

#include <limits.h>
#include <stdbool.h>

#include <gmcast/messages.h>

/* Writes a message into a directory, whole or not at all: a file that is there is complete. Its
 * name is made of source, channel, opening and sequence, so that names of one opening sort in the
 * order in which messages were published; what cannot stand in a file's name is '_'. path gets the
 * directory and the name. It is not forced to the disk: what a host that loses its power had just
 * written may be gone. False after an error message: there is no file. */
bool message_file_write(const char *directory, const struct gmc_received *received,
                        char path[PATH_MAX]);

#endif
