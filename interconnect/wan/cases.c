/* SPDX-License-Identifier: BSD-2-Clause */
/* The closed forms of the case studies. */
#include "interconnect/wan/cases.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define TIME_MAX 1e15
#define HOPS_MAX 64
#define DOMAINS_MAX 1048576
#define WAITING 5 /* w: what a message that is sent again costs beside it, per hop and way */

static const char *const topologies[IC_WAN_TOPOLOGIES] = {"flat", "LC", "NC"};
static const char *const links[IC_WAN_LINKS] = {"FE", "GigE", "Myrinet", "SCI"};

static int find(const char *const *names, int count, const char *name)
{
    int i = 0;
    while (i < count && strcmp(names[i], name) != 0)
        i++;
    return i;
}

gmc_status ic_wan_topology_from_name(const char *name, enum ic_wan_topology *topology)
{
    *topology = (enum ic_wan_topology)find(topologies, IC_WAN_TOPOLOGIES, name);
    return *topology < IC_WAN_TOPOLOGIES ? GMC_OK : GMC_ERR_NOT_FOUND;
}

gmc_status ic_wan_link_from_name(const char *name, enum ic_wan_link *link)
{
    *link = (enum ic_wan_link)find(links, IC_WAN_LINKS, name);
    return *link < IC_WAN_LINKS ? GMC_OK : GMC_ERR_NOT_FOUND;
}

gmc_status ic_wan_case1(double gateway, double wan, double remote, double local,
                        struct ic_wan_case1 *out, char *error)
{
    gmc_status status = ic_check_number("the gateway link's time", gateway, 0, TIME_MAX, error);
    if (status == GMC_OK)
        status = ic_check_number("the WAN's time", wan, 0, TIME_MAX, error);
    if (status == GMC_OK)
        status = ic_check_number("the remote time", remote, 0, TIME_MAX, error);
    if (status == GMC_OK)
        status = ic_check_number("the local time", local, 0, TIME_MAX, error);
    if (status != GMC_OK)
        return status;
    out->all_remote = 2 * gateway + 2 * IC_WAN_CONVERSION_US + wan + remote;
    out->mixed = fmax(local, out->all_remote);
    return GMC_OK;
}

gmc_status ic_wan_case2(enum ic_wan_topology topology, enum ic_wan_link link, double hops,
                        double rate, struct ic_wan_case2 *out, char *error)
{
    static const double service[IC_WAN_LINKS] = {
        [IC_WAN_FE] = 1.25,
        [IC_WAN_GIGE] = 0.5,
    };
    gmc_status status = ic_check_number("hops", hops, 0, HOPS_MAX, error);
    if (status == GMC_OK)
        status = ic_check_number("the retransmission rate", rate, 0, 1, error);
    if (status != GMC_OK)
        return status;
    double wan = topology == IC_WAN_NC ? 1 + 2 * WAITING * hops * rate : 1;
    out->time_per_message = wan + service[link];
    out->utilisation = service[link] / out->time_per_message;
    return GMC_OK;
}

gmc_status ic_wan_case2_impact(enum ic_wan_topology topology, double rate, double beyond,
                               double *impact, char *error)
{
    gmc_status status = ic_check_number("the retransmission rate", rate, 0, 1, error);
    if (status == GMC_OK)
        status = ic_check_number("domains beyond the first hop", beyond, 0, DOMAINS_MAX, error);
    if (status == GMC_OK)
        *impact = topology == IC_WAN_NC ? 1 + rate * beyond : 1;
    return status;
}
