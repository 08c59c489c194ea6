/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns what gmcast doctor says of a neighbour. */
#include "tools/doctor_links.h"

#include <string.h>

#include "tools/text.h"

/* An attempt that failed is repeated within two seconds. */
#define ATTEMPTS_SECONDS 2.5
/* Larger datagrams are tried as soon as the path works. */
#define MTU_SECONDS 1.0
#define ETHERNET_PAYLOAD 1452 /* with PPPoE; what gatewayd tries first */
#define PACKETS_ENOUGH 1000   /* to speak of losses */
#define LOSS_WARN_PPM 10000

static bool has_fabric(const struct gmc_ctl_peer *peer)
{
    return peer->fabric.name != NULL && peer->fabric.name[0] != '\0';
}

/* Whoever dialled us shows a port that is no listening one. */
static const char *port_of(const struct gmc_ctl_peer *peer)
{
    const char *colon = strrchr(peer->session.address, ':');
    bool listens = peer->session.dialled || !peer->session.up;

    return colon != NULL && listens ? colon + 1 : "of gatewayd";
}

static bool works_over_udp(const struct gmc_ctl_peer *peer)
{
    return peer->udp_out == GMC_CTL_REACH_ARRIVES && peer->udp_in == GMC_CTL_REACH_ARRIVES;
}

bool doctor_link_is_known(const struct gmc_ctl_peer *peer, double waited)
{
    const struct gmc_ctl_session *session = &peer->session;

    if (!session->configured)
        return true;
    if (!session->up)
        return session->is_node || (session->dial == GMC_CTL_DIAL_NONE && peer->reason[0] != '\0' &&
                                    waited >= ATTEMPTS_SECONDS);
    if (!peer->up)
        return false;
    if (session->transport != GMC_CTL_TRANSPORT_TCP &&
        (peer->udp_out == GMC_CTL_REACH_UNKNOWN || peer->udp_in == GMC_CTL_REACH_UNKNOWN))
        return false;
    if (session->transport == GMC_CTL_TRANSPORT_TCP || waited >= MTU_SECONDS)
        return true;
    /* Where UDP gets through again the link is about to take it. */
    return peer->stream ? !works_over_udp(peer) : peer->payload_max >= ETHERNET_PAYLOAD;
}

/* ---- the session ---- */

static void advise_on_reason(struct gmc_findings *findings, const struct gmc_ctl_peer *peer)
{
    const char *reason = peer->reason;

    if (strstr(reason, "certificate") != NULL)
        gmc_findings_advise(findings, "compare names (the peer section here, domain there, the "
                                      "certificate), dates, and authorities (tls: ca) of both");
    else if (strstr(reason, "Connection refused") != NULL)
        gmc_findings_advise(findings,
                            "start gatewayd there, or correct address and port in the "
                            "section peer \"%s\"",
                            peer->domain);
    else if (strstr(reason, "SRV") != NULL || strstr(reason, "DNS") != NULL)
        gmc_findings_advise(findings, "set address in the section peer \"%s\", or mend its name",
                            peer->domain);
    else
        gmc_findings_advise(findings, "run gmcast doctor there too; journalctl -u gatewayd has "
                                      "details at both ends");
}

static void no_node(struct gmc_findings *findings, const struct gmc_ctl_peer *peer)
{
    gmc_findings_add(findings, GMC_CTL_LEVEL_WARN, "session", peer->domain,
                     "the node has no session%s%s", peer->reason[0] != '\0' ? ": " : "",
                     peer->reason);
    gmc_findings_advise(findings,
                        "start gmcast-noded there (journalctl -u gmcast-noded says why it "
                        "does not come), or let TCP to this gateway through");
}

