/* SPDX-License-Identifier: BSD-2-Clause */
/* The waits that come of flows. */
#include "interconnect/ldr/model.h"

static double wait(double load)
{
    return load / (2 * (1 - load));
}

/* What all outputs wait, less what choosing spares, at a load below saturation: mean of a packet in
 * the network, in serial times. */
static double mean_wait(const struct ic_packet_flows *flows, double load, bool is_choosing)
{
    double sum = 0, spared = 0;
    for (size_t i = 0; i < flows->count; i++)
        sum += flows->weights[i] / (1 - load * flows->loads[i]);
    for (uint32_t i = IC_NETWORK_PORTS_MAX; i-- > 0;)
        spared = spared * load + flows->spared[i];
    return load / 2 * (is_choosing ? sum - spared : sum) / flows->total;
}

gmc_status ic_packet_flows_model(const struct ic_packet_flows *flows,
                                 const struct ic_packets_config *config,
                                 struct ic_packets_model *model, char *error)
{
    gmc_status status = ic_packets_check(config, error);
    if (status != GMC_OK)
        return status;
    double serial = ic_packet_serial_ns(&config->timing);
    *model = (struct ic_packets_model){.mean_hops = flows->mean_hops, .fullest = flows->fullest};
    model->fullest.load *= config->load;
    model->saturation = 1 / flows->fullest.load;
    model->is_saturated = model->fullest.load >= 1;
    model->zero_load = ic_packet_zero_load(&config->timing, config->switching, model->mean_hops);
    if (model->is_saturated)
        return GMC_OK;
    model->network =
        model->zero_load + serial * mean_wait(flows, config->load, config->routing == IC_ADAPTIVE);
    model->latency = model->network;
    if (config->arrivals == IC_POISSON)
        model->latency += serial * wait(config->load);
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
