#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Owns the test of what a newcomer runs first: both demonstrations of ./quickstart, in the tree that is
# built. They compare what arrived by themselves; here, that they end well, in time, and leave nothing.
set -u
build=${GMC_BUILDDIR:-.}
[ -x "$build/gatewayd/gatewayd" ] || exit 77
TMPDIR=$(mktemp -d /tmp/gmcast-test-demo-XXXXXX) || exit 99
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
trap 'exit 1' INT TERM HUP PIPE # dash would end without
failures=0

for mode in "" cluster; do
    # shellcheck disable=SC2086 # no word where there is no mode
    timeout 300 "${GMC_SRCDIR:-.}/scripts/demo" "$build" $mode >"$TMPDIR/said" 2>&1
    status=$?
    if grep -q "has no room" "$TMPDIR/said"; then
        cat "$TMPDIR/said"
        exit 77
    fi
    left=$(ls "$TMPDIR")
    if [ "$status" != 0 ] || [ "$left" != said ] || ! grep -q "^diff -r: the trees" "$TMPDIR/said"; then
        tail -40 "$TMPDIR/said"
        echo "FAIL: demo $mode: exit $status, left: $left"
        failures=$((failures + 1))
    fi
done

# Whoever reads its words may go away: daemons are up when it speaks next.
timeout 300 "${GMC_SRCDIR:-.}/scripts/demo" "$build" cluster 2>/dev/null | sed '/^== daemons/q' >"$TMPDIR/said"
grep -q '^== daemons' "$TMPDIR/said" || failures=$((failures + 1))
left=$(ls "$TMPDIR")
alive=$(pgrep -f "$TMPDIR/gmcast-demo" | wc -l)
if [ "$left" != said ] || [ "$alive" != 0 ]; then
    echo "FAIL: demo | sed q: left: $left, and $alive processes"
    pkill -f "$TMPDIR/gmcast-demo"
    failures=$((failures + 1))
fi
exit "$failures"
