/* SPDX-License-Identifier: BSD-2-Clause */
/* The files of recorders: what goes wrong is said once, with the file's name. */
#ifndef SIM_RUN_RECORD_FILE_H
#define SIM_RUN_RECORD_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "sim-wan/out_file.h"

/* error: SIM_RECORD_ERROR_MAX bytes. A folder that exists is fine. */
bool sim_record_make_folder(const char *folder, char *error);
/* FOLDER/NAME, or NAME where folder is NULL. False: words are in error. */
bool sim_record_create(struct sim_out_file *out, const char *folder, const char *name, char *error);
/* As sim_out_close(); words are in error when anything was not written. */
bool sim_record_close(struct sim_out_file *out, bool keep, char *error);

/* A field of a table: in quotes where it would be taken for several. */
void sim_record_put_field(FILE *out, const char *text);

#endif