static void no_session(struct gmc_findings *findings, const struct gmc_ctl_peer *peer)
{
    const struct gmc_ctl_session *session = &peer->session;

    if (session->connect == GMC_CTL_CONNECT_IN) {
        gmc_findings_add(findings, GMC_CTL_LEVEL_FAIL, "session", peer->domain,
                         "it is to dial us (connect = in), and has not");
        gmc_findings_advise(findings,
                            "let TCP and UDP of our port in here; there connect has to be "
                            "out or both in its section for us, and gatewayd has to run");
    } else if (session->dial == GMC_CTL_DIAL_TCP) {
        gmc_findings_add(findings, GMC_CTL_LEVEL_FAIL, "session", peer->domain,
                         "TCP from here to %s gets no answer", session->address);
        gmc_findings_advise(findings,
                            "let TCP port %s out here and in there, and see that the host is up; "
                            "where nothing may come in there: connect = in here, out there",
                            port_of(peer));
    } else if (session->dial == GMC_CTL_DIAL_TLS) {
        gmc_findings_add(findings, GMC_CTL_LEVEL_FAIL, "session", peer->domain,
                         "%s takes TCP connections, but does not answer TLS", session->address);
        gmc_findings_advise(findings,
                            "see that gatewayd listens there, and that nothing on the way "
                            "(a proxy, a firewall) answers in its place");
    } else {
        gmc_findings_add(findings, GMC_CTL_LEVEL_FAIL, "session", peer->domain, "none: %s",
                         peer->reason[0] != '\0' ? peer->reason : "it was not tried yet");
        advise_on_reason(findings, peer);
    }
}

static void say_session(struct gmc_findings *findings, const struct gmc_ctl_peer *peer)
{
    const struct gmc_ctl_session *session = &peer->session;

    if (!session->up && session->is_node)
        no_node(findings, peer);
    else if (!session->up)
        no_session(findings, peer);
    else if (!session->dialled)
        gmc_findings_add(findings, GMC_CTL_LEVEL_OK, "session", peer->domain,
                         "up, dialled from there (%s): TCP gets in here", session->address);
    else if (session->connect == GMC_CTL_CONNECT_OUT)
        gmc_findings_add(findings, GMC_CTL_LEVEL_OK, "session", peer->domain,
                         "up, dialled from here to %s, as configured (connect = out)",
                         session->address);
    else
        gmc_findings_add(findings, GMC_CTL_LEVEL_OK, "session", peer->domain,
                         "up, dialled from here to %s: TCP gets in there; whether it gets in here "
                         "is not known",
                         session->address);
}

/* ---- UDP ---- */

static void say_reach(struct gmc_findings *findings, const struct gmc_ctl_peer *peer, bool out)
{
    enum gmc_ctl_reach reach = out ? peer->udp_out : peer->udp_in;
    const char *check = out ? "udp-out" : "udp-in";
    const char *from = out ? "here" : "there", *to = out ? "there" : "here";

    if (reach == GMC_CTL_REACH_ARRIVES) {
        gmc_findings_add(findings, GMC_CTL_LEVEL_OK, check, peer->domain, "UDP from %s arrives %s",
                         from, to);
        return;
    }
    if (reach == GMC_CTL_REACH_UNKNOWN) {
        gmc_findings_add(findings, GMC_CTL_LEVEL_WARN, check, peer->domain,
                         "whether UDP from %s arrives %s is not known (yet)", from, to);
        gmc_findings_advise(findings, "run gmcast doctor again, and there too");
        return;
    }
    gmc_findings_add(findings, peer->up ? GMC_CTL_LEVEL_WARN : GMC_CTL_LEVEL_FAIL, check,
                     peer->domain, "BLOCKED: UDP from %s does not arrive %s", from, to);
    gmc_findings_advise(findings, "let UDP port %s out %s and in %s (firewalls of hosts and sites)",
                        out ? port_of(peer) : "of gatewayd", from, to);
}

