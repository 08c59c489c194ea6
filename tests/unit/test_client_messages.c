/* SPDX-License-Identifier: BSD-2-Clause */
/* Publishers and subscribers of the client library before a gateway that this test plays: windows,
 * gaps, ends, and what a gateway might say wrongly. */
#include "gmcast/messages.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

#include "tests/lib/unit.h"
#include "wire/local.h"

#define WAIT_MS 5000

/* The gateway's socket, and the one client that it has. */
static char dir[64], control[128], place[160];
static void *context, *router;
static uint8_t client[256];
static int client_len;
static zmq_msg_t heard;

static int set_up(void **state)
{
    int limit = WAIT_MS, off = 0;
    (void)state;
    strcpy(dir, "/tmp/gmct-XXXXXX");
    assert_non_null(mkdtemp(dir));
    snprintf(control, sizeof control, "ipc://%s/c", dir);
    snprintf(place, sizeof place, "%s/c-messages", dir);
    context = zmq_ctx_new();
    router = zmq_socket(context, ZMQ_ROUTER);
    zmq_setsockopt(router, ZMQ_RCVTIMEO, &limit, sizeof limit);
    zmq_setsockopt(router, ZMQ_LINGER, &off, sizeof off);
    zmq_msg_init(&heard);
    char endpoint[sizeof place + 8];
    snprintf(endpoint, sizeof endpoint, "ipc://%s", place);
    assert_int_equal(zmq_bind(router, endpoint), 0);
    return 0;
}

static void close_gateway(void)
{
    if (router == NULL)
        return;
    zmq_close(router);
    zmq_ctx_term(context);
    router = NULL;
}

static int tear_down(void **state)
{
    (void)state;
    zmq_msg_close(&heard);
    close_gateway();
    (void)unlink(place);
    return rmdir(dir);
}

/* The next thing that the client says; borrowed until the one after it. */
static struct gmc_local hear(void)
{
    struct gmc_local local;
    client_len = zmq_recv(router, client, sizeof client, 0);
    assert_true(client_len > 0);
    assert_true(zmq_msg_recv(&heard, router, 0) >= 0);
    assert_ok(gmc_local_get(gmc_bytes(zmq_msg_data(&heard), zmq_msg_size(&heard)), &local));
    return local;
}

static void say_bytes(const void *bytes, size_t len)
{
    assert_true(zmq_send(router, client, (size_t)client_len, ZMQ_SNDMORE) >= 0);
    assert_true(zmq_send(router, bytes, len, 0) >= 0);
}

static void say(const struct gmc_local *local)
{
    uint8_t frame[65536];
    size_t len = gmc_local_put(local, frame, sizeof frame);
    assert_true(len <= sizeof frame);
    say_bytes(frame, len);
}

static void say_number(enum gmc_local_kind kind, uint64_t number)
{
    say(&(struct gmc_local){.kind = kind, .number = number});
}

static void say_text(enum gmc_local_kind kind, const char *text)
{
    say(&(struct gmc_local){.kind = kind, .text = text});
}

/* ---- opening: the gateway answers from a thread, since the call waits ---- */
struct answer {
    struct gmc_local local;
    const char *garbage; /* instead */
    struct gmc_local asked;
};

static void *answer_one(void *ctx)
{
    struct answer *answer = ctx;
    answer->asked = hear();
    say_number(GMC_LOCAL_ALIVE, 0); /* may come at any time */
    if (answer->garbage != NULL)
        say_bytes(answer->garbage, strlen(answer->garbage));
    else
        say(&answer->local);
    return NULL;
}

static char warned[256];

static void keep_warning(void *ctx, const char *text)
{
    snprintf(ctx, sizeof warned, "%s", text);
}

