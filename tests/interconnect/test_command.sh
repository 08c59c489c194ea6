#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Owns the test of gmcast-interconnect as a command: exit statuses, what it writes, what it refuses,
# and that every reference table of the vectors goes through it.
set -eu
command=${GMC_BUILDDIR:?}/interconnect/gmcast-interconnect
vectors=${GMC_SRCDIR:?}/tests/vectors/interconnect
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM HUP PIPE # dash would end without

fail()
{
    echo "$*" >&2
    exit 1
}

# expect STATUS ARGUMENTS...: runs it; what it writes is in $dir/out and $dir/err.
expect()
{
    wanted=$1
    shift
    status=0
    "$command" "$@" >"$dir/out" 2>"$dir/err" || status=$?
    [ "$status" = "$wanted" ] ||
        fail "status $status instead of $wanted: $*: $(cat "$dir/out" "$dir/err")"
}

# says WORDS: on standard error, and nothing on standard output.
says()
{
    grep -qF -- "$1" "$dir/err" || fail "not said: $1: $(cat "$dir/err")"
    [ ! -s "$dir/out" ] || fail "something was written: $(cat "$dir/out")"
}

# same_table FILE WANTED PART: fields within that part of those wanted; words equal.
same_table()
{
    awk -F, -v part="$3" '
        NR == FNR { line[FNR] = $0; lines = FNR; next }
        {
            if (split(line[FNR], other, FS) != NF) exit 1
            for (i = 1; i <= NF; i++)
                if ($i != other[i] && !(($i - other[i])^2 <= (part * $i)^2 && $i + 0 != 0)) {
                    print FILENAME ":" FNR ": " other[i] " instead of " $i
                    exit 1
                }
        }
        END { exit lines != FNR }' "$1" "$2"
}

