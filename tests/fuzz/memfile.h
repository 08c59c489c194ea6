/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns how a fuzz target hands its input to a parser that takes the name of a file: a file in
 * memory, so that nothing is left behind by a run that was aborted. */
#ifndef GMC_TESTS_FUZZ_MEMFILE_H
#define GMC_TESTS_FUZZ_MEMFILE_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define MEMFILE_NAME_MAX 40

/* Makes the file and writes its name; close the descriptor when done. */
static inline int memfile_make(const void *data, size_t size, char name[MEMFILE_NAME_MAX])
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);

    if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
        perror("memfd_create");
        exit(1);
    }
    snprintf(name, MEMFILE_NAME_MAX, "/proc/self/fd/%d", fd);
    return fd;
}

#endif