static void say_path(struct gmc_findings *findings, const struct gmc_ctl_peer *peer)
{
    bool udp = works_over_udp(peer);
    char rtt[TEXT_FIGURE_MAX];

    text_latency(peer->rtt_ns, rtt);
    if (!peer->up) {
        gmc_findings_add(findings, GMC_CTL_LEVEL_FAIL, "path", peer->domain,
                         "no way for data works yet%s%s", peer->reason[0] != '\0' ? ": " : "",
                         peer->reason);
        gmc_findings_advise(findings, "see udp-out and udp-in; transport = auto in the section of "
                                      "the peer lets data go within TLS");
    } else if (has_fabric(peer)) {
        gmc_findings_add(findings, GMC_CTL_LEVEL_OK, "path", peer->domain,
                         "over the fabric %s, round trip %s", peer->fabric.name, rtt);
    } else if (!peer->stream) {
        gmc_findings_add(findings, GMC_CTL_LEVEL_OK, "path", peer->domain,
                         "over UDP, round trip %s", rtt);
    } else if (peer->session.transport == GMC_CTL_TRANSPORT_TCP) {
        gmc_findings_add(findings, GMC_CTL_LEVEL_OK, "path", peer->domain,
                         "within TLS, as configured (transport = tcp), round trip %s", rtt);
    } else {
        gmc_findings_add(findings, GMC_CTL_LEVEL_WARN, "path", peer->domain,
                         "within TLS, round trip %s: slower than UDP where paths are long or lose "
                         "packets",
                         rtt);
        gmc_findings_advise(findings, udp ? "UDP gets through, but datagrams of the size that is "
                                            "sent do not: see to the MTU of the path"
                                          : "open UDP: see udp-out and udp-in");
    }
    gmc_findings_value(findings, (int64_t)(peer->rtt_ns / 1000), "us");
}

static void say_mtu(struct gmc_findings *findings, const struct gmc_ctl_peer *peer)
{
    bool small = peer->payload_max < ETHERNET_PAYLOAD;

    if (!peer->up || peer->stream || has_fabric(peer) || peer->payload_max == 0)
        return;
    gmc_findings_add(findings, small ? GMC_CTL_LEVEL_WARN : GMC_CTL_LEVEL_OK, "mtu", peer->domain,
                     "datagrams of %u bytes get through, and no larger ones", peer->payload_max);
    gmc_findings_value(findings, peer->payload_max, "bytes");
    if (small)
        gmc_findings_advise(findings, "the path takes less than Ethernet does: look for tunnels, "
                                      "and interfaces with an MTU below 1500 (ip link)");
}

static void say_loss(struct gmc_findings *findings, const struct gmc_ctl_peer *peer)
{
    bool much = peer->loss_ppm >= LOSS_WARN_PPM;

    if (!peer->up || peer->packets_sent < PACKETS_ENOUGH)
        return;
    gmc_findings_add(findings, much ? GMC_CTL_LEVEL_WARN : GMC_CTL_LEVEL_OK, "loss", peer->domain,
                     "the path loses %.2f %% of what is sent there", peer->loss_ppm / 1e4);
    gmc_findings_value(findings, peer->loss_ppm, "ppm");
    if (much)
        gmc_findings_advise(findings,
                            "look for what loses packets: cables, duplex, policers, Wi-Fi "
                            "(mtr to the host of %s)",
                            peer->domain);
}

/* ---- nodes ---- */

static void say_multicast(struct gmc_findings *findings, const struct gmc_ctl_peer *peer)
{
    if (peer->multicast.state == GMC_CTL_MULTICAST_ARRIVES) {
        gmc_findings_add(findings, GMC_CTL_LEVEL_OK, "multicast", peer->domain,
                         "the domain's multicast arrives there");
    } else if (peer->multicast.state == GMC_CTL_MULTICAST_LOST) {
        gmc_findings_add(findings, GMC_CTL_LEVEL_WARN, "multicast", peer->domain,
                         "the domain's multicast does not arrive there, so it is served by unicast "
                         "or by a relay: %s",
                         peer->multicast.reason);
        gmc_findings_advise(findings, "let UDP port 7412 in at the node, set the right "
                                      "multicast_interface, and see to IGMP snooping in switches "
                                      "(gatewayd.conf(5))");
    }
}

void doctor_link(struct gmc_findings *findings, const struct gmc_ctl_peer *peer)
{
    say_session(findings, peer);
    if (peer->session.up) {
        say_path(findings, peer);
        if (!has_fabric(peer) && peer->session.transport != GMC_CTL_TRANSPORT_TCP) {
            say_reach(findings, peer, true);
            say_reach(findings, peer, false);
        }
        say_mtu(findings, peer);
        say_loss(findings, peer);
    }
    if (peer->session.is_node)
        say_multicast(findings, peer);
}
