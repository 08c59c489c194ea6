/* SPDX-License-Identifier: BSD-2-Clause */
/* A progress bar on standard error, drawn only where that is a terminal, after a second, and four
 * times in each. */
#ifndef SIM_RUN_BAR_H
#define SIM_RUN_BAR_H

#include <stdbool.h>

struct sim_bar {
    bool is_on;
    double begin, shown; /* wall seconds */
    bool is_drawn;
};

void sim_bar_init(struct sim_bar *bar, bool is_wanted);
/* Whether it is time to draw. */
bool sim_bar_is_due(const struct sim_bar *bar);
/* How much is done, 0 to 1, and of what. */
void sim_bar_draw(struct sim_bar *bar, double share, const char *what);
/* Before anything else is written. */
void sim_bar_clear(const struct sim_bar *bar);

#endif