static struct gmc_publisher *open_answered(struct answer *answer, char *error, size_t size)
{
    static const char *const domains[] = {"b", "c.example"};
    struct gmc_publisher_config config = {.gateway = control,
                                          .channel = "news",
                                          .domains = domains,
                                          .domain_count = 2,
                                          .order = GMC_CLIENT_LATEST,
                                          .warn = keep_warning,
                                          .warn_ctx = warned};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, answer_one, answer), 0);
    struct gmc_publisher *publisher = gmc_publisher_open(&config, error, size);
    pthread_join(thread, NULL);
    return publisher;
}

static struct gmc_publisher *publisher_with(uint32_t messages, uint32_t bytes)
{
    char error[512] = "";
    struct answer answer = {.local = {.kind = GMC_LOCAL_OPENED,
                                      .number = 7,
                                      .messages_max = messages,
                                      .bytes_max = bytes}};
    struct gmc_publisher *publisher = open_answered(&answer, error, sizeof error);
    if (publisher == NULL)
        fail_msg("%s", error);
    return publisher;
}

static struct gmc_subscriber *subscriber_of(const char *source)
{
    char error[512] = "";
    struct answer answer = {.local = {.kind = GMC_LOCAL_SUBSCRIBED}};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, answer_one, &answer), 0);
    struct gmc_subscriber *subscriber =
        gmc_subscriber_open(control, source, "news", error, sizeof error);
    pthread_join(thread, NULL);
    if (subscriber == NULL)
        fail_msg("%s", error);
    return subscriber;
}

static void test_open_says_what_it_wants(void **state)
{
    char error[512];
    const char *domain;
    struct answer answer = {.local = {.kind = GMC_LOCAL_OPENED, .messages_max = 1, .bytes_max = 1}};
    (void)state;
    struct gmc_publisher *publisher = open_answered(&answer, error, sizeof error);
    assert_non_null(publisher);
    assert_int_equal(answer.asked.kind, GMC_LOCAL_OPEN);
    assert_int_equal(answer.asked.order, GMC_CLIENT_LATEST);
    assert_string_equal(answer.asked.name, "news");
    assert_true(gmc_local_next_text(&answer.asked.rest, &domain));
    assert_string_equal(domain, "b");
    assert_true(gmc_local_next_text(&answer.asked.rest, &domain));
    assert_string_equal(domain, "c.example");
    assert_false(gmc_local_next_text(&answer.asked.rest, &domain));
    assert_int_equal(gmc_publisher_close(publisher, NULL, 0), GMC_CLIENT_AGAIN);
}

static void test_open_is_refused(void **state)
{
    char error[512];
    struct answer no = {.local = {.kind = GMC_LOCAL_REFUSED, .text = "not today"}};
    struct answer other = {.garbage = "GET / HTTP/1.1"};
    (void)state;
    assert_null(open_answered(&no, error, sizeof error));
    assert_string_equal(error, "not today");
    assert_null(open_answered(&other, error, sizeof error));
    assert_non_null(strstr(error, "not a gateway"));
}

static void test_places_without_a_gateway(void **state)
{
    char error[512];
    (void)state;
    assert_null(gmc_subscriber_open("tcp://127.0.0.1:7", NULL, "x", error, sizeof error));
    assert_non_null(strstr(error, "messages need a local gateway"));
    assert_null(gmc_subscriber_open("ipc:///nowhere/c", NULL, "x", error, sizeof error));
    assert_non_null(strstr(error, "is gatewayd running?"));
}

