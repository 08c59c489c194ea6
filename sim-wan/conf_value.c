/* SPDX-License-Identifier: BSD-2-Clause */
/* What values mean: units as people write them, computed in integers. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim-wan/conf.h"

struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit plain[] = {{"", 1}, {NULL, 0}};
static const struct unit rates[] = {{"Mbit", UINT64_C(1000000)},
                                    {"Gbit", UINT64_C(1000000000)},
                                    {"kbit", 1000},
                                    {"Tbit", UINT64_C(1000000000000)},
                                    {"bit", 1},
                                    {NULL, 0}};
static const struct unit durations[] = {
    {"ms", UINT64_C(1000000)},      {"s", UINT64_C(1000000000)},    {"us", 1000}, {"ns", 1},
    {"min", UINT64_C(60000000000)}, {"h", UINT64_C(3600000000000)}, {NULL, 0}};
static const struct unit sizes[] = {{"", 1},
                                    {"B", 1},
                                    {"kB", 1000},
                                    {"KB", 1000},
                                    {"MB", UINT64_C(1000000)},
                                    {"GB", UINT64_C(1000000000)},
                                    {"TB", UINT64_C(1000000000000)},
                                    {"KiB", UINT64_C(1) << 10},
                                    {"MiB", UINT64_C(1) << 20},
                                    {"GiB", UINT64_C(1) << 30},
                                    {"TiB", UINT64_C(1) << 40},
                                    {NULL, 0}};
static const struct unit shares[] = {{"%", 10000}, {"ppm", 1}, {NULL, 0}};
static const struct unit drifts[] = {{"ppm", 1000}, {"ppb", 1}, {NULL, 0}};
static const struct unit packets[] = {{"packets", 1}, {"packet", 1}, {NULL, 0}};

#define DIGITS "0123456789"
#define BOUND_MAX 40   /* bytes of a bound in words */
#define FRACTION_MAX 6 /* digits; 10^6 * 2^40 fits */

/* Digits, perhaps a fraction, then a unit of the table, perhaps behind blanks. A bare 0 needs no
 * unit. What is below one is cut off; what does not fit 63 bits is no number. */
static bool scaled(const char *text, const struct unit *units, int64_t *number)
{
    uint64_t whole = 0, fraction = 0, scale = 1;
    const char *at = text;
    if (strspn(at, DIGITS) == 0)
        return false;
    for (; strspn(at, DIGITS) > 0; at++) {
        if (whole > (UINT64_MAX - 9) / 10)
            return false;
        whole = whole * 10 + (uint64_t)(*at - '0');
    }
    if (*at == '.') {
        size_t digits = strspn(++at, DIGITS);
        if (digits == 0 || digits > FRACTION_MAX)
            return false;
        for (; digits > 0; digits--, at++) {
            fraction = fraction * 10 + (uint64_t)(*at - '0');
            scale *= 10;
        }
    }
    at += strspn(at, " ");
    if (*at == '\0' && whole == 0 && fraction == 0) {
        *number = 0;
        return true;
    }
    for (; units->name != NULL; units++) {
        if (strcmp(units->name, at) != 0)
            continue;
        if (whole > (uint64_t)INT64_MAX / units->factor - 1)
            return false;
        *number = (int64_t)(whole * units->factor + fraction * units->factor / scale);
        return true;
    }
    return false;
}

/* "Mbit" is also written "Mbit/s", "Mb/s" and "Mbps"; all mean bits. */
static bool rate(const char *text, int64_t *number)
{
    static const char *const endings[] = {"bit/s", "bps", "b/s"};
    char copy[64];
    size_t len = strlen(text);
    if (len >= sizeof(copy))
        return false;
    memcpy(copy, text, len + 1);
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        size_t end = strlen(endings[i]);
        if (len > end && strcmp(copy + len - end, endings[i]) == 0) {
            memcpy(copy + len - end, "bit", 4);
            break;
        }
    }
    return scaled(copy, rates, number);
}

static bool index_of(const char *const *choices, const char *text, int64_t *number)
{
    for (int64_t i = 0; choices[i] != NULL; i++)
        if (strcmp(choices[i], text) == 0) {
            *number = i;
            return true;
        }
    return false;
}

static bool signed_drift(const char *text, int64_t *number)
{
    bool negative = text[0] == '-';
    if (!scaled(text + negative, drifts, number))
        return false;
    *number = negative ? -*number : *number;
    return true;
}

static const char *const switches[] = {"no", "yes", NULL};

bool sim_conf_meaning(const struct sim_conf_option *option, const char *text, int64_t *number)
{
    switch (option->type) {
    case SIM_CONF_NUMBER:
        return strspn(text, DIGITS) == strlen(text) && scaled(text, plain, number);
    case SIM_CONF_RATE:
        return rate(text, number);
    case SIM_CONF_DURATION:
        return scaled(text, durations, number);
    case SIM_CONF_SIZE:
        return scaled(text, sizes, number);
    case SIM_CONF_SHARE:
        return scaled(text, shares, number);
    case SIM_CONF_DRIFT:
        return signed_drift(text, number);
    case SIM_CONF_CHOICE:
        return index_of(option->choices, text, number);
    case SIM_CONF_SWITCH:
        return index_of(switches, text, number);
    case SIM_CONF_TEXT:
    case SIM_CONF_TEXTS:
    case SIM_CONF_QUEUE:
    case SIM_CONF_REAL:
        break;
    }
    return false;
}

