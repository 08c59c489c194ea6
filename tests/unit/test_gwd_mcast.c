/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups: what a configuration means, the word for nodes, and a datagram by multicast on loopback.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "gatewayd/mcast.h"
#include "tests/lib/unit.h"

static const char *text_of(const struct gmc_addr *addr)
{
    static char text[GWD_ADDR_TEXT_MAX];
    struct gwd_sockaddr address;

    if (addr->len == 0)
        return "";
    assert_true(gwd_addr_from_core(addr, addr->len == 6 ? AF_INET : AF_INET6, &address));
    gwd_addr_text((struct sockaddr *)&address.storage, text);
    return text;
}

static bool group_of(const char *listen, const char *address, struct gwd_mcast_group *group,
                     char *reason)
{
    struct gwd_conf conf = {.domain = (char *)(uintptr_t) "cern.example",
                            .listen = (char *)(uintptr_t)listen,
                            .multicast_interface = (char *)(uintptr_t) "lo",
                            .multicast_address = (char *)(uintptr_t)address,
                            .multicast_ttl = 1};

    return gwd_mcast_group(&conf, group, reason, 256);
}

/* clang-format off */
static const struct {
    const char *listen, *address, *group, *sender, *reason;
} cases[] = {
    {"0.0.0.0:7411", "239.255.1.2:7412", "239.255.1.2:7412", "127.0.0.1:0", NULL},
    {"[::]:7411", "239.255.1.2:7412", "239.255.1.2:7412", "127.0.0.1:0", NULL},
    {"127.0.0.2:7411", "232.1.2.3:9", "232.1.2.3:9", "127.0.0.2:7411", NULL},
    {"[::]:7411", "[ff15::1]:7412", "[ff15::1]:7412", "", NULL},
    {"[fd00::1]:7411", "[ff35::1]:7412", "[ff35::1]:7412", "[fd00::1]:7411", NULL},
    {"0.0.0.0:7411", "auto", "232.34.68.73:7412", "127.0.0.1:0", NULL},
    {"127.0.0.2:7411", "auto", "232.34.68.73:7412", "127.0.0.2:7411", NULL},
    {"[fd00::1]:7411", "auto", "[ff35::e3c5:9249]:7412", "[fd00::1]:7411", NULL},
    {"0.0.0.0:7411", "[ff15::1]:7412", NULL, NULL, "listen on [::]"},
    {"[fd00::1]:7411", "239.255.1.2:7412", NULL, NULL, "listen on [::]"},
    {"0.0.0.0:7411", "10.0.0.1:7412", NULL, NULL, "is not right; expected auto"},
    {"0.0.0.0:7411", "239.255.1.2", NULL, NULL, "is not right; expected auto"},
    {"0.0.0.0:7411", "group.example:7412", NULL, NULL, "is not right; expected auto"},
};
/* clang-format on */

static void configurations_mean_groups(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct gwd_mcast_group group;
        char reason[256] = "";
        bool ok = group_of(cases[i].listen, cases[i].address, &group, reason);

        if (cases[i].reason != NULL) {
            assert_false(ok);
            assert_non_null(strstr(reason, cases[i].reason));
            continue;
        }
        if (!ok)
            fail_msg("%s: %s", cases[i].address, reason);
        assert_string_equal(text_of(&group.group), cases[i].group);
        assert_string_equal(text_of(&group.sender), cases[i].sender);
    }
}

static void words_come_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct gwd_mcast_group group, again;
        uint8_t word[GWD_MCAST_WORD_MAX];
        char reason[256];
        size_t len;

        if (!group_of(cases[i].listen, cases[i].address, &group, reason))
            continue;
        len = gwd_mcast_put_word(&group, word);
        assert_true(gwd_mcast_get_word(gmc_bytes(word, len), &again));
        assert_memory_equal(&again, &group, sizeof(group));
        for (size_t cut = 0; cut < len; cut++)
            if (cut != group.group.len)
                assert_false(gwd_mcast_get_word(gmc_bytes(word, cut), &again));
        word[0] = 10; /* a node must not be made to bind to what is no group */
        assert_false(gwd_mcast_get_word(gmc_bytes(word, len), &again));
    }
}

