/* SPDX-License-Identifier: BSD-2-Clause */
/* A node that forges whenever it has a group's key is named after a few transfers, and then gets no
 * key any more; the others go on by multicast. */
#include "tests/scenarios/lan.h"

#include <stdio.h>
#include <string.h>

#include "core/gateway_group_impl.h"

#define NODES 8
#define TRANSFERS_MAX 7 /* 8, 4, 3, 2, 1 are left; in others the forger has no part */

static struct gmc_gateway *gateway_of(struct lan *lan)
{
    return story_host(&lan->story, "a")->gateway;
}

static bool has_key(struct lan *lan, size_t i)
{
    struct gmc_gateway *gw = gateway_of(lan);
    struct gwchannel *ch = gw_channel_find(gw, lan->story.key.source, lan->story.key.e);
    assert_non_null(ch);
    const struct gwlistener *listener =
        gw_listener_of(ch->group, gw_peer_known(gw, lan_node(lan, i)->name));
    return listener != NULL && listener->has_key;
}

static size_t count_keys(struct lan *lan)
{
    size_t count = 0;
    for (size_t i = 1; i <= NODES; i++)
        count += has_key(lan, i);
    return count;
}

/* One that has the key too; it finds what was forged. */
static size_t another(struct lan *lan, size_t forger)
{
    for (size_t i = NODES; i > 0; i--)
        if (i != forger && has_key(lan, i))
            return i;
    return forger;
}

static bool is_named(struct lan *lan, size_t i)
{
    struct gmc_gateway *gw = gateway_of(lan);
    struct gmc_peer_info info;
    for (gmc_peer peer = 0; gmc_gateway_peer_info(gw, gw->now, peer, &info); peer++)
        if (info.forges && strcmp(info.domain, lan_node(lan, i)->name) == 0)
            return true;
    return false;
}

static void complete(struct lan *lan)
{
    lan_run_to(lan, 1, NODES, GMC_S(30));
    story_run_to_end(&lan->story, GMC_S(30));
    story_expect_complete(&lan->story);
}

static void begin(struct lan *lan)
{
    story_stage(&lan->story, 20 * MB, GMC_TREE_CHAIN, "a");
    story_run_to_percent(&lan->story, "a", 20, GMC_S(10));
}

/* True: it had the key, and forged. */
static bool transfer(struct lan *lan, size_t forger, bool forges)
{
    char name[16];
    begin(lan);
    snprintf(name, sizeof(name), "n%zu", another(lan, forger));
    story_run_to_percent(&lan->story, name, 50, GMC_S(10));
    bool could = has_key(lan, forger);
    print_message("%zu nodes have the key%s\n", count_keys(lan), could ? ", one forges" : "");
    if (could && forges)
        story_spoil(&lan->story, lan_node(lan, another(lan, forger)));
    complete(lan);
    return could && forges;
}

static size_t count_named(struct lan *lan)
{
    size_t count = 0;
    for (size_t i = 1; i <= NODES; i++)
        count += is_named(lan, i);
    return count;
}

static size_t transfers_until_named(struct lan *lan, size_t forger)
{
    size_t transfers = 0;
    while (!is_named(lan, forger)) {
        assert_true(transfers < TRANSFERS_MAX);
        transfer(lan, forger, true);
        transfers++;
    }
    return transfers;
}

static void test_it_is_named(void **state)
{
    (void)state;
    for (size_t forger = 1; forger <= NODES; forger += 3) {
        struct lan lan;
        lan_begin(&lan, 30 + forger, NODES, &(struct lan_loss){0, 0});
        print_message("node %zu named after %zu transfers\n", forger,
                      transfers_until_named(&lan, forger));
        assert_int_equal(count_named(&lan), 1);
        assert_true(story_has_line("forges: it alone had the key of each group"));
        uint64_t sent = gateway_of(&lan)->counts.group_sent;
        assert_false(transfer(&lan, forger, true));
        assert_true(gateway_of(&lan)->counts.group_sent - sent > 5000);
        lan_end(&lan);
    }
}

/* The first one stays named, and another one is found as well. */
static void test_two_forge(void **state)
{
    (void)state;
    struct lan lan;
    lan_begin(&lan, 41, NODES, &(struct lan_loss){0, 0});
    transfers_until_named(&lan, 3);
    transfers_until_named(&lan, 6);
    assert_true(is_named(&lan, 3));
    assert_int_equal(count_named(&lan), 2);
    transfer(&lan, 6, true);
    lan_end(&lan);
}

/* Half of the suspects hear a group, the other half the next one; after a day all do. */
static void test_nothing_more_is_forged(void **state)
{
    (void)state;
    struct lan lan;
    lan_begin(&lan, 42, NODES, &(struct lan_loss){0, 0});
    assert_true(transfer(&lan, 2, true));
    bool heard[NODES + 1] = {false};
    for (int turn = 0; turn < 2; turn++) {
        begin(&lan);
        assert_int_equal(count_keys(&lan), NODES / 2);
        for (size_t i = 1; i <= NODES; i++) {
            assert_false(heard[i] && has_key(&lan, i));
            heard[i] = heard[i] || has_key(&lan, i);
        }
        complete(&lan);
    }
    gateway_of(&lan)->suspected_until = gateway_of(&lan)->now; /* the day is over */
    begin(&lan);
    assert_int_equal(count_keys(&lan), NODES);
    lan_end(&lan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        story_test(test_it_is_named),
        story_test(test_two_forge),
        story_test(test_nothing_more_is_forged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
