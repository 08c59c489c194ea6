/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the congestion control `model` share: its state and constants. The law is
 * described in cc_model.c; nobody but their unit test includes this. */
#ifndef GMC_CORE_CC_MODEL_H
#define GMC_CORE_CC_MODEL_H

#include "core/cc.h"
#include "core/cc_filter.h"
#include "core/cc_loss.h"
#include "core/cc_round.h"

enum gmc_ccm_phase { START, DRAIN, CRUISE, UP, DOWN, AWAY };

/* Gains, in thousandths of the estimate. */
#define GAIN_START 2000u
#define GAIN_DRAIN 500u
#define GAIN_DOWN 750u
#define GAIN_DOWN_BACKGROUND 500u
#define NEARLY 900u      /* of bw, what a sender with less than it might send has used */
#define LEAST_DEBT 16u   /* of R: what a probe queued is not worth a DOWN */
#define GAIN_CRUISE 990u /* beside others; alone the queue decides, see cruise_gain */

/* Estimates kept after an event, in thousandths. */
#define YIELD 910u          /* a queue stands that is not ours */
#define OWN_QUEUE 850u      /* of the fall of a queue that is ours alone */
#define YIELD_STUBBORN 950u /* a probe lost; the rival does not care (BBR in a short queue) */
#define YIELD_AS_GOOD 950u  /* a probe lost, but carried what it always did: a short queue */
#define YIELD_SHAKEN 760u   /* the same, but others shake the queue between probes */
#define YIELD_MET 740u      /* of what was, where others made a short queue long */
#define YIELD_MAY_MEET 780u /* the same, but our host was late: its bursts may have */
#define YIELD_LESS 720u     /* a probe lost, and carried less than before: somebody came */
#define YIELD_CUT 900u      /* cruising lost */

#define RATE_MIN UINT64_C(64000)
#define RATE_MAX UINT64_C(1000000000000)
#define RTT_UNKNOWN GMC_MS(100)
#define RTT_MIN GMC_US(10)
#define RTT_MAX GMC_S(10)
#define QUEUE_MAX GMC_S(10)
#define LATE_GAP GMC_MS(2) /* and four packets: nothing was sent for so long */
#define LATE_FOR GMC_S(1)
#define SLACK_MAX GMC_MS(10)    /* of the pacing: hosts that wake late */
#define SLACK_PACKETS 10u       /* any path takes so many at once: RFC 6928 */
#define SHARED_PACKETS 4u       /* ... but a short queue that others use only so many */
#define TOOK_WAIT 8u            /* probes, after one lost what went at once */
#define TOOK_ALONE GMC_S(5)     /* whom nobody else has shown to for so long; see is_burst_lost */
#define WINDOW_SLACK GMC_MS(20) /* of bw, beside 3 bw R: hosts that pause, loopback */
#define WINDOW_SLACK_BYTES (UINT64_C(4) << 20) /* at most: it must fit into a socket's buffer */

#define LOSSLESS_PPM 5000u /* of base: chance, and what is left of START's */

#define FIRST_PACKETS 32u  /* of the first round trip */
#define ROUND_PACKETS 16u  /* fewer say nothing */
#define START_PACKETS 256u /* START that ends within so many is tried again */
#define START_TRIES 3u
#define START_EXCESS_PART 8u   /* of a round: START ends at an excess beyond that */
#define WHOLE_PROBES 2u        /* in a row, until START looks for the path's rate anew */
#define LEARN_PACKETS 128u     /* base is learnt by so many, ... */
#define KNOWN_PACKETS 1024u    /* ... and known by so many */
#define TEST_PACKETS 64u       /* DOWN tells congestion from the path by so many, ... */
#define TEST_PACKETS_MAX 256u  /* ... or, where chance may have lost few, by so many */
#define LOSS_SHOWS_PACKETS 24u /* of so many one is lost, if the path is what loses */
#define SHRUNK_PACKETS 32u     /* a round of fewer does not show that the path has shrunk */
#define UP_PACKETS 4u          /* a probe's least step, per round trip, for small shares */
#define LEAST_PACKETS 2u       /* the least rate, per round trip: TCP's least window, ... */
#define LEAST_RTT GMC_MS(16)   /* ... but on a path that is shorter not more */
#define ROUND_MIN GMC_MS(4)    /* acknowledgements come every 4 ms at the latest */
#define ACK_PACKETS 32u        /* or after so many */
#define ROUND_ACKS 3u          /* two show a rate, and one may be lost */
#define START_ACKS 2u
#define ROUND_LONG GMC_MS(64) /* may be waited for enough packets, however short the path is */

