/* SPDX-License-Identifier: BSD-2-Clause */
/* What a node lacks of a window; see group_rx.h. */
#include "core/group_rx.h"

/* What was said may be lost, or its answer: it is said again after so many of the longest waits. */
#define AGAIN_WAITS 4u
#define AGAIN_MIN GMC_MS(10)

/* Of all that is promised enough is to come. */
static bool is_provided_for(const struct gmc_group_in *in)
{
    return in->promised - in->sent >= gmc_group_in_need(in);
}

void gmc_group_in_told(struct gmc_group_in *in, gmc_time now, const struct gmc_group_window *told,
                       gmc_duration backoff, uint32_t members, struct gmc_prng *prng)
{
    bool is_old = in->known && told->sent < in->sent;
    if (is_old)
        return;
    in->known = true;
    in->promised = told->promised;
    in->sent = told->sent;
    /* While a round is under way what it brings is not known. */
    if (is_provided_for(in) || in->sent < in->promised) {
        in->speak_at = GMC_TIME_NEVER;
        return;
    }
    if (in->speak_at == GMC_TIME_NEVER)
        in->speak_at = gmc_time_add(now, gmc_backoff_draw(prng, backoff, members));
}

bool gmc_group_in_speaks(struct gmc_group_in *in, gmc_time now, gmc_duration backoff)
{
    if (in->speak_at > now)
        return false;
    in->speak_at = GMC_TIME_NEVER;
    if (is_provided_for(in))
        return false;
    gmc_duration again = AGAIN_WAITS * backoff;
    in->spoken = in->sent + gmc_group_in_need(in);
    in->speak_at = gmc_time_add(now, again > AGAIN_MIN ? again : AGAIN_MIN);
    return true;
}
