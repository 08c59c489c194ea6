/* SPDX-License-Identifier: BSD-2-Clause */
/* What tcp.c and tcp_send.c share. */
#ifndef SIM_TCP_INTERNAL_H
#define SIM_TCP_INTERNAL_H

#include "sim-wan/tcp.h"

#define SIM_TCP_SEGMENT_BYTES 1448u
#define SIM_TCP_FRAME_HEAD 26u /* type, length, and what a TLS record costs */
#define SIM_TCP_WINDOW_FIRST 10u
#define SIM_TCP_WINDOW_MAX 1024u
#define SIM_TCP_TIMEOUT_RACE GMC_MS(250) /* of a SYN */
#define SIM_TCP_TIMEOUT_FIRST GMC_S(1)
#define SIM_TCP_TIMEOUT_MIN GMC_MS(200)
#define SIM_TCP_TIMEOUT_MAX GMC_S(60)

enum { SIM_TCP_DATA = 1, SIM_TCP_ACK = 2, SIM_TCP_RESET = 4 };

enum sim_end_state { SIM_END_LISTENING, SIM_END_OPENING, SIM_END_OPEN, SIM_END_GONE };

struct sim_tcp_segment {
    struct sim_tcp_segment *next;
    uint32_t sequence;
    uint16_t len;
    bool flying;  /* sent and neither acknowledged nor given up */
    bool lost;    /* to be sent again */
    bool resent;  /* sent more than once: no round-trip sample */
    bool arrived; /* selectively acknowledged */
    gmc_time sent_at;
    uint8_t data[SIM_TCP_SEGMENT_BYTES];
};

struct sim_tcp_end {
    uint32_t host;
    uint8_t side;
    enum sim_end_state state;
    void *user;
    /* sending */
    uint16_t segment_max;                 /* bytes of data in one */
    struct sim_tcp_segment *first, *last; /* not yet acknowledged */
    uint32_t next_sequence;
    size_t backlog;                     /* bytes in them */
    uint32_t flying, window, threshold; /* segments */
    uint32_t grown;                     /* acknowledged since the window grew */
    uint32_t recovery_until;            /* one halving per window */
    uint32_t retries;
    gmc_duration srtt, timeout;
    struct sim_event timer;
    struct sim_event keepalive;
    gmc_time heard;
    /* receiving */
    uint32_t received; /* every segment below has been taken */
    uint64_t arrived[SIM_TCP_WINDOW_MAX / 64];
    uint8_t *frame;
    size_t frame_len, frame_capacity;
};

struct sim_conn {
    struct sim_tcp *tcp;
    uint64_t id;
    gmc_time began;
    uint32_t busy; /* functions of this connection that are running */
    struct sim_tcp_end ends[2];
};

/* An end knows its side, so its connection is found from it. */
static inline struct sim_conn *sim_tcp_conn_of(struct sim_tcp_end *end)
{
    return (struct sim_conn *)(void *)((char *)(end - end->side) - offsetof(struct sim_conn, ends));
}

static inline bool sim_tcp_has_arrived(const struct sim_tcp_end *end, uint32_t sequence)
{
    return end->arrived[sequence / 64 % (SIM_TCP_WINDOW_MAX / 64)] >> sequence % 64 & 1;
}

static inline void sim_tcp_set_arrived(struct sim_tcp_end *end, uint32_t sequence)
{
    end->arrived[sequence / 64 % (SIM_TCP_WINDOW_MAX / 64)] |= UINT64_C(1) << sequence % 64;
}

static inline void sim_tcp_clear_arrived(struct sim_tcp_end *end, uint32_t sequence)
{
    end->arrived[sequence / 64 % (SIM_TCP_WINDOW_MAX / 64)] &= ~(UINT64_C(1) << sequence % 64);
}

/* tcp.c */
void sim_tcp_end_side(struct sim_conn *conn, int side, const char *reason);
/* tcp_send.c */
void sim_tcp_append(struct sim_tcp_end *end, struct gmc_bytes bytes);
void sim_tcp_append_empty(struct sim_tcp_end *end);
bool sim_tcp_answer_syn(struct sim_conn *conn);
const struct sim_tcp_segment *sim_tcp_find(const struct sim_tcp_end *end, uint32_t sequence);
/* Sends what the window allows, lost segments first. */
void sim_tcp_push(struct sim_conn *conn, int side);
void sim_tcp_acked(struct sim_conn *conn, int side, const struct sim_segment *segment);
void sim_tcp_keep_alive(struct sim_conn *conn, struct sim_tcp_end *end);
void sim_tcp_on_timer(struct sim_event *event, gmc_time now);
void sim_tcp_on_keepalive(struct sim_event *event, gmc_time now);

#endif
