/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading of text files through libconfuse, into parts that keep their lines; see conf.h. */
#include "sim-wan/conf.h"

#include <confuse.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/comments.h"
#include "sim-wan/conf_internal.h"
#include "sim-wan/mem.h"
#include "sim-wan/text_file.h"

#define EXPECTED "expected: name = value, or section { ... }"

/* libconfuse gives its callbacks no context, so the one reader that runs is kept here. */
static struct reader {
    struct sim_conf *conf;
    const cfg_t *open; /* the section whose options come in; its part is the last */
} * reader;

/* ---- what libconfuse finds ---- */
static void say_unknown(struct sim_conf *conf, const struct sim_conf_section *section, int line,
                        const char *name)
{
    char known[400] = "";
    sim_conf_list_options(section, known, sizeof(known));
    for (size_t i = 0; section->name[0] == '\0' && i < conf->section_count; i++) {
        size_t used = strlen(known);
        if (conf->sections[i].name[0] != '\0')
            snprintf(known + used, sizeof(known) - used, ", section %s", conf->sections[i].name);
    }
    sim_conf_say(conf, line, "'%.40s' is not known%s%s; there are: %s", name,
                 section->name[0] != '\0' ? " in section " : "", section->name, known);
}

/* ---- parts ---- */
static struct sim_conf_part *add_part(struct sim_conf *conf, const struct sim_conf_section *section,
                                      const char *title, int line)
{
    conf->parts =
        sim_reserve(conf->parts, conf->part_count, &conf->part_capacity, sizeof(*conf->parts));
    struct sim_conf_part *part = &conf->parts[conf->part_count++];
    *part = (struct sim_conf_part){.section = section,
                                   .title = title != NULL ? sim_strdup(title) : NULL,
                                   .line = line};
    return part;
}

/* ---- libconfuse's callbacks ---- */
/* For what libconfuse says; it says nothing of what would be right. */
static const char *what_is_right(const char *format)
{
    static const struct {
        const char *wrong, *right;
    } words[] = {
        {"duplicate title", "expected a title that no other section of this kind has"},
        {"missing title", "expected a name behind it: section NAME { ... }"},
        {"missing opening brace", "expected: section { ... }; this one has no name"},
        {"premature end", "expected a quote or brace that closes what was opened"},
        {"unexpected token", EXPECTED "; a value with blanks, commas or equal signs stands in "
                                      "quotes, and a list in braces"},
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strstr(format, words[i].wrong) != NULL)
            return words[i].right;
    return EXPECTED;
}

static void on_error(cfg_t *cfg, const char *format, va_list args)
{
    struct sim_conf *conf = reader->conf;
    char text[256], *name, *end;
    vsnprintf(text, sizeof(text), format, args);
    const struct sim_conf_section *section = sim_conf_section_of(conf, cfg->name);
    name = strchr(text, '\'');
    end = name != NULL ? strchr(name + 1, '\'') : NULL;
    if (strstr(format, "no such option") != NULL && end != NULL) {
        *end = '\0';
        say_unknown(conf, section != NULL ? section : &conf->sections[0], cfg->line, name + 1);
    } else {
        sim_conf_say(conf, cfg->line, "%s; %s", text, what_is_right(format));
    }
}

/* The part that the options of cfg go to. */
static struct sim_conf_part *part_of(const cfg_t *cfg, const struct sim_conf_section *section)
{
    struct sim_conf *conf = reader->conf;
    if (section->name[0] == '\0')
        return &conf->parts[0];
    if (reader->open != cfg) {
        reader->open = cfg;
        return add_part(conf, section, cfg->title, cfg->line);
    }
    return &conf->parts[conf->part_count - 1];
}

/* Runs right after a value was read, where the line is still known: for lists after each, and at
 * their end. */
static int on_value(cfg_t *cfg, cfg_opt_t *opt)
{
    struct sim_conf *conf = reader->conf;
    const struct sim_conf_section *section = sim_conf_section_of(conf, cfg->name);
    if (section == NULL) /* libconfuse's name for the top */
        section = &conf->sections[0];
    const struct sim_conf_option *option = sim_conf_option_of(section, opt->name);
    unsigned count = cfg_opt_size(opt);
    GMC_ASSERT(option != NULL);
    struct sim_conf_part *part = part_of(cfg, section);
    struct sim_conf_value *value = sim_conf_open_value(part, option);
    /* A list whose end is reached comes once more as it is; else the option is given again. */
    bool is_same = count > 0 && value->count == count &&
                   strcmp(value->texts[count - 1], cfg_opt_getnstr(opt, count - 1)) == 0;
    if (value->count > 0 && value->count >= count && !(is_same && option->type == SIM_CONF_TEXTS)) {
        sim_conf_say(conf, cfg->line, "%s%s%s stands here for the second time, first in line %d",
                     section->name, section->name[0] != '\0' ? ": " : "", option->name,
                     value->line);
        return -1;
    }
    value->line = cfg->line;
    while (value->count < count)
        if (!sim_conf_add_text(conf, part, value, cfg_opt_getnstr(opt, (unsigned)value->count)))
            return -1;
    return 0;
}

/* Runs when a section ends. One without options has had no part yet. */
static int on_section(cfg_t *cfg, cfg_opt_t *opt)
{
    struct sim_conf *conf = reader->conf;
    const struct sim_conf_section *section = sim_conf_section_of(conf, opt->name);
    cfg_t *inner = cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1);
    (void)part_of(inner, section);
    reader->open = NULL;
    if (section->is_single && sim_conf_part(conf, section->name, 1) != NULL) {
        sim_conf_say(conf, cfg->line, "section %s stands here for the second time; expected one",
                     section->name);
        return -1;
    }
    return 0;
}

