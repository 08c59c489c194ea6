/* SPDX-License-Identifier: BSD-2-Clause */
/* CoDel; see aqm.h. The RFC's deque() takes packets until one may go; here each is judged by
 * itself, and `after` says where in deque() we are. */
#include "sim-wan/aqm.h"

#include "core/cc_loss.h"

static gmc_time control_law(const struct sim_codel_config *config, gmc_time time, uint32_t count)
{
    return gmc_time_add(time, gmc_cc_isqrt(config->interval * config->interval / count));
}

/* dodequeue(): above the target for a whole interval. */
static bool is_ok_to_drop(struct sim_codel *codel, const struct sim_codel_config *config,
                          gmc_time now, const struct sim_codel_head *head)
{
    if (head->sojourn < config->target || head->is_alone) {
        codel->first_above = 0;
        return false;
    }
    if (codel->first_above == 0) {
        codel->first_above = gmc_time_add(now, config->interval);
        return false;
    }
    return now >= codel->first_above;
}

static enum sim_verdict enter(struct sim_codel *codel, const struct sim_codel_config *config,
                              gmc_time now, bool mark)
{
    uint32_t delta = codel->count - codel->last_count;
    codel->dropping = true;
    codel->count = 1;
    if (delta > 1 && gmc_time_sub(now, codel->drop_next) < 16 * config->interval)
        codel->count = delta;
    codel->drop_next = control_law(config, now, codel->count);
    codel->last_count = codel->count;
    codel->after = mark ? SIM_CODEL_NOTHING : SIM_CODEL_ENTERED;
    return mark ? SIM_MARK : SIM_DROP;
}

static enum sim_verdict go_on(struct sim_codel *codel, const struct sim_codel_config *config,
                              gmc_time now, bool mark)
{
    if (now < codel->drop_next)
        return SIM_PASS;
    codel->count++;
    if (mark)
        codel->drop_next = control_law(config, codel->drop_next, codel->count);
    else
        codel->after = SIM_CODEL_DROPPED;
    return mark ? SIM_MARK : SIM_DROP;
}

enum sim_verdict sim_codel_judge(struct sim_codel *codel, const struct sim_codel_config *config,
                                 gmc_time now, const struct sim_codel_head *head)
{
    enum sim_codel_after after = (enum sim_codel_after)codel->after;
    bool ok = is_ok_to_drop(codel, config, now, head);
    bool mark = config->ecn && head->is_capable;
    codel->after = SIM_CODEL_NOTHING;
    if (after == SIM_CODEL_ENTERED)
        return SIM_PASS;
    if (codel->dropping && !ok) {
        codel->dropping = false;
        return SIM_PASS;
    }
    if (after == SIM_CODEL_DROPPED)
        codel->drop_next = control_law(config, codel->drop_next, codel->count);
    if (codel->dropping)
        return go_on(codel, config, now, mark);
    return ok ? enter(codel, config, now, mark) : SIM_PASS;
}

void sim_codel_on_empty(struct sim_codel *codel)
{
    codel->first_above = 0;
    /* The turn that entered the dropping state ends in it; one that was in it leaves it. */
    if (codel->after != SIM_CODEL_ENTERED)
        codel->dropping = false;
    codel->after = SIM_CODEL_NOTHING;
}
