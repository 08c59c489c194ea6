/* SPDX-License-Identifier: BSD-2-Clause
 * Owns how a broken invariant ends the program.
 */
#ifndef GMC_BASE_ASSERT_H
#define GMC_BASE_ASSERT_H

/* A broken invariant is a bug: say where and abort. Kept in release builds; not for input from
 * the network or from people, which is never a reason to stop.
 */
#define GMC_ASSERT(condition)                                                                      \
    ((condition) ? (void)0 : gmc_assert_failed(#condition, __FILE__, __LINE__))

/* Print "file:line: assertion failed: condition" and abort. */
void gmc_assert_failed(const char *condition, const char *file, int line)
    __attribute__((noreturn, cold));

#endif
