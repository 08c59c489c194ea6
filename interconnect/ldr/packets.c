/* SPDX-License-Identifier: BSD-2-Clause */
/* The packet simulator: events, switches with output buffers, measuring. */
#include "interconnect/ldr/packets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interconnect/ldr/packets_internal.h"
#include "interconnect/ldr/packets_place.h"
#include "interconnect/random.h"

#define IN_FLIGHT_PER_HOST 400u /* beyond that nothing will be delivered in time */
#define WARMUP_LEAST 4000u
#define WARMUP_MOST 64u /* times the least */
/* Packets under way, times those before, and how many more of those delivered meanwhile. */
#define GROWTH_SOUND 1.03
#define GROWTH_SURE 1.5
#define GROWTH_PART (1 / 300.0)
#define GROWTHS 2u /* in a row */
#define RISES 2u   /* in a row, at the end */
#define BROADCASTS_LEAST 10u
/* Between what a link is asked for and what it can carry, in standard deviations: below; above,
 * more than of the one with the most. */
#define SURE 3.0
#define SURE_ONE 1.0
#define COULD_LEAST 200.0 /* packets; of fewer chance makes more than a normal distribution's */
#define QUEUE_LEAST 4u    /* packets at a link that may be asked for too much */
#define WATCHED_MOST 16u

/* ---- packets ---- */
/* A packet is one line of the cache. Those that are there keep what they have. */
static bool grow_records(struct packets *sim, size_t wanted)
{
    struct packet *packets = aligned_alloc(LINE_BYTES, wanted * sizeof(*packets));
    struct packet_times *times = realloc(sim->times, wanted * sizeof(*times));
    if (times != NULL)
        sim->times = times;
    if (packets == NULL || times == NULL) {
        free(packets);
        return false;
    }
    if (sim->capacity > 0)
        memcpy(packets, sim->packets, sim->capacity * sizeof(*packets));
    free(sim->packets);
    sim->packets = packets;
    return true;
}

static bool grow(struct packets *sim)
{
    uint64_t most = (uint64_t)sim->network->hosts * IN_FLIGHT_PER_HOST;
    uint64_t wanted = sim->capacity > 0 ? 2 * (uint64_t)sim->capacity : 1024;
    if (sim->capacity >= most || sim->first_packet + wanted >= UINT32_MAX) {
        sim->is_saturated = sim->is_over = true;
        return false;
    }
    if (!grow_records(sim, (size_t)wanted) ||
        ic_calendar_grow(&sim->calendar, sim->first_packet + (uint32_t)wanted) != GMC_OK) {
        sim->status = GMC_ERR_NOMEM;
        sim->is_over = true;
        return false;
    }
    for (uint64_t i = wanted; i-- > sim->capacity;) {
        sim->packets[i].next = sim->free_packet;
        sim->free_packet = (uint32_t)i;
    }
    sim->capacity = (uint32_t)wanted;
    return true;
}

uint32_t ic_packets_take(struct packets *sim)
{
    if (sim->free_packet == NONE && !grow(sim))
        return NONE;
    uint32_t packet = sim->free_packet;
    sim->free_packet = sim->packets[packet].next;
    sim->in_flight++;
    return packet;
}

void ic_packets_drop(struct packets *sim, uint32_t packet)
{
    sim->packets[packet].next = sim->free_packet;
    sim->free_packet = packet;
    sim->in_flight--;
}

/* ---- links ---- */
void ic_packets_send(struct packets *sim, uint32_t packet, uint32_t channel, uint64_t start)
{
    struct packet *p = &sim->packets[packet];
    p->input = channel;
    p->at = channel < sim->first_injection ? sim->network->to[channel]
                                           : sim->network->attached[channel - sim->first_injection];
    p->hops += channel < sim->first_injection;
    /* Tables of a large network are not in the cache; the packet is not there for a while. With
     * bounds it is long enough for this to be lost again: packets_ahead.c. */
    if (p->to != TO_ALL && sim->credits.classes == 0)
        __builtin_prefetch(ic_routes_place(sim->config->routes, p->row, p->at));
    if (start == sim->now)
        ic_calendar_push_in_order(&sim->calendar, ARRIVALS, sim->first_packet + packet,
                                  start + sim->hop);
    else
        ic_calendar_push(&sim->calendar, sim->first_packet + packet, start + sim->hop);
}

