/* SPDX-License-Identifier: BSD-2-Clause */
/* bench_forward.c in ns-3: the same chain and tree, point-to-point links, static global routing,
 * CBR datagrams, and packet-hops per CPU second. Compiled when the benchmark runs, and only where
 * ns-3 is installed.
 *
 *   bench_forward_ns3 chain|tree HOSTS HOPS
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

using namespace ns3;

static const uint32_t payload_bytes = 1000;
static const int64_t interval_ns = 10000;
static const uint32_t flow_hops_max = 200;

static std::vector<Ptr<Socket>> flows, sinks;
static size_t next_flow;
static uint64_t left_packets, arrived, crossed;

static void Crossed(Ptr<const Packet>)
{
    crossed++;
}

static void Receive(Ptr<Socket> socket)
{
    while (socket->Recv())
        arrived++;
}

static void SendNext()
{
    flows[next_flow]->Send(Create<Packet>(payload_bytes));
    next_flow = next_flow + 1 < flows.size() ? next_flow + 1 : 0;
    if (--left_packets > 0)
        Simulator::Schedule(NanoSeconds(interval_ns), &SendNext);
}

static void AddFlow(Ptr<Node> from, Ptr<Node> to)
{
    Ptr<Socket> sink = Socket::CreateSocket(to, UdpSocketFactory::GetTypeId());
    sink->Bind(InetSocketAddress(Ipv4Address::GetAny(), 9));
    sink->SetRecvCallback(MakeCallback(&Receive));
    sinks.push_back(sink);
    Ptr<Socket> flow = Socket::CreateSocket(from, UdpSocketFactory::GetTypeId());
    flow->Bind();
    flow->SetIpTtl(255);
    flow->Connect(InetSocketAddress(to->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal(), 9));
    flows.push_back(flow);
}

// Both return the hops that one packet of each flow takes.
static uint64_t AddChainFlows(const NodeContainer &nodes)
{
    uint32_t n = nodes.GetN();
    for (uint32_t from = 0; from < n - 1; from += flow_hops_max)
        AddFlow(nodes.Get(from), nodes.Get(std::min(from + flow_hops_max, n - 1)));
    return n - 1;
}

static uint64_t AddTreeFlows(const NodeContainer &nodes)
{
    uint64_t hops = 0;
    for (uint32_t i = nodes.GetN() / 2; i < nodes.GetN(); i++) {
        AddFlow(nodes.Get(0), nodes.Get(i));
        for (uint32_t at = i; at > 0; at = (at - 1) / 2)
            hops++;
    }
    return hops;
}

static double CpuSeconds()
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

int main(int argc, char **argv)
{
    uint32_t n = argc == 4 ? static_cast<uint32_t>(std::strtoul(argv[2], nullptr, 10)) : 0;
    if (n < 2) {
        std::fputs("bench_forward_ns3 chain|tree HOSTS HOPS\n", stderr);
        return 2;
    }
    bool chain = std::strcmp(argv[1], "chain") == 0;
    NodeContainer nodes;
    nodes.Create(n);
    InternetStackHelper internet;
    internet.SetIpv6StackInstall(false);
    internet.Install(nodes);
    PointToPointHelper wire;
    wire.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    wire.SetChannelAttribute("Delay", StringValue("1ms"));
    wire.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1000000p"));
    Ipv4AddressHelper address("10.0.0.0", "255.255.255.252");
    for (uint32_t i = 1; i < n; i++) {
        NetDeviceContainer ends =
            wire.Install(nodes.Get(chain ? i - 1 : (i - 1) / 2), nodes.Get(i));
        ends.Get(1)->TraceConnectWithoutContext("MacRx", MakeCallback(&Crossed));
        address.Assign(ends);
        address.NewNetwork();
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    uint64_t hops = chain ? AddChainFlows(nodes) : AddTreeFlows(nodes);
    uint64_t packets = std::strtoull(argv[3], nullptr, 10) * flows.size() / hops + 1;
    left_packets = packets;
    Simulator::Schedule(Seconds(0), &SendNext);
    double begin = CpuSeconds();
    Simulator::Run();
    double seconds = CpuSeconds() - begin;
    if (arrived != packets) {
        std::fprintf(stderr, "bench_forward_ns3: %llu of %llu arrived\n",
                     static_cast<unsigned long long>(arrived),
                     static_cast<unsigned long long>(packets));
        return 1;
    }
    std::printf("%.0f\n", static_cast<double>(crossed) / seconds);
    Simulator::Destroy();
    return 0;
}
