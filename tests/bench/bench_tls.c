/* SPDX-License-Identifier: BSD-2-Clause */
/* The peer of the daemon benchmark: N TLS 1.3 streams over loopback at once, each sending one file
 * to a process of its own that hashes (SHA-256) and stores it. Prints one JSON line.
 *
 *   bench_tls FILE OUTDIR STREAMS [--discard]
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PIECE (256 * 1024)

static void die(const char *what)
{
    fprintf(stderr, "bench_tls: %s: %s\n", what, strerror(errno));
    ERR_print_errors_fp(stderr);
    exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A throw-away certificate: what is measured is the stream, not the trust. */
static void use_own_certificate(SSL_CTX *ctx)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = X509_new();
    if (key == NULL || cert == NULL)
        die("key");
    ASN1_INTEGER_set(X509_get_serialNumber(cert), 1);
    X509_gmtime_adj(X509_getm_notBefore(cert), 0);
    X509_gmtime_adj(X509_getm_notAfter(cert), 3600);
    X509_set_pubkey(cert, key);
    if (X509_sign(cert, key, EVP_sha256()) == 0 || SSL_CTX_use_certificate(ctx, cert) != 1 ||
        SSL_CTX_use_PrivateKey(ctx, key) != 1)
        die("certificate");
    X509_free(cert);
    EVP_PKEY_free(key);
}

static SSL *start_tls(int fd, bool server)
{
    SSL_CTX *ctx = SSL_CTX_new(server ? TLS_server_method() : TLS_client_method());
    if (ctx == NULL || SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) != 1)
        die("TLS");
    SSL_CTX_set_ciphersuites(ctx, "TLS_AES_256_GCM_SHA384");
    if (server)
        use_own_certificate(ctx);
    SSL *ssl = SSL_new(ctx);
    SSL_CTX_free(ctx);
    if (ssl == NULL || SSL_set_fd(ssl, fd) != 1)
        die("TLS");
    if ((server ? SSL_accept(ssl) : SSL_connect(ssl)) != 1)
        die("handshake");
    return ssl;
}

static void send_file(int fd, const char *path)
{
    SSL *ssl = start_tls(fd, true);
    int in = open(path, O_RDONLY);
    char *buffer = malloc(PIECE);
    if (in < 0 || buffer == NULL)
        die(path);
    ssize_t n;
    while ((n = read(in, buffer, PIECE)) > 0)
        if (SSL_write(ssl, buffer, (int)n) != n)
            die("send");
    SSL_shutdown(ssl);
    close(fd);
    free(buffer);
    exit(n < 0 ? 1 : 0);
}

static void receive_file(int fd, const char *path, bool discard)
{
    SSL *ssl = start_tls(fd, false);
    int out = discard ? -1 : open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    char *buffer = malloc(PIECE);
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    if ((!discard && out < 0) || buffer == NULL || hash == NULL ||
        EVP_DigestInit_ex(hash, EVP_sha256(), NULL) != 1)
        die(path);
    int n;
    while ((n = SSL_read(ssl, buffer, PIECE)) > 0) {
        if (discard)
            continue;
        EVP_DigestUpdate(hash, buffer, (size_t)n);
        if (write(out, buffer, (size_t)n) != n)
            die(path);
    }
    unsigned char digest[EVP_MAX_MD_SIZE];
    if (!discard && (EVP_DigestFinal_ex(hash, digest, NULL) != 1 || fdatasync(out) != 0))
        die(path);
    exit(0);
}

static void connected_pair(int fds[2])
{
    struct sockaddr_in addr = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(addr);
    int one = 1;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&addr, len) != 0 ||
        listen(listener, 1) != 0 || getsockname(listener, (struct sockaddr *)&addr, &len) != 0)
        die("listen");
    fds[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (fds[0] < 0 || connect(fds[0], (struct sockaddr *)&addr, len) != 0)
        die("connect");
    fds[1] = accept(listener, NULL, NULL);
    if (fds[1] < 0)
        die("accept");
    setsockopt(fds[0], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    setsockopt(fds[1], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    close(listener);
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: bench_tls FILE OUTDIR STREAMS [--discard]\n");
        return 1;
    }
    int streams = atoi(argv[3]);
    bool discard = argc > 4 && strcmp(argv[4], "--discard") == 0;
    struct stat st;
    if (stat(argv[1], &st) != 0 || streams < 1 || streams > 64)
        die(argv[1]);
    double start = now();
    for (int i = 0; i < streams; i++) {
        int fds[2];
        char path[4096];
        connected_pair(fds);
        snprintf(path, sizeof(path), "%s/tls-%d", argv[2], i);
        if (fork() == 0) {
            close(fds[1]);
            send_file(fds[0], argv[1]);
        }
        if (fork() == 0) {
            close(fds[0]);
            receive_file(fds[1], path, discard);
        }
        close(fds[0]);
        close(fds[1]);
    }
    int status, failed = 0;
    while (wait(&status) > 0)
        failed |= status;
    double seconds = now() - start;
    printf("{\"streams\": %d, \"bytes\": %lld, \"seconds\": %.3f, \"gbit_per_second\": %.3f}\n",
           streams, (long long)st.st_size * streams, seconds,
           (double)st.st_size * streams * 8 / seconds / 1e9);
    return failed != 0;
}