/* ---- libconfuse's tables from ours ---- */
static size_t count_options(const struct sim_conf_option *options)
{
    size_t count = 0;
    while (options != NULL && options[count].name != NULL)
        count++;
    return count;
}

static cfg_opt_t *put_options(cfg_opt_t *out, const struct sim_conf_option *options)
{
    for (; options != NULL && options->name != NULL; options++) {
        if (options->type == SIM_CONF_TEXTS)
            *out = (cfg_opt_t)CFG_STR_LIST(options->name, NULL, CFGF_NODEFAULT);
        else
            *out = (cfg_opt_t)CFG_STR(options->name, NULL, CFGF_NODEFAULT);
        out->validcb = on_value;
        out++;
    }
    return out;
}

/* The table of a section, with room for `room` further entries and the end. */
static cfg_opt_t *make_table(const struct sim_conf_section *section, size_t room, cfg_opt_t **end)
{
    size_t count = count_options(section->options) + count_options(section->more);
    cfg_opt_t *table = sim_calloc(count + room + 1, sizeof(*table));
    *end = put_options(put_options(table, section->options), section->more);
    **end = (cfg_opt_t)CFG_END();
    return table;
}

/* What libconfuse takes without a word: it closes at the end of the text what stays open, and an
 * empty list is none at all. */
static void check_braces(struct sim_conf *conf, const char *text)
{
    size_t depth = 0;
    int line = 1;
    char quote = '\0', last = '\0', before = '\0'; /* the last two characters but blanks */
    for (; *text != '\0'; text++) {
        line += *text == '\n';
        if (quote != '\0') {
            if (*text == '\\' && text[1] != '\0')
                text++;
            else if (*text == quote)
                quote = '\0';
        } else if (*text == '"' || *text == '\'') {
            quote = *text;
        } else if (*text == '{') {
            depth++;
        } else if (*text == '}' && depth > 0) {
            depth--;
            if (last == '{' && before == '=')
                sim_conf_say(conf, line, "an empty list; expected names, or no such option");
        }
        if (strchr(" \t\r\n", *text) == NULL) {
            before = last;
            last = *text;
        }
    }
    if (depth > 0)
        sim_conf_say(conf, line, "the file ends within a section; expected }");
}

static gmc_status parse_text(struct sim_conf *conf, const char *text)
{
    cfg_opt_t *tables[SIM_CONF_SECTIONS_MAX] = {NULL}, *end, *unused;
    GMC_ASSERT(conf->section_count <= SIM_CONF_SECTIONS_MAX && conf->sections[0].name[0] == '\0');
    tables[0] = make_table(&conf->sections[0], conf->section_count, &end);
    for (size_t i = 1; i < conf->section_count; i++) {
        const struct sim_conf_section *section = &conf->sections[i];
        cfg_flag_t flags = CFGF_MULTI | CFGF_NODEFAULT;
        tables[i] = make_table(section, 0, &unused);
        if (section->is_titled)
            flags |= CFGF_TITLE | CFGF_NO_TITLE_DUPES;
        *end = (cfg_opt_t)CFG_SEC(section->name, tables[i], flags);
        end->validcb = on_section;
        *++end = (cfg_opt_t)CFG_END();
    }
    struct reader here = {.conf = conf};
    cfg_t *cfg = cfg_init(tables[0], CFGF_NONE);
    GMC_ASSERT(cfg != NULL);
    cfg_set_error_function(cfg, on_error);
    add_part(conf, &conf->sections[0], NULL, 0);
    reader = &here;
    if (cfg_parse_buf(cfg, text) != CFG_SUCCESS)
        sim_conf_say(conf, cfg->line, "cannot be understood; " EXPECTED);
    else
        check_braces(conf, text);
    reader = NULL;
    cfg_free(cfg);
    for (size_t i = 0; i < conf->section_count; i++)
        free(tables[i]);
    return conf->error[0] == '\0' ? GMC_OK : GMC_ERR_INVALID;
}

gmc_status sim_conf_parse(struct sim_conf *conf, const char *name, const char *text,
                          const struct sim_conf_section *sections, size_t section_count)
{
    *conf = (struct sim_conf){.file = sim_strdup(name),
                              .sections = sections,
                              .section_count = section_count};
    char *copy = sim_strdup(text);
    gmc_blank_comments(copy);
    gmc_status status = parse_text(conf, copy);
    free(copy);
    return status;
}

gmc_status sim_conf_read(struct sim_conf *conf, const char *path,
                         const struct sim_conf_section *sections, size_t section_count)
{
    char error[SIM_TEXT_ERROR_MAX];
    size_t len;
    char *text = sim_text_read(path, &len, error);
    if (text == NULL) {
        *conf = (struct sim_conf){.file = sim_strdup(path)};
        sim_conf_say(conf, 0, "%s", error);
        return GMC_ERR_IO;
    }
    gmc_status status = sim_conf_parse(conf, path, text, sections, section_count);
    free(text);
    return status;
}

void sim_conf_fini(struct sim_conf *conf)
{
    for (size_t i = 0; i < conf->part_count; i++) {
        struct sim_conf_part *part = &conf->parts[i];
        for (size_t j = 0; j < part->count; j++) {
            sim_conf_clear_value(&part->values[j]);
            free(part->values[j].texts);
            free(part->values[j].lines);
        }
        free(part->values);
        free(part->title);
    }
    free(conf->parts);
    free(conf->file);
    conf->parts = NULL;
    conf->file = NULL;
    conf->part_count = 0;
}
