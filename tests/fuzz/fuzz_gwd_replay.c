/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the fuzzer of recordings: any file is refused with words, or played to its end. */
#include <string.h>

#include "base/assert.h"
#include "gatewayd/drive.h"
#include "tests/fuzz/memfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gwd_replay_result result;
    char name[MEMFILE_NAME_MAX];
    int fd = memfile_make(data, size, name);
    bool same = gwd_replay(name, &result);

    GMC_ASSERT(same == (result.reason[0] == '\0'));
    close(fd);
    return 0;
}