static uint64_t backlog(const struct packets *sim, uint32_t channel)
{
    uint64_t free_at = ic_packets_channel(sim, channel)->free_at;
    if (sim->credits.classes > 0)
        return ic_packets_credit_output(sim, channel)->waiting + (free_at > sim->now);
    if (sim->port_inputs != NULL)
        return ic_packets_input_backlog(sim, channel);
    return free_at > sim->now ? free_at - sim->now : 0;
}

/* One of several ports. */
static uint32_t draw_port(struct packets *sim, uint64_t ports)
{
    if ((ports & (ports - 1)) != 0)
        for (uint64_t skipped =
                 gmc_prng_below(&sim->routing, (uint64_t)__builtin_popcountll(ports));
             skipped > 0; skipped--)
            ports &= ports - 1;
    return (uint32_t)__builtin_ctzll(ports);
}

/* Of several with the least, a random one: the first would be crowded by all at low load. */
static uint32_t least_backlog(struct packets *sim, uint32_t first, uint64_t ports)
{
    uint64_t least = UINT64_MAX, best = 0;
    for (; ports != 0; ports &= ports - 1) {
        uint64_t port = ports & (~ports + 1);
        uint64_t now = backlog(sim, first + (uint32_t)__builtin_ctzll(port));
        if (now > least)
            continue;
        best = now < least ? port : best | port;
        least = now;
    }
    return first + draw_port(sim, best);
}

uint32_t ic_packets_route(struct packets *sim, const struct packet *packet, uint64_t ports)
{
    if (ports == 0)
        return sim->first_ejection + packet->to;
    uint32_t first = sim->network->first[packet->at];
    uint32_t best = first + (uint32_t)__builtin_ctzll(ports);
    if (sim->config->routing == IC_FIXED || (ports & (ports - 1)) == 0)
        return best;
    if (sim->config->routing == IC_OBLIVIOUS)
        return first + draw_port(sim, ports);
    return least_backlog(sim, first, ports);
}

/* ---- hosts ---- */
static void create(struct packets *sim, uint32_t host)
{
    const struct ic_packets_config *config = sim->config;
    uint32_t packet = ic_packets_take(sim);
    double wait = config->arrivals == IC_POISSON
                      ? ic_random_exponential(&sim->arrivals, sim->between)
                      : sim->between;
    if (packet == NONE)
        return;
    ic_calendar_push(&sim->calendar, host, sim->now + (uint64_t)wait);
    uint32_t to = ic_traffic_draw(&config->traffic, host, &sim->destinations);
    sim->times[packet].created = sim->now;
    sim->packets[packet] = (struct packet){
        .from = host,
        .to = to,
        .row = (uint32_t)ic_routes_row(config->routes, sim->network->attached[to]),
        .input = NONE,
    };
    if (sim->credits.classes > 0) {
        ic_calendar_push(&sim->calendar, sim->first_packet + packet, sim->now + sim->send);
        return;
    }
    uint64_t start = ic_packets_reserve(sim, sim->first_injection + host, sim->now + sim->send);
    sim->times[packet].entered = start;
    ic_packets_send(sim, packet, sim->first_injection + host, start);
}

/* ---- measuring ---- */
static void begin_measuring(struct packets *sim)
{
    sim->is_measuring = true;
    sim->measured_from = sim->now;
    sim->in_flight_from = sim->in_flight;
    for (uint32_t i = 0; i < sim->channel_count; i++)
        ic_packets_channel(sim, i)->busy = 0;
}

/* Latencies in ps, whole numbers: rounded sums of equal ones would differ. What never settles is
 * saturated when queues have grown all the time; otherwise it is periodic. */
static void warm_up(struct packets *sim, uint64_t latency)
{
    ic_warmup_add(&sim->warmup, (double)latency);
    enum ic_warmup_state state = ic_warmup_state(&sim->warmup);
    if (sim->warmup.count == sim->warmup.at_most / 2)
        sim->in_flight_from = sim->in_flight;
    if (state == IC_WARMUP_FAILED && sim->in_flight > sim->in_flight_from + sim->in_flight_from / 2)
        sim->is_saturated = sim->is_over = true;
    else if (state != IC_WARMUP_GOING)
        begin_measuring(sim);
}

