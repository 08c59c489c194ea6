/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading the configuration file through libconfuse, driven by the table of options. */
#include "gatewayd/conf.h"

#include <confuse.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/comments.h"

#define EXPECTED "expected: option = value, or section \"title\" { ... }"
#define UNKNOWN_MAX 16 /* unknown options that are named before the reader gives up */
/* libconfuse takes the end of the file for that of a section. So the reader ends each file with an
 * option that only the top has. */
#define END_NAME "\x7f"
#define END_TEXT " " END_NAME "=1"

struct gwd_conf_lines {
    struct gwd_conf_lines *next;
    enum gwd_section section;
    const struct gwd_option *option;
    const char *title; /* borrowed during parsing; only top and tls are looked up later */
    int line;
    unsigned size; /* of a list, when it was last looked at */
    bool whole;    /* that list was looked at once more at its end */
};

/* libconfuse gives its callbacks no context, so the one reader that runs is kept here. It stops
 * at the first option that it does not know; to name them all, the reader adds each one to the
 * table and parses again. */
struct unknown {
    enum gwd_section section;
    char name[64];
    int line;
};

static struct reader {
    const char *file;
    char *text;
    struct gwd_errors *errors;
    struct gwd_conf_lines *lines;
    struct unknown unknown[UNKNOWN_MAX];
    size_t unknown_count;
    bool found_unknown; /* in this pass */
    bool syntax;        /* the parser gave up */
} * reader;

void gwd_errors_add(struct gwd_errors *errors, const char *file, int line, const char *format, ...)
{
    char text[1024];
    char *kept;
    int used = line > 0 ? snprintf(text, sizeof text, "%s:%d: ", file, line)
                        : snprintf(text, sizeof text, "%s: ", file);
    va_list args;
    va_start(args, format);
    if (used >= 0 && (size_t)used < sizeof text)
        (void)vsnprintf(text + used, sizeof text - (size_t)used, format, args);
    va_end(args);
    for (size_t i = 0; i < errors->count; i++) {
        if (strcmp(errors->lines[i], text) == 0)
            return; /* a list is checked after each of its values */
    }
    kept = errors->count < GWD_CONF_ERRORS_MAX ? strdup(text) : NULL;
    if (kept == NULL)
        errors->dropped++;
    else
        errors->lines[errors->count++] = kept;
}

void gwd_errors_print(const struct gwd_errors *errors, FILE *out)
{
    for (size_t i = 0; i < errors->count; i++)
        fprintf(out, "%s\n", errors->lines[i]);
    if (errors->dropped > 0)
        fprintf(out, "(%zu more)\n", errors->dropped);
}

void gwd_errors_clear(struct gwd_errors *errors)
{
    for (size_t i = 0; i < errors->count; i++)
        free(errors->lines[i]);
    memset(errors, 0, sizeof *errors);
}

static enum gwd_section section_of(const cfg_t *cfg)
{
    for (int s = GWD_TLS; s < GWD_SECTIONS; s++) {
        if (strcmp(cfg->name, gwd_conf_section_name((enum gwd_section)s)) == 0)
            return (enum gwd_section)s;
    }
    return GWD_TOP;
}

static const struct gwd_option *option_of(enum gwd_section section, const char *name)
{
    for (const struct gwd_option *o = gwd_conf_options(section); o->name != NULL; o++) {
        if (strcmp(o->name, name) == 0)
            return o;
    }
    return NULL;
}

/* Letters that differ, counted roughly: enough to guess which option was meant. */
static size_t distance(const char *a, const char *b)
{
    size_t row[65];
    size_t n = strlen(b) > 64 ? 64 : strlen(b);
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t best = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            best = row[j] + 1 < best ? row[j] + 1 : best;
            row[j] = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
        }
    }
    return row[n];
}

