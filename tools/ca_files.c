/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns how a CA's files are read and written. */
#include "tools/ca_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/pem.h>

#include "tools/ca_store.h"

static bool write_all(int fd, const void *data, size_t len)
{
    const char *at = data;

    while (len > 0) {
        ssize_t n = write(fd, at, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        at += n;
        len -= (size_t)n;
    }
    return fsync(fd) == 0;
}

static bool write_new(const char *path, mode_t mode, const void *data, size_t len,
                      struct ca_error *error)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    bool ok;

    if (fd < 0 && errno == EEXIST)
        return ca_fail(error,
                       "%s exists and is not overwritten: move it away or choose another "
                       "name with --out",
                       path);
    if (fd < 0)
        return ca_fail(error, "cannot make %s: %s", path, strerror(errno));
    /* The mode is what was asked for, whatever the umask. */
    ok = fchmod(fd, mode) == 0 && write_all(fd, data, len);
    if (!ok)
        ca_fail(error, "cannot write %s: %s", path, strerror(errno));
    if (close(fd) != 0 && ok)
        ok = ca_fail(error, "cannot write %s: %s", path, strerror(errno));
    if (!ok)
        unlink(path);
    return ok;
}

bool ca_file_create(const char *path, mode_t mode, const void *data, size_t len,
                    struct ca_error *error)
{
    return write_new(path, mode, data, len, error);
}

bool ca_file_replace(const char *path, mode_t mode, const void *data, size_t len,
                     struct ca_error *error)
{
    char temporary[CA_PATH_MAX + 8];

    snprintf(temporary, sizeof temporary, "%s.new", path);
    /* A rest of an earlier run that died here; the CA's lock keeps others out. */
    if (unlink(temporary) != 0 && errno != ENOENT)
        return ca_fail(error, "cannot remove %s: %s", temporary, strerror(errno));
    if (!write_new(temporary, mode, data, len, error))
        return false;
    if (rename(temporary, path) == 0)
        return true;
    ca_fail(error, "cannot replace %s: %s", path, strerror(errno));
    unlink(temporary);
    return false;
}

static bool write_bio(const char *path, mode_t mode, BIO *bio, bool made, bool replace,
                      struct ca_error *error)
{
    char *data = NULL;
    long len = bio != NULL ? BIO_get_mem_data(bio, &data) : 0;
    bool ok;

    if (!made || len <= 0)
        ok = ca_fail(error, "cannot encode %s: %s", path, ERR_reason_error_string(ERR_get_error()));
    else if (replace)
        ok = ca_file_replace(path, mode, data, (size_t)len, error);
    else
        ok = ca_file_create(path, mode, data, (size_t)len, error);
    BIO_free(bio);
    return ok;
}

bool ca_write_key(const char *path, EVP_PKEY *key, struct ca_error *error)
{
    BIO *bio = BIO_new(BIO_s_secmem());
    bool made =
        bio != NULL && PEM_write_bio_PKCS8PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL) == 1;

    return write_bio(path, 0600, bio, made, false, error);
}

bool ca_write_cert(const char *path, X509 *cert, struct ca_error *error)
{
    BIO *bio = BIO_new(BIO_s_mem());
    bool made = bio != NULL && PEM_write_bio_X509(bio, cert) == 1;

    return write_bio(path, 0644, bio, made, false, error);
}

bool ca_replace_crl(const char *path, X509_CRL *crl, struct ca_error *error)
{
    BIO *bio = BIO_new(BIO_s_mem());
    bool made = bio != NULL && PEM_write_bio_X509_CRL(bio, crl) == 1;

    return write_bio(path, 0644, bio, made, true, error);
}

static FILE *open_read(const char *path, struct ca_error *error)
{
    FILE *file = fopen(path, "re");

    if (file == NULL)
        ca_fail(error, "cannot read %s: %s", path, strerror(errno));
    return file;
}

EVP_PKEY *ca_read_key(const char *path, struct ca_error *error)
{
    FILE *file = open_read(path, error);
    EVP_PKEY *key;

    if (file == NULL)
        return NULL;
    key = PEM_read_PrivateKey(file, NULL, NULL, NULL);
    fclose(file);
    if (key == NULL)
        ca_fail(error, "%s has no private key in PEM form", path);
    ERR_clear_error();
    return key;
}

X509 *ca_read_cert(const char *path, struct ca_error *error)
{
    FILE *file = open_read(path, error);
    X509 *cert;

    if (file == NULL)
        return NULL;
    cert = PEM_read_X509(file, NULL, NULL, NULL);
    fclose(file);
    if (cert == NULL)
        ca_fail(error, "%s has no certificate in PEM form", path);
    ERR_clear_error();
    return cert;
}

EVP_PKEY *ca_read_request(const char *path, struct ca_error *error)
{
    FILE *file = open_read(path, error);
    X509_REQ *request;
    EVP_PKEY *key = NULL;

    if (file == NULL)
        return NULL;
    request = PEM_read_X509_REQ(file, NULL, NULL, NULL);
    fclose(file);
    if (request == NULL) {
        ca_fail(error, "%s has no certificate request in PEM form", path);
    } else {
        key = X509_REQ_get_pubkey(request);
        if (key == NULL || X509_REQ_verify(request, key) != 1) {
            ca_fail(error, "%s is not signed with its own key: it is damaged or forged", path);
            EVP_PKEY_free(key);
            key = NULL;
        }
    }
    X509_REQ_free(request);
    ERR_clear_error();
    return key;
}
