/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the list of results that a function of ours can have, and what is lost with each.
 */
#ifndef GMC_BASE_STATUS_H
#define GMC_BASE_STATUS_H

/* The caller has to look at the result. */
#define GMC_NODISCARD __attribute__((warn_unused_result))

/* 0, or one of the negative codes below. */
typedef int gmc_status;

/* What is lost with an error. A shell acts on the scope, not on the code. */
enum gmc_scope {
    GMC_SCOPE_CALL,     /* nothing but the call itself */
    GMC_SCOPE_DATAGRAM, /* one datagram or message: count it, go on */
    GMC_SCOPE_LINK,     /* the link to one peer */
    GMC_SCOPE_CHANNEL,  /* one channel or transfer */
    GMC_SCOPE_PROCESS,  /* nothing sensible is left to do */
};

/* X(name, number, scope, text). Numbers are written to control messages: never re-use one, append
 * at the end.
 */
#define GMC_STATUS_LIST(X)                                                                         \
    X(NOMEM, 1, PROCESS, "out of memory")                                                          \
    X(INVALID, 2, CALL, "invalid argument or content")                                             \
    X(FULL, 3, CALL, "a configured bound is reached")                                              \
    X(AUTH, 4, DATAGRAM, "authentication failed")                                                  \
    X(REPLAY, 5, DATAGRAM, "replayed or too old")                                                  \
    X(TRUNCATED, 6, DATAGRAM, "message ends too early")                                            \
    X(VERSION, 7, DATAGRAM, "unknown version")                                                     \
    X(TYPE, 8, DATAGRAM, "unexpected type")                                                        \
    X(UNKNOWN, 9, DATAGRAM, "unknown link, channel or key")                                        \
    X(STATE, 10, CALL, "not possible in this state")                                               \
    X(REFUSED, 11, CHANNEL, "refused by the peer")                                                 \
    X(NOT_FOUND, 12, CALL, "not found")                                                            \
    X(EXISTS, 13, CALL, "exists already")                                                          \
    X(IO, 14, CHANNEL, "input or output failed")                                                   \
    X(NOSPACE, 15, CHANNEL, "no space left on the store")                                          \
    X(CHANGED, 16, CHANNEL, "the source changed while it was read")                                \
    X(MISMATCH, 17, DATAGRAM, "content does not match its hash")                                   \
    X(TIMEOUT, 18, CALL, "timed out")                                                              \
    X(CANCELLED, 19, CHANNEL, "cancelled")                                                         \
    X(PEER_DOWN, 20, LINK, "peer is down")                                                         \
    X(ACCESS, 21, CALL, "access denied")                                                           \
    X(LOOP, 22, LINK, "would make a loop in the tree")                                             \
    X(LIMIT, 23, CALL, "outside the allowed limits")                                               \
    X(AGAIN, 24, CALL, "not now, try again later")                                                 \
    X(NOT_MEMBER, 25, CHANNEL, "not a member of the channel")                                      \
    X(QUOTA, 26, CHANNEL, "quota exceeded")                                                        \
    X(EXPIRED, 27, LINK, "expired")                                                                \
    X(STOPPED, 28, LINK, "is being stopped")

enum {
    GMC_OK = 0,
#define GMC_STATUS_ENUM(name, number, scope, text) GMC_ERR_##name = -(number),
    GMC_STATUS_LIST(GMC_STATUS_ENUM)
#undef GMC_STATUS_ENUM
};

/* A sentence part for people, e.g. "out of memory"; never NULL, also for unknown codes. */
const char *gmc_status_text(gmc_status status);

/* The name of the code, e.g. "NOMEM", and "OK" for 0; "?" for unknown codes. */
const char *gmc_status_name(gmc_status status);

/* What is lost; CALL for GMC_OK and for unknown codes, which come from newer peers. */
enum gmc_scope gmc_status_scope(gmc_status status);

#endif
