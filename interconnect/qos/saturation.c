/* SPDX-License-Identifier: BSD-2-Clause */
/* The load from which on a source cannot keep up. At most loads that are tried on the way to it
 * that is plain long before the model's iteration settles.
 *
 * A source that is far too busy on the way does not keep up. Best effort may come back from there,
 * at loads far beyond those where it first is: it blocks itself nearly always then, which relieves
 * it. These are not looked for.
 */
#include <math.h>

#include "interconnect/qos/model.h"

/* How busy a source is: far too much, and plainly little enough. */
#define FAR_BEYOND 1.1
#define FAR_BELOW 0.95
/* Changes of what does not depend on itself shrink by a tenth with each step, thus to 0.656 of
 * themselves from one look to the next. Where a solution is about to end they shrink much more
 * slowly, and from the beginning on: to 0.77 at best. */
#define SHRINKS 0.68
/* What it may still move, in moves since the last look. Shrinking like that it would be 2. */
#define MOVES 10
/* Steps go on where the last ones may matter. */
#define SETTLED 1e-9
#define NEAR 1e-5

static bool decide(struct ic_qos_watch *watch, bool is_sound)
{
    watch->is_decided = true;
    watch->is_sound = is_sound;
    return true;
}

bool ic_qos_watch(struct ic_qos_watch *watch, const struct ic_qos *qos, const double *latency,
                  const double *change)
{
    double busy = 0, before = watch->busy;
    bool shrinks = true, has_settled = true;
    for (uint64_t c = 0; c < qos->classes; c++) {
        double share = qos->rate[c] * latency[c];
        if (!isfinite(change[c]))
            return decide(watch, false);
        if (!(share > 0))
            return false;
        busy = fmax(busy, share);
        has_settled &= change[c] < SETTLED;
        shrinks &= change[c] < SETTLED || change[c] < SHRINKS * watch->change[c];
        watch->change[c] = change[c];
    }
    watch->busy = busy;
    if (busy > FAR_BEYOND)
        return decide(watch, false);
    bool is_plain = shrinks && busy + MOVES * fabs(busy - before) < FAR_BELOW;
    if (is_plain || (has_settled && fabs(busy - 1) > NEAR))
        return decide(watch, busy < 1);
    return false;
}

/* All sources keep up at this rate of the first class. */
static bool is_sound(const struct ic_qos *qos, double rate)
{
    double change[IC_QOS_CLASSES_MAX];
    struct ic_qos_solution solution;
    struct ic_qos_watch watch = {.is_decided = false};
    struct ic_qos scaled = *qos;
    for (uint64_t c = 0; c + 1 < qos->classes; c++)
        scaled.rate[c] = rate * qos->rate[c] / qos->rate[0];
    ic_qos_solve(&scaled, &watch, change, &solution);
    if (watch.is_decided)
        return watch.is_sound && ic_qos_are_probabilities(&scaled, &solution);
    ic_qos_judge(&scaled, change, &solution);
    for (uint64_t c = 0; c < qos->classes; c++)
        if (!isfinite(solution.latency[c].wait))
            return false;
    return true;
}

double ic_qos_saturation(const struct ic_qos *qos)
{
    double sound = 0, saturated = INFINITY;
    for (uint64_t c = 0; c + 1 < qos->classes; c++)
        saturated = fmin(saturated, qos->rate[0] / qos->rate[c] / (double)qos->flits[c]);
    while (saturated - sound > 1e-4 * saturated && saturated > IC_QOS_RATE_LEAST) {
        double rate = (sound + saturated) / 2;
        if (is_sound(qos, rate))
            sound = rate;
        else
            saturated = rate;
    }
    return sound;
}