for table in "$vectors"/*.csv; do
    name=$(basename "$table" .csv)
    expect 0 list
    grep -qx "  $name" "$dir/out" || continue
    expect 0 model --golden "$table"
    case $name in
    ldr_generated) part=0.25 ;; # of random graphs
    *) part=1e-6 ;;
    esac
    same_table "$dir/out" "$table" $part || fail "$name is not computed as it stands there"
done

head -n 4 "$vectors/sim_fattree.csv" >"$dir/sim_fattree.csv"
expect 0 compare --golden "$dir/sim_fattree.csv"
[ "$(wc -l <"$dir/out")" = 4 ] || fail "not three simulations: $(cat "$dir/out")"
cp "$dir/out" "$dir/one"
expect 0 model --golden="$dir/sim_fattree.csv"
cmp "$dir/one" "$dir/out" || fail "the same simulations differ"
cut -d, -f1-5,7-8 "$dir/out" >"$dir/mine"
cut -d, -f1-5,7-8 "$dir/sim_fattree.csv" >"$dir/reference"
same_table "$dir/mine" "$dir/reference" 0.01 || fail "simulations are not those of the reference"
printf 'm,n,M,lambda\n4,3,32,0.001\n4,0,32,0.001\n' >"$dir/sim_fattree.csv"
expect 1 simulate --golden "$dir/sim_fattree.csv"
says "line 3: n (levels of switches) is 0; it must be 1 to"

head -n 4 "$vectors/sim_fattree.csv" >"$dir/sim_fattree.csv"
expect 0 model --jobs 1 --quiet --golden "$dir/sim_fattree.csv"
cmp "$dir/one" "$dir/out" || fail "the number of processes makes a difference to a table"
expect 0 model --golden "$vectors/wan_case1.csv" --json
grep -q '^ "table": "wan_case1",$' "$dir/out" || fail "no JSON: $(cat "$dir/out")"
grep -q '^   "t_all_remote_us": [0-9]*,$' "$dir/out" || fail "no numbers: $(cat "$dir/out")"
printf 'nodes,degree,samples,avg_min,avg_mean,avg_max\n8,3,1,?,?,?\n8,3,?,?,?,?\n' >"$dir/ldr_generated.csv"
expect 0 model --golden "$dir/ldr_generated.csv"
awk -F, 'NR == 2 { one = $3 == 1 && $4 == $6 } NR == 3 { all = $3 == 200 && $4 < $6 }
    END { exit !(one && all) }' "$dir/out" || fail "not as many graphs: $(cat "$dir/out")"
printf 'nodes,degree,samples\n8,3,few\n' >"$dir/ldr_generated.csv"
expect 1 model --golden "$dir/ldr_generated.csv"
says 'line 2: samples is "few"; it must be a whole number'
for table in qos_cube qos_dmp_cube; do
    head -n 2 "$vectors/$table.csv" | sed 's/^[1-9],/0,/' >"$dir/$table.csv"
    expect 1 model --golden "$dir/$table.csv"
    says "line 2: n, the cube's dimensions, is 0; it must be 2 to 10"
done

expect 0 --help
expect 0 --version
expect 1
expect 1 compute
expect 0 list torus
grep -q -- '--k  *nodes per ring .nodes.; 2 to 1024, usually 4' "$dir/out" || fail "no parameter"
expect 0 list --json
expect 1 list ring
says "no family is called 'ring'"

expect 0 model torus --algorithm separate,S-torus --group 2..16/14
[ "$(wc -l <"$dir/out")" = 5 ] || fail "not four points: $(cat "$dir/out")"
grep -q '^algorithm,k \[nodes\],.*,latency \[us\],' "$dir/out" || fail "no units in the head"
grep -q '^separate,4,0,16,128,136.904,none,1.994$' "$dir/out" || fail "not the anchor"
"$command" model torus --algorithm all --k 8 --group 2..64 --jobs 1 >"$dir/one"
"$command" model torus --algorithm all --k 8 --group 2..64 --jobs 3 >"$dir/three"
cmp "$dir/one" "$dir/three" || fail "the number of processes makes a difference"
expect 0 model star --json --algorithm all --group 2..9
expect 0 model torus --help

expect 1 model
expect 1 model ring
expect 1 model torus --k 1
says "k (nodes per ring) is 1; it must be 2 to 1024"
expect 1 model torus --k 4 --group 17
says "group, of the k x k nodes, is 17; it must be 2 to 16"
expect 1 model torus --k 4 --algorithm Mu-torus --r 17
says "r, the partition length, is 17; it must be 1 to 16"
expect 1 simulate hypercube --n 1 --traffic transpose
says "no host sends"
expect 1 model torus --group 4..2
says "group: the range 4..2 is empty"
expect 1 model torus --group 2 --group 3
says "group is given twice"
expect 1 model torus --algorithm binary
says "it must be one of separate, U-torus, S-torus, Md-torus, Mu-torus"
expect 1 model torus --cables 3
expect 1 model torus --N 3
says "--N is of the simulator: see gmcast-interconnect simulate torus"
expect 1 model torus --seed 3
says "--seed is of the simulator"
expect 1 simulate fattree --divisor 2
says "--divisor is of the model: see gmcast-interconnect model fattree"
expect 1 model multicluster --system 544,1120 --m 128
says "--m (ports of a switch, of --system own) has no effect: the other parameters make it 8"
expect 0 model multicluster --system 1120,own --m 4,8
grep -q '^0.0001,1120,8,1,12,2,16,3,4,' "$dir/out" || fail "not the clusters of print: $(cat "$dir/out")"
grep -q '^0.0001,own,4,1,12,' "$dir/out" || fail "not our clusters: $(cat "$dir/out")"
expect 0 model ldr --bytes 1..3
[ "$(wc -l <"$dir/out")" = 4 ] || fail "not three lengths"
expect 0 list qos
grep -q -- '--n  *dimensions of the cube, 2 or more; 0: one router;' "$dir/out" || fail "no range of n"
expect 1 model torus 16
says "'16' is no option"
expect 1 model torus --figure speed
says "torus has no figure 'speed'"
expect 1 model torus --jobs 0
expect 1 model --golden "$dir/unknown.csv"
says "no reference table has this name"
expect 1 model --golden "$dir/sci_latency.csv"
says "No such file"
expect 1 model --golden "$dir/sci_latency.csv" --seed 2
says "--seed is not of reference tables"
printf 'k,M_bytes,r,G\n4,128,4,x\n' >"$dir/sci_latency.csv"
expect 1 model --golden "$dir/sci_latency.csv"
says 'line 2: G is "x"; it must be a whole number'

# Graphs from files.
printf 'a b\nb c\nc x\nx y\ny a\na c 1Gbit\n' >"$dir/map"
printf '0 1\n1 2\n2 0\n' >"$dir/ring"
expect 0 compare ldr --topology "hypercube,$dir/map" --nodes 8 --load 0.1,0.3 --messages 2000 --jobs 1
[ "$(grep -c ",$dir/map,5,3," "$dir/out")" = 2 ] || fail "no points of the file: $(cat "$dir/out")"
cp "$dir/out" "$dir/one"
expect 0 compare ldr --topology "hypercube,$dir/map" --nodes 8 --load 0.1,0.3 --messages 2000 --jobs 3
cmp "$dir/one" "$dir/out" || fail "the number of processes makes a difference to graphs"
expect 0 compare updown --topology "$dir/map,$dir/ring" --load 0.001,0.031 --messages 2000
[ "$(grep -c ",$dir/ring,3,2,.*held all the time\|queues grow" "$dir/out")" -ge 1 ] ||
    fail "not saturated: $(cat "$dir/out")"
expect 1 simulate updown --topology "$dir/ring" --load 0.9
says "is 0.9; it must be 0 to 0.03125"
expect 1 simulate updown --topology "$dir/nothing"
says "it must be hypercube, ldr, improved, or the file of a list of edges: No such file"
expect 0 model updown --traffic transpose --links turns --load 0.001
expect 1 model updown --traffic shift --shift 64
says "the shift is 64; it must be 1 to 63"
expect 1 simulate hypercube --topology "$dir/map"
says "any graph is there for worms in the family updown, for packets in ldr"
printf 'a b\nc d\n' >"$dir/parts"
expect 1 model updown --topology "$dir/parts"
says "parts: the network is not connected: no way leads from 'a' to 'c'"
printf 'a b\n\nb b\n' >"$dir/loop"
expect 1 simulate ldr --topology "$dir/loop"
says "loop: line 3: a link joins 'b' to itself"
printf 'a b\nb c\nc b\n' >"$dir/twice"
expect 1 simulate ldr --topology "$dir/twice"
says "twice: line 3: 'b' and 'c' are joined in line 2 too"
expect 1 simulate ldr --topology "$dir/map" --topology "$dir/ring"
says "topology is given twice"

# Where curves saturate.
expect 0 simulate updown --topology "$dir/ring" --V 1 --load 0.01,0.031 --messages 2000
grep -q 'queues grow.*; not at load 0.01 yet' "$dir/out" || fail "no bounds: $(cat "$dir/out")"
expect 0 compare updown --topology "$dir/ring" --V 1,2 --load 0.01,0.031 --messages 2000 \
    --find-saturation --jobs 1
cp "$dir/out" "$dir/one"
grep -q 'queues grow.*; in runs from load 0.0' "$dir/out" || fail "nothing found: $(cat "$dir/out")"
head -1 "$dir/out" | grep -q 'saturation_load_model \[.*,saturation_load_simulated \[' ||
    fail "no column: $(cat "$dir/out")"
expect 0 compare updown --topology "$dir/ring" --V 1,2 --load 0.01,0.031 --messages 2000 \
    --find-saturation --jobs 3
cmp "$dir/one" "$dir/out" || fail "the number of processes makes a difference to saturation"
expect 0 model hypercube --find-saturation
grep -q ',0.006526256446,$' "$dir/out" || fail "not the model's limit: $(cat "$dir/out")"
expect 1 simulate torus --find-saturation
says "torus has no load that could saturate it"

expect 0 simulate torus --algorithm all --group 4..16/4 --messages 5 --seed 7 --jobs 1
cp "$dir/out" "$dir/one"
expect 0 simulate torus --algorithm all --group 4..16/4 --messages 5 --seed 7 --jobs 3
cmp "$dir/one" "$dir/out" || fail "the number of processes makes a difference"
expect 0 simulate torus --algorithm all --group 4..16/4 --messages 5 --seed 8
cmp -s "$dir/one" "$dir/out" && fail "the seed makes no difference"
expect 0 compare star --algorithm all --json
expect 0 compare hypercube --n 2 --load 0.0001 --messages 500
grep -q ',latency_error \[%\],.*,source_wait_error \[% of at least 1 cycles\],' "$dir/out" ||
    fail "it is not said what errors are relative to: $(head -1 "$dir/out")"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[substr($i, 1, index($i, " ") - 1)] = i }
    NR == 2 { exit !(($at["source_wait_error"] - 100 * ($at["source_wait_model"] - \
        $at["source_wait_simulated"]))^2 < 1e-6) }' "$dir/out" || fail "not relative to a cycle"
expect 0 simulate star --group 9 --log "$dir/log" --channels "$dir/channels"
[ "$(wc -l <"$dir/log")" = 9 ] || fail "not a line per message"
[ "$(head -1 "$dir/log")" = 'run,number,from,to,class,hops,created [us],entered [us],delivered [us]' ] ||
    fail "the log's times have no unit: $(head -1 "$dir/log")"
expect 0 simulate multicluster --messages 1000 --log "$dir/log" # whose unit is not a cycle
awk -F, 'NR == FNR { if (NR == 1) for (i = 1; i <= NF; i++) at[$i] = i
        else wanted = $at["latency [time]"]; next }
    FNR > 1 { sum += $9 - $7 }
    END { exit !(((sum / (FNR - 1) / wanted) - 1)^2 < 1e-6) }' "$dir/out" "$dir/log" ||
    fail "the log is not in the table's unit: $(head -2 "$dir/log")"
[ "$(wc -l <"$dir/channels")" = 19 ] || fail "not a line per channel"
# A run that a signal ends leaves what an earlier one wrote, and nothing of its own.
cp "$dir/log" "$dir/log.before"
"$command" simulate multicluster --messages 1000000000 --log "$dir/log" >"$dir/out" 2>&1 &
run=$!
until [ -e "$dir/log.tmp" ]; do
    kill -0 "$run" || fail "it ended by itself: $(cat "$dir/out")"
done
kill -s TERM "$run"
status=0
wait "$run" || status=$?
[ "$(kill -l "$status")" = TERM ] || fail "TERM: status $status: $(cat "$dir/out")"
cmp "$dir/log" "$dir/log.before" || fail "a run that was ended changed the log"
if [ -e "$dir/log.tmp" ]; then fail "a run that was ended left its log"; fi
expect 1 simulate star --group 8,9 --log "$dir/log"
says "--channels and --log are for one point; these are 2"
expect 1 simulate torus --group 17
says "G, the group's size, is 17; it must be 2 to 16"
expect 1 simulate torus --k 2,4 --group 16 # the first has four nodes, the second is there
[ "$(wc -l <"$dir/out")" = 2 ] || fail "the good point is missing"
expect 1 simulate star --log "$dir/missing/x"
expect 1 model star --bytes 65
says "m, the message's bytes, is 65; it must be 1 to 64"

expect 0 schedule torus --algorithm Md-torus --root 2.2 \
    --members "1.1 1.2 1.3 2.2 2.4 3.1 3.3 4.1 4.2 4.4"
grep -q '^  3:2.2>1.2 3:4.2>4.4$' "$dir/out" || fail "not the example: $(cat "$dir/out")"
grep -q '^  link_concentration  *1.21429$' "$dir/out" || fail "no metrics"
expect 0 schedule star --json
expect 0 schedule torus --k 3 --N 3 --r 5 --group 12
expect 1 schedule ring
expect 1 schedule torus --k 1
says "k, nodes per ring, is 1; it must be 2 to 1024"
expect 1 schedule torus --algorithm serial
says "no algorithm of a torus is called 'serial'; it must be separate, U-torus, S-torus, Md-torus or Mu-torus"
expect 1 schedule torus --members "1.1 1.5"
says "coordinate 2 is 5; it must be 1 to 4"
expect 1 schedule torus --members "1.1 2.1 1.1"
says "member 1.1 is named twice"
expect 1 schedule torus --group 17
says "G, the group's size, is 17; it must be 2 to 16"
expect 1 schedule star --root 1
says "--root is not of schedule star"

# Trees of graphs.
expect 0 schedule ldr --topology hypercube --nodes 16 --members "3 5 7" --algorithm subcube
grep -q '^  1:3>1 1:3>7$' "$dir/out" || fail "not the subcube's tree: $(cat "$dir/out")"
grep -q '^  relays  *1$' "$dir/out" || fail "no relay: $(cat "$dir/out")"
expect 0 schedule ldr --topology "$dir/map" --members "x a"
grep -q '^  1:x>c$' "$dir/out" || fail "not the file's nodes: $(cat "$dir/out")"
expect 0 schedule ldr --nodes 64 --root 5 --algorithm tree
grep -q '^  used_links  *63$' "$dir/out" || fail "no broadcast: $(cat "$dir/out")"
expect 0 schedule ldr --nodes 64 --samples 5 --group 16 --seed 3 --json
expect 1 schedule ldr --topology "$dir/map" --members "x q"
says "no node of the file is called 'q'"
expect 1 schedule ldr --topology "$dir/map" --nodes 9
says "nodes is of graphs that are made"
expect 1 schedule ldr --members "1 2 1"
says "member 1 is named twice"
expect 1 schedule ldr --nodes 8 --root 8
says "'8' is no node; nodes are 0 to 7"
expect 1 schedule ldr --algorithm subcube
says "subcubes are of hypercubes"
expect 1 schedule ldr --topology fat-tree
says "trees are of direct networks"
expect 0 simulate ldr --topology hypercube,ldr --nodes 16 --broadcast 2 --group 0,4 --load 0.1 --messages 2000
[ "$(grep -c ',none,' "$dir/out")" = 0 ] || fail "no multicasts: $(cat "$dir/out")"
expect 1 simulate ldr --group 4
says "a group has no effect without the packets of a broadcast"
expect 1 simulate ldr --group 65 --broadcast 1
says "the group of a broadcast is 65; it must be 2 to 64"

expect 0 advise --network torus:4x4 --group 10 --bytes 2
grep -q '^separate is best by the model$' "$dir/out" || fail "no advice: $(cat "$dir/out")"
expect 0 advise --network torus:4x4 --group 14 --bytes 64K --simulate
grep -q '^M[du]-torus is best by the simulator' "$dir/out" || fail "no advice: $(cat "$dir/out")"
expect 0 advise --network star:16 --group 16 --bytes 64K --simulate --json
expect 1 advise --network star:16 --group 16 --bytes 64K
says "the models of the star hold for 1 to 64 bytes"
expect 1 advise --network torus:4x4 --group 17
says "the group is 17; it must be 2 to 16"
expect 1 advise --network torus:4x4 --group 4 --packet 4K
says "--packet is of the simulators: give --simulate, too"
expect 1 advise --group 4
expect 1 advise --network torus:4x4 --group 4 --bytes 0
says "bytes (bytes) is 0; it must be 1 to 1048576"

expect 0 graph generate --nodes 32 --degree 5 --samples 5
cp "$dir/out" "$dir/g32"
expect 0 graph improve "$dir/g32" --steps 2000
cp "$dir/out" "$dir/better"
for graph in g32 better; do
    expect 0 graph measure "$dir/$graph"
    grep -q '^32,80,5,5,yes,' "$dir/out" || fail "$graph is not regular: $(cat "$dir/out")"
done
expect 0 graph export "$dir/g32"
cmp "$dir/g32" "$dir/out" || fail "a graph is not what it was"
expect 0 graph export --dot "$dir/g32"
[ "$(grep -c -- ' -- ' "$dir/out")" = 80 ] || fail "not 80 links"
# The graph that is chosen when nothing else is asked for has the diameter of the printed table.
expect 0 graph generate --nodes 32 --degree 5
cp "$dir/out" "$dir/usual"
expect 0 graph measure "$dir/usual"
grep -q '^32,80,5,5,yes,3,' "$dir/out" || fail "not as printed: $(cat "$dir/out")"
# Nodes keep the names that they have in the file.
printf 'paris b-1\n5 paris 1g 2ms\nb-1 5\n' >"$dir/named"
expect 0 graph export "$dir/named"
printf 'paris b-1\nparis 5\nb-1 5\n' | cmp - "$dir/out" || fail "names: $(cat "$dir/out")"
expect 0 graph export --dot "$dir/named"
grep -qxF '  "paris" -- "b-1";' "$dir/out" || fail "names: $(cat "$dir/out")"
printf 'a b\nb c\nc d\nd a\n' >"$dir/square"
expect 0 graph improve "$dir/square" --steps 5
[ "$(tr ' ' '\n' <"$dir/out" | sort -u | tr '\n' ' ')" = 'a b c d ' ] ||
    fail "names: $(cat "$dir/out")"
expect 0 graph improve --nodes 16 --degree 4 --steps 500
expect 1 graph generate --nodes 5 --degree 3
expect 1 graph improve "$dir/g32" --nodes 5
says "--nodes is not of improve FILE"
expect 1 graph generate --nodes 8 --degree 3 --steps 5
says "--steps is not of generate"
expect 1 graph measure "$dir/g32" --dot
expect 1 graph measure "$dir/missing"
expect 1 graph measure
expect 1 graph draw "$dir/g32"
printf 'a b\nb a\n' >"$dir/twice"
expect 1 graph measure "$dir/twice"

expect 0 reproduce --quick --out "$dir/page" sci-small sci-tori sci-large myrinet wan cube-rates
grep -q '^  holds  *Mu-torus is worse than Md-torus' "$dir/out" || fail "no claim: $(cat "$dir/out")"
for file in index.html claims.csv sci-large.csv sci-large-whole.csv sci-large-packets.csv wan.csv \
    wan-remote.csv wan-mixed.csv wan-hops.csv wan-links.csv wan-first-hop.csv myrinet-links.csv; do
    [ -s "$dir/page/$file" ] || fail "$file is missing"
done
[ "$(sed -n 11p "$dir/page/cube-rates-bars.csv")" = 9,0.05672043011,0.005004887586 ] ||
    fail "not the channel rates: $(cat "$dir/page/cube-rates-bars.csv")"
[ "$(head -2 "$dir/page/myrinet-per-node.csv" | tr '\n' ' ')" = \
    'scheme and algorithm,tabulated [us],by (3-8) to (3-10) [us] HB binomial,39.05,39.054 ' ] ||
    fail "not the table of times at nodes: $(cat "$dir/page/myrinet-per-node.csv")"
grep -q '^sci-large,yes,"Mu-torus is worse' "$dir/page/claims.csv" || fail "no claim in the table"
while read -r claim; do
    grep -q "^$claim" "$dir/page/claims.csv" || fail "no claim in the table: $claim"
done <<'CLAIMS'
sci-small,yes,"the load of U-torus's root steps where the number of steps changes","simulated, at 14 of 14
sci-small,yes,"Mu-torus takes longer with 10 and 14 nodes than with 8, 12 and 16"
sci-small,no,"the model is off by 3 % for separate
sci-small,no,"Md-torus and Mu-torus are on one level (at all sizes)","within 5 % at 2 of 14
sci-large,no,"Md-torus is best for large groups","store and forward: at 2 of 3
sci-tori,yes,"the best partitions of Mu-torus have k nodes","groups of a multiple of k = 8: 12741 us in all, 13151 with 4 nodes, 36520
sci-tori,no,"S-torus is worst beyond 8 nodes (against U-torus)","k = 8: U-torus is slower at 10 of
myrinet,no,"and constant 2 for serial"
myrinet,yes,"the load of the root's processor: most host-based
myrinet,yes,"table 3.3, host-based
myrinet,no,"table 3.3, NIC-based
wan,yes,"case 1: a mixed call takes as long as its remote part
wan,yes,"case 2: without caches it grows about linearly in the rate","1.05 at 1 %
CLAIMS
grep -q '<h1>Interconnects, as published</h1>' "$dir/page/index.html" || fail "not our page"

expect 1 reproduce --out "$dir/none" figure-8
says "no figure is called 'figure-8'"
expect 1 reproduce --out "$dir/missing/x" wan
# Files of a page are whole, or those of an earlier run: here none may have more than a block, as where
# the disk becomes full.
cp -R "$dir/page" "$dir/page.before"
(
    trap '' XFSZ
    ulimit -f 1
    expect 1 reproduce --quick --out "$dir/page" wan
)
grep -qF "cannot write $dir/page/wan-remote.csv: File too large" "$dir/err" ||
    fail "a table that was not written is not told: $(cat "$dir/err")"
diff -r "$dir/page.before" "$dir/page" || fail "a run that failed changed the page"
mkdir "$dir/full"
ln -s /dev/full "$dir/full/wan-mixed.gp"
ln -s /dev/full "$dir/full/claims.csv"
expect 1 reproduce --quick --out "$dir/full" wan
for name in wan-mixed.gp claims.csv; do
    grep -qF "$dir/full/$name: No space left on device" "$dir/err" || fail "$name: $(cat "$dir/err")"
done

# Over MPI, where it was built and is installed: the same for any number of ranks, written once.
if grep -q '^#define HAVE_MPI' "$GMC_BUILDDIR/config.h" && command -v mpirun >/dev/null; then
    points="simulate torus --algorithm all --group 4..16/4 --messages 5 --seed 7"
    # shellcheck disable=SC2086 # words
    expect 0 $points
    cp "$dir/out" "$dir/one"
    head -n 4 "$vectors/sim_fattree.csv" >"$dir/sim_fattree.csv"
    expect 0 model --golden "$dir/sim_fattree.csv"
    cp "$dir/out" "$dir/one-golden"
    searched="compare updown --topology $dir/ring --V 1..3 --load 0.01,0.031 --messages 2000 \
        --find-saturation"
    # shellcheck disable=SC2086 # words
    expect 0 $searched
    cp "$dir/out" "$dir/one-searched"
    expect 0 reproduce --quick --out "$dir/page-one" sci-large wan
    for ranks in 1 2 3; do
        over="mpirun --allow-run-as-root --oversubscribe -n $ranks $command"
        # shellcheck disable=SC2086 # words
        $over $points >"$dir/out"
        cmp "$dir/one" "$dir/out" || fail "$ranks ranks make a difference"
        # shellcheck disable=SC2086 # words
        $over $searched >"$dir/out"
        cmp "$dir/one-searched" "$dir/out" || fail "$ranks ranks make a difference to saturation"
        $over model --golden "$dir/sim_fattree.csv" >"$dir/out"
        cmp "$dir/one-golden" "$dir/out" || fail "$ranks ranks make a difference to a table"
        $over reproduce --quick --out "$dir/page-$ranks" sci-large wan >/dev/null
        for file in claims.csv sci-large.csv sci-large-whole.csv wan.csv; do
            cmp "$dir/page-one/$file" "$dir/page-$ranks/$file" || fail "$ranks ranks: another $file"
        done
        $over simulate star --group 9 --log "$dir/log-$ranks" >/dev/null
        [ "$(wc -l <"$dir/log-$ranks")" = 9 ] || fail "$ranks ranks: not a line per message"
    done
fi

# What gnuplot began is no picture.
mkdir "$dir/bin"
cat >"$dir/bin/gnuplot" <<'END'
#!/bin/sh
file=${2#*\'}
echo half >"${file%%\'*}"
exit 1
END
chmod +x "$dir/bin/gnuplot"
echo whole >"$dir/half.svg"
(
    PATH="$dir/bin:$PATH"
    expect 1 model torus --group 2..16 --plot "$dir/half"
)
grep -qF "gnuplot failed at $dir/half.gp" "$dir/err" || fail "not told: $(cat "$dir/err")"
[ "$(cat "$dir/half.svg")" = whole ] || fail "a picture was replaced by half of one"
if [ -e "$dir/half.svg.tmp" ] || [ -e "$dir/half.png" ]; then fail "half a picture is left"; fi

if command -v gnuplot >/dev/null; then
    expect 0 model torus --algorithm all --group 2..16 --plot "$dir/curve.svg"
    for kind in svg png dat gp; do
        [ -s "$dir/curve.$kind" ] || fail "no picture: $kind"
    done
    # gnuplot itself says nothing of a disk that is full.
    cp "$dir/curve.svg" "$dir/curve.before"
    (
        trap '' XFSZ
        ulimit -f 8
        expect 1 model torus --algorithm all --group 2..16 --plot "$dir/curve"
    )
    grep -qF "$dir/curve.svg: File too large" "$dir/err" || fail "half a picture: $(cat "$dir/err")"
    cmp "$dir/curve.svg" "$dir/curve.before" || fail "half a picture took the place of a whole one"
    ln -s /dev/full "$dir/lost.png"
    expect 1 model torus --group 2..16 --plot "$dir/lost"
    grep -qF "$dir/lost.png: No space left on device" "$dir/err" || fail "lost: $(cat "$dir/err")"
    (cd "$dir" && rm curve.svg && gnuplot curve.gp) || fail "the script does not draw again"
    cmp "$dir/curve.svg" "$dir/curve.before" || fail "the script draws something else"
    for picture in wan-mixed wan-hops-time wan-first-hop myrinet-per-node cube-rates-bars \
        myrinet-links-cable_concentration; do
        [ -s "$dir/page/$picture.png" ] || fail "no picture: $picture"
    done
    expect 1 model torus --group 16 --plot "$dir/point"
    says 'a picture needs a parameter with several numbers'
    expect 0 model ldr --load 0.9,0.95 --plot "$dir/full"
    grep -qF "$dir/full shows nothing: latency is saturated at all points" "$dir/err" ||
        fail "an empty picture is not told: $(cat "$dir/err")"
    expect 1 model torus --group 2..16 --plot "$dir/missing/x"
    says "$dir/missing/x: No such file or directory"
fi
expect 0 model torus
"$command" model torus >/dev/full 2>"$dir/err" && fail "a full disk was not noticed"
exit 0
