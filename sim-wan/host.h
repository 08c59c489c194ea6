/* SPDX-License-Identifier: BSD-2-Clause */
/* One host: a gateway, its shell, its disk and its clock. The shell does what gatewayd does: feeds
 * inputs, drains outputs after each, arms one timer; it survives its gateway, which can be killed
 * and started again with the state that it saved. */
#ifndef SIM_HOST_H
#define SIM_HOST_H

#include "sim-wan/clock.h"
#include "sim-wan/world.h"

struct gmc_crypto_cheap;
struct gmc_crypto_openssl;

struct sim_host_news;

struct sim_host_counters {
    uint64_t datagrams_in, datagrams_out, datagrams_refused; /* by the core */
    uint64_t bytes_out;                                      /* UDP payload, or framed in TLS */
    uint64_t lost_while_down, lost_in_socket;                /* nobody there; the buffer was full */
    uint64_t timers, starts, events;
    uint64_t stream_refused; /* datagrams that found the TLS connection's backlog full */
};

struct sim_host {
    struct sim_world *world;
    uint32_t id; /* in the network */
    char *name;
    struct gmc_prng prng;
    struct sim_clock clock;
    struct sim_disk disk;
    struct gmc_gateway *gateway; /* NULL while down */
    bool powered;
    bool is_router;                 /* never has a gateway */
    const struct sim_host *node_of; /* the gateway of its domain, if it is a node in one; NULL */
    const char *subnet;             /* of a node, as it is told; NULL: not known */
    uint64_t multicast_bps;         /* of a node that can relay to its subnet; 0: it cannot */
    uint32_t hears;                 /* host of whose group it listens, and one; 0: none */
    bool deaf;                      /* it joins no group: multicast does not come to it */
    bool frozen;                    /* the process is stopped: it hears and does nothing */
    bool disk_stalled;              /* by a fault, whatever becomes of the process */
    bool dial_only;                 /* takes no connections */
    uint64_t uplink_bps;            /* that its gateway is told; 0: not known. Before the start */
    uint64_t downlink_bps;
    const char *refused; /* why every other host refuses this one's certificate; NULL */
    uint32_t incarnation;
    struct sim_event timer;
    struct sim_event pulse;  /* answers that cannot be given while outputs are drained */
    gmc_peer *unknown_peers; /* wanted, but not configured anywhere */
    size_t unknown_count, unknown_capacity;
    uint32_t *peer_hosts; /* by the gateway's peer number */
    size_t peer_count, peer_capacity;
    struct gmc_map host_peers;  /* host + 1 -> peer number + 1 */
    struct sim_host_news *news; /* of sessions, held back while frozen */
    size_t news_count, news_capacity;
    struct sim_packet_list socket; /* datagrams that wait to be heard */
    uint64_t socket_bytes;
    struct sim_packet_list segments; /* of TCP, that came while it was frozen */
    size_t segment_count;
    struct sim_cpu_config cpu;
    gmc_time cpu_busy_until;
    struct sim_event cpu_event;         /* the first one that waits has been worked on */
    gmc_time rests_until;               /* it does not wake before; see sim_cpu_config.wake */
    gmc_time wakes_at;                  /* the timer's event; NEVER */
    gmc_time arrives_at;                /* the next datagram, if it collects them; NEVER */
    struct gmc_near near;               /* what it will look at when it wakes */
    bool is_looking;                    /* at all that came: outputs are taken after the last */
    struct sim_disk_config disk_config; /* that faults go back to */
    gmc_time timer_at;                  /* spinning: calls at one instant without a result */
    uint32_t timer_idle;
    bool check_claims;
    uint8_t key[32]; /* of its certificate */
    uint8_t spki[256];
    size_t spki_len;
    struct gmc_crypto crypto;
    struct gmc_crypto_cheap *cheap;
    struct gmc_crypto_openssl *openssl;
    struct gmc_trace_sink sink;
    struct sim_host_counters count;
    /* Faults planted at the gateway's border, for canary runs; may be NULL. Sees each datagram that
     * leaves, and may change it; false drops it. */
    bool (*tamper)(void *ctx, struct sim_host *host, struct gmc_dgram_out *out);
    void *tamper_ctx;
};

struct sim_host *sim_host_new(struct sim_world *world, uint32_t id, const char *name);
void sim_host_free(struct sim_host *host);

/* Before the first start; else clocks are drawn, or exact, and disks and costs as the world has
 * them. Disks and costs can change later too. */
void sim_host_set_clock(struct sim_host *host, const struct sim_clock *clock);
void sim_host_set_disk(struct sim_host *host, const struct sim_disk_config *config);
void sim_host_set_cpu(struct sim_host *host, const struct sim_cpu_config *config);

/* Starts the gateway with what the disk saved. */
void sim_host_start(struct sim_host *host);
/* Ends it without a word: killed, or by a loss of power (then peers are told nothing). */
void sim_host_crash(struct sim_host *host, enum sim_crash crash);
/* Stops the process as SIGSTOP does, or lets it go on. Its connections stay open. Datagrams that
 * arrive meanwhile wait in the socket's buffer and are lost when it is full; so do segments, which
 * are not acknowledged before it goes on; news of sessions waits. */
void sim_host_freeze(struct sim_host *host, bool frozen);
/* The disk answers nothing, or does again: neither a restart nor a process that goes on helps. */
void sim_host_stall_disk(struct sim_host *host, bool stalled);
/* What the host's own clock shows. */
gmc_time sim_host_now(const struct sim_host *host);

/* After a call into the gateway from outside: takes its outputs. */
void sim_host_drain(struct sim_host *host);

/* What the network and the sessions bring. */
bool sim_host_on_segment(struct sim_host *host, struct sim_packet *packet); /* true: taken */
bool sim_host_on_packet(struct sim_host *host, struct sim_packet *packet);  /* true: taken */
void sim_host_expect(struct sim_host *host, gmc_time when); /* a datagram, which it collects */
void sim_host_on_stream(struct sim_host *host, uint32_t peer, struct gmc_bytes bytes);
void sim_host_on_session(struct sim_host *host, uint32_t peer, const struct gmc_session *session);
void sim_host_on_session_end(struct sim_host *host, uint32_t peer, enum gmc_peer_event event,
                             const char *reason);

/* The gateway's number for another host, and back (SIM_NO_HOST). */
gmc_peer sim_host_peer(struct sim_host *host, uint32_t other);
uint32_t sim_host_of_peer(struct sim_host *host, gmc_peer peer);

#endif
