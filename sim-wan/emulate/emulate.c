/* SPDX-License-Identifier: BSD-2-Clause */
/* A run of the emulator; see emulate.h. */
#include "sim-wan/emulate/emulate.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim-wan/emulate/process.h"
#include "sim-wan/emulate/summary.h"
#include "sim-wan/emulate/tell.h"
#include "sim-wan/emulate/tun.h"
#include "sim-wan/mem.h"

#define NOT_RUN 125 /* as env(1), nice(1) and others say it */
#define GATEWAYS_START GMC_S(60)
#define GATEWAYS_STOP GMC_S(10)
#define COMMAND_STOP GMC_S(10)

static void say(const char *text)
{
    fprintf(stderr, "sim-wan: %s\n", text);
}

/* ---- time ---- */

/* Timers that fire when they should, a core when a packet is due, and cores that do not sleep so
 * deep that waking takes longer than the packet may be late (the way of cyclictest). What cannot be
 * had makes packets later; the summary says how late. */
static void be_precise(struct emu_run *run)
{
    struct sched_param first = {0};
    const int32_t latency_us = 0;
    (void)prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    (void)sched_getparam(0, &first);
    first.sched_priority++; /* before its programs, whatever they are */
    (void)sched_setscheduler(0, SCHED_FIFO, &first);
    /* Holds until it is closed. */
    run->wakeful = open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC);
    if (run->wakeful >= 0)
        (void)!write(run->wakeful, &latency_us, sizeof(latency_us));
}

/* ---- signals ---- */
static int open_signals(struct emu_run *run, char *error)
{
    /* What the command leaves running becomes ours, so that nothing stays as a zombie. */
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD, SIGUSR1};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        sigaddset(&set, numbers[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    run->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (run->signals >= 0 && emu_forward_watch(&run->forward, run->signals) == 0)
        return 0;
    snprintf(error, EMU_ERROR_MAX, "cannot watch signals: %s", strerror(errno));
    return -1;
}

static void on_gateway_end(struct emu_run *run, uint32_t host, int status)
{
    if (run->command_end > 0 || run->interrupted != 0)
        return; /* it was asked to */
    fprintf(stderr, "sim-wan: the gateway of %s ended with %d; its log ends with\n",
            run->hosts->list[host].name, emu_process_status(status));
    emu_gateways_print_log(&run->gateways, host);
    run->lost_gateway = true;
}

static void reap(struct emu_run *run)
{
    int status;
    uint32_t host;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == run->command) {
            run->command = 0;
            run->command_status = emu_process_status(status);
            run->command_end = emu_forward_now(&run->forward);
        } else if (run->config->gateways && emu_gateways_on_end(&run->gateways, pid, &host)) {
            on_gateway_end(run, host, status);
        }
    }
}

static void write_summary(struct emu_run *run)
{
    char error[EMU_ERROR_MAX];
    if (run->config->json != NULL && emu_summary_write(run, run->config->json, error) != 0)
        say(error);
}

/* A terminal signals the command too; what was sent to us alone is passed on. */
static void on_signal(struct emu_run *run, const struct signalfd_siginfo *info)
{
    int number = (int)info->ssi_signo;
    if (number == SIGCHLD) {
        reap(run);
    } else if (number == SIGUSR1) {
        write_summary(run);
    } else {
        run->interrupted = number;
        if (run->command > 0 && info->ssi_code != SI_KERNEL)
            (void)kill(run->command, number);
    }
}

/* Carries packets for that long at most, or until something else happens; false when the time is
 * over. */
