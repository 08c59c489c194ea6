/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of families, their parameters, and those that nothing random is in. */
#include "sim-wan/topo/family.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim-wan/topo/family_internal.h"
#include "sim-wan/topo/units.h"

#define TEXT_BYTES_MAX 200u

gmc_status sim_family_add_nodes(struct sim_family *family, uint64_t count)
{
    gmc_status status = GMC_OK;
    if (count == 0 || count > SIM_TOPO_NODES_MAX)
        return sim_draft_fail(family->draft, 0, "a topology has 1 to %u nodes", SIM_TOPO_NODES_MAX);
    family->draft->ids_are_names = true;
    for (uint64_t i = 0; i < count && status == GMC_OK; i++) {
        char name[24];
        uint32_t node = 0;
        snprintf(name, sizeof(name), "n%" PRIu64, i);
        status = sim_draft_declare(family->draft, name, 1, &node);
    }
    return status;
}

gmc_status sim_family_join(struct sim_family *family, uint64_t a, uint64_t b)
{
    struct sim_draft_link link = {.a = (uint32_t)a,
                                  .b = (uint32_t)b,
                                  .has_delay = family->has_delay,
                                  .delay = family->delay_min,
                                  .rate_bps = family->rate_bps};
    if (family->delay_max > family->delay_min)
        link.delay += gmc_prng_below(&family->delays, family->delay_max - family->delay_min + 1);
    return sim_draft_add_link(family->draft, &link);
}

static gmc_status draw_star(struct sim_family *family)
{
    gmc_status status = sim_family_add_nodes(family, family->size + 1);
    for (uint64_t i = 1; i <= family->size && status == GMC_OK; i++)
        status = sim_family_join(family, 0, i);
    return status;
}

static gmc_status draw_line(struct sim_family *family)
{
    gmc_status status = sim_family_add_nodes(family, family->size);
    for (uint64_t i = 1; i < family->size && status == GMC_OK; i++)
        status = sim_family_join(family, i - 1, i);
    return status;
}

static gmc_status draw_ring(struct sim_family *family)
{
    gmc_status status = draw_line(family);
    if (status == GMC_OK && family->size > 2)
        status = sim_family_join(family, family->size - 1, 0);
    return status;
}

static gmc_status draw_tree(struct sim_family *family)
{
    gmc_status status = sim_family_add_nodes(family, family->size);
    for (uint64_t i = 1; i < family->size && status == GMC_OK; i++)
        status = sim_family_join(family, (i - 1) / family->fanout, i);
    return status;
}

static gmc_status draw_mesh(struct sim_family *family)
{
    uint64_t width = family->width, height = family->height;
    gmc_status status = sim_family_add_nodes(family, width * height);
    for (uint64_t y = 0; y < height; y++)
        for (uint64_t x = 0; x < width && status == GMC_OK; x++) {
            if (x + 1 < width)
                status = sim_family_join(family, y * width + x, y * width + x + 1);
            if (status == GMC_OK && y + 1 < height)
                status = sim_family_join(family, y * width + x, (y + 1) * width + x);
        }
    return status;
}

static gmc_status draw_full(struct sim_family *family)
{
    gmc_status status = sim_family_add_nodes(family, family->size);
    for (uint64_t a = 0; a < family->size && status == GMC_OK; a++)
        for (uint64_t b = a + 1; b < family->size && status == GMC_OK; b++)
            status = sim_family_join(family, a, b);
    return status;
}

/* ---- names and parameters ---- */
enum { KEY_FANOUT = 1, KEY_EXTRA = 2, KEY_M = 4, KEY_WAXMAN = 8, SIZE_IS_GRID = 16 };

static const struct kind {
    const char *name;
    gmc_status (*draw)(struct sim_family *family);
    int keys; /* beside those of all */
} kinds[] = {
    {"star", draw_star, 0},
    {"line", draw_line, 0},
    {"ring", draw_ring, 0},
    {"tree", draw_tree, KEY_FANOUT},
    {"mesh", draw_mesh, SIZE_IS_GRID},
    {"full", draw_full, 0},
    {"random", sim_family_random, KEY_EXTRA},
    {"ba", sim_family_ba, KEY_M},
    {"waxman", sim_family_waxman, KEY_WAXMAN},
};

static const struct kind *find_kind(const char *text)
{
    size_t len = strcspn(text, ":");
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (text[len] == ':' && strlen(kinds[i].name) == len &&
            strncmp(text, kinds[i].name, len) == 0)
            return &kinds[i];
    return NULL;
}

bool sim_family_is_named(const char *text)
{
    return find_kind(text) != NULL;
}

static bool parse_size(struct sim_family *family, const struct kind *kind, char *text)
{
    char *cross = strchr(text, 'x');
    if ((kind->keys & SIZE_IS_GRID) == 0)
        return sim_parse_count(text, SIM_TOPO_NODES_MAX, &family->size);
    if (cross == NULL)
        return false;
    *cross = '\0';
    return sim_parse_count(text, SIM_TOPO_NODES_MAX, &family->width) &&
           sim_parse_count(cross + 1, SIM_TOPO_NODES_MAX, &family->height);
}

