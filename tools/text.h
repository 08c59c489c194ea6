/* SPDX-License-Identifier: BSD-2-Clause */
/* What people type and read: sizes, rates, times, names, targets. */
#ifndef GMC_TOOLS_TEXT_H
#define GMC_TOOLS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for any of the figures below. */
#define TEXT_FIGURE_MAX 32

/* "12 B", "3.4 MB": decimal units, three significant digits. */
const char *text_size(uint64_t bytes, char out[TEXT_FIGURE_MAX]);
/* "98.3 MB/s". */
const char *text_rate(double bytes_per_second, char out[TEXT_FIGURE_MAX]);
/* "0:07", "1:02:03"; "-:--" for what is not known (negative). */
const char *text_clock(double seconds, char out[TEXT_FIGURE_MAX]);
/* "0.21 ms", "34 ms", "1.2 s"; "-" for 0. */
const char *text_latency(uint64_t ns, char out[TEXT_FIGURE_MAX]);
/* Up to 32 bytes as hexadecimal; out has 2 * len + 1 bytes. */
const char *text_hex(const uint8_t *bytes, size_t len, char *out);

/* Any bytes as one line that a terminal shows and does nothing else with: control and unprintable
 * characters become \n, \t, \\ or \xNN. Malloc'ed; NULL when out of memory. */
char *text_safe(const char *bytes);
/* The same into a buffer, cut where it is full. */
void text_safe_into(const char *bytes, char *out, size_t size);
/* Columns that a printable line takes; and its first `columns` columns only (cut in place). */
size_t text_width(const char *line);
void text_cut(char *line, size_t columns);

/* "200M", "1.5G", "10Gbit/s" are bits per second, "50MB/s" bytes per second; decimal units.
 * False when it is none, or 0. */
bool text_parse_rate(const char *text, uint64_t *bps);

/* Splits DOMAIN:PATH. A word whose first ':' comes after a '/' (or that has none) has no domain:
 * then domain is NULL. Both malloc'ed; false when out of memory. */
bool text_split_place(const char *text, char **domain, char **path);
/* The absolute form of a local path: symlinks on the way are resolved, the last name is kept.
 * Malloc'ed; NULL with errno. */
char *text_absolute(const char *path);

#endif
