/* SPDX-License-Identifier: BSD-2-Clause */
/* The recorder of captures, as of a tap at the ends of wires: a file A-B.pcap for each wire, with
 * what arrives at either end. Readable for tcpdump and Wireshark: raw IP, time stamps in
 * nanoseconds since the scenario's clock began. Heads are made up, see ip_head.h.
 *
 *   DIRECTORY[,snap=BYTES][,NODE]...
 *
 * keeps the first BYTES of each packet (128), of all wires or of those at the nodes.
 *
 * Source  pcap-savefile(5); LINKTYPE_RAW
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim-wan/mem.h"
#include "sim-wan/run/drive.h"
#include "sim-wan/run/ip_head.h"
#include "sim-wan/run/record_file.h"
#include "sim-wan/run/recorders.h"
#include "sim-wan/topo/units.h"

#define MAGIC_NANOSECONDS 0xa1b23c4du
#define LINKTYPE_RAW 101u
#define SNAP_DEFAULT 128u
#define SNAP_MAX 262144u
/* As many files as a process may have open by custom, less some. */
#define FILES_MAX 900u
#define PATH_BYTES_MAX 4096

struct pcap {
    const struct sim_run *run;
    uint32_t snap;
    struct sim_out_file *files; /* by wire; closed: not wanted */
};

/* ---- what is wanted ---- */
struct wish {
    char *folder;
    bool *wires; /* that are wanted */
    uint32_t snap;
};

static void free_wish(struct wish *wish)
{
    free(wish->folder);
    free(wish->wires);
}

static bool choose_node(const struct sim_topo *topo, struct wish *wish, const char *name,
                        char *error)
{
    uint32_t node = sim_topo_find(topo, name);
    if (node == UINT32_MAX) {
        snprintf(error, SIM_RECORD_ERROR_MAX,
                 "pcap: no node is called '%.80s'; expected DIRECTORY[,snap=BYTES][,NODE]...",
                 name);
        return false;
    }
    for (size_t i = 0; i < topo->link_count; i++)
        wish->wires[i] = wish->wires[i] || topo->links[i].a == node || topo->links[i].b == node;
    return true;
}

static bool parse_words(const struct sim_topo *topo, struct wish *wish, char *error)
{
    char *rest = NULL;
    bool is_chosen = false;
    strtok_r(wish->folder, ",", &rest); /* ends the directory's name where its comma is */
    for (char *word; (word = strtok_r(NULL, ",", &rest)) != NULL;) {
        uint64_t snap = 0;
        if (strncmp(word, "snap=", 5) != 0) {
            is_chosen = true;
            if (!choose_node(topo, wish, word, error))
                return false;
        } else if (!sim_parse_count(word + 5, SNAP_MAX, &snap) || snap < SIM_IP_HEAD_MAX) {
            snprintf(error, SIM_RECORD_ERROR_MAX, "pcap: '%.40s': expected snap=%u to %u", word,
                     SIM_IP_HEAD_MAX, SNAP_MAX);
            return false;
        } else {
            wish->snap = (uint32_t)snap;
        }
    }
    size_t count = 0;
    for (size_t i = 0; i < topo->link_count; i++) {
        wish->wires[i] = wish->wires[i] || !is_chosen;
        count += wish->wires[i];
    }
    if (count > FILES_MAX)
        snprintf(error, SIM_RECORD_ERROR_MAX,
                 "pcap: %zu wires are too many files; name some nodes: DIRECTORY,NODE,...", count);
    return count <= FILES_MAX;
}

static bool parse_target(const struct sim_topo *topo, const char *target, struct wish *wish,
                         char *error)
{
    *wish = (struct wish){.folder = sim_strdup(target),
                          .wires = sim_calloc(topo->link_count, sizeof(*wish->wires)),
                          .snap = SNAP_DEFAULT};
    if (parse_words(topo, wish, error))
        return true;
    free_wish(wish);
    return false;
}

static bool check_pcap(const struct sim_topo *topo, const char *target, char *error)
{
    struct wish wish;
    if (!parse_target(topo, target, &wish, error))
        return false;
    free_wish(&wish);
    return true;
}

/* ---- files ---- */
static bool write_file_head(FILE *file, uint32_t snap)
{
    const uint16_t version[2] = {2, 4};
    const uint32_t magic = MAGIC_NANOSECONDS, rest[4] = {0, 0, snap, LINKTYPE_RAW};
    return fwrite(&magic, sizeof(magic), 1, file) == 1 &&
           fwrite(version, sizeof(version), 1, file) == 1 &&
           fwrite(rest, sizeof(rest), 1, file) == 1;
}

