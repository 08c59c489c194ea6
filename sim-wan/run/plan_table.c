/* SPDX-License-Identifier: BSD-2-Clause */
/* What there may be in a scenario file. */
#include <string.h>

#include "sim-wan/run/plan_internal.h"
#include "sim-wan/topo/conf.h"
#include "wire/message.h"

#define END                                                                                        \
    {                                                                                              \
        NULL, SIM_CONF_TEXT, 0, 0, NULL                                                            \
    }
#define YEAR (GMC_S(3600) * 24 * 365)
#define BYTES_MAX (UINT64_C(1) << 50)

static const char *const cryptos[] = {"cheap", "openssl", NULL};
static const char *const clocks[] = {"drifting", "exact", NULL};
static const char *const uplinks[] = {"unknown", "wires", NULL};
static const char *const orders[] = {"ordered", "unordered", "latest", NULL}; /* as the enum */
const char *const sim_plan_traffic_names[] = {"cbr",   "poisson", "on-off", "pareto",
                                              "cubic", "bbr",     NULL};
const char *const sim_plan_fault_names[] = {"kill", "power",     "freeze",    "wire-down",
                                            "wire", "break",     "block-udp", "disk-stall",
                                            "disk", "disk-full", NULL};

/* Beside what topologies have at the top. */
static const struct sim_conf_option top[] = {{"title", SIM_CONF_TEXT, 0, 0, NULL},
                                             {"seeds", SIM_CONF_TEXT, 0, 0, NULL},
                                             {"gateways", SIM_CONF_TEXTS, 0, 0, NULL},
                                             {"settle", SIM_CONF_DURATION, 0, YEAR, NULL},
                                             {"warm-up", SIM_CONF_SWITCH, 0, 0, NULL},
                                             {"limit", SIM_CONF_DURATION, 1, YEAR, NULL},
                                             {"crypto", SIM_CONF_CHOICE, 0, 0, cryptos},
                                             {"clocks", SIM_CONF_CHOICE, 0, 0, clocks},
                                             {"shuffle", SIM_CONF_SWITCH, 0, 0, NULL},
                                             {"cache", SIM_CONF_SIZE, 1 << 20, BYTES_MAX, NULL},
                                             {"children", SIM_CONF_NUMBER, 1, 10000, NULL},
                                             {"patience", SIM_CONF_DURATION, 1, YEAR, NULL},
                                             {"fixed-rate", SIM_CONF_RATE, 1000, 0, NULL},
                                             {"uplinks", SIM_CONF_CHOICE, 0, 0, uplinks},
                                             END};

/* rate, delay and queue are those of links of which a map does not say them. */
static const struct sim_conf_option topology[] = {
    {"file", SIM_CONF_TEXT, 0, 0, NULL},
    {"family", SIM_CONF_TEXT, 0, 0, NULL},
    {"rate", SIM_CONF_RATE, 1000, UINT64_C(100000000000000), NULL},
    {"delay", SIM_CONF_DURATION, 1, GMC_S(3600), NULL},
    {"queue", SIM_CONF_DURATION, 1, SIM_TOPO_QUEUE_MAX, NULL},
    {"largest-part", SIM_CONF_SWITCH, 0, 0, NULL},
    {"wire", SIM_CONF_TEXT, 0, 0, NULL},
    END};

#define DISK_OPTIONS                                                                               \
    {"disk-rate", SIM_CONF_RATE, 1000, 0, NULL},                                                   \
        {"disk-latency", SIM_CONF_DURATION, 1, GMC_S(3600), NULL},                                 \
        {"disk-jitter", SIM_CONF_DURATION, 1, GMC_S(3600), NULL},                                  \
        {"disk-capacity", SIM_CONF_SIZE, 1, BYTES_MAX, NULL},                                      \
        {"read-errors", SIM_CONF_SHARE, 0, 1000000, NULL},                                         \
        {"write-errors", SIM_CONF_SHARE, 0, 1000000, NULL},                                        \
    {                                                                                              \
        "bit-flips", SIM_CONF_SHARE, 0, 1000000, NULL                                              \
    }

static const struct sim_conf_option gateway[] = {DISK_OPTIONS,
                                                 {"cpu-datagram", SIM_CONF_DURATION, 0, GMC_S(1),
                                                  NULL},
                                                 {"cpu-rate", SIM_CONF_RATE, 100000, 0, NULL},
                                                 {"uplink", SIM_CONF_RATE, 0, 0, NULL},
                                                 {"downlink", SIM_CONF_RATE, 0, 0, NULL},
                                                 {"socket", SIM_CONF_SIZE, 1, BYTES_MAX, NULL},
                                                 {"clock-offset", SIM_CONF_DURATION, 0, YEAR, NULL},
                                                 {"clock-drift", SIM_CONF_DRIFT, 0,
                                                  SIM_DRIFT_PPB_MAX, NULL},
                                                 END};