static bool parse_delays(struct sim_family *family, char *text)
{
    char *dots = strstr(text, "..");
    family->has_delay = true;
    if (dots != NULL)
        *dots = '\0';
    if (!sim_parse_delay(text, &family->delay_min))
        return false;
    family->delay_max = family->delay_min;
    return dots == NULL || (sim_parse_delay(dots + 2, &family->delay_max) &&
                            family->delay_max >= family->delay_min);
}

/* A number from 0, not 0 itself, to 1. */
static bool parse_part(const char *text, double *value)
{
    return sim_parse_real(text, value) && *value > 0 && *value <= 1;
}

/* NULL, or what would be right. */
static const char *set_key(struct sim_family *family, int keys, const char *key, char *value)
{
    if (strcmp(key, "seed") == 0)
        return sim_parse_count(value, UINT64_MAX / 10, &family->seed) ? NULL : "seed=NUMBER";
    if (strcmp(key, "rate") == 0)
        return sim_parse_rate(value, &family->rate_bps) ? NULL : "rate=RATE, as in 100Mbit";
    if (strcmp(key, "delay") == 0)
        return parse_delays(family, value) ? NULL : "delay=5ms or delay=1ms..20ms";
    if ((keys & KEY_FANOUT) != 0 && strcmp(key, "fanout") == 0)
        return sim_parse_count(value, SIM_TOPO_NODES_MAX, &family->fanout) && family->fanout > 0
                   ? NULL
                   : "fanout=NUMBER, from 1";
    family->has_extra |= strcmp(key, "extra") == 0;
    if ((keys & KEY_EXTRA) != 0 && strcmp(key, "extra") == 0)
        return sim_parse_count(value, SIM_TOPO_LINKS_MAX, &family->extra) ? NULL : "extra=NUMBER";
    if ((keys & KEY_M) != 0 && strcmp(key, "m") == 0)
        return sim_parse_count(value, 1000, &family->m) && family->m > 0 ? NULL
                                                                         : "m=NUMBER, 1 to 1000";
    if ((keys & KEY_WAXMAN) != 0 && strcmp(key, "alpha") == 0)
        return parse_part(value, &family->alpha) ? NULL : "alpha=PART, above 0 and up to 1";
    if ((keys & KEY_WAXMAN) != 0 && strcmp(key, "beta") == 0)
        return parse_part(value, &family->beta) ? NULL : "beta=PART, above 0 and up to 1";
    return "seed, rate, delay or a key of this family; see sim-wan(1)";
}

/* One KEY=VALUE, which is left as it is for messages. */
static const char *parse_key(struct sim_family *family, int keys, const char *word)
{
    char copy[TEXT_BYTES_MAX], none[1] = "";
    snprintf(copy, sizeof(copy), "%s", word);
    char *equals = strchr(copy, '=');
    if (equals != NULL)
        *equals = '\0';
    return set_key(family, keys, copy, equals != NULL ? equals + 1 : none);
}

static gmc_status parse_keys(struct sim_family *family, const struct kind *kind, char *text)
{
    char *rest = NULL;
    for (char *word = strtok_r(text, ",", &rest); word != NULL; word = strtok_r(NULL, ",", &rest)) {
        const char *right = parse_key(family, kind->keys, word);
        if (right != NULL)
            return sim_draft_fail(family->draft, 0, "'%.60s' is wrong; expected %s", word, right);
    }
    return GMC_OK;
}

gmc_status sim_family_draw(struct sim_draft *draft)
{
    const struct kind *kind = find_kind(draft->path);
    struct sim_family family = {
        .draft = draft, .fanout = 2, .m = 2, .alpha = 0.15, .beta = 0.2, .seed = 1};
    char text[TEXT_BYTES_MAX];
    if (strlen(draft->path) >= sizeof(text))
        return sim_draft_fail(draft, 0, "too long; a family is NAME:SIZE[,KEY=VALUE...]");
    snprintf(text, sizeof(text), "%s", draft->path + strlen(kind->name) + 1);
    char *comma = strchr(text, ',');
    if (comma != NULL)
        *comma = '\0';
    if (!parse_size(&family, kind, text))
        return sim_draft_fail(draft, 0, "the size has to be %s",
                              (kind->keys & SIZE_IS_GRID) != 0 ? "WIDTHxHEIGHT, as in mesh:4x3"
                                                               : "a number of nodes");
    gmc_status status = comma != NULL ? parse_keys(&family, kind, comma + 1) : GMC_OK;
    if (status != GMC_OK)
        return status;
    struct gmc_prng prng;
    gmc_prng_init(&prng, family.seed);
    gmc_prng_fork(&prng, "links", &family.links);
    gmc_prng_fork(&prng, "delays", &family.delays);
    return kind->draw(&family);
}
