/* SPDX-License-Identifier: BSD-2-Clause */
/* Stories of message channels whose source dies, is started anew, or stands still. */
#include "tests/scenarios/talk.h"

/* What its status says of the only channel. */
static const char *status_reason(const struct sim_host *host)
{
    struct gmc_channel_info info;
    assert_true(gmc_gateway_channel_info(host->gateway, sim_host_now(host), 0, &info));
    return info.reason;
}

/* The source dies: receivers are told that there will be no more, and hold nothing. */
static void test_source_dies(void **state)
{
    (void)state;
    static struct talk talk;
    talk_open(&talk, 9, 0);
    sim_build_flat(talk.story.world, 2, &talk.story.wire);
    story_start(&talk.story);
    talk_begin(&talk, GMC_MESSAGES_ORDERED);
    talk_publish_many(&talk, 100, GMC_MS(1), 256);
    sim_host_crash(talk.story.source, SIM_CRASH_KILL);
    assert_string_equal(status_reason(story_host(&talk.story, "a")), "");
    story_run(&talk.story, GMC_S(3));
    assert_string_equal(status_reason(story_host(&talk.story, "a")),
                        "s.example is not heard: connection refused");
    story_run(&talk.story, GMC_S(37));
    assert_true(talk_heard(&talk, "a")->ended);
    assert_string_equal(talk_heard(&talk, "a")->reason, "its source is not heard any more");
    assert_int_equal(talk_heard(&talk, "b")->missed, 0);
    story_close(&talk.story);
}

/* The source dies and is started anew: it knows nothing of the channel, and says so to those that
 * still wait for what it has to say. */
static void test_source_is_anew(void **state)
{
    (void)state;
    static struct talk talk;
    talk_open(&talk, 9, 0);
    sim_build_chain(talk.story.world, 3, &talk.story.wire);
    story_start(&talk.story);
    talk_begin(&talk, GMC_MESSAGES_ORDERED);
    talk_publish_many(&talk, 100, GMC_MS(1), 256);
    sim_host_crash(talk.story.source, SIM_CRASH_KILL);
    story_run(&talk.story, GMC_S(1));
    sim_host_start(talk.story.source);
    story_run(&talk.story, GMC_S(2));
    for (const char *host = "ab"; *host != '\0'; host++) {
        const struct heard *heard = talk_heard(&talk, (char[2]){*host});
        assert_true(heard->ended);
        assert_string_equal(heard->reason,
                            "it is over at its source, or was lost there in a restart");
    }
    story_close(&talk.story);
}

/* The source stands still for so long that all give it up, and goes on: so does the channel, and
 * nobody hears a message twice. */
static void test_source_is_stopped(void **state)
{
    (void)state;
    static struct talk talk;
    for (int order = GMC_MESSAGES_ORDERED; order <= GMC_MESSAGES_LATEST; order++) {
        talk_open(&talk, 25, 50000);
        sim_build_tree3(talk.story.world, &talk.story.wire);
        story_start(&talk.story);
        talk_begin(&talk, (enum gmc_message_order)order);
        story_run(&talk.story, GMC_S(1)); /* all have attached */
        talk_publish_many(&talk, 500, GMC_MS(1), 3000);
        sim_host_freeze(talk.story.source, true);
        story_run(&talk.story, GMC_S(45));
        uint64_t before[TALK_HOSTS_MAX];
        for (size_t i = 0; i < talk.story.world->host_count; i++)
            before[i] = talk.heard[i].count;
        assert_string_equal(talk_heard(&talk, "a")->reason, "its source is not heard any more");
        sim_host_freeze(talk.story.source, false);
        story_run(&talk.story, GMC_S(5)); /* all have attached again */
        talk_publish_many(&talk, 500, GMC_MS(1), 3000);
        talk_end(&talk);
        if (order == GMC_MESSAGES_ORDERED)
            talk_expect_all(&talk, "sabcdef");
        for (const char *host = "abcdef"; *host != '\0'; host++) {
            const struct heard *heard = talk_heard(&talk, (char[2]){*host});
            assert_string_equal(heard->reason, "that is all");
            assert_int_equal(heard->next, talk.published);
            assert_true(before[story_host(&talk.story, (char[2]){*host})->id] > 0);
            assert_int_equal(heard->repeated + heard->spoiled, 0);
            if (order == GMC_MESSAGES_LATEST)
                assert_int_equal(heard->count + heard->missed + heard->backward, talk.published);
            else
                assert_int_equal(heard->count, talk.published);
        }
        story_close(&talk.story);
    }
}

