/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of text files: how values get in, also from outside, and how they are looked up. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "sim-wan/conf_internal.h"
#include "sim-wan/mem.h"

/* ---- words ---- */
static void say(struct sim_conf *conf, int line, const char *format, va_list args)
{
    int used = line > 0
                   ? snprintf(conf->error, sizeof(conf->error), "%.200s:%d: ", conf->file, line)
                   : snprintf(conf->error, sizeof(conf->error), "%.200s: ", conf->file);
    vsnprintf(conf->error + used, sizeof(conf->error) - (size_t)used, format, args);
}

void sim_conf_say(struct sim_conf *conf, int line, const char *format, ...)
{
    va_list args;
    if (conf->error[0] != '\0')
        return; /* the first is the cause of others */
    va_start(args, format);
    say(conf, line, format, args);
    va_end(args);
}

gmc_status sim_conf_refuse(struct sim_conf *conf, const struct sim_conf_part *part,
                           const char *option, const char *format, ...)
{
    const struct sim_conf_value *value =
        part != NULL && option != NULL ? sim_conf_value(part, option) : NULL;
    va_list args;
    va_start(args, format);
    say(conf, value != NULL ? value->line : part != NULL ? part->line : 0, format, args);
    va_end(args);
    return GMC_ERR_INVALID;
}

gmc_status sim_conf_refuse_at(struct sim_conf *conf, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(conf, line, format, args);
    va_end(args);
    return GMC_ERR_INVALID;
}

/* ---- the tables ---- */
const struct sim_conf_section *sim_conf_section_of(const struct sim_conf *conf, const char *name)
{
    for (size_t i = 0; i < conf->section_count; i++)
        if (strcmp(conf->sections[i].name, name) == 0)
            return &conf->sections[i];
    return NULL;
}

static const struct sim_conf_option *option_in(const struct sim_conf_option *options,
                                               const char *name)
{
    for (; options != NULL && options->name != NULL; options++)
        if (strcmp(options->name, name) == 0)
            return options;
    return NULL;
}

const struct sim_conf_option *sim_conf_option_of(const struct sim_conf_section *section,
                                                 const char *name)
{
    const struct sim_conf_option *option = option_in(section->options, name);
    return option != NULL ? option : option_in(section->more, name);
}

static void list_names(const struct sim_conf_option *options, char *out, size_t size)
{
    for (; options != NULL && options->name != NULL; options++) {
        size_t used = strlen(out);
        snprintf(out + used, size - used, "%s%s", used == 0 ? "" : ", ", options->name);
    }
}

void sim_conf_list_options(const struct sim_conf_section *section, char *out, size_t size)
{
    out[0] = '\0';
    list_names(section->options, out, size);
    list_names(section->more, out, size);
}

/* ---- values ---- */
static struct sim_conf_value *value_of(const struct sim_conf_part *part, const char *name)
{
    for (size_t i = 0; i < part->count; i++)
        if (strcmp(part->values[i].option->name, name) == 0)
            return &part->values[i];
    return NULL;
}

void sim_conf_clear_value(struct sim_conf_value *value)
{
    for (size_t i = 0; i < value->count; i++)
        free(value->texts[i]);
    value->count = 0;
}

/* The value of an option, a new one when it was not given before. */
struct sim_conf_value *sim_conf_open_value(struct sim_conf_part *part,
                                           const struct sim_conf_option *option)
{
    struct sim_conf_value *value = value_of(part, option->name);
    if (value == NULL) {
        part->values =
            sim_reserve(part->values, part->count, &part->capacity, sizeof(*part->values));
        value = &part->values[part->count++];
        *value = (struct sim_conf_value){.option = option};
    }
    return value;
}

/* Checks a text and adds it to a value; false when it is wrong, which is said. */
bool sim_conf_add_text(struct sim_conf *conf, const struct sim_conf_part *part,
                       struct sim_conf_value *value, const char *text)
{
    char buffer[200];
    const char *want = sim_conf_wanted(value->option, text, buffer, sizeof(buffer));
    if (want != NULL) {
        sim_conf_say(conf, value->line, "%s%s'%.60s' is not right for %s: expected %s",
                     part->section->name, part->section->name[0] != '\0' ? ": " : "", text,
                     value->option->name, want);
        return false;
    }
    value->texts = sim_reserve(value->texts, value->count, &value->capacity, sizeof(char *));
    value->lines =
        sim_reserve(value->lines, value->count, &value->line_capacity, sizeof(*value->lines));
    value->lines[value->count] = value->line;
    value->texts[value->count++] = sim_strdup(text);
    return true;
}

/* ---- values from outside ---- */
static gmc_status refuse_set(struct sim_conf *conf, const char *assignment, const char *what,
                             const char *right)
{
    snprintf(conf->error, sizeof(conf->error), "'%.100s' cannot be set: %s%.300s", assignment, what,
             right);
    return GMC_ERR_INVALID;
}

