/* SPDX-License-Identifier: BSD-2-Clause */
/* The local API's sockets: no request is forgotten however they come, answers find their asker,
 * events reach subscribers, places are kept clean. */
#include "tests/lib/unit.h"

#include <event2/event.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <zmq.h>

#include "gatewayd/ctl_zmq.h"
#include "gatewayd/text.h"
#include "tests/unit/gwd_certs.h"

static char dir[64], control[128], events[128];
static struct event_base *base;
static struct gwd_zmq *server;
static unsigned requests;

/* Answers a request with the same bytes, sometimes not before the next one. */
struct held {
    bool used;
    struct gwd_client client;
    uint8_t bytes[64];
    size_t len;
};
static struct held held;

static void on_request(void *ctx, const struct gwd_client *client, struct gmc_bytes request)
{
    (void)ctx;
    requests++;
    if (held.used)
        gwd_zmq_reply(server, &held.client, gmc_bytes(held.bytes, held.len));
    held.used = false;
    if (requests % 3 == 1 && request.len <= sizeof held.bytes) {
        held = (struct held){.used = true, .client = *client, .len = request.len};
        memcpy(held.bytes, request.data, request.len);
        return;
    }
    gwd_zmq_reply(server, client, request);
}

static struct gwd_zmq *open_server(char *reason, size_t size)
{
    struct gwd_zmq_config config = {.base = base,
                                    .control = control,
                                    .events = events,
                                    .uid = (uid_t)-1,
                                    .gid = (gid_t)-1,
                                    .request = on_request};
    return gwd_zmq_new(&config, reason, size);
}

static int set_up(void **state)
{
    char reason[256] = "";
    (void)state;
    test_dir_make(dir, sizeof dir);
    gwd_text(control, sizeof control, "ipc://%s/run/control", dir);
    gwd_text(events, sizeof events, "ipc://%s/run/events", dir);
    base = event_base_new();
    requests = 0;
    held.used = false;
    server = open_server(reason, sizeof reason);
    if (server == NULL)
        fail_msg("%s", reason);
    assert_true(gwd_zmq_start(server));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    gwd_zmq_free(server);
    event_base_free(base);
    test_dir_remove(dir);
    return 0;
}

/* Runs the loop until the client has a message, or fails after 5 s. */
static int receive(void *client, char *out, size_t size)
{
    for (int i = 0; i < 5000; i++) {
        struct timeval soon = {.tv_usec = 1000};
        int n = zmq_recv(client, out, size - 1, ZMQ_DONTWAIT);
        if (n >= 0) {
            out[n] = '\0';
            return n;
        }
        (void)event_base_loopexit(base, &soon);
        (void)event_base_dispatch(base);
    }
    fail_msg("no message came");
    return -1;
}

static void test_requests(void **state)
{
    void *context = zmq_ctx_new(), *clients[5];
    char text[64], want[64];
    (void)state;
    for (int c = 0; c < 5; c++) {
        clients[c] = zmq_socket(context, ZMQ_DEALER);
        assert_int_equal(zmq_connect(clients[c], control), 0);
    }
    /* More at once than one turn takes; the last one releases what is held. */
    for (int i = 0; i < 200; i++) {
        for (int c = 0; c < 5; c++) {
            gwd_text(text, sizeof text, "client %d request %d", c, i);
            assert_true(zmq_send(clients[c], text, strlen(text), 0) > 0);
        }
    }
    for (int c = 0; c < 4; c++) {
        unsigned seen[200] = {0};
        int count = 0;
        while (count < 199) {
            int number, client;
            (void)receive(clients[c], text, sizeof text);
            assert_int_equal(sscanf(text, "client %d request %d", &client, &number), 2);
            assert_int_equal(client, c);
            assert_in_range(number, 0, 199);
            assert_int_equal(seen[number]++, 0);
            count++;
        }
    }
    gwd_text(want, sizeof want, "one more");
    assert_true(zmq_send(clients[0], want, strlen(want), 0) > 0);
    for (int i = 0; i < 1000 && requests < 1001; i++)
        (void)event_base_loop(base, EVLOOP_ONCE);
    assert_int_equal(requests, 1001);
    for (int c = 0; c < 5; c++) {
        int none = 0;
        (void)zmq_setsockopt(clients[c], ZMQ_LINGER, &none, sizeof none);
        (void)zmq_close(clients[c]);
    }
    (void)zmq_ctx_term(context);
}

static void test_bad_messages(void **state)
{
    void *context = zmq_ctx_new(), *client = zmq_socket(context, ZMQ_DEALER);
    char text[64];
    (void)state;
    assert_int_equal(zmq_connect(client, control), 0);
    /* Several frames are no request; the next one is answered. */
    assert_true(zmq_send(client, "", 0, ZMQ_SNDMORE) >= 0);
    assert_true(zmq_send(client, "x", 1, 0) >= 0);
    requests = 1;
    assert_true(zmq_send(client, "good", 4, 0) >= 0);
    (void)receive(client, text, sizeof text);
    assert_string_equal(text, "good");
    assert_int_equal(requests, 2);
    (void)zmq_close(client);
    (void)zmq_ctx_term(context);
}

static void test_events(void **state)
{
    void *context = zmq_ctx_new(), *subscriber = zmq_socket(context, ZMQ_SUB);
    char text[64] = "";
    (void)state;
    assert_int_equal(zmq_setsockopt(subscriber, ZMQ_SUBSCRIBE, "member", 6), 0);
    assert_int_equal(zmq_connect(subscriber, events), 0);
    /* The subscription takes its way; what was published before it is lost. */
    for (int i = 0; i < 5000 && text[0] == '\0'; i++) {
        int n;
        gwd_zmq_publish(server, "link", "{}");
        gwd_zmq_publish(server, "member", "{\"a\":1}");
        n = zmq_recv(subscriber, text, sizeof text - 1, ZMQ_DONTWAIT);
        text[n > 0 ? n : 0] = '\0';
        if (n < 0)
            (void)usleep(1000);
    }
    assert_string_equal(text, "member");
    assert_int_equal(zmq_recv(subscriber, text, sizeof text, 0), 7);
    assert_memory_equal(text, "{\"a\":1}", 7);
    (void)zmq_close(subscriber);
    (void)zmq_ctx_term(context);
}

static void test_places(void **state)
{
    char path[128], reason[256] = "";
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat st;
    int fd;
    (void)state;
    gwd_text(path, sizeof path, "%s/run", dir);
    assert_ok(stat(path, &st));
    assert_int_equal(st.st_mode & 0777, 0750);
    gwd_text(path, sizeof path, "%s/run/control", dir);
    assert_ok(stat(path, &st));
    assert_int_equal(st.st_mode & 0777, 0660);
    assert_null(open_server(reason, sizeof reason));
    assert_non_null(strstr(reason, "another gatewayd answers"));
    gwd_zmq_free(server);
    assert_int_not_equal(stat(path, &st), 0);
    /* A socket that a crash left is replaced, a file is not. */
    gwd_text(address.sun_path, sizeof address.sun_path, "%s", path);
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_ok(bind(fd, (struct sockaddr *)&address, sizeof address));
    (void)close(fd);
    server = open_server(reason, sizeof reason);
    assert_non_null(server);
    gwd_zmq_free(server);
    test_file_write(path, "x", 1);
    server = open_server(reason, sizeof reason);
    assert_null(server);
    assert_non_null(strstr(reason, "is no socket"));
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_requests),
        CASE(test_bad_messages),
        CASE(test_events),
        CASE(test_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