/* While it warms up, too, so that it can be ended then. */
static void tell_progress(struct packets *sim)
{
    uint64_t part = sim->wanted / 100 > 0 ? sim->wanted / 100 : 1;
    uint64_t done = sim->is_measuring ? sim->delivered : sim->warmup.count;
    if (sim->run->on_progress == NULL || done % part != 0)
        return;
    double share = (double)sim->delivered / (double)sim->wanted;
    if (!sim->run->on_progress(sim->run->ctx, share < 1 ? share : 1))
        sim->is_stopped = sim->is_over = true;
}

static void measure(struct packets *sim, uint32_t number, uint64_t delivered)
{
    const struct packet *packet = &sim->packets[number];
    uint64_t created = sim->times[number].created;
    uint64_t entered = sim->times[number].entered - sim->send;
    uint64_t latency = delivered - created;
    if (!sim->is_measuring) {
        warm_up(sim, latency);
        tell_progress(sim);
        return;
    }
    if (sim->is_watching) {
        sim->is_over = ++sim->delivered >= sim->watched_to;
        return;
    }
    ic_mean_add(&sim->latency, (double)latency / PS_PER_NS);
    ic_mean_add(&sim->in_network, (double)(delivered - entered) / PS_PER_NS);
    sim->hops += packet->hops;
    if (sim->run->on_message != NULL) {
        const struct ic_message_record record = {.number = sim->delivered,
                                                 .from = packet->from,
                                                 .to = packet->to,
                                                 .hops = packet->hops,
                                                 .created = (double)created / PS_PER_NS,
                                                 .entered = (double)entered / PS_PER_NS,
                                                 .delivered = (double)delivered / PS_PER_NS};
        sim->run->on_message(sim->run->ctx, &record);
    }
    sim->delivered++;
    tell_progress(sim);
    bool has_broadcasts =
        sim->config->broadcast_packets == 0 || sim->broadcast.latency.count >= BROADCASTS_LEAST;
    if (sim->delivered >= sim->wanted && has_broadcasts)
        sim->is_over = true;
}

void ic_packets_deliver(struct packets *sim, uint32_t packet, uint64_t start)
{
    uint64_t delivered = start + sim->channel + sim->serial + sim->receive;
    if (sim->packets[packet].to == TO_ALL)
        ic_packets_broadcast_deliver(sim, delivered);
    else
        measure(sim, packet, delivered);
    ic_packets_drop(sim, packet);
}

/* ---- events ---- */
static void arrive(struct packets *sim, uint32_t packet)
{
    sim->events++;
    if (sim->packets[packet].to == TO_ALL) {
        ic_packets_broadcast_copy(sim, packet);
        return;
    }
    if (sim->credits.classes > 0) {
        ic_packets_credit_arrive(sim, packet);
        return;
    }
    if (sim->port_inputs != NULL) {
        ic_packets_input_arrive(sim, packet);
        return;
    }
    const struct packet *p = &sim->packets[packet];
    uint32_t channel = ic_packets_route(sim, p, ic_packets_ports(sim, p));
    uint64_t start = ic_packets_reserve(sim, channel, sim->now);
    if (channel >= sim->first_ejection)
        ic_packets_deliver(sim, packet, start);
    else
        ic_packets_send(sim, packet, channel, start);
}

static void step(struct packets *sim, uint32_t event)
{
    sim->now = sim->calendar.now;
    if (event >= sim->first_packet)
        arrive(sim, event - sim->first_packet);
    else if (event == sim->broadcast_event)
        ic_packets_broadcast_begin(sim);
    else if (event >= sim->first_wake)
        ic_packets_credit_wake(sim, event - sim->first_wake);
    else if (event >= sim->first_output && sim->credits.classes > 0)
        ic_packets_credit_release(sim, event - sim->first_output);
    else if (event >= sim->first_output)
        ic_packets_input_release(sim, event - sim->first_output);
    else
        create(sim, event);
}

