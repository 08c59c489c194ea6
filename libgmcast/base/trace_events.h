/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the list of trace events: X(name, level, a, b, c), the last three naming the fields, NULL
 * if not used. Units end the names. One sub-list per area; append to the one of yours.
 */
#ifndef GMC_BASE_TRACE_EVENTS_H
#define GMC_BASE_TRACE_EVENTS_H

/* The gate: what came in and was dropped. */
#define GMC_TRACE_EVENTS_GATE(X) X(DATAGRAM_DROPPED, TRACE, "reason", "size_bytes", NULL)

/* Sessions and links. */
#define GMC_TRACE_EVENTS_LINK(X)                                                                   \
    X(LINK_UP, INFO, NULL, NULL, NULL)                                                             \
    X(LINK_DOWN, WARN, "status", NULL, NULL)

/* Probing and latencies. */
#define GMC_TRACE_EVENTS_PROBE(X)

/* Trees, parents and epochs. */
#define GMC_TRACE_EVENTS_TREE(X)

/* Channels and members. */
#define GMC_TRACE_EVENTS_CHANNEL(X)

/* Objects, blocks and fragments. */
#define GMC_TRACE_EVENTS_TRANSFER(X)

/* Repairs asked for and answered. */
#define GMC_TRACE_EVENTS_REPAIR(X)

/* Rates and queues. */
#define GMC_TRACE_EVENTS_CC(X)

/* Delivery inside the domain. */
#define GMC_TRACE_EVENTS_GROUP(X)

/* Store operations. */
#define GMC_TRACE_EVENTS_STORE(X)

/* Requests of users. */
#define GMC_TRACE_EVENTS_CTL(X)

/* What only shells know. */
#define GMC_TRACE_EVENTS_SHELL(X)

#define GMC_TRACE_EVENTS(X)                                                                        \
    GMC_TRACE_EVENTS_GATE(X)                                                                       \
    GMC_TRACE_EVENTS_LINK(X)                                                                       \
    GMC_TRACE_EVENTS_PROBE(X)                                                                      \
    GMC_TRACE_EVENTS_TREE(X)                                                                       \
    GMC_TRACE_EVENTS_CHANNEL(X)                                                                    \
    GMC_TRACE_EVENTS_TRANSFER(X)                                                                   \
    GMC_TRACE_EVENTS_REPAIR(X)                                                                     \
    GMC_TRACE_EVENTS_CC(X)                                                                         \
    GMC_TRACE_EVENTS_GROUP(X)                                                                      \
    GMC_TRACE_EVENTS_STORE(X)                                                                      \
    GMC_TRACE_EVENTS_CTL(X)                                                                        \
    GMC_TRACE_EVENTS_SHELL(X)

#endif
