/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of a CA: written whole or not at all, never over an existing one unless asked to. */
#ifndef GMC_TOOLS_CA_FILES_H
#define GMC_TOOLS_CA_FILES_H

#include <sys/types.h>

#include "tools/ca_x509.h"

/* A new file; fails when one exists. Durable when this returns. */
bool ca_file_create(const char *path, mode_t mode, const void *data, size_t len,
                    struct ca_error *error);
/* The same, but replaces what is there in one step. */
bool ca_file_replace(const char *path, mode_t mode, const void *data, size_t len,
                     struct ca_error *error);

/* PEM to new files: keys get mode 0600. */
bool ca_write_key(const char *path, EVP_PKEY *key, struct ca_error *error);
bool ca_write_cert(const char *path, X509 *cert, struct ca_error *error);
bool ca_replace_crl(const char *path, X509_CRL *crl, struct ca_error *error);

EVP_PKEY *ca_read_key(const char *path, struct ca_error *error);
X509 *ca_read_cert(const char *path, struct ca_error *error);
/* The public key of a PKCS#10 request, whose own signature is checked. */
EVP_PKEY *ca_read_request(const char *path, struct ca_error *error);

#endif
