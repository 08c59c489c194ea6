/* SPDX-License-Identifier: BSD-2-Clause */
/* How the values of a configuration fit together and to the machine: certificates, names,
 * directories, duplicates. */
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <net/if.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/inside.h"
#include "crypto/openssl.h"
#include "gatewayd/addr.h"
#include "gatewayd/cert.h"
#include "gatewayd/conf.h"
#include "gatewayd/fabric.h"
#include "gatewayd/identity.h"
#include "gatewayd/mcast.h"
#include "gatewayd/priv.h"
#include "gatewayd/text.h"
#include "gatewayd/tree.h"

const struct gwd_conf_peer *gwd_conf_peer_find(const struct gwd_conf *conf, const char *name)
{
    for (size_t i = 0; i < conf->peer_count; i++) {
        if (strcasecmp(conf->peers[i].name, name) == 0)
            return &conf->peers[i];
    }
    return NULL;
}

const struct gwd_conf_peer *gwd_conf_resolve(const struct gwd_conf *conf, const char *alias)
{
    const struct gwd_conf_peer *peer = gwd_conf_peer_find(conf, alias);
    if (peer != NULL && peer->is_node)
        return NULL;
    for (size_t i = 0; peer == NULL && alias[0] != '\0' && i < conf->peer_count; i++) {
        if (strcmp(conf->peers[i].alias, alias) == 0)
            peer = &conf->peers[i];
    }
    return peer;
}

const struct gwd_conf_grant *gwd_conf_grant_find(const struct gwd_conf_grant *grants, size_t count,
                                                 const char *domain)
{
    const struct gwd_conf_grant *any = NULL;
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(grants[i].domain, domain) == 0)
            return &grants[i];
        if (strcmp(grants[i].domain, "*") == 0)
            any = &grants[i];
    }
    return any;
}

static void check_certificate(const struct gwd_conf *conf, struct gwd_errors *errors)
{
    char reason[512], names[256];
    STACK_OF(X509) *chain = gwd_cert_load_chain(conf->tls.certificate, reason, sizeof reason);
    EVP_PKEY *key = NULL;
    if (chain == NULL)
        gwd_errors_add(errors, conf->file, gwd_conf_line(conf, GWD_TLS, "certificate"),
                       "tls: certificate: %s", reason);
    key = gwd_cert_load_key(conf->tls.key, reason, sizeof reason);
    const char *refusal = key != NULL ? gmc_crypto_openssl_refusal(key) : reason;
    if (refusal != NULL)
        gwd_errors_add(errors, conf->file, gwd_conf_line(conf, GWD_TLS, "key"), "tls: key: %s%s%s",
                       key != NULL ? conf->tls.key : "", key != NULL ? ": " : "", refusal);
    if (chain != NULL && key != NULL && X509_check_private_key(sk_X509_value(chain, 0), key) != 1)
        gwd_errors_add(errors, conf->file, gwd_conf_line(conf, GWD_TLS, "key"),
                       "tls: key: %s does not belong to %s", conf->tls.key, conf->tls.certificate);
    if (chain != NULL && !gwd_cert_has_domain(sk_X509_value(chain, 0), conf->domain)) {
        gwd_cert_names(sk_X509_value(chain, 0), names, sizeof names);
        gwd_errors_add(errors, conf->file, gwd_conf_line(conf, GWD_TOP, "domain"),
                       "domain '%s' is not in the certificate %s, which is for: %s", conf->domain,
                       conf->tls.certificate, names);
    }
    if (chain != NULL && gwd_cert_seconds_left(sk_X509_value(chain, 0)) < 0)
        gwd_errors_add(errors, conf->file, gwd_conf_line(conf, GWD_TLS, "certificate"),
                       "tls: certificate: %s has expired; get a new one from its authority",
                       conf->tls.certificate);
    sk_X509_pop_free(chain, X509_free);
    EVP_PKEY_free(key);
}

