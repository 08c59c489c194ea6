/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns `gmcast sub`: messages of a channel as lines, or files. */
#include "tools/gmcast.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gmcast/messages.h>
#include <jansson.h>

#include "tools/message_file.h"
#include "tools/report.h"
#include "tools/session.h"

static const char help[] =
    "Usage: gmcast sub [DOMAIN/]CHANNEL [--files DIR] [--count N] [--follow] [--json]\n"
    "Writes the messages of a channel, each as a line, from now on until the channel ends. With\n"
    "DOMAIN only those of this source. Messages that did not come are told on standard error.\n"
    "\n"
    "  --files DIR each message goes into a file of its own in DIR, whatever its bytes are; the\n"
    "              line is the path of the file, which is complete then\n"
    "  --count N   end after so many messages\n"
    "  --follow    go on when the channel ends: its source may open it again\n"
    "  --json      an object per message: source, channel, opening, sequence, missed, and text,\n"
    "              or hex where it is not UTF-8, or file with --files; {\"end\": reason} when the "
    "channel ends\n"
    "  -h, --help  this text\n"
    "\n"
    "Exit status: 0 ended, or interrupted; 1 no gateway, or it is gone,\n"
    "or a file could not be written.";

struct options {
    const char *source, *channel;
    const char *directory; /* of files; NULL: lines */
    long count;            /* 0: no end */
    bool follow, json;
};

static json_t *content(const struct gmc_received *received, const char **key)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *bytes = received->bytes != NULL ? received->bytes : (const uint8_t *)"";
    json_t *text = json_stringn((const char *)bytes, received->len);
    char *hex;

    *key = "text";
    if (text != NULL)
        return text;
    *key = "hex";
    hex = malloc(2 * received->len + 1);
    if (hex == NULL)
        return NULL;
    for (size_t i = 0; i < received->len; i++) {
        hex[2 * i] = digits[bytes[i] >> 4];
        hex[2 * i + 1] = digits[bytes[i] & 15];
    }
    text = json_stringn(hex, 2 * received->len);
    free(hex);
    return text;
}

/* path: of the file that the message is in; NULL: none. */
static void show_json(const struct gmc_received *received, const char *path)
{
    const char *key = "file";
    char opening[17];
    json_t *body = path != NULL ? report_text(path) : content(received, &key);

    snprintf(opening, sizeof opening, "%016" PRIx64, received->opening);
    json_t *root =
        json_pack("{s:s, s:s, s:s, s:I, s:I}", "source", received->source, "channel",
                  received->channel, "opening", opening, "sequence", (json_int_t)received->sequence,
                  "missed", (json_int_t)received->missed);
    if (root != NULL)
        json_object_set_new(root, received->end ? "end" : key, body);
    if (root != NULL && json_dumpf(root, stdout, JSON_COMPACT) == 0)
        putchar('\n');
    json_decref(root);
}

static void show_text(const struct gmc_received *received, const char *path)
{
    if (received->missed > 0)
        (void)gmcast_error("%s/%s: %" PRIu64 " messages before number %" PRIu64 " did not come",
                           received->source, received->channel, received->missed,
                           received->sequence);
    if (received->end) {
        fflush(stdout);
        (void)gmcast_error("%s/%s ended: %.*s", received->source, received->channel,
                           (int)received->len, (const char *)received->bytes);
        return;
    }
    if (path != NULL)
        fputs(path, stdout);
    else
        fwrite(received->bytes, 1, received->len, stdout);
    putchar('\n');
}

/* False after an error message: its file could not be written. */
static bool show(const struct options *options, const struct gmc_received *received)
{
    char room[PATH_MAX];
    const char *path = options->directory != NULL && !received->end ? room : NULL;

    if (path != NULL && !message_file_write(options->directory, received, room))
        return false;
    if (options->json)
        show_json(received, path);
    else
        show_text(received, path);
    return true;
}

static int receive_all(struct gmc_subscriber *subscriber, const struct options *options)
{
    struct gmc_received received;
    long count = 0;

    while (!session_interrupted()) {
        /* What is there is written out together. */
        enum gmc_client_result result = gmc_subscriber_receive(subscriber, &received, 0);
        if (result == GMC_CLIENT_AGAIN) {
            fflush(stdout);
            result = gmc_subscriber_receive(subscriber, &received, -1);
        }
        if (result == GMC_CLIENT_INTERRUPTED)
            continue;
        if (result != GMC_CLIENT_OK)
            return gmcast_error("%s: %s", options->channel, gmc_subscriber_error(subscriber));
        if (!show(options, &received))
            return EXIT_REFUSED;
        if (ferror(stdout))
            return gmcast_error("standard output cannot be written");
        if (received.end ? !options->follow : ++count == options->count)
            break;
    }
    return fflush(stdout) == 0 ? EXIT_COMPLETE : EXIT_REFUSED;
}

static int subscribe(const struct gmcast_globals *globals, const struct options *options)
{
    char error[512];
    struct gmc_subscriber *subscriber = gmc_subscriber_open(globals->gateway, options->source,
                                                            options->channel, error, sizeof error);

    if (subscriber == NULL)
        return gmcast_error("%s: %s", options->channel, error);
    session_catch_signals();
    int status = receive_all(subscriber, options);
    gmc_subscriber_free(subscriber);
    return status;
}

int gmcast_sub(const struct gmcast_globals *globals, int argc, char **argv)
{
    static const struct option long_options[] = {{"help", no_argument, NULL, 'h'},
                                                 {"count", required_argument, NULL, 'c'},
                                                 {"follow", no_argument, NULL, 'f'},
                                                 {"json", no_argument, NULL, 'j'},
                                                 {"files", required_argument, NULL, 'd'},
                                                 {NULL, 0, NULL, 0}};
    struct options options = {0};
    char *slash;
    int found;

    while ((found = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        if (found == 'h') {
            puts(help);
            return EXIT_COMPLETE;
        } else if (found == 'c') {
            if (!gmcast_number(optarg, 1, 1000000000, &options.count))
                return gmcast_usage_error("sub", "--count %s: give a number from 1 on", optarg);
        } else if (found == 'f') {
            options.follow = true;
        } else if (found == 'j') {
            options.json = true;
        } else if (found == 'd') {
            options.directory = optarg;
        } else {
            return gmcast_option_error("sub", found, argv);
        }
    }
    if (optind + 1 != argc)
        return gmcast_usage_error("sub", "which channel? Give one");
    options.channel = argv[optind];
    slash = strrchr(argv[optind], '/');
    if (slash == argv[optind])
        return gmcast_usage_error("sub", "\"%s\": no domain stands before the /", slash);
    if (slash != NULL) {
        *slash = '\0';
        options.source = argv[optind];
        options.channel = slash + 1;
    }
    return subscribe(globals, &options);
}
