/* SPDX-License-Identifier: BSD-2-Clause */
/* Gateways in emulated hosts; see gateways.h. */
#include "sim-wan/emulate/gateways.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "sim-wan/emulate/process.h"
#include "sim-wan/mem.h"
#include "sim-wan/out_file.h"

#define PORT 7411
#define LOG_LINES 10
#define MESSAGES_SUFFIX "-messages" /* gatewayd makes such a socket beside that for control */

/* The host's directory, or a file in it; malloc'ed. */
static char *path_in(const struct emu_gateways *gateways, uint32_t host, const char *file)
{
    return emu_place_path(gateways->place, gateways->hosts->list[host].name, file);
}

/* ---- certificates ---- */
static int run_ca(const struct emu_gateways *gateways, char *const *words, char *error)
{
    char *argv[10] = {gateways->gmcast, "ca"};
    char *log = emu_place_path(gateways->place, "ca.log", NULL);
    for (size_t i = 0; words[i] != NULL; i++)
        argv[i + 2] = words[i];
    int status = emu_process_run(&(struct emu_program){.argv = argv, .log = log}, error);
    free(log);
    return status;
}

static int make_authority(const struct emu_gateways *gateways, char *error)
{
    char *folder = emu_place_path(gateways->place, "ca", NULL);
    char *words[] = {"init", folder, "--name", "CA of an emulated WAN", NULL};
    int status = run_ca(gateways, words, error);
    free(folder);
    return status;
}

static int make_certificate(const struct emu_gateways *gateways, uint32_t host, char *error)
{
    char *folder = emu_place_path(gateways->place, "ca", NULL);
    char *out = path_in(gateways, host, "gateway");
    char *words[] = {"issue", folder, gateways->hosts->list[host].name, "--out", out, NULL};
    int status = run_ca(gateways, words, error);
    free(out);
    free(folder);
    return status;
}

/* ---- configuration ---- */
static void print_peer(const struct emu_gateways *gateways, uint32_t host, uint32_t peer, FILE *out)
{
    const struct emu_host *of = &gateways->hosts->list[peer];
    char *in = path_in(gateways, host, "in");
    char address[INET_ADDRSTRLEN];
    inet_ntop(AF_INET, &of->address4, address, sizeof(address));
    fprintf(out, "peer \"%s\" {\n  alias = \"%s\"\n  address = \"%s:%d\"\n}\n", of->name, of->alias,
            address, PORT);
    fprintf(out, "receive \"%s\" {\n  directory = \"%s\"\n}\n", of->name, in);
    fprintf(out, "serve \"%s\" {\n  directory = \"%s\"\n}\n", of->name, in);
    free(in);
}

/* Is there a line of its own for the option? No option stands twice. */
static bool is_set(const char *lines, const char *option)
{
    size_t len = strlen(option);
    for (const char *at = lines; at != NULL && *at != '\0';) {
        at += strspn(at, " \t");
        if (strncmp(at, option, len) == 0 && strchr(" \t=", at[len]) != NULL)
            return true;
        at = strchr(at, '\n');
        at = at != NULL ? at + 1 : NULL;
    }
    return false;
}

static void print_rate(FILE *out, const char *extra, const char *option, uint64_t bps)
{
    if (!is_set(extra, option))
        fprintf(out, "%s = %" PRIu64 "\n", option, bps);
}

static void print_conf(const struct emu_gateways *gateways, uint32_t host, const char *extra,
                       FILE *out)
{
    const struct emu_hosts *hosts = gateways->hosts;
    char *folder = path_in(gateways, host, NULL);
    char *ca = emu_place_path(gateways->place, "ca", NULL);
    fprintf(out, "domain = \"%s\"\nlisten = \"0.0.0.0:%d\"\n", hosts->list[host].name, PORT);
    fprintf(out, "state = \"%s/state\"\n", folder);
    fprintf(out, "control = \"ipc://%s/control\"\nevents = \"ipc://%s/events\"\n", folder, folder);
    fprintf(out, "export = {\"/\"}\n");
    print_rate(out, extra, "uplink", hosts->list[host].uplink_bps);
    print_rate(out, extra, "downlink", hosts->list[host].downlink_bps);
    fprintf(out, "%s\n", extra != NULL ? extra : "");
    fprintf(out, "tls {\n  certificate = \"%s/gateway.crt\"\n  key = \"%s/gateway.key\"\n", folder,
            folder);
    fprintf(out, "  ca = \"%s/ca.crt\"\n  crl = \"%s/ca.crl\"\n}\n", ca, ca);
    for (uint32_t i = 0; i < hosts->count; i++)
        if (i != host && hosts->list[i].has_gateway)
            print_peer(gateways, host, i, out);
    free(ca);
    free(folder);
}

