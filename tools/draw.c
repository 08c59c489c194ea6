/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the pictures of trees and matrices. */
#include "tools/draw.h"

#include <stdlib.h>
#include <string.h>

#include "tools/text.h"
#include "tools/trees.h"

/* Deeper trees are drawn as if this deep. */
#define INDENT_MAX 512

struct tree {
    const struct gmc_ctl_transfer *transfer;
    size_t stripe;
    const char *root;
    bool *drawn; /* per member */
    bool lines;
    FILE *out;
};

static const char *source_of(const struct gmc_ctl_transfer *transfer)
{
    const char *at = strchr(transfer->channel, '@');

    return at != NULL ? at + 1 : "source";
}

static void put_safe(const char *text, FILE *out)
{
    char *safe = text_safe(text);

    fputs(safe != NULL ? safe : "?", out);
    free(safe);
}

static void put_member(const struct tree *tree, const struct gmc_ctl_member *m)
{
    char latency[TEXT_FIGURE_MAX];

    put_safe(m->domain, tree->out);
    if (m->latency_ns > 0 && strcmp(trees_parent(m, tree->stripe), m->parent) == 0)
        fprintf(tree->out, "  %s", text_latency(m->latency_ns, latency));
    if (tree->transfer->state != GMC_CTL_TRANSFER_PLANNED || m->state != GMC_CTL_MEMBER_WAITING)
        fprintf(tree->out, "  %s", gmc_client_member_state_name(m->state));
    if (m->reason[0] != '\0') {
        fputs(": ", tree->out);
        put_safe(m->reason, tree->out);
    }
    fputc('\n', tree->out);
}

/* The next member below parent from index `from` on that is not drawn yet. */
static size_t next_child(const struct tree *tree, const char *parent, size_t from)
{
    const struct gmc_ctl_transfer *t = tree->transfer;

    while (
        from < t->member_count &&
        (tree->drawn[from] || strcmp(trees_parent(&t->members[from], tree->stripe), parent) != 0))
        from++;
    return from;
}

static void put_children(struct tree *tree, const char *parent, char *indent)
{
    const struct gmc_ctl_transfer *t = tree->transfer;
    size_t at = next_child(tree, parent, 0);
    size_t len = strlen(indent);

    while (at < t->member_count) {
        size_t next = next_child(tree, parent, at + 1);
        bool last = next >= t->member_count;

        /* Marked first: whatever a gateway reports, this ends. */
        tree->drawn[at] = true;
        fputs(indent, tree->out);
        if (tree->lines)
            fputs(last ? "└── " : "├── ", tree->out);
        else
            fputs(last ? "`-- " : "|-- ", tree->out);
        put_member(tree, &t->members[at]);
        if (len + 8 < INDENT_MAX)
            strcpy(indent + len, last ? "    " : tree->lines ? "│   " : "|   ");
        put_children(tree, t->members[at].domain, indent);
        indent[len] = '\0';
        at = next;
    }
}

static void draw_stripe(const struct gmc_ctl_transfer *transfer, size_t stripe, bool lines,
                        FILE *out)
{
    struct tree tree = {
        transfer, stripe, source_of(transfer), calloc(transfer->member_count + 1, sizeof(bool)),
        lines,    out};
    char indent[INDENT_MAX] = "";
    bool said = false;

    if (tree.drawn == NULL)
        return;
    put_safe(tree.root, out);
    if (transfer->state == GMC_CTL_TRANSFER_PLANNED)
        fprintf(out, "  source  (planned, %s", transfer->shape);
    else
        fprintf(out, "  source  (tree %u, %s", transfer->tree_version, transfer->shape);
    if (trees_count(transfer) > 1)
        fprintf(out, ", stripe %zu of %zu", stripe + 1, trees_count(transfer));
    fputs(")\n", out);
    put_children(&tree, tree.root, indent);
    for (size_t i = 0; i < transfer->member_count; i++) {
        if (tree.drawn[i])
            continue;
        if (!said)
            fputs("not attached:\n", out);
        said = true;
        fputs("    ", out);
        put_member(&tree, &transfer->members[i]);
    }
    free(tree.drawn);
}

void draw_tree(const struct gmc_ctl_transfer *transfer, bool lines, FILE *out)
{
    for (size_t stripe = 0; stripe < trees_count(transfer); stripe++)
        draw_stripe(transfer, stripe, lines, out);
}

static void put_limit(const struct gmc_ctl_transfer *t, FILE *out)
{
    const struct gmc_ctl_plan *plan = &t->plan;
    bool uplink = plan->limit == GMC_CTL_LIMIT_UPLINK;
    char rate[TEXT_FIGURE_MAX];

    text_rate((double)plan->limit_bps / 8, rate);
    if (plan->limit == GMC_CTL_LIMIT_CAP) {
        fputs("limited by --rate\n", out);
    } else if (plan->limit != GMC_CTL_LIMIT_NONE) {
        fprintf(out, "limited by the %s of ", uplink ? "uplink" : "downlink");
        put_safe(plan->limit_domain, out);
        fprintf(out, ": %s%s", rate,
                plan->assumed    ? ", which is assumed: it is not known"
                : plan->measured ? ", as measured"
                                 : "");
        if (uplink && trees_count(t) > 1)
            fprintf(out, ", for %u children over %zu stripes", plan->copies, trees_count(t));
        else if (uplink && plan->copies > 1)
            fprintf(out, ", for %u children", plan->copies);
        fputc('\n', out);
    }
}

