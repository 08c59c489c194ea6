/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the conversation of a sub-command with its gateway. */
#include "tools/session.h"

#include <langinfo.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "tools/draw.h"
#include "tools/progress.h"
#include "tools/report.h"
#include "tools/text.h"

/* How long a domain that has to be asked may take to be connected to. */
#define CONNECT_SECONDS 15.0
/* A daemon that restarts is back long before. */
#define LOST_SECONDS 120.0
/* One that answers but does not know the transfer (yet). */
#define UNKNOWN_SECONDS 5.0
/* An end is noticed within a thousandth of the time that it took, so that nobody waits for it; but
 * a gateway is not asked again until many times as long as its answer took has passed. */
#define POLL_FIRST_SECONDS 0.01
#define POLL_SECONDS 0.2
#define POLL_SHARE 0.001
#define POLL_ANSWERS 20
#define JSON_SECONDS 1.0

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

void session_catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal}; /* no SA_RESTART: waits end */

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaction(numbers[i], &action, NULL);
}

bool session_interrupted(void)
{
    return interrupted != 0;
}

bool session_take_output(int found, enum session_output *output)
{
    if (found == 'j')
        *output = SESSION_JSON;
    else if (found == 'p')
        *output = SESSION_PLAIN;
    else
        return false;
    return true;
}

struct gmc_client *session_open(const struct gmcast_globals *globals)
{
    char error[512];
    struct gmc_client *client = gmc_client_open(globals->gateway, error, sizeof error);

    if (client == NULL)
        gmcast_error("%s", error);
    return client;
}

static double now_seconds(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void pause_seconds(double seconds)
{
    struct timespec ts = {(time_t)seconds, (long)(fmod(seconds, 1) * 1e9)};

    nanosleep(&ts, NULL); /* a signal ends it early, as it should */
}

enum gmc_client_result session_ask(struct gmc_client *client, const struct gmc_ctl_request *request,
                                   const struct gmc_ctl_reply **reply)
{
    double until = now_seconds() + CONNECT_SECONDS;
    enum gmc_client_result result = gmc_client_call(client, request, reply);

    while (result == GMC_CLIENT_AGAIN && now_seconds() < until && !session_interrupted()) {
        pause_seconds(POLL_SECONDS);
        result = gmc_client_call(client, request, reply);
    }
    return result;
}

bool session_call(struct gmc_client *client, const struct gmc_ctl_request *request,
                  const struct gmc_ctl_reply **reply)
{
    if (session_ask(client, request, reply) == GMC_CLIENT_OK)
        return true;
    session_error(client);
    return false;
}

int session_error(const struct gmc_client *client)
{
    /* It may quote names of files. */
    char *safe = text_safe(gmc_client_error(client));

    gmcast_error("%s", safe != NULL ? safe : "out of memory");
    free(safe);
    return EXIT_REFUSED;
}

/* ---- following ---- */

struct follow {
    struct gmc_client *client;
    char channel[GMC_CTL_CHANNEL_TEXT_MAX];
    enum session_output output;
    bool terminal;
    bool colour;
    struct progress *progress;
    size_t drawn;      /* lines of the display on the screen */
    double answered;   /* when the gateway last answered about the transfer */
    bool waiting_said; /* that it does not answer */
    double next_json, next_draw;
    enum gmc_ctl_member_state *said; /* plain: the states that were printed */
    size_t said_count;
};

static void follow_init(struct follow *f, struct gmc_client *client, const char *channel,
                        enum session_output output)
{
    const char *term = getenv("TERM");
    const char *no_colour = getenv("NO_COLOR");

    *f = (struct follow){.client = client, .output = output, .answered = now_seconds()};
    snprintf(f->channel, sizeof f->channel, "%s", channel);
    f->terminal = output == SESSION_AUTO && isatty(STDOUT_FILENO) && term != NULL &&
                  strcmp(term, "dumb") != 0;
    if (output == SESSION_AUTO && !f->terminal)
        f->output = isatty(STDOUT_FILENO) ? SESSION_PLAIN : SESSION_JSON;
    f->colour = f->terminal && (no_colour == NULL || no_colour[0] == '\0');
    f->progress = progress_new();
    if (f->terminal) /* a display is written at once, or it flickers */
        setvbuf(stdout, NULL, _IOFBF, 1 << 16);
}

static void follow_fini(struct follow *f)
{
    progress_free(f->progress);
    free(f->said);
}

/* Back to the first line of the display, so that the next one covers it. */
static void rewind_display(struct follow *f)
{
    if (f->drawn > 0)
        printf("\033[%zuA\r\033[J", f->drawn);
    f->drawn = 0;
}

static void show_display(struct follow *f, const struct gmc_ctl_transfer *transfer)
{
    struct progress_screen screen = {80, 24, f->colour};
    struct winsize size;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
        /* Not the last column and line: some terminals wrap or scroll there. */
        screen.columns = size.ws_col > 20 ? size.ws_col - 1u : 20;
        screen.lines = size.ws_row > 4 ? size.ws_row - 1u : 4;
    }
    rewind_display(f);
    if (f->progress != NULL)
        f->drawn = progress_draw(f->progress, transfer, &screen, stdout);
    fflush(stdout);
}

