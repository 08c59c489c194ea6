/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the fuzzer of what people type and what is shown to them: rates, places, lists of targets;
 * names from elsewhere on a terminal.
 */
#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "tools/gmcast.h"
#include "tools/targets.h"
#include "tools/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t said; /* messages */

/* The command's own would print each of them. */
int gmcast_error(const char *format, ...)
{
    (void)format;
    said++;
    return EXIT_REFUSED;
}

int gmcast_usage_error(const char *command, const char *format, ...)
{
    (void)command;
    (void)format;
    said++;
    return EXIT_REFUSED;
}

static void check_targets(const char *text)
{
    struct targets targets = {0};
    int status;

    said = 0;
    status = targets_parse(&targets, text, "stage");
    GMC_ASSERT((status == EXIT_COMPLETE) == (said == 0));
    GMC_ASSERT(status != EXIT_COMPLETE || targets.count > 0);
    GMC_ASSERT(targets_set_directory(&targets, "/in"));
    for (size_t i = 0; i < targets.count; i++) {
        GMC_ASSERT(targets.list[i].domain[0] != '\0');
        GMC_ASSERT(strpbrk(targets.list[i].domain, ":/") == NULL);
        GMC_ASSERT(targets.list[i].path[0] != '\0');
    }
    targets_free(&targets);
}

/* Nothing moves a cursor or rings a bell, and a cut line is as short as was asked. */
static void check_shown(const char *text)
{
    char few[7];
    char *safe = text_safe(text);

    GMC_ASSERT(safe != NULL);
    for (const char *p = safe; *p != '\0'; p++)
        GMC_ASSERT((unsigned char)*p >= 0x20 && *p != 0x7f);
    text_safe_into(text, few, sizeof few);
    GMC_ASSERT(strlen(few) < sizeof few && strncmp(safe, few, strlen(few)) == 0);
    text_cut(safe, 5);
    GMC_ASSERT(text_width(safe) <= 5);
    free(safe);
}

static void check_place(const char *text)
{
    char *domain, *path;

    GMC_ASSERT(text_split_place(text, &domain, &path));
    GMC_ASSERT(strlen(path) + (domain != NULL ? strlen(domain) + 1 : 0) == strlen(text));
    free(domain);
    free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t rate = 0;
    char *text = malloc(size + 1);

    GMC_ASSERT(text != NULL);
    (void)setlocale(LC_CTYPE, "C.UTF-8");
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    GMC_ASSERT(!text_parse_rate(text, &rate) || rate > 0);
    check_place(text);
    check_targets(text);
    check_shown(text);
    free(text);
    return 0;
}
