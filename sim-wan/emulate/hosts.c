/* SPDX-License-Identifier: BSD-2-Clause */
/* Names and addresses of emulated hosts. */
#include "sim-wan/emulate/hosts.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "sim-wan/mem.h"

#define FIRST4 0x0ad50001u /* 10.213.0.1 */
#define DOMAIN ".example"

static const uint8_t prefix6[8] = {0xfd, 0x67, 0x6d, 0x63, 0x61, 0x73, 0x74, 0x00};

/* ---- names ---- */
static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* The word as (part of) a DNS name: lower case, runs of anything strange become one '-', which
 * neither begins nor ends a label; labels are cut to what DNS allows. */
static void clean_name(const char *word, char *out, size_t size)
{
    size_t len = 0, label = 0;
    bool gap = false;
    for (const char *p = word; *p != '\0' && len + 2 < size; p++) {
        char c = (char)tolower((unsigned char)*p);
        if (c == '.' && label > 0) {
            out[len++] = c;
            label = 0;
            gap = false;
        } else if (!is_letter(c)) {
            gap = label > 0;
        } else if (label + 2 < EMU_LABEL_MAX) {
            if (gap) {
                out[len++] = '-';
                label++;
            }
            out[len++] = c;
            label++;
            gap = false;
        }
    }
    if (len > 0 && out[len - 1] == '.')
        len--;
    out[len] = '\0';
}

static bool is_name_taken(const struct emu_hosts *hosts, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(hosts->list[i].name, name) == 0)
            return true;
    return false;
}

static void name_host(const struct emu_hosts *hosts, size_t i, const char *node)
{
    /* Room for a number and the end. */
    char stem[EMU_NAME_MAX - sizeof(DOMAIN) - 12];
    struct emu_host *host = &hosts->list[i];
    clean_name(node, stem, sizeof(stem));
    if (stem[0] == '\0')
        snprintf(stem, sizeof(stem), "host%zu", i);
    const char *dot = strchr(stem, '.');
    int first = dot != NULL ? (int)(dot - stem) : (int)strlen(stem);
    const char *end = dot != NULL ? dot : DOMAIN;
    snprintf(host->name, sizeof(host->name), "%.*s%s", first, stem, end);
    for (unsigned n = 2; is_name_taken(hosts, i, host->name); n++)
        snprintf(host->name, sizeof(host->name), "%.*s-%u%s", first, stem, n, end);
}

static void alias_hosts(const struct emu_hosts *hosts)
{
    for (size_t i = 0; i < hosts->count; i++) {
        struct emu_host *host = &hosts->list[i];
        size_t len = strcspn(host->name, ".");
        bool shared = len >= EMU_LABEL_MAX;
        for (size_t j = 0; j < hosts->count && !shared; j++)
            shared = j != i && strcspn(hosts->list[j].name, ".") == len &&
                     strncmp(hosts->list[j].name, host->name, len) == 0;
        if (!shared)
            snprintf(host->alias, sizeof(host->alias), "%.*s", (int)len, host->name);
    }
}

/* ---- hosts ---- */
void emu_hosts_init(struct emu_hosts *hosts, const struct sim_topo *topo)
{
    GMC_ASSERT(topo->node_count <= EMU_HOSTS_MAX);
    hosts->count = topo->node_count;
    hosts->list = sim_calloc(topo->node_count, sizeof(*hosts->list));
    for (size_t i = 0; i < topo->node_count; i++) {
        struct emu_host *host = &hosts->list[i];
        name_host(hosts, i, topo->nodes[i].name);
        host->has_gateway = topo->nodes[i].has_gateway;
        sim_topo_rates(topo, (uint32_t)i, &host->uplink_bps, &host->downlink_bps);
        host->address4.s_addr = htonl(FIRST4 + (uint32_t)i);
        memcpy(host->address6.s6_addr, prefix6, sizeof(prefix6));
        gmc_put32(host->address6.s6_addr + 12, (uint32_t)i + 1);
    }
    alias_hosts(hosts);
}

void emu_hosts_fini(struct emu_hosts *hosts)
{
    free(hosts->list);
    *hosts = (struct emu_hosts){0};
}

uint32_t emu_hosts_find(const struct emu_hosts *hosts, const struct sim_topo *topo,
                        const char *name)
{
    uint32_t node = sim_topo_find(topo, name);
    for (uint32_t i = 0; i < hosts->count && node == UINT32_MAX; i++)
        if (strcmp(hosts->list[i].name, name) == 0 || strcmp(hosts->list[i].alias, name) == 0)
            node = i;
    return node;
}

/* ---- packets ---- */
static uint32_t number_of(const struct emu_hosts *hosts, uint32_t from_one)
{
    return from_one - 1 < hosts->count ? from_one - 1 : EMU_NO_HOST;
}

uint32_t emu_hosts_of_packet(const struct emu_hosts *hosts, struct gmc_bytes packet)
{
    if (packet.len >= 20 && packet.data[0] >> 4 == 4)
        return number_of(hosts, gmc_get32(packet.data + 16) - FIRST4 + 1);
    if (packet.len < 40 || packet.data[0] >> 4 != 6)
        return EMU_NO_HOST;
    static const uint8_t zeros[4] = {0};
    const uint8_t *to = packet.data + 24;
    if (memcmp(to, prefix6, sizeof(prefix6)) != 0 || memcmp(to + 8, zeros, sizeof(zeros)) != 0)
        return EMU_NO_HOST;
    return number_of(hosts, gmc_get32(to + 12));
}

/* ---- text ---- */
void emu_hosts_print(const struct emu_hosts *hosts, FILE *out)
{
    char text[INET6_ADDRSTRLEN];
    fputs("127.0.0.1 localhost\n::1 localhost ip6-localhost\n", out);
    for (size_t i = 0; i < hosts->count; i++) {
        const struct emu_host *host = &hosts->list[i];
        inet_ntop(AF_INET, &host->address4, text, sizeof(text));
        fprintf(out, "%s %s %s\n", text, host->name, host->alias);
        inet_ntop(AF_INET6, &host->address6, text, sizeof(text));
        fprintf(out, "%s %s %s\n", text, host->name, host->alias);
    }
}