static void say_member(const struct gmc_ctl_member *m)
{
    char *reason = text_safe(m->reason);
    char bytes[TEXT_FIGURE_MAX];

    printf("%s: %s%s%s (%s, %.2f s)\n", m->domain, gmc_client_member_state_name(m->state),
           m->reason[0] != '\0' ? ": " : "", reason != NULL ? reason : "",
           text_size(m->bytes, bytes), (double)m->elapsed_ns / 1e9);
    free(reason);
}

/* A line for each domain whose state changed. */
static void show_plain(struct follow *f, const struct gmc_ctl_transfer *transfer)
{
    size_t count = transfer->member_count;

    if (count > f->said_count) {
        enum gmc_ctl_member_state *grown = realloc(f->said, count * sizeof *grown);

        if (grown == NULL)
            return;
        f->said = grown;
        while (f->said_count < count)
            f->said[f->said_count++] = GMC_CTL_MEMBER_WAITING;
    }
    for (size_t i = 0; i < count; i++) {
        if (transfer->members[i].state == f->said[i])
            continue;
        f->said[i] = transfer->members[i].state;
        say_member(&transfer->members[i]);
    }
    fflush(stdout);
}

static void show(struct follow *f, const struct gmc_ctl_transfer *transfer)
{
    double now = now_seconds();

    if (f->progress != NULL)
        progress_update(f->progress, transfer, now);
    if (f->terminal) {
        if (now < f->next_draw)
            return;
        show_display(f, transfer);
        f->next_draw = now + POLL_SECONDS;
    } else if (f->output == SESSION_PLAIN) {
        show_plain(f, transfer);
    } else if (now >= f->next_json && !gmc_client_transfer_is_over(transfer->state)) {
        report_line(report_progress(transfer), stdout);
        f->next_json = now + JSON_SECONDS;
    }
}

static void say_result(const struct gmc_ctl_transfer *t)
{
    char size[TEXT_FIGURE_MAX], rate[TEXT_FIGURE_MAX];
    double seconds = (double)t->elapsed_ns / 1e9;
    char *reason = text_safe(t->reason);

    printf("%s: verified at %u of %u domains, %s in %.2f s",
           gmc_client_transfer_state_name(t->state), t->verified_members, t->total_members,
           text_size(t->total_bytes, size), seconds);
    if (t->state == GMC_CTL_TRANSFER_COMPLETE && seconds > 0)
        printf(" (%s, set-up %.3f s)", text_rate((double)t->total_bytes / seconds, rate),
               (double)t->setup_ns / 1e9);
    printf("%s%s\n", t->reason[0] != '\0' ? ": " : "", reason != NULL ? reason : "");
    free(reason);
}