/* What the plan counts with, and where that comes from. */
static void put_rates(const struct gmc_ctl_plan *plan, FILE *out)
{
    static const char *const origins[] = {[GMC_CTL_ORIGIN_UNKNOWN] = "",
                                          [GMC_CTL_ORIGIN_CONFIGURED] = ", configured",
                                          [GMC_CTL_ORIGIN_MEASURED] = ", measured",
                                          [GMC_CTL_ORIGIN_ASSUMED] = ", assumed"};
    char rate[TEXT_FIGURE_MAX];

    if (plan->rate_count > 0)
        fputs("it counts with these rates, without headers:\n", out);
    for (size_t i = 0; i < plan->rate_count; i++) {
        const struct gmc_ctl_rate *at = &plan->rates[i];

        fputs("    ", out);
        put_safe(at->domain, out);
        fprintf(out, ": uplink %s%s", text_rate((double)at->uplink_bps / 8, rate),
                origins[at->uplink_origin]);
        if (at->copies > 0)
            fprintf(out, ", for %u %s", at->copies, at->copies == 1 ? "child" : "children");
        if (at->downlink_bps > 0)
            fprintf(out, "; downlink %s, configured",
                    text_rate((double)at->downlink_bps / 8, rate));
        fputc('\n', out);
    }
}

void draw_plan(const struct gmc_ctl_transfer *transfer, bool lines, FILE *out)
{
    const struct gmc_ctl_plan *plan = &transfer->plan;
    char size[TEXT_FIGURE_MAX], rate[TEXT_FIGURE_MAX];

    draw_tree(transfer, lines, out);
    text_size(transfer->total_bytes, size);
    if (plan->time_ns > 0)
        fprintf(out, "predicted: %s at each domain after %.2f s and the set-up (%s)\n", size,
                (double)plan->time_ns / 1e9, text_rate((double)plan->rate_bps / 8, rate));
    else
        fprintf(out, "%s; no prediction: too many domains, or too little is known\n", size);
    put_limit(transfer, out);
    put_rates(plan, out);
    if (plan->bound_ns > 0)
        fprintf(out, "no trees could take less than %.2f s\n", (double)plan->bound_ns / 1e9);
    if (transfer->reason[0] != '\0') {
        put_safe(transfer->reason, out);
        fputc('\n', out);
    }
}

/* In quotes, as the dot language wants it. */
static void put_quoted(const char *text, FILE *out)
{
    char *safe = text_safe(text);

    fputc('"', out);
    for (const char *at = safe != NULL ? safe : "?"; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\')
            fputc('\\', out);
        fputc(*at, out);
    }
    fputc('"', out);
    free(safe);
}

static const char *dot_colour(enum gmc_ctl_member_state state)
{
    switch (state) {
    case GMC_CTL_MEMBER_VERIFIED:
        return "palegreen";
    case GMC_CTL_MEMBER_FAILED:
        return "lightpink";
    case GMC_CTL_MEMBER_SILENT:
    case GMC_CTL_MEMBER_LEFT:
        return "khaki";
    default:
        return "white";
    }
}

/* An edge of the tree of a stripe; several trees are told apart by colour and number. */
static void put_edge(const struct gmc_ctl_transfer *t, const struct gmc_ctl_member *m,
                     size_t stripe, FILE *out)
{
    static const char *const colours[GMC_CTL_STRIPES_MAX] = {"black",     "blue",    "red",
                                                             "darkgreen", "orange",  "purple",
                                                             "brown",     "deeppink"};
    const char *parent = trees_parent(m, stripe);
    char latency[TEXT_FIGURE_MAX];

    if (parent[0] == '\0')
        return;
    fputs("    ", out);
    put_quoted(parent, out);
    fputs(" -> ", out);
    put_quoted(m->domain, out);
    if (trees_count(t) > 1)
        fprintf(out, " [color=%s, label=\"%zu\"]", colours[stripe % GMC_CTL_STRIPES_MAX],
                stripe + 1);
    else if (m->latency_ns > 0)
        fprintf(out, " [label=\"%s\"]", text_latency(m->latency_ns, latency));
    fputs(";\n", out);
}

void draw_dot(const struct gmc_ctl_transfer *transfer, FILE *out)
{
    fputs("digraph gmcast {\n    label=", out);
    put_quoted(transfer->channel, out);
    fputs(";\n    node [shape=box, style=filled, fillcolor=white];\n    ", out);
    put_quoted(source_of(transfer), out);
    fputs(" [peripheries=2];\n", out);
    for (size_t i = 0; i < transfer->member_count; i++) {
        const struct gmc_ctl_member *m = &transfer->members[i];

        fputs("    ", out);
        put_quoted(m->domain, out);
        fprintf(out, " [fillcolor=%s];\n", dot_colour(m->state));
        for (size_t stripe = 0; stripe < trees_count(transfer); stripe++)
            put_edge(transfer, m, stripe, out);
    }
    fputs("}\n", out);
}

