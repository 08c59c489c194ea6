/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the fuzzer of the configuration: any file is refused with words, each naming the file, or
 * gives values inside their bounds, which can be checked and compared.
 */
#include <string.h>

#include "base/assert.h"
#include "gatewayd/conf.h"
#include "tests/fuzz/memfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a value of the table is after all was accepted. */
static void check_option(const struct gwd_option *option, const void *values)
{
    const void *at = (const char *)values + option->offset;

    if (gwd_option_is_list(option)) {
        const struct gwd_conf_list *list = at;
        char buffer[256];

        for (size_t i = 0; i < list->count; i++)
            GMC_ASSERT(gwd_conf_value_error(option, list->items[i], buffer, sizeof buffer) == NULL);
    } else if (option->type == GWD_CHOICE) {
        uint64_t number, count = 0;

        memcpy(&number, at, sizeof number);
        while (option->choices[count] != NULL)
            count++;
        GMC_ASSERT(number < count);
    } else if (option->type >= GWD_NUMBER) {
        uint64_t number;

        memcpy(&number, at, sizeof number);
        GMC_ASSERT(number >= option->min && number <= option->max);
    } else {
        char buffer[256];
        char *text;

        memcpy(&text, at, sizeof text);
        GMC_ASSERT(gwd_conf_value_error(option, text, buffer, sizeof buffer) == NULL);
    }
}

static void check_section(enum gwd_section section, const void *values)
{
    for (const struct gwd_option *o = gwd_conf_options(section); o->name != NULL; o++)
        check_option(o, values);
}

static void check_values(const struct gwd_conf *conf)
{
    check_section(GWD_TOP, conf);
    check_section(GWD_TLS, &conf->tls);
    for (size_t i = 0; i < conf->peer_count; i++) {
        check_section(GWD_PEER, &conf->peers[i]);
        GMC_ASSERT(gwd_conf_peer_find(conf, conf->peers[i].name) != NULL);
    }
    for (size_t i = 0; i < conf->receive_count; i++)
        check_section(GWD_RECEIVE, &conf->receives[i]);
    for (size_t i = 0; i < conf->serve_count; i++)
        check_section(GWD_SERVE, &conf->serves[i]);
}

/* Each says where: a message that does not begin with the file's name helps nobody. */
static void check_errors(const struct gwd_errors *errors, const char *name)
{
    for (size_t i = 0; i < errors->count; i++)
        GMC_ASSERT(strncmp(errors->lines[i], name, strlen(name)) == 0);
}

/* Names that the input chose are not opened: one of them may be a device that never ends. */
static void put_path(char **path)
{
    free(*path);
    *path = strdup("/nonexistent/x");
    GMC_ASSERT(*path != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gwd_errors errors = {0};
    char name[MEMFILE_NAME_MAX], names[512];
    int fd = memfile_make(data, size, name);
    struct gwd_conf *conf = gwd_conf_read(name, &errors);

    GMC_ASSERT((conf == NULL) == (errors.count > 0));
    GMC_ASSERT(conf == NULL || memchr(data, 0, size) == NULL);
    if (conf != NULL) {
        check_values(conf);
        put_path(&conf->tls.certificate);
        put_path(&conf->tls.key);
        put_path(&conf->tls.ca);
        GMC_ASSERT(!gwd_conf_check(conf, &errors)); /* there is no certificate */
        gwd_conf_restart_needed(conf, conf, names, sizeof names);
        GMC_ASSERT(names[0] == '\0');
    }
    check_errors(&errors, name);
    gwd_errors_clear(&errors);
    gwd_conf_free(conf);
    close(fd);
    return 0;
}
