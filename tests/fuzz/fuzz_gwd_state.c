/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the fuzzer of what the store keeps in a channel's folder: its name, what a target noted,
 * and what a source noted of its files.
 *
 * Input   one byte (how many entries the listing has), then the bytes of the file or the name
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "gatewayd/store_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A name that is taken is the one that this key would get. */
static void check_folder(const char *text)
{
    struct gmc_channel_key key;
    char name[300];

    if (!gwd_chan_folder_parse(text, &key))
        return;
    gwd_chan_folder(&key, name, sizeof name);
    GMC_ASSERT(strcmp(name, text) == 0);
}

static void check_target(const char *text, size_t size)
{
    struct gmc_channel_key key = {.source = "n0.example", .e = 1};
    struct gwd_chan *chan = gwd_chan_new(&key);

    GMC_ASSERT(chan != NULL);
    if (gwd_target_parse(chan, text, size))
        GMC_ASSERT(strlen(chan->granted) + strlen(chan->relative) + strlen(chan->new_name) < size);
    gwd_chan_free(chan);
}

static void check_source(const char *text, size_t size, size_t entries)
{
    struct gmc_channel_key key = {.source = "n0.example", .e = 1};
    struct gwd_chan *chan = gwd_chan_new(&key);
    size_t len;

    GMC_ASSERT(chan != NULL);
    if (gwd_source_parse(chan, text, size, entries)) {
        GMC_ASSERT(chan->root_count > 0 && chan->root_count <= size);
        /* The file ends with them. */
        len = entries * sizeof *chan->idents;
        GMC_ASSERT(len == 0 || memcmp(chan->idents, text + size - len, len) == 0);
    }
    gwd_chan_free(chan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* As gwd_read_file gives it: a zero byte behind the file. */
    char *text = size > 0 ? malloc(size) : NULL;

    if (text == NULL)
        return 0;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    check_folder(text);
    check_target(text, size - 1);
    check_source(text, size - 1, data[0]);
    free(text);
    return 0;
}
