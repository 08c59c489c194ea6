/* SPDX-License-Identifier: BSD-2-Clause */
/* The algorithms around one switch. */
#include "interconnect/star/multicast.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

static const char *const names[IC_STAR_ALGORITHMS] = {
    [IC_STAR_BINOMIAL] = "binomial",
    [IC_STAR_BINARY] = "binary",
    [IC_STAR_SERIAL] = "serial",
    [IC_STAR_SEPARATE] = "separate",
};

const char *ic_star_algorithm_name(enum ic_star_algorithm algorithm)
{
    GMC_ASSERT(algorithm < IC_STAR_ALGORITHMS);
    return names[algorithm];
}

gmc_status ic_star_algorithm_from_name(const char *name, enum ic_star_algorithm *algorithm)
{
    for (int i = 0; i < IC_STAR_ALGORITHMS; i++)
        if (strcmp(names[i], name) == 0) {
            *algorithm = (enum ic_star_algorithm)i;
            return GMC_OK;
        }
    return GMC_ERR_NOT_FOUND;
}

static void binomial(struct ic_schedule *schedule)
{
    uint32_t step = 1;
    for (uint32_t holders = 1; holders < schedule->members; holders *= 2, step++)
        for (uint32_t x = 0; x < holders && x + holders < schedule->members; x++)
            ic_schedule_add(schedule, step, x, x + holders);
}

static gmc_status binary(struct ic_schedule *schedule)
{
    uint32_t *received = calloc(schedule->members, sizeof(*received));
    if (received == NULL)
        return GMC_ERR_NOMEM;
    for (uint32_t child = 1; child < schedule->members; child++) {
        uint32_t parent = (child - 1) / 2;
        received[child] = received[parent] + (child % 2 == 1 ? 1 : 2);
        ic_schedule_add(schedule, received[child], parent, child);
    }
    free(received);
    return GMC_OK;
}

gmc_status ic_star_multicast(uint64_t group, enum ic_star_algorithm algorithm,
                             struct ic_schedule *schedule, char *error)
{
    gmc_status status = ic_check_range("G, the group's size,", group, 2, IC_GROUP_MAX, error);
    if (status != GMC_OK)
        return status;
    status = ic_schedule_init(schedule, (uint32_t)group, 0);
    if (status != GMC_OK)
        return status;
    if (algorithm == IC_STAR_BINOMIAL) {
        binomial(schedule);
    } else if (algorithm == IC_STAR_BINARY) {
        status = binary(schedule);
    } else {
        for (uint32_t i = 1; i < group; i++)
            ic_schedule_add(schedule, i, algorithm == IC_STAR_SERIAL ? i - 1 : 0, i);
    }
    if (status == GMC_OK)
        ic_schedule_sort(schedule);
    else
        ic_schedule_fini(schedule);
    return status;
}

static uint64_t count_senders(const struct ic_schedule *schedule)
{
    /* Each algorithm's senders are the ranks 0..last: nobody is passed over. */
    uint64_t senders = 0;
    for (size_t i = 0; i < schedule->count; i++)
        if (schedule->sends[i].from + 1 > senders)
            senders = schedule->sends[i].from + 1;
    return senders;
}

void ic_star_measure_links(const struct ic_schedule *schedule, struct ic_star_links *links)
{
    uint64_t visits = 2 * (uint64_t)schedule->count;
    *links = (struct ic_star_links){
        .visits = visits,
        .used_cables = schedule->members, /* all receive, or send as the root */
        .used_directed = count_senders(schedule) + schedule->count,
    };
    links->concentration_cable = (double)visits / (double)links->used_cables;
    links->concentration_directed = (double)visits / (double)links->used_directed;
}
