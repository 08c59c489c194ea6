/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the list of findings. */
#include "ctl/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 1024

static struct gmc_ctl_finding *last(struct gmc_findings *findings)
{
    return findings->count > 0 ? &findings->list[findings->count - 1] : NULL;
}

static void free_text(const char *text)
{
    free((void *)(uintptr_t)text);
}

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);

    if (copy != NULL)
        memcpy(copy, text, size);
    return copy;
}

static void free_finding(struct gmc_ctl_finding *finding)
{
    free_text(finding->check);
    free_text(finding->subject);
    free_text(finding->unit);
    free_text(finding->text);
    free_text(finding->advice);
}

static bool grow(struct gmc_findings *findings)
{
    size_t room = findings->room > 0 ? 2 * findings->room : 32;
    struct gmc_ctl_finding *list;

    if (findings->count < findings->room)
        return true;
    list = realloc(findings->list, room * sizeof *list);
    if (list == NULL)
        return false;
    findings->list = list;
    findings->room = room;
    return true;
}

void gmc_findings_copy(struct gmc_findings *findings, const struct gmc_ctl_finding *from)
{
    struct gmc_ctl_finding finding = {.level = from->level,
                                      .check = copy_text(from->check),
                                      .subject = copy_text(from->subject),
                                      .value = from->value,
                                      .unit = copy_text(from->unit),
                                      .text = copy_text(from->text),
                                      .advice = copy_text(from->advice)};

    if (finding.check != NULL && finding.subject != NULL && finding.unit != NULL &&
        finding.text != NULL && finding.advice != NULL && grow(findings))
        findings->list[findings->count++] = finding;
    else
        free_finding(&finding);
}

void gmc_findings_add(struct gmc_findings *findings, enum gmc_ctl_level level, const char *check,
                      const char *subject, const char *format, ...)
{
    char text[TEXT_MAX];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    gmc_findings_copy(findings, &(struct gmc_ctl_finding){.level = level,
                                                          .check = check,
                                                          .subject = subject,
                                                          .unit = "",
                                                          .text = text,
                                                          .advice = ""});
}

static void replace(const char **text, const char *by)
{
    char *copy = copy_text(by);

    if (copy == NULL)
        return;
    free_text(*text);
    *text = copy;
}

void gmc_findings_value(struct gmc_findings *findings, int64_t value, const char *unit)
{
    if (last(findings) == NULL)
        return;
    last(findings)->value = value;
    replace(&last(findings)->unit, unit);
}

void gmc_findings_advise(struct gmc_findings *findings, const char *format, ...)
{
    char text[TEXT_MAX];
    va_list args;

    if (last(findings) == NULL)
        return;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    replace(&last(findings)->advice, text);
}

enum gmc_ctl_level gmc_findings_worst(const struct gmc_findings *findings)
{
    enum gmc_ctl_level worst = GMC_CTL_LEVEL_OK;

    for (size_t i = 0; i < findings->count; i++) {
        if (findings->list[i].level > worst)
            worst = findings->list[i].level;
    }
    return worst;
}

const char *gmc_findings_level_name(enum gmc_ctl_level level)
{
    switch (level) {
    case GMC_CTL_LEVEL_OK:
        return "ok";
    case GMC_CTL_LEVEL_WARN:
        return "warn";
    case GMC_CTL_LEVEL_FAIL:
        break;
    }
    return "fail";
}

void gmc_findings_clear(struct gmc_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        free_finding(&findings->list[i]);
    free(findings->list);
    *findings = (struct gmc_findings){0};
}
