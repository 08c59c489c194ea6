/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns how targets are written on a command line. */
#include "tools/targets.h"

#include <stdlib.h>
#include <string.h>

#include "core/io.h"
#include "tools/gmcast.h"
#include "tools/text.h"

/* The next word up to a comma, with \, read as a comma; moves *at behind it. Malloc'ed. */
static char *next_word(const char **at)
{
    char *word = malloc(strlen(*at) + 1);
    size_t len = 0;

    if (word == NULL)
        return NULL;
    while (**at != '\0' && **at != ',') {
        if (**at == '\\' && (*at)[1] == ',')
            (*at)++;
        word[len++] = *(*at)++;
    }
    word[len] = '\0';
    return word;
}

static void target_free(const struct gmc_ctl_target *target)
{
    free((void *)(uintptr_t)target->domain);
    free((void *)(uintptr_t)target->path);
    free((void *)(uintptr_t)target->inside);
}

/* DOMAIN[/INSIDE][:PATH]; false without memory. */
static bool split(const char *word, struct gmc_ctl_target *target)
{
    size_t len = strcspn(word, ":/");
    const char *rest = word + len;
    size_t inside = *rest == '/' ? strcspn(rest + 1, ":") : 0;

    target->domain = strndup(word, len);
    target->inside = strndup(rest + (*rest == '/'), inside);
    rest += (*rest == '/') + inside;
    target->path = strdup(*rest == ':' ? rest + 1 : "");
    return target->domain != NULL && target->inside != NULL && target->path != NULL;
}

static int add(struct targets *targets, const char *word, const char *command)
{
    struct gmc_ctl_target target = {0};
    struct gmc_ctl_target *grown;
    bool is_split = split(word, &target);

    if (is_split && (target.domain[0] == '\0' || strchr(target.inside, '/') != NULL ||
                     (target.inside[0] == '\0' && word[strlen(target.domain)] == '/'))) {
        target_free(&target);
        return gmcast_usage_error(
            command, "\"%s\" is no target: write DOMAIN, DOMAIN:PATH or DOMAIN/NODES:PATH", word);
    }
    if (is_split && strlen(target.path) >= GMC_PATH_BYTES_MAX) {
        int status = gmcast_error("the path for %s has %zu bytes; %d are possible", target.domain,
                                  strlen(target.path), GMC_PATH_BYTES_MAX - 1);
        target_free(&target);
        return status;
    }
    grown = is_split ? realloc(targets->list, (targets->count + 1) * sizeof *grown) : NULL;
    if (grown == NULL) {
        target_free(&target);
        return gmcast_error("out of memory");
    }
    targets->list = grown;
    grown[targets->count++] = target;
    return EXIT_COMPLETE;
}

int targets_parse(struct targets *targets, const char *text, const char *command)
{
    int status = EXIT_COMPLETE;

    do {
        char *word = next_word(&text);

        status = word != NULL ? add(targets, word, command) : gmcast_error("out of memory");
        free(word);
    } while (status == EXIT_COMPLETE && *text++ == ',');
    return status;
}

bool targets_set_directory(struct targets *targets, const char *path)
{
    if (path == NULL || path[0] == '\0')
        return true;
    for (size_t i = 0; i < targets->count; i++) {
        size_t len = strlen(path);
        char *copy;

        if (targets->list[i].path[0] != '\0')
            continue;
        copy = malloc(len + 2);
        if (copy == NULL)
            return false;
        memcpy(copy, path, len + 1);
        if (copy[len - 1] != '/')
            strcpy(copy + len, "/");
        free((void *)(uintptr_t)targets->list[i].path);
        targets->list[i].path = copy;
    }
    return true;
}

void targets_free(struct targets *targets)
{
    for (size_t i = 0; i < targets->count; i++) {
        target_free(&targets->list[i]);
    }
    free(targets->list);
    *targets = (struct targets){0};
}
