/* SPDX-License-Identifier: BSD-2-Clause */
/* The small CA: what it issues verifies for both directions of TLS, what it revokes no longer does,
 * and nothing is overwritten. */
#include "tests/lib/unit.h"
#include "tools/ca_files.h"
#include "tools/ca_store.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char folder[] = "/tmp/gmcast-test-ca-XXXXXX";

static const char *in_folder(const char *name)
{
    static char paths[8][CA_PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % 8];

    snprintf(path, CA_PATH_MAX, "%s/%s", folder, name);
    return path;
}

static void make_ca(const char *name, enum ca_algorithm algorithm)
{
    struct ca_error error;

    if (!ca_store_init(in_folder(name), "Test CA", algorithm, 3650, &error))
        fail_msg("%s", error.text);
}

static bool issue(const char *ca, const char *domain, const char *out, struct ca_entry *entry,
                  struct ca_error *error)
{
    const char *names[] = {domain, "also.example"};
    char cert[CA_PATH_MAX], key[CA_PATH_MAX];
    struct ca_issue spec = {names, 2, 90, CA_P256, NULL, cert, key};
    struct ca_store store;
    bool ok;

    snprintf(cert, sizeof cert, "%s/%s.crt", folder, out);
    snprintf(key, sizeof key, "%s/%s.key", folder, out);
    assert_true(ca_store_open(&store, in_folder(ca), error));
    ok = ca_store_issue(&store, &spec, entry, error);
    ca_store_close(&store);
    return ok;
}

/* OpenSSL's verdict on a certificate against ca.crt and ca.crl. */
static int verdict(const char *ca, const char *cert_name, int purpose)
{
    char path[CA_PATH_MAX];
    struct ca_error error;
    X509_STORE *trusted = X509_STORE_new();
    X509_STORE_CTX *ctx = X509_STORE_CTX_new();
    X509 *cert = ca_read_cert(in_folder(cert_name), &error);
    X509 *root;
    X509_CRL *crl;
    FILE *file;
    int result;

    snprintf(path, sizeof path, "%s/ca.crt", in_folder(ca));
    root = ca_read_cert(path, &error);
    snprintf(path, sizeof path, "%s/ca.crl", in_folder(ca));
    file = fopen(path, "r");
    assert_non_null(file);
    crl = PEM_read_X509_CRL(file, NULL, NULL, NULL);
    fclose(file);
    X509_STORE_add_cert(trusted, root);
    X509_STORE_add_crl(trusted, crl);
    X509_STORE_set_flags(trusted, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_X509_STRICT);
    X509_STORE_CTX_init(ctx, trusted, cert, NULL);
    X509_STORE_CTX_set_purpose(ctx, purpose);
    X509_verify_cert(ctx);
    result = X509_STORE_CTX_get_error(ctx);
    X509_STORE_CTX_free(ctx);
    X509_STORE_free(trusted);
    X509_CRL_free(crl);
    X509_free(cert);
    X509_free(root);
    return result;
}

