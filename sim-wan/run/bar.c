/* SPDX-License-Identifier: BSD-2-Clause */
/* The progress bar. */
#include "sim-wan/run/bar.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define WIDTH 40
#define AFTER_SECONDS 1.0
#define EVERY_SECONDS 0.25

static double wall(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void sim_bar_init(struct sim_bar *bar, bool is_wanted)
{
    *bar = (struct sim_bar){.is_on = is_wanted && isatty(STDERR_FILENO) != 0, .begin = wall()};
}

bool sim_bar_is_due(const struct sim_bar *bar)
{
    double now = bar->is_on ? wall() : 0;
    return bar->is_on && now - bar->begin >= AFTER_SECONDS && now - bar->shown >= EVERY_SECONDS;
}

void sim_bar_draw(struct sim_bar *bar, double share, const char *what)
{
    int filled = (int)(share * WIDTH);
    bar->shown = wall();
    bar->is_drawn = true;
    fprintf(stderr, "\r[%.*s%*s] %3.0f%% %s, %.0f s ", filled,
            "########################################", WIDTH - filled, "", share * 100, what,
            bar->shown - bar->begin);
}

void sim_bar_clear(const struct sim_bar *bar)
{
    if (bar->is_drawn)
        fputs("\r\033[K", stderr);
}
