/* SPDX-License-Identifier: BSD-2-Clause */
/* Names from labels; see label.h. */
#include "sim-wan/topo/label.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define HOST_NAME_MAX_BYTES 255u

static bool is_small_or_digit(uint32_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* One character of ASCII for each of U+00C0 to U+00FF (Latin-1): without its accent. */
static const char latin[] = "aaaaaaaceeeeiiiidnooooo ouuuuytsaaaaaaaceeeeiiiidnooooo ouuuuyty";

/* "&#233;": the number, and where it ends; NULL: no such reference. */
static const char *parse_reference(const char *at, uint32_t *character)
{
    char *end = NULL;
    if (at[0] != '&' || at[1] != '#' || at[2] < '0' || at[2] > '9')
        return NULL;
    unsigned long value = strtoul(at + 2, &end, 10);
    if (*end != ';')
        return NULL;
    *character = value < 0x110000 ? (uint32_t)value : 0;
    return end + 1;
}

/* Bytes of the character of UTF-8 that begins there; 1 where none does. */
static size_t utf8_len(const char *at)
{
    uint8_t first = (uint8_t)at[0];
    size_t len = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 1;
    for (size_t i = 1; i < len; i++)
        if (((uint8_t)at[i] & 0xc0) != 0x80)
            return 1;
    return len;
}

/* Takes one character of UTF-8 or a reference; bytes that are neither stand for Latin-1, in which
 * GML was written before. */
static const char *take(const char *at, uint32_t *character)
{
    const char *end = parse_reference(at, character);
    if (end != NULL)
        return end;
    size_t len = utf8_len(at);
    *character = (uint8_t)at[0];
    if (len == 2)
        *character = (uint32_t)(at[0] & 0x1f) << 6 | (at[1] & 0x3f);
    if (len > 2)
        *character = 0; /* none that could become ASCII */
    return at + len;
}

static char simplify(uint32_t c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    if (is_small_or_digit(c) || c == '.')
        return (char)c;
    if (c >= 0xc0 && c <= 0xff)
        return latin[c - 0xc0];
    return ' ';
}

void sim_label_to_name(const char *label, char out[SIM_LABEL_NAME_MAX])
{
    size_t len = 0;
    char gap = '\0'; /* what stands between the last letter and the next */
    while (*label != '\0' && len + 2 < SIM_LABEL_NAME_MAX) {
        uint32_t character = 0;
        label = take(label, &character);
        char c = simplify(character);
        if (!is_small_or_digit((uint8_t)c)) {
            gap = gap == '\0' && c == '.' ? '.' : '-';
            continue;
        }
        if (len > 0 && gap != '\0')
            out[len++] = gap;
        gap = '\0';
        out[len++] = c;
    }
    out[len] = '\0';
}

bool sim_is_host_name(const char *text)
{
    size_t len = strlen(text);
    char before = '.';
    if (len == 0 || len > HOST_NAME_MAX_BYTES)
        return false;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        bool is_word = is_small_or_digit((uint8_t)c) || (c >= 'A' && c <= 'Z') || c == '_';
        bool is_joint = (c == '-' || c == '.') && before != '.' && i + 1 < len;
        if (!is_word && !is_joint)
            return false;
        before = c;
    }
    return true;
}