static int end_of_plan(struct follow *f, const struct gmc_ctl_transfer *t)
{
    if (f->output == SESSION_JSON) {
        report_line(report_result(t), stdout);
    } else {
        rewind_display(f);
        draw_plan(t, strcmp(nl_langinfo(CODESET), "UTF-8") == 0, stdout);
        fflush(stdout);
    }
    for (size_t i = 0; i < t->member_count; i++) {
        if (t->members[i].state == GMC_CTL_MEMBER_SILENT)
            return EXIT_PARTIAL;
    }
    return EXIT_COMPLETE;
}

static int end_of(struct follow *f, const struct gmc_ctl_transfer *t)
{
    if (t->state == GMC_CTL_TRANSFER_PLANNED)
        return end_of_plan(f, t);
    if (f->output == SESSION_JSON) {
        report_line(report_result(t), stdout);
    } else {
        rewind_display(f);
        if (t->member_count > 0)
            progress_table(t, stdout);
        say_result(t);
        if (t->state == GMC_CTL_TRANSFER_PARTIAL)
            printf("to go on with what is missing: gmcast resume %.16s\n", t->channel);
        fflush(stdout);
    }
    switch (t->state) {
    case GMC_CTL_TRANSFER_COMPLETE:
        return EXIT_COMPLETE;
    case GMC_CTL_TRANSFER_PARTIAL:
        return EXIT_PARTIAL;
    case GMC_CTL_TRANSFER_CANCELLED:
        return EXIT_CANCELLED;
    default:
        return EXIT_REFUSED;
    }
}

/* How to come back to a transfer that goes on without us. */
static int detached(const struct follow *f, const char *why)
{
    char safe[1024]; /* it may quote names of files */

    text_safe_into(why, safe, sizeof safe);
    fprintf(stderr,
            "%sgmcast: %s; the transfer goes on\n"
            "  watch it:   gmcast watch %s\n"
            "  cancel it:  gmcast cancel %s\n",
            f->terminal ? "\n" : "", safe, f->channel, f->channel);
    return EXIT_DETACHED;
}

/* Once per silence, and not for a short one. */
static void say_waiting(struct follow *f, double silent, const char *why)
{
    char safe[1024];

    if (f->waiting_said || silent <= 1)
        return;
    text_safe_into(why, safe, sizeof safe);
    fprintf(stderr, "%sgmcast: %s; waiting for it\n", f->terminal ? "\n" : "", safe);
    f->drawn = 0; /* the message stands between */
    f->waiting_said = true;
}

/* No status this time. Returns whether to go on asking; otherwise *exit_status is set. */
static bool go_on(struct follow *f, enum gmc_client_result result, bool seen, int *exit_status)
{
    double silent = now_seconds() - f->answered;
    double limit = result == GMC_CLIENT_NOT_FOUND ? UNKNOWN_SECONDS : LOST_SECONDS;

    if (result == GMC_CLIENT_INTERRUPTED)
        return true; /* the loop looks at the signal */
    if ((!seen && result != GMC_CLIENT_AGAIN) || result == GMC_CLIENT_NO_MEMORY ||
        result == GMC_CLIENT_BAD_REPLY || (!seen && silent > CONNECT_SECONDS)) {
        *exit_status = session_error(f->client);
        return false;
    }
    if (silent > limit) {
        if (result == GMC_CLIENT_NOT_FOUND)
            *exit_status = session_error(f->client);
        else
            *exit_status = detached(f, gmc_client_error(f->client));
        return false;
    }
    say_waiting(f, silent, gmc_client_error(f->client));
    return true;
}

/* A gateway that is only a target does not know how it goes elsewhere: "complete" would say too
 * much. Returns whether to go on waiting for the source. */
