/* SPDX-License-Identifier: BSD-2-Clause */
/* Attaching to a parent and changing it: whom to ask next, when to give up, when a parent that
 * was found would close a loop.
 *
 * Rules
 *  1. The candidates are the ancestors of this gateway in the channel's record, parent first, the
 *     source last. A redirect puts one more domain in front, once.
 *  2. A candidate whose link is up is asked at once; one whose link is not up is asked to come up
 *     and has GMC_OVERLAY_CONNECT to do so; before this gateway was ever attached
 *     GMC_OVERLAY_CONNECT_FIRST, for nothing is lost yet and handshakes may meet loss, unless it
 *     is said that there is no handshake to wait for.
 *     A candidate that says "not yet" is asked again every GMC_OVERLAY_BUSY_WAIT, so often.
 *  3. A candidate that does not answer within GMC_OVERLAY_ANSWER, or GMC_OVERLAY_ANSWER_TRIPS round
 *     trips of its link where these are longer, refuses, or announces a path that contains this
 *     gateway, is passed over for the next one.
 *  4. After the last candidate the round begins again, after a wait that doubles from 100 ms to
 *     2 s, drawn between half and all of it.
 *  5. When the parent's link dies, the candidates behind it are tried first (grandparent first).
 *     A parent that is silent on a link that lives is left for them, if there are any, and one that
 *     turns out to be below: it tells when what stands above it changes.
 *  6. New ancestors among which the present parent is keep the attachment; otherwise the first of
 *     them is the candidate at once.
 *  7. A gateway that is attached further up, because the link to its parent was not there in time,
 *     looks every GMC_OVERLAY_RETURN whether it is now, and then asks the parent; after each time
 *     that this did not help it waits twice as long, up to 64 times. A wire that was cut for a
 *     while is not to cost a second copy to the end. When the link was there and that parent was
 *     left, or let go, the first wait is GMC_OVERLAY_RETURN_LEFT: who fell silent or sent what is
 *     wrong may do so again. Between nodes of a domain it is GMC_OVERLAY_RETURN_NODE, and there
 *     alone: other parents are found by their gateway.
 */
#ifndef GMC_CORE_OVERLAY_H
#define GMC_CORE_OVERLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/prng.h"
#include "base/status.h"
#include "base/time.h"
#include "core/io.h"

#define GMC_OVERLAY_CONNECT GMC_MS(700)
#define GMC_OVERLAY_CONNECT_FIRST GMC_S(4)
#define GMC_OVERLAY_ANSWER GMC_MS(1500)
#define GMC_OVERLAY_ANSWER_TRIPS 3u /* one for the answer; question or answer may be lost */
#define GMC_OVERLAY_BUSY_WAIT GMC_MS(40)
#define GMC_OVERLAY_BUSY_MAX 50u
#define GMC_OVERLAY_RETURN GMC_S(1)
#define GMC_OVERLAY_RETURN_LEFT GMC_S(10)
#define GMC_OVERLAY_RETURN_NODE GMC_MS(500)
#define GMC_OVERLAY_DEPTH_MAX 64

enum gmc_overlay_state {
    GMC_OVERLAY_IDLE,       /* not wanted (not ready, or complete without children) */
    GMC_OVERLAY_CONNECTING, /* waits for the candidate's link */
    GMC_OVERLAY_ASKING,     /* ATTACH is on its way */
    GMC_OVERLAY_ATTACHED,
    GMC_OVERLAY_RESTING /* between two rounds */
};

