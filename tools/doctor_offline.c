/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the run of gatewayd --doctor, and the reading of what that says. */
#include "tools/doctor_offline.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static enum gmc_ctl_level level_of(const char *name)
{
    for (int level = GMC_CTL_LEVEL_OK; level < GMC_CTL_LEVEL_FAIL; level++) {
        if (strcmp(name, gmc_findings_level_name((enum gmc_ctl_level)level)) == 0)
            return (enum gmc_ctl_level)level;
    }
    return GMC_CTL_LEVEL_FAIL;
}

bool doctor_offline_line(struct gmc_findings *findings, const char *line)
{
    struct gmc_ctl_finding finding;
    const char *level;
    json_int_t value;
    json_t *object = json_loads(line, 0, NULL);
    bool ok = json_unpack(object, "{s:s, s:s, s:s, s:I, s:s, s:s, s:s}", "level", &level, "check",
                          &finding.check, "subject", &finding.subject, "value", &value, "unit",
                          &finding.unit, "text", &finding.text, "advice", &finding.advice) == 0;

    if (ok) {
        finding.level = level_of(level);
        finding.value = value;
        gmc_findings_copy(findings, &finding);
    }
    json_decref(object);
    return ok;
}

static void run(int out, const char *installed, const char *config)
{
    char *const words[] = {"gatewayd", "--doctor", config != NULL ? "-c" : NULL,
                           (char *)(uintptr_t)config, NULL};

    if (dup2(out, STDOUT_FILENO) >= 0) {
        (void)execvp(words[0], words);
        (void)execv(installed, words);
    }
    _exit(127);
}

/* Its output, to be read; the process is *child. NULL with errno. */
static FILE *start(const char *installed, const char *config, pid_t *child)
{
    int ends[2];

    if (pipe(ends) != 0)
        return NULL;
    *child = fork();
    if (*child == 0) {
        (void)close(ends[0]);
        run(ends[1], installed, config);
    }
    (void)close(ends[1]);
    if (*child > 0)
        return fdopen(ends[0], "r");
    (void)close(ends[0]);
    return NULL;
}

void doctor_offline(struct gmc_findings *findings, const char *installed, const char *config)
{
    pid_t child = 0;
    FILE *in = start(installed, config, &child);
    char *line = NULL;
    size_t size = 0;
    int status = -1;
    bool ok = in != NULL;

    while (ok && getline(&line, &size, in) >= 0)
        ok = doctor_offline_line(findings, line);
    free(line);
    if (in != NULL)
        (void)fclose(in);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (ok && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return;
    gmc_findings_add(
        findings, GMC_CTL_LEVEL_FAIL, "config", config != NULL ? config : "gatewayd",
        "gatewayd --doctor, which checks it, cannot be run or does not understand that");
    gmc_findings_advise(findings, "install gatewayd of this version, in PATH or as %s", installed);
}
