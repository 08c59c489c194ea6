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
"$experiments" --quick --jobs 2 --out "$folder/c" case2 >"$folder/c.txt" 2>"$folder/c.err" ||
    fail "case2: $(cat "$folder/c.err")"

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
echo "experiments: $(grep -c 'holds' "$folder/a.txt") claims of case1 judged"
