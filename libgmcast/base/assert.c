/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the end of the program at a broken invariant; the one place in base that prints.
 */
#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

void gmc_assert_failed(const char *condition, const char *file, int line)
{
    fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
    abort();
}
