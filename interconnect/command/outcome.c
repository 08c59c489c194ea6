/* SPDX-License-Identifier: BSD-2-Clause */
/* Schedules and their metrics as text and as JSON. */
#include "interconnect/command/outcome.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/assert.h"

void ic_outcome_add(struct ic_outcome *outcome, const char *name, double value)
{
    GMC_ASSERT(outcome->metric_count < IC_OUTCOME_METRICS_MAX);
    outcome->metrics[outcome->metric_count++] = (struct ic_metric){name, value};
}

void ic_outcome_fini(struct ic_outcome *outcome)
{
    ic_text_fini(&outcome->sends);
}

static void print_text(const struct ic_outcome *outcome)
{
    unsigned long step = 0;
    printf("%s", outcome->algorithm);
    for (const char *at = outcome->sends.bytes; at != NULL && *at != '\0';) {
        size_t length = strcspn(at, " ");
        unsigned long now = strtoul(at, NULL, 10);
        printf("%s%.*s", now != step ? "\n  " : " ", (int)length, at);
        step = now;
        at += length + (at[length] == ' ');
    }
    putchar('\n');
    for (size_t i = 0; i < outcome->metric_count; i++)
        printf("  %-22s %.6g\n", outcome->metrics[i].name, outcome->metrics[i].value);
}

static json_t *to_json(const struct ic_outcome *outcome)
{
    json_t *object = json_pack("{s:s, s:s}", "algorithm", outcome->algorithm, "schedule",
                               outcome->sends.bytes != NULL ? outcome->sends.bytes : "");
    for (size_t i = 0; i < outcome->metric_count; i++)
        json_object_set_new(object, outcome->metrics[i].name, json_real(outcome->metrics[i].value));
    return object;
}

void ic_outcomes_print(const struct ic_outcome *outcomes, size_t count, bool is_json)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        if (is_json)
            json_array_append_new(list, to_json(&outcomes[i]));
        else
            print_text(&outcomes[i]);
    if (is_json) {
        json_dumpf(list, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
        putchar('\n');
    }
    json_decref(list);
}
