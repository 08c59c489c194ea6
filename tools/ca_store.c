/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns a CA's folder and its index of certificates. */
#include "tools/ca_store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tools/ca_files.h"

#define INDEX_HEADER "gmcast-ca 1 crl"

/* Room for the longest name that is put beneath the folder. */
#define MEMBER_MAX 320

static bool path_in(const char *folder, const char *name, char out[CA_PATH_MAX],
                    struct ca_error *error)
{
    int n = snprintf(out, CA_PATH_MAX, "%s/%s", folder, name);

    if (n < 0 || n >= CA_PATH_MAX)
        return ca_fail(error, "the path %.80s... is too long", folder);
    return true;
}

static bool make_folder(const char *path, mode_t mode, struct ca_error *error)
{
    if (mkdir(path, mode) == 0 || errno == EEXIST)
        return true;
    return ca_fail(error, "cannot make the directory %s: %s", path, strerror(errno));
}

static bool write_index(const struct ca_store *store, struct ca_error *error)
{
    char path[CA_PATH_MAX];
    char *text = NULL;
    size_t len = 0;
    FILE *out;
    bool ok;

    if (!path_in(store->path, "index", path, error))
        return false;
    out = open_memstream(&text, &len);
    if (out == NULL)
        return ca_fail(error, "out of memory");
    fprintf(out, INDEX_HEADER " %" PRIu64 "\n", store->crl_number);
    for (size_t i = 0; i < store->count; i++) {
        const struct ca_entry *e = &store->entries[i];

        fprintf(out, "%c %s %" PRId64 " %" PRId64 " %" PRId64 " %s\n", e->revoked ? 'R' : 'V',
                e->serial, e->issued, e->expires, e->revoked_at, e->domain);
    }
    ok = fclose(out) == 0 ? ca_file_replace(path, 0600, text, len, error)
                          : ca_fail(error, "out of memory");
    free(text);
    return ok;
}

static bool append(struct ca_store *store, const struct ca_entry *entry, struct ca_error *error)
{
    struct ca_entry *grown;

    grown = realloc(store->entries, (store->count + 1) * sizeof *grown);
    if (grown == NULL)
        return ca_fail(error, "out of memory");
    store->entries = grown;
    grown[store->count++] = *entry;
    return true;
}

static bool read_line(struct ca_store *store, const char *line, struct ca_error *error)
{
    struct ca_entry e = {0};
    char state;
    int end = 0;

    if (sscanf(line, "%c %40[0-9a-f] %" SCNd64 " %" SCNd64 " %" SCNd64 " %253s%n", &state, e.serial,
               &e.issued, &e.expires, &e.revoked_at, e.domain, &end) != 6 ||
        line[end] != '\0' || (state != 'V' && state != 'R'))
        return ca_fail(error, "%s/index is damaged at its line \"%.60s\": restore it from a backup",
                       store->path, line);
    e.revoked = state == 'R';
    return append(store, &e, error);
}

bool ca_store_read_index(struct ca_store *store, FILE *in, struct ca_error *error)
{
    char line[512];

    if (fgets(line, sizeof line, in) == NULL ||
        sscanf(line, INDEX_HEADER " %" SCNu64, &store->crl_number) != 1)
        return ca_fail(error,
                       "%s/index does not begin with \"" INDEX_HEADER
                       "\": not an index of this program",
                       store->path);
    while (fgets(line, sizeof line, in) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (!read_line(store, line, error))
            return false;
    }
    return true;
}

static bool open_index(struct ca_store *store, struct ca_error *error)
{
    char path[CA_PATH_MAX];
    FILE *in;
    bool ok;

    if (!path_in(store->path, "index", path, error))
        return false;
    in = fopen(path, "re");
    if (in == NULL)
        return ca_fail(error, "cannot read %s: %s", path, strerror(errno));
    ok = ca_store_read_index(store, in, error);
    fclose(in);
    return ok;
}