/* Hosts begin at random within their first interval. A host that would send to itself is silent. */
static uint32_t start_hosts(struct packets *sim)
{
    const struct ic_traffic *traffic = &sim->config->traffic;
    uint32_t senders = 0;
    for (uint32_t i = 0; i < sim->network->hosts; i++) {
        uint64_t begin = (uint64_t)(ic_random_unit(&sim->arrivals) * sim->between);
        if (traffic->pattern != IC_TRAFFIC_UNIFORM && ic_traffic_partner(traffic, i) == i)
            continue;
        ic_calendar_push(&sim->calendar, i, begin);
        senders++;
    }
    return senders;
}

/* ---- a run ---- */
/* Packets per host until queues have forgotten how they began: a queue's relaxation time grows as
 * 1 / (1 - load)^2. */
static uint64_t warmup_length(double load, uint32_t senders)
{
    double each = fmin(fmax(4 / ((1 - load) * (1 - load)), 10), 500);
    double all = each * senders;
    return all > WARMUP_LEAST ? (uint64_t)all : WARMUP_LEAST;
}

static uint64_t ps(double ns)
{
    return (uint64_t)llround(ns * PS_PER_NS);
}

static void set_times(struct packets *sim)
{
    const struct ic_packet_timing *timing = &sim->config->timing;
    sim->serial = ps(ic_packet_serial_ns(timing));
    sim->channel = ps(timing->channel_ns);
    sim->send = ps(timing->send_ns);
    sim->receive = ps(timing->receive_ns);
    sim->store = sim->config->switching == IC_STORE_AND_FORWARD ? sim->serial : 0;
    sim->hop = sim->channel + ps(timing->switch_ns) + sim->store;
    sim->between = (double)sim->serial / sim->config->load;
}

static size_t channel_bytes(const struct packets *sim)
{
    if (sim->config->buffer_packets > 0)
        return ic_packets_credit_bytes(sim);
    return sim->config->buffering == IC_INPUT_BUFFERED ? sizeof(struct port_output)
                                                       : sizeof(struct channel);
}

static gmc_status make_channels(struct packets *sim)
{
    sim->channel_bytes = channel_bytes(sim);
    size_t lines = (sim->channel_count * sim->channel_bytes + LINE_BYTES - 1) / LINE_BYTES;
    sim->channels = aligned_alloc(LINE_BYTES, lines * LINE_BYTES);
    if (sim->channels == NULL)
        return GMC_ERR_NOMEM;
    memset(sim->channels, 0, lines * LINE_BYTES);
    return GMC_OK;
}

static gmc_status make_room(struct packets *sim, char *error)
{
    const struct ic_network *network = sim->network;
    uint32_t channels = ic_network_channels(network), hosts = network->hosts;
    sim->first_injection = channels;
    sim->first_ejection = channels + hosts;
    sim->channel_count = channels + 2 * hosts;
    sim->first_output = hosts;
    sim->first_wake = sim->first_output + sim->channel_count;
    sim->broadcast_event = sim->first_wake + sim->channel_count;
    sim->first_packet = sim->broadcast_event + 1;
    sim->free_packet = sim->releasing = NONE;
    double events = (double)hosts * (sim->config->routes->mean_hops + 2);
    gmc_status status = ic_packets_credit_check(sim, error);
    if (status == GMC_OK)
        status = make_channels(sim);
    if (status == GMC_OK)
        status = ic_packets_input_init(sim);
    if (status == GMC_OK)
        status = ic_packets_credit_init(sim);
    if (status == GMC_OK)
        status = ic_calendar_init(&sim->calendar, sim->first_packet, sim->between / events,
                                  2 * sim->between + (double)sim->hop);
    return status;
}

static void release(struct packets *sim)
{
    ic_packets_broadcast_fini(sim);
    ic_packets_credit_fini(sim);
    ic_calendar_fini(&sim->calendar);
    ic_packets_input_fini(sim);
    free(sim->packets);
    free(sim->times);
    free(sim->channels);
}