struct gmc_overlay {
    enum gmc_overlay_state state;
    gmc_peer ancestors[GMC_OVERLAY_DEPTH_MAX]; /* parent first, source last */
    size_t depth;
    size_t at;          /* index of the candidate */
    gmc_peer redirect;  /* GMC_PEER_NONE if none; asked instead of ancestors[at] */
    uint32_t redirects; /* taken in this round */
    gmc_time until;     /* of the present state */
    uint32_t rounds;    /* without success */
    uint32_t busy;      /* answers "not yet" of this candidate */
    uint32_t returns;   /* to the first ancestor */
    bool left_first;    /* it was the parent, and was left over a link that lives */
    bool was_attached;  /* ever */
    bool no_handshake;  /* candidates are nodes of this domain, whose sessions are there already */
    struct gmc_prng prng;
};

/* What the composition has to do after an input. */
enum gmc_overlay_action {
    GMC_OVERLAY_NOTHING,
    GMC_OVERLAY_WANT_LINK, /* to gmc_overlay_candidate: a session is wanted */
    GMC_OVERLAY_ASK        /* send ATTACH to gmc_overlay_candidate */
};

void gmc_overlay_init(struct gmc_overlay *overlay, const struct gmc_prng *prng);
/* New ancestors (a new record); keeps an attachment to one of them, false if it was dropped. */
bool gmc_overlay_set_ancestors(struct gmc_overlay *overlay, const gmc_peer *ancestors,
                               size_t depth);
/* Begin (or begin anew at the first candidate). */
void gmc_overlay_start(struct gmc_overlay *overlay, gmc_time now);
void gmc_overlay_stop(struct gmc_overlay *overlay);
/* Asks the parent once more, to tell it everything anew; nothing to do unless attached. */
void gmc_overlay_again(struct gmc_overlay *overlay, gmc_time now);
gmc_peer gmc_overlay_candidate(const struct gmc_overlay *overlay);
/* The parent; GMC_PEER_NONE unless attached. */
gmc_peer gmc_overlay_parent(const struct gmc_overlay *overlay);
/* The one behind the parent, to keep a standby session with; GMC_PEER_NONE. */
gmc_peer gmc_overlay_standby(const struct gmc_overlay *overlay);

/* Call after start, after every input, and at the deadline; link_up: of the candidate, and its
 * round trip, 0 not known. */
enum gmc_overlay_action gmc_overlay_step(struct gmc_overlay *overlay, gmc_time now, bool link_up,
                                         gmc_duration rtt);
gmc_time gmc_overlay_deadline(const struct gmc_overlay *overlay);

/* Rule 7: whether it is time to look at the link to the first ancestor, ask gmc_overlay_first, and
 * what was seen: with link_up the parent is left, and is to be told so before. */
bool gmc_overlay_return_is_due(const struct gmc_overlay *overlay, gmc_time now);
gmc_peer gmc_overlay_first(const struct gmc_overlay *overlay);
void gmc_overlay_return(struct gmc_overlay *overlay, gmc_time now, bool link_up);

/* The candidate accepted, or the parent tells what stands above it now; LOOP when that path
 * contains self: the next candidate is taken then. STATE from anybody else. */
GMC_NODISCARD gmc_status gmc_overlay_on_attached(struct gmc_overlay *overlay, gmc_time now,
                                                 gmc_peer from, const gmc_peer *path,
                                                 size_t path_len, gmc_peer self);
/* The candidate refused; redirect is whom it named, or GMC_PEER_NONE. not_yet: it asks to be
 * asked again. */
void gmc_overlay_on_refused(struct gmc_overlay *overlay, gmc_time now, gmc_peer from,
                            gmc_peer redirect, bool not_yet);
/* The link to the parent or candidate is dead. True if it was the parent. */
bool gmc_overlay_on_lost(struct gmc_overlay *overlay, gmc_time now, gmc_peer who);
/* Over a link that lives: it detached us, or we it. True if it was the parent. */
bool gmc_overlay_on_let_go(struct gmc_overlay *overlay, gmc_time now, gmc_peer who);
/* Nothing is heard from the parent, which may be dead. True if it was left for another one. */
bool gmc_overlay_on_silent(struct gmc_overlay *overlay, gmc_time now, gmc_peer who);

#endif
