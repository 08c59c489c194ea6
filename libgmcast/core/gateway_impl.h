/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the composition (gateway*.c) share: what each of them offers to the
 * others. Their state is in gateway_state.h. Nobody else includes this.
 *
 * The way of a fragment: gateway_link.c takes the datagram to its link; gateway_rx.c opens it,
 * keeps it in the cache and offers it to the children; gateway_tx.c picks what goes out next on
 * each link; gateway_store.c takes whole blocks to the store and brings its answers back.
 */
#ifndef GMC_CORE_GATEWAY_IMPL_H
#define GMC_CORE_GATEWAY_IMPL_H

#include "core/gateway_state.h"

/* gateway.c: peers, outputs, timers */
struct gwpeer *gw_peer(struct gmc_gateway *gw, gmc_peer number);
/* By name; adds it. NULL: no memory, or others have named too many. */
struct gwpeer *gw_peer_by_name(struct gmc_gateway *gw, const char *name);
struct gwpeer *gw_peer_known(const struct gmc_gateway *gw, const char *name); /* adds none; NULL */
uint64_t gw_name_key(const struct gmc_gateway *gw, const char *name);         /* for maps */
void gw_touch(struct gmc_gateway *gw, struct gwpeer *peer);
void gw_set_timer(struct gmc_gateway *gw, struct gwtimer *timer, gmc_time when);
void gw_begin_input(struct gmc_gateway *gw, gmc_time now);
/* When patience ends with somebody who has been silent since then. While this gateway was stopped
 * itself nobody could be heard. */