static int write_conf(const struct emu_gateways *gateways, uint32_t host, const char *extra,
                      char *error)
{
    char *path = path_in(gateways, host, "conf");
    struct sim_out_file out;
    bool ok = sim_out_open(&out, path);
    if (ok) {
        print_conf(gateways, host, extra, out.file);
        ok = sim_out_close(&out, true);
    }
    if (!ok)
        snprintf(error, EMU_ERROR_MAX, "cannot write %s: %s", path, strerror(errno));
    free(path);
    return ok ? 0 : -1;
}

/* Before programs are started that could only say that they failed. */
static int check_sockets(const struct emu_gateways *gateways, uint32_t host, char *error)
{
    char *path = path_in(gateways, host, "control" MESSAGES_SUFFIX);
    size_t len = strlen(path);
    free(path);
    if (len < sizeof(((struct sockaddr_un *)NULL)->sun_path))
        return 0;
    snprintf(
        error, EMU_ERROR_MAX,
        "the sockets of %.80s would have names of %zu bytes, which are too long; rename it, or "
        "set TMPDIR (with --work, that) to a shorter one",
        gateways->hosts->list[host].name, len);
    return -1;
}

static int make_folders(const struct emu_gateways *gateways, uint32_t host, char *error)
{
    static const char *const names[] = {NULL, "state", "in"};
    int status = 0;
    for (size_t i = 0; i < 3 && status == 0; i++) {
        char *path = path_in(gateways, host, names[i]);
        status = mkdir(path, 0755);
        if (status != 0)
            snprintf(error, EMU_ERROR_MAX, "cannot make %s: %s", path, strerror(errno));
        free(path);
    }
    return status;
}

/* ---- readiness, as a service manager is told (sd_notify) ---- */
static int open_notify(struct emu_gateways *gateways, char *error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char *path = emu_place_path(gateways->place, "notify", NULL);
    int yes = 1;
    gateways->notify = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool fits = strlen(path) < sizeof(address.sun_path);
    if (fits)
        memcpy(address.sun_path, path, strlen(path) + 1);
    bool ok = fits && gateways->notify >= 0 &&
              setsockopt(gateways->notify, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) == 0 &&
              bind(gateways->notify, (struct sockaddr *)&address, sizeof(address)) == 0;
    if (!ok)
        snprintf(error, EMU_ERROR_MAX, "cannot open the socket %s: %s", path,
                 fits ? strerror(errno) : "its name is too long; set TMPDIR to a shorter one");
    free(path);
    return ok ? 0 : -1;
}

/* Whose message it is; 0: none is left. */
static pid_t read_notify(const struct emu_gateways *gateways, char *text, size_t size)
{
    union {
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr align;
    } control;
    struct iovec piece = {text, size - 1};
    struct msghdr message = {.msg_iov = &piece,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof(control.bytes)};
    ssize_t len = recvmsg(gateways->notify, &message, MSG_CMSG_CLOEXEC);
    struct cmsghdr *head = len >= 0 ? CMSG_FIRSTHDR(&message) : NULL;
    struct ucred credentials;
    text[len > 0 ? len : 0] = '\0';
    if (head == NULL || head->cmsg_type != SCM_CREDENTIALS)
        return 0;
    memcpy(&credentials, CMSG_DATA(head), sizeof(credentials));
    return credentials.pid;
}

void emu_gateways_on_notify(struct emu_gateways *gateways)
{
    char text[256];
    pid_t pid;
    while ((pid = read_notify(gateways, text, sizeof(text))) > 0) {
        if (strstr(text, "READY=1") == NULL)
            continue;
        for (size_t i = 0; i < gateways->hosts->count; i++) {
            if (gateways->pids[i] == pid && !gateways->ready[i]) {
                gateways->ready[i] = true;
                gateways->ready_count++;
            }
        }
    }
}

/* ---- life ---- */
static char *program(const char *variable, const char *name)
{
    const char *given = getenv(variable);
    return sim_strdup(given != NULL && given[0] != '\0' ? given : name);
}

/* What is asked of a user whose shell does not find them either. */
static void say_where_programs_are(char *error)
{
    size_t len = strlen(error);
    if (strncmp(error, "cannot run ", strlen("cannot run ")) == 0)
        snprintf(error + len, EMU_ERROR_MAX - len,
                 "; put it into PATH, or name the programs in GMCAST and GATEWAYD");
}

