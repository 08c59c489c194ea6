/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the test of tools/draw: trees as text and for Graphviz, the matrix of peers.
 */
#include "tools/draw.h"

#include "tests/lib/unit.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

static const struct gmc_ctl_member members[] = {
    {.domain = "b",
     .parent = "s",
     .state = GMC_CTL_MEMBER_RECEIVING,
     .latency_ns = 15000000,
     .reason = ""},
    {.domain = "c",
     .parent = "b",
     .state = GMC_CTL_MEMBER_VERIFIED,
     .latency_ns = 500000,
     .reason = ""},
    {.domain = "d", .parent = "s", .state = GMC_CTL_MEMBER_WAITING, .reason = ""},
    {.domain = "e", .parent = "b", .state = GMC_CTL_MEMBER_RECEIVING, .reason = ""},
    {.domain = "lost\"", .parent = "", .state = GMC_CTL_MEMBER_FAILED, .reason = "quota"},
    /* what no gateway should report: it must end all the same */
    {.domain = "x", .parent = "y", .state = GMC_CTL_MEMBER_WAITING, .reason = ""},
    {.domain = "y", .parent = "x", .state = GMC_CTL_MEMBER_WAITING, .reason = ""},
    {.domain = "s", .parent = "s", .state = GMC_CTL_MEMBER_WAITING, .reason = ""},
};

static struct gmc_ctl_transfer transfer = {.channel = "0123456789abcdef@s",
                                           .shape = "eco",
                                           .tree_version = 2,
                                           .members = members,
                                           .member_count = 5};

static char *text_of(void (*draw)(FILE *out))
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);

    draw(out);
    fclose(out);
    return text;
}

static void ascii(FILE *out)
{
    draw_tree(&transfer, false, out);
}

static void boxes(FILE *out)
{
    draw_tree(&transfer, true, out);
}

static void dot(FILE *out)
{
    draw_dot(&transfer, out);
}

static void test_tree(void **state)
{
    char *text = text_of(ascii);

    (void)state;
    assert_string_equal(text, "s  source  (tree 2, eco)\n"
                              "|-- b  15.0 ms  receiving\n"
                              "|   |-- c  0.50 ms  verified\n"
                              "|   `-- e  receiving\n"
                              "`-- d  waiting\n"
                              "not attached:\n"
                              "    lost\"  failed: quota\n");
    free(text);
    text = text_of(boxes);
    assert_non_null(strstr(text, "│   └── e"));
    free(text);
}

static void test_nonsense_ends(void **state)
{
    char *text;

    (void)state;
    transfer.member_count = sizeof members / sizeof members[0];
    text = text_of(ascii);
    transfer.member_count = 5;
    assert_non_null(strstr(text, "    x  waiting\n    y  waiting\n"));
    free(text);
}

static const char *const from_c[] = {"c"}, *const from_s[] = {"s"};
static const struct gmc_ctl_member striped[] = {
    {.domain = "b",
     .parent = "s",
     .latency_ns = 15000000,
     .reason = "",
     .more_parents = from_c,
     .more_parent_count = 1},
    {.domain = "c",
     .parent = "b",
     .latency_ns = 500000,
     .reason = "",
     .more_parents = from_s,
     .more_parent_count = 1},
    /* what no gateway should report */
    {.domain = "d", .parent = "s", .reason = ""},
};
static const struct gmc_ctl_transfer in_stripes = {.channel = "0123456789abcdef@s",
                                                   .shape = "bulk",
                                                   .tree_version = 1,
                                                   .members = striped,
                                                   .member_count = 3};

static void stripes_ascii(FILE *out)
{
    draw_tree(&in_stripes, false, out);
}

static void stripes_dot(FILE *out)
{
    draw_dot(&in_stripes, out);
}

static void test_stripes(void **state)
{
    char *text = text_of(stripes_ascii);

    (void)state;
    assert_string_equal(text, "s  source  (tree 1, bulk, stripe 1 of 2)\n"
                              "|-- b  15.0 ms  unknown\n"
                              "|   `-- c  0.50 ms  unknown\n"
                              "`-- d  unknown\n"
                              "s  source  (tree 1, bulk, stripe 2 of 2)\n"
                              "`-- c  unknown\n"
                              "    `-- b  unknown\n"
                              "not attached:\n"
                              "    d  unknown\n");
    free(text);
    text = text_of(stripes_dot);
    assert_non_null(strstr(text, "\"s\" -> \"b\" [color=black, label=\"1\"];\n"));
    assert_non_null(strstr(text, "\"c\" -> \"b\" [color=blue, label=\"2\"];\n"));
    free(text);
}

