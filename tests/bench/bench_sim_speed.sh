#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Owns the table of the simulator's speed: its event engine, and plain forwarding beside ns-3, where
# that is installed (Debian: libns3-dev). Each figure stands beside its limit; ends with 1 when one
# is missed.
set -eu
build=${GMC_BUILDDIR:?}/tests/bench
source=${GMC_SRCDIR:?}/tests/bench
missed=0
modules="ns3-core ns3-network ns3-internet ns3-point-to-point"

"$build/bench_engine" || missed=1

# Debian's package names libraries by absolute paths that it does not depend on: -l only.
ns3=
# shellcheck disable=SC2086 # a list of words
if pkg-config --exists $modules 2>/dev/null; then
    ns3=$build/bench_forward_ns3
    # shellcheck disable=SC2046 # a list of words
    "${CXX:-c++}" -O2 -w -std=c++17 -o "$ns3" "$source/bench_forward_ns3.cc" \
        $(pkg-config --cflags $modules) $(pkg-config --libs-only-l $modules)
    trap 'rm -f "$ns3"' EXIT
    trap 'exit 1' INT TERM HUP PIPE # dash would end without
fi

echo
echo "Plain forwarding: million packet-hops per CPU second; at least 20 times those of ns-3"
[ -n "$ns3" ] || echo "ns-3 is not installed (libns3-dev): its figures are those of 3.37 on another machine"
printf '%-6s %6s %10s %10s %8s %6s\n' shape hosts sim-wan ns-3 ratio ok
for hosts in 7 1000; do
    for shape in chain tree; do
        ours=$("$build/bench_forward" "$shape" "$hosts" 20000000)
        if [ -n "$ns3" ]; then
            theirs=$("$ns3" "$shape" "$hosts" 500000)
        elif [ "$hosts" = 7 ]; then
            theirs=250000
        else
            theirs=120000
        fi
        verdict=$(awk -v ours="$ours" -v theirs="$theirs" \
            'BEGIN { print (ours >= 20 * theirs) ? "yes" : "NO" }')
        awk -v shape="$shape" -v hosts="$hosts" -v ours="$ours" -v theirs="$theirs" \
            -v verdict="$verdict" 'BEGIN {
                printf "%-6s %6d %10.2f %10.3f %8.0f %6s\n", shape, hosts, ours / 1e6, theirs / 1e6,
                    ours / theirs, verdict }'
        [ "$verdict" = yes ] || missed=1
    done
done
exit $missed
