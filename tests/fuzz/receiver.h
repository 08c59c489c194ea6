/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns who receives a transfer in the fuzzers: a node inside a domain, or a gateway. The first end
 * of its links, its voice, told it of the channel and has everything; its store answers when it is
 * told to. */
#ifndef TESTS_FUZZ_RECEIVER_H
#define TESTS_FUZZ_RECEIVER_H

#include "crypto/cheap.h"
#include "fec/code.h"
#include "tests/fuzz/pump.h"

#define RECEIVER_E 1 /* of the transfer */

enum { RECEIVER_VOICE = 0, RECEIVER_ROUNDS_MAX = 60 };

struct receiver {
    struct pump pump;
    struct gmc_crypto crypto, source;
    struct gmc_crypto_cheap *own, *sources, *others[PUMP_ENDS_MAX];
    struct gmc_fec_code *code; /* kept from input to input: it takes long to make */
    struct gmc_object object;
    uint8_t content_key[GMC_KEY_BYTES];
    struct gmc_aead *content;
    uint32_t version;   /* of the record */
    bool asks;          /* it has asked its voice to serve it */
    uint32_t told_over; /* by end: it has said that the transfer is over */
};

extern struct receiver receiver;
extern const char receiver_source[], receiver_gateway[];

/* node_of: NULL at a gateway. The object has so many blocks of data, and a shorter one. */
void receiver_open(const char *name, const char *node_of, const char *const ends[PUMP_ENDS_MAX],
                   uint32_t blocks, uint32_t fragment_bytes);
/* It has sessions with so many of its ends, is told of the transfer, and asks for it. */
void receiver_begin(size_t sessions);
/* It is told of it once more, in a record of receiver.version. */
void receiver_tell(void);
void receiver_close(void);

/* ---- what the source made ---- */
void receiver_block(uint32_t number, uint8_t *out); /* GW_BLOCK_BYTES of room */
uint32_t receiver_fragments(uint32_t number);
/* Seals fragment f of a block's bytes, in place; returns its length. */
uint32_t receiver_seal(uint32_t number, uint16_t f, uint8_t *bytes, uint8_t *tag);

struct gmc_msg receiver_about(enum gmc_msg_type type);
struct gwchannel *receiver_channel(void);
/* So many of what it was asked for are answered. How: 1 the last one first, 2 with other bytes than
 * it was given, 4 it reads nothing; else its disk works. */
void receiver_store_answers(size_t count, uint8_t how);
/* All of a block over the link of an end, but for its first `from` fragments. */
void receiver_link_brings(size_t end, uint32_t number, uint16_t from);
/* An end speaks of the group that the receiver makes, if it makes one. */
void receiver_hears_report(size_t end, struct gmc_reader *r);
void receiver_any_datagram(struct gmc_reader *r);
/* The voice serves what is missing in its order, a window of blocks at a time. False: nothing was.
 */
bool receiver_goes_on(void);
/* Its memory stays within its bounds. */
void receiver_check(void);

#endif
