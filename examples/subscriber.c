/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints messages of a channel from a poll loop of its own, beside the standard input: "quit" or
 * its end stops it, and so does the channel's end.
 *
 *   cc subscriber.c $(pkg-config --cflags --libs libgmcast) -o subscriber
 *   ./subscriber CHANNEL [SOURCE-DOMAIN]
 *
 * The gateway is that of this machine, or the one in GMCAST_GATEWAY. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gmcast/messages.h>

static void print(const struct gmc_received *received)
{
    /* What did not come left the gateway's memory or our queue before we had it. */
    if (received->missed > 0)
        printf("(%llu missed)\n", (unsigned long long)received->missed);
    printf("%s/%s %llu: %.*s\n", received->source, received->channel,
           (unsigned long long)received->sequence, (int)received->len,
           (const char *)received->bytes);
    fflush(stdout);
}

/* The descriptor tells of changes only, so all is taken before the next wait. */
static enum gmc_client_result take_all(struct gmc_subscriber *subscriber, bool *over)
{
    struct gmc_received received;
    enum gmc_client_result result;

    while ((result = gmc_subscriber_receive(subscriber, &received, 0)) == GMC_CLIENT_OK) {
        if (received.end) {
            printf("ended: %.*s\n", (int)received.len, (const char *)received.bytes);
            *over = true;
            return GMC_CLIENT_OK;
        }
        print(&received);
    }
    return result == GMC_CLIENT_AGAIN ? GMC_CLIENT_OK : result;
}

static bool is_told_to_quit(void)
{
    char text[64];
    ssize_t len = read(STDIN_FILENO, text, sizeof text);

    return len <= 0 || (len >= 4 && strncmp(text, "quit", 4) == 0);
}

static int run(struct gmc_subscriber *subscriber)
{
    struct pollfd fds[2] = {{.fd = gmc_subscriber_fd(subscriber), .events = POLLIN},
                            {.fd = STDIN_FILENO, .events = POLLIN}};
    bool over = false;

    while (!over) {
        /* Also before the first wait, and each second: a silent gateway is noticed so. */
        if (take_all(subscriber, &over) != GMC_CLIENT_OK) {
            fprintf(stderr, "subscriber: %s\n", gmc_subscriber_error(subscriber));
            return 1;
        }
        if (!over && poll(fds, 2, 1000) > 0 && fds[1].revents != 0)
            over = is_told_to_quit();
    }
    return 0;
}

int main(int argc, char **argv)
{
    char error[512];
    int status;

    if (argc != 2 && argc != 3) {
        fprintf(stderr, "usage: subscriber CHANNEL [SOURCE-DOMAIN]\n");
        return 2;
    }
    struct gmc_subscriber *subscriber =
        gmc_subscriber_open(getenv("GMCAST_GATEWAY"), argv[2], argv[1], error, sizeof error);
    if (subscriber == NULL) {
        fprintf(stderr, "subscriber: %s\n", error);
        return 1;
    }
    printf("subscribed\n");
    fflush(stdout);
    status = run(subscriber);
    gmc_subscriber_free(subscriber);
    return status;
}
