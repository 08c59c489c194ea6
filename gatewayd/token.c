/* SPDX-License-Identifier: BSD-2-Clause */
/* Tokens of nodes as text. */
#include "gatewayd/token.h"

#include <ctype.h>
#include <string.h>

#define PREFIX "gmn1-"

void gwd_hex(const uint8_t *bytes, size_t len, char *out)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < len; i++) {
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 15];
    }
    *out = '\0';
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

bool gwd_unhex(const char *text, uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        int high = digit(text[2 * i]);
        int low = high >= 0 ? digit(text[2 * i + 1]) : -1;
        if (low < 0)
            return false;
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

void gwd_token_text(const struct gwd_token *token, char out[GWD_TOKEN_TEXT_MAX])
{
    memcpy(out, PREFIX, strlen(PREFIX));
    out += strlen(PREFIX);
    gwd_hex(token->secret, sizeof token->secret, out);
    gwd_hex(token->gateway, sizeof token->gateway, out + 2 * sizeof token->secret);
}

bool gwd_token_parse(const char *text, struct gwd_token *token)
{
    struct gwd_token read;
    while (isspace((unsigned char)*text))
        text++;
    if (strncmp(text, PREFIX, strlen(PREFIX)) != 0)
        return false;
    text += strlen(PREFIX);
    if (!gwd_unhex(text, read.secret, sizeof read.secret))
        return false;
    text += 2 * sizeof read.secret;
    if (!gwd_unhex(text, read.gateway, sizeof read.gateway))
        return false;
    text += 2 * sizeof read.gateway;
    while (isspace((unsigned char)*text))
        text++;
    if (*text != '\0')
        return false;
    *token = read;
    return true;
}
