#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Owns the simulator's table of figures: flat and tree3 on wires of 100 Mbit/s and 15 ms with 50 ms of
# queue, loss of 0 to 20 % on every wire, each figure beside its limit.
#
#   bench_sim.sh [--quick] [--cold]    1 GB (100 MB with --quick); --cold: gateways not yet connected
#
# Ends with 1 when a limit is missed.
set -eu
sim_wan="${GMC_BUILDDIR:-.}/sim-wan/sim-wan"
scenarios="${GMC_SRCDIR:-.}/tests/bench"
bytes=1000000000
warm=yes
for option in "$@"; do
    case $option in
    --quick) bytes=100000000 ;;
    --cold) warm=no ;;
    *) echo "bench_sim.sh: unknown option $option" >&2; exit 2 ;;
    esac
done

# The first value of that name in the printed object.
field()
{
    sed -n "s/^ *\"$2\": \"*\([^\",]*\)\"*,*\$/\1/p" "$1" | head -n 1
}

limit_of()
{
    case $1 in 0 | 1) echo 0.93 ;; 5) echo 0.92 ;; *) echo 0.90 ;; esac
}

out=$(mktemp)
trap 'rm -f "$out"' EXIT
trap 'exit 1' INT TERM HUP PIPE # dash would end without
missed=0
echo "One source, six receivers, $bytes bytes; gateways connected before: $warm"
echo "ratio: object / (rate * (1 - loss)) / time; wire: bytes on S's first wire / object"
printf '%-6s %5s %7s %6s %8s %7s %6s %6s %9s %7s %6s\n' \
    topo loss ratio limit seconds setup wire limit events cpu ok
for loss in 0 1 5 10 20; do
    flat=
    for topology in flat tree3; do
        "$sim_wan" run --set "transfer.size=$bytes" --set "wire.loss=$loss%" \
            --set "warm-up=$warm" --json "$out" "$scenarios/$topology.conf" >/dev/null || true
        most=$(awk -v loss="$loss" 'BEGIN { printf "%.3f", 1.08 / (1 - loss / 100) }')
        verdict=$(awk -v ratio="$(field "$out" ratio)" -v least="$(limit_of "$loss")" \
            -v wire="$(field "$out" first_wire)" -v most="$most" \
            -v complete="$(field "$out" complete)" -v flat="$flat" -v topology="$topology" \
            -v seconds="$(field "$out" completion_seconds)" 'BEGIN {
                ok = complete == "true" && ratio >= least
                if (topology == "tree3") ok = ok && wire <= most && seconds <= flat * 1.03 + 0.06
                print ok ? "yes" : "NO" }')
        printf '%-6s %4s%% %7.3f %6s %8.2f %7.3f %6.3f %6.3f %9s %7.1f %6s\n' "$topology" "$loss" \
            "$(field "$out" ratio)" "$(limit_of "$loss")" "$(field "$out" completion_seconds)" \
            "$(field "$out" setup_seconds)" "$(field "$out" first_wire)" \
            "$most" "$(field "$out" events)" "$(field "$out" cpu_seconds)" "$verdict"
        [ "$verdict" = yes ] || missed=1
        [ "$topology" = tree3 ] || flat=$(field "$out" completion_seconds)
    done
done
exit $missed