/* A node that makes its own key needs to have enrolled, or a token to do so. */
static void check_enrolment(const struct gwd_conf *conf, struct gwd_errors *errors)
{
    char reason[512];
    struct gwd_token token;
    int line = gwd_conf_line(conf, GWD_TOP, "token");
    if (gwd_identity_is_prepared(conf))
        return;
    if (conf->token[0] == '\0')
        gwd_errors_add(errors, conf->file, gwd_conf_line(conf, GWD_TOP, "node_of"),
                       "this node has no tls section and has not enrolled: write what gmcast node "
                       "add %s prints at the gateway into a file, and name that in 'token'",
                       conf->domain);
    else if (!gwd_identity_token(conf, &token, reason, sizeof reason))
        gwd_errors_add(errors, conf->file, line, "token: %s", reason);
}

static void check_authorities(const struct gwd_conf *conf, struct gwd_errors *errors)
{
    char reason[512];
    X509_STORE *store = gwd_cert_load_store(conf->tls.ca, NULL, reason, sizeof reason);
    if (store == NULL)
        gwd_errors_add(errors, conf->file, gwd_conf_line(conf, GWD_TLS, "ca"), "tls: ca: %s",
                       reason);
    X509_STORE_free(store);
    if (store == NULL || conf->tls.crl[0] == '\0')
        return;
    store = gwd_cert_load_store(conf->tls.ca, conf->tls.crl, reason, sizeof reason);
    if (store == NULL)
        gwd_errors_add(errors, conf->file, gwd_conf_line(conf, GWD_TLS, "crl"), "tls: crl: %s",
                       reason);
    X509_STORE_free(store);
}

static void check_access(const struct gwd_conf *conf, struct gwd_errors *errors, int line,
                         const char *what, const char *path, int mode)
{
    const char *user = geteuid() != 0          ? "that runs this (not root)"
                       : conf->user[0] != '\0' ? conf->user
                                               : "root";
    if (!gwd_priv_may(conf->user, conf->group, path, mode))
        gwd_errors_add(
            errors, conf->file, line,
            "%s: user %s may not %s %s: %s; change its owner or mode, or of what is above it", what,
            user, (mode & W_OK) != 0 ? "write to" : "enter", path, strerror(errno));
}

/* mode: what the daemon does there, as of access(). */
static void check_directory(const struct gwd_conf *conf, struct gwd_errors *errors, int line,
                            const char *what, const char *path, int mode)
{
    struct stat st;
    if (stat(path, &st) != 0)
        gwd_errors_add(errors, conf->file, line, "%s: directory %s: %s; create it", what, path,
                       strerror(errno));
    else if (!S_ISDIR(st.st_mode))
        gwd_errors_add(errors, conf->file, line, "%s: %s is not a directory", what, path);
    else
        check_access(conf, errors, line, what, path, mode);
}

/* It is opened again by a reload, without the privileges of the start. */
static void check_log_file(const struct gwd_conf *conf, struct gwd_errors *errors)
{
    int line = gwd_conf_line(conf, GWD_TOP, "log_file");
    char folder[PATH_MAX];
    struct stat st;
    if (conf->log_file[0] == '\0')
        return;
    if (stat(conf->log_file, &st) == 0) {
        check_access(conf, errors, line, "log_file", conf->log_file, W_OK);
        return;
    }
    gwd_text(folder, sizeof folder, "%s", conf->log_file);
    char *slash = strrchr(folder, '/');
    if (slash != NULL)
        slash[1] = '\0';
    check_directory(conf, errors, line, "log_file", slash != NULL ? folder : ".", W_OK | X_OK);
}