static bool carry_until(struct emu_run *run, gmc_time end)
{
    gmc_time now = emu_forward_now(&run->forward);
    struct signalfd_siginfo info;
    if (now >= end)
        return false;
    if (!emu_forward_run(&run->forward, end - now))
        return false;
    while (read(run->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
        on_signal(run, &info);
    if (run->config->gateways)
        emu_gateways_on_notify(&run->gateways);
    return true;
}

/* ---- hosts ---- */
static int make_host(struct emu_run *run, uint32_t host, int home, char *error)
{
    if (emu_netns_create(run->place.netns[host], error) != 0)
        return -1;
    char unsaid[EMU_ERROR_MAX] = "";
    int device = emu_tun_open(&run->hosts->list[host], run->forward.mtu, error);
    if (emu_netns_leave(home, device >= 0 ? error : unsaid) != 0 || device < 0)
        return -1;
    if (emu_forward_attach(&run->forward, host, device) == 0)
        return 0;
    snprintf(error, EMU_ERROR_MAX, "cannot watch a device: %s", strerror(errno));
    return -1;
}

static int make_hosts(struct emu_run *run, char *error)
{
    int home = emu_netns_home(error);
    int status = home < 0 ? -1 : 0;
    for (uint32_t i = 0; i < run->hosts->count && status == 0; i++)
        status = make_host(run, i, home, error);
    if (home >= 0)
        close(home);
    return status == 0 ? emu_place_write_hosts(&run->place, run->hosts, error) : -1;
}

uint64_t emu_run_overflows(const struct emu_run *run)
{
    char error[EMU_ERROR_MAX];
    uint64_t dropped = 0;
    int home = emu_netns_home(error);
    for (size_t i = 0; home >= 0 && i < run->place.count; i++)
        if (emu_netns_join(run->place.netns[i], error) == 0)
            dropped += emu_tun_dropped();
    if (home >= 0) {
        (void)emu_netns_leave(home, error);
        close(home);
    }
    return dropped;
}

/* ---- gateways ---- */
static int start_gateways(struct emu_run *run, char *error)
{
    if (emu_gateways_init(&run->gateways, run->hosts, &run->place, run->config->gateway_conf,
                          error) != 0 ||
        emu_gateways_start(&run->gateways, error) != 0)
        return -1;
    if (emu_forward_watch(&run->forward, run->gateways.notify) != 0) {
        snprintf(error, EMU_ERROR_MAX, "cannot watch the gateways: %s", strerror(errno));
        return -1;
    }
    gmc_time end = gmc_time_add(emu_forward_now(&run->forward), GATEWAYS_START);
    while (!emu_gateways_are_ready(&run->gateways) && run->interrupted == 0 && !run->lost_gateway &&
           carry_until(run, end))
        ;
    if (emu_gateways_are_ready(&run->gateways) || run->interrupted != 0)
        return 0;
    snprintf(error, EMU_ERROR_MAX, "%zu of %zu gateways came up", run->gateways.ready_count,
             run->gateways.count);
    return -1;
}

static void stop_gateways(struct emu_run *run)
{
    gmc_time end = gmc_time_add(emu_forward_now(&run->forward), GATEWAYS_STOP);
    emu_gateways_stop(&run->gateways);
    while (emu_gateways_run(&run->gateways) && carry_until(run, end))
        ;
}

/* ---- the command ---- */
/* Wires count from here, and loss traces begin. */
static void begin_command(struct emu_run *run)
{
    struct sim_net *net = &run->forward.net;
    run->command_begin = emu_forward_now(&run->forward);
    sim_engine_run(&run->forward.engine, run->command_begin);
    run->before = sim_calloc(net->wire_count * 2, sizeof(*run->before));
    for (uint32_t i = 0; i < net->wire_count * 2; i++) {
        struct sim_lane *lane = sim_net_lane(net, i / 2, (int)(i % 2));
        run->before[i] = lane->count;
        sim_lane_restart_trace(lane);
    }
}

static int run_command(struct emu_run *run, char *error)
{
    char *environment[EMU_VARIABLES_MAX];
    emu_tell(run, environment);
    begin_command(run);
    pid_t pid = emu_process_start(&(struct emu_program){.argv = run->config->command,
                                                        .environment = environment,
                                                        .netns = run->place.netns[run->config->at]},
                                  error);
    for (size_t i = 0; environment[i] != NULL; i++)
        free(environment[i]);
    if (pid < 0)
        return -1;
    run->command = pid;
    while (run->command > 0 && run->interrupted == 0)
        (void)carry_until(run, GMC_TIME_NEVER);
    gmc_time end = gmc_time_add(emu_forward_now(&run->forward), COMMAND_STOP);
    while (run->command > 0 && carry_until(run, end))
        ;
    return 0;
}

/* ---- all of it ---- */
static int set_up(struct emu_run *run, char *error)
{
    if (run->config->json != NULL && emu_summary_check(run->config->json, error) != 0)
        return -1;
    if (emu_place_open(&run->place, run->hosts, run->config->work, error) != 0 ||
        open_signals(run, error) != 0 || make_hosts(run, error) != 0)
        return -1;
    be_precise(run);
    return run->config->gateways ? start_gateways(run, error) : 0;
}

static void take_down(struct emu_run *run)
{
    if (run->command_end == 0)
        run->command_end = emu_forward_now(&run->forward);
    if (run->config->gateways && run->gateways.hosts != NULL)
        stop_gateways(run);
}

static int exit_status(const struct emu_run *run)
{
    if (run->command_status >= 0)
        return run->command_status;
    return run->interrupted != 0 ? 128 + run->interrupted : NOT_RUN;
}

int emu_run(const struct emu_config *config, const struct sim_topo *topo,
            const struct emu_hosts *hosts)
{
    char error[EMU_ERROR_MAX] = "";
    struct emu_run run = {.config = config,
                          .topo = topo,
                          .hosts = hosts,
                          .place = {.lock = -1},
                          .gateways = {.notify = -1},
                          .signals = -1,
                          .wakeful = -1,
                          .command_status = -1};
    if (emu_forward_init(&run.forward, topo, hosts, config->seed) != 0) {
        say("cannot make an epoll descriptor");
        return NOT_RUN;
    }
    emu_process_init();
    int status = set_up(&run, error);
    if (status == 0 && run.interrupted == 0)
        status = run_command(&run, error);
    if (status != 0)
        say(error);
    take_down(&run);
    if (status == 0) {
        write_summary(&run);
        emu_summary_warn(&run);
    }
    emu_gateways_fini(&run.gateways);
    emu_place_close(&run.place);
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ; /* what was killed just now */
    if (run.wakeful >= 0)
        close(run.wakeful);
    if (run.signals >= 0)
        close(run.signals);
    emu_forward_fini(&run.forward);
    free(run.before);
    return exit_status(&run);
}