/* It is stopped while its last messages are on their way, and hears of nobody that has them; one
 * that was away, and came back meanwhile, is waited for, though it was silent for so long. */
static void test_source_is_stopped_at_the_end(void **state)
{
    (void)state;
    static struct talk talk;
    talk_open(&talk, 26, 0);
    sim_build_tree3(talk.story.world, &talk.story.wire);
    story_start(&talk.story);
    talk_begin(&talk, GMC_MESSAGES_ORDERED);
    story_run(&talk.story, GMC_S(1)); /* all have attached */
    sim_host_crash(story_host(&talk.story, "f"), SIM_CRASH_KILL);
    talk_publish_many(&talk, 200, GMC_MS(1), 256);
    assert_ok(sim_end(talk.story.source, &talk.key, "that is all"));
    story_run(&talk.story, GMC_MS(10));
    sim_host_freeze(talk.story.source, true);
    story_run(&talk.story, GMC_S(44));
    for (const char *host = "abcde"; *host != '\0'; host++)
        assert_true(talk_heard(&talk, (char[2]){*host})->ended);
    sim_host_start(story_host(&talk.story, "f"));
    story_run(&talk.story, GMC_S(1));
    sim_host_freeze(talk.story.source, false);
    story_run_to_end(&talk.story, GMC_S(20));
    talk_expect_all(&talk, "sabcdef");
    story_close(&talk.story);
}

/* So it is where only some have given it up: those whose parent has look for another one. */
static void test_source_is_stopped_for_some(void **state)
{
    (void)state;
    static struct talk talk;
    talk_open(&talk, 27, 0);
    sim_build_chain(talk.story.world, 3, &talk.story.wire);
    story_start(&talk.story);
    talk_begin(&talk, GMC_MESSAGES_ORDERED);
    story_run(&talk.story, GMC_S(1)); /* all have attached */
    talk_publish_many(&talk, 200, GMC_MS(1), 256);
    sim_host_freeze(talk.story.source, true);
    sim_host_freeze(story_host(&talk.story, "b"), true);
    story_run(&talk.story, GMC_S(8));
    sim_host_freeze(story_host(&talk.story, "b"), false); /* it misses the source later */
    story_run(&talk.story, GMC_S(26));
    assert_true(talk_heard(&talk, "a")->ended && !talk_heard(&talk, "b")->ended);
    sim_host_freeze(talk.story.source, false);
    story_run(&talk.story, GMC_S(2));
    talk_publish_many(&talk, 200, GMC_MS(1), 256);
    talk_end(&talk);
    talk_expect_all(&talk, "sab");
    story_close(&talk.story);
}

/* And with the nodes of a domain, which hear it from their gateway. */
static void test_source_is_stopped_before_nodes(void **state)
{
    (void)state;
    static struct talk talk;
    struct lan lan;
    lan_begin(&lan, 5, 4, &(struct lan_loss){.all_ppm = 60000});
    talk_listen(&talk, &lan.story);
    talk_begin_to(&talk, GMC_MESSAGES_UNORDERED, "a");
    story_run(&talk.story, GMC_S(1)); /* all have attached */
    talk_publish_many(&talk, 300, GMC_MS(1), 1024);
    sim_host_freeze(talk.story.source, true);
    story_run(&talk.story, GMC_S(45));
    assert_true(talk.heard[lan_node(&lan, 1)->id].ended);
    sim_host_freeze(talk.story.source, false);
    story_run(&talk.story, GMC_S(5)); /* all have attached again */
    talk_publish_many(&talk, 300, GMC_MS(1), 1024);
    talk_end(&talk);
    for (size_t n = 1; n <= 4; n++) {
        const struct heard *heard = &talk.heard[lan_node(&lan, n)->id];
        assert_int_equal(heard->count, talk.published);
        assert_int_equal(heard->repeated + heard->spoiled, 0);
    }
    story_close(&talk.story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        story_test(test_source_dies),
        story_test(test_source_is_anew),
        story_test(test_source_is_stopped),
        story_test(test_source_is_stopped_at_the_end),
        story_test(test_source_is_stopped_for_some),
        story_test(test_source_is_stopped_before_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
