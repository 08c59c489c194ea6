/* SPDX-License-Identifier: BSD-2-Clause */
/* Network addresses: text <-> sockaddr <-> the core's opaque gmc_addr. */
#include "gatewayd/addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gatewayd/text.h"

bool gwd_addr_split(const char *text, char *host, size_t size, uint16_t *port)
{
    const char *colon = strrchr(text, ':');
    const char *begin = text;
    const char *end = colon;
    char *rest;
    unsigned long number;
    if (colon == NULL)
        return false;
    if (text[0] == '[') {
        begin = text + 1;
        end = colon - 1;
        if (colon == text || *end != ']')
            return false;
    } else if (memchr(text, ':', (size_t)(colon - text)) != NULL) {
        return false;
    }
    if (end <= begin || (size_t)(end - begin) >= size || colon[1] < '0' || colon[1] > '9')
        return false;
    number = strtoul(colon + 1, &rest, 10);
    if (*rest != '\0' || number == 0 || number > 65535)
        return false;
    memcpy(host, begin, (size_t)(end - begin));
    host[end - begin] = '\0';
    *port = (uint16_t)number;
    return true;
}

bool gwd_addr_numeric(const char *host, uint16_t port, struct gwd_sockaddr *out)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    memset(out, 0, sizeof *out);
    if (inet_pton(AF_INET, host, &v4.sin_addr) == 1) {
        memcpy(&out->storage, &v4, sizeof v4);
        out->len = sizeof v4;
        return true;
    }
    if (inet_pton(AF_INET6, host, &v6.sin6_addr) == 1) {
        memcpy(&out->storage, &v6, sizeof v6);
        out->len = sizeof v6;
        return true;
    }
    return false;
}

void gwd_addr_to_core(const struct sockaddr *from, struct gmc_addr *to)
{
    memset(to, 0, sizeof *to);
    if (from->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const void *)from;
        memcpy(to->bytes, &v4->sin_addr, 4);
        memcpy(to->bytes + 4, &v4->sin_port, 2);
        to->len = 6;
    } else if (from->sa_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const void *)from;
        if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr)) {
            memcpy(to->bytes, &v6->sin6_addr.s6_addr[12], 4);
            memcpy(to->bytes + 4, &v6->sin6_port, 2);
            to->len = 6;
            return;
        }
        memcpy(to->bytes, &v6->sin6_addr, 16);
        memcpy(to->bytes + 16, &v6->sin6_port, 2);
        memcpy(to->bytes + 18, &v6->sin6_scope_id, 4);
        to->len = 22;
    }
}

bool gwd_addr_from_core(const struct gmc_addr *from, int family, struct gwd_sockaddr *to)
{
    memset(to, 0, sizeof *to);
    if (from->len == 6 && family == AF_INET) {
        struct sockaddr_in v4 = {.sin_family = AF_INET};
        memcpy(&v4.sin_addr, from->bytes, 4);
        memcpy(&v4.sin_port, from->bytes + 4, 2);
        memcpy(&to->storage, &v4, sizeof v4);
        to->len = sizeof v4;
        return true;
    }
    if ((from->len == 6 || from->len == 22) && family == AF_INET6) {
        struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
        if (from->len == 6) {
            v6.sin6_addr.s6_addr[10] = v6.sin6_addr.s6_addr[11] = 0xff;
            memcpy(&v6.sin6_addr.s6_addr[12], from->bytes, 4);
            memcpy(&v6.sin6_port, from->bytes + 4, 2);
        } else {
            memcpy(&v6.sin6_addr, from->bytes, 16);
            memcpy(&v6.sin6_port, from->bytes + 16, 2);
            memcpy(&v6.sin6_scope_id, from->bytes + 18, 4);
        }
        memcpy(&to->storage, &v6, sizeof v6);
        to->len = sizeof v6;
        return true;
    }
    return false;
}

uint16_t gwd_addr_port(const struct sockaddr *from)
{
    if (from->sa_family == AF_INET)
        return ntohs(((const struct sockaddr_in *)(const void *)from)->sin_port);
    if (from->sa_family == AF_INET6)
        return ntohs(((const struct sockaddr_in6 *)(const void *)from)->sin6_port);
    return 0;
}

void gwd_addr_text(const struct sockaddr *from, char out[GWD_ADDR_TEXT_MAX])
{
    char host[INET6_ADDRSTRLEN] = "?";
    if (from->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const void *)from;
        (void)inet_ntop(AF_INET, &v4->sin_addr, host, sizeof host);
        (void)snprintf(out, GWD_ADDR_TEXT_MAX, "%s:%u", host, gwd_addr_port(from));
    } else if (from->sa_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const void *)from;
        (void)inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof host);
        (void)snprintf(out, GWD_ADDR_TEXT_MAX, "[%s]:%u", host, gwd_addr_port(from));
    } else {
        (void)snprintf(out, GWD_ADDR_TEXT_MAX, "unknown");
    }
}

void gwd_addr_core_text(const struct gmc_addr *from, char *out, size_t size)
{
    struct gwd_sockaddr address;
    char text[GWD_ADDR_TEXT_MAX] = "unknown";
    int family = from->len == 6 ? AF_INET : AF_INET6;
    if (gwd_addr_from_core(from, family, &address))
        gwd_addr_text((const struct sockaddr *)&address.storage, text);
    gwd_text(out, size, "%s", text);
}

void gwd_addr_not_bound(const char *what, const struct gwd_sockaddr *address, char *reason,
                        size_t size)
{
    int error = errno;
    char text[GWD_ADDR_TEXT_MAX];
    gwd_addr_text((const struct sockaddr *)&address->storage, text);
    gwd_text(reason, size, "%s port %s cannot be opened: %s%s", what, text, strerror(error),
             error == EADDRINUSE      ? "; `ss -tulnp` shows by whom"
             : error == EADDRNOTAVAIL ? "; `ip address` shows which are this host's"
                                      : "");
}
