/* SPDX-License-Identifier: BSD-2-Clause */
/* The configuration: values, and that every mistake is named with its line and what is right. */
#include "tests/lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "gatewayd/conf.h"
#include "tests/unit/gwd_certs.h"

static char dir[64];
static struct test_ca ca;

static int set_up(void **state)
{
    (void)state;
    test_dir_make(dir, sizeof dir);
    test_ca_make(&ca, dir, "ca");
    (void)test_ca_issue(&ca, "cern", "cern.example,www.cern.example", 0, 30);
    (void)test_ca_issue(&ca, "old", "cern.example", -30, -10);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    test_ca_free(&ca);
    test_dir_remove(dir);
    return 0;
}

/* Writes text with every @ replaced by the directory, and reads it. */
static struct gwd_conf *read_text(const char *text, struct gwd_errors *errors)
{
    char path[128], *full = malloc(strlen(text) * 20 + 1), *out = full;
    struct gwd_conf *conf;
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '@')
            out += sprintf(out, "%s", dir);
        else
            *out++ = *p;
    }
    (void)snprintf(path, sizeof path, "%s/gatewayd.conf", dir);
    test_file_write(path, full, (size_t)(out - full));
    free(full);
    memset(errors, 0, sizeof *errors);
    conf = gwd_conf_read(path, errors);
    return conf;
}

#define TLS "tls { certificate = \"@/cern.crt\"\n key = \"@/cern.key\"\n ca = \"@/ca.pem\" }\n"
#define HEAD "domain = \"Cern.Example\"\nstate = \"@\"\n"

/* One of the errors contains all of: line (":3:"), and the words. */
static void expect(const struct gwd_errors *errors, const char *line, const char *words)
{
    for (size_t i = 0; i < errors->count; i++) {
        if (strstr(errors->lines[i], line) != NULL && strstr(errors->lines[i], words) != NULL)
            return;
    }
    gwd_errors_print(errors, stderr);
    fail_msg("no error at %s with: %s", line, words);
}

static void test_good(void **state)
{
    struct gwd_errors errors;
    struct gwd_conf *conf = read_text(
        HEAD
        "cache = 32M\npatience = 500ms\nrate = \"2.5G\"\ncongestion = fixed\n"
        "uplink = 100M\ndownlink = 1G\n"
        "export = {\"@\", \"/tmp\"}\n" TLS
        "peer \"ornl.example\" { alias = \"ornl\" address = \"192.0.2.7:7411\" connect = in }\n"
        "peer \"ufl.example\" { transport = tcp }\n"
        "receive \"ornl.example\" { directory = \"@\" quota = \"10T\" }\n"
        "receive \"*\" { directory = \"/tmp\" }\n",
        &errors);
    (void)state;
    gwd_errors_print(&errors, stderr);
    assert_non_null(conf);
    assert_string_equal(conf->domain, "cern.example");
    assert_string_equal(conf->listen, "0.0.0.0:7411");
    assert_int_equal(conf->cache, 32u << 20);
    assert_int_equal(conf->patience, 500000000);
    assert_int_equal(conf->uplink, 100000000);
    assert_int_equal(conf->downlink, 1000000000);
    assert_int_equal(conf->rate, UINT64_C(2500000000));
    assert_int_equal(conf->congestion, GWD_CONGESTION_FIXED);
    assert_int_equal(conf->exports.count, 2);
    assert_string_equal(conf->exports.items[1], "/tmp");
    assert_int_equal(conf->peer_count, 2);
    assert_int_equal(conf->peers[0].connect, GWD_CONNECT_IN);
    assert_int_equal(conf->peers[1].transport, 2);
    assert_ptr_equal(gwd_conf_resolve(conf, "ornl"), &conf->peers[0]);
    assert_int_equal(conf->receives[0].quota, UINT64_C(10) << 40);
    assert_string_equal(
        gwd_conf_grant_find(conf->receives, conf->receive_count, "ufl.example")->directory, "/tmp");
    assert_int_equal(gwd_conf_line(conf, GWD_TOP, "cache"), 3);
    assert_true(gwd_conf_check(conf, &errors));
    gwd_conf_free(conf);
}