#define MINIMUM_WINDOW GMC_S(20)
#define DRIFT GMC_MS(2)                /* of clocks in it, at most: 100 ppm */
#define LONG_MINIMUM_WINDOW GMC_S(600) /* of the round trip, which does not drift */
#define BEST_WINDOW GMC_S(15)
#define CUT_INTERVAL GMC_MS(1500)
#define SHORT_RTT GMC_MS(30) /* on a shorter path cuts and doubts take as much less, ... */
#define SHORT_PART 15u       /* ... but at least so small a part */
#define STUBBORN_WINDOW GMC_S(3)
#define STUBBORN_EXCESS 4u  /* rounds of it */
#define STUBBORN_SHARE 700u /* of the path: who has more is not the one that suffers */
#define LONG_CRUISE GMC_S(3)
#define CALM_CRUISE GMC_S(1)
#define GONE_AFTER GMC_MS(400) /* and four round trips without a queue: who made it has left */
#define FULL_LEAST GMC_US(500) /* a shorter queue may be noise */
#define IDLE_LONG GMC_S(10)
#define USED_PART 4u /* of bw: who sends less knows no more of the path than who is idle */
#define AWAY_FIRST GMC_S(6)
#define DOUBT_AFTER GMC_S(3) /* without a round in which the queue was empty */
#define DOUBT_EACH GMC_MS(500)
#define LATE_MEMORY GMC_S(10) /* of a packet that had been called lost too early */
#define LATE_LEAST GMC_MS(6)
#define URGENT_PART 4u /* of the usual queue, while messages pass */
#define URGENT_MEMORY GMC_S(2)
#define MARKS 32u
#define RECENT 4u

/* Packets decided, and those of them that were lost. */
struct gmc_ccm_count {
    uint64_t n, lost;
};

/* A time in which the queue stayed as it was, though the rates that were sent at did not. */
struct gmc_ccm_flat {
    gmc_time since; /* 0: none */
    gmc_duration least, most;
    uint64_t least_bps, most_bps;
    uint32_t probes; /* in it, for which there was too little to send */
};

/* What is known of others; see cc_background.c. */
struct gmc_ccm_background {
    bool is_on;
    gmc_time away_until;
    gmc_duration away_next; /* the span of the next AWAY */
    uint32_t nothings;      /* probes in a row that gained nothing */
    uint32_t parts;         /* probes that showed somebody else */
    uint32_t standing;      /* cruises in a row with a queue that stood */
    bool drained;           /* a queue stood, and was drained once */
    bool is_short;          /* the queue: losses come before a delay that is seen */
    uint32_t shaken;        /* cruises whose queue others made long, less half of the others */
    bool met;               /* they made the queue long since the last probe, ... */
    bool is_shared;         /* ... or before one of those after which cruises are long */
    int32_t noise_permille; /* of samples, mean */
};

struct gmc_ccm {
    struct gmc_prng prng;
    uint32_t packet_bytes;

    uint64_t bw_bps; /* the estimate */
    uint64_t rate_bps, window_bytes;
    struct gmc_cc_loss base;
    struct gmc_cc_min delay_min, rtt_recent, rtt_min;
    struct gmc_cc_min room; /* the longest queue that was seen lately, negative */
    struct gmc_cc_min slow; /* the longest mean round trip behind START lately, negative */
    gmc_duration srtt;
    struct gmc_cc_rounds rounds;
    gmc_duration queue; /* as the last acknowledgement told */
    gmc_time round_since, round_until;
    gmc_time last_sent, last_filled; /* the latter by who had more to send */
    gmc_time last_used;              /* by a round of a quarter of bw and more */
    uint64_t burst_bytes;            /* sent at once, at last_sent */
    uint64_t up_burst_bytes;         /* the most of it since the last probe began */
    uint64_t took_bytes;             /* of a probe that lost nothing; see slack */
    uint32_t took_wait;              /* probes until more is tried */
    gmc_time late_until;             /* until then a queue may be what this host made up for */
    gmc_time urgent_until;           /* messages pass */
    uint64_t largest;                /* acknowledged */
    bool largest_any;

