/* SPDX-License-Identifier: BSD-2-Clause */
/* The star as a family: multicast through one Myrinet switch. */
#include <stdlib.h>

#include "interconnect/families.h"
#include "interconnect/star/latency.h"
#include "interconnect/star/simulate.h"

enum { SCHEME, ALGORITHM, GROUP, BYTES, PACKET, NIC_RATE, PARAMS };
enum {
    LATENCY,
    LATENCY_TABULATED,
    PER_NODE,
    PER_NODE_TABULATED,
    LINK_CONCENTRATION,
    CABLE_CONCENTRATION,
    CONCURRENCY,
    STEP_CONCURRENCY,
    ROOT_BUSY,
    BUSIEST_LINK,
    OUTPUTS
};
enum { NIC_AUTO, NIC_PRINTED, NIC_WIRE };

/* Of a simulation; the closed forms are for a few bytes only, and say so. */
#define BYTES_MAX 1048576u

static const char *const schemes[] = {[IC_MYRINET_HB] = "HB",
                                      [IC_MYRINET_NB] = "NB",
                                      [IC_MYRINET_NA] = "NA",
                                      [IC_MYRINET_SCHEMES] = NULL};
static const char *const algorithms[] = {[IC_STAR_BINOMIAL] = "binomial",
                                         [IC_STAR_BINARY] = "binary",
                                         [IC_STAR_SERIAL] = "serial",
                                         [IC_STAR_SEPARATE] = "separate",
                                         [IC_STAR_ALGORITHMS] = NULL};

static const char *const nic_rates[] = {
    [NIC_AUTO] = "auto", [NIC_PRINTED] = "printed", [NIC_WIRE] = "wire", NULL};

static const struct ic_param params[PARAMS] = {
    [SCHEME] = {"scheme", "", "who does the work: host, NIC, or NIC assisted by the host",
                IC_CHOICE, 0, 0, IC_MYRINET_HB, schemes, IC_BOTH},
    [ALGORITHM] = {"algorithm", "", "multicast algorithm", IC_CHOICE, 0, 0, IC_STAR_BINOMIAL,
                   algorithms, IC_BOTH},
    [GROUP] = {"group", "nodes", "members, the root among them", IC_COUNT, 2, IC_GROUP_MAX, 16,
               NULL, IC_BOTH},
    [BYTES] = {"bytes", "bytes", "length of the message", IC_COUNT, 1, BYTES_MAX, 2, NULL, IC_BOTH},
    [PACKET] = {"packet", "bytes", "pipelined in packets of so many; 0: store and forward",
                IC_COUNT, 0, BYTES_MAX, 0, NULL, IC_SIMULATOR},
    [NIC_RATE] = {"nic_rate", "", "time per byte in the NIC: as printed, the wire's, or by length",
                  IC_CHOICE, 0, 0, NIC_AUTO, nic_rates, IC_SIMULATOR},
};

static const struct ic_output outputs[OUTPUTS] = {
    [LATENCY] = {"latency", "us", "until the last member has the message", IC_BOTH},
    [LATENCY_TABULATED] = {"latency_tabulated", "us", "with the tabulated time per node", IC_MODEL},
    [PER_NODE] = {"per_node", "us", "time at a node that forwards", IC_MODEL},
    [PER_NODE_TABULATED] = {"per_node_tabulated", "us", "the same as tabulated, for 2 bytes",
                            IC_MODEL},
    [LINK_CONCENTRATION] = {"link_concentration", "",
                            "visits to links over links used, both ways of a cable apart",
                            IC_SIMULATOR},
    [CABLE_CONCENTRATION] = {"cable_concentration", "", "visits to cables over cables used",
                             IC_SIMULATOR},
    [CONCURRENCY] = {"concurrency", "messages", "most messages that are on their way at once",
                     IC_SIMULATOR},
    [STEP_CONCURRENCY] = {"step_concurrency", "messages",
                          "most messages of one step of the schedule", IC_SIMULATOR},
    [ROOT_BUSY] = {"root_busy", "%", "share of the time in which the root's processor works",
                   IC_SIMULATOR},
    [BUSIEST_LINK] = {"busiest_link", "%", "share of the time in which the busiest link is taken",
                      IC_SIMULATOR},
};

