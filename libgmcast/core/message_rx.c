/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets to messages: a window of held packets, looked at from its lower end or, where order does
 * not matter, around the packet that came. */
#include "core/message_rx.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

enum state { MISSING, UNPROVEN, HELD, DONE /* came out, or is lost */ };

struct gmc_message_held {
    uint8_t state;
    bool has_hash; /* whatever its state: it was proven what it is */
    bool passes;   /* part of no message */
    uint32_t len;  /* with the head */
    struct gmc_message_head head;
    uint8_t hash[GMC_PROOF_HASH_BYTES];
};

uint32_t gmc_message_window(uint32_t packet_bytes)
{
    uint32_t window = GMC_MESSAGE_WINDOW_PACKETS;
    while ((uint64_t)window * packet_bytes > GMC_MESSAGE_WINDOW_BYTES)
        window /= 2;
    return window;
}

void gmc_message_rx_init(struct gmc_message_rx *rx, enum gmc_message_order order,
                         uint32_t packet_bytes,
                         void (*hash)(const uint8_t *, size_t, uint8_t out[32]))
{
    GMC_ASSERT(packet_bytes >= GMC_MESSAGE_PACKET_MIN && packet_bytes <= 65536);
    *rx = (struct gmc_message_rx){.order = order, .packet_bytes = packet_bytes, .hash = hash};
    rx->window = gmc_message_window(packet_bytes);
}

void gmc_message_rx_fini(struct gmc_message_rx *rx)
{
    free(rx->held);
    free(rx->bytes);
    free(rx->joined);
    rx->held = NULL;
    rx->bytes = rx->joined = NULL;
    rx->joined_capacity = 0;
}

static struct gmc_message_held *held_of(const struct gmc_message_rx *rx, uint64_t number)
{
    return &rx->held[number & (rx->window - 1)];
}

static uint8_t *bytes_of(const struct gmc_message_rx *rx, uint64_t number)
{
    return rx->bytes + (number & (rx->window - 1)) * (size_t)rx->packet_bytes;
}

static bool is_in_window(const struct gmc_message_rx *rx, uint64_t number)
{
    return number >= rx->base && number - rx->base < rx->window;
}

static bool is_held(const struct gmc_message_rx *rx, uint64_t number)
{
    return rx->held != NULL && is_in_window(rx, number) && held_of(rx, number)->state == HELD;
}

static void set_state(struct gmc_message_rx *rx, struct gmc_message_held *held, enum state state)
{
    if (held->state == UNPROVEN)
        rx->unproven--;
    if (state == UNPROVEN)
        rx->unproven++;
    held->state = (uint8_t)state;
}

/* Its place in the window is that of a later one now. */
static void leave(struct gmc_message_rx *rx, uint64_t number)
{
    struct gmc_message_held *held = held_of(rx, number);
    set_state(rx, held, MISSING);
    held->has_hash = held->passes = false;
}

/* Not ordered: nothing is waited for with the lowest packet. It came out, or the beginning of its
 * message is below, which is lost then: else this packet would have come out with it. */
static bool is_lowest_over(const struct gmc_message_rx *rx)
{
    const struct gmc_message_held *held = held_of(rx, rx->base);
    return held->state == DONE || (held->state == HELD && !held->head.first);
}

/* Everything below is done with. */
static void advance(struct gmc_message_rx *rx, uint64_t base)
{
    uint64_t end = base - rx->base < rx->window ? base : rx->base + rx->window;
    for (uint64_t n = rx->base; rx->held != NULL && n < end; n++)
        leave(rx, n);
    rx->base = base;
    while (rx->order != GMC_MESSAGES_ORDERED && rx->held != NULL && is_lowest_over(rx))
        leave(rx, rx->base++);
    if (rx->whole < rx->base)
        rx->whole = rx->base;
    if (rx->top < rx->base)
        rx->top = rx->base;
}

void gmc_message_rx_rest(struct gmc_message_rx *rx)
{
    bool any_out = false;
    free(rx->bytes);
    free(rx->joined);
    rx->bytes = rx->joined = NULL;
    rx->joined_capacity = 0;
    /* The proofs of what is wanted again may have come out, so their hashes stay. */
    for (uint64_t n = 0; rx->held != NULL && n < rx->window; n++) {
        if (rx->held[n].state != DONE)
            set_state(rx, &rx->held[n], MISSING);
        else
            any_out = true;
    }
    if (!any_out) {
        free(rx->held);
        rx->held = NULL;
    }
    rx->whole = rx->base;
    rx->is_ready = false;
    rx->look = rx->look_end = rx->base;
}

