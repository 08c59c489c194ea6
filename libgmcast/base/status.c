/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the texts and scopes of the status codes.
 */
#include "base/status.h"

const char *gmc_status_text(gmc_status status)
{
    switch (status) {
    case GMC_OK:
        return "success";
#define STATUS_TEXT(name, number, scope, text)                                                     \
    case GMC_ERR_##name:                                                                           \
        return text;
        GMC_STATUS_LIST(STATUS_TEXT)
#undef STATUS_TEXT
    default:
        return "unknown error";
    }
}

const char *gmc_status_name(gmc_status status)
{
    switch (status) {
    case GMC_OK:
        return "OK";
#define STATUS_NAME(name, number, scope, text)                                                     \
    case GMC_ERR_##name:                                                                           \
        return #name;
        GMC_STATUS_LIST(STATUS_NAME)
#undef STATUS_NAME
    default:
        return "?";
    }
}

enum gmc_scope gmc_status_scope(gmc_status status)
{
    switch (status) {
#define STATUS_SCOPE(name, number, scope, text)                                                    \
    case GMC_ERR_##name:                                                                           \
        return GMC_SCOPE_##scope;
        GMC_STATUS_LIST(STATUS_SCOPE)
#undef STATUS_SCOPE
    default:
        return GMC_SCOPE_CALL;
    }
}
