/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the fuzzer of scenarios, and of topologies in our own format, which are a part of them: any
 * file is refused with words that name it, or gives a plan whose numbers are inside their bounds.
 */
#include <string.h>

#include "base/assert.h"
#include "sim-wan/run/plan.h"
#include "tests/fuzz/memfile.h"
#include "wire/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Files that the input names are not opened, and families have a fuzzer of their own. */
static bool names_others(const uint8_t *data, size_t size)
{
    static const char *const words[] = {"file", "family", "trace"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (memmem(data, size, words[i], strlen(words[i])) != NULL)
            return true;
    return false;
}

static void check_wire(const struct sim_wire_config *wire)
{
    GMC_ASSERT(wire->loss_ppm <= 1000000 && wire->duplicate_ppm <= 1000000);
    GMC_ASSERT(wire->delay <= GMC_S(3600) && wire->jitter <= GMC_S(3600));
    GMC_ASSERT(wire->reorder_ppm == 0 || wire->reorder_by > 0);
    GMC_ASSERT(wire->codel.interval == 0 || wire->codel.interval > wire->codel.target);
    GMC_ASSERT(wire->codel.interval <= SIM_CODEL_INTERVAL_MAX);
}

static void check_plan(const struct sim_plan *plan)
{
    const struct sim_topo *topo = &plan->topo;
    char error[SIM_TOPO_ERROR_MAX];

    GMC_ASSERT(sim_topo_check(topo, NULL, error) == GMC_OK);
    GMC_ASSERT(plan->seed_first <= plan->seed_last && plan->limit > 0 && plan->record_every > 0);
    for (size_t i = 0; i < topo->link_count; i++) {
        check_wire(&topo->links[i].a_to_b);
        check_wire(&topo->links[i].b_to_a);
    }
    for (size_t i = 0; i < plan->transfer_count; i++) {
        const struct sim_plan_transfer *transfer = &plan->transfers[i];

        GMC_ASSERT(transfer->target_count > 0 && topo->nodes[transfer->source].has_gateway);
        GMC_ASSERT(transfer->after == UINT32_MAX || transfer->after < plan->transfer_count);
        GMC_ASSERT(transfer->shape < GMC_TREE_SHAPES);
        for (size_t j = 0; j < transfer->target_count; j++)
            GMC_ASSERT(topo->nodes[transfer->targets[j]].has_gateway);
    }
    for (size_t i = 0; i < plan->channel_count; i++) {
        const struct sim_plan_channel *channel = &plan->channels[i];

        GMC_ASSERT(channel->target_count > 0 && topo->nodes[channel->source].has_gateway);
        GMC_ASSERT(channel->bytes > 0 && channel->bytes <= GMC_MESSAGE_BYTES_MAX);
        GMC_ASSERT(channel->every >= SIM_PLAN_MESSAGES_EVERY_MIN);
        GMC_ASSERT(channel->count > 0 || plan->transfer_count > 0);
        for (size_t j = 0; j < channel->target_count; j++)
            GMC_ASSERT(topo->nodes[channel->targets[j]].has_gateway);
    }
    for (size_t i = 0; i < plan->fault_count; i++) {
        GMC_ASSERT(plan->faults[i].host < topo->node_count);
        GMC_ASSERT(plan->faults[i].wire == 0 || plan->faults[i].wire < topo->link_count);
        check_wire(&plan->faults[i].lanes[0]);
    }
    for (size_t i = 0; i < plan->traffic_count; i++)
        GMC_ASSERT(sim_traffic_check(&plan->traffic[i].config, error) == GMC_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sim_plan plan;
    char name[MEMFILE_NAME_MAX], error[SIM_CONF_ERROR_MAX] = "";

    if (names_others(data, size))
        return 0;
    int fd = memfile_make(data, size, name);
    gmc_status status = sim_plan_read(&plan, name, NULL, 0, error);
    if (status == GMC_OK)
        check_plan(&plan);
    GMC_ASSERT((status == GMC_OK) == (error[0] == '\0'));
    GMC_ASSERT(status == GMC_OK || strncmp(error, name, strlen(name)) == 0);
    sim_plan_fini(&plan);
    close(fd);
    return 0;
}