bool sim_conf_queue_meaning(const char *text, struct sim_conf_queue *queue)
{
    int64_t number;
    *queue = (struct sim_conf_queue){0};
    if (scaled(text, packets, &number) && strchr(text, '.') == NULL && number <= UINT32_MAX)
        queue->packets = (uint64_t)number;
    else if (scaled(text, durations, &number) && number <= INT64_C(3600000000000))
        queue->duration = (uint64_t)number;
    else if (scaled(text, sizes, &number))
        queue->bytes = (uint64_t)number;
    else
        return false;
    return true;
}

/* Nothing but these letters gets to strtod: neither hexadecimal, nor "infinity". */
bool sim_conf_real_meaning(const char *text, double *number)
{
    char *end;
    if (text[0] == '\0' || strspn(text, DIGITS "+-.eE") != strlen(text))
        return false;
    *number = strtod(text, &end);
    return *end == '\0' && isfinite(*number);
}

/* ---- what would be right ---- */
static const char *one_of(const char *const *choices, char *buffer, size_t size)
{
    size_t used = (size_t)snprintf(buffer, size, "one of");
    for (size_t i = 0; choices[i] != NULL && used < size; i++)
        used +=
            (size_t)snprintf(buffer + used, size - used, "%s %s", i == 0 ? "" : ",", choices[i]);
    return buffer;
}

/* A bound as people write it: in the largest unit of which it is a multiple. */
static const char *bound(uint64_t value, const struct unit *units, char out[BOUND_MAX])
{
    const struct unit *best = NULL;
    for (; units->name != NULL; units++)
        if (value % units->factor == 0 && (best == NULL || units->factor > best->factor))
            best = units;
    if (value == 0 || best == NULL)
        snprintf(out, BOUND_MAX, "%" PRIu64, value);
    else
        snprintf(out, BOUND_MAX, "%" PRIu64 "%s", value / best->factor, best->name);
    return out;
}

static bool is_in_range(const struct sim_conf_option *option, int64_t number)
{
    if (option->type == SIM_CONF_DRIFT) /* max bounds both signs */
        return option->max == 0 || (uint64_t)(number < 0 ? -number : number) <= option->max;
    return (uint64_t)number >= option->min && (option->max == 0 || (uint64_t)number <= option->max);
}

const char *sim_conf_wanted(const struct sim_conf_option *option, const char *text, char *buffer,
                            size_t size)
{
    static const struct {
        const char *words;
        const struct unit *units; /* of bounds */
    } wants[] = {[SIM_CONF_NUMBER] = {"a whole number", plain},
                 [SIM_CONF_RATE] = {"a rate such as 100Mbit or 2.5Gbit", rates},
                 [SIM_CONF_DURATION] = {"a time such as 15ms, 250us or 2min", durations},
                 [SIM_CONF_SIZE] = {"a size such as 64KiB, 1GB or 1500", sizes},
                 [SIM_CONF_SHARE] = {"a share such as 1%, 0.05% or 300ppm", shares},
                 [SIM_CONF_DRIFT] = {"a drift such as 20ppm or -300ppb", drifts},
                 [SIM_CONF_QUEUE] = {"a queue such as 64KiB, 50ms or 100packets", plain},
                 [SIM_CONF_REAL] = {"a number such as 13.4", plain},
                 [SIM_CONF_CHOICE] = {NULL, plain},
                 [SIM_CONF_SWITCH] = {"yes or no", plain}};
    struct sim_conf_queue queue;
    double real;
    int64_t number;
    char least[BOUND_MAX], most[BOUND_MAX];
    if (option->type == SIM_CONF_TEXT || option->type == SIM_CONF_TEXTS)
        return text[0] != '\0' ? NULL : "a word";
    if (option->type == SIM_CONF_QUEUE)
        return sim_conf_queue_meaning(text, &queue) ? NULL : wants[option->type].words;
    if (option->type == SIM_CONF_REAL)
        return sim_conf_real_meaning(text, &real) ? NULL : wants[option->type].words;
    if (!sim_conf_meaning(option, text, &number))
        return option->type == SIM_CONF_CHOICE ? one_of(option->choices, buffer, size)
                                               : wants[option->type].words;
    if (is_in_range(option, number))
        return NULL;
    bound(option->min, wants[option->type].units, least);
    bound(option->max, wants[option->type].units, most);
    if (option->type == SIM_CONF_DRIFT)
        snprintf(buffer, size, "%s, from -%s to %s", wants[option->type].words, most, most);
    else if (option->max == 0)
        snprintf(buffer, size, "%s, at least %s", wants[option->type].words, least);
    else
        snprintf(buffer, size, "%s, from %s to %s", wants[option->type].words, least, most);
    return buffer;
}
