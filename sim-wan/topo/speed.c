/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading speeds; see speed.h. */
#include "sim-wan/topo/speed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sim-wan/topo/units.h"

#define DIGITS "0123456789"
#define TIMES_MAX 1000.0

struct word {
    const char *text;
    double bps;
};

/* Longer ones first where one begins like another. */
static const struct word whole[] = {
    {"Gigabit Ethernet", 1e9},
    {"Fast Ethernet", 1e8},
    {"GigE", 1e9},
    {"GE", 1e9},
    {"FE", 1e8},
    {"DS-1", 1.544e6},
    {"DS-3", 44.736e6},
    {"DS1", 1.544e6},
    {"DS3", 44.736e6},
    {"T1", 1.544e6},
    {"T3", 44.736e6},
    {"E1", 2.048e6},
    {"E3", 34.368e6},
};
static const struct word levels[] = {{"OC", 51.84e6}, {"STM", 155.52e6}}; /* times their number */
static const struct word prefixes[] = {{"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}};
/* A capital B before small letters would be bytes. */
static const char *const endings[] = {"bits/sec", "bit/sec", "bits/s", "bit/s", "BIT/S", "b/s",
                                      "bps",      "BPS",     "bits",   "bit",   "b",     "E"};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* What is said about the number, rather than what it is. */
static const char *skip_marks(const char *at)
{
    static const char *const marks[] = {" ", "<", ">", "=", "~", "&lt;", "&gt;"};
    for (size_t i = 0; i < LENGTH(marks);) {
        size_t len = strlen(marks[i]);
        if (strncmp(at, marks[i], len) == 0) {
            at += len;
            i = 0;
        } else {
            i++;
        }
    }
    return at;
}

/* Words may follow: what has a number in it could be more of the speed, or another. */
static bool is_end(const char *at)
{
    return *at == '\0' || (strchr(" ,;(", *at) != NULL && strpbrk(at, DIGITS) == NULL);
}

static const struct word *find(const struct word *words, size_t count, const char *at)
{
    for (size_t i = 0; i < count; i++)
        if (strncasecmp(at, words[i].text, strlen(words[i].text)) == 0)
            return &words[i];
    return NULL;
}

/* Digits, perhaps with a fraction; NULL: none. */
static const char *number(const char *at, double *value)
{
    size_t digits = strspn(at, DIGITS), fraction;
    if (digits == 0 || (at[0] == '0' && (at[1] == 'x' || at[1] == 'X')))
        return NULL; /* strtod would take 0x10 for 16, and 1e9 for a number too */
    *value = strtod(at, NULL);
    fraction = at[digits] == '.' ? 1 + strspn(at + digits + 1, DIGITS) : 0;
    return at[digits + fraction] == 'e' ? NULL : at + digits + fraction;
}

/* "2x", "2 x ": that many of what follows. */
static const char *times(const char *at, double *factor)
{
    const char *end = number(at, factor);
    if (end != NULL)
        end += strspn(end, " ");
    if (end == NULL || (*end != 'x' && *end != 'X') || *factor > TIMES_MAX) {
        *factor = 1;
        return at;
    }
    return end + 1 + strspn(end + 1, " ");
}

/* "OC-48", "STM 16", "OC-48c". */
static bool level(const char *at, double *bps)
{
    const struct word *word = find(levels, LENGTH(levels), at);
    double n = 0;
    if (word == NULL)
        return false;
    at += strlen(word->text);
    at = number(at + (*at == '-' || *at == ' '), &n);
    *bps = n * word->bps;
    return at != NULL && is_end(*at == 'c' ? at + 1 : at);
}

/* "10 Gbps", "2.5G". */
static bool with_unit(const char *at, double *bps)
{
    const char *unit = number(at, bps);
    if (unit == NULL)
        return false;
    unit += strspn(unit, " ");
    const struct word *prefix = find(prefixes, LENGTH(prefixes), unit);
    if (prefix != NULL) {
        *bps *= prefix->bps;
        unit++;
    }
    for (size_t i = 0; i < LENGTH(endings); i++)
        if (strncmp(unit, endings[i], strlen(endings[i])) == 0 && is_end(unit + strlen(endings[i])))
            return true;
    return prefix != NULL && is_end(unit);
}

bool sim_speed_parse(const char *text, uint64_t *rate_bps)
{
    double factor, bps = 0;
    const char *at = times(skip_marks(text), &factor);
    const struct word *word = find(whole, LENGTH(whole), at);
    if (word != NULL && is_end(at + strlen(word->text)))
        bps = word->bps;
    else if (!level(at, &bps) && !with_unit(at, &bps))
        return false;
    bps *= factor;
    if (!(bps >= 0.5 && bps <= (double)SIM_RATE_MAX_BPS))
        return false;
    *rate_bps = (uint64_t)llround(bps);
    return true;
}