static void test_all_mistakes_are_named(void **state)
{
    struct gwd_errors errors;
    struct gwd_conf *conf = read_text("domain = \"cern.example\"\n"   /* 1 */
                                      "stat = \"/tmp\"\n"             /* 2 */
                                      "cache = 64X\n"                 /* 3 */
                                      "patience = 30\n"               /* 4 */
                                      "congestion = bbr\n"            /* 5 */
                                      "listen = \"7411\"\n"           /* 6 */
                                      "control = \"tcp://*:1\"\n"     /* 7 */
                                      "export = {\"data\"}\n"         /* 8 */
                                      "peer \"a.example\" {\n"        /* 9 */
                                      "  addresses = \"1.2.3.4:5\"\n" /* 10 */
                                      "  transport = quic\n"          /* 11 */
                                      "}\n"
                                      "receive \"a.example\" { }\n" /* 13 */
                                      "workers = 0\n",              /* 14 */
                                      &errors);
    (void)state;
    assert_null(conf);
    expect(&errors, ":2:", "unknown option 'stat'; did you mean 'state'");
    expect(&errors, ":3:", "'64X' is not right for 'cache': expected a size such as 64M");
    expect(&errors, ":4:", "expected a duration");
    expect(&errors, ":5:", "one of model, fixed");
    expect(&errors, ":6:", "HOST:PORT");
    expect(&errors, ":7:", "ipc://");
    expect(&errors, ":8:", "absolute path");
    expect(&errors, ":10:", "did you mean 'address'");
    expect(&errors, ":11:", "auto, udp, tcp");
    expect(&errors, ":13:", "'directory' is missing");
    expect(&errors, ":14:", "at least 1");
    expect(&errors, "gatewayd.conf: ", "section 'tls' is missing");
    gwd_errors_clear(&errors);
}

#define LONG_NAME "a_name_that_goes_on_and_on_and_on_and_on_and_on_and_on_and_on_and_on_and_on"

static void test_syntax(void **state)
{
    struct gwd_errors errors;
    (void)state;
    assert_null(read_text("domain \"cern.example\"\n", &errors));
    expect(&errors, ":1:", "missing equal sign");
    gwd_errors_clear(&errors);
    assert_null(
        read_text("peer \"a.example\" { alias = \"a\" }\npeer \"a.example\" { }\n", &errors));
    expect(&errors, ":2:", "a.example");
    gwd_errors_clear(&errors);
    /* Longer than any option: said once. */
    assert_null(read_text("domain = \"cern.example\"\n" LONG_NAME " = 1\n", &errors));
    expect(&errors, ":2:", "no such option '" LONG_NAME "'");
    assert_int_equal(errors.count, 1);
    gwd_errors_clear(&errors);
    /* What the parser refuses without a word. */
    assert_null(read_text("domain = \"cern.example\"\n\"\" = 1\n", &errors));
    expect(&errors, ":2:", "cannot be parsed; expected: option = value");
    gwd_errors_clear(&errors);
    /* Half a file, as a full disk or an interrupted editor leaves it. */
    assert_null(read_text(HEAD TLS "peer \"a.example\" { alias = \"a\"\n", &errors));
    expect(&errors, ".conf:", "the file ends within section peer \"a.example\"");
    gwd_errors_clear(&errors);
    assert_null(read_text(HEAD "tls { ca = \"/x\" # }", &errors));
    expect(&errors, ".conf:", "the file ends within section tls");
    gwd_errors_clear(&errors);
    assert_null(read_text(HEAD TLS "export = { \"/tmp\"", &errors));
    expect(&errors, ".conf:", "the file ends within an option");
    gwd_errors_clear(&errors);
    memset(&errors, 0, sizeof errors);
    assert_null(gwd_conf_read("/nonexistent/gatewayd.conf", &errors));
    expect(&errors, "gatewayd.conf: ", "No such file");
    gwd_errors_clear(&errors);
}

static void test_long_names(void **state)
{
    char longest[230 + 1], text[600];
    struct gwd_errors errors;
    (void)state;
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    (void)snprintf(text, sizeof text, "domain = \"%s\"\n" TLS, longest);
    assert_null(read_text(text, &errors));
    expect(&errors, ":1:", "a DNS name of at most 229 bytes");
    gwd_errors_clear(&errors);
    (void)snprintf(text, sizeof text, HEAD TLS "peer \"%s\" { }\n", longest);
    assert_null(read_text(text, &errors));
    expect(&errors, ".conf:", "at most 229 bytes");
    gwd_errors_clear(&errors);
    (void)snprintf(text, sizeof text, HEAD TLS "peer \"%s\" { }\n", longest + 1);
    struct gwd_conf *conf = read_text(text, &errors);
    assert_non_null(conf);
    gwd_conf_free(conf);
}