/* One writer at a time: the folder itself is the lock. */
static bool lock_folder(struct ca_store *store, struct ca_error *error)
{
    store->lock = open(store->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (store->lock < 0)
        return ca_fail(error, "cannot open the CA in %s: %s (gmcast ca init makes one)",
                       store->path, strerror(errno));
    if (flock(store->lock, LOCK_EX) != 0)
        return ca_fail(error, "cannot lock %s: %s", store->path, strerror(errno));
    return true;
}

static bool set_path(struct ca_store *store, const char *path, struct ca_error *error)
{
    memset(store, 0, sizeof *store);
    store->lock = -1;
    /* What is appended later has to fit as well. */
    if (strlen(path) + MEMBER_MAX >= sizeof store->path)
        return ca_fail(error, "the path %.80s... is too long", path);
    strcpy(store->path, path);
    return true;
}

static bool write_new_ca(struct ca_store *store, struct ca_error *error)
{
    char path[CA_PATH_MAX];

    return path_in(store->path, "ca.key", path, error) &&
           ca_write_key(path, store->issuer.key, error) &&
           path_in(store->path, "ca.crt", path, error) &&
           ca_write_cert(path, store->issuer.cert, error) && write_index(store, error) &&
           path_in(store->path, "issued", path, error) && make_folder(path, 0755, error);
}

bool ca_store_init(const char *path, const char *name, enum ca_algorithm algorithm, int days,
                   struct ca_error *error)
{
    struct ca_store store;
    char existing[CA_PATH_MAX];
    bool ok = set_path(&store, path, error) && make_folder(path, 0700, error) &&
              lock_folder(&store, error) && path_in(path, "ca.key", existing, error);

    if (ok && access(existing, F_OK) == 0)
        ok = ca_fail(error,
                     "%s already has a CA, which is not overwritten: choose another directory",
                     path);
    if (ok) {
        store.issuer.key = ca_key_new(algorithm, error);
        ok = store.issuer.key != NULL;
    }
    if (ok) {
        store.issuer.cert = ca_root_new(store.issuer.key, name, days, error);
        ok = store.issuer.cert != NULL;
    }
    ok = ok && write_new_ca(&store, error) && ca_store_write_crl(&store, days, error);
    ca_store_close(&store);
    return ok;
}

bool ca_store_open(struct ca_store *store, const char *path, struct ca_error *error)
{
    char file[CA_PATH_MAX];
    bool ok = set_path(store, path, error) && lock_folder(store, error) && open_index(store, error);

    if (ok && path_in(path, "ca.crt", file, error))
        store->issuer.cert = ca_read_cert(file, error);
    if (ok && store->issuer.cert != NULL && path_in(path, "ca.key", file, error))
        store->issuer.key = ca_read_key(file, error);
    if (ok && store->issuer.key != NULL &&
        X509_check_private_key(store->issuer.cert, store->issuer.key) == 1)
        return true;
    if (ok && store->issuer.key != NULL)
        ca_fail(error, "ca.key and ca.crt in %s do not belong together", path);
    ca_store_close(store);
    return false;
}

void ca_store_close(struct ca_store *store)
{
    X509_free(store->issuer.cert);
    EVP_PKEY_free(store->issuer.key);
    free(store->entries);
    if (store->lock >= 0)
        close(store->lock); /* unlocks */
    memset(store, 0, sizeof *store);
    store->lock = -1;
}

static bool describe(X509 *cert, const char *domain, struct ca_entry *entry, struct ca_error *error)
{
    memset(entry, 0, sizeof *entry);
    if (!ca_serial_hex(cert, entry->serial))
        return ca_fail(error, "cannot read the serial number of the new certificate");
    snprintf(entry->domain, sizeof entry->domain, "%s", domain);
    entry->issued = (int64_t)time(NULL);
    entry->expires = ca_time(X509_get0_notAfter(cert));
    return true;
}

/* The index comes first: a certificate that it does not know could never be revoked. */
static bool record(struct ca_store *store, X509 *cert, const struct ca_entry *entry,
                   struct ca_error *error)
{
    char name[MEMBER_MAX];
    char path[CA_PATH_MAX];

    snprintf(name, sizeof name, "issued/%.200s-%s.crt", entry->domain, entry->serial);
    return append(store, entry, error) && write_index(store, error) &&
           path_in(store->path, name, path, error) && ca_write_cert(path, cert, error);
}

/* So that nothing is issued whose files could not be written. */
static bool must_be_new(const char *path, struct ca_error *error)
{
    if (access(path, F_OK) == 0)
        return ca_fail(error,
                       "%s exists and is not overwritten: move it away or choose another "
                       "name with --out",
                       path);
    return true;
}

static bool issue_with_key(struct ca_store *store, const struct ca_issue *issue, EVP_PKEY *key,
                           struct ca_entry *entry, struct ca_error *error)
{
    struct ca_leaf_spec spec = {issue->names, issue->name_count, issue->days};
    X509 *cert = ca_leaf_new(&store->issuer, key, &spec, error);
    bool ok = cert != NULL && describe(cert, issue->names[0], entry, error) &&
              record(store, cert, entry, error) &&
              (issue->request != NULL || ca_write_key(issue->key_path, key, error)) &&
              ca_write_cert(issue->cert_path, cert, error);

    X509_free(cert);
    return ok;
}

bool ca_store_issue(struct ca_store *store, const struct ca_issue *issue, struct ca_entry *entry,
                    struct ca_error *error)
{
    EVP_PKEY *key;
    bool ok;

    if (!must_be_new(issue->cert_path, error) ||
        (issue->request == NULL && !must_be_new(issue->key_path, error)))
        return false;
    key = issue->request != NULL ? ca_read_request(issue->request, error)
                                 : ca_key_new(issue->algorithm, error);
    if (key == NULL)
        return false;
    ok = issue_with_key(store, issue, key, entry, error);
    EVP_PKEY_free(key);
    return ok;
}

bool ca_store_revoke(struct ca_store *store, const char *serial_or_domain, size_t *count,
                     struct ca_error *error)
{
    size_t known = 0;
    size_t revoked = 0;

    for (size_t i = 0; i < store->count; i++) {
        struct ca_entry *e = &store->entries[i];

        if (strcasecmp(e->serial, serial_or_domain) != 0 &&
            strcasecmp(e->domain, serial_or_domain) != 0)
            continue;
        known++;
        if (e->revoked)
            continue;
        e->revoked = true;
        e->revoked_at = (int64_t)time(NULL);
        revoked++;
    }
    if (known == 0)
        return ca_fail(error, "no certificate of \"%s\" was issued here: see gmcast ca list %s",
                       serial_or_domain, store->path);
    if (revoked > 0 && !write_index(store, error))
        return false;
    *count = revoked;
    return true;
}

bool ca_store_write_crl(struct ca_store *store, int days, struct ca_error *error)
{
    struct ca_revoked *revoked = calloc(store->count + 1, sizeof *revoked);
    char path[CA_PATH_MAX];
    X509_CRL *crl = NULL;
    size_t n = 0;
    bool ok;

    if (revoked == NULL)
        return ca_fail(error, "out of memory");
    for (size_t i = 0; i < store->count; i++) {
        if (store->entries[i].revoked)
            revoked[n++] =
                (struct ca_revoked){store->entries[i].serial, store->entries[i].revoked_at};
    }
    store->crl_number++;
    ok = write_index(store, error) && path_in(store->path, "ca.crl", path, error);
    if (ok) {
        crl = ca_crl_new(&store->issuer, revoked, n, store->crl_number, days, error);
        ok = crl != NULL && ca_replace_crl(path, crl, error);
    }
    X509_CRL_free(crl);
    free(revoked);
    return ok;
}