static gmc_status model(const double *values, const struct ic_setting *setting,
                        struct ic_result *result, char *error)
{
    (void)setting;
    struct ic_myrinet_latency t;
    enum ic_star_algorithm algorithm = (enum ic_star_algorithm)values[ALGORITHM];
    gmc_status status = ic_check_range("m, the message's bytes,", (uint64_t)values[BYTES], 1,
                                       IC_MYRINET_BYTES_MAX, error);
    if (status == GMC_OK)
        status = ic_myrinet_latency((enum ic_myrinet_scheme)values[SCHEME], algorithm,
                                    (uint64_t)values[BYTES], (uint64_t)values[GROUP], &t, error);
    if (status != GMC_OK)
        return status;
    ic_result_set(result, LATENCY, t.time);
    if (t.has_table) {
        ic_result_set(result, LATENCY_TABULATED, t.time_by_table);
        ic_result_set(result, PER_NODE_TABULATED, t.per_node_by_table);
    }
    if (algorithm != IC_STAR_SEPARATE)
        ic_result_set(result, PER_NODE, t.per_node);
    return GMC_OK;
}

/* ---- simulation: nothing in it is random ---- */
struct simulation {
    const struct ic_run *run;
    uint64_t messages;
};

static void on_message(void *ctx, const struct ic_send *send, uint32_t hops, double created,
                       double entered, double delivered)
{
    struct simulation *simulation = ctx;
    const struct ic_message_record record = {
        .number = simulation->messages++,
        .from = send->from,
        .to = send->to,
        .hops = hops,
        .created = created,
        .entered = entered,
        .delivered = delivered,
    };
    simulation->run->on_message(simulation->run->ctx, &record);
}

/* The switch is the node behind the members. */
static void tell_channels(const struct ic_run *run, uint32_t members, const double *link_us,
                          double time)
{
    for (uint32_t i = 0; i < members; i++) {
        const struct ic_channel_record in = {i, members, "injection", link_us[2 * i] / time};
        const struct ic_channel_record out = {members, i, "ejection", link_us[2 * i + 1] / time};
        run->on_channel(run->ctx, &in);
        run->on_channel(run->ctx, &out);
    }
}

/* A member's cable has its two links. */
static void set_links(const struct ic_multicast_times *times, uint32_t members,
                      const double *link_us, struct ic_result *result)
{
    uint32_t cables = 0;
    for (uint32_t i = 0; i < members; i++)
        cables += link_us[2 * i] > 0 || link_us[2 * i + 1] > 0;
    ic_result_set(result, LINK_CONCENTRATION, (double)times->visits / times->used_links);
    ic_result_set(result, CABLE_CONCENTRATION, (double)times->visits / cables);
}

static bool is_at_wire_rate(const double *values)
{
    if (values[NIC_RATE] == NIC_AUTO)
        return values[BYTES] > IC_MYRINET_BYTES_MAX;
    return values[NIC_RATE] == NIC_WIRE;
}

static gmc_status simulate(const double *values, const struct ic_setting *setting,
                           const struct ic_run *run, struct ic_result *result, char *error)
{
    (void)setting;
    struct simulation simulation = {.run = run};
    struct ic_multicast_times times;
    const struct ic_star_run one = {
        .scheme = (enum ic_myrinet_scheme)values[SCHEME],
        .algorithm = (enum ic_star_algorithm)values[ALGORITHM],
        .members = (uint32_t)values[GROUP],
        .bytes = (uint32_t)values[BYTES],
        .packet_bytes = (uint32_t)values[PACKET],
        .is_at_wire_rate = is_at_wire_rate(values),
        .on_message = run->on_message != NULL ? on_message : NULL,
        .ctx = &simulation,
    };
    double *link_us = calloc((size_t)one.members * 2, sizeof(*link_us));
    gmc_status status =
        link_us != NULL ? ic_star_simulate(&one, &times, link_us, error) : GMC_ERR_NOMEM;
    if (status == GMC_OK) {
        ic_result_set(result, LATENCY, times.latency_us);
        set_links(&times, one.members, link_us, result);
        ic_result_set(result, CONCURRENCY, times.concurrency);
        ic_result_set(result, STEP_CONCURRENCY, times.step_concurrency);
        ic_result_set(result, ROOT_BUSY, 100 * times.root_busy_us / times.latency_us);
        ic_result_set(result, BUSIEST_LINK, 100 * times.busiest_link_us / times.latency_us);
        if (run->on_channel != NULL)
            tell_channels(run, one.members, link_us, times.latency_us);
    }
    free(link_us);
    return status;
}

const struct ic_family ic_family_star = {
    .name = "star",
    .title = "multicast through one switch, by host or network interface (Myrinet)",
    .source = "Oral 2003, chapters 3 and 4",
    .params = params,
    .param_count = PARAMS,
    .outputs = outputs,
    .output_count = OUTPUTS,
    .model = model,
    .simulate = simulate,
};
