/* SPDX-License-Identifier: BSD-2-Clause */
/* Certificates made on the spot for tests of gatewayd: an authority, leaves, revocation lists. */
#ifndef TESTS_UNIT_GWD_CERTS_H
#define TESTS_UNIT_GWD_CERTS_H

#include <openssl/x509.h>

struct test_ca {
    EVP_PKEY *key;
    X509 *cert;
    long serial;
    char dir[256];
    char ca_path[300];
};

/* A temporary directory, removed with all in it by test_dir_remove. */
void test_dir_make(char *dir, size_t size);
void test_dir_remove(const char *dir);
void test_file_write(const char *path, const void *data, size_t len);

/* An authority whose certificate is written to DIR/NAME.pem. */
void test_ca_make(struct test_ca *ca, const char *dir, const char *name);
void test_ca_free(struct test_ca *ca);
/* Issues DIR/FILE.crt and DIR/FILE.key for a comma separated list of DNS names; valid from
 * from_days to until_days after now. Returns the serial. */
long test_ca_issue(struct test_ca *ca, const char *file, const char *names, int from_days,
                   int until_days);
/* Writes DIR/FILE with the given serials revoked. */
void test_ca_revoke(struct test_ca *ca, const char *file, const long *serials, size_t count);

#endif
