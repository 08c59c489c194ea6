/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the fuzzer of a CA's index: a damaged one is refused with words; one that is taken gives a
 * revocation list that has every serial number in it.
 */
#include <stdlib.h>
#include <string.h>

#include <openssl/err.h>

#include "base/assert.h"
#include "tools/ca_store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One for all inputs: making a key takes longer than all the rest. */
static const struct ca_issuer *issuer(void)
{
    static struct ca_issuer made;
    struct ca_error error;

    if (made.key == NULL) {
        made.key = ca_key_new(CA_ED25519, &error);
        made.cert = ca_root_new(made.key, "Fuzz CA", 1, &error);
        GMC_ASSERT(made.key != NULL && made.cert != NULL);
    }
    return &made;
}

static void check_list(const struct ca_store *store)
{
    struct ca_error error = {""};
    struct ca_revoked *revoked = calloc(store->count + 1, sizeof *revoked);
    X509_CRL *crl;
    size_t n = 0;

    GMC_ASSERT(revoked != NULL);
    for (size_t i = 0; i < store->count; i++) {
        if (store->entries[i].revoked)
            revoked[n++] =
                (struct ca_revoked){store->entries[i].serial, store->entries[i].revoked_at};
    }
    crl = ca_crl_new(issuer(), revoked, n, store->crl_number, 1, &error);
    GMC_ASSERT(crl != NULL || error.text[0] != '\0');
    if (crl != NULL) {
        STACK_OF(X509_REVOKED) *list = X509_CRL_get_REVOKED(crl);

        GMC_ASSERT(n == 0 || sk_X509_REVOKED_num(list) == (int)n);
    }
    X509_CRL_free(crl);
    free(revoked);
}

/* Nothing of a line is left out: its end is the whole name of a domain. */
static void check_names(const struct ca_store *store, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < store->count; i++) {
        char tail[CA_NAME_MAX + 3];
        int len = snprintf(tail, sizeof tail, " %s\n", store->entries[i].domain);

        GMC_ASSERT(memmem(data, size, tail, (size_t)len) != NULL || data[size - 1] != '\n' ||
                   memchr(data, '\0', size) != NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ca_store store = {.path = "/ca", .lock = -1};
    struct ca_error error = {""};
    FILE *in = size > 0 ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;

    if (in == NULL)
        return 0;
    if (ca_store_read_index(&store, in, &error)) {
        check_list(&store);
        check_names(&store, data, size);
    } else {
        GMC_ASSERT(error.text[0] != '\0');
    }
    fclose(in);
    ca_store_close(&store);
    ERR_clear_error();
    return 0;
}
