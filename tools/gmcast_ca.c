/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns `gmcast ca`: the command line of a small certificate authority. */
#include "tools/gmcast.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/ca_files.h"
#include "tools/ca_store.h"

#define CA_DAYS 3650
#define LEAF_DAYS 90
/* A list that has run out makes gateways refuse everybody, and people copy it by hand. */
#define CRL_DAYS 365
#define DAYS_MAX 36500
#define NAMES_MAX 16

static const char help[] =
    "Usage: gmcast ca init DIR --name NAME [--days N] [--algorithm p256|ed25519]\n"
    "       gmcast ca issue DIR DOMAIN [--also NAME]... [--days N] [--out PREFIX]\n"
    "                       [--algorithm p256|ed25519] [--request FILE]\n"
    "       gmcast ca revoke DIR DOMAIN|SERIAL [--crl-days N]\n"
    "       gmcast ca list DIR [DOMAIN]\n"
    "       gmcast ca crl DIR [--days N]\n"
    "A small certificate authority for domains that have none.\n"
    "\n"
    "  init    makes DIR with ca.crt (give it to every gateway), ca.key (give it to nobody),\n"
    "          ca.crl and an index. Valid for 10 years.\n"
    "  issue   writes PREFIX.crt and PREFIX.key (default: ./DOMAIN) for a gateway, valid for\n"
    "          90 days. With --request FILE the domain made its key itself and sent a PKCS#10\n"
    "          request; only the key is taken from it, and no key file is written.\n"
    "  revoke  marks all valid certificates of DOMAIN, or the one with SERIAL, and writes\n"
    "          ca.crl anew; copy that to every gateway, which reads it on SIGHUP.\n"
    "  list    the certificates issued, with their state.\n"
    "  crl     writes ca.crl anew (it runs out after a year).\n"
    "\n"
    "Nothing is overwritten; keys are readable by their owner only.";

struct ca_options {
    const char *name;
    const char *out;
    const char *request;
    long days; /* 0: the default */
    enum ca_algorithm algorithm;
    const char *also[NAMES_MAX - 1];
    size_t also_count;
    char **words; /* DIR and what follows */
    int word_count;
};

static int fail(const struct ca_error *error)
{
    return gmcast_error("%s", error->text);
}

static void print_date(const char *label, int64_t seconds, const char *end)
{
    time_t when = (time_t)seconds;
    struct tm tm;
    char text[32];

    gmtime_r(&when, &tm);
    strftime(text, sizeof text, "%Y-%m-%d", &tm);
    printf("%s%s%s", label, text, end);
}

static int ca_init(const struct ca_options *options)
{
    struct ca_error error;
    const char *path = options->words[0];

    if (options->word_count != 1)
        return gmcast_usage_error("ca", "ca init needs one directory");
    if (options->name == NULL)
        return gmcast_usage_error("ca", "ca init needs --name, e.g. --name \"Example Grid CA\"");
    if (!ca_store_init(path, options->name, options->algorithm,
                       options->days > 0 ? (int)options->days : CA_DAYS, &error))
        return fail(&error);
    printf("made the CA \"%s\" in %s\n"
           "  ca.crt goes to every gateway (tls { ca = ... }), ca.crl too\n"
           "  ca.key stays here: who has it can be any domain\n",
           options->name, path);
    return EXIT_COMPLETE;
}

/* All DNS names of the certificate, checked, in lower case. */
static bool collect_names(const struct ca_options *options, char names[][CA_NAME_MAX + 1],
                          const char **list, struct ca_error *error)
{
    for (size_t i = 0; i <= options->also_count; i++) {
        const char *name = i == 0 ? options->words[1] : options->also[i - 1];

        if (!ca_domain_name(name, names[i], error))
            return false;
        list[i] = names[i];
    }
    return true;
}

static int issue_in(struct ca_store *store, const struct ca_issue *issue)
{
    struct ca_entry entry;
    struct ca_error error;

    if (!ca_store_issue(store, issue, &entry, &error))
        return fail(&error);
    printf("issued %s", issue->cert_path);
    if (issue->request == NULL)
        printf(" and %s", issue->key_path);
    printf(" for %s\n  serial %s, ", entry.domain, entry.serial);
    print_date("valid until ", entry.expires, "\n");
    if (entry.expires - entry.issued < (int64_t)(issue->days - 1) * CA_DAY_SECONDS)
        puts("  that is when the CA's own certificate ends");
    return EXIT_COMPLETE;
}

static int ca_issue(const struct ca_options *options)
{
    char names[NAMES_MAX][CA_NAME_MAX + 1];
    const char *list[NAMES_MAX];
    char cert_path[CA_PATH_MAX], key_path[CA_PATH_MAX];
    struct ca_store store;
    struct ca_error error;
    struct ca_issue issue = {list,
                             options->also_count + 1,
                             options->days > 0 ? (int)options->days : LEAF_DAYS,
                             options->algorithm,
                             options->request,
                             cert_path,
                             key_path};
    int result;

    if (options->word_count != 2)
        return gmcast_usage_error("ca", "ca issue needs the CA's directory and one domain");
    if (!collect_names(options, names, list, &error))
        return fail(&error);
    snprintf(cert_path, sizeof cert_path, "%s.crt", options->out ? options->out : names[0]);
    snprintf(key_path, sizeof key_path, "%s.key", options->out ? options->out : names[0]);
    if (!ca_store_open(&store, options->words[0], &error))
        return fail(&error);
    result = issue_in(&store, &issue);
    ca_store_close(&store);
    return result;
}

