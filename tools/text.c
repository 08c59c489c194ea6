/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns how figures, names and places are written and read. */
#include "tools/text.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

/* Three significant digits with a decimal prefix. */
static void scaled(double value, const char *unit, char out[TEXT_FIGURE_MAX])
{
    static const char prefixes[] = {'k', 'M', 'G', 'T', 'P', 'E'};
    size_t i = 0;

    if (value < 999.5) {
        snprintf(out, TEXT_FIGURE_MAX, "%.0f %s", value, unit);
        return;
    }
    value /= 1000;
    while (value >= 999.5 && i + 1 < sizeof prefixes) {
        value /= 1000;
        i++;
    }
    snprintf(out, TEXT_FIGURE_MAX, "%.*f %c%s",
             value < 9.995   ? 2
             : value < 99.95 ? 1
                             : 0,
             value, prefixes[i], unit);
}

const char *text_size(uint64_t bytes, char out[TEXT_FIGURE_MAX])
{
    scaled((double)bytes, "B", out);
    return out;
}

const char *text_rate(double bytes_per_second, char out[TEXT_FIGURE_MAX])
{
    scaled(bytes_per_second, "B/s", out);
    return out;
}

const char *text_clock(double seconds, char out[TEXT_FIGURE_MAX])
{
    long total = seconds < 0 || seconds > 360000000.0 ? -1 : (long)(seconds + 0.5);

    if (total < 0)
        snprintf(out, TEXT_FIGURE_MAX, "-:--");
    else if (total < 3600)
        snprintf(out, TEXT_FIGURE_MAX, "%ld:%02ld", total / 60, total % 60);
    else
        snprintf(out, TEXT_FIGURE_MAX, "%ld:%02ld:%02ld", total / 3600, total / 60 % 60,
                 total % 60);
    return out;
}

const char *text_latency(uint64_t ns, char out[TEXT_FIGURE_MAX])
{
    double ms = (double)ns / 1e6;

    if (ns == 0)
        snprintf(out, TEXT_FIGURE_MAX, "-");
    else if (ms >= 1000)
        snprintf(out, TEXT_FIGURE_MAX, "%.1f s", ms / 1000);
    else
        snprintf(out, TEXT_FIGURE_MAX, "%.*f ms", ms < 10 ? 2 : ms < 100 ? 1 : 0, ms);
    return out;
}

const char *text_hex(const uint8_t *bytes, size_t len, char *out)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < len; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[2 * len] = '\0';
    return out;
}

/* ---- names ---- */

