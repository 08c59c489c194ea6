/* SPDX-License-Identifier: BSD-2-Clause */
/* The page over all experiments. */
#include <inttypes.h>
#include <string.h>

#include "experiments/file.h"
#include "experiments/report.h"

static const char head[] = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                           "<meta name=\"viewport\" content=\"width=device-width\">\n<title>";
static const char style[] =
    "</title>\n<style>\n"
    "body{font:16px/1.5 system-ui,sans-serif;color:#222;background:#f4f5f7;margin:0}\n"
    "main{max-width:1040px;margin:0 auto;padding:1.5rem}\n"
    "section,header{background:#fff;border-radius:10px;padding:1.2rem 1.6rem;margin:0 0 1.4rem;"
    "box-shadow:0 1px 3px #0002}\n"
    "h1{margin:.2rem 0 .4rem}h2{margin:.2rem 0 .6rem}a{color:#0060a0}\n"
    "figure{margin:1.2rem 0}img{max-width:100%;height:auto;border:1px solid #e4e4e4;"
    "border-radius:6px}figcaption{color:#555;font-size:.92rem}\n"
    "table{border-collapse:collapse;width:100%;margin:.8rem 0}td,th{text-align:left;"
    "vertical-align:top;padding:.45rem .6rem;border-top:1px solid #e6e6e6;font-size:.95rem}\n"
    ".yes,.no{display:inline-block;border-radius:1rem;padding:.05rem .7rem;white-space:nowrap;"
    "font-size:.85rem}.yes{background:#d9f2e3;color:#05603a}.no{background:#fde4dc;color:#9a2a06}\n"
    ".meta{color:#666;font-size:.9rem}.note{border-left:4px solid #56b4e9;padding:.1rem .9rem;"
    "color:#444;margin:.6rem 0}\n"
    "</style></head><body><main>\n";

static void put_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            fputc(*text, out);
        }
    }
}

static void count_claims(const struct ex_report *report, unsigned *all, unsigned *held)
{
    *all = *held = 0;
    for (size_t i = 0; i < report->count; i++) {
        if (report->entries[i].kind != EX_CLAIM)
            continue;
        *all += 1;
        *held += report->entries[i].holds;
    }
}

static void put_summary(FILE *out, const struct ex_page *page, const struct ex_report *reports,
                        size_t count)
{
    uint64_t runs = 0, events = 0;
    fputs("<header><h1>", out);
    put_text(out, page->title);
    fprintf(out,
            "</h1>\n<p>%s Claims that hold and claims that do not stand beside each other, each "
            "with the figure that was found.</p>\n<table><tr><th></th><th>Claims that hold</th>"
            "<th>Runs</th><th>Events</th><th>Seconds</th></tr>\n",
            page->about);
    for (size_t i = 0; i < count; i++) {
        unsigned all, held;
        count_claims(&reports[i], &all, &held);
        fprintf(out, "<tr><td><a href=\"#%s\">", reports[i].name);
        put_text(out, reports[i].title);
        fprintf(out,
                "</a></td><td>%u of %u</td><td>%" PRIu64 "</td><td>%" PRIu64 "</td><td>%.0f</td>"
                "</tr>\n",
                held, all, reports[i].runs, reports[i].events, reports[i].seconds);
        runs += reports[i].runs;
        events += reports[i].events;
    }
    fprintf(out, "</table>\n<p class=\"meta\">%" PRIu64 " runs, %" PRIu64 " simulated events%s. ",
            runs, events,
            count > 0 && reports[0].quick ? ", the short version (fewer points, smaller objects)"
                                          : "");
    fputs("All claims: <a href=\"claims.csv\">claims.csv</a>.</p></header>\n", out);
}