static void check_peers(const struct gwd_conf *conf, struct gwd_errors *errors)
{
    for (size_t i = 0; i < conf->peer_count; i++) {
        const struct gwd_conf_peer *peer = &conf->peers[i];
        if (strcmp(peer->name, conf->domain) == 0)
            gwd_errors_add(errors, conf->file, peer->line,
                           "peer \"%s\" is this domain itself; name another one or remove it",
                           peer->name);
        for (size_t j = 0; j < i && peer->alias[0] != '\0'; j++) {
            if (strcmp(peer->alias, conf->peers[j].alias) == 0)
                gwd_errors_add(errors, conf->file, peer->line,
                               "peer \"%s\": alias '%s' is that of peer \"%s\" (line %d); each "
                               "needs its own",
                               peer->name, peer->alias, conf->peers[j].name, conf->peers[j].line);
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(peer->name, conf->peers[j].name) == 0)
                gwd_errors_add(errors, conf->file, peer->line,
                               "peer \"%s\" stands already in line %d; remove one", peer->name,
                               conf->peers[j].line);
        }
        if (strcasecmp(peer->alias, conf->domain) == 0 ||
            (peer->alias[0] != '\0' && gwd_conf_peer_find(conf, peer->alias) != NULL &&
             gwd_conf_peer_find(conf, peer->alias) != peer))
            gwd_errors_add(errors, conf->file, peer->line,
                           "peer \"%s\": alias '%s' is the name of another domain; choose another "
                           "one",
                           peer->name, peer->alias);
        if (strpbrk(peer->alias, ":,@/ \t") != NULL)
            gwd_errors_add(errors, conf->file, peer->line,
                           "peer \"%s\": alias '%s' must not contain : , @ / or blanks", peer->name,
                           peer->alias);
    }
}

/* What a node is told by its gateway. */
static void check_gateways_options(const struct gwd_conf *conf, struct gwd_errors *errors)
{
    static const char *const options[] = {"deliver", "network", "network_nodes", "delivery_tree"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        int line = gwd_conf_line(conf, GWD_TOP, options[i]);
        if (line > 0)
            gwd_errors_add(errors, conf->file, line,
                           "%s is for the gateway, %s, which tells its nodes: remove it here",
                           options[i], conf->node_of);
    }
}

/* A node has one neighbour, the gateway of its domain. */
static void check_node(const struct gwd_conf *conf, struct gwd_errors *errors)
{
    const struct gwd_conf_peer *gateway = gwd_conf_peer_find(conf, conf->node_of);
    if (conf->node_of[0] == '\0')
        return;
    check_gateways_options(conf, errors);
    if (gateway == NULL || gateway->is_node)
        gwd_errors_add(errors, conf->file, gwd_conf_line(conf, GWD_TOP, "node_of"),
                       "node_of: there is no such peer; add a section peer \"%s\" { ... } with the "
                       "address of the gateway",
                       conf->node_of);
    for (size_t i = 0; i < conf->peer_count; i++)
        if (&conf->peers[i] != gateway)
            gwd_errors_add(errors, conf->file, conf->peers[i].line,
                           "%s \"%s\": a node speaks to its gateway alone; remove it",
                           conf->peers[i].is_node ? "node" : "peer", conf->peers[i].name);
}

/* The directories of sections. */
static void check_granted(const struct gwd_conf *conf, const struct gwd_conf_grant *grants,
                          size_t count, const char *what, int mode, struct gwd_errors *errors)
{
    for (size_t i = 0; i < count; i++) {
        char label[320];
        (void)snprintf(label, sizeof label, "%s \"%s\"", what, grants[i].domain);
        check_directory(conf, errors, grants[i].line, label, grants[i].directory, mode);
    }
}

static void check_grants(const struct gwd_conf *conf, const struct gwd_conf_grant *grants,
                         size_t count, const char *what, struct gwd_errors *errors)
{
    for (size_t i = 0; i < count; i++) {
        /* To a node its gateway speaks for all of them. */
        if (conf->node_of[0] == '\0' && strcmp(grants[i].domain, "*") != 0 &&
            strcmp(grants[i].domain, conf->domain) != 0 &&
            gwd_conf_peer_find(conf, grants[i].domain) == NULL)
            gwd_errors_add(errors, conf->file, grants[i].line,
                           "%s \"%s\": there is no such peer; add a section peer \"%s\" { ... }",
                           what, grants[i].domain, grants[i].domain);
    }
}

