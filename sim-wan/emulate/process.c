/* SPDX-License-Identifier: BSD-2-Clause */
/* Starting programs; see process.h. */
#include "sim-wan/emulate/process.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim-wan/emulate/netns.h"

#define SLACK_NS 50000 /* what processes have by default */

static struct {
    int policy;
    struct sched_param param;
    void (*on_broken_pipe)(int);
} usual;

void emu_process_init(void)
{
    usual.policy = sched_getscheduler(0);
    (void)sched_getparam(0, &usual.param);
    /* Whoever read our words may be gone; what is to be taken down is still there. */
    usual.on_broken_pipe = signal(SIGPIPE, SIG_IGN);
}

static int open_log(const char *log, char *error)
{
    int in = open("/dev/null", O_RDONLY);
    int out = open(log, O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0) {
        snprintf(error, EMU_ERROR_MAX, "cannot write %s: %s", log, strerror(errno));
        return -1;
    }
    close(in);
    close(out);
    return 0;
}

/* In the child: becomes the program; words in error when that fails. What the emulator asked for
 * itself (signals blocked, precise timers, priority) is nothing that a program expects. */
static void become(const struct emu_program *program, pid_t parent, char *error)
{
    sigset_t none;
    sigemptyset(&none);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    (void)prctl(PR_SET_TIMERSLACK, SLACK_NS, 0, 0, 0);
    (void)sched_setscheduler(0, usual.policy, &usual.param);
    (void)signal(SIGPIPE, usual.on_broken_pipe);
    if (getppid() != parent) {
        snprintf(error, EMU_ERROR_MAX, "the emulator has ended");
        return;
    }
    if (program->netns != NULL && emu_netns_enter(program->netns, error) != 0)
        return;
    if (program->log != NULL && open_log(program->log, error) != 0)
        return;
    for (size_t i = 0; program->environment != NULL && program->environment[i] != NULL; i++)
        putenv(program->environment[i]);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvp(program->argv[0], program->argv);
    snprintf(error, EMU_ERROR_MAX, "cannot run %s: %s", program->argv[0], strerror(errno));
}

/* What the child says when it fails comes through a pipe that a program that starts closes. */
static int read_words(int fd, char *error)
{
    size_t len = 0;
    ssize_t got;
    while (len < EMU_ERROR_MAX - 1 && ((got = read(fd, error + len, EMU_ERROR_MAX - 1 - len)) > 0 ||
                                       (got < 0 && errno == EINTR)))
        len += got > 0 ? (size_t)got : 0;
    error[len] = '\0';
    return len > 0 ? -1 : 0;
}

pid_t emu_process_start(const struct emu_program *program, char *error)
{
    int words[2];
    pid_t parent = getpid();
    if (pipe2(words, O_CLOEXEC) != 0) {
        snprintf(error, EMU_ERROR_MAX, "cannot make a pipe: %s", strerror(errno));
        return -1;
    }
    pid_t pid = fork();
    if (pid == 0) {
        error[0] = '\0';
        become(program, parent, error);
        (void)!write(words[1], error, strlen(error));
        _exit(127);
    }
    if (pid < 0)
        snprintf(error, EMU_ERROR_MAX, "cannot make a process: %s", strerror(errno));
    close(words[1]);
    if (pid > 0 && read_words(words[0], error) != 0) {
        waitpid(pid, NULL, 0);
        pid = -1;
    }
    close(words[0]);
    return pid;
}

int emu_process_run(const struct emu_program *program, char *error)
{
    int status = 0;
    pid_t pid = emu_process_start(program, error);
    if (pid < 0)
        return -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (status == 0)
        return 0;
    snprintf(error, EMU_ERROR_MAX, "%s %s ended with %d", program->argv[0],
             program->argv[1] != NULL ? program->argv[1] : "", emu_process_status(status));
    return -1;
}

int emu_process_status(int wait_status)
{
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}
