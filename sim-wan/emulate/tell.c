/* SPDX-License-Identifier: BSD-2-Clause */
/* The environment of the command; see tell.h. */
#include "sim-wan/emulate/tell.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *join_names(const struct emu_run *run, const char *variable,
                        const char *(*text_of)(const struct emu_run *run, size_t host, char *out))
{
    char *text = NULL, word[EMU_NETNS_NAME_MAX + 1];
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        abort();
    fprintf(out, "%s=", variable);
    for (size_t i = 0; i < run->hosts->count; i++)
        fprintf(out, "%s%s", i > 0 ? " " : "", text_of(run, i, word));
    fclose(out);
    return text;
}

static const char *name_of(const struct emu_run *run, size_t host, char *out)
{
    (void)out;
    return run->hosts->list[host].name;
}

static const char *netns_of(const struct emu_run *run, size_t host, char *out)
{
    (void)out;
    return run->place.netns[host];
}

static const char *address4_of(const struct emu_run *run, size_t host, char *out)
{
    return inet_ntop(AF_INET, &run->hosts->list[host].address4, out, INET_ADDRSTRLEN);
}

static const char *address6_of(const struct emu_run *run, size_t host, char *out)
{
    return inet_ntop(AF_INET6, &run->hosts->list[host].address6, out, INET6_ADDRSTRLEN);
}

static char *assignment(const char *variable, const char *value)
{
    char *text = NULL;
    if (asprintf(&text, "%s=%s", variable, value) < 0)
        abort();
    return text;
}

/* The folder of a program that was named with one comes first, so that the command finds the same
 * program; NULL: it is the one that is found anyway. */
static char *path_with(const char *file)
{
    const char *path = getenv("PATH"), *slash = strrchr(file, '/');
    char *text = NULL;
    if (slash != NULL && asprintf(&text, "PATH=%.*s:%s", (int)(slash - file), file,
                                  path != NULL ? path : "/usr/bin:/bin") < 0)
        abort();
    return text;
}

void emu_tell(const struct emu_run *run, char *out[EMU_VARIABLES_MAX])
{
    size_t n = 0;
    out[n++] = join_names(run, "SIM_WAN_HOSTS", name_of);
    out[n++] = join_names(run, "SIM_WAN_ADDRESSES", address4_of);
    out[n++] = join_names(run, "SIM_WAN_ADDRESSES6", address6_of);
    out[n++] = join_names(run, "SIM_WAN_NAMESPACES", netns_of);
    out[n++] = assignment("SIM_WAN_HOST", run->hosts->list[run->config->at].name);
    out[n++] = assignment("SIM_WAN_DIRECTORY", run->place.work);
    if (run->config->gateways && run->hosts->list[run->config->at].has_gateway) {
        char *endpoint = emu_gateways_endpoint(&run->gateways, run->config->at);
        out[n++] = assignment("GMCAST_GATEWAY", endpoint);
        out[n] = path_with(run->gateways.gmcast);
        if (out[n] != NULL)
            n++;
        free(endpoint);
    }
    out[n] = NULL;
}
