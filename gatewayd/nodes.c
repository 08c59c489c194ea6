/* SPDX-License-Identifier: BSD-2-Clause */
/* Nodes that enrolled, and the tokens that are open. */
#include "gatewayd/nodes.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "gatewayd/store_int.h"
#include "gatewayd/text.h"

#define FILE_NAME "nodes"
#define FIRST_LINE "gmcast-nodes 1"
#define LINE_MAX_BYTES 512u

struct gwd_nodes {
    int state_fd;
    struct gwd_node **list; /* each apart: sessions point at them */
    size_t count;
};

/* ---- entries ---- */
static void free_node(struct gwd_node *node)
{
    free(node->peer.name);
    free(node);
}

static struct gwd_node *find(const struct gwd_nodes *nodes, const char *name)
{
    for (size_t i = 0; i < nodes->count; i++)
        if (strcmp(nodes->list[i]->peer.name, name) == 0)
            return nodes->list[i];
    return NULL;
}

/* A new, empty one when there is none; NULL: too many, or no memory. */
static struct gwd_node *obtain(struct gwd_nodes *nodes, const char *name)
{
    static char none[] = "";
    struct gwd_node *node = find(nodes, name), **grown;
    if (node != NULL || nodes->count == GWD_NODES_MAX)
        return node;
    grown = realloc(nodes->list, (nodes->count + 1) * sizeof(struct gwd_node *));
    if (grown == NULL)
        return NULL;
    nodes->list = grown;
    node = calloc(1, sizeof *node);
    if (node == NULL)
        return NULL;
    node->peer = (struct gwd_conf_peer){.name = strdup(name),
                                        .is_node = true,
                                        .is_enrolled = true,
                                        .alias = none,
                                        .address = none,
                                        .connect = GWD_CONNECT_IN};
    if (node->peer.name == NULL) {
        free(node);
        return NULL;
    }
    nodes->list[nodes->count++] = node;
    return node;
}

static bool is_empty(const struct gwd_node *node)
{
    return !node->enrolled && !node->open;
}

void gwd_nodes_sweep(struct gwd_nodes *nodes)
{
    size_t kept = 0;
    for (size_t i = 0; i < nodes->count; i++) {
        if (is_empty(nodes->list[i]))
            free_node(nodes->list[i]);
        else
            nodes->list[kept++] = nodes->list[i];
    }
    nodes->count = kept;
}

const struct gwd_node *gwd_nodes_at(const struct gwd_nodes *nodes, size_t index)
{
    return index < nodes->count ? nodes->list[index] : NULL;
}

const struct gwd_node *gwd_nodes_find(const struct gwd_nodes *nodes, const char *name)
{
    return find(nodes, name);
}

/* ---- the file ---- */
static bool read_words(const char *line, char kind[8], char name[256], char hash[65], int64_t *when,
                       int *words)
{
    int used = 0;
    *when = 0;
    *words =
        sscanf(line, "%7s %255s %64[0-9a-f]%n %" SCNd64 "%n", kind, name, hash, &used, when, &used);
    return *words >= 3 && line[used] == '\0' && *when >= 0;
}

static bool take_line(struct gwd_nodes *nodes, const char *line)
{
    static const struct gwd_option name_option = {.name = "name", .type = GWD_NAME};
    char kind[8], name[256], hash[65];
    uint8_t bytes[GWD_KEY_HASH_BYTES];
    int64_t when;
    int words;
    if (!read_words(line, kind, name, hash, &when, &words) ||
        !gwd_unhex(hash, bytes, sizeof bytes) ||
        gwd_conf_value_error(&name_option, name, NULL, 0) != NULL)
        return false;
    bool is_used = strcmp(kind, "used") == 0;
    if (words != (is_used ? 3 : 4) ||
        (!is_used && strcmp(kind, "node") != 0 && strcmp(kind, "token") != 0))
        return false;
    struct gwd_node *node = obtain(nodes, name);
    if (node == NULL)
        return false;
    if (is_used) {
        node->has_used = true;
        memcpy(node->used, bytes, sizeof bytes);
    } else if (kind[0] == 'n') {
        node->enrolled = true;
        node->since = when;
        memcpy(node->key, bytes, sizeof bytes);
    } else {
        node->open = true;
        node->expires = when;
        memcpy(node->token, bytes, sizeof bytes);
    }
    return true;
}