/* ---- publishing ---- */
static void test_window_of_messages(void **state)
{
    (void)state;
    struct gmc_publisher *publisher = publisher_with(2, 1000);
    assert_int_equal(gmc_publisher_send(publisher, "a", 1, 0), GMC_CLIENT_OK);
    assert_int_equal(gmc_publisher_send(publisher, "", 0, 0), GMC_CLIENT_OK);
    assert_int_equal(gmc_publisher_send(publisher, "c", 1, 0), GMC_CLIENT_AGAIN);
    struct gmc_local got = hear();
    assert_int_equal(got.kind, GMC_LOCAL_PUBLISH);
    assert_memory_equal(got.rest.data, "a", 1);
    assert_int_equal(hear().rest.len, 0);
    say_number(GMC_LOCAL_ACCEPTED, 1);
    assert_int_equal(gmc_publisher_send(publisher, "c", 1, WAIT_MS), GMC_CLIENT_OK);
    assert_int_equal(gmc_publisher_send(publisher, "d", 1, 0), GMC_CLIENT_AGAIN);
    say_number(GMC_LOCAL_ACCEPTED, 99); /* more than was sent: no news */
    assert_int_equal(gmc_publisher_send(publisher, "d", 1, 50), GMC_CLIENT_AGAIN);
    assert_int_equal(gmc_publisher_close(publisher, "bye", 0), GMC_CLIENT_AGAIN);
    assert_int_equal(hear().kind, GMC_LOCAL_PUBLISH);
    assert_string_equal(hear().text, "bye");
}

static void test_warnings(void **state)
{
    (void)state;
    struct gmc_publisher *publisher = publisher_with(1, 1000);
    assert_int_equal(gmc_publisher_send(publisher, "a", 1, 0), GMC_CLIENT_OK);
    say_text(GMC_LOCAL_WARNING, "b has no node n9");
    say_number(GMC_LOCAL_ACCEPTED, 1);
    assert_int_equal(gmc_publisher_send(publisher, "b", 1, WAIT_MS), GMC_CLIENT_OK);
    assert_string_equal(warned, "b has no node n9");
    say_text(GMC_LOCAL_WARNING, "c.example is not heard");
    say_number(GMC_LOCAL_ACCEPTED, 2);
    say_text(GMC_LOCAL_OVER, "closed");
    assert_int_equal(gmc_publisher_close(publisher, NULL, WAIT_MS), GMC_CLIENT_OK);
    assert_string_equal(warned, "c.example is not heard");
}

static void test_window_of_bytes(void **state)
{
    static uint8_t large[5000];
    (void)state;
    struct gmc_publisher *publisher = publisher_with(100, 1000);
    /* One may be larger than all that may be on their way, alone. */
    assert_int_equal(gmc_publisher_send(publisher, large, sizeof large, 0), GMC_CLIENT_OK);
    assert_int_equal(gmc_publisher_send(publisher, "b", 1, 0), GMC_CLIENT_AGAIN);
    assert_int_equal(hear().rest.len, sizeof large);
    say_number(GMC_LOCAL_ACCEPTED, 1);
    assert_int_equal(gmc_publisher_send(publisher, large, 998, WAIT_MS), GMC_CLIENT_OK);
    assert_int_equal(gmc_publisher_send(publisher, "", 0, 0), GMC_CLIENT_OK);
    assert_int_equal(gmc_publisher_send(publisher, "", 0, 0), GMC_CLIENT_AGAIN);
    assert_int_equal(gmc_publisher_close(publisher, NULL, 0), GMC_CLIENT_AGAIN);
}

static void test_message_too_long(void **state)
{
    (void)state;
    struct gmc_publisher *publisher = publisher_with(4, 4 << 20);
    uint8_t *most = calloc(1, GMC_PUBLISH_MAX + 1);
    assert_non_null(most);
    assert_int_equal(gmc_publisher_send(publisher, most, GMC_PUBLISH_MAX + 1, 0),
                     GMC_CLIENT_INVALID);
    assert_non_null(strstr(gmc_publisher_error(publisher), "1 MiB"));
    assert_int_equal(gmc_publisher_send(publisher, most, GMC_PUBLISH_MAX, 0), GMC_CLIENT_OK);
    assert_int_equal(hear().rest.len, GMC_PUBLISH_MAX); /* and nothing before it */
    free(most);
    assert_int_equal(gmc_publisher_close(publisher, NULL, 0), GMC_CLIENT_AGAIN);
}

