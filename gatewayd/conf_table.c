/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of options, what their values mean, and how they are printed. */
#include "gatewayd/conf.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gatewayd/addr.h"

static const char *const transports[] = {"auto", "udp", "tcp", NULL};
static const char *const connects[] = {"both", "out", "in", NULL};
static const char *const congestions[] = {"model", "fixed", NULL};
static const char *const permissions[] = {"refused", "allowed", NULL};
static const char *const levels[] = {"error", "warn", "info", "debug", "trace", NULL};

#define AT(type, field) offsetof(struct type, field)

static const struct gwd_option top_options[] = {
    {"domain", GWD_NAME, NULL, 0, 0, NULL, false, AT(gwd_conf, domain),
     "own domain; must be a DNS subjectAltName of the certificate"},
    {"node_of", GWD_TEXT, "", 0, 0, NULL, false, AT(gwd_conf, node_of),
     "gmcast-noded: the domain whose node this is; gatewayd: must be empty"},
    {"deliver", GWD_TEXT, "nodes", 0, 0, NULL, true, AT(gwd_conf, deliver),
     "where received data goes unless the source says: gateway, nodes, shared, or NODE+NODE"},
    {"token", GWD_TEXT, "", 0, 0, NULL, false, AT(gwd_conf, token),
     "gmcast-noded without a tls section: file with the token of gmcast node add"},
    {"listen", GWD_ADDRESS, "0.0.0.0:7411", 0, 0, NULL, false, AT(gwd_conf, listen),
     "address of the TCP and the UDP port (same number)"},
    {"state", GWD_PATH, "/var/lib/gmcast", 0, 0, NULL, false, AT(gwd_conf, state),
     "directory for the journal of transfers"},
    {"control", GWD_ENDPOINT, "ipc:///run/gmcast/control", 0, 0, NULL, false, AT(gwd_conf, control),
     "ZeroMQ endpoint for local clients"},
    {"events", GWD_ENDPOINT, "ipc:///run/gmcast/events", 0, 0, NULL, false, AT(gwd_conf, events),
     "ZeroMQ endpoint that publishes events"},
    {"user", GWD_TEXT, "", 0, 0, NULL, false, AT(gwd_conf, user),
     "privileges are dropped to this user"},
    {"group", GWD_TEXT, "", 0, 0, NULL, false, AT(gwd_conf, group),
     "and to this group; empty: the user's"},
    {"cache", GWD_SIZE, "64M", 1u << 20, UINT64_C(1) << 42, NULL, false, AT(gwd_conf, cache),
     "bound on block memory of all transfers"},
    {"workers", GWD_NUMBER, "2", 1, 64, NULL, false, AT(gwd_conf, workers),
     "threads for disk and hashing"},
    {"log", GWD_CHOICE, "info", 0, 0, levels, true, AT(gwd_conf, log),
     "least level that is logged"},
    {"log_file", GWD_TEXT, "", 0, 0, NULL, true, AT(gwd_conf, log_file),
     "where the log goes; empty: standard error"},
    {"congestion", GWD_CHOICE, "model", 0, 0, congestions, false, AT(gwd_conf, congestion),
     "congestion control of links"},
    {"rate", GWD_RATE, "10G", 1000, UINT64_C(10000000000000), NULL, false, AT(gwd_conf, rate),
     "rate of each link when congestion = fixed"},
    {"uplink", GWD_RATE, "0", 0, UINT64_C(10000000000000), NULL, false, AT(gwd_conf, uplink),
     "rate of this domain's access to the network, outwards; 0: not known"},
    {"downlink", GWD_RATE, "0", 0, UINT64_C(10000000000000), NULL, false, AT(gwd_conf, downlink),
     "the same, inwards"},
    {"patience", GWD_DURATION, "30s", UINT64_C(100000000), UINT64_C(86400000000000), NULL, false,
     AT(gwd_conf, patience), "how long a silent member keeps a transfer open"},
    {"multicast_interface", GWD_TEXT, "", 0, 0, NULL, false, AT(gwd_conf, multicast_interface),
     "network interface on which nodes are reached all at once; empty: gatewayd reaches them by "
     "unicast, gmcast-noded hears on the interface towards its gateway"},
    {"multicast_address", GWD_TEXT, "auto", 0, 0, NULL, false, AT(gwd_conf, multicast_address),
     "group and UDP port, such as 239.255.1.1:7412 or [ff15::1]:7412; auto: made of the domain"},
    {"multicast_rate", GWD_RATE, "0", 0, UINT64_C(10000000000000), NULL, false,
     AT(gwd_conf, multicast_rate),
     "bit/s that the network to the nodes carries; of a gmcast-noded: it can relay to its subnet"},
    {"multicast_ttl", GWD_NUMBER, "1", 1, 32, NULL, false, AT(gwd_conf, multicast_ttl),
     "routers that multicast may cross, and one: 1 stays on the local network"},
    {"network", GWD_TEXT, "star", 0, 0, NULL, false, AT(gwd_conf, network),
     "what joins gateway and nodes: star, one switch, or a torus of rings such as torus:4x4"},
    {"network_nodes", GWD_PLACES, "{}", 0, 0, NULL, false, AT(gwd_conf, network_nodes),
     "where they stand on a torus: NAME=COLUMN,ROW of the gateway and of nodes, counted from 1"},
    {"delivery_tree", GWD_TEXT, "auto", 0, 0, NULL, false, AT(gwd_conf, delivery_tree),
     "how nodes feed each other without multicast: auto, separate (the gateway sends to each), "
     "serial, binary, binomial, or of a torus U-torus, S-torus, Md-torus, Mu-torus"},
    {"fabric", GWD_TEXT, "", 0, 0, NULL, false, AT(gwd_conf, fabric),
     "provider of libfabric between gateway and nodes: tcp, shm, verbs and others; the same at all "
     "of them; empty: UDP"},
    {"fabric_domain", GWD_TEXT, "", 0, 0, NULL, false, AT(gwd_conf, fabric_domain),
     "domain of that provider, mostly an interface, as fi_info says it; empty: its first"},
    {"fabric_shared_memory", GWD_CHOICE, "refused", 0, 0, permissions, false,
     AT(gwd_conf, fabric_shared_memory),
     "providers that share memory with other daemons (shm), of which one that is stopped or killed "
     "can hang this one"},
    {"export", GWD_PATHS, "{}", 0, 0, NULL, true, AT(gwd_conf, exports),
     "directories that local clients may stage from"},
    {NULL, GWD_TEXT, NULL, 0, 0, NULL, false, 0, NULL}};

