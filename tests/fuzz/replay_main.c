/* SPDX-License-Identifier: BSD-2-Clause
 * Owns main() of a fuzz target in an ordinary build: feeds it each file of its corpus folder, or
 * the files and folders named on the command line.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Read a whole file into malloc'ed memory of exactly its size, so that a sanitizer sees a read
 * past the end. Returns NULL and prints why if it cannot.
 */
static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    struct stat st;
    uint8_t *data = NULL;

    if (file != NULL && fstat(fileno(file), &st) == 0) {
        *size = (size_t)st.st_size;
        data = malloc(*size > 0 ? *size : 1);
        if (data != NULL && fread(data, 1, *size, file) != *size) {
            free(data);
            data = NULL;
        }
    }
    if (data == NULL)
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
    if (file != NULL)
        fclose(file);
    return data;
}

static int replay_file(const char *path)
{
    size_t size = 0;
    uint8_t *data = read_file(path, &size);

    if (data == NULL)
        return -1;
    /* The name is printed first: it is what is left on the screen after an abort. */
    printf("%s (%zu bytes)\n", path, size);
    fflush(stdout);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 0;
}

static int replay_folder(const char *path)
{
    struct dirent **names;
    int count = scandir(path, &names, NULL, alphasort);
    int result = 0;

    if (count < 0) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return -1;
    }
    for (int i = 0; i < count; i++) {
        char file[4096];

        snprintf(file, sizeof file, "%s/%s", path, names[i]->d_name);
        if (names[i]->d_name[0] != '.' && replay_file(file) != 0)
            result = -1;
        free(names[i]);
    }
    free(names);
    return result;
}

static int replay(const char *path)
{
    struct stat st;

    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return replay_folder(path);
    return replay_file(path);
}

int main(int argc, char **argv)
{
    const char *srcdir = getenv("GMC_SRCDIR");
    const char *slash = strrchr(argv[0], '/');
    const char *name = slash != NULL ? slash + 1 : argv[0];
    char corpus[4096];
    int result = 0;

    for (int i = 1; i < argc; i++) {
        if (replay(argv[i]) != 0)
            result = 1;
    }
    if (argc > 1)
        return result;
    snprintf(corpus, sizeof corpus, "%s/tests/fuzz/corpus/%s", srcdir != NULL ? srcdir : ".", name);
    return replay(corpus) == 0 ? 0 : 1;
}