static void test_close_waits_for_all(void **state)
{
    (void)state;
    struct gmc_publisher *publisher = publisher_with(4, 1000);
    assert_int_equal(gmc_publisher_send(publisher, "a", 1, 0), GMC_CLIENT_OK);
    (void)hear();
    say_number(GMC_LOCAL_ACCEPTED, 1);
    say_text(GMC_LOCAL_OVER, "closed");
    assert_int_equal(gmc_publisher_close(publisher, NULL, WAIT_MS), GMC_CLIENT_OK);
    assert_string_equal(hear().text, "closed");
    publisher = publisher_with(4, 1000);
    assert_int_equal(gmc_publisher_send(publisher, "a", 1, 0), GMC_CLIENT_OK);
    (void)hear();
    say_text(GMC_LOCAL_OVER, "closed"); /* and of the message not a word */
    assert_int_equal(gmc_publisher_close(publisher, NULL, WAIT_MS), GMC_CLIENT_REFUSED);
}

static void test_channel_that_ends(void **state)
{
    (void)state;
    struct gmc_publisher *publisher = publisher_with(1, 1000);
    assert_int_equal(gmc_publisher_send(publisher, "a", 1, 0), GMC_CLIENT_OK);
    (void)hear();
    say_text(GMC_LOCAL_OVER, "cancelled by its user");
    assert_int_equal(gmc_publisher_send(publisher, "b", 1, WAIT_MS), GMC_CLIENT_REFUSED);
    assert_string_equal(gmc_publisher_error(publisher), "cancelled by its user");
    assert_int_equal(gmc_publisher_send(publisher, "b", 1, 0), GMC_CLIENT_REFUSED);
    assert_int_equal(gmc_publisher_close(publisher, NULL, 0), GMC_CLIENT_REFUSED);
}

/* Each is one round trip: it sees the end only after that of its socket. */
static void test_gateway_that_goes(void **state)
{
    enum gmc_client_result result = GMC_CLIENT_OK;
    (void)state;
    struct gmc_publisher *publisher = publisher_with(1000000, 1u << 30);
    close_gateway();
    for (int i = 0; i < 1000000 && result == GMC_CLIENT_OK; i++)
        result = gmc_publisher_send(publisher, "a", 1, 0);
    assert_int_equal(result, GMC_CLIENT_NO_GATEWAY);
    assert_string_equal(gmc_publisher_error(publisher), "the gateway is gone");
    assert_int_equal(gmc_publisher_close(publisher, NULL, 0), GMC_CLIENT_NO_GATEWAY);
}

/* ---- receiving ---- */
static size_t put_entry(uint8_t *frame, size_t at, uint64_t e, uint64_t sequence, const char *body)
{
    struct gmc_local_entry entry = {.e = e,
                                    .sequence = sequence,
                                    .end = body[0] == '!',
                                    .source = "a.example",
                                    .name = "news",
                                    .body = gmc_bytes(body, strlen(body))};
    return at + gmc_local_put_entry(&entry, frame + at, 1000);
}

static void say_entries(const uint8_t *entries, size_t len)
{
    say(&(struct gmc_local){.kind = GMC_LOCAL_MESSAGES, .rest = gmc_bytes(entries, len)});
}

static struct gmc_received receive(struct gmc_subscriber *subscriber)
{
    struct gmc_received received = {.len = 0};
    if (gmc_subscriber_receive(subscriber, &received, WAIT_MS) != GMC_CLIENT_OK)
        fail_msg("%s", gmc_subscriber_error(subscriber));
    return received;
}

static void expect(struct gmc_subscriber *subscriber, uint64_t e, uint64_t sequence,
                   uint64_t missed, const char *body)
{
    struct gmc_received received = receive(subscriber);
    assert_string_equal(received.source, "a.example");
    assert_string_equal(received.channel, "news");
    assert_int_equal(received.opening, e);
    assert_int_equal(received.sequence, sequence);
    assert_int_equal(received.missed, missed);
    assert_int_equal(received.end, body[0] == '!');
    assert_int_equal(received.len, strlen(body));
    assert_memory_equal(received.bytes, body, received.len);
}