/* ---- packets in ---- */
gmc_status gmc_message_rx_room(struct gmc_message_rx *rx, uint64_t number, uint8_t **room)
{
    if (rx->based && number < rx->base)
        return GMC_ERR_EXISTS;
    if (!rx->based || !is_in_window(rx, number))
        return GMC_ERR_FULL;
    if (rx->held == NULL)
        rx->held = calloc(rx->window, sizeof(*rx->held));
    if (rx->bytes == NULL)
        rx->bytes = malloc((size_t)rx->window * rx->packet_bytes);
    if (rx->held == NULL || rx->bytes == NULL)
        return GMC_ERR_NOMEM;
    if (held_of(rx, number)->state != MISSING)
        return GMC_ERR_EXISTS;
    *room = bytes_of(rx, number);
    return GMC_OK;
}

/* Around a packet that came: the message that is whole with it, from its first packet on. */
static bool find_around(const struct gmc_message_rx *rx, uint64_t number, uint64_t *first)
{
    uint64_t lo = number, hi = number;
    while (is_held(rx, lo) && !held_of(rx, lo)->head.first && lo > rx->base)
        lo--;
    while (is_held(rx, hi) && !held_of(rx, hi)->head.last)
        hi++;
    *first = lo;
    return is_held(rx, lo) && held_of(rx, lo)->head.first && is_held(rx, hi);
}

/* The end comes out behind all others, in any order; behind the newest, where that alone counts. */
static bool is_early_end(const struct gmc_message_rx *rx, uint64_t number)
{
    return held_of(rx, number)->head.end && number > rx->base;
}

static void look_for_end(struct gmc_message_rx *rx)
{
    if (rx->order == GMC_MESSAGES_ORDERED || !is_held(rx, rx->base) ||
        !held_of(rx, rx->base)->head.end)
        return;
    rx->ready = rx->base;
    rx->is_ready = true;
}

static bool fits(const struct gmc_message_rx *rx, uint64_t number, size_t len)
{
    uint8_t hash[32];
    rx->hash(bytes_of(rx, number), len, hash);
    return memcmp(hash, held_of(rx, number)->hash, GMC_PROOF_HASH_BYTES) == 0;
}

/* Messages may be whole around these packets. */
static void look_at(struct gmc_message_rx *rx, uint64_t from, uint64_t end)
{
    rx->look = from > rx->base ? from : rx->base;
    rx->look_end = end;
}

gmc_status gmc_message_rx_put(struct gmc_message_rx *rx, uint64_t number, size_t len,
                              bool is_proven)
{
    GMC_ASSERT(is_in_window(rx, number) && len <= rx->packet_bytes);
    struct gmc_message_held *held = held_of(rx, number);
    if (!is_proven && held->has_hash) {
        if (!fits(rx, number, len))
            return GMC_ERR_AUTH;
        is_proven = true;
    }
    gmc_status status = gmc_message_head_get(gmc_bytes(bytes_of(rx, number), len), &held->head);
    /* What the source should not have sealed stands for a packet of no message. */
    if (status != GMC_OK)
        held->head = (struct gmc_message_head){.first = true, .sequence = UINT64_MAX};
    held->passes = status != GMC_OK;
    held->len = (uint32_t)len;
    set_state(rx, held, is_proven ? HELD : UNPROVEN);
    if (number >= rx->top) {
        rx->top = number + 1;
        if (status == GMC_OK && held->head.first && !held->head.end)
            rx->newest = number;
    }
    look_at(rx, number, number + 1);
    return status;
}

void gmc_message_rx_pass(struct gmc_message_rx *rx, uint64_t number)
{
    GMC_ASSERT(is_in_window(rx, number));
    struct gmc_message_held *held = held_of(rx, number);
    held->passes = true;
    set_state(rx, held, rx->order == GMC_MESSAGES_ORDERED ? HELD : DONE);
    if (number >= rx->top)
        rx->top = number + 1;
    advance(rx, rx->base);
    look_for_end(rx);
}

