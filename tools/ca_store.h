/* SPDX-License-Identifier: BSD-2-Clause */
/* The folder of a small CA:
 *
 *     ca.crt  ca.key  ca.crl  index  issued/DOMAIN-SERIAL.crt
 *
 * index has a line per certificate: V or R, serial, issued, expires, revoked (seconds since 1970,
 * 0 if not), domain; before them one line with the number of the last revocation list. It is
 * replaced as a whole, under a lock. Keys have mode 0600 and no file is ever overwritten except
 * index and ca.crl.
 */
#ifndef GMC_TOOLS_CA_STORE_H
#define GMC_TOOLS_CA_STORE_H

#include <stdio.h>

#include "tools/ca_x509.h"

#define CA_PATH_MAX 4096

struct ca_entry {
    bool revoked;
    char serial[CA_SERIAL_HEX_MAX + 1];
    int64_t issued, expires, revoked_at;
    char domain[CA_NAME_MAX + 1];
};

struct ca_store {
    char path[CA_PATH_MAX];
    int lock; /* descriptor of the locked folder */
    struct ca_issuer issuer;
    struct ca_entry *entries;
    size_t count;
    uint64_t crl_number;
};

/* Makes the folder with a new CA in it. Refuses a folder that already has one. */
bool ca_store_init(const char *path, const char *name, enum ca_algorithm algorithm, int days,
                   struct ca_error *error);

/* Reads the text of an index into store (for fuzzing; ca_store_open does it). */
bool ca_store_read_index(struct ca_store *store, FILE *in, struct ca_error *error);

/* Opens and locks; close with ca_store_close. */
bool ca_store_open(struct ca_store *store, const char *path, struct ca_error *error);
void ca_store_close(struct ca_store *store);

struct ca_issue {
    const char *const *names; /* the domain first */
    size_t name_count;
    int days;
    enum ca_algorithm algorithm;
    const char *request; /* file with a PKCS#10 request whose key is certified; NULL: a new key */
    const char *cert_path;
    const char *key_path; /* not used with a request */
};
/* Issues one certificate, writes it (and its key) and the CA's own copy. */
bool ca_store_issue(struct ca_store *store, const struct ca_issue *issue, struct ca_entry *entry,
                    struct ca_error *error);

/* Revokes by serial, or all valid certificates of a domain; *count says how many. Write the new
 * list with ca_store_write_crl. */
bool ca_store_revoke(struct ca_store *store, const char *serial_or_domain, size_t *count,
                     struct ca_error *error);
/* Writes ca.crl anew. */
bool ca_store_write_crl(struct ca_store *store, int days, struct ca_error *error);

#endif