    enum gmc_ccm_phase phase;
    gmc_time cruise_until, drain_until;
    uint32_t epoch; /* rounds of an older one do not speak about the estimate of now */

    struct gmc_cc_mark marks[MARKS]; /* START looks back some ms */
    uint32_t mark_count;
    gmc_duration recent_queue[RECENT];
    uint32_t recent_count;
    uint64_t start_best, start_from; /* the best round of START, and the estimate before it */
    uint64_t start_arrived;          /* of its rounds, the most that the receiver got */
    uint32_t start_flat, start_tries;
    uint64_t start_packets;   /* decided before it, ... */
    uint64_t start_flat_from; /* ... and before the last growth */
    bool start_again;         /* it ended too early: is to be tried once more */
    bool unproven;            /* it ended because there was too little to send to see the limit */
    bool is_said;             /* it began with what was said of the path */

    uint64_t up_best, up_best_before; /* of this BEST_WINDOW, and of the one before */
    gmc_time up_best_since;
    bool up_clean, up_calm, up_best_again;
    bool up_alone;             /* the last clean probe gained nothing */
    uint32_t still;            /* probes in a row after which a standing queue did not move */
    gmc_duration up_queue_max; /* how deep the last probe's queue got */
    gmc_duration cruise_queue; /* least of the last cruise round */
    uint32_t calm;             /* probes in a row that found nobody else */
    uint32_t whole;            /* probes in a row that the path took in whole */
    uint32_t long_left;        /* clean probes until cruises are short again */
    gmc_time seen_at;          /* the last cruise round in which others showed */
    uint32_t share_permille;   /* of the path, as lossy probes tell; mean */
    bool stubborn;             /* the rival does not yield either */
    uint32_t window_excess;
    gmc_time window_since;
    gmc_time cut_at;
    bool was_cut;
    uint32_t shrunk, busy;
    gmc_time late_at; /* the last spurious loss */
    bool late_any;
    gmc_time clear_at; /* a round with an empty queue */
    struct gmc_ccm_flat flat;
    gmc_time flat_looked_at;
    uint64_t look_bps; /* the pace of a DOWN that only looks; 0: none */
    bool without_down; /* the last probe sent too little for one */
    bool testing, test_cuts;
    uint64_t test_bw_bps;      /* before the reaction to what is tested */
    uint64_t test_carried_bps; /* in what is tested */
    struct gmc_ccm_count test, down, cruise;
    uint64_t shrunk_bps;

    struct gmc_ccm_background others;
};

static inline gmc_duration gmc_ccm_least_rtt(const struct gmc_ccm *m)
{
    gmc_duration rtt = (gmc_duration)gmc_cc_min_get(&m->rtt_min);

    return rtt < RTT_MIN ? RTT_MIN : rtt > RTT_MAX ? RTT_MAX : rtt;
}

/* What the path takes at once next to what is there: the queue has room for as much as has stood in
 * it lately. */
static inline gmc_duration gmc_ccm_room(const struct gmc_ccm *m)
{
    gmc_duration room = (gmc_duration)-gmc_cc_min_get(&m->room);
    gmc_duration least =
        gmc_duration_of_bytes((uint64_t)SLACK_PACKETS * m->packet_bytes, m->bw_bps);

    return room < least ? least : room;
}

/* More than this is a standing queue and not jitter. */
static inline gmc_duration gmc_ccm_queue_threshold(const struct gmc_ccm *m)
{
    return gmc_ccm_least_rtt(m) / 8 + GMC_MS(1);
}

static inline uint64_t gmc_ccm_times(uint64_t bps, uint32_t permille)
{
    return bps / 1000 * permille + bps % 1000 * permille / 1000;
}

static inline uint64_t gmc_ccm_bytes_in(uint64_t bps, gmc_duration span)
{
    return bps / 8 / 1000 * (span / 1000) / 1000;
}

