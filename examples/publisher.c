/* SPDX-License-Identifier: BSD-2-Clause */
/* Publishes numbered messages, as fast as the gateway takes them, and sees when it does not.
 *
 *   cc publisher.c $(pkg-config --cflags --libs libgmcast) -o publisher
 *   ./publisher CHANNEL COUNT [DOMAIN]...
 *
 * The gateway is that of this machine, or the one in GMCAST_GATEWAY. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include <gmcast/messages.h>

/* A program with a loop of its own waits for the descriptor among its others; the timeout is for
 * noticing a gateway that has gone silent. */
static void wait_for(const struct gmc_publisher *publisher)
{
    struct pollfd fd = {.fd = gmc_publisher_fd(publisher), .events = POLLIN};

    poll(&fd, 1, 1000);
}

/* Tries without waiting first: AGAIN says that links are slower than this program. */
static enum gmc_client_result send_one(struct gmc_publisher *publisher, unsigned long number,
                                       unsigned long *held)
{
    char text[64];
    int len = snprintf(text, sizeof text, "message %lu", number);
    enum gmc_client_result result = gmc_publisher_send(publisher, text, (size_t)len, 0);

    while (result == GMC_CLIENT_AGAIN) {
        ++*held;
        wait_for(publisher);
        result = gmc_publisher_send(publisher, text, (size_t)len, 0);
    }
    return result;
}

int main(int argc, char **argv)
{
    char error[512];
    unsigned long count, held = 0;

    if (argc < 3) {
        fprintf(stderr, "usage: publisher CHANNEL COUNT [DOMAIN]...\n");
        return 2;
    }
    count = strtoul(argv[2], NULL, 10);
    const struct gmc_publisher_config config = {.gateway = getenv("GMCAST_GATEWAY"),
                                                .channel = argv[1],
                                                .domains = (const char *const *)argv + 3,
                                                .domain_count = (size_t)argc - 3,
                                                .order = GMC_CLIENT_ORDERED};
    struct gmc_publisher *publisher = gmc_publisher_open(&config, error, sizeof error);
    if (publisher == NULL) {
        fprintf(stderr, "publisher: %s\n", error);
        return 1;
    }
    for (unsigned long i = 0; i < count; i++) {
        if (send_one(publisher, i, &held) != GMC_CLIENT_OK) {
            fprintf(stderr, "publisher: %s\n", gmc_publisher_error(publisher));
            gmc_publisher_close(publisher, "failed", 0);
            return 1;
        }
    }
    /* Waits until the gateway has taken all, ten seconds at most. */
    if (gmc_publisher_close(publisher, "all published", 10000) != GMC_CLIENT_OK) {
        fprintf(stderr, "publisher: the gateway did not take all\n");
        return 1;
    }
    printf("published %lu, waited %lu times\n", count, held);
    return 0;
}