static const struct gwd_option tls_options[] = {
    {"certificate", GWD_PATH, NULL, 0, 0, NULL, true, AT(gwd_conf_tls, certificate),
     "own certificate and its intermediates (PEM)"},
    {"key", GWD_PATH, NULL, 0, 0, NULL, true, AT(gwd_conf_tls, key), "its private key (PEM)"},
    {"ca", GWD_PATH, NULL, 0, 0, NULL, true, AT(gwd_conf_tls, ca),
     "certificates of the authorities that peers are checked against (PEM)"},
    {"crl", GWD_TEXT, "", 0, 0, NULL, true, AT(gwd_conf_tls, crl),
     "revocation lists of these authorities (PEM); empty: none"},
    {NULL, GWD_TEXT, NULL, 0, 0, NULL, false, 0, NULL}};

static const struct gwd_option peer_options[] = {
    {"alias", GWD_TEXT, "", 0, 0, NULL, true, AT(gwd_conf_peer, alias), "short name for people"},
    {"address", GWD_ADDRESS, "", 0, 0, NULL, true, AT(gwd_conf_peer, address),
     "host:port; empty: DNS SRV record _gmcast._tcp.DOMAIN"},
    {"transport", GWD_CHOICE, "auto", 0, 0, transports, true, AT(gwd_conf_peer, transport),
     "how data travels; auto tries UDP and falls back to TCP"},
    {"connect", GWD_CHOICE, "both", 0, 0, connects, true, AT(gwd_conf_peer, connect),
     "who dials: out, only we; in, only the peer"},
    {NULL, GWD_TEXT, NULL, 0, 0, NULL, false, 0, NULL}};

/* What a node has of a peer: it dials us, and its address is where it does so from. */
static const struct gwd_option node_options[] = {
    {"transport", GWD_CHOICE, "auto", 0, 0, transports, true, AT(gwd_conf_peer, transport),
     "how data travels; auto tries UDP and falls back to TCP"},
    {NULL, GWD_TEXT, NULL, 0, 0, NULL, false, 0, NULL}};

