/* SPDX-License-Identifier: BSD-2-Clause */
/* Chains of several channels, one in each place of the quads. */
#include "interconnect/qos/sharing.h"

#include "interconnect/qos/quad.h"

_Static_assert(IC_QOS_ABREAST * sizeof(double) == sizeof(ic_quad), "a channel in each place");

struct chain {
    unsigned states;
    ic_quad rates[IC_QOS_SHARINGS][IC_QOS_SHARINGS]; /* [from][to], where they are linked */
    uint32_t linked[IC_QOS_SHARINGS];                /* from each state, and to it: bits */
};

/* Adds to a rate that there may not have been. */
IC_QUAD_INLINE void link_states(struct chain *chain, unsigned from, unsigned to,
                                const ic_quad *rate)
{
    if (chain->linked[from] >> to & 1) {
        chain->rates[from][to] += *rate;
        return;
    }
    chain->rates[from][to] = *rate;
    chain->linked[from] |= 1u << to;
}

/* Stationary probabilities, by the elimination of Grassmann, Taksar and Heyman: no differences, so
 * nothing cancels. The chain is used up. Where there is a way from a state to another there is one
 * back, so the links of a state are those to it too. */
IC_QUAD_INLINE void stationary(struct chain *chain, ic_quad *share)
{
    const ic_quad zero = {0};
    ic_quad total = zero + 1;
    for (unsigned last = chain->states - 1; last > 0; last--) {
        uint32_t linked = chain->linked[last] & ((1u << last) - 1);
        ic_quad out = zero;
        for (uint32_t left = linked; left != 0; left &= left - 1)
            out += chain->rates[last][__builtin_ctz(left)];
        out = 1 / out;
        for (uint32_t left = linked; left != 0; left &= left - 1) {
            unsigned i = (unsigned)__builtin_ctz(left);
            chain->rates[i][last] *= out;
            for (uint32_t to = linked; to != 0; to &= to - 1) {
                unsigned j = (unsigned)__builtin_ctz(to);
                const ic_quad both = chain->rates[i][last] * chain->rates[last][j];
                if (j != i) /* staying does not count */
                    link_states(chain, i, j, &both);
            }
        }
    }
    share[0] = zero + 1;
    for (unsigned n = 1; n < chain->states; n++) {
        share[n] = zero;
        for (uint32_t left = chain->linked[n] & ((1u << n) - 1); left != 0; left &= left - 1) {
            unsigned i = (unsigned)__builtin_ctz(left);
            share[n] += share[i] * chain->rates[i][n];
        }
        total += share[n];
    }
    for (unsigned n = 0; n < chain->states; n++)
        share[n] /= total;
}

IC_QUAD_INLINE void share_abreast(const struct ic_qos *qos, const double *rate,
                                  const ic_quad_at *fixed, const ic_quad_at *stretched,
                                  ic_quad_at *sharing, ic_quad_at *stretch)
{
    const ic_quad zero = {0};
    const unsigned real_time = (unsigned)qos->classes - 1;
    struct chain chain;
    double weight[IC_QOS_CLASSES_MAX], of_set[IC_QOS_SHARINGS];
    ic_quad share[IC_QOS_SHARINGS], with[IC_QOS_CLASSES_MAX], sum[IC_QOS_CLASSES_MAX];
    chain.states = 1u << real_time;
    for (unsigned c = 0; c < real_time; c++) {
        weight[c] = qos->rate[c] * (double)qos->flits[c];
        with[c] = sum[c] = zero;
    }
    for (unsigned z = 0; z < chain.states; z++) {
        of_set[z] = 0;
        chain.linked[z] = 0;
        for (unsigned c = 0; c < real_time; c++)
            of_set[z] += z >> c & 1 ? weight[c] : 0;
        for (unsigned c = 0; c < real_time; c++) {
            ic_quad change = zero + rate[c];
            if (z >> c & 1)
                change = weight[c] / (fixed[c] * weight[c] + stretched[c] * of_set[z]) - rate[c];
            link_states(&chain, z, z ^ 1u << c, &change);
        }
    }
    stationary(&chain, share);
    for (unsigned z = 0; z < chain.states; z++) {
        sharing[z] = share[z];
        for (unsigned c = 0; c < real_time; c++)
            if (z >> c & 1) {
                with[c] += share[z];
                sum[c] += share[z] * of_set[z];
            }
    }
    for (unsigned c = 0; c < real_time; c++)
        stretch[c] = sum[c] / (with[c] * weight[c]);
}

IC_QUAD_WIDE static void share_wide(const struct ic_qos *qos, const double *rate,
                                    const ic_quad_at *fixed, const ic_quad_at *stretched,
                                    ic_quad_at *sharing, ic_quad_at *stretch)
{
    share_abreast(qos, rate, fixed, stretched, sharing, stretch);
}

void ic_qos_share(const struct ic_qos *qos, const double *rate,
                  const double (*fixed)[IC_QOS_ABREAST], const double (*stretched)[IC_QOS_ABREAST],
                  double (*sharing)[IC_QOS_ABREAST], double (*stretch)[IC_QOS_ABREAST])
{
    const ic_quad_at *of_fixed = (const ic_quad_at *)fixed;
    const ic_quad_at *of_stretched = (const ic_quad_at *)stretched;
    ic_quad_at *to_sharing = (ic_quad_at *)sharing, *to_stretch = (ic_quad_at *)stretch;
    if (ic_quad_is_wide())
        share_wide(qos, rate, of_fixed, of_stretched, to_sharing, to_stretch);
    else
        share_abreast(qos, rate, of_fixed, of_stretched, to_sharing, to_stretch);
}
