/* SPDX-License-Identifier: BSD-2-Clause */
/* A reference table from a file to standard output. */
#include "interconnect/command/golden.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interconnect/command/command.h"
#include "interconnect/command/file.h"
#include "sim-wan/mem.h"

/* "x/sci_latency.csv": sci_latency. */
static char *base_name(const char *file)
{
    const char *slash = strrchr(file, '/');
    char *name = sim_strdup(slash != NULL ? slash + 1 : file);
    size_t length = strlen(name);
    if (length > 4 && strcmp(name + length - 4, ".csv") == 0)
        name[length - 4] = '\0';
    return name;
}

static const struct ic_golden *find(const char *file)
{
    char *name = base_name(file);
    const struct ic_golden *golden = ic_golden_find(ic_goldens, ic_golden_count, name);
    if (golden == NULL)
        golden = ic_golden_find(ic_wan_goldens, ic_wan_golden_count, name);
    free(name);
    return golden;
}

static gmc_status recompute(const struct ic_golden *golden, const char *bytes, size_t length,
                            struct ic_text *out, char *error)
{
    struct ic_csv csv;
    gmc_status status = ic_csv_parse(&csv, bytes, length, error);
    if (status != GMC_OK)
        return status;
    status = ic_golden_recompute(golden, &csv, out, error);
    ic_csv_fini(&csv);
    return status;
}

int ic_golden_command(const char *command, const char *file)
{
    const struct ic_golden *golden = find(file);
    struct ic_text out = {0};
    char error[IC_ERROR_MAX] = "";
    size_t length;
    if (golden == NULL)
        return ic_bad(command,
                      "%s: no reference table has this name; gmcast-interconnect list names them",
                      file);
    char *bytes = ic_read_file(file, &length);
    if (bytes == NULL)
        return ic_bad(command, "%s: %s", file, strerror(errno));
    gmc_status status = recompute(golden, bytes, length, &out, error);
    free(bytes);
    int exit_status = IC_DONE;
    if (status != GMC_OK)
        exit_status =
            ic_bad(command, "%s: %s", file, error[0] != '\0' ? error : gmc_status_text(status));
    else
        fwrite(out.bytes, 1, out.length, stdout);
    ic_text_fini(&out);
    return exit_status == IC_DONE ? ic_finish_output(command) : exit_status;
}
