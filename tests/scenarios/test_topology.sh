#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# sim-wan topology: what a user sees and gets, in words, files and exit status.
set -eu

sim_wan=${SIM_WAN:-${GMC_BUILDDIR:?}/sim-wan/sim-wan}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM HUP PIPE # dash would end without
cd "$folder"

fail()
{
    echo "FAILED: $*" >&2
    exit 1
}

# refused TEXT ARGUMENT...: exits with 1 and says the text on standard error.
refused()
{
    text=$1
    shift
    if "$sim_wan" topology "$@" >out 2>err; then
        fail "not refused: $*"
    fi
    grep -qF -- "$text" err || fail "'$text' is not in: $(cat err)"
}

cat >map.gml <<'EOF'
graph [
  node [ id 0 label "Bern" Longitude 7.44744 Latitude 46.94809 ]
  node [ id 1 label "Paris" Longitude 2.3488 Latitude 48.85341 ]
  node [ id 2 label "None" hyperedge 1 ]
  node [ id 3 label "Alone" ]
  edge [ source 0 target 2 LinkLabel "10 Gbps" ]
  edge [ source 1 target 2 ]
  edge [ source 1 target 2 ]
]
EOF

refused "map.gml:5: no path joins these 2 parts: 'bern' and 2 more, 'alone'" map.gml
refused "missing.gml: cannot be read: No such file or directory; generated" missing.gml
refused "one file or family is needed"
refused "one file or family is needed" star:3 star:4
refused "--rate fast: expected a rate" --rate fast star:3
refused "--queue 11s: expected a time of up to 10 s" --queue 11s star:3
refused "/nonexistent/x.conf: No such file or directory" -o /nonexistent/x.conf --json - star:3
"$sim_wan" topology --help >/dev/null

"$sim_wan" topology --largest-component --links map.gml >out
for line in 'nodes      3, 2 with a gateway' 'router  joint2' 'link    bern joint2 10Gbit 1.088ms' \
    'link    paris joint2 2Gbit 1.088ms' 'note       1 parallel links' 'note       1 nodes outside'; do
    grep -qF "$line" out || fail "'$line' is not in: $(cat out)"
done

# The mark that some editors put before UTF-8 is none of the text.
printf '\357\273\277paris berlin\n' >bom.edges
printf '\357\273\277graph [ node [ id 0 ] ]\n' >bom.gml
printf '\357\273\277<?xml version="1.0"?>\n<graphml><graph><node id="a"/></graph></graphml>\n' >bom.xml
printf '\357\273\277nodes = {a}\n' >bom.conf
for file in bom.*; do
    "$sim_wan" topology "$file" >out || fail "a byte order mark: $file"
done
"$sim_wan" topology /dev/stdin <bom.conf >out || fail "our own format from a pipe"
printf 'Paris berlin\nparis rome\nrome berlin\n' >names.edges
refused "names.edges:2: 'Paris' and 'paris' are one name" names.edges

# Our own format takes everything along.
mkdir traces
echo 00001 >traces/losses
echo 'nodes = {a, b} link { between = {a, b} loss-trace = losses }' >traces/t.conf
"$sim_wan" topology traces/t.conf -o t.conf >/dev/null
grep -q 'loss-trace = "/.*/traces/losses"' t.conf || fail "no loss trace: $(cat t.conf)"
"$sim_wan" topology t.conf >/dev/null
"$sim_wan" topology --largest-component map.gml -o map.conf --json first.json >/dev/null
"$sim_wan" topology map.conf --json second.json >/dev/null
python3 - <<'EOF'
import json
first, second = (json.load(open(name)) for name in ("first.json", "second.json"))
assert first["notes"] and not second["notes"]
for part in ("nodes", "links", "diameter_hops", "diameter_delay_ns", "rate_bps"):
    assert first[part] == second[part], part
EOF
"$sim_wan" topology star:3 -o star.dot >/dev/null
grep -qF '"n0" -- "n3"' star.dot || fail "no edge in star.dot"

if "$sim_wan" topology star:3 >/dev/full 2>err; then
    fail "what was lost is not said"
fi
grep -qF "sim-wan topology: standard output: No space" err || fail "no words: $(cat err)"

if ! command -v gnuplot >/dev/null; then
    if "$sim_wan" topology --plot x star:3 >/dev/null 2>err; then
        fail "drawn without gnuplot"
    fi
    grep -qF "gnuplot is not installed; the script and its data are written: ./x-map.gp" err ||
        fail "no word of gnuplot: $(cat err)"
    echo "pictures: skipped, gnuplot is not installed"
    exit 0
fi
mkdir pictures
"$sim_wan" topology --largest-component map.gml --plot pictures/x >/dev/null
grep -q '</svg>' pictures/x-map.svg || fail "no picture"
[ "$(head -c 4 pictures/x-map.png | tail -c 3)" = PNG ] || fail "no PNG"