/* Whether a wire before this one has the name: those of "a-b" to "c" and of "a" to "b-c". */
static bool is_taken(const struct pcap *pcap, uint32_t wire, const char *path)
{
    for (uint32_t i = 0; i < wire; i++)
        if (pcap->files[i].path != NULL && strcmp(pcap->files[i].path, path) == 0)
            return true;
    return false;
}

static bool open_wire(struct pcap *pcap, const char *folder, uint32_t wire, char *error)
{
    const struct sim_topo *topo = &pcap->run->plan->topo;
    const char *a = topo->nodes[topo->links[wire].a].name;
    const char *b = topo->nodes[topo->links[wire].b].name;
    char path[PATH_BYTES_MAX];
    snprintf(path, sizeof(path), "%.3000s/%.255s-%.255s.pcap", folder, a, b);
    if (is_taken(pcap, wire, path))
        snprintf(path, sizeof(path), "%.3000s/%.255s-%.255s.%" PRIu32 ".pcap", folder, a, b, wire);
    return sim_record_create(&pcap->files[wire], NULL, path, error) &&
           write_file_head(pcap->files[wire].file, pcap->snap);
}

static bool open_wires(struct pcap *pcap, const struct wish *wish, char *error)
{
    if (!sim_record_make_folder(wish->folder, error))
        return false;
    for (uint32_t i = 0; i < pcap->run->plan->topo.link_count; i++)
        if (wish->wires[i] && !open_wire(pcap, wish->folder, i, error))
            return false;
    return true;
}

static bool close_pcap(void *state, bool keep, char *error)
{
    struct pcap *pcap = state;
    bool ok = true;
    for (size_t i = 0; i < pcap->run->plan->topo.link_count; i++)
        ok = sim_record_close(&pcap->files[i], keep, error) && ok;
    free(pcap->files);
    free(pcap);
    return ok;
}

static void *open_pcap(const struct sim_run *run, const char *target, char *error)
{
    const struct sim_topo *topo = &run->plan->topo;
    struct wish wish;
    if (!parse_target(topo, target, &wish, error))
        return NULL;
    struct pcap *pcap = sim_calloc(1, sizeof(*pcap));
    pcap->run = run;
    pcap->snap = wish.snap;
    pcap->files = sim_calloc(topo->link_count, sizeof(*pcap->files));
    bool ok = open_wires(pcap, &wish, error);
    free_wish(&wish);
    if (ok)
        return pcap;
    close_pcap(pcap, false, (char[SIM_RECORD_ERROR_MAX]){0});
    return NULL;
}

/* ---- packets ---- */
static void on_packet(void *state, uint32_t wire, int direction, enum sim_wire_news news,
                      enum sim_drop drop, const struct sim_packet *packet)
{
    struct pcap *pcap = state;
    FILE *file = pcap->files[wire].file;
    uint8_t head[SIM_IP_HEAD_MAX];
    (void)direction;
    (void)drop;
    if (news != SIM_WIRE_DELIVERED || file == NULL)
        return;
    gmc_time now = pcap->run->world->engine.now;
    gmc_duration since = gmc_time_sub(now, pcap->run->zero);
    uint32_t head_bytes = (uint32_t)sim_ip_head(packet, now, head);
    uint32_t kept = packet->wire_bytes < pcap->snap ? packet->wire_bytes : pcap->snap;
    const uint32_t record[4] = {(uint32_t)(since / GMC_S(1)), (uint32_t)(since % GMC_S(1)), kept,
                                packet->wire_bytes};
    fwrite(record, sizeof(record), 1, file);
    fwrite(head, head_bytes, 1, file);
    uint32_t data = kept - head_bytes < packet->len ? kept - head_bytes : packet->len;
    fwrite(packet->data, 1, data, file);
    for (uint32_t i = head_bytes + data; i < kept; i++)
        putc(0, file);
}

const struct sim_recorder_ops sim_record_pcap = {
    .name = "pcap",
    .target = "DIRECTORY[,snap=BYTES][,NODE]...",
    .summary = "captures of wires for tcpdump",
    .check = check_pcap,
    .open = open_pcap,
    .packet = on_packet,
    .close = close_pcap,
};
