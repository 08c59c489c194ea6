/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the includes that cmocka needs, in its order, and the assertions of ours.
 */
#ifndef TESTS_LIB_UNIT_H
#define TESTS_LIB_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The call succeeds. */
#define assert_ok(call) assert_int_equal((call), 0)

#endif