static void forget_all(struct gwd_nodes *nodes)
{
    for (size_t i = 0; i < nodes->count; i++)
        free_node(nodes->list[i]);
    nodes->count = 0;
}

unsigned gwd_nodes_parse(struct gwd_nodes *nodes, const char *text, size_t len)
{
    unsigned number = 0;
    const char *end = text + len;
    forget_all(nodes);
    while (text < end) {
        char line[LINE_MAX_BYTES];
        const char *feed = memchr(text, '\n', (size_t)(end - text));
        size_t n = feed != NULL ? (size_t)(feed - text) : sizeof line;
        number++;
        if (n >= sizeof line || memchr(text, '\0', n) != NULL)
            return number;
        memcpy(line, text, n);
        line[n] = '\0';
        if (number == 1 ? strcmp(line, FIRST_LINE) != 0 : !take_line(nodes, line))
            return number;
        text = feed + 1;
    }
    gwd_nodes_sweep(nodes); /* `used` alone says nothing */
    return number > 0 ? 0 : 1;
}

static void write_line(FILE *out, const char *kind, const struct gwd_node *node,
                       const uint8_t hash[GWD_KEY_HASH_BYTES])
{
    char hex[2 * GWD_KEY_HASH_BYTES + 1];
    gwd_hex(hash, GWD_KEY_HASH_BYTES, hex);
    fprintf(out, "%s %s %s", kind, node->peer.name, hex);
}

static bool save(const struct gwd_nodes *nodes, char *reason, size_t size)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    bool ok = out != NULL;
    if (ok)
        fprintf(out, FIRST_LINE "\n");
    for (size_t i = 0; ok && i < nodes->count; i++) {
        const struct gwd_node *node = nodes->list[i];
        if (node->enrolled) {
            write_line(out, "node", node, node->key);
            fprintf(out, " %" PRId64 "\n", node->since);
        }
        if (node->open) {
            write_line(out, "token", node, node->token);
            fprintf(out, " %" PRId64 "\n", node->expires);
        }
        if (node->has_used && !is_empty(node)) {
            write_line(out, "used", node, node->used);
            fputc('\n', out);
        }
    }
    if (out != NULL)
        ok = fclose(out) == 0;
    errno = ENOMEM;
    ok = ok && gwd_replace_file(nodes->state_fd, FILE_NAME, text, len);
    if (!ok)
        gwd_text(reason, size, "the file nodes in the state directory cannot be written: %s",
                 strerror(errno));
    free(text);
    return ok;
}

static bool load(struct gwd_nodes *nodes, const char *state, char *reason, size_t size)
{
    size_t len = 0;
    char *text = gwd_read_file(nodes->state_fd, FILE_NAME, &len);
    unsigned line = 0;
    if (text == NULL && errno != ENOENT) {
        gwd_text(reason, size, "%s/" FILE_NAME " cannot be read: %s", state, strerror(errno));
        return false;
    }
    if (text != NULL)
        line = gwd_nodes_parse(nodes, text, len);
    free(text);
    if (line > 0)
        gwd_text(reason, size,
                 "%s/" FILE_NAME ":%u: expected \"" FIRST_LINE "\" and lines of nodes and tokens; "
                 "mend or remove the file (nodes then have to enrol again)",
                 state, line);
    return line == 0;
}

