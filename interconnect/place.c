/* SPDX-License-Identifier: BSD-2-Clause */
/* Schedules as trees over given members. */
#include "interconnect/place.h"

#include <stdlib.h>
#include <string.h>

#include "interconnect/families.h"
#include "interconnect/star/simulate.h"
#include "interconnect/torus/simulate.h"

/* A pipeline's packets, as many as show its shape and as few as a large group leaves time for. The
 * whole length is cut into them: what a long object costs per byte must not drown in what each
 * member costs once. */
#define PACKETS_MAX 512u
#define PACKETS_MIN 32u
#define PACKET_HOPS 131072u /* packets times members */
#define PACKET_BYTES_MIN 1408u
#define BYTES_MAX (1u << 30)
#define AS_GOOD 1.05 /* times the best: what is within that is decided by what the root sends */
#define ALGORITHMS_MAX 5

_Static_assert(IC_TORUS_ALGORITHMS <= ALGORITHMS_MAX && IC_STAR_ALGORITHMS <= ALGORITHMS_MAX,
               "room for each");

/* A group on a torus in growing order of nodes, and back. */
struct ring_group {
    struct ic_torus torus;
    struct ic_torus_group group;
    uint32_t *nodes;
    uint32_t *member; /* at a position of the group */
};

static bool is_torus(const struct ic_network *network)
{
    return network->family == &ic_family_torus;
}

static const char *name_of(const struct ic_network *network, int algorithm)
{
    return is_torus(network) ? ic_torus_algorithm_name((enum ic_torus_algorithm)algorithm)
                             : ic_star_algorithm_name((enum ic_star_algorithm)algorithm);
}

static int algorithms(const struct ic_network *network)
{
    return is_torus(network) ? (int)IC_TORUS_ALGORITHMS : (int)IC_STAR_ALGORITHMS;
}

/* -1: none. */
static int find(const struct ic_network *network, const char *name)
{
    for (int i = 0; i < algorithms(network); i++)
        if (strcmp(name_of(network, i), name) == 0)
            return i;
    return -1;
}

bool ic_place_has(const struct ic_network *network, const char *algorithm)
{
    return find(network, algorithm) >= 0;
}

gmc_status ic_place_node(const struct ic_network *network, const char *text, uint32_t *node,
                         char *error)
{
    uint32_t coordinates[IC_TORUS_DIMENSIONS_MAX] = {0};
    struct ic_torus torus;
    const char *at = text;
    uint32_t read = 0;
    if (!is_torus(network))
        return ic_refuse(error, "'%.40s': around a switch there are no coordinates", text);
    gmc_status status = ic_torus_init(&torus, network->k, network->dimensions, error);
    while (status == GMC_OK && read < network->dimensions && *at >= '0' && *at <= '9') {
        char *end;
        unsigned long value = strtoul(at, &end, 10);
        coordinates[read++] = value <= IC_TORUS_K_MAX ? (uint32_t)value : 0;
        at = end;
        if (read < network->dimensions && *at == ',')
            at++;
    }
    if (status == GMC_OK && (read != network->dimensions || *at != '\0'))
        return ic_refuse(error, "'%.40s' is no node of this torus; it takes %u numbers, such as %s",
                         text, network->dimensions, network->dimensions == 1 ? "2" : "2,1");
    return status == GMC_OK ? ic_torus_node(&torus, coordinates, node, error) : status;
}

/* ---- groups ---- */
static void group_fini(struct ring_group *ring)
{
    free(ring->nodes);
    free(ring->member);
}

