/* SPDX-License-Identifier: BSD-2-Clause */
/* Comments in configuration texts; see comments.h. */
#include "base/comments.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static bool is_space(char letter)
{
    return letter != '\0' && strchr(" \t\n\v\f\r", letter) != NULL;
}

static size_t skip_quoted(const char *text, size_t at)
{
    char quote = text[at++];
    while (text[at] != '\0' && text[at] != quote)
        at += text[at] == '\\' && text[at + 1] != '\0' ? 2 : 1;
    return text[at] != '\0' ? at + 1 : at;
}

static size_t blank_comment(char *text, size_t at)
{
    bool block = text[at] == '/' && text[at + 1] == '*', over = false;
    size_t begin = at;
    while (text[at] != '\0' && !over) {
        if (block)
            over = at > begin + 2 && text[at] == '/' && text[at - 1] == '*';
        else if (text[at] == '\n')
            break;
        at++;
    }
    for (size_t i = begin; i < at; i++)
        text[i] = text[i] == '\n' ? '\n' : ' ';
    return at;
}

void gmc_blank_comments(char *text)
{
    size_t at = 0;
    while (text[at] != '\0') {
        bool word = at == 0 || is_space(text[at - 1]);
        if (text[at] == '"' || text[at] == '\'')
            at = skip_quoted(text, at);
        else if (text[at] == '#' ||
                 (word && text[at] == '/' && (text[at + 1] == '/' || text[at + 1] == '*')))
            at = blank_comment(text, at);
        else
            at++;
    }
}