int emu_gateways_init(struct emu_gateways *gateways, const struct emu_hosts *hosts,
                      const struct emu_place *place, const char *extra, char *error)
{
    *gateways = (struct emu_gateways){.hosts = hosts, .place = place, .notify = -1};
    gateways->gmcast = program("GMCAST", "gmcast");
    gateways->gatewayd = program("GATEWAYD", "gatewayd");
    gateways->pids = sim_calloc(hosts->count, sizeof(pid_t));
    gateways->ready = sim_calloc(hosts->count, sizeof(bool));
    if (open_notify(gateways, error) != 0)
        return -1;
    for (uint32_t i = 0; i < hosts->count; i++)
        if (hosts->list[i].has_gateway && check_sockets(gateways, i, error) != 0)
            return -1;
    if (make_authority(gateways, error) != 0) {
        say_where_programs_are(error);
        return -1;
    }
    for (uint32_t i = 0; i < hosts->count; i++) {
        if (!hosts->list[i].has_gateway)
            continue;
        gateways->count++;
        if (make_folders(gateways, i, error) != 0 || make_certificate(gateways, i, error) != 0 ||
            write_conf(gateways, i, extra, error) != 0)
            return -1;
    }
    return 0;
}

static pid_t start_one(const struct emu_gateways *gateways, uint32_t host, char *error)
{
    char *conf = path_in(gateways, host, "conf");
    char *log = path_in(gateways, host, "log");
    char *socket_path = emu_place_path(gateways->place, "notify", NULL);
    char *notify = NULL;
    if (asprintf(&notify, "NOTIFY_SOCKET=%s", socket_path) < 0)
        abort();
    char *argv[] = {gateways->gatewayd, "-c", conf, NULL};
    char *environment[] = {notify, NULL};
    pid_t pid = emu_process_start(&(struct emu_program){.argv = argv,
                                                        .environment = environment,
                                                        .netns = gateways->place->netns[host],
                                                        .log = log},
                                  error);
    free(notify);
    free(socket_path);
    free(log);
    free(conf);
    return pid;
}

int emu_gateways_start(struct emu_gateways *gateways, char *error)
{
    for (uint32_t i = 0; i < gateways->hosts->count; i++) {
        if (!gateways->hosts->list[i].has_gateway)
            continue;
        pid_t pid = start_one(gateways, i, error);
        if (pid < 0) {
            say_where_programs_are(error);
            return -1;
        }
        gateways->pids[i] = pid;
    }
    return 0;
}

bool emu_gateways_on_end(struct emu_gateways *gateways, pid_t pid, uint32_t *host)
{
    for (uint32_t i = 0; i < gateways->hosts->count; i++) {
        if (gateways->pids[i] != pid)
            continue;
        gateways->pids[i] = 0;
        *host = i;
        return true;
    }
    return false;
}

bool emu_gateways_are_ready(const struct emu_gateways *gateways)
{
    return gateways->ready_count == gateways->count;
}

bool emu_gateways_run(const struct emu_gateways *gateways)
{
    for (size_t i = 0; i < gateways->hosts->count; i++)
        if (gateways->pids[i] != 0)
            return true;
    return false;
}

void emu_gateways_stop(const struct emu_gateways *gateways)
{
    for (size_t i = 0; i < gateways->hosts->count; i++)
        if (gateways->pids[i] != 0)
            (void)kill(gateways->pids[i], SIGTERM);
}

void emu_gateways_fini(struct emu_gateways *gateways)
{
    if (gateways->notify >= 0)
        close(gateways->notify);
    free(gateways->gmcast);
    free(gateways->gatewayd);
    free(gateways->pids);
    free(gateways->ready);
    *gateways = (struct emu_gateways){.notify = -1};
}

/* ---- for others ---- */
char *emu_gateways_endpoint(const struct emu_gateways *gateways, uint32_t host)
{
    char *path = path_in(gateways, host, "control");
    char *endpoint = NULL;
    if (asprintf(&endpoint, "ipc://%s", path) < 0)
        abort();
    free(path);
    return endpoint;
}

void emu_gateways_print_log(const struct emu_gateways *gateways, uint32_t host)
{
    char *path = path_in(gateways, host, "log");
    char tail[LOG_LINES * 200 + 1];
    FILE *log = fopen(path, "re");
    if (log != NULL) {
        if (fseek(log, -(long)(sizeof(tail) - 1), SEEK_END) != 0)
            rewind(log);
        tail[fread(tail, 1, sizeof(tail) - 1, log)] = '\0';
        fputs(tail, stderr);
        fclose(log);
    }
    free(path);
}
