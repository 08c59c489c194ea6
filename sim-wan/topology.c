/* SPDX-License-Identifier: BSD-2-Clause */
/* Topologies that are named or drawn. */
#include <inttypes.h>
#include <stdio.h>

#include "base/assert.h"
#include "sim-wan/scenario.h"

void sim_host_name(char *out, size_t size, uint32_t i)
{
    /* The first letter is taken by the source; s comes again as the 19th receiver's "s1". */
    if (i == 0)
        snprintf(out, size, "s.example");
    else if (i == 19)
        snprintf(out, size, "s1.example");
    else if (i <= 26)
        snprintf(out, size, "%c.example", (char)('a' + i - 1));
    else
        snprintf(out, size, "g%" PRIu32 ".example", i);
}

static void add_hosts(struct sim_world *world, uint32_t n)
{
    char name[32];
    for (uint32_t i = 0; i < n; i++) {
        sim_host_name(name, sizeof(name), i);
        sim_world_add(world, name);
    }
}

static void join(struct sim_world *world, uint32_t a, uint32_t b,
                 const struct sim_wire_config *config)
{
    sim_world_join(world, world->hosts[a], world->hosts[b], config);
}

void sim_build_flat(struct sim_world *world, uint32_t n, const struct sim_wire_config *config)
{
    add_hosts(world, n + 1);
    for (uint32_t i = 1; i <= n; i++)
        join(world, 0, i, config);
}

void sim_build_tree3(struct sim_world *world, const struct sim_wire_config *config)
{
    static const uint32_t wires[][2] = {{0, 1}, {1, 2}, {1, 3}, {2, 4}, {2, 5}, {3, 6}};
    add_hosts(world, 7);
    for (size_t i = 0; i < sizeof(wires) / sizeof(wires[0]); i++)
        join(world, wires[i][0], wires[i][1], config);
}

void sim_build_chain(struct sim_world *world, uint32_t n, const struct sim_wire_config *config)
{
    add_hosts(world, n);
    for (uint32_t i = 1; i < n; i++)
        join(world, i - 1, i, config);
}

static void draw_delay(struct sim_wire_config *config, gmc_duration delay_max,
                       struct gmc_prng *prng)
{
    GMC_ASSERT(delay_max >= GMC_MS(1));
    config->delay = GMC_MS(1) + gmc_prng_below(prng, delay_max - GMC_MS(1) + 1);
}

void sim_build_random(struct sim_world *world, uint32_t n, uint32_t extra,
                      const struct sim_wire_config *config, gmc_duration delay_max,
                      struct gmc_prng *prng)
{
    struct sim_wire_config wire = *config;
    add_hosts(world, n);
    for (uint32_t i = 1; i < n; i++) {
        draw_delay(&wire, delay_max, prng);
        join(world, (uint32_t)gmc_prng_below(prng, i), i, &wire);
    }
    for (uint32_t i = 0; i < extra; i++) {
        uint32_t a = (uint32_t)gmc_prng_below(prng, n);
        uint32_t b = (uint32_t)gmc_prng_below(prng, n);
        draw_delay(&wire, delay_max, prng);
        if (a != b && sim_net_wire_between(&world->net, a, b) == UINT32_MAX)
            join(world, a, b, &wire);
    }
}
