/* SPDX-License-Identifier: BSD-2-Clause */
/* Names and addresses of emulated hosts, and whom a packet is for. */
#include "tests/lib/unit.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/bytes.h"
#include "sim-wan/emulate/hosts.h"

static void hosts_of(struct emu_hosts *hosts, struct sim_topo *topo, const char *const *names)
{
    sim_topo_init(topo);
    for (size_t i = 0; names[i] != NULL; i++)
        sim_topo_add_node(topo, names[i]);
    emu_hosts_init(hosts, topo);
}

static void test_names_become_dns_names(void **state)
{
    (void)state;
    static const struct {
        const char *node, *name, *alias;
    } cases[] = {
        {"s.example", "s.example", "s"},
        {"CERN", "cern.example", "cern"},
        {"St. Petersburg", "st.petersburg", "st"},
        {"Z\xc3\xbcrich", "z-rich.example", "z-rich"},
        {"  ", "host4.example", "host4"},
        {"-a-.-b-.", "a.b", ""},
        {"A.c", "a.c", ""},
        {"a.C", "a-2.c", "a-2"},
        {"New York (1)", "new-york-1.example", "new-york-1"},
    };
    const char *names[sizeof(cases) / sizeof(cases[0]) + 1] = {0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        names[i] = cases[i].node;
    struct sim_topo topo;
    struct emu_hosts hosts;
    hosts_of(&hosts, &topo, names);
    for (size_t i = 0; i < hosts.count; i++) {
        assert_string_equal(hosts.list[i].name, cases[i].name);
        assert_string_equal(hosts.list[i].alias, cases[i].alias);
        assert_int_equal(emu_hosts_find(&hosts, &topo, cases[i].node), i);
        assert_int_equal(emu_hosts_find(&hosts, &topo, cases[i].name), i);
    }
    assert_int_equal(emu_hosts_find(&hosts, &topo, "nobody"), EMU_NO_HOST);
    emu_hosts_fini(&hosts);
    sim_topo_fini(&topo);
}

static void test_long_names_are_cut(void **state)
{
    (void)state;
    char word[1000];
    memset(word, 'x', sizeof(word) - 1);
    word[sizeof(word) - 1] = '\0';
    word[300] = '.';
    struct sim_topo topo;
    struct emu_hosts hosts;
    hosts_of(&hosts, &topo, (const char *[]){word, word, NULL});
    for (size_t i = 0; i < 2; i++) {
        assert_in_range(strlen(hosts.list[i].name), 1, EMU_NAME_MAX);
        assert_in_range(strcspn(hosts.list[i].name, "."), 1, 65);
    }
    assert_string_not_equal(hosts.list[0].name, hosts.list[1].name);
    emu_hosts_fini(&hosts);
    sim_topo_fini(&topo);
}

/* A head with that destination. */
static size_t packet_to(uint8_t packet[40], int family, const char *address)
{
    memset(packet, 0, 40);
    packet[0] = family == AF_INET ? 0x45 : 0x60;
    assert_int_equal(inet_pton(family, address, packet + (family == AF_INET ? 16 : 24)), 1);
    return family == AF_INET ? 20 : 40;
}

static void test_packets_find_their_host(void **state)
{
    (void)state;
    static const struct {
        int family;
        const char *address;
        uint32_t host;
    } cases[] = {
        {AF_INET, "10.213.0.1", 0},
        {AF_INET, "10.213.0.3", 2},
        {AF_INET, "10.213.0.4", EMU_NO_HOST},
        {AF_INET, "10.213.0.0", EMU_NO_HOST},
        {AF_INET, "10.212.255.255", EMU_NO_HOST},
        {AF_INET, "10.213.255.255", EMU_NO_HOST},
        {AF_INET, "224.0.0.1", EMU_NO_HOST},
        {AF_INET6, "fd67:6d63:6173:7400::1", 0},
        {AF_INET6, "fd67:6d63:6173:7400::3", 2},
        {AF_INET6, "fd67:6d63:6173:7400::4", EMU_NO_HOST},
        {AF_INET6, "fd67:6d63:6173:7400::", EMU_NO_HOST},
        {AF_INET6, "fd67:6d63:6173:7400:0:1::1", EMU_NO_HOST},
        {AF_INET6, "fd67:6d63:6173:7401::1", EMU_NO_HOST},
        {AF_INET6, "ff02::1", EMU_NO_HOST},
    };
    struct sim_topo topo;
    struct emu_hosts hosts;
    uint8_t packet[40];
    hosts_of(&hosts, &topo, (const char *[]){"s", "a", "b", NULL});
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t len = packet_to(packet, cases[i].family, cases[i].address);
        assert_int_equal(emu_hosts_of_packet(&hosts, gmc_bytes(packet, len)), cases[i].host);
        assert_int_equal(emu_hosts_of_packet(&hosts, gmc_bytes(packet, len - 1)), EMU_NO_HOST);
    }
    assert_int_equal(emu_hosts_of_packet(&hosts, gmc_bytes(packet, 0)), EMU_NO_HOST);
    emu_hosts_fini(&hosts);
    sim_topo_fini(&topo);
}

static void test_hosts_have_the_addresses_that_packets_carry(void **state)
{
    (void)state;
    struct sim_topo topo;
    struct emu_hosts hosts;
    uint8_t packet[40];
    char text[INET6_ADDRSTRLEN];
    sim_topo_init(&topo);
    for (int i = 0; i < 600; i++) {
        snprintf(text, sizeof(text), "n%d", i);
        sim_topo_add_node(&topo, text);
    }
    emu_hosts_init(&hosts, &topo);
    for (uint32_t i = 0; i < hosts.count; i++) {
        inet_ntop(AF_INET, &hosts.list[i].address4, text, sizeof(text));
        size_t len = packet_to(packet, AF_INET, text);
        assert_int_equal(emu_hosts_of_packet(&hosts, gmc_bytes(packet, len)), i);
        inet_ntop(AF_INET6, &hosts.list[i].address6, text, sizeof(text));
        len = packet_to(packet, AF_INET6, text);
        assert_int_equal(emu_hosts_of_packet(&hosts, gmc_bytes(packet, len)), i);
    }
    emu_hosts_fini(&hosts);
    sim_topo_fini(&topo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_become_dns_names),
        cmocka_unit_test(test_long_names_are_cut),
        cmocka_unit_test(test_packets_find_their_host),
        cmocka_unit_test(test_hosts_have_the_addresses_that_packets_carry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
