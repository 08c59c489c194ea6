/* SPDX-License-Identifier: BSD-2-Clause */
/* A broadcast among the ranks of two clusters that only their gateways connect, beside MPI_Bcast
 * over all ranks. Rank 0 publishes to the other domain and broadcasts in its own cluster at once;
 * the first rank of the other cluster receives and broadcasts there.
 *
 *   mpicc mpi_bcast.c $(pkg-config --cflags --libs libgmcast) -o mpi_bcast
 *   mpirun -n 8 ./mpi_bcast GATEWAY-A GATEWAY-B DOMAIN-B [ROUNDS]
 *
 * GATEWAY: control sockets (ipc://...) of two gateways on this machine. The lower half of the ranks
 * are cluster A, the others cluster B. Prints a table of times until the last rank had the data;
 * what every rank got is compared with what MPI_Bcast brought. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gmcast/messages.h>

#define CHANNEL "mpi-bcast"
#define WAIT_MS 30000
#define LARGEST (4u << 20)

struct cluster {
    MPI_Comm inside;
    int rank, size;                    /* of all */
    struct gmc_publisher *publisher;   /* rank 0 */
    struct gmc_subscriber *subscriber; /* the first rank of B */
};

static void stop(const char *what, const char *why)
{
    fprintf(stderr, "mpi_bcast: %s: %s\n", what, why);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

/* ---- the broadcast ---- */
/* What is longer than a message goes as several; their order is kept. */
static void publish(struct gmc_publisher *publisher, const char *bytes, size_t len)
{
    for (size_t at = 0, piece; at < len; at += piece) {
        piece = len - at < GMC_PUBLISH_MAX ? len - at : GMC_PUBLISH_MAX;
        if (gmc_publisher_send(publisher, bytes + at, piece, WAIT_MS) != GMC_CLIENT_OK)
            stop("send", gmc_publisher_error(publisher));
    }
}

static void receive(struct gmc_subscriber *subscriber, char *bytes, size_t len)
{
    struct gmc_received received;

    for (size_t at = 0; at < len; at += received.len) {
        if (gmc_subscriber_receive(subscriber, &received, WAIT_MS) != GMC_CLIENT_OK)
            stop("receive", gmc_subscriber_error(subscriber));
        if (received.end || received.missed > 0 || received.len > len - at)
            stop("receive", "the broadcast is not whole");
        memcpy(bytes + at, received.bytes, received.len);
    }
}

static void broadcast(const struct cluster *cluster, char *bytes, int len)
{
    if (cluster->publisher != NULL)
        publish(cluster->publisher, bytes, (size_t)len);
    if (cluster->subscriber != NULL)
        receive(cluster->subscriber, bytes, (size_t)len);
    MPI_Bcast(bytes, len, MPI_CHAR, 0, cluster->inside);
}

/* ---- comparing ---- */
static void fill(char *bytes, int len, int round)
{
    for (int i = 0; i < len; i++)
        bytes[i] = (char)(i * 31 + i / 256 + round);
}

/* Mean seconds until the last rank had it; *others counts ranks and rounds in which it was not what
 * was sent. */
static double measure(const struct cluster *cluster, bool by_gmcast, char *bytes, char *expected,
                      int len, int rounds, int *others)
{
    double mean = 0;

    for (int round = 0; round < rounds; round++) {
        double begin, mine, most;

        fill(expected, len, round);
        if (cluster->rank == 0)
            memcpy(bytes, expected, (size_t)len);
        else
            memset(bytes, 0, (size_t)len);
        MPI_Barrier(MPI_COMM_WORLD);
        begin = MPI_Wtime();
        if (by_gmcast)
            broadcast(cluster, bytes, len);
        else
            MPI_Bcast(bytes, len, MPI_CHAR, 0, MPI_COMM_WORLD);
        mine = MPI_Wtime() - begin;
        MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        mean += most / rounds;
        *others += memcmp(bytes, expected, (size_t)len) != 0;
    }
    return mean;
}

static int compare(const struct cluster *cluster, int rounds)
{
    static const int sizes[] = {8, 1024, 65536, 1 << 20, LARGEST};
    char *bytes = malloc(LARGEST), *expected = malloc(LARGEST);
    int others = 0, all = 0;

    if (bytes == NULL || expected == NULL)
        stop("buffers", "out of memory");
    if (cluster->rank == 0)
        printf("%10s %14s %14s   (us until the last of %d ranks has it, mean of %d)\n", "bytes",
               "two clusters", "MPI_Bcast", cluster->size, rounds);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        double ours = measure(cluster, true, bytes, expected, sizes[i], rounds, &others);
        double plain = measure(cluster, false, bytes, expected, sizes[i], rounds, &others);
        if (cluster->rank == 0)
            printf("%10d %14.1f %14.1f\n", sizes[i], ours * 1e6, plain * 1e6);
    }
    MPI_Allreduce(&others, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (cluster->rank == 0)
        printf(all == 0 ? "all ranks got the same\n" : "%d broadcasts differ\n", all);
    free(bytes);
    free(expected);
    return all;
}

/* ---- clusters ---- */
/* Subscribed before anybody publishes: what came before a subscription is not given to it. */
static void join(struct cluster *cluster, char **words)
{
    const char *const domains[] = {words[2]};
    struct gmc_publisher_config config = {.gateway = words[0],
                                          .channel = CHANNEL,
                                          .domains = domains,
                                          .domain_count = 1};
    char error[512];
    int first_of_b = cluster->size / 2;

    MPI_Comm_split(MPI_COMM_WORLD, cluster->rank >= first_of_b, cluster->rank, &cluster->inside);
    if (cluster->rank == first_of_b) {
        cluster->subscriber = gmc_subscriber_open(words[1], NULL, CHANNEL, error, sizeof error);
        if (cluster->subscriber == NULL)
            stop("subscribe", error);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (cluster->rank == 0) {
        cluster->publisher = gmc_publisher_open(&config, error, sizeof error);
        if (cluster->publisher == NULL)
            stop("open", error);
    }
}

int main(int argc, char **argv)
{
    struct cluster cluster = {.publisher = NULL};
    int others;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &cluster.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &cluster.size);
    if (argc < 4 || cluster.size < 2)
        stop("usage", "mpirun -n RANKS mpi_bcast GATEWAY-A GATEWAY-B DOMAIN-B [ROUNDS]");
    join(&cluster, argv + 1);
    others = compare(&cluster, argc > 4 ? atoi(argv[4]) : 20);
    if (cluster.publisher != NULL)
        gmc_publisher_close(cluster.publisher, "done", WAIT_MS);
    gmc_subscriber_free(cluster.subscriber);
    MPI_Comm_free(&cluster.inside);
    MPI_Finalize();
    return others == 0 ? 0 : 1;
}
