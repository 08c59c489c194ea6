/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages and channels as CSV. */
#include "interconnect/command/records.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "interconnect/command/command.h"
#include "sim-wan/run/pool.h"

static void on_message(void *ctx, const struct ic_message_record *message)
{
    struct ic_records *records = ctx;
    fprintf(records->messages.file, "%u,%" PRIu64 ",%u,%u,%u,%u,%.10g,%.10g,%.10g\n", message->run,
            message->number, message->from, message->to, message->traffic_class, message->hops,
            message->created, message->entered, message->delivered);
}

static void on_channel(void *ctx, const struct ic_channel_record *channel)
{
    struct ic_records *records = ctx;
    fprintf(records->channels.file, "%u,%u,%s,%.10g\n", channel->from, channel->to, channel->what,
            channel->load);
}

static int open_file(struct sim_out_file *out, const char *command, const char *name,
                     const char *head)
{
    if (name == NULL || !sim_mpi_is_root()) /* it computes the single point */
        return IC_DONE;
    if (!sim_out_open(out, name))
        return ic_bad(command, "%s: %s", name, strerror(errno));
    fputs(head, out->file);
    return IC_DONE;
}

int ic_records_begin(struct ic_records *records, const char *command, const char *unit,
                     const char *messages, const char *channels, struct ic_run *run)
{
    char head[160];
    snprintf(head, sizeof(head),
             "run,number,from,to,class,hops,created [%s],entered [%s],"
             "delivered [%s]\n",
             unit, unit, unit);
    *records = (struct ic_records){.message_file = messages, .channel_file = channels};
    int status = open_file(&records->messages, command, messages, head);
    if (status == IC_DONE)
        status = open_file(&records->channels, command, channels, "from,to,what,load\n");
    if (messages != NULL || channels != NULL)
        run->ctx = records;
    run->on_message = records->messages.file != NULL ? on_message : NULL;
    run->on_channel = records->channels.file != NULL ? on_channel : NULL;
    return status;
}

static int close_file(struct sim_out_file *out, const char *command, const char *name, bool keep)
{
    return sim_out_close(out, keep) ? IC_DONE : ic_bad(command, "%s: %s", name, strerror(errno));
}

int ic_records_end(struct ic_records *records, const char *command, bool keep)
{
    int messages = close_file(&records->messages, command, records->message_file, keep);
    int channels = close_file(&records->channels, command, records->channel_file, keep);
    return messages != IC_DONE ? messages : channels;
}