static const char *nearest(enum gwd_section section, const char *name)
{
    const char *best = NULL;
    size_t best_distance = 3;
    for (const struct gwd_option *o = gwd_conf_options(section); o->name != NULL; o++) {
        size_t d = distance(name, o->name);
        if (d < best_distance) {
            best = o->name;
            best_distance = d;
        }
    }
    for (int s = GWD_TLS; section == GWD_TOP && s < GWD_SECTIONS; s++) {
        size_t d = distance(name, gwd_conf_section_name((enum gwd_section)s));
        if (d < best_distance) {
            best = gwd_conf_section_name((enum gwd_section)s);
            best_distance = d;
        }
    }
    return best;
}

static void list_options(enum gwd_section section, char *out, size_t size)
{
    size_t used = 0;
    for (const struct gwd_option *o = gwd_conf_options(section); o->name != NULL; o++) {
        int n = snprintf(out + used, size - used, "%s%s", used == 0 ? "" : ", ", o->name);
        if (n < 0 || (size_t)n >= size - used)
            return;
        used += (size_t)n;
    }
    if (section == GWD_TOP)
        (void)snprintf(out + used, size - used,
                       ", and the sections tls, peer, node, receive, serve");
}

static void say_unknown(const struct unknown *unknown)
{
    char known[512] = "";
    const char *guess = nearest(unknown->section, unknown->name);
    const char *section = gwd_conf_section_name(unknown->section);
    list_options(unknown->section, known, sizeof known);
    if (guess != NULL)
        gwd_errors_add(reader->errors, reader->file, unknown->line,
                       "unknown option '%s'%s%s; did you mean '%s'?", unknown->name,
                       *section ? " in section " : "", section, guess);
    else
        gwd_errors_add(reader->errors, reader->file, unknown->line,
                       "unknown option '%s'%s%s; there are: %s", unknown->name,
                       *section ? " in section " : "", section, known);
}

static void say_end(const cfg_t *cfg, bool in_section)
{
    const char *title = cfg->title != NULL ? cfg->title : "";
    if (in_section)
        gwd_errors_add(reader->errors, reader->file, cfg->line,
                       "the file ends within section %s%s%s%s; expected } behind its last option",
                       cfg->name, *title ? " \"" : "", title, *title ? "\"" : "");
    else
        gwd_errors_add(reader->errors, reader->file, cfg->line,
                       "the file ends within an option; " EXPECTED);
}

static bool note_unknown(const cfg_t *cfg, char *text)
{
    struct unknown *unknown = &reader->unknown[reader->unknown_count];
    char *open = strchr(text, '\'');
    char *close = open != NULL ? strrchr(text, '\'') : NULL;
    /* One that is empty or was cut would be unknown again in the next pass. */
    if (reader->unknown_count == UNKNOWN_MAX || open == NULL || close <= open + 1 ||
        (size_t)(close - open) > sizeof unknown->name)
        return false;
    *close = '\0';
    (void)snprintf(unknown->name, sizeof unknown->name, "%s", open + 1);
    unknown->section = section_of(cfg);
    unknown->line = cfg->line;
    reader->unknown_count++;
    reader->found_unknown = true;
    return true;
}

static void on_error(cfg_t *cfg, const char *format, va_list args)
{
    char text[512];
    bool is_unknown = strstr(format, "no such option") != NULL;
    (void)vsnprintf(text, sizeof text, format, args);
    if (strstr(text, END_NAME) != NULL) {
        reader->syntax = true;
        say_end(cfg, is_unknown);
    } else if (!is_unknown || !note_unknown(cfg, text)) {
        reader->syntax = true;
        gwd_errors_add(reader->errors, reader->file, cfg->line, "%s; " EXPECTED, text);
    }
}

static const char *title_of(const cfg_t *cfg, enum gwd_section section)
{
    return section >= GWD_PEER ? cfg->title : NULL;
}

