/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the test of base/assert: what holds goes on, what does not aborts and says where.
 */
#include "base/assert.h"

#include "tests/lib/unit.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void what_holds_goes_on(void **state)
{
    int evaluated = 0;

    (void)state;
    GMC_ASSERT(++evaluated == 1);
    assert_int_equal(evaluated, 1);
}

/* In a child whose standard error is a pipe. */
static void what_does_not_aborts(void **state)
{
    static const char expected[] = "core/x.c:12: assertion failed: a == b\n";
    char said[256] = "";
    int ends[2], result = 0;
    pid_t child;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        /* A sanitizer or the test library must not take the signal. */
        signal(SIGABRT, SIG_DFL);
        gmc_assert_failed("a == b", "core/x.c", 12);
    }
    close(ends[1]);
    assert_true(read(ends[0], said, sizeof said - 1) > 0);
    close(ends[0]);
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFSIGNALED(result) && WTERMSIG(result) == SIGABRT);
    /* An emulator may add that a signal was not caught. */
    assert_memory_equal(said, expected, sizeof expected - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_holds_goes_on),
        cmocka_unit_test(what_does_not_aborts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