static void check_endpoint(const struct gwd_conf *conf, const char *option, const char *endpoint,
                           struct gwd_errors *errors)
{
    size_t longest = sizeof((struct sockaddr_un *)0)->sun_path - 1;
    if (strncmp(endpoint, "ipc://", 6) == 0 && strlen(endpoint + 6) > longest)
        gwd_errors_add(errors, conf->file, gwd_conf_line(conf, GWD_TOP, option),
                       "%s: the path %s is longer than the %zu bytes of a local socket; choose a "
                       "shorter one",
                       option, endpoint + 6, longest);
}

static void check_account(const struct gwd_conf *conf, struct gwd_errors *errors)
{
    if (conf->user[0] != '\0' && getpwnam(conf->user) == NULL)
        gwd_errors_add(errors, conf->file, gwd_conf_line(conf, GWD_TOP, "user"),
                       "user '%s' does not exist; create it (systemd-sysusers) or name another",
                       conf->user);
    if (conf->group[0] != '\0' && getgrnam(conf->group) == NULL)
        gwd_errors_add(errors, conf->file, gwd_conf_line(conf, GWD_TOP, "group"),
                       "group '%s' does not exist; create it (systemd-sysusers) or name another",
                       conf->group);
}

static void check_listen(const struct gwd_conf *conf, struct gwd_errors *errors)
{
    char host[256];
    uint16_t port;
    struct gwd_sockaddr address;
    if (gwd_addr_split(conf->listen, host, sizeof host, &port) &&
        !gwd_addr_numeric(host, port, &address))
        gwd_errors_add(errors, conf->file, gwd_conf_line(conf, GWD_TOP, "listen"),
                       "listen: '%s' is not a numeric address; expected one of this host's, or "
                       "0.0.0.0 or [::] for all",
                       host);
}

/* A node is told the group by its gateway, unless it can relay to its subnet. */
static void check_multicast(const struct gwd_conf *conf, struct gwd_errors *errors)
{
    struct gwd_mcast_group group;
    char reason[256];
    bool sends = conf->node_of[0] == '\0' || conf->multicast_rate > 0;
    if (conf->multicast_interface[0] == '\0') {
        if (conf->node_of[0] != '\0' && conf->multicast_rate > 0)
            gwd_errors_add(errors, conf->file, gwd_conf_line(conf, GWD_TOP, "multicast_rate"),
                           "multicast_rate: a node that is to relay to its subnet needs "
                           "multicast_interface too, such as multicast_interface = \"eth0\"");
        return;
    }
    if (if_nametoindex(conf->multicast_interface) == 0)
        gwd_errors_add(errors, conf->file, gwd_conf_line(conf, GWD_TOP, "multicast_interface"),
                       "multicast_interface: there is no interface '%s' here; `ip link` lists them",
                       conf->multicast_interface);
    else if (sends && !gwd_mcast_group(conf, &group, reason, sizeof reason))
        gwd_errors_add(errors, conf->file, gwd_conf_line(conf, GWD_TOP, "multicast_address"), "%s",
                       reason);
    if (conf->node_of[0] == '\0' && conf->multicast_rate == 0)
        gwd_errors_add(
            errors, conf->file, gwd_conf_line(conf, GWD_TOP, "multicast_interface"),
            "multicast_rate is missing: give what the network to the nodes carries, such "
            "as multicast_rate = \"900M\"");
}

static void check_tree(const struct gwd_conf *conf, struct gwd_errors *errors)
{
    const char *option;
    char reason[512];
    struct gwd_tree *tree = gwd_tree_new(conf, NULL, &option, reason, sizeof reason);
    if (tree == NULL)
        gwd_errors_add(errors, conf->file, gwd_conf_line(conf, GWD_TOP, option), "%s", reason);
    gwd_tree_free(tree);
}