static void note_line(const cfg_t *cfg, enum gwd_section section, const struct gwd_option *option,
                      unsigned size)
{
    struct gwd_conf_lines *note = calloc(1, sizeof *note);
    if (note == NULL)
        return;
    note->section = section;
    note->option = option;
    note->title = title_of(cfg, section);
    note->line = cfg->line;
    note->size = size;
    note->next = reader->lines;
    reader->lines = note;
}

/* The last one of an option that stands twice would count, and nobody would see that. A list comes
 * here after each of its values and at its end. */
static void note_option(const cfg_t *cfg, enum gwd_section section, const struct gwd_option *option,
                        unsigned size)
{
    struct gwd_conf_lines *note = reader->lines;
    bool is_list = gwd_option_is_list(option);
    while (note != NULL && (note->section != section || note->option != option ||
                            note->title != title_of(cfg, section)))
        note = note->next;
    if (note == NULL) {
        note_line(cfg, section, option, size);
        return;
    }
    if (!is_list || (note->whole && size == 1))
        gwd_errors_add(reader->errors, reader->file, cfg->line,
                       "'%s' stands already in line %d; remove one%s", option->name, note->line,
                       is_list ? ", or put all values into one list" : "");
    note->whole = size == note->size && !note->whole;
    note->size = size;
}

/* Runs right after an option was read, where the line is still known. Never fails, so that
 * parsing goes on and all errors are found. */
static int on_option(cfg_t *cfg, cfg_opt_t *opt)
{
    enum gwd_section section = section_of(cfg);
    const struct gwd_option *option = option_of(section, opt->name);
    char buffer[256];
    unsigned first = option != NULL && gwd_option_is_list(option) && cfg_opt_size(opt) > 0
                         ? cfg_opt_size(opt) - 1
                         : 0;
    if (option == NULL)
        return 0;
    for (unsigned i = first; i < cfg_opt_size(opt); i++) {
        const char *value = cfg_opt_getnstr(opt, i);
        const char *want =
            value == NULL ? NULL : gwd_conf_value_error(option, value, buffer, sizeof buffer);
        if (want != NULL)
            gwd_errors_add(reader->errors, reader->file, cfg->line,
                           "%s%s'%s' is not right for '%s': expected %s",
                           gwd_conf_section_name(section), section == GWD_TOP ? "" : ": ", value,
                           option->name, want);
    }
    note_option(cfg, section, option, cfg_opt_size(opt));
    return 0;
}

/* ---- building libconfuse's tables from ours ---- */
#define OPTIONS_MAX 64

static void build_section(enum gwd_section section, cfg_opt_t *out)
{
    size_t n = 0;
    for (const struct gwd_option *o = gwd_conf_options(section); o->name != NULL; o++) {
        GMC_ASSERT(n + UNKNOWN_MAX + GWD_SECTIONS + 3 < OPTIONS_MAX);
        if (gwd_option_is_list(o))
            out[n++] = (cfg_opt_t)CFG_STR_LIST(o->name, NULL, CFGF_NONE);
        else
            out[n++] = (cfg_opt_t)CFG_STR(o->name, NULL, CFGF_NONE);
        out[n - 1].validcb = on_option;
    }
    for (size_t i = 0; i < reader->unknown_count; i++) {
        if (reader->unknown[i].section == section)
            out[n++] = (cfg_opt_t)CFG_STR(reader->unknown[i].name, NULL, CFGF_NODEFAULT);
    }
    out[n] = (cfg_opt_t)CFG_END();
}