gmc_status gmc_message_rx_prove(struct gmc_message_rx *rx, const struct gmc_proof *proof)
{
    gmc_status status = GMC_OK;
    GMC_ASSERT(rx->held != NULL); /* it came as a packet */
    for (uint32_t i = 0; i < proof->count; i++) {
        uint64_t number = proof->first + i;
        if (!is_in_window(rx, number))
            continue;
        struct gmc_message_held *held = held_of(rx, number);
        memcpy(held->hash, proof->hashes.data + (size_t)i * GMC_PROOF_HASH_BYTES,
               GMC_PROOF_HASH_BYTES);
        held->has_hash = true;
        if (held->state != UNPROVEN)
            continue;
        if (fits(rx, number, held->len))
            set_state(rx, held, HELD);
        else
            status = GMC_ERR_AUTH;
    }
    look_at(rx, proof->first, proof->first + proof->count);
    return status;
}

uint64_t gmc_message_rx_next_unproven(const struct gmc_message_rx *rx, uint64_t from)
{
    uint64_t n = from > rx->base ? from : rx->base;
    for (; rx->unproven > 0 && n < rx->base + rx->window; n++)
        if (held_of(rx, n)->state == UNPROVEN)
            return n;
    return UINT64_MAX;
}

uint64_t gmc_message_rx_overdue(const struct gmc_message_rx *rx)
{
    uint64_t first = gmc_message_rx_next_unproven(rx, 0);
    for (uint64_t n = first; first != UINT64_MAX && is_in_window(rx, n); n++) {
        const struct gmc_message_held *held = held_of(rx, n);
        if (held->state == MISSING)
            return UINT64_MAX;
        if (held->head.last || (n > first && (held->head.first || held->passes)))
            break;
    }
    return first;
}

void gmc_message_rx_drop_unproven(struct gmc_message_rx *rx)
{
    for (uint32_t i = 0; rx->unproven > 0 && i < rx->window; i++)
        if (rx->held[i].state == UNPROVEN)
            set_state(rx, &rx->held[i], MISSING);
    rx->floor = rx->base; /* was said of these too */
}

/* ---- messages out ---- */
/* The packets [first, last] as one message; false when they are none. */
static bool join(struct gmc_message_rx *rx, uint64_t first, uint64_t last,
                 struct gmc_message *message)
{
    const struct gmc_message_head *head = &held_of(rx, first)->head;
    size_t len = 0;
    for (uint64_t n = first; n <= last; n++) {
        const struct gmc_message_held *held = held_of(rx, n);
        if (held->passes || held->head.sequence != head->sequence ||
            held->head.first != (n == first))
            return false;
        len += held->len - GMC_MESSAGE_HEAD_BYTES;
    }
    if (len > GMC_MESSAGE_BYTES_MAX)
        return false;
    *message = (struct gmc_message){.sequence = head->sequence, .end = head->end};
    message->body = gmc_bytes(bytes_of(rx, first) + GMC_MESSAGE_HEAD_BYTES, len);
    if (first == last)
        return true;
    if (rx->joined_capacity < len) {
        uint8_t *grown = realloc(rx->joined, len);
        if (grown == NULL)
            return false;
        rx->joined = grown;
        rx->joined_capacity = len;
    }
    uint8_t *to = rx->joined;
    for (uint64_t n = first; n <= last; n++) {
        size_t part = held_of(rx, n)->len - GMC_MESSAGE_HEAD_BYTES;
        memcpy(to, bytes_of(rx, n) + GMC_MESSAGE_HEAD_BYTES, part);
        to += part;
    }
    message->body.data = rx->joined;
    return true;
}

static void came_out(struct gmc_message_rx *rx, const struct gmc_message *message)
{
    rx->delivered++;
    if (message->sequence >= rx->next_sequence)
        rx->next_sequence = message->sequence + 1;
}

/* What waits for its proof just below the floor: the proof comes from above it. One that lies in a
 * gap below will not come, with which the floor is what counts. */
