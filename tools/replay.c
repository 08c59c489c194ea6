/* SPDX-License-Identifier: BSD-2-Clause */
/* gmcast-replay: plays a recording of gatewayd to a fresh core and compares the outputs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gatewayd/drive.h"

int main(int argc, char **argv)
{
    struct gwd_replay_result result;
    bool same;
    if (argc != 2 || strcmp(argv[1], "--help") == 0) {
        (void)fputs("usage: gmcast-replay FILE\n"
                    "Plays what gatewayd --record FILE wrote to a fresh core. Exit status 0: the "
                    "outputs are the same;\n1: they differ, or FILE cannot be read.\n",
                    argc == 2 ? stdout : stderr);
        return argc == 2 ? 0 : 1;
    }
    same = gwd_replay(argv[1], &result);
    printf("%" PRIu64 " records, %" PRIu64 " inputs, %" PRIu64 " outputs, hash %016" PRIx64 "\n",
           result.records, result.inputs, result.outputs, result.hash);
    if (result.is_cut)
        (void)puts("the recording ends inside of a record: its gateway was killed");
    if (same) {
        (void)puts("same outputs");
        return 0;
    }
    if (result.differs_at != 0)
        printf("differs at record %" PRIu64 ": %s\n", result.differs_at, result.reason);
    else
        printf("%s\n", result.reason);
    return 1;
}