/* The last one would count. */
static void test_twice(void **state)
{
    struct gwd_errors errors;
    struct gwd_conf *conf = read_text("domain = \"cern.example\"\n"         /* 1 */
                                      "cache = 64M\n"                       /* 2 */
                                      "export = {\n\"/tmp\"\n}\n"           /* 3 to 5 */
                                      "cache = 32M\n"                       /* 6 */
                                      "export = {\"/var\"}\n"               /* 7 */
                                      "peer \"a.example\" {alias = \"a\"\n" /* 8 */
                                      "alias = \"b\" }\n"                   /* 9 */
                                      "export += {\"/usr\"}\n" TLS,         /* 10 */
                                      &errors);
    (void)state;
    assert_null(conf);
    expect(&errors, ":6:", "'cache' stands already in line 2");
    expect(&errors, ":7:", "'export' stands already in line 4");
    expect(&errors, ":9:", "'alias' stands already in line 8");
    assert_int_equal(errors.count, 3);
    gwd_errors_clear(&errors);
}

static void test_checks(void **state)
{
    struct gwd_errors errors;
    struct gwd_conf *conf =
        read_text("domain = \"ufl.example\"\n"                           /* 1 */
                  "state = \"@/missing\"\n"                              /* 2 */
                  "user = \"nobody-of-this-name\"\n"                     /* 3 */
                  "listen = \"gateway.example:7411\"\n"                  /* 4 */
                  "tls { certificate = \"@/cern.crt\"\n"                 /* 5 */
                  "key = \"@/old.key\"\n"                                /* 6 */
                  "ca = \"@/cern.key\" }\n"                              /* 7 */
                  "peer \"a.example\" { alias = \"x\" }\n"               /* 8 */
                  "peer \"b.example\" { alias = \"x\" }\n"               /* 9 */
                  "receive \"c.example\" { directory = \"@/ca.pem\" }\n" /* 10 */
                  "events = \"ipc:///run/gmcast/control\"\n"             /* 11 */
                  "log_file = \"@/missing/log\"\n"                       /* 12 */
                  "peer \"d.example\" { alias = \"A.example\" }\n"       /* 13 */
                  "peer \"e.example\" { alias = \"ufl.example\" }\n",    /* 14 */
                  &errors);
    (void)state;
    assert_non_null(conf);
    assert_false(gwd_conf_check(conf, &errors));
    expect(&errors, ":1:", "not in the certificate");
    expect(&errors, ":1:", "www.cern.example");
    expect(&errors, ":2:", "create it");
    expect(&errors, ":3:", "does not exist");
    expect(&errors, ":4:", "numeric address");
    expect(&errors, ":6:", "does not belong");
    expect(&errors, ":7:", "no certificate");
    expect(&errors, ":9:", "alias 'x'");
    expect(&errors, ":10:", "no such peer");
    expect(&errors, ":11:", "that of control");
    expect(&errors, ":12:", "missing/: No such file or directory; create it");
    expect(&errors, ":13:", "alias 'A.example' is the name of another domain");
    expect(&errors, ":14:", "alias 'ufl.example' is the name of another domain");
    gwd_errors_clear(&errors);
    assert_false(gwd_conf_check_receives(conf, &errors)); /* no reason not to start */
    expect(&errors, ":10:", "not a directory");
    gwd_errors_clear(&errors);
    gwd_conf_free(conf);
}

