/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns how targets are written on a command line. */
#include "tools/targets.h"

#include <stdlib.h>
#include <string.h>

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

static int add(struct targets *targets, const char *word, const char *command)
{
    struct gmc_ctl_target *grown;
    char *domain, *path;

    if (!text_split_place(word, &domain, &path))
        return gmcast_error("out of memory");
    if (domain == NULL) { /* no colon: the whole word is the domain */
        domain = path;
        path = strdup("");
    }
    if (domain[0] == '\0' || strpbrk(domain, ":/") != NULL) {
        free(domain);
        free(path);
        return gmcast_usage_error(command, "\"%s\" is no target: write DOMAIN or DOMAIN:PATH",
                                  word);
    }
    grown = path != NULL ? realloc(targets->list, (targets->count + 1) * sizeof *grown) : NULL;
    if (grown == NULL) {
        free(domain);
        free(path);
        return gmcast_error("out of memory");
    }
    targets->list = grown;
    grown[targets->count++] = (struct gmc_ctl_target){domain, path};
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
        free((void *)(uintptr_t)targets->list[i].domain);
        free((void *)(uintptr_t)targets->list[i].path);
    }
    free(targets->list);
    *targets = (struct targets){0};
}