/* The part that "section" or "section.title" means; NULL, and why. */
static struct sim_conf_part *part_named(struct sim_conf *conf, char *name, const char **why)
{
    char *title = strchr(name, '.');
    const struct sim_conf_part *part = NULL;
    if (name[0] == '\0')
        return &conf->parts[0];
    if (title != NULL)
        *title++ = '\0';
    const struct sim_conf_section *section = sim_conf_section_of(conf, name);
    *why = "no section is called so; expected section.name=value";
    if (section == NULL)
        return NULL;
    *why = "no such section stands in the file";
    if (title != NULL && section->is_titled)
        part = sim_conf_titled(conf, name, title);
    else if (title != NULL && strtoul(title, NULL, 10) > 0)
        part = sim_conf_part(conf, name, strtoul(title, NULL, 10) - 1);
    else if (title == NULL && sim_conf_part(conf, name, 1) == NULL)
        part = sim_conf_part(conf, name, 0);
    else if (title == NULL)
        *why = section->is_titled ? "several such sections stand in the file; expected "
                                    "section.title.name=value"
                                  : "several such sections stand in the file; expected "
                                    "section.number.name=value";
    return part != NULL ? &conf->parts[part - conf->parts] : NULL;
}

gmc_status sim_conf_set(struct sim_conf *conf, const char *assignment)
{
    const char *equals = strchr(assignment, '=');
    const char *why = NULL;
    char known[400];
    if (equals == NULL || strlen(assignment) > 4000)
        return refuse_set(conf, assignment, "expected section.name=value", "");
    char *copy = sim_strdup(assignment), *text = copy + (equals - assignment), *name, *rest = NULL;
    *text++ = '\0';
    name = strrchr(copy, '.');
    if (name != NULL)
        *name++ = '\0';
    struct sim_conf_part *part = part_named(conf, name != NULL ? copy : copy + strlen(copy), &why);
    const struct sim_conf_option *option =
        part != NULL ? sim_conf_option_of(part->section, name != NULL ? name : copy) : NULL;
    gmc_status status = GMC_OK;
    if (part == NULL) {
        status = refuse_set(conf, assignment, why, "");
    } else if (option == NULL) {
        sim_conf_list_options(part->section, known, sizeof(known));
        status = refuse_set(conf, assignment, "no option there has this name; there are: ", known);
    } else {
        struct sim_conf_value *value = sim_conf_open_value(part, option);
        sim_conf_clear_value(value);
        value->line = 0;
        char *word = option->type == SIM_CONF_TEXTS ? strtok_r(text, ",", &rest) : text;
        if (word == NULL)
            status = refuse_set(conf, assignment, "the list is empty", "");
        for (; word != NULL && status == GMC_OK; word = strtok_r(NULL, ",", &rest)) {
            const char *want = sim_conf_wanted(option, word, known, sizeof(known));
            if (want != NULL)
                status = refuse_set(conf, assignment, "expected ", want);
            else
                (void)sim_conf_add_text(conf, part, value, word);
            if (option->type != SIM_CONF_TEXTS)
                break;
        }
    }
    free(copy);
    return status;
}

/* ---- looking up ---- */
const struct sim_conf_part *sim_conf_next(const struct sim_conf *conf, const char *section,
                                          size_t *cursor)
{
    while (*cursor < conf->part_count)
        if (strcmp(conf->parts[(*cursor)++].section->name, section) == 0)
            return &conf->parts[*cursor - 1];
    return NULL;
}

const struct sim_conf_part *sim_conf_part(const struct sim_conf *conf, const char *section,
                                          size_t n)
{
    const struct sim_conf_part *part;
    size_t cursor = 0;
    while ((part = sim_conf_next(conf, section, &cursor)) != NULL && n > 0)
        n--;
    return part;
}

const struct sim_conf_part *sim_conf_titled(const struct sim_conf *conf, const char *section,
                                            const char *title)
{
    const struct sim_conf_part *part;
    size_t cursor = 0;
    while ((part = sim_conf_next(conf, section, &cursor)) != NULL)
        if (part->title != NULL && strcmp(part->title, title) == 0)
            break;
    return part;
}

const struct sim_conf_value *sim_conf_value(const struct sim_conf_part *part, const char *name)
{
    const struct sim_conf_value *value = part != NULL ? value_of(part, name) : NULL;
    return value != NULL && value->count > 0 ? value : NULL;
}

const char *sim_conf_text(const struct sim_conf_part *part, const char *name, const char *fallback)
{
    const struct sim_conf_value *value = sim_conf_value(part, name);
    return value != NULL ? value->texts[0] : fallback;
}

int64_t sim_conf_signed(const struct sim_conf_part *part, const char *name, int64_t fallback)
{
    const struct sim_conf_value *value = sim_conf_value(part, name);
    int64_t number = fallback;
    bool known = value == NULL || sim_conf_meaning(value->option, value->texts[0], &number);
    GMC_ASSERT(known);
    return number;
}

uint64_t sim_conf_number(const struct sim_conf_part *part, const char *name, uint64_t fallback)
{
    return sim_conf_value(part, name) != NULL ? (uint64_t)sim_conf_signed(part, name, 0) : fallback;
}

double sim_conf_real(const struct sim_conf_part *part, const char *name, double fallback)
{
    const struct sim_conf_value *value = sim_conf_value(part, name);
    double number = fallback;
    bool known = value == NULL || sim_conf_real_meaning(value->texts[0], &number);
    GMC_ASSERT(known);
    return number;
}

bool sim_conf_queue(const struct sim_conf_part *part, const char *name,
                    struct sim_conf_queue *queue)
{
    const struct sim_conf_value *value = sim_conf_value(part, name);
    return value != NULL && sim_conf_queue_meaning(value->texts[0], queue);
}