gmc_status ic_packets_check(const struct ic_packets_config *config, char *error)
{
    gmc_status status = ic_packet_timing_check(&config->timing, error);
    if (status == GMC_OK)
        status = ic_check_number("the load of a host's link", config->load, 1e-6,
                                 IC_PACKETS_LOAD_MAX, error);
    if (status == GMC_OK)
        status = ic_check_range("the packets of a broadcast", config->broadcast_packets, 0,
                                IC_BROADCAST_PACKETS_MAX, error);
    if (status == GMC_OK)
        status = ic_check_range("the packets of a buffer (0: no bound)", config->buffer_packets, 0,
                                IC_BUFFER_PACKETS_MAX, error);
    if (status != GMC_OK)
        return status;
    if (config->broadcast_hosts > 0)
        status = ic_check_range("the group of a broadcast", config->broadcast_hosts, 2,
                                config->routes->network->hosts, error);
    if (status == GMC_OK && config->broadcast_hosts > 0 && config->broadcast_packets == 0)
        return ic_refuse(error, "a group has no effect without the packets of a broadcast");
    if (status != GMC_OK)
        return status;
    if (config->broadcast_packets > 0 &&
        (config->graph == NULL || config->buffering != IC_OUTPUT_BUFFERED ||
         config->buffer_packets > 0))
        return ic_refuse(error, "broadcasts need a direct network of switches with output buffers "
                                "without bounds");
    return GMC_OK;
}

static void tell_channels(const struct packets *sim)
{
    const struct ic_network *network = sim->network;
    double time = (double)(sim->now - sim->measured_from);
    for (uint32_t i = 0; sim->run->on_channel != NULL && i < sim->channel_count; i++) {
        struct ic_channel_record record = {
            .load = time > 0 ? fmin((double)ic_packets_channel(sim, i)->busy / time, 1) : 0};
        if (i < sim->first_injection) {
            record.what = "link";
            record.from = network->from[i];
            record.to = network->to[i];
        } else if (i < sim->first_ejection) {
            record.what = "injection";
            record.from = i - sim->first_injection;
            record.to = network->attached[record.from];
        } else {
            record.what = "ejection";
            record.to = i - sim->first_ejection;
            record.from = network->attached[record.to];
        }
        sim->run->on_channel(sim->run->ctx, &record);
    }
}

static void sum_up(const struct packets *sim, struct ic_packets_result *result)
{
    double time = (double)(sim->now - sim->measured_from);
    *result = (struct ic_packets_result){
        .latency = ic_mean_value(&sim->latency),
        .network = ic_mean_value(&sim->in_network),
        .broadcast = ic_mean_value(&sim->broadcast.latency),
        .warmup = sim->warmup.count,
    };
    if (sim->delivered == 0 || time <= 0)
        return;
    result->mean_hops = (double)sim->hops / (double)sim->delivered;
    result->throughput =
        (double)sim->delivered * (double)sim->serial / time / (double)sim->network->hosts;
}

static gmc_status go_on(struct packets *sim, char *error)
{
    while (!sim->is_over)
        step(sim, ic_calendar_pop(&sim->calendar));
    if (sim->is_stopped)
        (void)ic_refuse(error, "the simulation was ended");
    return sim->is_stopped ? GMC_ERR_STATE : sim->status;
}

static gmc_status run_all(struct packets *sim, char *error)
{
    gmc_status status = ic_traffic_check_senders(&sim->config->traffic, error);
    if (status != GMC_OK)
        return status;
    uint32_t senders = start_hosts(sim);
    uint64_t warmup = warmup_length(sim->config->load, senders);
    ic_warmup_init(&sim->warmup, warmup, warmup * WARMUP_MOST);
    if (sim->config->broadcast_packets > 0)
        ic_calendar_push(&sim->calendar, sim->broadcast_event, ps(0));
    return go_on(sim, error);
}

/* ---- saturation ---- */
enum verdict { SOUND, SATURATED, OPEN };

/* Each time that as many are delivered as in all times before, those under way are as many as they
 * were, or nearly twice as many. */
