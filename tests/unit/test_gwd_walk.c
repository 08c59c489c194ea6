/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of walking a tree: the same entries in the same order with one thread and with many, and
 * of what cannot be read the first in that order is named. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gatewayd/store_int.h"
#include "gatewayd/text.h"
#include "tests/lib/unit.h"
#include "tests/unit/gwd_certs.h"

#define TOPS 40
#define SUBS 5
#define FILES 6

static char dir[64];
static struct gwd_root root;

struct seen {
    char *paths; /* each with a NUL */
    size_t used, room, count;
    size_t refuse_at; /* 0: none */
    const char *swap; /* when this is visited, "b" becomes a link that leads out */
    struct gwd_job *job;
};

static void path_of(char *out, size_t size, const char *name)
{
    gwd_text(out, size, "%s/top/%s", dir, name);
}

static void make_directory(const char *name)
{
    char path[256];
    path_of(path, sizeof path, name);
    assert_ok(mkdir(path, 0755));
}

static void make_file(const char *name)
{
    char path[256];
    path_of(path, sizeof path, name);
    test_file_write(path, name, strlen(name));
}

static void make_pipe(const char *name)
{
    char path[256];
    path_of(path, sizeof path, name);
    assert_ok(mkfifo(path, 0600));
}

static int set_up(void **state)
{
    static char name[] = "top", path[80];
    (void)state;
    test_dir_make(dir, sizeof dir);
    make_directory("");
    gwd_text(path, sizeof path, "%s/top", dir);
    root = (struct gwd_root){.name = name, .path = path};
    root.fd = open(path, O_RDONLY | O_DIRECTORY);
    assert_true(root.fd >= 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    (void)close(root.fd);
    test_dir_remove(dir);
    return 0;
}

static void make_tree(void)
{
    char name[64];
    for (int top = 0; top < TOPS; top++) {
        gwd_text(name, sizeof name, "%d", top);
        make_directory(name);
        for (int sub = 0; sub < SUBS; sub++) {
            gwd_text(name, sizeof name, "%d/%d", top, sub);
            make_directory(name);
            for (int file = 0; file < FILES; file++) {
                gwd_text(name, sizeof name, "%d/%d/%d", top, sub, file);
                make_file(name);
            }
        }
    }
}

static void swap_directory(void)
{
    char path[256];
    path_of(path, sizeof path, "b");
    assert_ok(rmdir(path));
    assert_ok(symlink("/etc", path));
}

static gmc_status note(void *ctx, const struct gmc_entry *entry, const struct gwd_ident *ident)
{
    struct seen *seen = ctx;
    size_t len = strlen(entry->path) + 1;
    assert_true(ident->ino != 0);
    if (seen->refuse_at > 0 && seen->count == seen->refuse_at)
        return gwd_job_fail(seen->job, GMC_ERR_LIMIT, "that is enough");
    if (seen->swap != NULL && strcmp(entry->path, seen->swap) == 0)
        swap_directory();
    if (seen->room - seen->used < len)
        seen->paths = realloc(seen->paths, seen->room = seen->room * 2 + len);
    assert_non_null(seen->paths);
    memcpy(seen->paths + seen->used, entry->path, len);
    seen->used += len;
    seen->count++;
    return GMC_OK;
}

static gmc_status walk(struct seen *seen, struct gwd_job *job, size_t threads)
{
    gmc_status status;
    memset(job, 0, sizeof *job);
    seen->job = job;
    free(seen->paths);
    seen->paths = NULL;
    seen->used = seen->room = seen->count = 0;
    status = gwd_walk(&root, threads, job, note, seen);
    assert_int_equal(job->result.status, status);
    return status;
}

/* As strcmp, but a directory comes before what is in it, and that before its longer neighbours. */
static int by_components(const char *a, const char *b)
{
    while (*a == *b && *a != '\0') {
        a++;
        b++;
    }
    return (*a == '/' ? 1 : (unsigned char)*a) - (*b == '/' ? 1 : (unsigned char)*b);
}

static void test_order(void **state)
{
    struct gwd_job job;
    struct seen one = {0}, many = {0};
    (void)state;
    make_tree();
    assert_int_equal(walk(&one, &job, 1), GMC_OK);
    assert_int_equal(one.count, 1 + TOPS + TOPS * SUBS + TOPS * SUBS * FILES);
    for (const char *at = one.paths, *next; (next = at + strlen(at) + 1) < one.paths + one.used;
         at = next)
        assert_true(by_components(at, next) < 0);
    for (int round = 0; round < 20; round++) {
        assert_int_equal(walk(&many, &job, 2 + (size_t)round % 7), GMC_OK);
        assert_int_equal(many.used, one.used);
        assert_memory_equal(many.paths, one.paths, one.used);
    }
    free(one.paths);
    free(many.paths);
}

/* What comes before is visited, whatever was found behind already. */
static void test_first_refusal(void **state)
{
    struct gwd_job job;
    struct seen seen = {0};
    (void)state;
    make_tree();
    make_pipe("38/0/pipe");
    make_pipe("20/2/3a");
    make_pipe("9/pipe");
    for (int round = 0; round < 20; round++) {
        assert_int_equal(walk(&seen, &job, 1 + (size_t)round % 8), GMC_ERR_INVALID);
        assert_string_equal(job.reason, "top/20/2/3a is neither file, directory nor symbolic link; "
                                        "leave it out");
        /* top; 0, 1, 10 to 19, 2; 20, its first two, and half of the third */
        assert_int_equal(seen.count,
                         1 + 13 * (1 + SUBS * (1 + FILES)) + 1 + 2 * (1 + FILES) + 1 + 4);
    }
    free(seen.paths);
}

static void test_visitor_refuses(void **state)
{
    struct gwd_job job;
    struct seen seen = {.refuse_at = 100};
    (void)state;
    make_tree();
    for (size_t threads = 1; threads <= 8; threads++) {
        assert_int_equal(walk(&seen, &job, threads), GMC_ERR_LIMIT);
        assert_string_equal(job.reason, "that is enough");
        assert_int_equal(seen.count, 100);
    }
    free(seen.paths);
}

/* A directory that becomes a link between being found and being read is not followed. */
static void test_link_in_the_way(void **state)
{
    struct gwd_job job;
    struct seen seen = {.swap = "top/a"};
    (void)state;
    make_file("a");
    make_directory("b");
    assert_int_not_equal(walk(&seen, &job, 1), GMC_OK);
    assert_non_null(strstr(job.reason, "top/b: "));
    assert_int_equal(seen.count, 3);
    free(seen.paths);
}

/* Descriptors of all directories on the way would be more than a process may have. */
static void test_deep(void **state)
{
    struct gwd_job job;
    struct seen seen = {0};
    int at = dup(root.fd);
    (void)state;
    for (int depth = 1; depth <= 501; depth++) {
        int next;
        if (depth == 501) {
            assert_int_equal(walk(&seen, &job, 2), GMC_OK);
            assert_int_equal(seen.count, 501);
        }
        assert_ok(mkdirat(at, "d", 0755));
        next = openat(at, "d", O_RDONLY | O_DIRECTORY);
        assert_true(next >= 0);
        (void)close(at);
        at = next;
    }
    (void)close(at);
    assert_int_equal(walk(&seen, &job, 2), GMC_ERR_LIMIT);
    assert_non_null(strstr(job.reason, "more than 500 directories deep"));
    free(seen.paths);
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_order),           CASE(test_first_refusal), CASE(test_visitor_refuses),
        CASE(test_link_in_the_way), CASE(test_deep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