static int by_node(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static gmc_status group_init(const struct ic_network *network, const uint32_t *at, size_t count,
                             struct ring_group *ring, char *error)
{
    *ring = (struct ring_group){.nodes = calloc(count, sizeof(*ring->nodes)),
                                .member = calloc(count, sizeof(*ring->member))};
    uint64_t *order = calloc(count, sizeof(*order));
    gmc_status status = ring->nodes == NULL || ring->member == NULL || order == NULL
                            ? GMC_ERR_NOMEM
                            : ic_torus_init(&ring->torus, network->k, network->dimensions, error);
    for (size_t i = 0; i < count && status == GMC_OK; i++)
        order[i] = (uint64_t)at[i] << 32 | i;
    if (status == GMC_OK)
        qsort(order, count, sizeof(*order), by_node);
    ring->group = (struct ic_torus_group){.nodes = ring->nodes, .count = (uint32_t)count};
    for (uint32_t i = 0; i < count && status == GMC_OK; i++) {
        ring->nodes[i] = (uint32_t)(order[i] >> 32);
        ring->member[i] = (uint32_t)order[i];
        if (ring->member[i] == 0)
            ring->group.root = i;
    }
    free(order);
    if (status == GMC_OK)
        status = ic_torus_check_group(&ring->torus, &ring->group, error);
    if (status != GMC_OK)
        group_fini(ring);
    return status;
}

/* ---- which one ---- */
static void cut(uint64_t bytes, size_t count, uint32_t *whole, uint32_t *packet)
{
    uint32_t packets = (uint32_t)(PACKET_HOPS / count);
    packets = packets > PACKETS_MAX ? PACKETS_MAX : packets < PACKETS_MIN ? PACKETS_MIN : packets;
    *whole = bytes < 1 ? 1 : bytes > BYTES_MAX ? BYTES_MAX : (uint32_t)bytes;
    *packet = *whole / packets + 1;
    if (*packet < PACKET_BYTES_MIN)
        *packet = PACKET_BYTES_MIN;
}

static gmc_status time_of(const struct ic_network *network, const struct ring_group *ring,
                          int algorithm, size_t count, uint64_t bytes, double *us, char *error)
{
    struct ic_multicast_times times;
    uint32_t whole, packet;
    gmc_status status;
    cut(bytes, count, &whole, &packet);
    if (is_torus(network)) {
        const struct ic_torus_run run = {.torus = &ring->torus,
                                         .group = &ring->group,
                                         .algorithm = (enum ic_torus_algorithm)algorithm,
                                         .r = network->k,
                                         .routing = IC_TORUS_BY_DIMENSION,
                                         .bytes = whole,
                                         .packet_bytes = packet,
                                         .by_turns = true};
        status = ic_torus_simulate(&run, &times, NULL, error);
    } else {
        const struct ic_star_run run = {.scheme = network->scheme < 0
                                                      ? IC_MYRINET_HB
                                                      : (enum ic_myrinet_scheme)network->scheme,
                                        .algorithm = (enum ic_star_algorithm)algorithm,
                                        .members = (uint32_t)count,
                                        .bytes = whole,
                                        .packet_bytes = packet,
                                        .is_at_wire_rate = true};
        status = ic_star_simulate(&run, &times, NULL, error);
    }
    if (status == GMC_OK)
        *us = times.latency_us;
    return status;
}

/* ---- the tree ---- */
static gmc_status schedule_of(const struct ic_network *network, const struct ring_group *ring,
                              int algorithm, size_t count, struct ic_schedule *schedule,
                              char *error)
{
    if (!is_torus(network))
        return ic_star_multicast(count, (enum ic_star_algorithm)algorithm, schedule, error);
    return ic_torus_multicast(&ring->torus, &ring->group, (enum ic_torus_algorithm)algorithm,
                              network->k, schedule, error);
}

/* Of the best ones, that in which the root sends least: it has the wide area to serve as well. */
static gmc_status choose(const struct ic_network *network, const struct ring_group *ring,
                         size_t count, uint64_t bytes, int *algorithm, char *error)
{
    double us[ALGORITHMS_MAX], best = 0;
    uint32_t least = UINT32_MAX;
    gmc_status status = GMC_OK;
    for (int i = 0; i < algorithms(network); i++) {
        status = time_of(network, ring, i, count, bytes, &us[i], error);
        if (status != GMC_OK)
            return status;
        best = i == 0 || us[i] < best ? us[i] : best;
    }
    for (int i = 0; i < algorithms(network) && status == GMC_OK; i++) {
        struct ic_schedule schedule = {0};
        struct ic_schedule_metrics metrics = {.root_sends = UINT32_MAX};
        if (us[i] > best * AS_GOOD)
            continue;
        status = schedule_of(network, ring, i, count, &schedule, error);
        if (status == GMC_OK)
            status = ic_schedule_measure(&schedule, &metrics);
        ic_schedule_fini(&schedule);
        if (status != GMC_OK || metrics.root_sends >= least)
            continue;
        least = metrics.root_sends;
        *algorithm = i;
    }
    return status;
}

gmc_status ic_place(const struct ic_network *network, const char *algorithm, const uint32_t *at,
                    size_t count, uint64_t bytes, uint32_t *parent, const char **chosen,
                    char *error)
{
    struct ring_group ring = {0};
    struct ic_schedule schedule = {0};
    int which = algorithm != NULL ? find(network, algorithm) : 0;
    if (which < 0)
        return ic_refuse(error, "'%.40s' is no algorithm of this network", algorithm);
    gmc_status status = ic_check_range("the group", count, 2, network->nodes, error);
    if (status == GMC_OK && is_torus(network))
        status = group_init(network, at, count, &ring, error);
    if (status != GMC_OK)
        return status;
    if (algorithm == NULL)
        status = choose(network, &ring, count, bytes, &which, error);
    if (status == GMC_OK)
        status = schedule_of(network, &ring, which, count, &schedule, error);
    for (size_t i = 0; i < schedule.count && status == GMC_OK; i++) {
        const struct ic_send *send = &schedule.sends[i];
        bool mapped = ring.member != NULL; /* a torus counts its own way */
        parent[mapped ? ring.member[send->to] : send->to] =
            mapped ? ring.member[send->from] : send->from;
    }
    if (status == GMC_OK)
        *chosen = name_of(network, which);
    ic_schedule_fini(&schedule);
    group_fini(&ring);
    return status;
}