static enum verdict judge_growth(struct packets *sim)
{
    double before = (double)sim->in_flight_from, after = sim->in_flight;
    double delivered = (double)(sim->delivered - sim->delivered_from);
    if (sim->delivered < sim->run->watched)
        return OPEN;
    if (after <= GROWTH_SOUND * before)
        return SOUND;
    bool is_sure = after > GROWTH_SURE * before && after - before > GROWTH_PART * delivered;
    sim->growths = is_sure ? sim->growths + 1 : 0;
    return sim->growths >= GROWTHS ? SATURATED : OPEN;
}

/* What it is asked for is counted in what it could have carried meanwhile. Of many links that carry
 * all they are asked for, the one with the most seems to be beyond that by sqrt(2 ln links)
 * standard deviations. */
static enum verdict judge_link(const struct packets *sim, uint32_t i)
{
    const struct channel *link = ic_packets_channel(sim, i);
    double could = (double)(sim->now - sim->measured_from) / (double)sim->serial;
    double asked = (double)link->busy / (double)sim->serial;
    double beyond = SURE_ONE + sqrt(2 * log(sim->channel_count));
    if (link->free_at < sim->now + QUEUE_LEAST * sim->serial || asked + SURE * sqrt(asked) < could)
        return SOUND;
    return could > COULD_LEAST && asked > could + beyond * sqrt(could) ? SATURATED : OPEN;
}

static enum verdict judge(struct packets *sim)
{
    enum verdict verdict = SOUND;
    if (sim->is_saturated)
        return SATURATED;
    if (sim->credits.classes > 0 || sim->port_inputs != NULL)
        return judge_growth(sim);
    for (uint32_t i = 0; i < sim->channel_count && verdict != SATURATED; i++) {
        enum verdict one = judge_link(sim, i);
        if (one != SOUND)
            verdict = one;
    }
    return verdict;
}

/* A load near the limit is told from one beyond it by many packets only: it goes on without
 * measuring. What is open at the end, packets under way decide: whether they became more than by
 * chance in each of the last looks. */
static gmc_status watch(struct packets *sim, bool *is_saturated, char *error)
{
    uint64_t watched = sim->run->watched > sim->wanted ? sim->run->watched : sim->wanted;
    gmc_status status = GMC_OK;
    enum verdict verdict = judge(sim);
    uint32_t rises = 0;
    sim->is_watching = true;
    while (status == GMC_OK && verdict == OPEN && sim->delivered < WATCHED_MOST * watched) {
        sim->watched_to = 2 * sim->delivered;
        sim->delivered_from = sim->delivered;
        sim->in_flight_from = sim->in_flight;
        sim->is_over = false;
        status = go_on(sim, error);
        double chance = SURE * sqrt((double)sim->in_flight_from);
        rises = sim->in_flight > (double)sim->in_flight_from + chance ? rises + 1 : 0;
        verdict = judge(sim);
    }
    *is_saturated = verdict == SATURATED || (verdict == OPEN && rises >= RISES);
    return status;
}

gmc_status ic_packets_simulate(const struct ic_packets_config *config, const struct ic_run *run,
                               struct ic_packets_result *result, char *error)
{
    struct gmc_prng root;
    struct packets sim = {
        .config = config,
        .run = run,
        .network = config->routes->network,
        .wanted = run->messages > 0 ? run->messages : IC_PACKETS_MESSAGES,
    };
    gmc_status status = ic_packets_check(config, error);
    if (status != GMC_OK)
        return status;
    gmc_prng_init(&root, run->seed);
    gmc_prng_fork(&root, "arrivals", &sim.arrivals);
    gmc_prng_fork(&root, "destinations", &sim.destinations);
    gmc_prng_fork(&root, "routing", &sim.routing);
    gmc_prng_fork(&root, "roots", &sim.roots);
    set_times(&sim);
    status = make_room(&sim, error);
    if (status == GMC_OK)
        status = ic_packets_broadcast_init(&sim);
    if (status == GMC_OK)
        status = run_all(&sim, error);
    if (status == GMC_OK) {
        sum_up(&sim, result);
        tell_channels(&sim);
        result->is_saturated = sim.is_saturated;
    }
    if (status == GMC_OK && !run->only_measures)
        status = watch(&sim, &result->is_saturated, error);
    result->events = sim.events;
    release(&sim);
    return status;
}
