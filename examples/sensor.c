/* SPDX-License-Identifier: BSD-2-Clause */
/* A sensor's value, of which only the newest matters: who reads seldom, or is behind a slow link,
 * gets a new value and not a queue of old ones.
 *
 *   cc sensor.c $(pkg-config --cflags --libs libgmcast) -o sensor
 *   ./sensor measure CHANNEL COUNT [DOMAIN]...     COUNT values, one each millisecond
 *   ./sensor watch CHANNEL                         looks ten times a second until the channel ends
 *
 * The gateway is that of this machine, or the one in GMCAST_GATEWAY. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gmcast/messages.h>

static void sleep_ms(long ms)
{
    struct timespec span = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    nanosleep(&span, NULL);
}

static int measure(char **words, int count)
{
    const struct gmc_publisher_config config = {.gateway = getenv("GMCAST_GATEWAY"),
                                                .channel = words[0],
                                                .domains = (const char *const *)words + 2,
                                                .domain_count = (size_t)count - 2,
                                                .order = GMC_CLIENT_LATEST};
    char error[512], text[32];
    unsigned long values = strtoul(words[1], NULL, 10);
    struct gmc_publisher *publisher = gmc_publisher_open(&config, error, sizeof error);

    if (publisher == NULL) {
        fprintf(stderr, "sensor: %s\n", error);
        return 1;
    }
    for (unsigned long value = 1; value <= values; value++, sleep_ms(1)) {
        int len = snprintf(text, sizeof text, "%lu", value);
        int wait_ms = value == values ? 10000 : 0;
        enum gmc_client_result result = gmc_publisher_send(publisher, text, (size_t)len, wait_ms);
        /* AGAIN: the next value is soon there, and better than this one; the last has none. */
        if (result != GMC_CLIENT_OK && result != GMC_CLIENT_AGAIN) {
            fprintf(stderr, "sensor: %s\n", gmc_publisher_error(publisher));
            gmc_publisher_close(publisher, "failed", 0);
            return 1;
        }
    }
    return gmc_publisher_close(publisher, "off", 10000) == GMC_CLIENT_OK ? 0 : 1;
}

/* Takes what has come and keeps the last of it. */
static enum gmc_client_result newest(struct gmc_subscriber *subscriber, char *text, size_t size,
                                     bool *over)
{
    struct gmc_received received;
    enum gmc_client_result result;

    while ((result = gmc_subscriber_receive(subscriber, &received, 0)) == GMC_CLIENT_OK && !*over) {
        if (received.end)
            *over = true;
        else
            snprintf(text, size, "%.*s", (int)received.len, (const char *)received.bytes);
    }
    return *over || result == GMC_CLIENT_AGAIN ? GMC_CLIENT_OK : result;
}

static int watch(char **words, int count)
{
    char error[512], value[64] = "", shown[64] = "";
    bool over = false;
    struct gmc_subscriber *subscriber =
        gmc_subscriber_open(getenv("GMCAST_GATEWAY"), NULL, words[0], error, sizeof error);

    (void)count;
    if (subscriber == NULL) {
        fprintf(stderr, "sensor: %s\n", error);
        return 1;
    }
    printf("watching\n");
    while (!over) {
        if (newest(subscriber, value, sizeof value, &over) != GMC_CLIENT_OK) {
            fprintf(stderr, "sensor: %s\n", gmc_subscriber_error(subscriber));
            gmc_subscriber_free(subscriber);
            return 1;
        }
        if (strcmp(value, shown) != 0)
            printf("%s\n", value);
        fflush(stdout);
        snprintf(shown, sizeof shown, "%s", value);
        sleep_ms(100);
    }
    gmc_subscriber_free(subscriber);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc >= 4 && strcmp(argv[1], "measure") == 0)
        return measure(argv + 2, argc - 2);
    if (argc == 3 && strcmp(argv[1], "watch") == 0)
        return watch(argv + 2, argc - 2);
    fprintf(stderr, "usage: sensor measure CHANNEL COUNT [DOMAIN]... | sensor watch CHANNEL\n");
    return 2;
}