static void test_gaps_are_reported(void **state)
{
    uint8_t frame[4000];
    struct gmc_received none;
    (void)state;
    struct gmc_subscriber *subscriber = subscriber_of("a.example");
    assert_int_equal(gmc_subscriber_receive(subscriber, &none, 0), GMC_CLIENT_AGAIN);
    size_t len = put_entry(frame, 0, 1, 5, "where we come in");
    len = put_entry(frame, len, 1, 6, "");
    len = put_entry(frame, len, 1, 9, "two before it");
    len = put_entry(frame, len, 2, 0, "another opening");
    len = put_entry(frame, len, 1, 8, "late, without order");
    len = put_entry(frame, len, 1, 10, "! over");
    say_entries(frame, len);
    expect(subscriber, 1, 5, 0, "where we come in");
    expect(subscriber, 1, 6, 0, "");
    expect(subscriber, 1, 9, 2, "two before it");
    expect(subscriber, 2, 0, 0, "another opening");
    expect(subscriber, 1, 8, 0, "late, without order");
    expect(subscriber, 1, 10, 0, "! over");
    assert_int_equal(gmc_subscriber_receive(subscriber, &none, 0), GMC_CLIENT_AGAIN);
    gmc_subscriber_free(subscriber);
}

/* The gateway counts what is not taken, and so has to be told. */
static void test_what_was_taken_is_told(void **state)
{
    static char body[901];
    static uint8_t frame[60000];
    size_t len = 0, told = 0;
    (void)state;
    struct gmc_subscriber *subscriber = subscriber_of(NULL);
    memset(body, 'x', sizeof body - 1);
    for (uint64_t i = 0; i < 50; i++)
        len = put_entry(frame, len, 1, i, body);
    for (int i = 0; i < 8; i++)
        say_entries(frame, len);
    for (int i = 0; i < 8 * 50; i++)
        (void)receive(subscriber);
    struct gmc_local got = hear();
    assert_int_equal(got.kind, GMC_LOCAL_TAKEN);
    told = (size_t)got.number;
    assert_true(told >= 256 << 10 && told % (len + 1) == 0); /* whole frames */
    gmc_subscriber_free(subscriber);
}

static void test_gateway_that_talks_nonsense(void **state)
{
    static const uint8_t cut[] = {GMC_LOCAL_MESSAGES, 0, 0, 0, 1}; /* of an entry */
    struct gmc_received none;
    (void)state;
    struct gmc_subscriber *subscriber = subscriber_of(NULL);
    say_bytes(cut, sizeof cut);
    assert_int_equal(gmc_subscriber_receive(subscriber, &none, WAIT_MS), GMC_CLIENT_BAD_REPLY);
    assert_int_equal(gmc_subscriber_receive(subscriber, &none, 0), GMC_CLIENT_AGAIN);
    say_bytes("?", 1);
    assert_int_equal(gmc_subscriber_receive(subscriber, &none, WAIT_MS), GMC_CLIENT_BAD_REPLY);
    say_text(GMC_LOCAL_REFUSED, "unknown here");
    assert_int_equal(gmc_subscriber_receive(subscriber, &none, WAIT_MS), GMC_CLIENT_REFUSED);
    assert_string_equal(gmc_subscriber_error(subscriber), "unknown here");
    gmc_subscriber_free(subscriber);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_open_says_what_it_wants, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_open_is_refused, set_up, tear_down),
        cmocka_unit_test(test_places_without_a_gateway),
        cmocka_unit_test_setup_teardown(test_window_of_messages, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_warnings, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_window_of_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_message_too_long, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_close_waits_for_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_channel_that_ends, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_gateway_that_goes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_gaps_are_reported, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_was_taken_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_gateway_that_talks_nonsense, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