static int write_crl(struct ca_store *store, long days)
{
    struct ca_error error;

    if (!ca_store_write_crl(store, days > 0 ? (int)days : CRL_DAYS, &error))
        return fail(&error);
    printf("wrote %s/ca.crl (number %" PRIu64 "): copy it to every gateway and reload them\n",
           store->path, store->crl_number);
    return EXIT_COMPLETE;
}

static int ca_revoke(const struct ca_options *options)
{
    struct ca_store store;
    struct ca_error error;
    size_t count = 0;
    int result;

    if (options->word_count != 2)
        return gmcast_usage_error("ca",
                                  "ca revoke needs the CA's directory and a domain or serial");
    if (!ca_store_open(&store, options->words[0], &error))
        return fail(&error);
    if (!ca_store_revoke(&store, options->words[1], &count, &error)) {
        result = fail(&error);
    } else {
        printf("revoked %zu certificate%s of %s%s\n", count, count == 1 ? "" : "s",
               options->words[1], count == 0 ? " (it was revoked before)" : "");
        result = write_crl(&store, options->days);
    }
    ca_store_close(&store);
    return result;
}

static void print_entry(const struct ca_entry *entry)
{
    bool expired = entry->expires <= (int64_t)time(NULL);

    printf("%-8s  %s  ", entry->revoked ? "revoked" : expired ? "expired" : "valid", entry->serial);
    print_date("", entry->issued, "  ");
    print_date("", entry->expires, "  ");
    puts(entry->domain);
}

static int ca_list(const struct ca_options *options)
{
    struct ca_store store;
    struct ca_error error;

    if (options->word_count != 1 && options->word_count != 2)
        return gmcast_usage_error("ca", "ca list needs the CA's directory");
    if (!ca_store_open(&store, options->words[0], &error))
        return fail(&error);
    printf("%-8s  %-32s  %-10s  %-10s  %s\n", "STATE", "SERIAL", "ISSUED", "EXPIRES", "DOMAIN");
    for (size_t i = 0; i < store.count; i++) {
        if (options->word_count == 1 || strcasecmp(options->words[1], store.entries[i].domain) == 0)
            print_entry(&store.entries[i]);
    }
    ca_store_close(&store);
    return EXIT_COMPLETE;
}

static int ca_crl(const struct ca_options *options)
{
    struct ca_store store;
    struct ca_error error;
    int result;

    if (options->word_count != 1)
        return gmcast_usage_error("ca", "ca crl needs the CA's directory");
    if (!ca_store_open(&store, options->words[0], &error))
        return fail(&error);
    result = write_crl(&store, options->days);
    ca_store_close(&store);
    return result;
}

static int take_option(int found, struct ca_options *options)
{
    switch (found) {
    case 'n':
        options->name = optarg;
        return EXIT_COMPLETE;
    case 'o':
        options->out = optarg;
        return EXIT_COMPLETE;
    case 'r':
        options->request = optarg;
        return EXIT_COMPLETE;
    case 'd':
        if (gmcast_number(optarg, 1, DAYS_MAX, &options->days))
            return EXIT_COMPLETE;
        return gmcast_usage_error("ca", "\"%s\" is no number of days between 1 and %d", optarg,
                                  DAYS_MAX);
    case 'a':
        if (ca_algorithm_from_name(optarg, &options->algorithm))
            return EXIT_COMPLETE;
        return gmcast_usage_error("ca", "the algorithm is p256 or ed25519, not \"%s\"", optarg);
    default: /* 'A' */
        if (options->also_count == NAMES_MAX - 1)
            return gmcast_usage_error("ca", "at most %d names in one certificate", NAMES_MAX);
        options->also[options->also_count++] = optarg;
        return EXIT_COMPLETE;
    }
}

static int run_action(const char *action, const struct ca_options *options)
{
    static const struct {
        const char *name;
        int (*run)(const struct ca_options *options);
    } actions[] = {{"init", ca_init},
                   {"issue", ca_issue},
                   {"revoke", ca_revoke},
                   {"list", ca_list},
                   {"crl", ca_crl}};

    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        if (strcmp(action, actions[i].name) != 0)
            continue;
        if (options->word_count == 0)
            return gmcast_usage_error("ca", "ca %s needs the directory of the CA", action);
        return actions[i].run(options);
    }
    return gmcast_usage_error("ca", "there is no command \"ca %s\"", action);
}

int gmcast_ca(const struct gmcast_globals *globals, int argc, char **argv)
{
    static const struct option long_options[] = {
        {"algorithm", required_argument, NULL, 'a'},
        {"also", required_argument, NULL, 'A'},
        {"days", required_argument, NULL, 'd'},
        {"crl-days", required_argument, NULL, 'd'},
        {"help", no_argument, NULL, 'h'},
        {"name", required_argument, NULL, 'n'},
        {"out", required_argument, NULL, 'o'},
        {"request", required_argument, NULL, 'r'},
        {NULL, 0, NULL, 0},
    };
    struct ca_options options = {0};
    int found;

    (void)globals;
    while ((found = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        if (found == 'h') {
            puts(help);
            return EXIT_COMPLETE;
        }
        if (found == '?' || found == ':')
            return gmcast_option_error("ca", found, argv);
        if (take_option(found, &options) != EXIT_COMPLETE)
            return EXIT_REFUSED;
    }
    if (optind >= argc)
        return gmcast_usage_error("ca", "ca needs one of: init, issue, revoke, list, crl");
    options.words = argv + optind + 1;
    options.word_count = argc - optind - 1;
    return run_action(argv[optind], &options);
}
