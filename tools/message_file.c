/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages as files; see message_file.h. */
#include "tools/message_file.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "tools/gmcast.h"

/* Names come from other domains: a file stays in its directory, and is not hidden there. */
static void make_harmless(char *name)
{
    for (char *c = name; *c != '\0'; c++)
        if (!isalnum((unsigned char)*c) && strchr("-_+.", *c) == NULL)
            *c = '_';
    if (name[0] == '.')
        name[0] = '_';
}

static bool write_whole(const char *path, const struct gmc_received *received)
{
    FILE *file = fopen(path, "wbx");

    if (file == NULL)
        return false;
    bool written =
        received->len == 0 || fwrite(received->bytes, 1, received->len, file) == received->len;
    return fclose(file) == 0 && written;
}

bool message_file_write(const char *directory, const struct gmc_received *received,
                        char path[PATH_MAX])
{
    char name[NAME_MAX + 1], unfinished[PATH_MAX];
    uint64_t unique; /* several programs may write to one directory, from several machines */
    int len = snprintf(name, sizeof name, "%s.%s.%016" PRIx64 ".%012" PRIu64, received->source,
                       received->channel, received->opening, received->sequence);

    if (getrandom(&unique, sizeof unique, 0) != (ssize_t)sizeof unique) {
        (void)gmcast_error("%s: no random name for a file: %s", directory, strerror(errno));
        return false;
    }
    make_harmless(name);
    if (len < 0 || (size_t)len >= sizeof name ||
        snprintf(path, PATH_MAX, "%s/%s", directory, name) >= PATH_MAX ||
        snprintf(unfinished, sizeof unfinished, "%s/.gmcast-sub.%016" PRIx64, directory, unique) >=
            PATH_MAX) {
        (void)gmcast_error("%s: the name of a message's file in it is too long", directory);
        return false;
    }
    if (write_whole(unfinished, received) && rename(unfinished, path) == 0)
        return true;
    (void)gmcast_error("%s: %s", path, strerror(errno));
    (void)unlink(unfinished);
    return false;
}