/* Characters that show nothing and change how others are shown: zero width, direction. */
static bool is_invisible(wchar_t c)
{
    return (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

/* Bytes of a printable character at `at`, or 0. What is printable is the locale's business. */
static size_t printable(const char *at)
{
    mbstate_t state = {0};
    wchar_t wide;
    size_t len = mbrtowc(&wide, at, strlen(at), &state);

    if (len == (size_t)-1 || len == (size_t)-2 || len == 0)
        return 0;
    return iswprint((wint_t)wide) && !is_invisible(wide) ? len : 0;
}

static size_t escape(unsigned char c, char out[5])
{
    if (c == '\n' || c == '\t' || c == '\r' || c == '\\')
        return (size_t)snprintf(out, 5, "\\%c",
                                c == '\n'   ? 'n'
                                : c == '\t' ? 't'
                                : c == '\r' ? 'r'
                                            : '\\');
    return (size_t)snprintf(out, 5, "\\x%02x", c);
}

void text_safe_into(const char *bytes, char *out, size_t size)
{
    size_t at = 0;

    while (*bytes != '\0') {
        char escaped[5];
        size_t used = *bytes == '\\' ? 0 : printable(bytes);
        const char *from = used > 0 ? bytes : escaped;
        size_t len = used > 0 ? used : escape((unsigned char)*bytes, escaped);

        if (at + len + 1 > size)
            break;
        memcpy(out + at, from, len);
        at += len;
        bytes += used > 0 ? used : 1;
    }
    out[at] = '\0';
}

char *text_safe(const char *bytes)
{
    size_t size = 4 * strlen(bytes) + 1;
    char *out = malloc(size);

    if (out != NULL)
        text_safe_into(bytes, out, size);
    return out;
}

/* Length and columns of the character at `at`; a wrong byte counts as one column. */
static size_t character(const char *at, size_t *columns)
{
    mbstate_t state = {0};
    wchar_t wide;
    size_t len = mbrtowc(&wide, at, strlen(at), &state);
    int width;

    if (len == (size_t)-1 || len == (size_t)-2 || len == 0) {
        *columns = 1;
        return 1;
    }
    width = wcwidth(wide);
    *columns = width > 0 ? (size_t)width : 0;
    return len;
}

size_t text_width(const char *line)
{
    size_t total = 0;

    while (*line != '\0') {
        size_t columns;

        line += character(line, &columns);
        total += columns;
    }
    return total;
}

void text_cut(char *line, size_t columns)
{
    size_t total = 0;

    while (*line != '\0') {
        size_t width;
        size_t len = character(line, &width);

        if (total + width > columns) {
            *line = '\0';
            return;
        }
        total += width;
        line += len;
    }
}

/* ---- what people type ---- */

static bool prefix_factor(char c, double *factor)
{
    static const char prefixes[] = "kmgt";
    const char *at = c != '\0' ? strchr(prefixes, tolower((unsigned char)c)) : NULL;

    *factor = at != NULL ? pow(1000, (double)(at - prefixes + 1)) : 1;
    return at != NULL;
}

bool text_parse_rate(const char *text, uint64_t *bps)
{
    static const struct {
        const char *name;
        double factor;
    } units[] = {{"", 1},    {"b", 1},   {"bit", 1}, {"bit/s", 1},
                 {"bps", 1}, {"b/s", 1}, {"B", 8},   {"B/s", 8}};
    /* strtod alone would also take signs, exponents and hexadecimal. */
    size_t len = strspn(text, "0123456789.");
    const char *end = text + len;
    char number[32];
    char *stop;
    double value, factor;

    if (len == 0 || len >= sizeof number)
        return false;
    memcpy(number, text, len);
    number[len] = '\0';
    value = strtod(number, &stop);
    if (*stop != '\0')
        return false;
    while (*end == ' ')
        end++;
    if (prefix_factor(*end, &factor))
        end++;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(end, units[i].name) != 0)
            continue;
        value *= factor * units[i].factor;
        if (!(value >= 1 && value < 1e18))
            return false;
        *bps = (uint64_t)value;
        return true;
    }
    return false;
}

bool text_split_place(const char *text, char **domain, char **path)
{
    size_t len = strcspn(text, ":/");

    *domain = NULL;
    if (text[len] != ':' || len == 0) {
        *path = strdup(text);
        return *path != NULL;
    }
    *domain = strndup(text, len);
    *path = strdup(text + len + 1);
    if (*domain != NULL && *path != NULL)
        return true;
    free(*domain);
    free(*path);
    return false;
}

/* Joins what stands before the last name, resolved, and the last name. */
static char *join(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *out = malloc(size);

    if (out != NULL)
        snprintf(out, size, "%s%s%s", folder, strcmp(folder, "/") == 0 ? "" : "/", name);
    return out;
}

char *text_absolute(const char *path)
{
    char *copy = strdup(path);
    size_t len = copy != NULL ? strlen(copy) : 0;
    char *slash, *folder, *result;

    if (len == 0) {
        free(copy);
        errno = ENOENT;
        return NULL;
    }
    while (len > 1 && copy[len - 1] == '/')
        copy[--len] = '\0';
    slash = strrchr(copy, '/');
    /* "." and ".." are no names to keep, and "/" has none. */
    if (strcmp(slash != NULL ? slash + 1 : copy, ".") == 0 ||
        strcmp(slash != NULL ? slash + 1 : copy, "..") == 0 || strcmp(copy, "/") == 0) {
        result = realpath(copy, NULL);
        free(copy);
        return result;
    }
    if (slash != NULL)
        *slash = '\0';
    folder = realpath(slash == NULL ? "." : copy[0] == '\0' ? "/" : copy, NULL);
    result = folder != NULL ? join(folder, slash != NULL ? slash + 1 : copy) : NULL;
    free(folder);
    free(copy);
    return result;
}