static const struct sim_conf_option transfer[] = {{"from", SIM_CONF_TEXT, 0, 0, NULL},
                                                  {"to", SIM_CONF_TEXTS, 0, 0, NULL},
                                                  {"size", SIM_CONF_SIZE, 0, BYTES_MAX, NULL},
                                                  {"at", SIM_CONF_DURATION, 0, YEAR, NULL},
                                                  {"after", SIM_CONF_TEXT, 0, 0, NULL},
                                                  {"tree", SIM_CONF_TEXT, 0, 0, NULL},
                                                  {"rate", SIM_CONF_RATE, 1000, 0, NULL},
                                                  {"background", SIM_CONF_SWITCH, 0, 0, NULL},
                                                  END};

static const struct sim_conf_option channel[] = {{"from", SIM_CONF_TEXT, 0, 0, NULL},
                                                 {"to", SIM_CONF_TEXTS, 0, 0, NULL},
                                                 {"order", SIM_CONF_CHOICE, 0, 0, orders},
                                                 {"size", SIM_CONF_SIZE, 1, GMC_MESSAGE_BYTES_MAX,
                                                  NULL},
                                                 {"every", SIM_CONF_DURATION,
                                                  SIM_PLAN_MESSAGES_EVERY_MIN, YEAR, NULL},
                                                 {"rate", SIM_CONF_RATE, 1, 0, NULL},
                                                 {"at", SIM_CONF_DURATION, 0, YEAR, NULL},
                                                 {"for", SIM_CONF_DURATION, 1, YEAR, NULL},
                                                 END};

static const struct sim_conf_option fault[] = {{"what", SIM_CONF_CHOICE, 0, 0,
                                                sim_plan_fault_names},
                                               {"at", SIM_CONF_DURATION, 0, YEAR, NULL},
                                               {"for", SIM_CONF_DURATION, 1, YEAR, NULL},
                                               {"node", SIM_CONF_TEXT, 0, 0, NULL},
                                               {"between", SIM_CONF_TEXTS, 0, 0, NULL},
                                               {"one-way", SIM_CONF_SWITCH, 0, 0, NULL},
                                               DISK_OPTIONS,
                                               END};

static const struct sim_conf_option traffic[] = {{"from", SIM_CONF_TEXT, 0, 0, NULL},
                                                 {"to", SIM_CONF_TEXT, 0, 0, NULL},
                                                 {"kind", SIM_CONF_CHOICE, 0, 0,
                                                  sim_plan_traffic_names},
                                                 {"rate", SIM_CONF_RATE, 1, 0, NULL},
                                                 {"packet", SIM_CONF_SIZE, 1, 65535, NULL},
                                                 {"at", SIM_CONF_DURATION, 0, YEAR, NULL},
                                                 {"for", SIM_CONF_DURATION, 1, YEAR, NULL},
                                                 {"on", SIM_CONF_DURATION, 1, YEAR, NULL},
                                                 {"off", SIM_CONF_DURATION, 1, YEAR, NULL},
                                                 {"shape", SIM_CONF_REAL, 0, 0, NULL},
                                                 {"ecn", SIM_CONF_SWITCH, 0, 0, NULL},
                                                 END};

static const struct sim_conf_section own[] = {{"topology", false, true, topology, NULL},
                                              {"gateway", true, false, gateway, NULL},
                                              {"transfer", true, false, transfer, NULL},
                                              {"traffic", true, false, traffic, NULL},
                                              {"channel", true, false, channel, NULL},
                                              {"fault", false, false, fault, sim_topo_conf_wire}};
#define OWN_COUNT (sizeof(own) / sizeof(own[0]))

/* One option per recorder, and how often samples are taken. */
static size_t put_record_options(struct sim_conf_option options[SIM_RECORDERS_MAX + 2])
{
    size_t count = 0;
    options[count++] = (struct sim_conf_option){"every", SIM_CONF_DURATION, GMC_US(1), YEAR, NULL};
    for (size_t i = 0; sim_recorders[i] != NULL; i++)
        options[count++] =
            (struct sim_conf_option){sim_recorders[i]->name, SIM_CONF_TEXT, 0, 0, NULL};
    options[count] = (struct sim_conf_option)END;
    return count;
}

size_t sim_plan_sections(struct sim_conf_section sections[SIM_CONF_SECTIONS_MAX],
                         struct sim_conf_option record[SIM_RECORDERS_MAX + 2])
{
    size_t count = 0;
    put_record_options(record);
    sections[count++] = (struct sim_conf_section){"", false, true, top, sim_topo_conf_top};
    memcpy(sections + count, sim_topo_conf_sections, sizeof(sim_topo_conf_sections));
    count += SIM_TOPO_CONF_SECTIONS;
    memcpy(sections + count, own, sizeof(own));
    count += OWN_COUNT;
    sections[count++] = (struct sim_conf_section){"record", false, true, record, NULL};
    return count;
}
