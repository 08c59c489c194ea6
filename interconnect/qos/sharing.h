/* SPDX-License-Identifier: BSD-2-Clause */
/* How real-time classes share a channel: the Markov chain of model.h, (6)-(8). */
#ifndef INTERCONNECT_QOS_SHARING_H
#define INTERCONNECT_QOS_SHARING_H

#include "interconnect/qos/model.h"

#define IC_QOS_ABREAST 4u /* channels that are computed side by side */

/* Of so many channels, with classes that come at the same rates: L_c(Z) = fixed_c + stretched_c
 * S_c(Z). Pi over the sets of real-time channels and the mean stretches; not probabilities when
 * classes come faster than they can leave. */
void ic_qos_share(const struct ic_qos *qos, const double *rate,
                  const double (*fixed)[IC_QOS_ABREAST], const double (*stretched)[IC_QOS_ABREAST],
                  double (*sharing)[IC_QOS_ABREAST], double (*stretch)[IC_QOS_ABREAST]);

#endif
