/* SPDX-License-Identifier: BSD-2-Clause */
/* The files of recorders: what goes wrong is said once, with the file's name. */
#ifndef SIM_RUN_RECORD_FILE_H
#define SIM_RUN_RECORD_FILE_H

#include <stdbool.h>
#include <stdio.h>

/* error: SIM_RECORD_ERROR_MAX bytes. A folder that exists is fine. */
bool sim_record_make_folder(const char *folder, char *error);
/* FOLDER/NAME, or NAME where folder is NULL. NULL: words are in error. */
FILE *sim_record_create(const char *folder, const char *name, char *error);
/* Closes; NULL is fine. False when anything was not written: words are in error. */
bool sim_record_close(FILE *file, const char *name, char *error);

/* A field of a table: in quotes where it would be taken for several. */
void sim_record_put_field(FILE *out, const char *text);

#endif
