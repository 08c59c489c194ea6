/* SPDX-License-Identifier: BSD-2-Clause */
/* Which multicast algorithm is best for a cluster, a group and a length: by the models, by the
 * simulators, or both. */
#ifndef INTERCONNECT_ADVISE_H
#define INTERCONNECT_ADVISE_H

#include "interconnect/family.h"

struct ic_network {
    const struct ic_family *family; /* torus or star */
    uint32_t nodes;
    uint32_t k, dimensions; /* of a torus */
    int scheme;             /* of a star: who works, enum ic_myrinet_scheme; -1: any */
};

/* "torus:8x8" (as many times as it has dimensions, all of one size), "star:16", "star:16:NA".
 * INVALID with words. */
GMC_NODISCARD gmc_status ic_network_parse(const char *text, struct ic_network *network,
                                          char *error);

struct ic_question {
    struct ic_network network;
    uint64_t group; /* members, the root among them; 2 to nodes */
    uint64_t bytes;
    uint64_t packet_bytes; /* simulators: 0 is store and forward */
    uint64_t seed;         /* simulators */
    unsigned by;           /* IC_MODEL, IC_SIMULATOR or both */
};

struct ic_answer {
    const char *scheme; /* "" on a torus */
    const char *algorithm;
    struct ic_figure model, simulated; /* us until the last member has it */
};

#define IC_ANSWERS_MAX 16u

struct ic_advice {
    struct ic_answer
        answers[IC_ANSWERS_MAX]; /* best first: by the simulators, if they were asked */
    size_t count;
};

/* INVALID with words: a group or a length that the network or the models do not have, a torus of
 * more than two dimensions by the models. NOMEM. */
GMC_NODISCARD gmc_status ic_advise(const struct ic_question *question, struct ic_advice *advice,
                                   char *error);

#endif
