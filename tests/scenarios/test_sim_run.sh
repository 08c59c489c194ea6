#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Owns the test of `sim-wan run` as a command: exit statuses, what it writes, that runs repeat to the
# byte whoever makes them, and that the sample scenarios are sound.
set -eu
sim_wan=${GMC_BUILDDIR:?}/sim-wan/sim-wan
samples=${GMC_SRCDIR:?}/etc/scenarios
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM HUP PIPE # dash would end without

fail()
{
    echo "$*" >&2
    exit 1
}

# expect STATUS ARGUMENTS...: runs sim-wan run; what it writes is in $dir/out and $dir/err.
expect()
{
    wanted=$1
    shift
    status=0
    "$sim_wan" run "$@" >"$dir/out" 2>"$dir/err" || status=$?
    [ "$status" = "$wanted" ] ||
        fail "status $status instead of $wanted: run $*: $(cat "$dir/out" "$dir/err")"
}

cat >"$dir/small.conf" <<END
nodes = {s, a, b} routers = {r} seeds = 3
warm-up = yes limit = 60s
wire w { rate = 20Mbit delay = 5ms queue = 50ms loss = 2% }
link { between = {s, r} wire = w }
link { between = {r, a} wire = w }
link { between = {r, b} wire = w jitter = 1ms }
transfer one { from = s size = 1MB }
transfer two { from = a to = {s} size = 300KB after = one at = 100ms }
fault { what = wire-down between = {r, b} at = 300ms for = 200ms }
traffic x { from = r to = b rate = 1Mbit kind = poisson }
END

