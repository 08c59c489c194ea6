/* SPDX-License-Identifier: BSD-2-Clause */
/* Schedules, and what can be said of one without knowing the network. */
#include "interconnect/schedule.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/assert.h"

gmc_status ic_schedule_init(struct ic_schedule *schedule, uint32_t members, uint32_t root)
{
    GMC_ASSERT(members > 0 && root < members);
    *schedule = (struct ic_schedule){.members = members, .root = root};
    schedule->sends = malloc(members * sizeof(*schedule->sends));
    return schedule->sends != NULL ? GMC_OK : GMC_ERR_NOMEM;
}

void ic_schedule_fini(struct ic_schedule *schedule)
{
    free(schedule->sends);
    *schedule = (struct ic_schedule){0};
}

void ic_schedule_add(struct ic_schedule *schedule, uint32_t step, uint32_t from, uint32_t to)
{
    GMC_ASSERT(schedule->count + 1 < schedule->members);
    schedule->sends[schedule->count++] = (struct ic_send){step, from, to};
}

static int by_number(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int by_step(const void *left, const void *right)
{
    const struct ic_send *a = left, *b = right;
    int order = by_number(a->step, b->step);
    if (order == 0)
        order = by_number(a->from, b->from);
    return order != 0 ? order : by_number(a->to, b->to);
}

void ic_schedule_sort(struct ic_schedule *schedule)
{
    qsort(schedule->sends, schedule->count, sizeof(*schedule->sends), by_step);
}

uint32_t ic_schedule_concurrency(const struct ic_schedule *schedule)
{
    uint32_t most = 0, now = 0;
    for (size_t i = 0; i < schedule->count; i++) {
        now = i > 0 && schedule->sends[i].step == schedule->sends[i - 1].step ? now + 1 : 1;
        most = now > most ? now : most;
    }
    return most;
}

/* What is known of a member while the schedule is gone through. */
struct progress {
    bool holds;
    uint32_t depth;
    uint32_t last_step; /* in which it received or sent */
};

static gmc_status follow(const struct ic_send *send, struct progress *members, uint32_t count)
{
    if (send->from >= count || send->to >= count)
        return GMC_ERR_INVALID;
    struct progress *from = &members[send->from], *to = &members[send->to];
    if (!from->holds || to->holds || send->step <= from->last_step)
        return GMC_ERR_INVALID;
    from->last_step = send->step;
    *to = (struct progress){true, from->depth + 1, send->step};
    return GMC_OK;
}

gmc_status ic_schedule_measure(const struct ic_schedule *schedule,
                               struct ic_schedule_metrics *metrics)
{
    gmc_status status = GMC_OK;
    *metrics = (struct ic_schedule_metrics){.concurrency = ic_schedule_concurrency(schedule)};
    struct progress *members = calloc(schedule->members, sizeof(*members));
    if (members == NULL)
        return GMC_ERR_NOMEM;
    members[schedule->root].holds = true;
    if (schedule->count + 1 != schedule->members)
        status = GMC_ERR_INVALID;
    for (size_t i = 0; i < schedule->count && status == GMC_OK; i++) {
        const struct ic_send *send = &schedule->sends[i];
        status = follow(send, members, schedule->members);
        if (status != GMC_OK)
            break;
        metrics->steps = send->step;
        metrics->root_sends += send->from == schedule->root;
        if (members[send->to].depth - 1 > metrics->max_intermediate)
            metrics->max_intermediate = members[send->to].depth - 1;
    }
    free(members);
    return status;
}
