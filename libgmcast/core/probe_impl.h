/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of a round share, and nobody else includes: probe.c (echoes), probe_train.c (the
 * train that follows them). */
#ifndef GMC_CORE_PROBE_IMPL_H
#define GMC_CORE_PROBE_IMPL_H

#include "base/heap.h"
#include "base/map.h"
#include "core/probe.h"
#include "core/train.h"

#define PROBE_TRIES (2u * GMC_PROBE_SAMPLES) /* echo numbers: first tries, then second tries */

_Static_assert(PROBE_TRIES <= 8, "echo numbers are bits of a byte");

struct target {
    struct gmc_heap_node timer; /* at the first sample that becomes overdue */
    gmc_time sent[PROBE_TRIES];
    gmc_duration rtt_min, rtt_max;
    gmc_time measured;
    gmc_peer peer;
    bool wanted;
    uint8_t asked;    /* echo numbers that went out */
    uint8_t answered; /* of these, those that came back */
    uint8_t given_up; /* samples that were asked twice in vain, or are not to be asked */
    uint8_t served;   /* echo numbers of its own that it got an answer to */
};

struct gmc_probe {
    const struct gmc_crypto *crypto;
    struct gmc_aead *aead;
    uint64_t id;
    struct gmc_prng prng;
    size_t count, self, total;
    size_t samples;        /* of each participant */
    uint32_t *numbers;     /* NULL: indexes */
    struct gmc_map served; /* number + 1 of askers that are not listed -> echo numbers */
    gmc_duration gap;      /* mean distance of echoes */
    gmc_duration patience; /* until an echo is overdue while nothing came back */
    gmc_time end;
    gmc_time next_at;  /* no echo before */
    size_t first_pass; /* first tries that were considered, of samples * (count - 1) */
    size_t open;       /* targets that are not settled */
    bool over;
    struct gmc_heap timers;
    struct gmc_train_out train;
    size_t train_to[GMC_TRAIN_PEERS]; /* indexes */
    struct gmc_train_in **trains;     /* of the others, by index; NULL: none came */
    struct target targets[];
};

/* Writes the fields and their tag. */
GMC_NODISCARD gmc_status gmc_probe_write(const struct gmc_probe *probe, const struct gmc_echo *echo,
                                         uint8_t out[GMC_ECHO_BYTES]);
/* Reads a datagram of the given kind that is for this probe and has the right tag. */
GMC_NODISCARD gmc_status gmc_probe_read(const struct gmc_probe *probe, struct gmc_bytes dgram,
                                        uint8_t kind, struct gmc_echo *echo);

#endif
