/* SPDX-License-Identifier: BSD-2-Clause */
/* What messages.c, messages_pub.c, messages_sub.c and messages_relay.c share: the clients of a
 * daemon's message socket, and those of its nodes. Nobody else includes it. */
#ifndef GWD_MESSAGES_INT_H
#define GWD_MESSAGES_INT_H

#include <zmq.h>

#include "base/list.h"
#include "gatewayd/messages.h"
#include "gatewayd/traffic.h"
#include "gatewayd/zmq_watch.h"
#include "wire/control.h"
#include "wire/local.h"

/* Who says something. */
struct gwd_caller {
    struct gwd_client id;
    gmc_peer peer;    /* at whose socket; GMC_PEER_NONE: at ours */
    uint64_t request; /* of that node, to be answered once; 0: none is open */
};

struct gwd_waiting {
    struct gmc_list node;
    zmq_msg_t frame; /* PUBLISH; MESSAGES with an end */
};

struct gwd_message_client {
    struct gmc_list node;
    struct gwd_caller who;
    bool is_publisher;
    /* What a publisher sent and the core did not take; ends of channels for which a subscriber had
     * no room. */
    struct gmc_list waiting; /* struct gwd_waiting */
    size_t waiting_count, waiting_bytes;
    /* a publisher */
    uint64_t e;
    uint64_t accepted, told;
    bool ending; /* it leaves when what waits is published */
    bool gone;   /* nobody is there to be told */
    char *reason;
    uint8_t *opened; /* what it opened: who opens the same shares the channel */
    size_t opened_len;
    uint8_t *part; /* of a message that a node sends in pieces */
    size_t part_len;
    /* a publisher at a node */
    uint64_t number;    /* the gateway's word for it */
    uint64_t asked;     /* the request that the gateway has not answered; 0: none */
    size_t asked_bytes; /* of it */
    size_t piece_at;    /* so much of the first that waits is on its way */
    /* a subscriber */
    char *name;
    char *source; /* "": any */
    uint64_t sent, taken, lost;
};

struct gwd_messages {
    struct gwd_messages_config config;
    void *context;
    void *router;
    char endpoint[256];
    char *path;
    struct event *event, *tick;
    struct gwd_zmq_watch *watch;
    uint8_t last_word[128]; /* to whom ZeroMQ cuts off */
    bool started;
    struct gmc_list clients;
    size_t client_count;
    /* entries that go out together: of one channel */
    uint8_t *batch;
    size_t batch_len, batch_room;
    uint64_t batch_messages;
    uint64_t batch_e;
    bool batch_ends; /* the channel, and nothing else is in it */
    char batch_source[GMC_DOMAIN_NAME_MAX + 1], batch_name[GMC_CHANNEL_NAME_MAX + 1];
    struct gwd_traffic *traffic;
    uint64_t published, delivered, lost, accepted, refused, gone;
    bool prompt;          /* the loop is woken at once */
    unsigned quiet_ticks; /* since a message passed */
    /* of a node */
    uint64_t asked;     /* requests so far */
    size_t asked_bytes; /* of those that are not answered */
};

/* ---- messages.c ---- */
struct gwd_message_client *gwd_messages_find(const struct gwd_messages *m,
                                             const struct gwd_caller *who);
struct gwd_message_client *gwd_messages_client_new(struct gwd_messages *m,
                                                   const struct gwd_caller *who);
void gwd_messages_client_free(struct gwd_messages *m, struct gwd_message_client *client);
/* False when the client is gone. */
bool gwd_messages_say(struct gwd_messages *m, struct gwd_message_client *client,
                      const struct gmc_local *local);
void gwd_messages_refuse(struct gwd_messages *m, const struct gwd_caller *who, const char *text);
/* False when the client is gone. *full: its pipe is. */
bool gwd_messages_send(struct gwd_messages *m, const struct gwd_message_client *client,
                       zmq_msg_t *frame, bool *full);
/* Sending may have taken the edge that would wake us. */
void gwd_messages_look_again(struct gwd_messages *m);
/* A message passes: whoever wakes this thread for the next one must not have to wait. */
void gwd_messages_hurry(struct gwd_messages *m);
/* DOMAIN as it is called in the configuration; the own one also by the first part of its name. */
const char *gwd_messages_resolve(const struct gwd_messages *m, const char *name);

/* ---- messages_pub.c ---- */
void gwd_messages_open(struct gwd_messages *m, const struct gwd_caller *who,
                       const struct gmc_local *local);
/* Takes the frame over where it has to wait. May free the client. */
void gwd_messages_publish(struct gwd_messages *m, struct gwd_message_client *client,
                          zmq_msg_t *frame);
void gwd_messages_leave(struct gwd_messages *m, struct gwd_message_client *client,
                        const char *reason, bool gone);
void gwd_messages_tell_accepted(struct gwd_messages *m);
/* What waits goes to the core while it takes it; then, perhaps, the publisher leaves: its channel
 * ends with the last one. */
void gwd_messages_pump(struct gwd_messages *m, struct gwd_message_client *client);
/* A channel of ours has ended; its publishers may not know. */
void gwd_messages_over(struct gwd_messages *m, uint64_t e, const char *reason);

/* ---- messages_sub.c ---- */
void gwd_messages_subscribe(struct gwd_messages *m, const struct gwd_caller *who,
                            const struct gmc_local *local);
/* Ends for which a subscriber had no room go to it when it has. False when it is gone. */
bool gwd_messages_send_ends(struct gwd_messages *m, struct gwd_message_client *client);
/* What arrived goes to all subscribers who want it. */
void gwd_messages_send_batch(struct gwd_messages *m);

/* ---- messages_relay.c ---- */
/* At a gateway: the answer to a client of a node, if it waits for one; warnings and the end of its
 * channel are told it in any case. */
void gwd_relay_answer(struct gwd_messages *m, struct gwd_message_client *client,
                      const struct gmc_local *local);
/* At a node: a publisher's channel is opened at the gateway; what waits goes there. */
void gwd_relay_open(struct gwd_messages *m, const struct gwd_caller *who, struct gmc_bytes frame);
void gwd_relay_pump(struct gwd_messages *m, struct gwd_message_client *client);

#endif
