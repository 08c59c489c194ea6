/* SPDX-License-Identifier: BSD-2-Clause */
/* Units; see units.h. */
#include "sim-wan/topo/units.h"

#include <inttypes.h>
#include <stdio.h>

#include "sim-wan/conf.h"

static bool parse(enum sim_conf_type type, const char *text, uint64_t max, uint64_t *value)
{
    const struct sim_conf_option option = {.type = type};
    int64_t number = 0;
    if (!sim_conf_meaning(&option, text, &number) || number < 0 || (uint64_t)number > max)
        return false;
    *value = (uint64_t)number;
    return true;
}

bool sim_parse_rate(const char *text, uint64_t *rate_bps)
{
    return parse(SIM_CONF_RATE, text, SIM_RATE_MAX_BPS, rate_bps) && *rate_bps > 0;
}

bool sim_parse_delay(const char *text, gmc_duration *delay)
{
    return parse(SIM_CONF_DURATION, text, SIM_DELAY_MAX, delay);
}

bool sim_parse_count(const char *text, uint64_t max, uint64_t *count)
{
    return parse(SIM_CONF_NUMBER, text, max, count);
}

bool sim_parse_real(const char *text, double *value)
{
    return sim_conf_real_meaning(text, value);
}

/* ---- and back ---- */
struct unit {
    const char *name;
    uint64_t factor;
};

#define KILO UINT64_C(1000)
#define MEGA UINT64_C(1000000)
#define GIGA UINT64_C(1000000000)
#define TERA UINT64_C(1000000000000)

/* The largest unit in which the value has at most three decimals, or is whole. */
static const char *format(uint64_t value, const struct unit *units, size_t count,
                          char out[SIM_UNITS_TEXT_MAX])
{
    size_t i = 0;
    while (i + 1 < count && (value < units[i].factor ||
                             (units[i].factor >= KILO && value % (units[i].factor / KILO) != 0)))
        i++;
    uint64_t whole = value / units[i].factor;
    uint64_t milli =
        units[i].factor >= KILO ? value % units[i].factor / (units[i].factor / KILO) : 0;
    int len = snprintf(out, SIM_UNITS_TEXT_MAX, "%" PRIu64, whole);
    if (milli > 0) {
        len += snprintf(out + len, SIM_UNITS_TEXT_MAX - (size_t)len, ".%03" PRIu64, milli);
        while (out[len - 1] == '0')
            len--;
    }
    snprintf(out + len, SIM_UNITS_TEXT_MAX - (size_t)len, "%s", units[i].name);
    return out;
}

const char *sim_format_rate(uint64_t rate_bps, char out[SIM_UNITS_TEXT_MAX])
{
    static const struct unit units[] = {
        {"Tbit", TERA}, {"Gbit", GIGA}, {"Mbit", MEGA}, {"kbit", KILO}, {"bit", 1}};
    return format(rate_bps, units, sizeof(units) / sizeof(units[0]), out);
}

const char *sim_format_delay(gmc_duration delay, char out[SIM_UNITS_TEXT_MAX])
{
    static const struct unit times[] = {{"s", GIGA}, {"ms", MEGA}, {"us", KILO}, {"ns", 1}};
    return format(delay, times, sizeof(times) / sizeof(times[0]), out);
}