/* Nodes are neighbours, and no domains; a node has one neighbour, which it dials. */
static void test_nodes(void **state)
{
    struct gwd_errors errors;
    struct gwd_conf *conf = read_text(HEAD TLS "peer \"ornl.example\" { alias = \"ornl\" }\n"
                                               "node \"n1.cern.example\" { transport = udp }\n",
                                      &errors);
    (void)state;
    assert_non_null(conf);
    assert_true(gwd_conf_check(conf, &errors));
    assert_int_equal(conf->peer_count, 2);
    assert_true(conf->peers[1].is_node && !conf->peers[0].is_node);
    assert_int_equal(conf->peers[1].connect, GWD_CONNECT_IN);
    assert_int_equal(conf->peers[1].transport, 1);
    assert_null(gwd_conf_resolve(conf, "n1.cern.example"));
    gwd_conf_free(conf);
    conf = read_text(HEAD "node_of = \"ornl.example\"\n" TLS "peer \"ornl.example\" { }\n"
                          "receive \"ufl.example\" { directory = \"@\" }\n",
                     &errors);
    assert_non_null(conf);
    assert_true(gwd_conf_check(conf, &errors));
    assert_int_equal(conf->peers[0].connect, GWD_CONNECT_OUT);
    gwd_conf_free(conf);
    conf = read_text(HEAD "node_of = \"ornl.example\"\n" TLS "peer \"ufl.example\" { }\n", &errors);
    assert_non_null(conf);
    assert_false(gwd_conf_check(conf, &errors));
    expect(&errors, "node_of", "add a section peer \"ornl.example\"");
    expect(&errors, "ufl.example", "speaks to its gateway alone");
    gwd_errors_clear(&errors);
    gwd_conf_free(conf);
}

static void test_expired(void **state)
{
    struct gwd_errors errors;
    struct gwd_conf *conf =
        read_text(HEAD "tls { certificate = \"@/old.crt\" key = \"@/old.key\" ca = \"@/ca.pem\"\n"
                       "crl = \"@/none.pem\" }\n",
                  &errors);
    (void)state;
    assert_non_null(conf);
    assert_false(gwd_conf_check(conf, &errors));
    expect(&errors, ":3:", "has expired");
    expect(&errors, ":4:", "cannot be read");
    gwd_errors_clear(&errors);
    gwd_conf_free(conf);
}

/* What --defaults prints is a configuration: with its comment signs taken away it parses. */
static void test_defaults_parse(void **state)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    (void)state;
    gwd_conf_print_defaults(out);
    (void)fclose(out);
    for (int s = GWD_TOP; s < GWD_SECTIONS; s++) {
        for (const struct gwd_option *o = gwd_conf_options((enum gwd_section)s); o->name; o++) {
            char buffer[128];
            assert_non_null(strstr(text, o->name));
            if (o->deflt != NULL && !gwd_option_is_list(o))
                assert_null(gwd_conf_value_error(o, o->deflt, buffer, sizeof buffer));
        }
    }
    free(text);
}

static void test_comments_keep_lines(void **state)
{
    struct gwd_errors errors;
    (void)state;
    assert_null(read_text("# one\n"                               /* 1 */
                          "domain = \"a#b\" # of it\n"            /* 2 */
                          "// two\n"                              /* 3 */
                          "/* three\n"                            /* 4 */
                          " * four */ cache = 1X # \"\n"          /* 5 */
                          "listen = 'x//y' /* } */ workers = x\n" /* 6 */
                          "#\n#\n\nlog = loud\n",                 /* 10 */
                          &errors));
    expect(&errors, ":2:", "'a#b' is not right");
    expect(&errors, ":5:", "'1X'");
    expect(&errors, ":6:", "'x//y'");
    expect(&errors, ":6:", "'workers'");
    expect(&errors, ":10:", "'loud'");
    gwd_errors_clear(&errors);
    assert_null(read_text("", &errors));
    expect(&errors, "gatewayd.conf: ", "'domain' is missing");
    gwd_errors_clear(&errors);
}

static void test_restart(void **state)
{
    struct gwd_errors errors;
    char names[128];
    struct gwd_conf *a = read_text(HEAD TLS, &errors);
    struct gwd_conf *b =
        read_text(HEAD "workers = 4\nlog = debug\nlisten = \"[::]:7411\"\n" TLS, &errors);
    (void)state;
    gwd_conf_restart_needed(a, b, names, sizeof names);
    assert_string_equal(names, "listen, workers");
    gwd_conf_free(a);
    gwd_conf_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),           cmocka_unit_test(test_all_mistakes_are_named),
        cmocka_unit_test(test_syntax),         cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_twice),          cmocka_unit_test(test_checks),
        cmocka_unit_test(test_nodes),          cmocka_unit_test(test_expired),
        cmocka_unit_test(test_defaults_parse), cmocka_unit_test(test_comments_keep_lines),
        cmocka_unit_test(test_restart),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