/* The text of the file without comments; NULL after an error was added. */
static char *read_text(const char *path)
{
    FILE *in = fopen(path, "re");
    char *text = NULL;
    size_t size = 0;
    ssize_t len = in != NULL ? getdelim(&text, &size, '\0', in) : -1;
    bool failed = in == NULL || ferror(in) != 0;
    if (failed)
        gwd_errors_add(reader->errors, path, 0, "cannot be read: %s", strerror(errno));
    if (in != NULL)
        (void)fclose(in);
    if (!failed && len > 0 && text[len - 1] == '\0') {
        /* What stands behind it would not be read. */
        gwd_errors_add(reader->errors, path, 0, "holds a zero byte; expected a text file");
        failed = true;
    }
    if (failed || len < 0) {
        free(text);
        text = failed ? NULL : calloc(1, 1); /* empty */
    }
    if (text == NULL)
        return NULL;
    gmc_blank_comments(text);
    size_t used = strlen(text);
    char *ended = realloc(text, used + sizeof END_TEXT);
    GMC_ASSERT(ended != NULL);
    memcpy(ended + used, END_TEXT, sizeof END_TEXT);
    return ended;
}

static cfg_t *parse_once(int *result)
{
    static cfg_opt_t tables[GWD_SECTIONS][OPTIONS_MAX];
    cfg_opt_t *top = tables[GWD_TOP];
    size_t n = 0;
    cfg_t *cfg;
    for (int s = GWD_TOP; s < GWD_SECTIONS; s++)
        build_section((enum gwd_section)s, tables[s]);
    while (top[n].name != NULL)
        n++;
    top[n++] = (cfg_opt_t)CFG_STR(END_NAME, NULL, CFGF_NODEFAULT);
    top[n++] = (cfg_opt_t)CFG_SEC("tls", tables[GWD_TLS], CFGF_NODEFAULT);
    for (int s = GWD_PEER; s < GWD_SECTIONS; s++)
        top[n++] = (cfg_opt_t)CFG_SEC(gwd_conf_section_name((enum gwd_section)s), tables[s],
                                      CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES);
    top[n] = (cfg_opt_t)CFG_END();
    cfg = cfg_init(top, CFGF_NONE);
    if (cfg == NULL)
        return NULL;
    (void)cfg_set_error_function(cfg, on_error);
    *result = cfg_parse_buf(cfg, reader->text);
    return cfg;
}

static void drop_lines(struct gwd_conf_lines *lines)
{
    while (lines != NULL) {
        struct gwd_conf_lines *next = lines->next;
        free(lines);
        lines = next;
    }
}

static cfg_t *parse(int *result)
{
    for (;;) {
        cfg_t *cfg;
        drop_lines(reader->lines);
        reader->lines = NULL;
        reader->found_unknown = reader->syntax = false;
        gwd_errors_clear(reader->errors);
        for (size_t i = 0; i < reader->unknown_count; i++)
            say_unknown(&reader->unknown[i]);
        cfg = parse_once(result);
        if (cfg == NULL || *result == CFG_SUCCESS || !reader->found_unknown)
            return cfg;
        (void)cfg_free(cfg);
    }
}

/* ---- from libconfuse's values to the struct ---- */
static char *lower(const char *text)
{
    char *copy = strdup(text);
    GMC_ASSERT(copy != NULL);
    for (char *p = copy; *p != '\0'; p++)
        *p = (char)tolower((unsigned char)*p);
    return copy;
}

static char *copy_text(const char *text)
{
    char *copy = strdup(text);
    GMC_ASSERT(copy != NULL);
    return copy;
}

static void fill_list(cfg_opt_t *opt, struct gwd_conf_list *list)
{
    unsigned n = cfg_opt_size(opt);
    list->items = calloc(n + 1, sizeof *list->items);
    GMC_ASSERT(list->items != NULL);
    for (unsigned i = 0; i < n; i++)
        list->items[list->count++] = copy_text(cfg_opt_getnstr(opt, i));
}