for sample in "$samples"/*.conf; do
    expect 0 -T "$sample"
done
expect 0 --set transfer.size=1MB --set seeds=1 "$samples/staging.conf"
expect 0 --set transfer.size=1MB "$samples/random.conf"

expect 0 --set transfer.size=1MB --set channel.alarms.for=3s "$samples/messages.conf"
grep -q '^alarms *complete *1500 ' "$dir/out" || fail "no channel: $(cat "$dir/out")"
grep -q '^east.example *alarms *1500 *0 ' "$dir/out" || fail "no subscriber: $(cat "$dir/out")"

expect 0 "$dir/small.conf"
grep -q '^one .*complete' "$dir/out" || fail "no table: $(cat "$dir/out")"
grep -q "again: sim-wan run --seed 3 $dir/small.conf" "$dir/out" || fail "no command"
grep -q '^x *r *b *poisson ' "$dir/out" || fail "no traffic: $(cat "$dir/out")"
grep -q '^b *one *verified ' "$dir/out" || fail "no domain with its transfer: $(cat "$dir/out")"
expect 2 --set limit=200ms "$dir/small.conf"
grep -q '^one .*  not done when the limit of 0.2 s was reached' "$dir/out" ||
    fail "no reason: $(cat "$dir/out")"
grep -q '^two .*  not begun when the limit' "$dir/out" || fail "no reason: $(cat "$dir/out")"
expect 1 "$dir/missing.conf"
expect 1
expect 1 --seeds 5..3 "$dir/small.conf"
expect 1 --set wire.w.loss=much "$dir/small.conf"
expect 1 --sweep wire.w.loss=1%,much --seeds 1..3 "$dir/small.conf"
[ ! -s "$dir/out" ] || fail "something was run before all was checked"
expect 1 --seeds 1..99999999999999 "$dir/small.conf"
grep -q 'more than 10000000 runs; expected fewer' "$dir/err" || fail "too many: $(cat "$dir/err")"
expect 1 --set wire.w.loss=101% "$dir/small.conf"
grep -q "'wire.w.loss=101%' cannot be set: expected a share .*, from 0 to 100%" "$dir/err" ||
    fail "no bounds: $(cat "$dir/err")"
expect 1 -T --pcap taps,nobody "$dir/small.conf"
grep -q "no node is called 'nobody'" "$dir/err" || fail "not checked: $(cat "$dir/err")"
expect 1 -T --plot "$dir/nowhere/x" "$dir/small.conf"
expect 1 --json "$dir/missing/x" "$dir/small.conf"
printf 'nodes = {a, b}\nlink { between = {a, c} }\n' >"$dir/bad.conf"
expect 1 -T "$dir/bad.conf"
grep -q "bad.conf:2: no node is called 'c'" "$dir/err" || fail "no place: $(cat "$dir/err")"

# The same again, to the byte but for the CPU's time; also with lines of what happens, and records.
expect 0 --json "$dir/first" "$dir/small.conf"
expect 0 --json "$dir/second" --events --csv "$dir/beside" "$dir/small.conf"
[ -s "$dir/err" ] || fail "no lines of what happens"
for name in first second; do
    grep -v '^ "cpu_seconds"' "$dir/$name" >"$dir/$name.same"
    grep -q '^ "trace_hash": "[0-9a-f]*[1-9a-f]' "$dir/$name" || fail "no hash"
done
cmp "$dir/first.same" "$dir/second.same"

# A wire on which everything was dropped is shown; names with hyphens give each wire its capture;
# and lines of a trace are in order when a wire becomes slower.
cat >"$dir/taps.conf" <<END
nodes = {a-b, c, a, b-c} limit = 1s
wire w { rate = 10Mbit delay = 1ms }
link { between = {a-b, c} wire = w }
link { between = {c, a} wire = w }
link { between = {a, b-c} wire = w mtu = 600 }
traffic x { from = a-b to = b-c rate = 3Mbit packet = 1400 }
fault { what = wire between = {c, a} at = 300ms delay = 100ms rate = 1Mbit }
END
expect 0 --pcap "$dir/hyphens" --ns "$dir/order" "$dir/taps.conf"
grep -q '^a  *b-c  *0  *0  *0  *[1-9]' "$dir/out" || fail "no wire: $(cat "$dir/out")"
[ "$(find "$dir/hyphens" -name 'a-b-c*.pcap' | wc -l)" = 2 ] || fail "one capture for two wires"
cut -d ' ' -f 2 "$dir/order" | sort -c -n || fail "the trace is out of order"

# A gateway that was started anew is given messages again, as a newcomer: that is no fault of theirs,
# and what it had before is not counted twice.
cat >"$dir/anew.conf" <<END
nodes = {s, a} limit = 20s
link { between = {s, a} rate = 10Mbit delay = 5ms }
channel alarms { from = s every = 10ms size = 100 at = 1s for = 6s }
fault { what = kill node = a at = 3s for = 500ms }
END
expect 0 --json "$dir/anew" "$dir/anew.conf"
for line in '"violations": 0,' '"delivered": 600,' '"repeated": [1-9][0-9]*,' '"lost": 0,'; do
    grep -q "^ *$line" "$dir/anew" || fail "not $line: $(cat "$dir/anew")"
done

# A run that fails leaves what an earlier one wrote, and nothing of its own.
expect 0 --json "$dir/kept" --csv "$dir/series" --pcap "$dir/taps" --ns "$dir/ns" "$dir/small.conf"
cp -R "$dir/series" "$dir/series.before"
cp -R "$dir/taps" "$dir/taps.before"
cp "$dir/kept" "$dir/kept.before"
cp "$dir/ns" "$dir/ns.before"
expect 1 --json "$dir/kept" --csv "$dir/series" --ns "$dir/ns" --pcap "$dir/kept" "$dir/small.conf"
for name in kept series taps ns; do
    diff -r "$dir/$name.before" "$dir/$name" || fail "a run that failed changed $name"
done
if [ -e "$dir/kept.tmp" ] || [ -e "$dir/ns.tmp" ]; then fail "a run that failed left its file"; fi
# Nor does one that a signal ends, of which a shell is told. What runs behind a shell's back has SIGINT
# ignored; not every env can undo that.
without=TERM
if env --default-signal=INT true 2>/dev/null; then without="TERM INT"; fi
for signal in $without; do
    for seeds in 1..1 1..9; do
        reset=
        records="--csv $dir/series --pcap $dir/taps --ns $dir/ns"
        [ "$signal" = TERM ] || reset="env --default-signal=$signal"
        [ "$seeds" = 1..1 ] || records=
        # shellcheck disable=SC2086
        $reset "$sim_wan" run -q --seeds "$seeds" --jobs 2 --set transfer.one.size=100GB --set limit=1h \
            --json "$dir/kept" $records "$dir/small.conf" >"$dir/out" 2>&1 &
        run=$!
        until [ -e "$dir/kept.tmp" ]; do
            kill -0 "$run" || fail "it ended by itself: $(cat "$dir/out")"
        done
        kill -s "$signal" "$run"
        status=0
        wait "$run" || status=$?
        [ "$(kill -l "$status")" = "$signal" ] || fail "$signal: status $status: $(cat "$dir/out")"
        for name in kept series taps ns; do
            diff -r "$dir/$name.before" "$dir/$name" || fail "a run that $signal ended changed $name"
        done
        if [ -e "$dir/kept.tmp" ] || [ -e "$dir/ns.tmp" ]; then fail "$signal left a file"; fi
    done
done
# Where something cannot be written in the end, the run's result is there nevertheless.
mkdir "$dir/pictures"
ln -s /dev/full "$dir/pictures/x-wires.dat"
expect 1 --plot "$dir/pictures/x" --json "$dir/kept" "$dir/small.conf"
grep -q '^one .*complete' "$dir/out" || fail "the table is lost: $(cat "$dir/out")"
grep -qF "$dir/pictures/x-wires.dat: No space" "$dir/err" || fail "no words: $(cat "$dir/err")"
cmp -s "$dir/kept" "$dir/kept.before" && fail "the summary is lost"
ln -s /dev/full "$dir/full"
expect 1 --json "$dir/full" "$dir/small.conf"
grep -qF "$dir/full: No space" "$dir/err" || fail "no words: $(cat "$dir/err")"
status=0
"$sim_wan" run "$dir/small.conf" >/dev/full 2>"$dir/err" || status=$?
[ "$status" = 1 ] || fail "a table that was lost, and status $status"
grep -q 'sim-wan run: standard output: No space' "$dir/err" || fail "no words: $(cat "$dir/err")"
ln -s target "$dir/link"
expect 0 --json "$dir/link" "$dir/small.conf"
if [ ! -L "$dir/link" ] || [ ! -s "$dir/target" ]; then fail "a link was replaced"; fi

# However many processes; a line per run, then one per combination.
many="--seeds 1..6 --sweep wire.w.loss=0%,5% $dir/small.conf"
for jobs in 1 2 5; do
    # shellcheck disable=SC2086 # words
    expect 0 --json "$dir/jobs$jobs" --jobs "$jobs" $many
    cmp "$dir/jobs1" "$dir/jobs$jobs"
done
[ "$(wc -l <"$dir/jobs1")" = 14 ] || fail "not 14 lines"
grep -q '"runs":6,"complete":6,' "$dir/jobs1" || fail "no summary"

# Workers do not outlive who asked for the runs.
setsid "$sim_wan" run --jobs 2 --seeds 1..2 --set transfer.one.size=10GB --set limit=10h \
    "$dir/small.conf" >/dev/null 2>&1 &
runner=$!
workers()
{
    pgrep -g "$runner" | grep -vx "$runner" || true
}
tries=100
until [ "$(workers | wc -l)" = 2 ] || [ "$tries" = 0 ]; do
    tries=$((tries - 1))
    sleep 0.1
done
[ "$tries" -gt 0 ] || fail "no workers"
kill -KILL "$runner"
until [ -z "$(workers)" ] || [ "$tries" = 0 ]; do
    tries=$((tries - 1))
    sleep 0.1
done
[ -z "$(workers)" ] || { workers | xargs kill -KILL; fail "workers went on without their parent"; }

# And over MPI, where it was built and is installed.
if grep -q '^#define HAVE_MPI' "$GMC_BUILDDIR/config.h" && command -v mpirun >/dev/null; then
    # shellcheck disable=SC2086 # words
    mpirun --allow-run-as-root --oversubscribe -n 2 "$sim_wan" run --json "$dir/mpi" $many \
        >/dev/null
    cmp "$dir/jobs1" "$dir/mpi"
    for words in "-T $dir/small.conf" "-T $dir/bad.conf" "--seeds 5..3 $dir/small.conf" "-X"; do
        # shellcheck disable=SC2086 # words
        mpirun --allow-run-as-root --oversubscribe -n 2 "$sim_wan" run $words >"$dir/out" 2>&1 || true
        [ "$(grep -c 'sim-wan run: \|: ok: \|invalid option' "$dir/out")" = 1 ] ||
            fail "not said once: $words: $(cat "$dir/out")"
    done
fi
