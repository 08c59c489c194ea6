/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames inside the TLS connection of two gateways: bytes <-> fields, nothing else.
 *
 * A frame is a type (u8), a length (u24, big-endian) and so many bytes. Unknown types are skipped.
 *
 *   HELLO     the first frame of each side: magic "gmcH" (4), version u16, UDP port u16, session
 *             id u32 (chosen by the sender, not 0), capabilities u64, name length u8, own domain;
 *             what follows is for later versions
 *   DATAGRAM  a link datagram, where UDP is blocked
 *   BYE       the sender ends the session: status u16 (its number, positive), text
 *   ENROL     before the HELLO of a node that dials: the secret of its token (16)
 *   FABRIC    within a domain: an endpoint of a fabric (gatewayd/fabric.h): id u64, length u8 and
 *             name of what it speaks, length u8 and name of the node that it is of (0: of the
 *             sender), its address, to the end (empty: there is none any more)
 *   WHERE     of a node to its gateway: the name of a node whose FABRIC it wants
 */
#ifndef GWD_FRAME_H
#define GWD_FRAME_H

#include "core/io.h"

#define GWD_FRAME_VERSION 1
#define GWD_FRAME_HEAD_BYTES 4u
#define GWD_FRAME_DATAGRAM_MAX 65535u
#define GWD_FRAME_SMALL_MAX 1024u /* HELLO, BYE */

enum gwd_frame_type {
    GWD_FRAME_HELLO = 1,
    GWD_FRAME_DATAGRAM = 2,
    GWD_FRAME_BYE = 3,
    GWD_FRAME_ENROL = 4,
    GWD_FRAME_FABRIC = 5,
    GWD_FRAME_WHERE = 6
};

struct gwd_hello {
    uint16_t version;
    uint16_t udp_port;
    uint32_t session;
    uint64_t capabilities;
    char domain[GMC_DOMAIN_NAME_MAX + 1];
};

struct gwd_bye {
    gmc_status status;
    char text[GMC_REASON_BYTES_MAX];
};

#define GWD_FABRIC_NAME_MAX 63u
#define GWD_FABRIC_ADDRESS_MAX 256u

struct gwd_endpoint {
    uint64_t id;
    char speaks[GWD_FABRIC_NAME_MAX + 1];
    char node[GMC_DOMAIN_NAME_MAX + 1]; /* "": the sender itself */
    uint8_t address[GWD_FABRIC_ADDRESS_MAX];
    size_t address_len; /* 0: none */
};

void gwd_frame_head(uint8_t out[GWD_FRAME_HEAD_BYTES], enum gwd_frame_type type, size_t len);
/* Bytes written to out (head and all); 0 when capacity is too small. */
size_t gwd_hello_put(const struct gwd_hello *hello, uint8_t *out, size_t capacity);
size_t gwd_bye_put(const struct gwd_bye *bye, uint8_t *out, size_t capacity);
size_t gwd_endpoint_put(const struct gwd_endpoint *endpoint, uint8_t *out, size_t capacity);
size_t gwd_where_put(const char *node, uint8_t *out, size_t capacity);
/* The body of a frame: TRUNCATED, VERSION, INVALID. */
GMC_NODISCARD gmc_status gwd_hello_get(struct gmc_bytes body, struct gwd_hello *hello);
GMC_NODISCARD gmc_status gwd_bye_get(struct gmc_bytes body, struct gwd_bye *bye);
GMC_NODISCARD gmc_status gwd_endpoint_get(struct gmc_bytes body, struct gwd_endpoint *endpoint);
GMC_NODISCARD gmc_status gwd_where_get(struct gmc_bytes body, char node[GMC_DOMAIN_NAME_MAX + 1]);

#endif