static void fill(cfg_t *cfg, enum gwd_section section, int line, void *out)
{
    for (const struct gwd_option *o = gwd_conf_options(section); o->name != NULL; o++) {
        void *at = (char *)out + o->offset;
        const char *value;
        if (gwd_option_is_list(o)) {
            fill_list(cfg_getopt(cfg, o->name), at);
            continue;
        }
        value = cfg_getstr(cfg, o->name);
        if (value == NULL && o->deflt == NULL)
            gwd_errors_add(reader->errors, reader->file, line, "%s%s'%s' is missing: %s",
                           gwd_conf_section_name(section), section == GWD_TOP ? "" : ": ", o->name,
                           o->text);
        if (value == NULL)
            value = o->deflt != NULL ? o->deflt : "";
        if (o->type >= GWD_NUMBER) {
            uint64_t number = 0;
            (void)gwd_conf_number(o, value, &number);
            memcpy(at, &number, sizeof number);
        } else {
            char *text = o->type == GWD_NAME ? lower(value) : copy_text(value);
            memcpy(at, &text, sizeof text);
        }
    }
}

static int title_line(const char *title, enum gwd_section section, int otherwise)
{
    int line = 0;
    for (const struct gwd_conf_lines *l = reader->lines; l != NULL; l = l->next) {
        if (l->section == section && l->title != NULL && strcmp(l->title, title) == 0 &&
            (line == 0 || l->line < line))
            line = l->line;
    }
    return line != 0 ? line : otherwise;
}

static void check_title(const char *title, enum gwd_section section, int line)
{
    static const struct gwd_option name = {.name = "title", .type = GWD_NAME};
    bool is_grant = section == GWD_RECEIVE || section == GWD_SERVE;
    if (is_grant && strcmp(title, "*") == 0)
        return;
    if (gwd_conf_value_error(&name, title, NULL, 0) != NULL)
        gwd_errors_add(reader->errors, reader->file, line,
                       "%s \"%s\": the title has to be a domain name of at most 229 bytes such as "
                       "ornl.example%s",
                       gwd_conf_section_name(section), title,
                       is_grant ? ", or \"*\" for any peer" : "");
}

/* Peers and nodes are neighbours alike. */
static void fill_neighbours(struct gwd_conf *conf, cfg_t *cfg, enum gwd_section kind)
{
    const char *name = gwd_conf_section_name(kind);
    unsigned n = cfg_size(cfg, name);
    for (unsigned i = 0; i < n; i++) {
        cfg_t *section = cfg_getnsec(cfg, name, i);
        struct gwd_conf_peer *peer = &conf->peers[conf->peer_count++];
        peer->line = title_line(cfg_title(section), kind, section->line);
        peer->name = lower(cfg_title(section));
        check_title(peer->name, kind, peer->line);
        fill(section, kind, peer->line, peer);
        if (kind != GWD_NODE)
            continue;
        peer->is_node = true;
        peer->alias = copy_text("");
        peer->address = copy_text("");
        peer->connect = GWD_CONNECT_IN;
    }
}

static void fill_peers(struct gwd_conf *conf, cfg_t *cfg)
{
    size_t n = (size_t)cfg_size(cfg, "peer") + cfg_size(cfg, "node");
    conf->peers = calloc(n + 1, sizeof *conf->peers);
    GMC_ASSERT(conf->peers != NULL);
    fill_neighbours(conf, cfg, GWD_PEER);
    fill_neighbours(conf, cfg, GWD_NODE);
    /* A node dials, and goes on doing so: nobody dials it. */
    for (size_t i = 0; i < conf->peer_count && conf->node_of[0] != '\0'; i++)
        conf->peers[i].connect = GWD_CONNECT_OUT;
}

static struct gwd_conf_grant *fill_grants(cfg_t *cfg, enum gwd_section kind, size_t *count)
{
    const char *name = gwd_conf_section_name(kind);
    unsigned n = cfg_size(cfg, name);
    struct gwd_conf_grant *grants = calloc(n + 1, sizeof *grants);
    GMC_ASSERT(grants != NULL);
    for (unsigned i = 0; i < n; i++) {
        cfg_t *section = cfg_getnsec(cfg, name, i);
        struct gwd_conf_grant *grant = &grants[(*count)++];
        grant->line = title_line(cfg_title(section), kind, section->line);
        grant->domain = lower(cfg_title(section));
        check_title(grant->domain, kind, grant->line);
        fill(section, kind, grant->line, grant);
    }
    return grants;
}