static void put_claims(FILE *out, const struct ex_report *report)
{
    unsigned all, held;
    count_claims(report, &all, &held);
    if (all == 0)
        return;
    fputs("<table><tr><th>Claim</th><th></th><th>Found</th></tr>\n", out);
    for (size_t i = 0; i < report->count; i++) {
        const struct ex_entry *entry = &report->entries[i];
        if (entry->kind != EX_CLAIM)
            continue;
        fputs("<tr><td>", out);
        put_text(out, entry->text);
        fprintf(out, "</td><td><span class=\"%s\">%s</span></td><td>", entry->holds ? "yes" : "no",
                entry->holds ? "holds" : "does not hold");
        put_text(out, entry->detail);
        fputs("</td></tr>\n", out);
    }
    fputs("</table>\n", out);
}

static void put_figure(FILE *out, const struct ex_report *report, const struct ex_entry *figure)
{
    fputs("<figure>", out);
    if (figure->detail[0] != '\0') {
        fprintf(out, "<img src=\"%s\" alt=\"", figure->detail);
        put_text(out, figure->text);
        fputs("\">", out);
    } else {
        fprintf(out,
                "<p class=\"note\">Not drawn: gnuplot is not there, or failed. See %s-*.gp.</p>",
                report->name);
    }
    fputs("<figcaption>", out);
    put_text(out, figure->text);
    fputs("</figcaption></figure>\n", out);
}

static void put_report(FILE *out, const struct ex_report *report)
{
    fprintf(out, "<section id=\"%s\"><h2>", report->name);
    put_text(out, report->title);
    fprintf(out, "</h2>\n%s\n", report->about);
    for (size_t i = 0; i < report->count; i++)
        if (report->entries[i].kind == EX_FIGURE)
            put_figure(out, report, &report->entries[i]);
    put_claims(out, report);
    for (size_t i = 0; i < report->count; i++) {
        if (report->entries[i].kind != EX_NOTE)
            continue;
        fputs("<p class=\"note\">", out);
        put_text(out, report->entries[i].text);
        fputs("</p>\n", out);
    }
    fprintf(out,
            "<p class=\"meta\">%" PRIu64 " runs, %" PRIu64 " events, %.0f s. Table: "
            "<a href=\"%s.csv\">%s.csv</a>.</p></section>\n",
            report->runs, report->events, report->seconds, report->name, report->name);
}

/* A field in quotes. */
static void put_field(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void put_claims_table(FILE *out, const struct ex_report *reports, size_t count)
{
    fputs("experiment,holds,claim,found\n", out);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < reports[i].count; j++) {
            const struct ex_entry *entry = &reports[i].entries[j];
            if (entry->kind != EX_CLAIM)
                continue;
            fprintf(out, "%s,%s,", reports[i].name, entry->holds ? "yes" : "no");
            put_field(out, entry->text);
            fputc(',', out);
            put_field(out, entry->detail);
            fputc('\n', out);
        }
}

static bool write_page(const char *folder, const struct ex_page *page,
                       const struct ex_report *reports, size_t count)
{
    struct sim_out_file html;
    if (!ex_file_open(&html, folder, "index.html"))
        return false;
    fputs(head, html.file);
    put_text(html.file, page->title);
    fputs(style, html.file);
    put_summary(html.file, page, reports, count);
    for (size_t i = 0; i < count; i++)
        put_report(html.file, &reports[i]);
    fputs("</main></body></html>\n", html.file);
    return ex_file_close(&html);
}

static bool write_claims(const char *folder, const struct ex_report *reports, size_t count)
{
    struct sim_out_file table;
    if (!ex_file_open(&table, folder, "claims.csv"))
        return false;
    put_claims_table(table.file, reports, count);
    return ex_file_close(&table);
}

bool ex_overview(const char *folder, const struct ex_page *page, const struct ex_report *reports,
                 size_t count)
{
    bool ok = write_page(folder, page, reports, count);
    ok = write_claims(folder, reports, count) && ok;
    for (size_t i = 0; i < count; i++)
        ok = ok && !reports[i].lacks_files;
    return ok;
}
