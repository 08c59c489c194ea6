/* SPDX-License-Identifier: BSD-2-Clause */
/* A recording of the core's inputs: the file format. */
#include "gatewayd/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"

static const char magic[] = "gmcast record 7\n";
#define HEAD_BYTES 13u

/* ---- writing ---- */
struct gwd_recorder {
    FILE *out;
    uint8_t head[HEAD_BYTES];
    uint8_t *body;
    size_t len, room;
};

struct gwd_recorder *gwd_recorder_new(const char *path)
{
    struct gwd_recorder *recorder = calloc(1, sizeof *recorder);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (recorder != NULL && fd >= 0 && fchmod(fd, 0600) == 0)
        recorder->out = fdopen(fd, "w");
    if (recorder == NULL || recorder->out == NULL) {
        int error = errno;
        if (fd >= 0)
            (void)close(fd);
        free(recorder);
        errno = error;
        return NULL;
    }
    (void)fputs(magic, recorder->out);
    return recorder;
}

bool gwd_recorder_free(struct gwd_recorder *recorder)
{
    bool ok;
    if (recorder == NULL)
        return true;
    ok = ferror(recorder->out) == 0;
    ok = fclose(recorder->out) == 0 && ok;
    free(recorder->body);
    free(recorder);
    return ok;
}

static uint8_t *reserve(struct gwd_recorder *recorder, size_t len)
{
    uint8_t *at;
    if (recorder->len + len > recorder->room) {
        size_t room = (recorder->len + len) * 2;
        uint8_t *grown = realloc(recorder->body, room);
        GMC_ASSERT(grown != NULL);
        recorder->body = grown;
        recorder->room = room;
    }
    at = recorder->body + recorder->len;
    recorder->len += len;
    return at;
}

void gwd_record_begin(struct gwd_recorder *recorder, enum gwd_record_kind kind, gmc_time time)
{
    recorder->head[0] = (uint8_t)kind;
    gmc_put64(recorder->head + 1, time);
    recorder->len = 0;
}

void gwd_record_number(struct gwd_recorder *recorder, uint64_t value)
{
    gmc_put64(reserve(recorder, 8), value);
}

void gwd_record_bytes(struct gwd_recorder *recorder, struct gmc_bytes bytes)
{
    uint8_t *at = reserve(recorder, 4 + bytes.len);
    gmc_put32(at, (uint32_t)bytes.len);
    if (bytes.len > 0)
        memcpy(at + 4, bytes.data, bytes.len);
}

/* A text is stored with its zero byte, so that it can be borrowed when it is read; nothing at all
 * stands for NULL. */
void gwd_record_text(struct gwd_recorder *recorder, const char *text)
{
    gwd_record_bytes(recorder, gmc_bytes(text, text != NULL ? strlen(text) + 1 : 0));
}

void gwd_record_end(struct gwd_recorder *recorder)
{
    gmc_put32(recorder->head + 9, (uint32_t)recorder->len);
    (void)fwrite(recorder->head, 1, HEAD_BYTES, recorder->out);
    (void)fwrite(recorder->body, 1, recorder->len, recorder->out);
}

/* ---- reading ---- */
struct gwd_recording {
    FILE *in;
    uint8_t *body[2]; /* of the input, and of what was asked for while it was worked on */
    size_t room[2];
    struct gmc_reader reader;
    uint64_t index;
    const char *damage; /* of the next record; NULL: none */
    bool ended;
    bool is_cut; /* it ended inside of a record */
};

struct gwd_recording *gwd_recording_open(const char *path, char *reason, size_t size)
{
    struct gwd_recording *recording = calloc(1, sizeof *recording);
    char line[sizeof magic] = "";
    if (recording == NULL)
        return NULL;
    recording->in = fopen(path, "re");
    if (recording->in == NULL) {
        (void)snprintf(reason, size, "%s: %s", path, strerror(errno));
    } else if (fread(line, 1, sizeof magic - 1, recording->in) != sizeof magic - 1 ||
               memcmp(line, magic, sizeof magic - 1) != 0) {
        (void)snprintf(reason, size, "%s is not a recording of this version", path);
        (void)fclose(recording->in);
        recording->in = NULL;
    }
    if (recording->in == NULL) {
        free(recording);
        return NULL;
    }
    return recording;
}

void gwd_recording_free(struct gwd_recording *recording)
{
    if (recording == NULL)
        return;
    (void)fclose(recording->in);
    free(recording->body[0]);
    free(recording->body[1]);
    free(recording);
}

/* A recorder that is killed leaves half a record behind, which is no damage. False always. */
static bool ends_at(struct gwd_recording *recording, bool inside)
{
    if (ferror(recording->in) != 0)
        recording->damage = "it cannot be read";
    recording->ended = true;
    recording->is_cut = inside;
    return false;
}

static bool next(struct gwd_recording *recording, int which, enum gwd_record_kind *kind,
                 gmc_time *time)
{
    uint8_t head[HEAD_BYTES];
    size_t len;
    len = fread(head, 1, sizeof head, recording->in);
    if (len != sizeof head)
        return ends_at(recording, len > 0);
    len = gmc_get32(head + 9);
    if (head[0] == 0 || head[0] > GWD_RECORD_LAST) {
        recording->damage = "it is of no known kind: the recording is damaged";
        return false;
    }
    if (len > GWD_RECORD_BYTES_MAX) {
        recording->damage = "it claims to be longer than any record: the recording is damaged";
        return false;
    }
    if (len > recording->room[which]) {
        uint8_t *grown = realloc(recording->body[which], len);
        if (grown == NULL) {
            recording->damage = "out of memory";
            return false;
        }
        recording->body[which] = grown;
        recording->room[which] = len;
    }
    if (len > 0 && fread(recording->body[which], 1, len, recording->in) != len)
        return ends_at(recording, true);
    gmc_reader_init(&recording->reader, gmc_bytes(recording->body[which], len));
    *kind = (enum gwd_record_kind)head[0];
    *time = gmc_get64(head + 1);
    recording->index++;
    return true;
}

bool gwd_recording_next(struct gwd_recording *recording, enum gwd_record_kind *kind, gmc_time *time)
{
    return next(recording, 0, kind, time);
}

bool gwd_recording_next_inner(struct gwd_recording *recording)
{
    enum gwd_record_kind kind;
    gmc_time time;
    return next(recording, 1, &kind, &time);
}

enum gwd_record_kind gwd_recording_peek(struct gwd_recording *recording)
{
    int c = fgetc(recording->in);
    if (c == EOF)
        return (enum gwd_record_kind)0;
    (void)ungetc(c, recording->in);
    return (enum gwd_record_kind)c;
}

const char *gwd_recording_damage(const struct gwd_recording *recording)
{
    return recording->damage;
}

bool gwd_recording_ended(const struct gwd_recording *recording)
{
    return recording->ended || recording->damage != NULL;
}

bool gwd_recording_is_cut(const struct gwd_recording *recording)
{
    return recording->is_cut;
}

uint64_t gwd_recording_number(struct gwd_recording *recording)
{
    return gmc_reader_u64(&recording->reader);
}

struct gmc_bytes gwd_recording_bytes(struct gwd_recording *recording)
{
    return gmc_reader_bytes(&recording->reader, gmc_reader_u32(&recording->reader));
}

const char *gwd_recording_text(struct gwd_recording *recording)
{
    struct gmc_bytes text = gwd_recording_bytes(recording);
    if (text.len == 0 || text.data[text.len - 1] != '\0')
        return NULL;
    return (const char *)text.data;
}

uint64_t gwd_recording_index(const struct gwd_recording *recording)
{
    return recording->index;
}
