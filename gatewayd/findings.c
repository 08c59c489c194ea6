/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the list of findings, and how it is written for gmcast doctor. */
#include "gatewayd/findings.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 1024

static struct gmc_ctl_finding *last(struct gwd_findings *findings)
{
    return findings->count > 0 ? &findings->list[findings->count - 1] : NULL;
}

static void free_text(const char *text)
{
    free((void *)(uintptr_t)text);
}

static bool grow(struct gwd_findings *findings)
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

void gwd_findings_add(struct gwd_findings *findings, enum gmc_ctl_level level, const char *check,
                      const char *subject, const char *format, ...)
{
    char text[TEXT_MAX];
    va_list args;
    struct gmc_ctl_finding finding = {.level = level, .check = check, .unit = ""};
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    finding.subject = strdup(subject);
    finding.text = strdup(text);
    finding.advice = strdup("");
    if (finding.subject != NULL && finding.text != NULL && finding.advice != NULL &&
        grow(findings)) {
        findings->list[findings->count++] = finding;
        return;
    }
    free_text(finding.subject);
    free_text(finding.text);
    free_text(finding.advice);
}

void gwd_findings_value(struct gwd_findings *findings, int64_t value, const char *unit)
{
    if (last(findings) == NULL)
        return;
    last(findings)->value = value;
    last(findings)->unit = unit;
}

void gwd_findings_advise(struct gwd_findings *findings, const char *format, ...)
{
    char text[TEXT_MAX];
    char *advice;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    advice = last(findings) != NULL ? strdup(text) : NULL;
    if (advice == NULL)
        return;
    free_text(last(findings)->advice);
    last(findings)->advice = advice;
}

void gwd_findings_clear(struct gwd_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        free_text(findings->list[i].subject);
        free_text(findings->list[i].text);
        free_text(findings->list[i].advice);
    }
    free(findings->list);
    *findings = (struct gwd_findings){0};
}

/* Names of files may be any bytes. */
static json_t *text_of(const char *bytes)
{
    json_t *text = json_string(bytes);
    return text != NULL ? text : json_string("?");
}

bool gwd_findings_print(const struct gwd_findings *findings, FILE *out)
{
    static const char *const levels[] = {
        [GMC_CTL_LEVEL_OK] = "ok", [GMC_CTL_LEVEL_WARN] = "warn", [GMC_CTL_LEVEL_FAIL] = "fail"};
    bool ok = true;
    for (size_t i = 0; ok && i < findings->count; i++) {
        const struct gmc_ctl_finding *f = &findings->list[i];
        json_t *object =
            json_pack("{s:s, s:s, s:o, s:I, s:s, s:o, s:o}", "level", levels[f->level], "check",
                      f->check, "subject", text_of(f->subject), "value", (json_int_t)f->value,
                      "unit", f->unit, "text", text_of(f->text), "advice", text_of(f->advice));
        ok =
            object != NULL && json_dumpf(object, out, JSON_COMPACT) == 0 && fputc('\n', out) != EOF;
        json_decref(object);
    }
    return ok;
}