struct gwd_nodes *gwd_nodes_new(const char *state, char *reason, size_t size)
{
    struct gwd_nodes *nodes = calloc(1, sizeof *nodes);
    gwd_text(reason, size, "out of memory");
    if (nodes == NULL)
        return NULL;
    nodes->state_fd = open(state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (nodes->state_fd < 0)
        gwd_text(reason, size, "%s: %s", state, strerror(errno));
    if (nodes->state_fd < 0 || !load(nodes, state, reason, size)) {
        gwd_nodes_free(nodes);
        return NULL;
    }
    return nodes;
}

void gwd_nodes_free(struct gwd_nodes *nodes)
{
    if (nodes == NULL)
        return;
    forget_all(nodes);
    free(nodes->list);
    if (nodes->state_fd >= 0)
        (void)close(nodes->state_fd);
    free(nodes);
}

/* ---- what changes ---- */
/* All or nothing: what is not on disk has not happened. */
static gmc_status keep(struct gwd_nodes *nodes, struct gwd_node *node,
                       const struct gwd_node *before, char *reason, size_t size)
{
    if (save(nodes, reason, size))
        return GMC_OK;
    *node = *before;
    return GMC_ERR_IO;
}

gmc_status gwd_nodes_add(struct gwd_nodes *nodes, const char *name, int64_t expires,
                         uint8_t secret[GWD_SECRET_BYTES], char *reason, size_t size)
{
    struct gwd_node *node = obtain(nodes, name);
    if (node == NULL) {
        gwd_text(reason, size, "no room for a further node: there are %zu of at most %u",
                 nodes->count, GWD_NODES_MAX);
        return GMC_ERR_FULL;
    }
    if (getrandom(secret, GWD_SECRET_BYTES, 0) != (ssize_t)GWD_SECRET_BYTES) {
        gwd_text(reason, size, "no entropy: %s", strerror(errno));
        return GMC_ERR_IO;
    }
    struct gwd_node before = *node;
    node->open = true;
    node->expires = expires;
    (void)SHA256(secret, GWD_SECRET_BYTES, node->token);
    return keep(nodes, node, &before, reason, size);
}

/* Why secret opens nothing; NULL: it does. */
static const char *refusal(const struct gwd_node *node, const uint8_t *secret, int64_t now)
{
    uint8_t hash[GWD_KEY_HASH_BYTES];
    if (secret == NULL)
        return node != NULL && node->enrolled ? "it enrolled with another key"
                                              : "it has not enrolled";
    if (node == NULL)
        return "there is no token for it";
    (void)SHA256(secret, GWD_SECRET_BYTES, hash);
    if (node->has_used && CRYPTO_memcmp(hash, node->used, sizeof hash) == 0)
        return "its token was used already";
    if (!node->open || CRYPTO_memcmp(hash, node->token, sizeof hash) != 0)
        return "its token is wrong";
    return now >= node->expires ? "its token has expired" : NULL;
}

gmc_status gwd_nodes_admit(struct gwd_nodes *nodes, const char *name,
                           const uint8_t key[GWD_KEY_HASH_BYTES], const uint8_t *secret,
                           int64_t now, bool *changed, char *reason, size_t size)
{
    struct gwd_node *node = find(nodes, name);
    const char *why;
    *changed = false;
    if (node != NULL && node->enrolled && memcmp(node->key, key, GWD_KEY_HASH_BYTES) == 0)
        return GMC_OK;
    why = refusal(node, secret, now);
    if (why != NULL) {
        gwd_text(reason, size, "%s is not let in as a node: %s; gmcast node add makes a new token",
                 name, why);
        return GMC_ERR_AUTH;
    }
    struct gwd_node before = *node;
    node->enrolled = node->has_used = true;
    node->since = now;
    memcpy(node->key, key, sizeof node->key);
    memcpy(node->used, node->token, sizeof node->used);
    node->open = false;
    *changed = keep(nodes, node, &before, reason, size) == GMC_OK;
    return *changed ? GMC_OK : GMC_ERR_IO;
}

gmc_status gwd_nodes_remove(struct gwd_nodes *nodes, const char *name, char *reason, size_t size)
{
    struct gwd_node *node = find(nodes, name);
    if (node == NULL) {
        gwd_text(reason, size, "there is no node %s; gmcast node list shows them", name);
        return GMC_ERR_NOT_FOUND;
    }
    struct gwd_node before = *node;
    node->enrolled = node->open = false;
    return keep(nodes, node, &before, reason, size);
}
