/* SPDX-License-Identifier: BSD-2-Clause */
/* The configuration of gatewayd: one table of options from which the parser, its checks, the
 * printed defaults and the manual come; values in one plain struct. */
#ifndef GWD_CONF_H
#define GWD_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* DNS has 253, but folders of the state directory are named by an id, a domain and what they are
 * for. */
#define GWD_DOMAIN_BYTES_MAX 229
#define GWD_CONF_ERRORS_MAX 50

/* What is wrong, each with file and line and what would be right; owned strings. */
struct gwd_errors {
    char *lines[GWD_CONF_ERRORS_MAX];
    size_t count;   /* kept lines */
    size_t dropped; /* more than fit */
};

void gwd_errors_add(struct gwd_errors *errors, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void gwd_errors_print(const struct gwd_errors *errors, FILE *out);
void gwd_errors_clear(struct gwd_errors *errors);

enum gwd_connect { GWD_CONNECT_BOTH, GWD_CONNECT_OUT, GWD_CONNECT_IN };
enum gwd_congestion { GWD_CONGESTION_MODEL, GWD_CONGESTION_FIXED };
enum gwd_permission { GWD_REFUSED, GWD_ALLOWED };

struct gwd_conf_list {
    char **items;
    size_t count;
};

struct gwd_conf_peer {
    char *name; /* domain, lower case */
    int line;
    bool is_enrolled;   /* is_node, from no section: see gatewayd/nodes.h */
    bool is_node;       /* from a `node` section: of this domain, no domain itself */
    char *alias;        /* "" none */
    char *address;      /* "" found by DNS SRV */
    uint64_t transport; /* enum gmc_transport */
    uint64_t connect;   /* enum gwd_connect */
};

/* A `receive` or `serve` section: what a domain may do with a directory of ours. */
struct gwd_conf_grant {
    char *domain; /* lower case, or "*" */
    int line;
    char *directory;
    uint64_t quota; /* receive: bytes; 0 none */
};

struct gwd_conf_tls {
    int line; /* 0: section missing */
    char *certificate;
    char *key;
    char *ca;
    char *crl; /* "" none; all are NULL where there is no section: gwd_identity_is_own */
};

struct gwd_conf {
    char *file;
    char *domain;
    char *node_of; /* the domain whose node this is; "" it is a gateway */
    char *listen;
    char *state;
    char *control;
    char *events;
    char *user;     /* "" keep */
    char *group;    /* "" the user's */
    char *log_file; /* "" standard error */
    char *deliver;  /* to which nodes, unless a source says so */
    char *token;    /* of a node without tls section; "" none */
    uint64_t cache; /* bytes */
    uint64_t workers;
    uint64_t log;        /* enum gwd_level */
    uint64_t congestion; /* enum gwd_congestion */
    uint64_t rate;       /* bit/s */
    uint64_t uplink;     /* bit/s, 0 not known */
    uint64_t downlink;
    uint64_t patience;         /* ns */
    char *multicast_interface; /* "" none; of a node: that towards its gateway */
    char *multicast_address;   /* "auto", or a group and a port */
    uint64_t multicast_rate;   /* bit/s */
    uint64_t multicast_ttl;
    char *network;                      /* of the nodes: "star", "star:16:HB", "torus:4x4" */
    char *delivery_tree;                /* "auto", or a schedule of that network */
    struct gwd_conf_list network_nodes; /* NAME=COORDINATES */
    char *fabric;                       /* provider of libfabric; "" none */
    char *fabric_domain;                /* of it; "" its first */
    uint64_t fabric_shared_memory;      /* enum gwd_permission */
    struct gwd_conf_list exports;
    struct gwd_conf_tls tls;
    struct gwd_conf_peer *peers;
    size_t peer_count;
    struct gwd_conf_grant *receives;
    size_t receive_count;
    struct gwd_conf_grant *serves;
    size_t serve_count;
    struct gwd_conf_lines *lines; /* where options stood, for later messages */
};

/* ---- the table ---- */
enum gwd_section { GWD_TOP, GWD_TLS, GWD_PEER, GWD_NODE, GWD_RECEIVE, GWD_SERVE, GWD_SECTIONS };

enum gwd_option_type {
    GWD_TEXT,     /* char * */
    GWD_NAME,     /* char *, a domain name */
    GWD_PATH,     /* char *, absolute */
    GWD_ADDRESS,  /* char *, host:port */
    GWD_ENDPOINT, /* char *, ZeroMQ ipc:// or tcp:// */
    GWD_NUMBER,   /* uint64_t */
    GWD_SIZE,     /* uint64_t, bytes */
    GWD_RATE,     /* uint64_t, bit/s */
    GWD_DURATION, /* uint64_t, ns */
    GWD_CHOICE,   /* uint64_t, index in choices */
    GWD_PATHS,    /* struct gwd_conf_list of absolute paths */
    GWD_PLACES    /* struct gwd_conf_list of NAME=COORDINATES */
};

struct gwd_option {
    const char *name;
    enum gwd_option_type type;
    const char *deflt; /* NULL: must be given */
    uint64_t min, max; /* numbers */
    const char *const *choices;
    bool live;     /* a reload changes it; else it takes a restart */
    size_t offset; /* of the value in the section's struct */
    const char *text;
};

static inline bool gwd_option_is_list(const struct gwd_option *option)
{
    return option->type == GWD_PATHS || option->type == GWD_PLACES;
}

/* The options of a section, ended by a NULL name. */
const struct gwd_option *gwd_conf_options(enum gwd_section section);
const char *gwd_conf_section_name(enum gwd_section section); /* "" for the top */
/* NULL when value is right for option, else what would be right (static or in buffer). */
const char *gwd_conf_value_error(const struct gwd_option *option, const char *value, char *buffer,
                                 size_t size);
/* The number that a NUMBER, SIZE, RATE, DURATION or CHOICE means; false when it means none. */
bool gwd_conf_number(const struct gwd_option *option, const char *value, uint64_t *number);
/* Every option with its default, kind, and meaning, as a configuration file. */
void gwd_conf_print_defaults(FILE *out);

/* ---- reading ---- */
/* Reads file; NULL when there are errors. Values are checked one by one here, and for how they
 * fit together by gwd_conf_check. */
struct gwd_conf *gwd_conf_read(const char *file, struct gwd_errors *errors);
void gwd_conf_free(struct gwd_conf *conf);
/* The line where a top or tls option stood; 0 when it was not given. */
int gwd_conf_line(const struct gwd_conf *conf, enum gwd_section section, const char *option);
/* Certificates, names, directories, duplicates: true when all is well. */
bool gwd_conf_check(const struct gwd_conf *conf, struct gwd_errors *errors);
/* Whether the directories of receive sections can be written to now. Where one cannot, transfers
 * into it are refused as long, and all else works: a daemon starts without. */
bool gwd_conf_check_receives(const struct gwd_conf *conf, struct gwd_errors *errors);
/* Names of options that differ and need a restart, comma separated; "" none. */
void gwd_conf_restart_needed(const struct gwd_conf *before, const struct gwd_conf *after,
                             char *names, size_t size);

const struct gwd_conf_peer *gwd_conf_peer_find(const struct gwd_conf *conf, const char *name);
/* By name or alias. */
const struct gwd_conf_peer *gwd_conf_resolve(const struct gwd_conf *conf, const char *alias);
/* The section for domain, or the one for "*"; NULL when nothing is granted. */
const struct gwd_conf_grant *gwd_conf_grant_find(const struct gwd_conf_grant *grants, size_t count,
                                                 const char *domain);

#endif
