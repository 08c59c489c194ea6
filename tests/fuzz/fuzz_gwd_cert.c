/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the fuzzer of what is read from certificates: a peer's in DER, files of authorities and
 * revocation lists in PEM. A certificate speaks for the names that it is said to have, and nothing
 * in those names reaches a terminal or a log but letters. OpenSSL's list of errors is left empty:
 * what stands there is taken for a failure of whichever connection comes next.
 *
 * Input   DER of a certificate, or a file in PEM (it begins with '-')
 */
#include <string.h>

#include <openssl/err.h>

#include "base/assert.h"
#include "gatewayd/cert.h"
#include "tests/fuzz/memfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_names(X509 *cert)
{
    char all[256], few[8];

    gwd_cert_names(cert, all, sizeof all);
    gwd_cert_names(cert, few, sizeof few);
    GMC_ASSERT(all[0] != '\0' && few[0] != '\0');
    for (const char *p = all; *p != '\0'; p++)
        GMC_ASSERT(*p >= 0x20 && *p <= 0x7e);
    (void)gwd_cert_has_domain(cert, "cern.example");
    GMC_ASSERT(!gwd_cert_has_domain(cert, ""));
    (void)gwd_cert_seconds_left(cert);
}

static void take_der(const uint8_t *data, size_t size)
{
    X509_STORE *none = X509_STORE_new();
    X509 *cert = d2i_X509(NULL, &data, (long)size);

    ERR_clear_error();
    if (cert != NULL && none != NULL) {
        check_names(cert);
        GMC_ASSERT(gwd_cert_verify(none, cert, NULL) != NULL); /* nobody is trusted */
    }
    X509_free(cert);
    X509_STORE_free(none);
}

static void take_pem(const char *name)
{
    char reason[512] = "";
    STACK_OF(X509) *chain = gwd_cert_load_chain(name, reason, sizeof reason);
    EVP_PKEY *key = gwd_cert_load_key(name, reason, sizeof reason);
    X509_STORE *store = gwd_cert_load_store(name, name, reason, sizeof reason);

    GMC_ASSERT((chain != NULL && key != NULL && store != NULL) || reason[0] != '\0');
    for (int i = 0; i < sk_X509_num(chain); i++) {
        check_names(sk_X509_value(chain, i));
        if (store != NULL)
            (void)gwd_cert_verify(store, sk_X509_value(chain, i), chain);
    }
    sk_X509_pop_free(chain, X509_free);
    EVP_PKEY_free(key);
    X509_STORE_free(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[MEMFILE_NAME_MAX];
    int fd;

    if (size > 0 && data[0] == '-') {
        fd = memfile_make(data, size, name);
        take_pem(name);
        close(fd);
    } else {
        take_der(data, size);
    }
    GMC_ASSERT(ERR_peek_error() == 0);
    return 0;
}