static void check_fabric(const struct gwd_conf *conf, struct gwd_errors *errors)
{
    char reason[512];
    if (conf->fabric[0] == '\0') {
        if (conf->fabric_domain[0] != '\0')
            gwd_errors_add(errors, conf->file, gwd_conf_line(conf, GWD_TOP, "fabric_domain"),
                           "fabric_domain is of a provider: name that in 'fabric', or remove it");
        return;
    }
    if (!gwd_fabric_check(conf, reason, sizeof reason))
        gwd_errors_add(errors, conf->file, gwd_conf_line(conf, GWD_TOP, "fabric"), "%s", reason);
}

bool gwd_conf_check(const struct gwd_conf *conf, struct gwd_errors *errors)
{
    size_t before = errors->count + errors->dropped;
    if (gwd_identity_is_own(conf)) {
        check_enrolment(conf, errors);
    } else {
        check_certificate(conf, errors);
        check_authorities(conf, errors);
    }
    if (conf->token[0] != '\0' && !gwd_identity_is_own(conf))
        gwd_errors_add(errors, conf->file, gwd_conf_line(conf, GWD_TOP, "token"),
                       "token is for gmcast-noded without a tls section: remove one of them");
    check_listen(conf, errors);
    check_directory(conf, errors, gwd_conf_line(conf, GWD_TOP, "state"), "state", conf->state,
                    R_OK | W_OK | X_OK);
    for (size_t i = 0; i < conf->exports.count; i++)
        check_directory(conf, errors, gwd_conf_line(conf, GWD_TOP, "export"), "export",
                        conf->exports.items[i], X_OK);
    check_peers(conf, errors);
    check_node(conf, errors);
    if (gmc_inside_kind(conf->deliver) == GMC_INSIDE_NONE)
        gwd_errors_add(errors, conf->file, gwd_conf_line(conf, GWD_TOP, "deliver"),
                       "deliver: '%s' is not right: expected gateway, nodes, shared, or names of "
                       "nodes with + between",
                       conf->deliver);
    check_grants(conf, conf->receives, conf->receive_count, "receive", errors);
    check_grants(conf, conf->serves, conf->serve_count, "serve", errors);
    check_granted(conf, conf->serves, conf->serve_count, "serve", X_OK, errors);
    check_tree(conf, errors);
    check_fabric(conf, errors);
    check_multicast(conf, errors);
    check_endpoint(conf, "control", conf->control, errors);
    check_endpoint(conf, "events", conf->events, errors);
    if (strcmp(conf->control, conf->events) == 0)
        gwd_errors_add(errors, conf->file, gwd_conf_line(conf, GWD_TOP, "events"),
                       "events: '%s' is that of control; each needs its own", conf->events);
    check_account(conf, errors);
    check_log_file(conf, errors);
    return errors->count + errors->dropped == before;
}

bool gwd_conf_check_receives(const struct gwd_conf *conf, struct gwd_errors *errors)
{
    size_t before = errors->count + errors->dropped;
    check_granted(conf, conf->receives, conf->receive_count, "receive", W_OK | X_OK, errors);
    return errors->count + errors->dropped == before;
}

void gwd_conf_restart_needed(const struct gwd_conf *before, const struct gwd_conf *after,
                             char *names, size_t size)
{
    size_t used = 0;
    names[0] = '\0';
    for (const struct gwd_option *o = gwd_conf_options(GWD_TOP); o->name != NULL; o++) {
        const char *a = (const char *)before + o->offset, *b = (const char *)after + o->offset;
        bool differs;
        if (o->live || gwd_option_is_list(o))
            continue;
        if (o->type >= GWD_NUMBER) {
            differs = memcmp(a, b, sizeof(uint64_t)) != 0;
        } else {
            char *x, *y;
            memcpy(&x, a, sizeof x);
            memcpy(&y, b, sizeof y);
            differs = strcmp(x, y) != 0;
        }
        if (differs && used < size) {
            int n = snprintf(names + used, size - used, "%s%s", used == 0 ? "" : ", ", o->name);
            used += n > 0 ? (size_t)n : 0;
        }
    }
}