static const struct gwd_option receive_options[] = {
    {"directory", GWD_PATH, NULL, 0, 0, NULL, true, AT(gwd_conf_grant, directory),
     "nothing is written outside of it"},
    {"quota", GWD_SIZE, "0", 0, UINT64_MAX, NULL, true, AT(gwd_conf_grant, quota),
     "how much may lie beneath the directory; 0: no bound"},
    {NULL, GWD_TEXT, NULL, 0, 0, NULL, false, 0, NULL}};

static const struct gwd_option serve_options[] = {
    {"directory", GWD_PATH, NULL, 0, 0, NULL, true, AT(gwd_conf_grant, directory),
     "the domain may have data beneath it staged to others"},
    {NULL, GWD_TEXT, NULL, 0, 0, NULL, false, 0, NULL}};

static const struct {
    const char *name;
    const struct gwd_option *options;
} sections[GWD_SECTIONS] = {[GWD_TOP] = {"", top_options},
                            [GWD_TLS] = {"tls", tls_options},
                            [GWD_PEER] = {"peer", peer_options},
                            [GWD_NODE] = {"node", node_options},
                            [GWD_RECEIVE] = {"receive", receive_options},
                            [GWD_SERVE] = {"serve", serve_options}};

const struct gwd_option *gwd_conf_options(enum gwd_section section)
{
    return sections[section].options;
}

const char *gwd_conf_section_name(enum gwd_section section)
{
    return sections[section].name;
}

/* Digits, an optional fraction, then a unit of the table; the product must fit 64 bits. */
struct unit {
    const char *name;
    uint64_t factor;
};

static bool scaled(const char *value, const struct unit *units, uint64_t *number)
{
    uint64_t whole = 0, milli = 0, scale = 100;
    const char *p = value;
    if (!isdigit((unsigned char)*p))
        return false;
    for (; isdigit((unsigned char)*p); p++) {
        if (whole > (UINT64_MAX - 9) / 10)
            return false;
        whole = whole * 10 + (uint64_t)(*p - '0');
    }
    if (*p == '.') {
        for (p++; isdigit((unsigned char)*p); p++, scale /= 10)
            milli += (uint64_t)(*p - '0') * scale;
    }
    for (; units->name != NULL; units++) {
        if (strcmp(units->name, p) != 0)
            continue;
        if (whole > UINT64_MAX / units->factor - 1)
            return false;
        *number = whole * units->factor + milli * units->factor / 1000;
        return true;
    }
    return false;
}

static bool choice(const char *const *choices, const char *value, uint64_t *number)
{
    for (uint64_t i = 0; choices[i] != NULL; i++) {
        if (strcmp(choices[i], value) == 0) {
            *number = i;
            return true;
        }
    }
    return false;
}

bool gwd_conf_number(const struct gwd_option *option, const char *value, uint64_t *number)
{
    static const struct unit plain[] = {{"", 1}, {NULL, 0}};
    static const struct unit bytes[] = {{"", 1},
                                        {"K", UINT64_C(1) << 10},
                                        {"M", UINT64_C(1) << 20},
                                        {"G", UINT64_C(1) << 30},
                                        {"T", UINT64_C(1) << 40},
                                        {"P", UINT64_C(1) << 50},
                                        {NULL, 0}};
    static const struct unit bits[] = {{"", 1},
                                       {"K", UINT64_C(1000)},
                                       {"M", UINT64_C(1000000)},
                                       {"G", UINT64_C(1000000000)},
                                       {"T", UINT64_C(1000000000000)},
                                       {NULL, 0}};
    static const struct unit times[] = {{"ms", UINT64_C(1000000)},
                                        {"s", UINT64_C(1000000000)},
                                        {"m", UINT64_C(60000000000)},
                                        {"min", UINT64_C(60000000000)},
                                        {"h", UINT64_C(3600000000000)},
                                        {NULL, 0}};
    switch (option->type) {
    case GWD_NUMBER:
        return strchr(value, '.') == NULL && scaled(value, plain, number);
    case GWD_SIZE:
        return scaled(value, bytes, number);
    case GWD_RATE:
        return scaled(value, bits, number);
    case GWD_DURATION:
        return scaled(value, times, number);
    case GWD_CHOICE:
        return choice(option->choices, value, number);
    default:
        return false;
    }
}

