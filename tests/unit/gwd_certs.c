/* SPDX-License-Identifier: BSD-2-Clause */
/* Certificates made on the spot for tests of gatewayd. */
#include "tests/unit/gwd_certs.h"

#include <ftw.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"

void test_dir_make(char *dir, size_t size)
{
    (void)snprintf(dir, size, "/tmp/gmcast-test-XXXXXX");
    GMC_ASSERT(mkdtemp(dir) != NULL);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *walk)
{
    (void)st, (void)type, (void)walk;
    return remove(path);
}

void test_dir_remove(const char *dir)
{
    (void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void test_file_write(const char *path, const void *data, size_t len)
{
    FILE *out = fopen(path, "w");
    GMC_ASSERT(out != NULL);
    GMC_ASSERT(fwrite(data, 1, len, out) == len);
    GMC_ASSERT(fclose(out) == 0);
}

static void add_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX ctx;
    X509_EXTENSION *extension;
    X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
    extension = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    GMC_ASSERT(extension != NULL);
    GMC_ASSERT(X509_add_ext(cert, extension, -1) == 1);
    X509_EXTENSION_free(extension);
}

static X509 *start(struct test_ca *ca, EVP_PKEY *key, const char *name, int from, int until)
{
    X509 *cert = X509_new();
    GMC_ASSERT(cert != NULL && X509_set_version(cert, 2) == 1);
    ASN1_INTEGER_set(X509_get_serialNumber(cert), ++ca->serial);
    X509_gmtime_adj(X509_getm_notBefore(cert), (long)from * 86400 - 60);
    X509_gmtime_adj(X509_getm_notAfter(cert), (long)until * 86400 + 60);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_ASC,
                               (const unsigned char *)name, -1, -1, 0);
    GMC_ASSERT(X509_set_pubkey(cert, key) == 1);
    return cert;
}

static void write_cert(const char *path, X509 *cert)
{
    FILE *out = fopen(path, "w");
    GMC_ASSERT(out != NULL && PEM_write_X509(out, cert) == 1 && fclose(out) == 0);
}

void test_ca_make(struct test_ca *ca, const char *dir, const char *name)
{
    memset(ca, 0, sizeof *ca);
    (void)snprintf(ca->dir, sizeof ca->dir, "%s", dir);
    (void)snprintf(ca->ca_path, sizeof ca->ca_path, "%s/%s.pem", dir, name);
    ca->key = EVP_EC_gen("P-256");
    ca->cert = start(ca, ca->key, name, 0, 30);
    GMC_ASSERT(X509_set_issuer_name(ca->cert, X509_get_subject_name(ca->cert)) == 1);
    add_extension(ca->cert, ca->cert, NID_basic_constraints, "critical,CA:TRUE");
    add_extension(ca->cert, ca->cert, NID_key_usage, "critical,keyCertSign,cRLSign");
    GMC_ASSERT(X509_sign(ca->cert, ca->key, EVP_sha256()) > 0);
    write_cert(ca->ca_path, ca->cert);
}

void test_ca_free(struct test_ca *ca)
{
    X509_free(ca->cert);
    EVP_PKEY_free(ca->key);
}

long test_ca_issue(struct test_ca *ca, const char *file, const char *names, int from_days,
                   int until_days)
{
    char path[600], san[512] = "", list[256];
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = start(ca, key, file, from_days, until_days);
    FILE *out;
    (void)snprintf(list, sizeof list, "%s", names);
    for (char *name = strtok(list, ","); name != NULL; name = strtok(NULL, ","))
        (void)snprintf(san + strlen(san), sizeof san - strlen(san), "%sDNS:%s",
                       san[0] == '\0' ? "" : ",", name);
    GMC_ASSERT(X509_set_issuer_name(cert, X509_get_subject_name(ca->cert)) == 1);
    add_extension(cert, ca->cert, NID_subject_alt_name, san);
    GMC_ASSERT(X509_sign(cert, ca->key, EVP_sha256()) > 0);
    (void)snprintf(path, sizeof path, "%s/%s.crt", ca->dir, file);
    write_cert(path, cert);
    (void)snprintf(path, sizeof path, "%s/%s.key", ca->dir, file);
    out = fopen(path, "w");
    GMC_ASSERT(out != NULL && PEM_write_PrivateKey(out, key, NULL, NULL, 0, NULL, NULL) == 1);
    GMC_ASSERT(fclose(out) == 0);
    X509_free(cert);
    EVP_PKEY_free(key);
    return ca->serial;
}

void test_ca_revoke(struct test_ca *ca, const char *file, const long *serials, size_t count)
{
    char path[600];
    X509_CRL *crl = X509_CRL_new();
    ASN1_TIME *when = X509_gmtime_adj(NULL, -60);
    FILE *out;
    GMC_ASSERT(crl != NULL && when != NULL && X509_CRL_set_version(crl, 1) == 1);
    GMC_ASSERT(X509_CRL_set_issuer_name(crl, X509_get_subject_name(ca->cert)) == 1);
    GMC_ASSERT(X509_CRL_set1_lastUpdate(crl, when) == 1);
    for (size_t i = 0; i < count; i++) {
        X509_REVOKED *revoked = X509_REVOKED_new();
        ASN1_INTEGER *serial = ASN1_INTEGER_new();
        ASN1_INTEGER_set(serial, serials[i]);
        GMC_ASSERT(X509_REVOKED_set_serialNumber(revoked, serial) == 1);
        GMC_ASSERT(X509_REVOKED_set_revocationDate(revoked, when) == 1);
        GMC_ASSERT(X509_CRL_add0_revoked(crl, revoked) == 1);
        ASN1_INTEGER_free(serial);
    }
    X509_gmtime_adj(when, 86400);
    GMC_ASSERT(X509_CRL_set1_nextUpdate(crl, when) == 1);
    GMC_ASSERT(X509_CRL_sign(crl, ca->key, EVP_sha256()) > 0);
    (void)snprintf(path, sizeof path, "%s/%s", ca->dir, file);
    out = fopen(path, "w");
    GMC_ASSERT(out != NULL && PEM_write_X509_CRL(out, crl) == 1 && fclose(out) == 0);
    ASN1_TIME_free(when);
    X509_CRL_free(crl);
}