static uint64_t first_unproven_at_floor(const struct gmc_message_rx *rx)
{
    uint64_t first = rx->floor;
    if (rx->unproven == 0 || rx->floor <= rx->base || !is_in_window(rx, rx->floor - 1))
        return first;
    for (uint64_t n = rx->floor; n > rx->base && held_of(rx, n - 1)->state != MISSING; n--)
        if (held_of(rx, n - 1)->state == UNPROVEN)
            first = n - 1;
    return first;
}

/* What is missing below the floor is passed over, with the message that it is of; what is whole
 * there still comes out. */
static bool pass_over(struct gmc_message_rx *rx)
{
    if (rx->whole >= first_unproven_at_floor(rx))
        return false;
    advance(rx, rx->whole < rx->top ? rx->whole + 1 : rx->floor);
    return true;
}

static bool next_ordered(struct gmc_message_rx *rx, struct gmc_message *message)
{
    while (is_held(rx, rx->whole) || pass_over(rx)) {
        if (!is_held(rx, rx->whole))
            continue;
        uint64_t last = rx->whole++;
        const struct gmc_message_head *head = &held_of(rx, last)->head;
        if (held_of(rx, last)->passes) {
            advance(rx, last + 1);
            continue;
        }
        /* A message that begins anew says that the one before it has no end; what does not begin
         * lost its beginning. */
        if (head->first && rx->base < last)
            advance(rx, last);
        if (!held_of(rx, rx->base)->head.first) {
            advance(rx, last + 1);
            continue;
        }
        if (!head->last)
            continue;
        bool is_message =
            join(rx, rx->base, last, message) && message->sequence >= rx->next_sequence;
        advance(rx, last + 1);
        if (is_message) {
            came_out(rx, message);
            return true;
        }
    }
    return false;
}

static bool find_next(struct gmc_message_rx *rx)
{
    while (!rx->is_ready && rx->look < rx->look_end) {
        uint64_t number = rx->look++;
        rx->is_ready = is_held(rx, number) && find_around(rx, number, &rx->ready) &&
                       !is_early_end(rx, rx->ready);
    }
    return rx->is_ready;
}

/* The message that begins at `ready`; false: it is none, or old. */
static bool take_ready(struct gmc_message_rx *rx, struct gmc_message *message)
{
    rx->is_ready = false;
    uint64_t last = rx->ready;
    while (!held_of(rx, last)->head.last)
        last++;
    bool is_message = join(rx, rx->ready, last, message);
    if (is_message && rx->order == GMC_MESSAGES_LATEST && message->sequence < rx->next_sequence)
        is_message = false;
    for (uint64_t n = rx->ready; n <= last; n++)
        set_state(rx, held_of(rx, n), DONE);
    /* Behind the newest nothing is waited for. */
    if (is_message && rx->order == GMC_MESSAGES_LATEST)
        advance(rx, last + 1);
    else
        advance(rx, rx->base);
    look_for_end(rx);
    if (is_message)
        came_out(rx, message);
    return is_message;
}

/* What is not whole below the floor will not be, but for what waits for a proof. */
static bool go_to_floor(struct gmc_message_rx *rx)
{
    uint64_t to = first_unproven_at_floor(rx);
    if (to <= rx->base)
        return false;
    if (to < rx->floor)
        while (to > rx->base && held_of(rx, to)->state != MISSING && !held_of(rx, to)->head.first)
            to--;
    if (to <= rx->base)
        return false;
    advance(rx, to);
    look_for_end(rx);
    return true;
}

static bool next_at_once(struct gmc_message_rx *rx, struct gmc_message *message)
{
    advance(rx, rx->base); /* over what came of a message that has no beginning */
    look_for_end(rx);
    do {
        while (find_next(rx))
            if (take_ready(rx, message))
                return true;
    } while (go_to_floor(rx));
    return false;
}

bool gmc_message_rx_next(struct gmc_message_rx *rx, struct gmc_message *message)
{
    return rx->order == GMC_MESSAGES_ORDERED ? next_ordered(rx, message)
                                             : next_at_once(rx, message);
}

void gmc_message_rx_skip(struct gmc_message_rx *rx, uint64_t floor)
{
    if (!rx->based) {
        rx->based = true;
        rx->base = rx->whole = rx->top = rx->floor = floor;
        return;
    }
    if (floor > rx->floor)
        rx->floor = floor;
}
