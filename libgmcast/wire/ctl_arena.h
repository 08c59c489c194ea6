/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory of one encoded or decoded control-API message: zeroed pieces that are freed together. */
#ifndef GMC_WIRE_CTL_ARENA_H
#define GMC_WIRE_CTL_ARENA_H

#include <protobuf-c/protobuf-c.h>

#include "base/bytes.h"
#include "base/status.h"

struct gmc_ctl_piece;

struct gmc_ctl_holder {
    struct gmc_ctl_piece *pieces;
    ProtobufCMessage *message; /* decoded; strings are borrowed from it; may be NULL */
};

struct gmc_ctl_holder *gmc_ctl_holder_new(void);

/* count zeroed elements, or NULL when out of memory. count 0 gives a valid pointer. */
void *gmc_ctl_alloc(struct gmc_ctl_holder *holder, size_t count, size_t size);

/* A range of bytes as a string: INVALID when it holds a NUL or is longer than max. */
GMC_NODISCARD gmc_status gmc_ctl_copy_path(struct gmc_ctl_holder *holder,
                                           const ProtobufCBinaryData *data, size_t max,
                                           const char **out);

/* A string of an encoded message; protobuf-c does not change what it packs. */
char *gmc_ctl_text(const char *text);
ProtobufCBinaryData gmc_ctl_data(const void *data, size_t len);

/* Packs into a new buffer. */
GMC_NODISCARD gmc_status gmc_ctl_pack(const ProtobufCMessage *message, uint8_t **out, size_t *len);

/* A string of a decoded message is inside its bound; NULL counts as "". */
bool gmc_ctl_text_fits(const char *text, size_t max);

/* The same, and printable ASCII without spaces: names that come from elsewhere are shown on
 * terminals. */
bool gmc_ctl_name_fits(const char *name, size_t max);

#endif
