/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that a signal removes; see unfinished.h. */
#include "sim-wan/unfinished.h"

#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim-wan/mem.h"

struct sim_unfinished {
    struct sim_unfinished *next;
    pid_t owner;
    char *path;
};

/* What people, shells and system managers end a program with, and what a reader of its output that
 * went away does. */
static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM};

/* A handler is given nothing but its signal's number. Changed only while those are blocked. */
static struct sim_unfinished *files;

static void on_signal(int number)
{
    pid_t self = getpid();
    for (const struct sim_unfinished *file = files; file != NULL; file = file->next)
        if (file->owner == self)
            (void)unlink(file->path);
    (void)raise(number); /* comes when this handler ends, and then does what it does by itself */
}

static void block(sigset_t *before)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        sigaddset(&set, numbers[i]);
    sigprocmask(SIG_BLOCK, &set, before);
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND}, now;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            (void)sigaction(numbers[i], &action, NULL);
}

struct sim_unfinished *sim_unfinished_add(const char *path)
{
    struct sim_unfinished *file = sim_alloc(sizeof(*file));
    sigset_t before;
    *file = (struct sim_unfinished){.owner = getpid(), .path = sim_strdup(path)};
    block(&before);
    file->next = files;
    files = file;
    catch_signals();
    sigprocmask(SIG_SETMASK, &before, NULL);
    return file;
}

void sim_unfinished_drop(struct sim_unfinished *file)
{
    struct sim_unfinished **at = &files;
    sigset_t before;
    if (file == NULL)
        return;
    block(&before);
    while (*at != file)
        at = &(*at)->next;
    *at = file->next;
    sigprocmask(SIG_SETMASK, &before, NULL);
    free(file->path);
    free(file);
}