gmc_time gw_patience_ends(const struct gmc_gateway *gw, gmc_time since);
struct gwout *gw_out(struct gmc_gateway *gw, enum gmc_output_kind kind, gmc_peer peer);
void gw_event(struct gmc_gateway *gw, enum gmc_event_kind kind, const struct gwchannel *ch,
              gmc_peer peer, gmc_status status, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* News of the parent of a stripe. */
void gw_event_parent(struct gmc_gateway *gw, const struct gwchannel *ch,
                     const struct gwstripe *stripe, gmc_peer parent, gmc_status status,
                     const char *format, ...) __attribute__((format(printf, 6, 7)));
void gw_want_session(struct gmc_gateway *gw, struct gwpeer *peer);
void gw_send(struct gmc_gateway *gw, struct gwpeer *peer, const struct gmc_msg *msg);
void gw_text(char *out, size_t len, const char *format, ...) __attribute__((format(printf, 3, 4)));
uint64_t gw_random64(struct gmc_gateway *gw);
uint8_t *gw_copy(struct gmc_bytes bytes); /* never NULL */

/* gateway_uplink.c: what all links share */
void gw_uplink_init(struct gmc_gateway *gw);
void gw_uplink_pay(struct gmc_gateway *gw, size_t udp_payload);
/* When whoever waits for it may send. */
gmc_time gw_uplink_deadline(const struct gmc_gateway *gw);
/* Bytes of an object that have arrived at a peer by what was heard at once. */
struct gwdelivered {
    uint64_t bytes, first; /* in all, and the first packet's */
    gmc_time newest;       /* when the last of them was sent */
    bool was_waiting;      /* there was more for it, before it was heard */
};
void gw_uplink_delivered(struct gmc_gateway *gw, struct gwpeer *peer,
                         const struct gwdelivered *got);
/* What the path to a peer carries, of what arrives, where for three seconds that and not our uplink
 * held back what there was for it; 0: not known. */
uint64_t gw_uplink_path(const struct gmc_gateway *gw, const struct gwpeer *peer);
void gw_uplink_say(const struct gmc_gateway *gw, struct gmc_msg *msg);
/* Of what others say: sums of rates are to fit as well. */
uint64_t gw_rate_bounded(uint64_t rate_bps);
struct gwmeasured gw_uplink_measured(const struct gmc_gateway *gw);
void gw_uplink_heard(struct gmc_gateway *gw, struct gwpeer *peer, const struct gmc_msg *msg);
/* The peer's children wait for their turn. False: they need not, the uplink is not known. */
bool gw_uplink_hold(struct gmc_gateway *gw, struct gwpeer *peer);
bool gw_uplink_is_held(const struct gwpeer *peer);
/* They have nothing to send now, or their link takes nothing. */
void gw_uplink_release(struct gmc_gateway *gw, struct gwpeer *peer);
/* Whose turn it is; NULL when nobody waits, or the uplink is busy. */
struct gwpeer *gw_uplink_next(struct gmc_gateway *gw);
void gw_uplink_sent(struct gmc_gateway *gw, struct gwpeer *peer, size_t bytes);

/* gateway_domain.c: what gateways tell each other of their domains */
void gw_domain_link_up(struct gmc_gateway *gw, struct gwpeer *peer);
/* What a node's path takes has changed, or the group: other gateways are told. */
void gw_domain_review(struct gmc_gateway *gw);
void gw_domain_heard(struct gmc_gateway *gw, struct gwpeer *peer, const struct gmc_msg *msg);

/* gateway_link.c: sessions and datagrams */
void gw_link_drain(struct gmc_gateway *gw, struct gwpeer *peer);
void gw_link_check(struct gmc_gateway *gw, struct gwpeer *peer);
enum gmc_wait gw_peer_wait(const struct gmc_gateway *gw, gmc_time now, const struct gwpeer *peer);
bool gw_pump(struct gmc_gateway *gw, struct gwpeer *peer, struct gmc_output *out);
/* Room for a datagram of so many bytes, or the shell has to take what there is. */
bool gw_has_room(struct gmc_gateway *gw, size_t bytes);
/* The block's bytes are lent to the shell, until the next input. */
void gw_lend(struct gmc_gateway *gw, struct gmc_block *block);
/* Data for the children of the peer, whose turn it is. */
bool gw_pump_data(struct gmc_gateway *gw, struct gwpeer *peer, struct gmc_output *out);
gmc_status gw_on_datagram(struct gmc_gateway *gw, const struct gmc_dgram_in *in);
void gw_on_peer(struct gmc_gateway *gw, const struct gmc_peer_change *change);
/* A link of a new session, in the place of one that there was. to: where its first datagrams go;
 * NULL: where the shell knows that the peer is. False: no memory, or no usable keys. */
bool gw_link_make(struct gmc_gateway *gw, struct gwpeer *peer, const struct gmc_session *session,
                  const struct gmc_addr *to);
void gw_link_close(struct gmc_gateway *gw, struct gwpeer *peer, const char *reason);
void gw_watch_links(struct gmc_gateway *gw);

/* gateway_probe.c: latency rounds */
/* Who takes part, as the message says or the source knows. */
struct gwround_config {
    uint64_t id;
    const uint8_t *key;
    const gmc_peer *participants;
    const uint32_t *numbers; /* NULL: indexes */
    size_t count, self, total;
    struct gmc_bytes mask;
    enum gmc_rates rates;
};
struct gwround *gw_round_new(struct gmc_gateway *gw, struct gwpeer *source,
                             const struct gwround_config *config);
void gw_round_free(struct gwround *round);
/* The longest round trip among those that have a link; others may be as far. */
gmc_duration gw_farthest(struct gmc_gateway *gw, const gmc_peer *participants, size_t count);
void gw_probe_step(struct gmc_gateway *gw);
gmc_time gw_probe_deadline(const struct gmc_gateway *gw);
gmc_status gw_on_echo(struct gmc_gateway *gw, const struct gmc_dgram_in *in, uint8_t kind);
void gw_on_probe(struct gmc_gateway *gw, struct gwpeer *peer, const struct gmc_msg *msg);

/* Within a site a round trip says how busy the hosts were, and not how far apart they are: a tree
 * built of that would be another one each time. */
static inline gmc_duration gw_path_rtt(gmc_duration rtt)
{
    return rtt < GW_SITE_RTT ? GW_SITE_RTT : rtt;
}

/* gateway_measure.c: large groups, of which not every pair is measured */
struct gwsparse;
/* Begin the first round over a list, and the second when the first is over. False: nothing that is
 * not known would be measured, or there is no memory; the tree is built of what is known. */
bool gw_sparse_begin(struct gmc_gateway *gw, struct gwchannel *ch, const gmc_peer *list,
                     size_t count);
bool gw_sparse_next(struct gmc_gateway *gw, struct gwchannel *ch);
/* By the chosen shape; bulk, which looks at every link, as eco. */
gmc_status gw_sparse_place(struct gmc_gateway *gw, struct gwchannel *ch, const gmc_peer *list,
                           size_t n, int32_t *parent);
/* The member's place beside all others as they are; 0: the source. */
int32_t gw_sparse_place_late(struct gmc_gateway *gw, struct gwchannel *ch, gmc_peer late);
void gw_sparse_free(struct gwsparse *sparse);

/* gateway_channel.c: what source and target have in common */
struct gwchannel *gw_channel_find(struct gmc_gateway *gw, const char *source, uint64_t e);
struct gwchannel *gw_channel_new(struct gmc_gateway *gw, const char *source, uint64_t e,
                                 bool is_source);
void gw_channel_free(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_channel_end(struct gmc_gateway *gw, struct gwchannel *ch, enum gmc_channel_state state,
                    bool discard, const char *reason);
/* What has only begun to arrive, of this stripe alone: others' parents will not send it again.
 * NULL: of all. */
void gw_channel_give_up(struct gmc_gateway *gw, struct gwchannel *ch,
                        const struct gwstripe *stripe);
/* Frees a closing channel when nothing is under way for it any more. */
void gw_channel_reap(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_channel_set_object(struct gwchannel *ch, const struct gmc_object *object);
gmc_status gw_channel_set_key(struct gmc_gateway *gw, struct gwchannel *ch,
                              const uint8_t secret[GMC_KEY_BYTES]);
gmc_status gw_channel_set_source_key(struct gmc_gateway *gw, struct gwchannel *ch,
                                     struct gmc_bytes spki);
gmc_status gw_channel_set_record(struct gmc_gateway *gw, struct gwchannel *ch,
                                 const struct gmc_place *place);
void gw_channel_new_epoch(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_channel_on_link_up(struct gmc_gateway *gw, struct gwpeer *peer);
void gw_channel_on_silent(struct gmc_gateway *gw, struct gwpeer *peer);
void gw_channel_on_link_down(struct gmc_gateway *gw, struct gwpeer *peer);
void gw_channel_on_refused(struct gmc_gateway *gw, struct gwpeer *peer, const char *reason);
void gw_channel_timer(struct gmc_gateway *gw, struct gwchannel *ch);
gmc_status gw_on_saved(struct gmc_gateway *gw, const struct gmc_saved *saved);
void gw_restart_channels(struct gmc_gateway *gw);
/* gateway_msg.c: control messages */
/* Its children in other domains learn what stands above. */
void gw_tell_path(struct gmc_gateway *gw, struct gwchannel *ch, const struct gwstripe *stripe);
struct gmc_msg gw_about(const struct gwchannel *ch, enum gmc_msg_type type);
void gw_message(struct gmc_gateway *gw, struct gwpeer *peer, struct gmc_bytes bytes);
/* The link broke: what was asked there will not be answered. */
void gw_asked_lost(struct gmc_gateway *gw, const struct gwpeer *peer);
struct gwop *gw_save(struct gmc_gateway *gw, struct gwchannel *ch, const char *name,
                     const uint8_t *bytes, size_t len);
struct gwop *gw_store(struct gmc_gateway *gw, struct gwchannel *ch, enum gmc_store_kind kind,
                      struct gmc_store_op **op);

/* gateway_message.c: message channels, as their source and as a receiver */
bool gw_talk_init(struct gmc_gateway *gw, struct gwchannel *ch, const char *name,
                  enum gmc_message_order order);
void gw_talk_free(struct gmc_gateway *gw, struct gwchannel *ch);
/* What a channel that has ended holds of messages. What status shows stays; and of a receiver that
 * does not have the end where it stands, for its source may only have been silent. */
void gw_talk_reap(struct gmc_gateway *gw, struct gwchannel *ch);
/* The channel, of which nothing has come yet, is the one that ended here `before` the source did.
 */
void gw_talk_go_on(struct gwchannel *ch, struct gwchannel *before);
/* A record says how large packets are, and perhaps that all begins anew. */
void gw_talk_set_record(struct gmc_gateway *gw, struct gwchannel *ch, bool is_new);
/* From this peer, which is the parent. */
gmc_status gw_talk_data(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                        struct gwstripe *stripe, const struct gmc_link_data *data);
/* The next packet of the source: sealed, kept, and offered to children. It consists of these two
 * pieces; what begins a message is the newest one. */
gmc_status gw_talk_seal(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_bytes head,
                        struct gmc_bytes piece, bool is_newest);
void gw_talk_on_skip(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                     uint64_t floor);
/* The channel is over here, perhaps before its last message. */
void gw_talk_over(struct gmc_gateway *gw, struct gwchannel *ch);
/* Says that there is room, if that was asked and is so. */
void gw_talk_look_for_room(struct gmc_gateway *gw, struct gwchannel *ch);

/* gateway_message_pace.c: the pace of publishers */
/* Is there room for a message of so many bytes, or can it be made? */
bool gw_talk_has_room(struct gmc_gateway *gw, struct gwchannel *ch, size_t bytes);

/* gateway_proof.c: who relays messages cannot make any */
/* At the source, before there is a record. */
GMC_NODISCARD gmc_status gw_proof_begin(struct gmc_gateway *gw, struct gwchannel *ch);
/* At a receiver, by the record. */
GMC_NODISCARD gmc_status gw_proof_set_record(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_proof_fini(struct gmc_gateway *gw, struct gwtalk *talk);
/* At the source: a packet of this number is about to be sealed; a message is complete; how many
 * packets and bytes the proofs will take when so many packets more are published. */
GMC_NODISCARD gmc_status gw_proof_note(struct gmc_gateway *gw, struct gwchannel *ch,
                                       uint64_t number, struct gmc_bytes packet);
void gw_proof_message(struct gmc_gateway *gw, struct gwchannel *ch);
size_t gw_proof_room(const struct gwchannel *ch, size_t packets, size_t *bytes);
/* Time to send them, or not to wait for them any more. */
void gw_proof_timer(struct gmc_gateway *gw, struct gwchannel *ch);
/* At a receiver: does it need proofs of what this peer sends? */
bool gw_proof_is_needed(const struct gmc_gateway *gw, const struct gwchannel *ch,
                        const struct gwpeer *peer);
/* A packet came that waits for its proof. */
void gw_proof_wait(struct gmc_gateway *gw, struct gwchannel *ch);
/* What waits may be forged: it is wanted again, from another parent. */
void gw_proof_drop_unproven(struct gmc_gateway *gw, struct gwchannel *ch);
/* A proof came, in the place that it was given. AUTH: the source did not sign it for this number,
 * or it says that a packet is forged. */
GMC_NODISCARD gmc_status gw_proof_take(struct gmc_gateway *gw, struct gwchannel *ch,
                                       uint64_t number, struct gmc_bytes packet, bool is_needed);
/* The parent sends what the source did not: it is left, and nothing that it sent is kept. */
void gw_proof_forged(struct gmc_gateway *gw, struct gwchannel *ch, struct gwstripe *stripe,
                     const char *what);

/* gateway_inbox.c: messages that go to the shell */
void gw_inbox_begin_input(struct gmc_gateway *gw);
void gw_inbox_put(struct gmc_gateway *gw, const struct gwchannel *ch,
                  const struct gmc_message *message);
bool gw_inbox_next(struct gmc_gateway *gw, struct gmc_output *out);

/* gateway_message_tx.c: its packets to children */
void gw_hearer_attached(struct gmc_gateway *gw, struct gwchild *child, uint64_t next);
void gw_hearers_offer(struct gmc_gateway *gw, struct gwchannel *ch, uint64_t number);
/* A newer message begins with this packet, which is not offered yet: who has a part of the one
 * before gets the rest. */
void gw_hearers_set_newest(struct gwchannel *ch, uint64_t number);
/* They ask anew, and say what they lack. */
void gw_hearers_detach(struct gmc_gateway *gw, struct gwchannel *ch, gmc_status status,
                       const char *text);
/* No packet below that is not here will come here. */
void gw_hearers_skip(struct gmc_gateway *gw, struct gwchannel *ch, uint64_t floor);
void gw_hearer_fate(struct gmc_gateway *gw, struct gwchild *child, uint64_t number, bool acked);
bool gw_hearers_send(struct gmc_gateway *gw, struct gwpeer *peer, struct gmc_dgram_out *out);
bool gw_hearers_waiting(const struct gwpeer *peer);
/* The lowest packet at hand that it was not sent, or that it may not have got; UINT64_MAX: none. */
uint64_t gw_hearer_lacks(const struct gwchild *child, bool flying_too);

/* gateway_stripe.c: which blocks are here of each stripe, and whose parent somebody is */
void gw_stripes_init(struct gwchannel *ch);
void gw_stripes_fini(struct gwchannel *ch);
/* Once, from one to several; otherwise INVALID. NOMEM. */
gmc_status gw_stripes_set(struct gwchannel *ch, uint32_t count);
struct gwstripe *gw_stripe_of(struct gwchannel *ch, uint64_t block);
/* Something that a child lacks is here: from this index on it is looked for. */
void gw_child_search(struct gwchild *child, uint64_t index);
gmc_status gw_seen_add(struct gwchannel *ch, uint64_t first, uint64_t end);
void gw_seen_remove(struct gwchannel *ch, uint32_t number);
void gw_seen_clear(struct gwchannel *ch);
bool gw_seen(struct gwchannel *ch, uint32_t number);
uint64_t gw_seen_end(const struct gwchannel *ch); /* one above the highest; 0: none */
gmc_peer gw_stripe_server(const struct gwstripe *stripe);
bool gw_is_attached(const struct gwchannel *ch);
bool gw_stripe_is_first_of(const struct gwchannel *ch, uint32_t stripe, gmc_peer peer);

/* gateway_rx.c: fragments in, whole blocks */
gmc_status gw_rx_data(struct gmc_gateway *gw, struct gwpeer *peer,
                      const struct gmc_link_data *data);
/* A fragment of the channel from wherever it is. stripe: whose parent sent it; NULL: the group. */
gmc_status gw_rx_fragment(struct gmc_gateway *gw, struct gwchannel *ch, struct gwstripe *stripe,
                          const struct gmc_link_data *data);
/* The block as far as it is here, or begun; NULL: it cannot be. */
struct gmc_block *gw_rx_block(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number);
void gw_block_whole(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block);
void gw_block_stored(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block);
/* Unpins a block; at a target, what nobody will be sent from here is forgotten at once. */
void gw_block_unpin(struct gmc_gateway *gw, const struct gwchannel *ch, struct gmc_block *block);
void gw_block_lost(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block,
                   bool blame);
/* The parent sent what is not to be; after some of it, it is left. */
void gw_blame(struct gmc_gateway *gw, struct gwchannel *ch, struct gwstripe *stripe,
              const char *what);
void gw_leave_parent(struct gmc_gateway *gw, struct gwchannel *ch, struct gwstripe *stripe,
                     const char *what);
uint32_t gw_rx_window(const struct gmc_gateway *gw);
void gw_want_block(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number);

/* gateway_page.c: the manifest's pages */
const struct gmc_page *gw_page(struct gwchannel *ch, uint32_t index);
void gw_page_keep(struct gmc_gateway *gw, struct gwchannel *ch, const struct gmc_page *page);
void gw_page_forget(struct gmc_gateway *gw, struct gwchannel *ch);
/* The page, or NULL after having asked the store for it if it is there. */
const struct gmc_page *gw_page_or_load(struct gmc_gateway *gw, struct gwchannel *ch,
                                       uint32_t index);
/* Blocks wait for a page that could not be loaded so far: looks whether it can be now. */
void gw_page_want(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_page_arrived(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_page_written(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t page);
void gw_build_pages(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_build_hashed(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block);
void gw_build_reloaded(struct gmc_gateway *gw, struct gwchannel *ch, const struct gmc_page *page);

/* gateway_tx.c: children */
struct gwchild *gw_child_find(struct gwchannel *ch, const struct gwpeer *peer, uint32_t stripe);
struct gwchild *gw_child_new(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                             uint32_t stripe, uint32_t window, uint16_t handle);
void gw_child_have(struct gwchild *child, const struct gmc_msg_range *ranges, size_t count);
/* The index by which tx knows a block of the child's stripe. */
uint32_t gw_child_index(const struct gwchild *child, uint32_t number);
void gw_child_free(struct gmc_gateway *gw, struct gwchild *child);
void gw_child_fate(struct gmc_gateway *gw, struct gwpeer *peer, const struct gmc_link_fate *fate,
                   struct gwdelivered *got);
void gw_children_offer(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block,
                       uint64_t mask);
/* The child is to have this block before its turn, if it lacks it. */
void gw_child_hurry(struct gmc_gateway *gw, struct gwchild *child, uint32_t number);
void gw_children_touch(struct gmc_gateway *gw, struct gwchannel *ch);
/* The fragments of a block are not here any more. */
void gw_children_out_of_hand(struct gwchannel *ch, uint32_t number);
/* A block without which a receiver can store nothing: a page, or one of the listing. */
bool gw_is_prerequisite(const struct gwchannel *ch, uint32_t number);
bool gw_children_send(struct gmc_gateway *gw, struct gwpeer *peer, struct gmc_dgram_out *out);
bool gw_children_waiting(const struct gwpeer *peer);
/* That have data, at least 1. */
size_t gw_children_sending(const struct gwpeer *peer);
gmc_time gw_children_allowed_at(const struct gmc_gateway *gw, const struct gwpeer *peer);

/* gateway_pass.c: the policy pass_repairs */
/* A child lacks a block that it was sent. Whether the parent is asked for it, so that nothing of it
 * may be sent from here until it has come again. */
bool gw_pass_repair(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number);
/* Is the block to come from the parent once more? */
bool gw_pass_waits(const struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number);
void gw_pass_stored(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number);
void gw_pass_arrived(struct gmc_gateway *gw, struct gwchannel *ch,
                     const struct gmc_link_data *data);
void gw_pass_forget(struct gwchannel *ch);
/* Of so many bytes of a block or of a fragment those that exist. */
_Static_assert(GMC_VIRTUAL_BYTES == GMC_CACHE_VIRTUAL_BYTES, "the cache holds virtual bodies");
_Static_assert(GMC_PAGE_WIRE_BYTES + GMC_CACHE_VIRTUAL_FRAGMENTS * GMC_VIRTUAL_BYTES <=
                   GMC_CACHE_SMALL_BYTES,
               "pages, and virtual blocks whose last fragment is no longer, have small bodies");
static inline uint32_t gw_kept(const struct gmc_gateway *gw, uint32_t len)
{
    return gw->config.virtual_bodies ? gmc_virtual_kept(len) : len;
}
/* Where in a block's bodies a fragment begins. */
static inline size_t gw_fragment_at(const struct gmc_gateway *gw, const struct gwchannel *ch,
                                    uint32_t fragment)
{
    return (size_t)fragment *
           (gw->config.virtual_bodies ? GMC_VIRTUAL_BYTES : ch->object.fragment_bytes);
}

/* gateway_serve.c: blocks back from the store, sealed for children */
struct gwop *gw_block_read(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number,
                           bool for_hash);
void gw_block_was_read(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block);
void gw_block_read_failed(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block,
                          const struct gmc_store_result *result);
/* What could not be read, when it is time. */
void gw_blocks_read_again(struct gmc_gateway *gw, struct gwchannel *ch);
gmc_status gw_block_seal(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block);
void gw_seal_nonce(uint32_t block, uint16_t fragment, uint8_t nonce[GMC_NONCE_BYTES]);
struct gmc_bytes gw_seal_aad(const struct gwchannel *ch, uint32_t block, uint16_t fragment,
                             uint8_t aad[18]);

/* gateway_store.c: answers of the store */
void gw_on_stored(struct gmc_gateway *gw, const struct gmc_store_result *result);

/* gateway_source*.c: this gateway as S */
/* A new channel of ours with these members. Says in words why
 * there is none. */
struct gwchannel *gw_source_new(struct gmc_gateway *gw, const struct gmc_stage_target *targets,
                                size_t count, gmc_status *status, const char **error);
/* All that is to be sent is known, but for the tree. */
void gw_source_probe(struct gmc_gateway *gw, struct gwchannel *ch);
gmc_status gw_say(struct gmc_gateway *gw, const char **error, gmc_status status, const char *text,
                  const char *what) __attribute__((format(printf, 4, 0)));
void gw_source_step(struct gmc_gateway *gw, struct gwchannel *ch);
/* Something happened to one member. A step looks at all of them: in large groups it waits for
 * company. */
void gw_source_soon(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_source_free(struct gmc_gateway *gw, struct gwsource *src);
void gw_source_message(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                       const struct gmc_msg *msg);
void gw_source_reloaded(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_source_join(struct gmc_gateway *gw, struct gwpeer *peer, const struct gmc_msg *msg);
static inline bool gw_source_is_in_record(const struct gwmember *member)
{
    return member->state != GMC_MEMBER_FAILED && !member->closed;
}
/* ---- gateway_home.c ---- */
/* The nodes of this domain that `home` asks for, "" as it is configured, become members. */
gmc_status gw_source_add_nodes(struct gmc_gateway *gw, struct gwchannel *ch, const char *home,
                               const char **error);
/* A peer is a node of this domain, or no longer. */
void gw_source_node_changed(struct gmc_gateway *gw, struct gwchannel *ch,
                            const struct gwpeer *peer);
/* There are members that may attach yet. */
bool gw_source_is_awaited(const struct gmc_gateway *gw, const struct gwchannel *ch);

gmc_status gw_source_add_member(struct gmc_gateway *gw, struct gwchannel *ch, const char *domain,
                                const char *path, const char *inside);
void gw_source_close_members(struct gmc_gateway *gw, struct gwchannel *ch, gmc_status status,
                             const char *reason);
bool gw_source_make_record(struct gmc_gateway *gw, struct gwchannel *ch);
/* Everything that was to be saved is (or could not be, and that was said). */
void gw_source_saved(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_source_save(struct gmc_gateway *gw, struct gwchannel *ch);
/* All members that can be measured, the source first; to be freed. *count is at least 1. */
gmc_peer *gw_source_participants(struct gmc_gateway *gw, const struct gwchannel *ch, size_t *count);
void gw_source_place(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_source_place_late(struct gmc_gateway *gw, struct gwchannel *ch, struct gwmember *late);
/* Other trees for what is left: those that would be made now, if they take at most so much of the
 * time (0: they are not tried), or, with `measured`, by what uplinks have shown since, where the
 * present ones will take `seen` at least. Then the record is to be made anew. */
bool gw_source_place_again(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t fresh_percent,
                           bool measured, uint64_t bytes_left, gmc_duration seen);
/* gateway_trial.c: a member has said how much it has. */
void gw_trial_heard(const struct gmc_gateway *gw, const struct gwchannel *ch,
                    struct gwmember *member);
/* At the present pace of all; 0: it is not known. */
gmc_duration gw_trial_time_left(const struct gwchannel *ch);
/* Bytes of a second that a member gets on with whose only parent has much more; 0: it is not held
 * by that one, or its pace is not known yet. */
uint64_t gw_trial_held_pace(const struct gwchannel *ch, const struct gwmember *member);
/* Other trees may be taken; they are. */
void gw_trial_prepare(struct gwchannel *ch);
void gw_trial_begin(const struct gmc_gateway *gw, struct gwchannel *ch);
/* Members have other places: how fast they get on counts from now. */
void gw_trial_pace_anew(const struct gmc_gateway *gw, struct gwchannel *ch);
/* The trial is over, and members have their places of before: the record is to be made anew. */
bool gw_trial_is_lost(const struct gmc_gateway *gw, struct gwchannel *ch);
bool gw_source_measured(struct gmc_gateway *gw, struct gwchannel *ch);
/* Whether the latencies between all members that are here are known. */
bool gw_source_knows_latencies(struct gmc_gateway *gw, const struct gwchannel *ch);
/* SCAN or REOPEN; gw_source_scanned goes on. */
void gw_source_read_paths(struct gmc_gateway *gw, struct gwchannel *ch, enum gmc_store_kind kind);
/* The transfer begins, or begins again. */
void gw_source_scan(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_source_scanned(struct gmc_gateway *gw, struct gwchannel *ch,
                       const struct gmc_store_result *result);
void gw_source_fail(struct gmc_gateway *gw, struct gwchannel *ch, gmc_status status,
                    const char *reason);
/* Stops what the user may resume: members keep what they have, and wait. */
void gw_source_stop(struct gmc_gateway *gw, struct gwchannel *ch, gmc_status status,
                    const char *reason);
struct gwmember *gw_source_member(struct gwchannel *ch, gmc_peer peer);
gmc_status gw_source_restore(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_bytes saved);
void gw_source_restart(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_source_over(struct gmc_gateway *gw, struct gwpeer *peer, const struct gwchannel *ch,
                    const struct gmc_msg *msg);
void gw_source_member_failed(struct gmc_gateway *gw, struct gwchannel *ch, struct gwmember *member,
                             const char *reason);
void gw_source_link_down(struct gmc_gateway *gw, struct gwchannel *ch, struct gwpeer *peer);

/* gateway_roll.c: who is a member, and how that is proved */
gmc_status gw_place_copy(struct gwplace *place, const struct gmc_place *from); /* NOMEM */
void gw_place_free(struct gwplace *place);
gmc_status gw_record_sign(struct gmc_gateway *gw, const struct gmc_pubkey *key,
                          struct gmc_bytes record, uint8_t *signature, size_t *signature_len);
gmc_status gw_record_verify(struct gmc_gateway *gw, struct gmc_pubkey *key, struct gmc_bytes record,
                            struct gmc_bytes signature);
/* Does the record cover the member? The signature is not looked at. */
bool gw_place_fits(const struct gmc_gateway *gw, const struct gmc_record *record,
                   const struct gmc_place *place);
/* Does the place prove that the domain is a member of the channel, in the epoch that is served? */
bool gw_place_is_of(struct gmc_gateway *gw, const struct gwchannel *ch,
                    const struct gmc_place *place, const char *domain);
/* Of all that are to be in the next record. NOMEM. */
gmc_status gw_roll_make(struct gmc_gateway *gw, struct gwchannel *ch, struct gwroll *roll,
                        uint8_t root[GMC_HASH_BYTES]);
void gw_roll_free(struct gwroll *roll);
/* The place of a member that is recorded. Borrowed from the channel and from `siblings`. */
struct gmc_place gw_roll_place(const struct gwchannel *ch, const struct gwmember *member,
                               uint8_t siblings[GMC_MERKLE_HEIGHT_MAX][GMC_HASH_BYTES]);

/* gateway_target*.c: this gateway as a receiver */
void gw_target_init(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_target_channel(struct gmc_gateway *gw, struct gwpeer *peer, const struct gmc_msg *msg);
void gw_target_step(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_target_message(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                       const struct gmc_msg *msg);
void gw_target_free(struct gwtarget *dst);
/* A node's parent is now dst->tree_parent. is_new: it is to be found (again). */
void gw_target_fed_by_node(struct gmc_gateway *gw, struct gwchannel *ch, bool is_new);
/* Tells whoever thinks that it is our parent, and is not: it would go on sending. */
void gw_target_let_go(struct gmc_gateway *gw, const struct gwchannel *ch,
                      const struct gwstripe *stripe, struct gwpeer *peer);
void gw_target_answered(struct gmc_gateway *gw, struct gwchannel *ch, enum gmc_store_kind kind,
                        const struct gmc_store_result *result);
void gw_target_progress(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_target_fail(struct gmc_gateway *gw, struct gwchannel *ch, gmc_status status,
                    const char *reason);
/* A record that was checked, or saved here. */
gmc_status gw_target_take_record(struct gmc_gateway *gw, struct gwchannel *ch,
                                 const struct gmc_place *place, const uint8_t *secret,
                                 struct gmc_bytes spki);
/* Opens the store; then its layout; and, when it is known what is there, receives. */
void gw_target_open(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_target_layout(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_target_begin(struct gmc_gateway *gw, struct gwchannel *ch);
/* Does the place name this gateway, and does all of it make sense? The signature is checked by
 * whom it came from. */
bool gw_target_place_ok(const struct gmc_gateway *gw, const struct gmc_place *place,
                        const struct gmc_record *record);

/* gateway_node.c: the nodes of this domain */
/* Takes the nodes that the record, or else the configuration, asks for. NOT_FOUND, INVALID, NOMEM
 * with the reason in text. */
/* Words for what the source or the configuration asks for in vain. */
gmc_status gw_nodes_check(const struct gmc_gateway *gw, const char *inside, size_t count,
                          bool is_asked, char *text, size_t size);
gmc_status gw_nodes_choose(struct gmc_gateway *gw, struct gwchannel *ch, char *text, size_t size);
/* The record may ask for more of them than the one before. */
void gw_nodes_grow(struct gmc_gateway *gw, struct gwchannel *ch);
/* It is one of them, was not given up, and is the one that writes where only one does. */
bool gw_node_is_served(const struct gwchannel *ch, const struct gwpeer *peer);
/* Those that were given up are asked again. */
void gw_nodes_resume(struct gmc_gateway *gw, struct gwchannel *ch);
/* How many there are, for people; of nodes that share one file system the writer counts alone.
 * When all have left nobody has what the nodes were to have: then they have failed. */
struct gwnode_counts {
    uint32_t all, verified, failed, left;
};
struct gwnode_counts gw_nodes_count(const struct gwchannel *ch);
/* It has a link, and is not silent nor was lately: others may be fed by it. */
bool gw_node_is_relied_on(const struct gmc_gateway *gw, const struct gwnode *node);
struct gwnode *gw_node_find(const struct gwchannel *ch, const struct gwpeer *peer);
/* Those that are not complete will not be, for this. */
void gw_nodes_give_up(struct gmc_gateway *gw, struct gwchannel *ch, const char *reason);
void gw_nodes_step(struct gmc_gateway *gw, struct gwchannel *ch);
gmc_time gw_nodes_deadline(const struct gmc_gateway *gw, const struct gwchannel *ch);
/* Under a new record all are told anew. */
void gw_nodes_retell(struct gwchannel *ch);
void gw_nodes_link_changed(struct gmc_gateway *gw, struct gwchannel *ch, const struct gwpeer *peer);
void gw_node_message(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                     const struct gmc_msg *msg);
/* Every node has all of it, or is given up. */
bool gw_nodes_are_settled(const struct gwchannel *ch);
/* Who lacks what and why, in words; false when nobody does. */
bool gw_nodes_failed(const struct gwchannel *ch, char *text, size_t size);
/* Who left and why, in words; "" nobody. */
void gw_nodes_left(const struct gwchannel *ch, char *text, size_t size);
void gw_nodes_close(struct gmc_gateway *gw, const struct gwchannel *ch, bool cancelled);
/* A node of a transfer that is over here. */
void gw_node_over(struct gmc_gateway *gw, struct gwpeer *peer, const struct gwchannel *ch,
                  const struct gmc_msg *msg);
/* The domain in whose name this gateway, or node, takes part. */
static inline const char *gw_home(const struct gmc_gateway *gw)
{
    return gw->config.node_of != NULL ? gw->config.node_of : gw->domain;
}

/* gateway_tree.c: the nodes of this domain as a tree */
void gw_tree_step(struct gmc_gateway *gw, struct gwchannel *ch);
/* A node's link came up. */
void gw_tree_link_up(struct gmc_gateway *gw, const struct gwpeer *peer);
/* A node says who feeds it. */
void gw_tree_report(struct gmc_gateway *gw, struct gwchannel *ch, struct gwnode *node,
                    const char *parent);
/* The peer, perhaps a node that feeds others, is silent, or is heard again. */
void gw_tree_silence(struct gmc_gateway *gw, const struct gwpeer *peer);
/* Sessions that no channel needs (any more) are forgotten. */
void gw_tree_over(struct gmc_gateway *gw);
void gw_tree_free(struct gmc_gateway *gw);

/* gateway_stopped.c: nodes that were stopped, across a restart of their gateway */
void gw_stopped_save(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_stopped_restore(struct gwchannel *ch, struct gmc_bytes saved);
/* Whether what was saved before the restart names it. */
bool gw_stopped_has(const struct gwchannel *ch, const char *name);

/* gateway_deaf.c: nodes that do not hear the group, while others do */
void gw_deaf_set(struct gmc_gateway *gw, struct gwchannel *ch, struct gwpeer *peer, bool deaf);
/* The same for this channel alone: it is not asked to hear its group. */
void gw_deaf_count(struct gmc_gateway *gw, struct gwchannel *ch, const struct gwpeer *peer,
                   bool deaf);
/* The next group finds out anew. */
void gw_deaf_forget(struct gwchannel *ch);
bool gw_deaf_any(const struct gwchannel *ch);
/* The node that feeds them, as a parent: one above its index, 0 the gateway. */
uint32_t gw_deaf_helper(const struct gmc_gateway *gw, const struct gwchannel *ch);

/* gateway_suspect.c: which node forges in groups */
/* It is one of several that may have forged. */
bool gw_is_suspect(const struct gmc_gateway *gw, gmc_time now, const struct gwpeer *peer);
/* The node is not to have the key of a group that the channel goes out by. */
bool gw_suspect_is_held(struct gmc_gateway *gw, const struct gwchannel *ch,
                        const struct gwpeer *peer);
/* Somebody forged in a group of the channel, whose key those nodes had that are marked so
 * (gwpeer.had_key); the marks are gone then. */
void gw_suspects_narrow(struct gmc_gateway *gw, const struct gwchannel *ch);

/* gateway_subnet.c: subnets that multicast from here does not reach */
/* A node of the channel can relay. */
bool gw_subnets_are_possible(const struct gmc_gateway *gw, const struct gwchannel *ch);
/* Chooses the relays, and who gets it from which, where that has changed. `wanted`: there may be
 * some. */
void gw_subnets_plan(struct gmc_gateway *gw, struct gwchannel *ch, bool wanted);
/* A node says where it stands. */
void gw_subnet_heard(struct gwpeer *peer, const struct gmc_msg *msg);
/* Multicast from here does (not) come to a node. */
void gw_subnet_reached(struct gmc_gateway *gw, struct gwchannel *ch, struct gwpeer *peer,
                       bool reached);
/* Whether the relay sends to the node by multicast. */
bool gw_subnet_is_by_group(struct gmc_gateway *gw, const struct gwchannel *ch,
                           const struct gwnode *relay, const struct gwnode *node);
/* A relay says that somebody forges in its group. */
void gw_subnet_forged(struct gmc_gateway *gw, const struct gwchannel *ch, const struct gwpeer *peer,
                      const struct gmc_msg *msg);

/* gateway_neighbour.c: a node in that tree */
void gw_on_tree(struct gmc_gateway *gw, const struct gwpeer *peer, struct gwchannel *ch,
                const struct gmc_msg *msg);
bool gw_is_neighbour(const struct gwchannel *ch, const struct gwpeer *peer);
/* Links to those that no channel needs any more end. */
void gw_neighbours_sweep(struct gmc_gateway *gw);

/* gateway_group*.c: the nodes of this domain all at once, by multicast */
void gw_groups_init(struct gmc_gateway *gw);
/* A node attached to the channel: it is to hear it, too. */
void gw_group_attached(struct gmc_gateway *gw, struct gwchannel *ch, struct gwpeer *peer);
/* Other nodes than before are to be reached by this one, a relay. */
void gw_group_review(struct gmc_gateway *gw, struct gwchannel *ch);
/* Whether this node relays, or is relayed to, or gets from another one what it does not hear: the
 * group does not wait for it, and its link is not one of those that are behind. */
void gw_group_relayed(struct gwchannel *ch, const struct gwnode *node);
/* Could its nodes be reached all at once, whatever became of that? */
bool gw_group_is_meant(const struct gmc_gateway *gw, const struct gwchannel *ch);
/* The node's link is gone, or it is no node any more: then others get a new key. */
void gw_group_left(struct gmc_gateway *gw, struct gwchannel *ch, const struct gwpeer *peer,
                   bool is_no_node);
void gw_group_report(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                     const struct gmc_msg *msg);
/* The node said which blocks it has. */
void gw_group_had(struct gmc_gateway *gw, struct gwchannel *ch, const struct gwpeer *peer);
void gw_group_free(struct gmc_gateway *gw, struct gwchannel *ch);
/* The first block from `number` on that the child may be sent over its link, the others being the
 * group's; false: none now. */
bool gw_group_leaves(const struct gmc_gateway *gw, const struct gwchild *child, uint64_t number,
                     uint64_t *free_number);
/* What a child may be sent over its link while the group is busy, bit/s; 0: no bound. */
uint64_t gw_group_share(const struct gmc_gateway *gw, const struct gwchild *child);
/* Nodes were sent so much over their links. */
void gw_group_pay(struct gmc_gateway *gw, size_t udp_payload);
bool gw_groups_send(struct gmc_gateway *gw, struct gmc_output *out);
/* Messages go to this peer: where it is a node, groups keep the port's queue short for a while. */
void gw_groups_yield(struct gmc_gateway *gw, const struct gwpeer *peer);
gmc_time gw_groups_deadline(const struct gmc_gateway *gw);
void gw_groups_step(struct gmc_gateway *gw);

/* gateway_hearing.c, gateway_hear.c: a node that hears a group */
/* Whoever sent that group has nothing to tell this node any more, unless it is the gateway. */
void gw_hearing_parent_changed(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_hear_group(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                   const struct gmc_msg *msg);
gmc_status gw_hear(struct gmc_gateway *gw, const struct gmc_dgram_in *in);
/* A block is in the store. */
void gw_hearing_stored(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number);
/* Something of the group is not the source's: it is told, and left. from: of the datagram that was
 * it; NULL: it was one of many. */
void gw_hearing_forged(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number,
                       const struct gmc_addr *from);
/* What was only begun is given up: nothing is kept for it. */
void gw_hearing_forget(struct gmc_gateway *gw, struct gwchannel *ch);
/* Lets go of the window that is held for longest, of this channel if it has one: its link brings
 * what lacks. False: there is none. */
bool gw_hearing_makes_room(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_hearing_free(struct gmc_gateway *gw, struct gwchannel *ch);
/* How long a HAVE waits for company: the more nodes hear the group, the longer, since each is
 * acknowledged over the port that the group uses. */
gmc_duration gw_hearing_have_wait(const struct gwchannel *ch);
/* A HAVE goes out: what else there is to say goes with it. */
void gw_hearing_company(struct gmc_gateway *gw, struct gwchannel *ch);
gmc_time gw_hearing_deadline(const struct gmc_gateway *gw);
void gw_hearing_step(struct gmc_gateway *gw);

/* gateway_have.c: what a receiver has, counted, and told to its parent */
bool gw_has(const struct gwchannel *ch, uint64_t number);
void gw_have_put(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number);
void gw_have_lose(struct gmc_gateway *gw, struct gwchannel *ch, uint64_t first, uint64_t end);
/* Everything was here, and some of it no longer is: who lacks that would wait for ever. */
bool gw_have_is_spoilt(const struct gwchannel *ch);
/* Takes over a checkpoint. False: there is none that can be used; nothing is there then. */
bool gw_have_load(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_bytes saved,
                  uint64_t *horizon);
/* Sends an ATTACH with all that is here, and HAVEs for what it has no room for. */
void gw_have_tell_all(struct gmc_gateway *gw, struct gwchannel *ch, struct gwpeer *parent,
                      struct gmc_msg *attach);
/* Tells all parents what they were not told yet. */
void gw_have_tell(struct gmc_gateway *gw, struct gwchannel *ch);

/* gateway_resume.c: saved state of a receiver */
void gw_target_save_record(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_target_save_have(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_target_checkpoint(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_target_checkpointed(struct gwchannel *ch, gmc_status status);
gmc_status gw_target_restore(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_bytes saved);
void gw_target_restart(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_target_recheck(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_target_rechecked(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block,
                         const struct gmc_store_result *result);
/* Is it what the manifest says? False also where that is not known now: its page left memory. */
bool gw_target_matches(struct gmc_gateway *gw, struct gwchannel *ch, const struct gmc_block *block,
                       const struct gmc_store_result *result);

/* gateway_doubt.c: is what was stored before a restart still there? */
/* These have to be compared before the transfer ends. False: no memory for that. */
bool gw_doubt_add(struct gmc_gateway *gw, struct gwchannel *ch,
                  const struct gmc_interval_set *doubtful, const char *reason);
void gw_doubt_step(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_doubt_answered(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block,
                       const struct gmc_store_result *result);

#endif