static inline uint64_t gmc_ccm_minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* cc_model.c: phases. enter begins a round of the phase; cruise_for a cruise of so long. */
void gmc_ccm_enter(struct gmc_ccm *m, gmc_time now, enum gmc_ccm_phase phase);
void gmc_ccm_cruise_for(struct gmc_ccm *m, gmc_time now, gmc_duration span);
void gmc_ccm_begin_drain(struct gmc_ccm *m, gmc_time now);
/* So many packets in a round trip, as a rate. */
uint64_t gmc_ccm_packets_per(const struct gmc_ccm *m, uint32_t packets, gmc_duration rtt);
/* The pace of a probe from this estimate. */
uint64_t gmc_ccm_up_rate(const struct gmc_ccm *m, uint64_t bps);

/* cc_model_start.c: samples, and the phases that act on single acknowledgements. */
uint64_t gmc_ccm_sample(const struct gmc_ccm *m, const struct gmc_cc_round *round, bool excess);
bool gmc_ccm_is_limited(const struct gmc_cc_round *round);
/* The estimate is no more than what START has after its first step. */
bool gmc_ccm_is_small(const struct gmc_ccm *m);
bool gmc_ccm_is_sparse(const struct gmc_ccm *m, const struct gmc_cc_round *round);
void gmc_ccm_start_ack(struct gmc_ccm *m, gmc_time now, gmc_duration queue);
void gmc_ccm_judge_start(struct gmc_ccm *m, gmc_time now, const struct gmc_cc_round *round);
void gmc_ccm_drain_ack(struct gmc_ccm *m, gmc_time now, const struct gmc_cc_ack *ack,
                       gmc_duration queue);

/* cc_background.c: sees others, and leaves the path to them. */
void gmc_ccm_go_away(struct gmc_ccm *m, gmc_time now);
/* Any round: looks how long the path's queue is. */
void gmc_ccm_note_queue(struct gmc_ccm *m, const struct gmc_cc_round *round);
/* A cruise: looks whether others make a queue. */
void gmc_ccm_note_cruise(struct gmc_ccm *m, const struct gmc_cc_round *round);
/* In a short queue, lately. */
bool gmc_ccm_is_shaken(const struct gmc_ccm *m);
/* A cruise, a probe: whether others showed in it, and this law did something about it. */
bool gmc_ccm_background_cruise(struct gmc_ccm *m, gmc_time now, const struct gmc_cc_round *round);
bool gmc_ccm_background_up(struct gmc_ccm *m, gmc_time now, const struct gmc_cc_round *round,
                           uint64_t sample_bps);

/* What chance does to the share of n packets that is not lost: three deviations, at most 100. */
uint32_t gmc_ccm_chance_permille(const struct gmc_ccm *m, uint64_t n);

/* The rate at which the round's packets were sent. */
static inline uint64_t gmc_ccm_sent_bps(const struct gmc_cc_round *round)
{
    return gmc_cc_rate_bps(round->to.bytes - round->from.bytes,
                           gmc_ccm_minus(round->to.sent, round->from.sent));
}

/* Such a time on a path of SHORT_RTT and more; on a shorter one, where it is that many more round
 * trips in which too much is sent, less. */
static inline gmc_duration gmc_ccm_by_rtt(const struct gmc_ccm *m, gmc_duration span)
{
    gmc_duration rtt = gmc_ccm_least_rtt(m);

    if (rtt < SHORT_RTT / SHORT_PART)
        rtt = SHORT_RTT / SHORT_PART;
    return rtt < SHORT_RTT ? span / (SHORT_RTT / GMC_US(1)) * (rtt / GMC_US(1)) : span;
}

/* cc_model_minimum.c: whether the least delay is still the path's. After a DOWN in which a queue
 * stood; after any round; and a DOWN to see it by. */
void gmc_ccm_check_minimum(struct gmc_ccm *m, gmc_time now, const struct gmc_cc_round *down);
void gmc_ccm_note_flat(struct gmc_ccm *m, gmc_time now, const struct gmc_cc_round *round);
void gmc_ccm_look(struct gmc_ccm *m, gmc_time now);

/* cc_model_judge.c: base loss from what was counted in cruises. */
void gmc_ccm_learn_cruise(struct gmc_ccm *m);
/* Others were met lately in a short queue. */
bool gmc_ccm_is_shared(const struct gmc_ccm *m);
/* All packets of the round are decided. */
void gmc_ccm_judge(struct gmc_ccm *m, gmc_time now, const struct gmc_cc_round *round);

#endif
