/* SPDX-License-Identifier: BSD-2-Clause */
/* Verified hash pages in memory: equal ones are one, however many keep them. A simulation has
 * thousands of gateways that look at the pages of one object. */
#ifndef GMC_CORE_PAGES_H
#define GMC_CORE_PAGES_H

#include "base/map.h"
#include "core/manifest.h"

struct gmc_pages {
    struct gmc_map kept; /* of the digest -> the page and how often it is kept */
};

void gmc_pages_init(struct gmc_pages *pages);
/* Nothing may be kept any more. */
void gmc_pages_fini(struct gmc_pages *pages);

/* A page equal to this one, until it is dropped; NULL when out of memory. */
const struct gmc_page *gmc_pages_keep(struct gmc_pages *pages, const struct gmc_page *page);
/* One that was kept; NULL: nothing. */
void gmc_pages_drop(struct gmc_pages *pages, const struct gmc_page *page);

#endif
