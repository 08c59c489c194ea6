/* SPDX-License-Identifier: BSD-2-Clause */
/* TUN devices; see tun.h. Set up with ioctls: all there is to say fits into them. */
#include "sim-wan/emulate/tun.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/ipv6.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* The queue of the modelled wire decides what is lost. That of the device only has to hold what
 * comes in while the emulator does something else. */
#define QUEUE_PACKETS 20000

static int fail(char *error, const char *what)
{
    snprintf(error, EMU_ERROR_MAX, "%s: %s", what, strerror(errno));
    return -1;
}

static struct ifreq request_for(const char *device)
{
    struct ifreq request;
    memset(&request, 0, sizeof(request));
    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", device);
    return request;
}

static int set_address(int sock, unsigned long what, in_addr_t address)
{
    struct ifreq request = request_for(EMU_TUN_NAME);
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = address};
    memcpy(&request.ifr_addr, &in, sizeof(in));
    return ioctl(sock, what, &request);
}

static int take_up(int sock, const char *device)
{
    struct ifreq request = request_for(device);
    if (ioctl(sock, SIOCGIFFLAGS, &request) != 0)
        return -1;
    request.ifr_flags |= IFF_UP | IFF_RUNNING;
    return ioctl(sock, SIOCSIFFLAGS, &request);
}

static int set_up4(const struct emu_host *host, uint32_t mtu, char *error)
{
    struct ifreq request = request_for(EMU_TUN_NAME);
    int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int status = -1;
    if (sock < 0)
        return fail(error, "cannot open a socket");
    request.ifr_mtu = (int)mtu;
    if (ioctl(sock, SIOCSIFMTU, &request) != 0) {
        fail(error, "cannot set the MTU of " EMU_TUN_NAME);
        goto out;
    }
    request.ifr_qlen = QUEUE_PACKETS;
    if (ioctl(sock, SIOCSIFTXQLEN, &request) != 0) {
        fail(error, "cannot set the queue of " EMU_TUN_NAME);
        goto out;
    }
    if (set_address(sock, SIOCSIFADDR, host->address4.s_addr) != 0 ||
        set_address(sock, SIOCSIFNETMASK, htonl(EMU_NETMASK4)) != 0) {
        fail(error, "cannot set the address of " EMU_TUN_NAME);
        goto out;
    }
    if (take_up(sock, EMU_TUN_NAME) != 0 || take_up(sock, "lo") != 0) {
        fail(error, "cannot take up " EMU_TUN_NAME " and lo");
        goto out;
    }
    status = 0;
out:
    close(sock);
    return status;
}

/* A kernel without IPv6 has hosts without it. */
static int set_up6(const struct emu_host *host, char *error)
{
    int sock = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (sock < 0)
        return 0;
    struct in6_ifreq request = {.ifr6_addr = host->address6,
                                .ifr6_prefixlen = EMU_PREFIX6,
                                .ifr6_ifindex = (int)if_nametoindex(EMU_TUN_NAME)};
    int status = ioctl(sock, SIOCSIFADDR, &request);
    if (status != 0 && (errno == EOPNOTSUPP || errno == EACCES))
        status = 0; /* switched off */
    if (status != 0)
        fail(error, "cannot set the IPv6 address of " EMU_TUN_NAME);
    close(sock);
    return status;
}

int emu_tun_open(const struct emu_host *host, uint32_t mtu, char *error)
{
    struct ifreq request = request_for(EMU_TUN_NAME);
    int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fail(error, "cannot open /dev/net/tun");
    /* No IFF_VNET_HDR, so no packet larger than the MTU and no checksum left to do. */
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    if (ioctl(fd, TUNSETIFF, &request) != 0) {
        fail(error, "cannot make a TUN device");
    } else if (set_up4(host, mtu, error) == 0 && set_up6(host, error) == 0) {
        return fd;
    }
    close(fd);
    return -1;
}

uint64_t emu_tun_dropped(void)
{
    /* interface: 8 figures of receiving, then bytes, packets, errs, drop of sending. */
    FILE *dev = fopen("/proc/self/net/dev", "re");
    char line[512];
    unsigned long long dropped = 0;
    while (dev != NULL && fgets(line, sizeof(line), dev) != NULL)
        if (sscanf(line, " " EMU_TUN_NAME ": %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
                   &dropped) == 1)
            break;
    if (dev != NULL)
        fclose(dev);
    return dropped;
}
