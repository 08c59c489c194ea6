/* SPDX-License-Identifier: BSD-2-Clause */
/* Several runs together; see group.h. */
#include "sim-wan/run/group.h"

#include <stdlib.h>

#include "sim-wan/mem.h"

void sim_group_fini(struct sim_group *group)
{
    free(group->seconds.list);
    free(group->ratios.list);
    *group = (struct sim_group){0};
}

static void add_value(struct sim_group_values *values, const json_t *value)
{
    if (!json_is_number(value))
        return;
    values->list =
        sim_reserve(values->list, values->count, &values->capacity, sizeof(*values->list));
    values->list[values->count++] = json_number_value(value);
}

void sim_group_add(struct sim_group *group, const json_t *summary)
{
    group->runs++;
    if (summary == NULL) {
        group->lost++;
        return;
    }
    group->violations += (uint64_t)json_integer_value(json_object_get(summary, "violations"));
    if (!json_is_true(json_object_get(summary, "complete")))
        return;
    group->complete++;
    add_value(&group->seconds, json_object_get(summary, "completion_seconds"));
    add_value(&group->ratios, json_object_get(summary, "ratio"));
}

bool sim_group_is_good(const struct sim_group *group)
{
    return group->lost == 0 && group->complete == group->runs && group->violations == 0;
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static json_t *quantiles(struct sim_group_values *values)
{
    static const struct {
        const char *name;
        size_t percent;
    } wanted[] = {{"min", 0},  {"p05", 5},  {"p25", 25}, {"median", 50},
                  {"p75", 75}, {"p95", 95}, {"max", 100}};
    json_t *object = json_object();
    if (values->count > 0)
        qsort(values->list, values->count, sizeof(*values->list), by_value);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        size_t number = (values->count * wanted[i].percent + 99) / 100;
        json_t *value =
            values->count == 0 ? json_null() : json_real(values->list[number > 0 ? number - 1 : 0]);
        json_object_set_new(object, wanted[i].name, value);
    }
    return object;
}

json_t *sim_group_summary(struct sim_group *group)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:o, s:o}", "runs", (json_int_t)group->runs, "complete",
                     (json_int_t)group->complete, "violations", (json_int_t)group->violations,
                     "lost", (json_int_t)group->lost, "completion_seconds",
                     quantiles(&group->seconds), "ratio", quantiles(&group->ratios));
}
