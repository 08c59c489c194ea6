/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of what gatewayd finds out for gmcast doctor without running. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gatewayd/doctor.h"
#include "tests/lib/unit.h"
#include "tests/unit/gwd_certs.h"

struct fixture {
    char dir[256];
    struct test_ca ca;
    char file[300];
    struct gmc_findings findings;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    test_dir_make(f->dir, sizeof f->dir);
    test_ca_make(&f->ca, f->dir, "ca");
    (void)snprintf(f->file, sizeof f->file, "%s/conf", f->dir);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    gmc_findings_clear(&f->findings);
    test_ca_free(&f->ca);
    test_dir_remove(f->dir);
    free(f);
    return 0;
}

/* A socket that listens on a port of its own. */
static int hold_port(unsigned *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

static unsigned free_port(void)
{
    unsigned port;

    (void)close(hold_port(&port));
    return port;
}

/* A gateway whose certificate is good for so many days yet. */
static void configure(struct fixture *f, int days, unsigned port, const char *more)
{
    char text[4096];
    int len;

    (void)test_ca_issue(&f->ca, "a", "a.test", -60, days);
    test_ca_revoke(&f->ca, "crl", NULL, 0);
    len = snprintf(text, sizeof text,
                   "domain = \"a.test\"\nlisten = \"127.0.0.1:%u\"\nstate = \"%s\"\n"
                   "control = \"ipc://%s/c\"\nevents = \"ipc://%s/e\"\n%s\n"
                   "tls {\ncertificate = \"%s/a.crt\"\nkey = \"%s/a.key\"\nca = \"%s\"\n"
                   "crl = \"%s/crl\"\n}\n",
                   port, f->dir, f->dir, f->dir, more, f->dir, f->dir, f->ca.ca_path, f->dir);
    assert_in_range(len, 1, sizeof text - 1);
    test_file_write(f->file, text, (size_t)len);
}

static const struct gmc_ctl_finding *find(const struct fixture *f, const char *check)
{
    for (size_t i = 0; i < f->findings.count; i++) {
        if (strcmp(f->findings.list[i].check, check) == 0)
            return &f->findings.list[i];
    }
    return NULL;
}

static void expect(const struct fixture *f, const char *check, enum gmc_ctl_level level)
{
    const struct gmc_ctl_finding *found = find(f, check);

    assert_non_null(found);
    assert_int_equal(found->level, level);
    assert_int_equal(found->advice[0] != '\0', level != GMC_CTL_LEVEL_OK);
}

static void look(struct fixture *f)
{
    gmc_findings_clear(&f->findings);
    gwd_doctor_without_daemon(&f->findings, f->file);
}

static void finds_nothing_wrong(void **state)
{
    struct fixture *f = *state;

    configure(f, 90, free_port(), "");
    look(f);
    expect(f, "config", GMC_CTL_LEVEL_OK);
    expect(f, "certificate", GMC_CTL_LEVEL_OK);
    expect(f, "certificate-name", GMC_CTL_LEVEL_OK);
    expect(f, "crl", GMC_CTL_LEVEL_OK);
    expect(f, "port", GMC_CTL_LEVEL_OK);
    expect(f, "cache", GMC_CTL_LEVEL_OK);
    assert_non_null(find(f, "storage"));
    assert_string_equal(find(f, "storage")->unit, "bytes");
    assert_non_null(find(f, "clock"));
}

static void counts_the_days_of_a_certificate(void **state)
{
    static const struct {
        int days;
        enum gmc_ctl_level level;
        const char *word;
    } cases[] = {{40, GMC_CTL_LEVEL_OK, ""},
                 {30, GMC_CTL_LEVEL_WARN, "soon"},
                 {6, GMC_CTL_LEVEL_WARN, "this week"},
                 {1, GMC_CTL_LEVEL_WARN, "today"},
                 {-2, GMC_CTL_LEVEL_FAIL, "now"}};
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        configure(f, cases[i].days, free_port(), "");
        look(f);
        expect(f, "certificate", cases[i].level);
        assert_in_range(find(f, "certificate")->value - cases[i].days + 2, 0, 4);
        assert_non_null(strstr(find(f, "certificate")->advice, cases[i].word));
    }
    expect(f, "config", GMC_CTL_LEVEL_FAIL); /* it does not start with the last one */
}

static void says_what_is_wrong_in_the_file(void **state)
{
    struct fixture *f = *state;

    configure(f, 90, free_port(), "workers = 0\nnonsense = 1");
    look(f);
    expect(f, "config", GMC_CTL_LEVEL_FAIL);
    assert_null(find(f, "certificate"));
    (void)unlink(f->file);
    look(f);
    expect(f, "config", GMC_CTL_LEVEL_FAIL);
    assert_non_null(strstr(find(f, "config")->text, f->file));
}

static void sees_who_holds_the_port(void **state)
{
    struct fixture *f = *state;
    unsigned port;
    int fd = hold_port(&port);

    configure(f, 90, port, "");
    look(f);
    expect(f, "port", GMC_CTL_LEVEL_FAIL);
    assert_non_null(strstr(find(f, "port")->text, "TCP"));
    (void)close(fd);
}

static void warns_of_a_cache_that_does_not_fit(void **state)
{
    struct fixture *f = *state;

    configure(f, 90, free_port(), "cache = \"1T\"");
    look(f);
    expect(f, "cache", GMC_CTL_LEVEL_WARN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(finds_nothing_wrong, setup, teardown),
        cmocka_unit_test_setup_teardown(counts_the_days_of_a_certificate, setup, teardown),
        cmocka_unit_test_setup_teardown(says_what_is_wrong_in_the_file, setup, teardown),
        cmocka_unit_test_setup_teardown(sees_who_holds_the_port, setup, teardown),
        cmocka_unit_test_setup_teardown(warns_of_a_cache_that_does_not_fit, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