static struct gwd_conf *convert(cfg_t *cfg)
{
    struct gwd_conf *conf = calloc(1, sizeof *conf);
    cfg_t *tls = cfg_getsec(cfg, "tls");
    GMC_ASSERT(conf != NULL);
    conf->file = copy_text(reader->file);
    fill(cfg, GWD_TOP, 0, conf);
    GMC_ASSERT(conf->node_of != NULL); /* it has a default */
    if (tls != NULL) {
        conf->tls.line = tls->line;
        fill(tls, GWD_TLS, tls->line, &conf->tls);
    } else if (conf->node_of[0] == '\0') {
        gwd_errors_add(reader->errors, reader->file, 0,
                       "section 'tls' is missing: it names certificate, key and ca");
    }
    fill_peers(conf, cfg);
    conf->receives = fill_grants(cfg, GWD_RECEIVE, &conf->receive_count);
    conf->serves = fill_grants(cfg, GWD_SERVE, &conf->serve_count);
    for (struct gwd_conf_lines *l = reader->lines; l != NULL; l = l->next)
        l->title = NULL;
    conf->lines = reader->lines;
    reader->lines = NULL;
    return conf;
}

struct gwd_conf *gwd_conf_read(const char *file, struct gwd_errors *errors)
{
    struct reader state = {.file = file, .errors = errors};
    struct gwd_conf *conf = NULL;
    int result = CFG_SUCCESS;
    cfg_t *cfg = NULL;
    reader = &state;
    state.text = read_text(file);
    if (state.text != NULL)
        cfg = parse(&result);
    if (cfg != NULL && result == CFG_SUCCESS)
        conf = convert(cfg);
    else if (errors->count == 0)
        gwd_errors_add(errors, file, cfg != NULL ? cfg->line : 0, "cannot be parsed; " EXPECTED);
    if (cfg != NULL)
        (void)cfg_free(cfg);
    drop_lines(state.lines);
    free(state.text);
    reader = NULL;
    if (errors->count > 0 && conf != NULL) {
        gwd_conf_free(conf);
        conf = NULL;
    }
    return conf;
}

static void free_values(enum gwd_section section, void *values)
{
    for (const struct gwd_option *o = gwd_conf_options(section); o->name != NULL; o++) {
        void *at = (char *)values + o->offset;
        if (gwd_option_is_list(o)) {
            struct gwd_conf_list *list = at;
            for (size_t i = 0; i < list->count; i++)
                free(list->items[i]);
            free(list->items);
        } else if (o->type < GWD_NUMBER) {
            char *text;
            memcpy(&text, at, sizeof text);
            free(text);
        }
    }
}

void gwd_conf_free(struct gwd_conf *conf)
{
    if (conf == NULL)
        return;
    free_values(GWD_TOP, conf);
    free_values(GWD_TLS, &conf->tls);
    for (size_t i = 0; i < conf->peer_count; i++) {
        free_values(GWD_PEER, &conf->peers[i]);
        free(conf->peers[i].name);
    }
    for (size_t i = 0; i < conf->receive_count; i++) {
        free_values(GWD_RECEIVE, &conf->receives[i]);
        free(conf->receives[i].domain);
    }
    for (size_t i = 0; i < conf->serve_count; i++) {
        free_values(GWD_SERVE, &conf->serves[i]);
        free(conf->serves[i].domain);
    }
    free(conf->peers);
    free(conf->receives);
    free(conf->serves);
    free(conf->file);
    drop_lines(conf->lines);
    free(conf);
}

int gwd_conf_line(const struct gwd_conf *conf, enum gwd_section section, const char *option)
{
    for (const struct gwd_conf_lines *l = conf->lines; l != NULL; l = l->next) {
        if (l->section == section && strcmp(l->option->name, option) == 0)
            return l->line;
    }
    return 0;
}
