#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Owns the short check of the experiments: they run, repeat to the byte on any number of cores, write
# what they promise, and say what is wrong with what they are given.
set -eu
experiments=${GMC_BUILDDIR:-.}/experiments/experiments
folder=$(mktemp -d /tmp/gmcast-test-experiments-XXXXXX)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM HUP PIPE # dash would end without

fail()
{
    echo "FAIL: $*" >&2
    exit 1
}

# refused PATTERN ARGUMENTS...: exits with something else than 0, and says so.
refused()
{
    pattern=$1
    shift
    if said=$("$experiments" --out "$folder/none" "$@" 2>&1); then
        fail "experiments $*: was taken"
    fi
    case $said in
    *"$pattern"*) ;;
    *) fail "experiments $*: \"$pattern\" is not in: $said" ;;
    esac
}

"$experiments" --quick --jobs 1 --out "$folder/a" case1 >"$folder/a.txt" 2>"$folder/a.err" ||
    fail "case1: $(cat "$folder/a.err")"
"$experiments" --quick --jobs 1 --out "$folder/b" case1 >/dev/null 2>&1
cmp "$folder/a/case1.csv" "$folder/b/case1.csv" || fail "case1 does not repeat"
if grep -n nan "$folder/a/case1.csv" "$folder/a.txt"; then
    fail "case1: what is measured has no figure"
fi
"$experiments" --quick --jobs 2 --out "$folder/c" case2 >"$folder/c.txt" 2>"$folder/c.err" ||
    fail "case2: $(cat "$folder/c.err")"

# Claims are judged for both windows, not for the one where they hold.
grep -q '^case2,.*as fast as flat.*narrow' "$folder/c/claims.csv" ||
    fail "case2: narrow windows are not held against flat"
# Tables with their rows, claims of both kinds, a page with all of it.
[ "$(wc -l <"$folder/a/case1.csv")" -gt 2000 ] || fail "case1.csv is too short"
[ "$(wc -l <"$folder/c/case2.csv")" -gt 30 ] || fail "case2.csv is too short"
grep -q '^case1,yes,' "$folder/a/claims.csv" || fail "no claim holds"
grep -q '^case1,no,' "$folder/a/claims.csv" || fail "every claim holds"
grep -q 'does not hold' "$folder/a/index.html" || fail "the page hides what does not hold"
for claim in 'Every run completes' 'it takes longer than with them' 'grows with the rate' \
    'does not depend on the rate'; do
    grep -q "^case2,yes,.*$claim" "$folder/c/claims.csv" || fail "case2: does not hold: $claim"
done
if command -v gnuplot >/dev/null; then
    for picture in a/case1-local a/case1-remote a/case1-mixed c/case2-time c/case2-gain; do
        [ -s "$folder/$picture.png" ] || fail "$picture.png was not drawn"
    done
else
    echo "gnuplot is not installed: pictures not checked"
fi

refused "no experiment is called 'case3'" case3
refused "must be 1 to 1024" --jobs 0
refused "nowhere.gml" --topology /nowhere.gml map
[ ! -e "$folder/none" ] || fail "a map that is none is found only after all runs"

# A folder that is none is said at once, what cannot be written at the end.
if said=$("$experiments" --quick --out "$folder/a.txt" case2 2>&1); then
    fail "a file was taken for a folder"
fi
case $said in
*Not\ a\ directory*) ;;
*) fail "a file for a folder: $said" ;;
esac
mkdir "$folder/full"
ln -s /dev/full "$folder/full/case1.csv"
if "$experiments" --quick --out "$folder/full" case1 >/dev/null 2>"$folder/full.err"; then
    fail "a table that could not be written was not missed"
fi
grep -q 'case1.csv: No space' "$folder/full.err" || fail "full disk: $(cat "$folder/full.err")"
# What an earlier run wrote stays then: here no file may have more than two blocks.
cp -R "$folder/b" "$folder/short"
if (
    trap '' XFSZ
    ulimit -f 2
    "$experiments" --quick --out "$folder/short" case1 >/dev/null 2>"$folder/short.err"
); then
    fail "files that could not be written were not missed"
fi
for name in case1.csv case1-local.gp index.html; do
    grep -qF "$folder/short/$name: File too large" "$folder/short.err" ||
        fail "$name: $(cat "$folder/short.err")"
done
diff -r "$folder/b" "$folder/short" || fail "a run that could not write changed what was there"

# Names of a map are no commands of gnuplot, and nodes without a place have no picture.
cat >"$folder/odd.gml" <<'END'
graph [
  node [ id 0 label "a'b_c" Longitude 1.0 Latitude 2.0 ]
  node [ id 1 label "Ła\d^x" Longitude 3.0 Latitude 4.0 ]
  edge [ source 0 target 1 ]
]
END
"$experiments" --quick --out "$folder/odd" --topology "$folder/odd.gml" map >/dev/null \
    2>"$folder/odd.err" || fail "odd names: $(cat "$folder/odd.err")"
printf 'a b\nb c\n' >"$folder/plain.txt"
"$experiments" --quick --out "$folder/plain" --topology "$folder/plain.txt" map >/dev/null \
    2>"$folder/plain.err" || fail "an edge list: $(cat "$folder/plain.err")"
if grep 'gnuplot failed' "$folder/odd.err" "$folder/plain.err"; then
    fail "pictures of odd maps"
fi

# Who is ended takes its runs along, and leaves what an earlier run wrote.
cp -R "$folder/c" "$folder/ended"
"$experiments" --jobs 1 --out "$folder/ended" case2 >/dev/null 2>&1 &
main=$!
while run=$(pgrep -P $main); [ -z "$run" ]; do
    kill -0 $main 2>/dev/null || fail "ended by itself"
    sleep 0.05
done
kill -TERM $main
wait $main || true
diff -r "$folder/c" "$folder/ended" || fail "a run that was ended changed its folder"
lives()
{
    state=$(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -c1)
    [ -n "$state" ] && [ "$state" != Z ]
}
for try in 1 2 3 4 5 6 7 8 9 10; do
    lives "$run" || break
    [ "$try" -lt 10 ] || fail "a run goes on without its parent"
    sleep 0.1
done
echo "experiments: $(grep -c 'holds' "$folder/a.txt") claims of case1 judged"