/* ---- peers ---- */

static double loss_percent(const struct gmc_ctl_peer *peer)
{
    return peer->packets_sent > 0 ? 100.0 * (double)peer->packets_lost / (double)peer->packets_sent
                                  : 0;
}

static void put_multicast(const struct gmc_ctl_multicast *multicast, FILE *out)
{
    if (multicast->state == GMC_CTL_MULTICAST_ARRIVES)
        fputs("  by multicast", out);
    if (multicast->state != GMC_CTL_MULTICAST_LOST)
        return;
    fputs("  multicast does not arrive: ", out);
    put_safe(multicast->reason, out);
}

static void put_peer(const struct gmc_ctl_peer *peer, size_t number, int width, FILE *out)
{
    char rtt[TEXT_FIGURE_MAX], min[TEXT_FIGURE_MAX], sent[TEXT_FIGURE_MAX],
        received[TEXT_FIGURE_MAX];

    fprintf(out, "%3zu  %-*s  ", number, width, peer->domain);
    if (number == 1) {
        fputs("this gateway\n", out);
        return;
    }
    bool has_fabric = peer->fabric.name != NULL && peer->fabric.name[0] != '\0';
    fprintf(out, "%-5s  %-6s  %8s  %8s  %9s  %9s  %5.2f%%", peer->up ? "up" : "down",
            !peer->up      ? "-"
            : peer->stream ? "tcp"
            : has_fabric   ? "fabric"
                           : "udp",
            text_latency(peer->rtt_ns, rtt), text_latency(peer->min_rtt_ns, min),
            text_size(peer->bytes_sent, sent), text_size(peer->bytes_received, received),
            loss_percent(peer));
    if (peer->reason[0] != '\0') {
        fputs("  ", out);
        put_safe(peer->reason, out);
    }
    put_multicast(&peer->multicast, out);
    fputc('\n', out);
}

static void put_matrix(const struct gmc_ctl_reply *reply, FILE *out)
{
    size_t n = reply->peer_count;
    uint64_t *cells = calloc(n * n, sizeof *cells);

    if (cells == NULL)
        return;
    for (size_t i = 0; i < reply->latency_count; i++) {
        const struct gmc_ctl_latency *l = &reply->latencies[i];

        cells[l->a * n + l->b] = cells[l->b * n + l->a] = l->rtt_ns;
    }
    fputs("\nround trips in ms, as last measured\n     ", out);
    for (size_t i = 0; i < n; i++)
        fprintf(out, " %7zu", i + 1);
    fputc('\n', out);
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "%3zu  ", i + 1);
        for (size_t j = 0; j < n; j++) {
            if (cells[i * n + j] > 0)
                fprintf(out, " %7.2f", (double)cells[i * n + j] / 1e6);
            else
                fprintf(out, " %7s", i == j ? "." : "-");
        }
        fputc('\n', out);
    }
    free(cells);
}

void draw_peers(const struct gmc_ctl_reply *reply, FILE *out)
{
    size_t width = 6;

    for (size_t i = 0; i < reply->peer_count; i++) {
        if (strlen(reply->peers[i].domain) > width)
            width = strlen(reply->peers[i].domain);
    }
    fprintf(out, "%3s  %-*s  %-5s  %-4s  %8s  %8s  %9s  %9s  %6s\n", "", (int)width, "DOMAIN",
            "STATE", "PATH", "RTT", "MIN RTT", "SENT", "RECEIVED", "LOST");
    for (size_t i = 0; i < reply->peer_count; i++)
        put_peer(&reply->peers[i], i + 1, (int)width, out);
    if (reply->peer_count > 0 && reply->latency_count > 0)
        put_matrix(reply, out);
}

/* ---- findings ---- */

#define SUBJECT_COLUMNS 32 /* longer ones move what follows */

static int widest_subject(const struct gmc_findings *findings)
{
    int widest = 0;

    for (size_t i = 0; i < findings->count; i++) {
        char *subject = text_safe(findings->list[i].subject);
        int width = subject != NULL ? (int)text_width(subject) : 0;

        widest = width > widest && width <= SUBJECT_COLUMNS ? width : widest;
        free(subject);
    }
    return widest;
}

void draw_findings(const struct gmc_findings *findings, FILE *out)
{
    int widest = widest_subject(findings);

    for (size_t i = 0; i < findings->count; i++) {
        const struct gmc_ctl_finding *f = &findings->list[i];
        char *subject = text_safe(f->subject), *text = text_safe(f->text);
        char *advice = text_safe(f->advice);

        if (subject != NULL && text != NULL && advice != NULL)
            fprintf(out, "%-4s  %-16s  %-*s  %s%s%s\n",
                    f->level == GMC_CTL_LEVEL_FAIL ? "FAIL" : gmc_findings_level_name(f->level),
                    f->check, widest, subject, text, advice[0] != '\0' ? " -> " : "", advice);
        free(subject);
        free(text);
        free(advice);
    }
}