struct seen {
    size_t count;
    char text[16];
};

static void take(void *ctx, gmc_time now, const struct gmc_dgram_in *in)
{
    struct seen *seen = ctx;

    (void)now;
    seen->count++;
    assert_true(in->bytes.len < sizeof(seen->text));
    memcpy(seen->text, in->bytes.data, in->bytes.len);
}

static struct gwd_udp *sender_at(const char *address)
{
    struct gwd_sockaddr listen;
    char reason[256];

    assert_true(gwd_addr_numeric(address, 0, &listen));
    return gwd_udp_new(&listen, reason, sizeof reason);
}

static void send_to(struct gwd_udp *udp, const struct gmc_addr *to, const char *text)
{
    struct gmc_dgram_out out = {.path = GMC_PATH_UDP,
                                .body = gmc_bytes((const uint8_t *)text, strlen(text))};

    assert_true(gwd_udp_put(udp, &out, to));
    assert_true(gwd_udp_flush(udp));
}

/* Two nodes of one machine hear it, and nobody else's datagrams: the group has one sender. */
static void datagrams_reach_all_that_hear(void **state)
{
    struct gwd_conf conf = {.multicast_interface = (char *)(uintptr_t) "lo", .multicast_ttl = 1};
    struct gwd_mcast_group group;
    struct gwd_udp *hearing[2], *sender, *stranger;
    char reason[256], interface[GWD_MCAST_INTERFACE_MAX];

    (void)state;
    assert_true(group_of("127.0.0.1:7411", "239.255.77.1:17412", &group, reason));
    assert_true(gwd_mcast_interface_to(&group.sender, interface));
    assert_string_equal(interface, "lo");
    for (size_t i = 0; i < 2; i++) {
        hearing[i] = gwd_mcast_hear(&group, interface, reason, sizeof reason);
        if (hearing[i] == NULL)
            fail_msg("%s", reason);
    }
    sender = sender_at("127.0.0.1");
    stranger = sender_at("127.0.0.9");
    assert_true(gwd_mcast_prepare(sender, &conf, &group, reason, sizeof reason));
    assert_true(gwd_mcast_prepare(stranger, &conf, &group, reason, sizeof reason));
    send_to(stranger, &group.group, "forged");
    send_to(sender, &group.group, "hello");
    for (size_t i = 0; i < 2; i++) {
        struct seen seen = {0};

        /* Loopback delivers before sendmmsg returns. */
        (void)gwd_udp_receive(hearing[i], take, &seen);
        assert_int_equal(seen.count, 1);
        assert_string_equal(seen.text, "hello");
        gwd_udp_free(hearing[i]);
    }
    gwd_udp_free(sender);
    gwd_udp_free(stranger);
}

static void what_cannot_be_heard_is_said(void **state)
{
    struct gwd_mcast_group group;
    char reason[256] = "";

    (void)state;
    assert_true(group_of("127.0.0.1:7411", "239.255.77.1:17412", &group, reason));
    assert_null(gwd_mcast_hear(&group, "none0", reason, sizeof reason));
    assert_non_null(strstr(reason, "there is no interface none0"));
}

static void interfaces_stand_in_networks(void **state)
{
    char subnet[GWD_MCAST_SUBNET_MAX] = "";

    (void)state;
    assert_true(gwd_mcast_subnet("lo", subnet));
    assert_string_equal(subnet, "127.0.0.0/8");
    assert_false(gwd_mcast_subnet("no-such-one", subnet));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(configurations_mean_groups),
        cmocka_unit_test(words_come_back),
        cmocka_unit_test(interfaces_stand_in_networks),
        cmocka_unit_test(datagrams_reach_all_that_hear),
        cmocka_unit_test(what_cannot_be_heard_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
