/* SPDX-License-Identifier: BSD-2-Clause */
/* A heap of streams. */
#include "interconnect/qos/traffic.h"

#include <stdlib.h>

#include "base/assert.h"
#include "interconnect/random.h"

/* Times in the heap are whole numbers of this part of a cycle. */
#define PARTS 0x1p20

struct ic_qos_stream {
    struct gmc_heap_node node; /* first: the heap's member is the stream; seq is its index */
    struct gmc_prng prng;
    double time;
};

/* Memoryless in both states, so a stream needs no state: each message ends the burst with 1/N_on.
 */
static void draw_next(struct ic_qos_stream *stream, const struct ic_qos_rate *rate)
{
    double idle = rate->burst * (1 / rate->mean - 1 / rate->peak);
    stream->time += ic_random_exponential(&stream->prng, 1 / rate->peak);
    if (idle > 0 && ic_random_unit(&stream->prng) * rate->burst <= 1)
        stream->time += ic_random_exponential(&stream->prng, idle);
}

static uint64_t key_of(const struct ic_qos_stream *stream)
{
    return (uint64_t)(stream->time * PARTS);
}

gmc_status ic_qos_traffic_init(struct ic_qos_traffic *traffic, uint32_t sources, uint32_t classes,
                               const struct ic_qos_rate *rates, uint64_t seed)
{
    struct gmc_prng root;
    uint32_t count = sources * classes;
    *traffic = (struct ic_qos_traffic){.rates = rates, .classes = classes};
    gmc_heap_init(&traffic->heap);
    gmc_prng_init(&root, seed);
    traffic->streams = calloc(count, sizeof(*traffic->streams));
    if (traffic->streams == NULL || gmc_heap_reserve(&traffic->heap, count) != GMC_OK) {
        ic_qos_traffic_fini(traffic);
        return GMC_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct ic_qos_stream *stream = &traffic->streams[i];
        gmc_prng_fork_nth(&root, "qos-stream", i, &stream->prng);
        draw_next(stream, &rates[i % classes]);
        gmc_status status = gmc_heap_push(&traffic->heap, &stream->node, key_of(stream), i);
        GMC_ASSERT(status == GMC_OK);
    }
    return GMC_OK;
}

void ic_qos_traffic_fini(struct ic_qos_traffic *traffic)
{
    gmc_heap_fini(&traffic->heap);
    free(traffic->streams);
    traffic->streams = NULL;
}

double ic_qos_traffic_due(const struct ic_qos_traffic *traffic)
{
    return ((const struct ic_qos_stream *)(const void *)gmc_heap_peek(&traffic->heap))->time;
}

struct ic_qos_arrival ic_qos_traffic_next(struct ic_qos_traffic *traffic, uint32_t sources,
                                          uint32_t *to)
{
    struct gmc_heap_node *node = gmc_heap_peek(&traffic->heap);
    struct ic_qos_stream *stream = (struct ic_qos_stream *)(void *)node;
    struct ic_qos_arrival arrival = {
        .time = stream->time,
        .source = (uint32_t)node->seq / traffic->classes,
        .traffic_class = (uint32_t)node->seq % traffic->classes,
    };
    uint32_t other = (uint32_t)gmc_prng_below(&stream->prng, sources - 1);
    *to = other + (other >= arrival.source);
    draw_next(stream, &traffic->rates[arrival.traffic_class]);
    gmc_heap_update(&traffic->heap, node, key_of(stream), node->seq);
    return arrival;
}
