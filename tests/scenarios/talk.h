/* SPDX-License-Identifier: BSD-2-Clause */
/* What stories of message channels share: S publishes, and what each host hears is kept. */
#ifndef TESTS_SCENARIOS_TALK_H
#define TESTS_SCENARIOS_TALK_H

#include "tests/scenarios/lan.h"

#define TALK_HOSTS_MAX 8
#define TALK_STAMP_BYTES 16 /* number of the message, and when it was published */
#define TALK_SEEN_MAX 4096  /* messages of which it is known who heard them twice */

/* What one host heard. */
struct heard {
    uint64_t count, bytes;
    uint64_t next;     /* sequence that comes next */
    uint64_t missed;   /* numbers that were passed over */
    uint64_t backward; /* messages that came behind a later one */
    uint64_t repeated; /* those that came before, of the first TALK_SEEN_MAX */
    uint64_t spoiled;
    bool seen[TALK_SEEN_MAX];
    gmc_duration delay_max;
    gmc_duration delays[4096]; /* of the first ones since the last look */
    size_t delay_count;
    bool ended;
    char reason[128];
};

struct talk {
    struct story story;
    struct gmc_channel_key key;
    struct heard heard[TALK_HOSTS_MAX];
    uint64_t published;
    uint64_t rooms; /* times that the source said that there is room */
};

void talk_open(struct talk *talk, uint64_t seed, uint32_t loss_ppm);
/* Nothing was heard yet in this story, which has begun. */
void talk_listen(struct talk *talk, const struct story *story);
/* Opens a channel from s.example to these (letters; NULL: all others), and waits until it takes
 * messages. */
void talk_begin_to(struct talk *talk, enum gmc_message_order order, const char *names);
void talk_begin(struct talk *talk, enum gmc_message_order order);
/* True: the source has said that there is room. */
bool talk_has_room(void *talk);
gmc_status talk_publish(struct talk *talk, size_t len);
void talk_publish_many(struct talk *talk, uint64_t count, gmc_duration every, size_t len);
/* Ends it, in the words "that is all", and waits until all have. */
void talk_end(struct talk *talk);

const struct heard *talk_heard(struct talk *talk, const char *host);
/* These hosts (letters) heard all there was, once and in order. */
void talk_expect_all(struct talk *talk, const char *hosts);
/* Of the delays since the last look. */
gmc_duration talk_percentile(struct heard *heard, unsigned percent);
/* The same, and it is a look. */
gmc_duration talk_median(struct heard *heard);

#endif