static bool go_on_without_source(struct follow *f, const struct gmc_ctl_transfer *transfer)
{
    double silent = now_seconds() - f->answered;

    if (silent > LOST_SECONDS) {
        detached(f, transfer->reason);
        return false;
    }
    say_waiting(f, silent, transfer->reason);
    return true;
}

static double poll_pause(double since, double answer_seconds)
{
    double wanted = fmax(since * POLL_SHARE, answer_seconds * POLL_ANSWERS);

    return fmin(fmax(wanted, POLL_FIRST_SECONDS), POLL_SECONDS);
}

static int follow_loop(struct follow *f)
{
    const struct gmc_ctl_transfer *transfer;
    double began = now_seconds();
    bool seen = false;
    int exit_status = EXIT_REFUSED;

    while (!session_interrupted()) {
        double asked = now_seconds();
        enum gmc_client_result result = gmc_client_status(f->client, f->channel, &transfer);
        double answer_seconds = now_seconds() - asked;

        if (result == GMC_CLIENT_OK && (transfer->is_source || !seen)) {
            /* A prefix was enough to find it; from now on it is the whole name. */
            snprintf(f->channel, sizeof f->channel, "%s", transfer->channel);
            seen = true;
        }
        if (result == GMC_CLIENT_OK && transfer->is_source) {
            f->answered = now_seconds();
            f->waiting_said = false;
            show(f, transfer);
            if (gmc_client_transfer_is_over(transfer->state))
                return end_of(f, transfer);
        } else if (result == GMC_CLIENT_OK) {
            if (!go_on_without_source(f, transfer))
                return EXIT_DETACHED;
        } else if (!go_on(f, result, seen, &exit_status)) {
            return exit_status;
        }
        pause_seconds(poll_pause(asked - began, answer_seconds));
    }
    return detached(f, "interrupted");
}

int session_follow(struct gmc_client *client, const char *channel, enum session_output output)
{
    struct follow follow;
    int status;

    session_catch_signals();
    follow_init(&follow, client, channel, output);
    status = follow_loop(&follow);
    follow_fini(&follow);
    return status;
}

/* There is nothing to be saved. */
static int failed(const struct gmc_ctl_transfer *transfer)
{
    char safe[512];

    text_safe_into(transfer->reason, safe, sizeof safe);
    fprintf(stderr, "gmcast: the transfer failed: %s\n", safe);
    return EXIT_REFUSED;
}

static int save_loop(struct follow *f)
{
    const struct gmc_ctl_transfer *transfer;
    double began = now_seconds();
    int exit_status = EXIT_REFUSED;

    while (!session_interrupted()) {
        enum gmc_client_result result = gmc_client_status(f->client, f->channel, &transfer);
        bool answered = result == GMC_CLIENT_OK && transfer->is_source;

        if (answered && transfer->state == GMC_CTL_TRANSFER_FAILED)
            return failed(transfer);
        /* What is over a crash cannot end any more. */
        if (answered && (!transfer->is_saving || gmc_client_transfer_is_over(transfer->state)))
            return EXIT_COMPLETE;
        if (answered && transfer->reason[0] != '\0') {
            char why[512];
            snprintf(why, sizeof why, "a restart of the gateway would forget this, since %s",
                     transfer->reason);
            return detached(f, why);
        }
        if (answered) {
            f->answered = now_seconds();
            say_waiting(f, f->answered - began, "the transfer goes on, but is not saved yet");
        } else if (result == GMC_CLIENT_OK) {
            if (!go_on_without_source(f, transfer))
                return EXIT_DETACHED;
        } else if (!go_on(f, result, true, &exit_status)) {
            return exit_status;
        }
        pause_seconds(POLL_FIRST_SECONDS);
    }
    return detached(f, "interrupted");
}

int session_wait_saved(struct gmc_client *client, const char *channel)
{
    struct follow follow;
    int status;

    follow_init(&follow, client, channel, SESSION_PLAIN);
    status = save_loop(&follow);
    follow_fini(&follow);
    return status;
}
