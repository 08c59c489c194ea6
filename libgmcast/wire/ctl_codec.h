/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests and replies of the control API: the plain structs of gmcast/control.h <-> protobuf
 * bytes (proto/ctl.proto). Decoding checks every bound; what it returns is within them, and its
 * strings are never NULL. */
#ifndef GMC_WIRE_CTL_CODEC_H
#define GMC_WIRE_CTL_CODEC_H

#include "base/bytes.h"
#include "base/status.h"
#include "gmcast/control.h"

#define GMC_CTL_REQUEST_BYTES_MAX (1 << 20) /* a gateway takes no longer one from a client */
#define GMC_CTL_SOURCES_MAX 4096
#define GMC_CTL_TARGETS_MAX 16383 /* with the source as many as a channel record may have */
#define GMC_CTL_PATH_MAX 4095
#define GMC_CTL_ERROR_MAX 2047
#define GMC_CTL_TRANSFERS_MAX 65536
#define GMC_CTL_TOKEN_MAX 255

/* Encode into a new buffer, to be freed with gmc_ctl_bytes_free. NOMEM; INVALID for a kind that
 * is none. Strings may be NULL for "". */
GMC_NODISCARD gmc_status gmc_ctl_encode_request(const struct gmc_ctl_request *request,
                                                uint8_t **out, size_t *len);
GMC_NODISCARD gmc_status gmc_ctl_encode_reply(const struct gmc_ctl_reply *reply, uint8_t **out,
                                              size_t *len);
void gmc_ctl_bytes_free(uint8_t *bytes);

/* Owns what a decoded request or reply borrows; free with gmc_ctl_release (NULL is allowed). */
struct gmc_ctl_holder;

/* INVALID: malformed or out of bounds. TYPE: well-formed, but of a kind that is not known here.
 * NOMEM. The output arguments are written on success only. */
GMC_NODISCARD gmc_status gmc_ctl_decode_request(struct gmc_bytes bytes,
                                                struct gmc_ctl_request *request,
                                                struct gmc_ctl_holder **holder);
GMC_NODISCARD gmc_status gmc_ctl_decode_reply(struct gmc_bytes bytes, struct gmc_ctl_reply *reply,
                                              struct gmc_ctl_holder **holder);
void gmc_ctl_release(struct gmc_ctl_holder *holder);

#endif