static bool name_ok(const char *name)
{
    size_t len = strlen(name);
    if (len == 0 || len > GWD_DOMAIN_BYTES_MAX || name[0] == '.' || name[0] == '-')
        return false;
    for (size_t i = 0; i < len; i++) {
        if (!isalnum((unsigned char)name[i]) && strchr("-._", name[i]) == NULL)
            return false;
        if (name[i] == '.' && (name[i + 1] == '.' || name[i + 1] == '\0'))
            return false;
    }
    return true;
}

static const char *number_error(const struct gwd_option *option, const char *value, char *buffer,
                                size_t size)
{
    static const char *const want[] = {[GWD_NUMBER] = "a whole number",
                                       [GWD_SIZE] = "a size such as 64M or 10T",
                                       [GWD_RATE] = "a rate in bit/s such as 500M or 10G",
                                       [GWD_DURATION] = "a duration such as 500ms, 30s or 5min"};
    uint64_t number;
    if (option->type == GWD_CHOICE) {
        size_t used = (size_t)snprintf(buffer, size, "one of");
        if (choice(option->choices, value, &number))
            return NULL;
        for (size_t i = 0; option->choices[i] != NULL && used < size; i++)
            used += (size_t)snprintf(buffer + used, size - used, "%s %s", i == 0 ? "" : ",",
                                     option->choices[i]);
        return buffer;
    }
    if (!gwd_conf_number(option, value, &number))
        return want[option->type];
    if (number >= option->min && number <= option->max)
        return NULL;
    bool is_time = option->type == GWD_DURATION;
    (void)snprintf(buffer, size, "%s, at least %" PRIu64 "%s and at most %" PRIu64 "%s",
                   want[option->type], is_time ? option->min / 1000000 : option->min,
                   is_time ? "ms" : "", is_time ? option->max / 1000000000 : option->max,
                   is_time ? "s" : "");
    return buffer;
}

const char *gwd_conf_value_error(const struct gwd_option *option, const char *value, char *buffer,
                                 size_t size)
{
    switch (option->type) {
    case GWD_NAME:
        if (strlen(value) > GWD_DOMAIN_BYTES_MAX)
            return "a DNS name of at most 229 bytes";
        return name_ok(value) ? NULL : "a DNS name such as cern.example";
    case GWD_PATH:
    case GWD_PATHS:
        return value[0] == '/' ? NULL : "an absolute path, beginning with /";
    case GWD_PLACES: {
        size_t len = strcspn(value, "=");
        return len > 0 && value[len] == '=' ? NULL : "NAME=COORDINATES such as n1=2,3";
    }
    case GWD_ADDRESS: {
        char host[256];
        uint16_t port;
        if (value[0] == '\0' && option->deflt != NULL && option->deflt[0] == '\0')
            return NULL;
        return gwd_addr_split(value, host, sizeof host, &port)
                   ? NULL
                   : "HOST:PORT such as 192.0.2.7:7411 or [2001:db8::7]:7411";
    }
    case GWD_ENDPOINT:
        return strncmp(value, "ipc://", 6) == 0 && value[6] != '\0'
                   ? NULL
                   : "a local endpoint such as ipc:///run/gmcast/control";
    case GWD_TEXT:
        return NULL;
    default:
        return number_error(option, value, buffer, size);
    }
}

static void print_option(FILE *out, const struct gwd_option *option, const char *indent)
{
    bool quoted =
        !gwd_option_is_list(option) && option->type != GWD_NUMBER && option->type != GWD_CHOICE;
    fprintf(out, "%s# %s; %s\n", indent, option->text,
            option->live ? "changed by a reload" : "changed by a restart");
    if (option->deflt == NULL)
        fprintf(out, "%s# %s = ... (must be given)\n", indent, option->name);
    else
        fprintf(out, "%s# %s = %s%s%s\n", indent, option->name, quoted ? "\"" : "", option->deflt,
                quoted ? "\"" : "");
}

void gwd_conf_print_defaults(FILE *out)
{
    for (int s = GWD_TOP; s < GWD_SECTIONS; s++) {
        const char *indent = s == GWD_TOP ? "" : "    ";
        if (s != GWD_TOP)
            fprintf(out, "\n# %s%s {\n", sections[s].name, s == GWD_TLS ? "" : " \"DOMAIN\"");
        for (const struct gwd_option *option = sections[s].options; option->name != NULL; option++)
            print_option(out, option, indent);
        if (s != GWD_TOP)
            fprintf(out, "# }\n");
    }
}