static void plan(FILE *out)
{
    const struct gmc_ctl_member alone = {.domain = "b",
                                         .parent = "s",
                                         .state = GMC_CTL_MEMBER_WAITING,
                                         .reason = ""};
    const struct gmc_ctl_rate rates[] = {{"s", 200000000, GMC_CTL_ORIGIN_CONFIGURED, 2, 400000000},
                                         {"b", 100000000, GMC_CTL_ORIGIN_MEASURED, 1, 0},
                                         {"c", 100000000, GMC_CTL_ORIGIN_ASSUMED, 0, 0}};
    const struct gmc_ctl_transfer planned = {.channel = "0123456789abcdef@s",
                                             .state = GMC_CTL_TRANSFER_PLANNED,
                                             .shape = "bulk",
                                             .total_bytes = 100000000,
                                             .reason = "",
                                             .members = &alone,
                                             .member_count = 1,
                                             .plan = {.time_ns = 8000000000,
                                                      .bound_ns = 7500000000,
                                                      .rate_bps = 100000000,
                                                      .limit = GMC_CTL_LIMIT_UPLINK,
                                                      .limit_domain = "s",
                                                      .limit_bps = 200000000,
                                                      .copies = 2,
                                                      .rates = rates,
                                                      .rate_count = 3}};

    draw_plan(&planned, false, out);
}

static void test_plan(void **state)
{
    char *text = text_of(plan);

    (void)state;
    assert_string_equal(text,
                        "s  source  (planned, bulk)\n"
                        "`-- b\n"
                        "predicted: 100 MB at each domain after 8.00 s and the set-up (12.5 MB/s)\n"
                        "limited by the uplink of s: 25.0 MB/s, for 2 children\n"
                        "it counts with these rates, without headers:\n"
                        "    s: uplink 25.0 MB/s, configured, for 2 children; downlink 50.0 MB/s, "
                        "configured\n"
                        "    b: uplink 12.5 MB/s, measured, for 1 child\n"
                        "    c: uplink 12.5 MB/s, assumed\n"
                        "no trees could take less than 7.50 s\n");
    free(text);
}

static void test_dot(void **state)
{
    char *text = text_of(dot);

    (void)state;
    assert_non_null(strstr(text, "\"s\" -> \"b\" [label=\"15.0 ms\"];\n"));
    assert_non_null(strstr(text, "\"lost\\\"\" [fillcolor=lightpink];\n"));
    assert_null(strstr(text, "\"\" ->"));
    free(text);
}

static void peers(FILE *out)
{
    static const struct gmc_ctl_peer list[] = {
        {.domain = "s", .reason = ""},
        {.domain = "bb",
         .up = true,
         .rtt_ns = 2000000,
         .packets_sent = 200,
         .packets_lost = 1,
         .reason = ""},
        {.domain = "c", .reason = "connection refused"},
        {.domain = "n1", .up = true, .reason = "", .multicast = {GMC_CTL_MULTICAST_ARRIVES, ""}},
        {.domain = "n2",
         .up = true,
         .reason = "",
         .multicast = {GMC_CTL_MULTICAST_LOST, "it did not answer"}}};
    static const struct gmc_ctl_latency latency = {0, 1, 2500000};
    struct gmc_ctl_reply reply = {.peers = list,
                                  .peer_count = 5,
                                  .latencies = &latency,
                                  .latency_count = 1};

    draw_peers(&reply, out);
}

static void test_peers(void **state)
{
    char *text = text_of(peers);

    (void)state;
    assert_non_null(strstr(text, "  1  s       this gateway\n"));
    assert_non_null(strstr(text, "0.50%\n"));
    assert_non_null(strstr(text, "  connection refused\n"));
    assert_non_null(strstr(text, "0.00%  by multicast\n"));
    assert_non_null(strstr(text, "0.00%  multicast does not arrive: it did not answer\n"));
    assert_non_null(strstr(text, "            1       2       3       4       5\n"
                                 "  1         .    2.50       -       -       -\n"
                                 "  2      2.50       .       -       -       -\n"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree), cmocka_unit_test(test_nonsense_ends),
        cmocka_unit_test(test_dot),  cmocka_unit_test(test_stripes),
        cmocka_unit_test(test_plan), cmocka_unit_test(test_peers),
    };

    setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
