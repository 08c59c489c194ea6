/* SPDX-License-Identifier: BSD-2-Clause */
/* The waits that come of flows. */
#include "interconnect/ldr/model.h"

#include <math.h>

/* Links that differ in how their sums were rounded alone count as equally full. */
#define FULLER (1 + 1e-9)

static double wait(double load, double others)
{
    return load < 1 ? others / (2 * (1 - load)) : 0;
}

static void keep_fullest(struct ic_packets_model *model, const struct ic_packet_output *output,
                         double load)
{
    if (load <= FULLER * model->fullest.load)
        return;
    model->fullest =
        (struct ic_channel_record){.from = output->at,
                                   .to = output->to,
                                   .what = output->to == output->at ? "ejection" : "link",
                                   .load = load};
}

/* Share of packets that wait although they could choose: all others found a port that was free, or
 * with less backlog. */
static double choosing(const struct ic_packet_output *output, enum ic_packet_routing routing,
                       double load)
{
    double waiting = 0;
    if (routing != IC_ADAPTIVE || output->ports == 0)
        return 1;
    for (uint32_t i = output->ports; i-- > 0;)
        waiting = waiting * load + output->shares[i];
    return waiting;
}

/* Mean wait of a packet in the network, in serial times. */
static double add_waits(const struct ic_packet_flows *flows, const struct ic_packets_config *config,
                        struct ic_packets_model *model)
{
    double scale = config->load, waits = 0;
    for (size_t i = 0; i < flows->count; i++) {
        const struct ic_packet_output *output = &flows->outputs[i];
        double load = scale * output->load;
        keep_fullest(model, output, load);
        waits += output->flow * wait(load, scale * output->others) *
                 choosing(output, config->routing, load);
    }
    return waits / flows->total;
}

gmc_status ic_packet_flows_model(const struct ic_packet_flows *flows,
                                 const struct ic_packets_config *config,
                                 struct ic_packets_model *model, char *error)
{
    gmc_status status = ic_packets_check(config, error);
    if (status != GMC_OK)
        return status;
    double serial = ic_packet_serial_ns(&config->timing);
    *model = (struct ic_packets_model){
        .mean_hops = flows->mean_hops,
        .fullest = {.what = "injection", .load = config->load},
    };
    double waits = add_waits(flows, config, model);
    model->saturation = config->load / model->fullest.load;
    model->is_saturated = model->fullest.load >= 1;
    model->zero_load = ic_packet_zero_load(&config->timing, config->switching, model->mean_hops);
    model->network = model->zero_load + serial * waits;
    model->latency = model->network;
    if (config->arrivals == IC_POISSON)
        model->latency += serial * wait(config->load, config->load);
    return GMC_OK;
}

gmc_status ic_packets_model(const struct ic_packets_config *config, struct ic_packets_model *model,
                            char *error)
{
    struct ic_packet_flows *flows;
    struct ic_ways ways;
    gmc_status status = ic_packets_check(config, error);
    if (status != GMC_OK)
        return status;
    status = ic_ways_init(&ways, config->routes->network);
    if (status == GMC_OK)
        status = ic_packet_flows_new(&ways, config->routing == IC_FIXED, &config->traffic, &flows,
                                     error);
    ic_ways_fini(&ways);
    if (status != GMC_OK)
        return status;
    status = ic_packet_flows_model(flows, config, model, error);
    ic_packet_flows_free(flows);
    return status;
}