static void issued_certificates_verify(void **state)
{
    struct ca_entry entry;
    struct ca_error error;
    struct stat st;
    X509 *cert;

    (void)state;
    make_ca("good", CA_P256);
    assert_true(issue("good", "a.example", "a", &entry, &error));
    assert_int_equal(verdict("good", "a.crt", X509_PURPOSE_SSL_SERVER), X509_V_OK);
    assert_int_equal(verdict("good", "a.crt", X509_PURPOSE_SSL_CLIENT), X509_V_OK);
    cert = ca_read_cert(in_folder("a.crt"), &error);
    assert_int_equal(X509_check_host(cert, "a.example", 0, 0, NULL), 1);
    assert_int_equal(X509_check_host(cert, "also.example", 0, 0, NULL), 1);
    assert_int_equal(X509_check_host(cert, "b.example", 0, 0, NULL), 0);
    assert_int_equal(X509_check_ca(cert), 0);
    X509_free(cert);
    assert_string_equal(entry.domain, "a.example");
    assert_in_range(entry.expires - entry.issued, 90 * CA_DAY_SECONDS - 60, 90 * CA_DAY_SECONDS);
    assert_int_equal(stat(in_folder("a.key"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(stat(in_folder("good/ca.key"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void revoked_certificates_do_not(void **state)
{
    struct ca_entry first, second;
    struct ca_store store;
    struct ca_error error;
    size_t count;

    (void)state;
    make_ca("revoking", CA_ED25519);
    assert_true(issue("revoking", "r.example", "r1", &first, &error));
    assert_true(issue("revoking", "r.example", "r2", &second, &error));
    assert_true(ca_store_open(&store, in_folder("revoking"), &error));
    assert_int_equal(store.count, 2);
    assert_true(ca_store_revoke(&store, first.serial, &count, &error));
    assert_int_equal(count, 1);
    assert_true(ca_store_write_crl(&store, 30, &error));
    ca_store_close(&store);
    assert_int_equal(verdict("revoking", "r1.crt", X509_PURPOSE_SSL_CLIENT),
                     X509_V_ERR_CERT_REVOKED);
    assert_int_equal(verdict("revoking", "r2.crt", X509_PURPOSE_SSL_CLIENT), X509_V_OK);

    /* By name: what is left; again: nothing more. */
    assert_true(ca_store_open(&store, in_folder("revoking"), &error));
    assert_true(ca_store_revoke(&store, "R.example", &count, &error));
    assert_int_equal(count, 1);
    assert_true(ca_store_revoke(&store, "r.example", &count, &error));
    assert_int_equal(count, 0);
    assert_false(ca_store_revoke(&store, "unknown.example", &count, &error));
    assert_non_null(strstr(error.text, "unknown.example"));
    ca_store_close(&store);
}

static void another_ca_is_not_trusted(void **state)
{
    struct ca_entry entry;
    struct ca_error error;

    (void)state;
    make_ca("one", CA_P256);
    make_ca("two", CA_P256);
    assert_true(issue("one", "x.example", "x", &entry, &error));
    assert_int_not_equal(verdict("two", "x.crt", X509_PURPOSE_SSL_SERVER), X509_V_OK);
}

static void nothing_is_overwritten(void **state)
{
    struct ca_entry entry;
    struct ca_error error;
    struct ca_store store;
    FILE *file;

    (void)state;
    make_ca("keep", CA_P256);
    assert_false(ca_store_init(in_folder("keep"), "Again", CA_P256, 10, &error));
    assert_non_null(strstr(error.text, "not overwritten"));
    file = fopen(in_folder("k.key"), "w");
    assert_non_null(file);
    fclose(file);
    assert_false(issue("keep", "k.example", "k", &entry, &error));
    assert_non_null(strstr(error.text, "k.key exists"));
    /* and it was refused before anything was issued */
    assert_true(ca_store_open(&store, in_folder("keep"), &error));
    assert_int_equal(store.count, 0);
    ca_store_close(&store);
}

static void a_request_keeps_its_key(void **state)
{
    const char *names[] = {"q.example"};
    struct ca_issue spec = {names, 1, 90, CA_P256, NULL, NULL, NULL};
    struct ca_error error;
    struct ca_entry entry;
    struct ca_store store;
    X509_REQ *request = X509_REQ_new();
    EVP_PKEY *key = ca_key_new(CA_P256, &error);
    FILE *file = fopen(in_folder("q.csr"), "w");
    X509 *cert;

    (void)state;
    make_ca("requests", CA_P256);
    assert_int_equal(X509_REQ_set_pubkey(request, key), 1);
    assert_true(X509_REQ_sign(request, key, EVP_sha256()) > 0);
    assert_int_equal(PEM_write_X509_REQ(file, request), 1);
    fclose(file);
    spec.request = in_folder("q.csr");
    spec.cert_path = in_folder("q.crt");
    assert_true(ca_store_open(&store, in_folder("requests"), &error));
    assert_true(ca_store_issue(&store, &spec, &entry, &error));
    ca_store_close(&store);
    cert = ca_read_cert(in_folder("q.crt"), &error);
    assert_int_equal(X509_check_private_key(cert, key), 1);
    assert_int_equal(verdict("requests", "q.crt", X509_PURPOSE_SSL_SERVER), X509_V_OK);
    assert_int_not_equal(access(in_folder("q.key"), F_OK), 0);
    X509_free(cert);
    X509_REQ_free(request);
    EVP_PKEY_free(key);
}

static void names_are_checked(void **state)
{
    static const char *const good[] = {"a", "cern.example", "x-1.y2.example", "A.Example"};
    static const char *const bad[] = {"",    ".a",  "a..b",    "a.",    "-a",  "a-",
                                      "a_b", "a b", "a,DNS:b", "*.a.b", "a/b", "\xc3\xa4.de"};
    char out[CA_NAME_MAX + 1];
    char large[300];
    struct ca_error error;

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(ca_domain_name(good[i], out, &error));
    assert_string_equal(out, "a.example");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(ca_domain_name(bad[i], out, &error));
    memset(large, 'a', sizeof large);
    large[64] = '\0';
    assert_false(ca_domain_name(large, out, &error));
}

static void a_damaged_index_is_named(void **state)
{
    struct ca_store store;
    struct ca_error error;
    FILE *file;

    (void)state;
    make_ca("damaged", CA_P256);
    file = fopen(in_folder("damaged/index"), "a");
    fputs("nonsense\n", file);
    fclose(file);
    assert_false(ca_store_open(&store, in_folder("damaged"), &error));
    assert_non_null(strstr(error.text, "nonsense"));
    assert_false(ca_store_open(&store, in_folder("missing"), &error));
    assert_non_null(strstr(error.text, "gmcast ca init"));
}

static int setup(void **state)
{
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int teardown(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(issued_certificates_verify), cmocka_unit_test(revoked_certificates_do_not),
        cmocka_unit_test(another_ca_is_not_trusted),  cmocka_unit_test(nothing_is_overwritten),
        cmocka_unit_test(a_request_keeps_its_key),    cmocka_unit_test(names_are_checked),
        cmocka_unit_test(a_damaged_index_is_named),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
