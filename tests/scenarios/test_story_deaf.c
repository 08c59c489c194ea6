/* SPDX-License-Identifier: BSD-2-Clause */
/* Stories of a domain of whose nodes some do not hear its group: one that hears feeds them, as a
 * tree, while the group sends; and what was found out about them is kept for the next transfer. */
#include "tests/scenarios/lan.h"

#include <stdio.h>

#define NODES 5
#define DEAF 3
#define OBJECT (20 * MB)

/* Each below the one before. */
static gmc_status chain(void *ctx, const char *const *names, size_t count, uint64_t bytes,
                        uint32_t *parent, const char **name)
{
    (void)ctx, (void)names, (void)bytes;
    for (uint32_t i = 1; i < count; i++)
        parent[i] = i - 1;
    *name = "chain";
    return GMC_OK;
}

static void begin(struct lan *lan, uint64_t seed, size_t deaf)
{
    lan_begin_with(lan, seed, NODES, &(struct lan_loss){0, 0},
                   &(struct lan_unusual){.deaf = deaf, .tree = {.shape = chain}});
}

/* Of one transfer: seconds until all nodes have it, and copies of it on the gateway's wire. */
struct result {
    double seconds, copies;
};

static struct result transfer(struct lan *lan)
{
    struct result result;
    uint64_t before = story_wire_bytes(&lan->story, "a", "switch");
    story_stage(&lan->story, OBJECT, GMC_TREE_CHAIN, "a");
    result.seconds = lan_run_to(lan, 1, NODES, GMC_S(60));
    story_run_to_end(&lan->story, GMC_S(60));
    story_expect_complete(&lan->story);
    result.copies =
        (double)(story_wire_bytes(&lan->story, "a", "switch") - before) / (double)OBJECT;
    return result;
}

static void test_the_deaf_are_known_from_then_on(void **state)
{
    (void)state;
    struct lan lan;
    begin(&lan, 1, 0);
    struct result all_hear = transfer(&lan);
    story_close(&lan.story);

    begin(&lan, 1, DEAF);
    struct result first = transfer(&lan);
    assert_true(story_has_line("3 nodes that get nothing by multicast are a tree (chain)"));
    struct result next = transfer(&lan);
    /* They hear again: nobody has to tell. */
    for (size_t i = 1; i <= DEAF; i++)
        lan_node(&lan, i)->deaf = false;
    struct result again = transfer(&lan);
    print_message("all hear: %.3f s, %.2f copies; three of five do not: %.3f s, %.2f; known: "
                  "%.3f s, %.2f; they hear again: %.3f s, %.2f\n",
                  all_hear.seconds, all_hear.copies, first.seconds, first.copies, next.seconds,
                  next.copies, again.seconds, again.copies);
    assert_true(first.copies < 1.1 && next.copies < 1.1 && again.copies < 1.1);
    assert_true(next.seconds < 1.1 * all_hear.seconds);
    assert_true(again.seconds < 1.05 * all_hear.seconds);
    story_close(&lan.story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        story_test(test_the_deaf_are_known_from_then_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
