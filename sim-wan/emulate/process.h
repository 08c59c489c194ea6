/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs that run in an emulated host. They die with the emulator, however that dies. */
#ifndef SIM_EMULATE_PROCESS_H
#define SIM_EMULATE_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/* From here on the emulator outlives whoever reads its words. Programs run as it was before, and
 * before it asks for more. To be called first. */
void emu_process_init(void);

struct emu_program {
    char *const *argv;
    char *const *environment; /* NAME=value to add, NULL at the end; or NULL */
    const char *netns;        /* NULL: where the emulator is */
    const char *log;          /* file for both outputs, input from nowhere; NULL: the emulator's */
};

/* Starts it. Returns its number when it runs, -1 with words in error when it could not be
 * started. */
pid_t emu_process_start(const struct emu_program *program, char *error);

/* Runs it to its end. 0 when it ended with 0; otherwise words in error. */
int emu_process_run(const struct emu_program *program, char *error);

/* The exit status that a shell would give. */
int emu_process_status(int wait_status);

#endif
