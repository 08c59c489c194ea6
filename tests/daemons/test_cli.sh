#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Owns the test of gmcast's command line without a gateway: what is wrong is said, with what to do,
# and the exit status is 1.
set -u
gmcast=${GMCAST:-${GMC_BUILDDIR:-.}/tools/gmcast}
[ -x "$gmcast" ] || exit 77
case $gmcast in
/*) ;;
*) gmcast=$PWD/$gmcast ;;
esac
folder=$(mktemp -d /tmp/gmcast-test-cli-XXXXXX) || exit 99
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM HUP PIPE # dash would end without
cd "$folder" || exit 99
GMCAST_GATEWAY=ipc://$folder/nobody
export GMCAST_GATEWAY
failures=0

# expect STATUS PATTERN ARGUMENTS...: exit status and a pattern in what is said.
expect()
{
    want=$1
    pattern=$2
    shift 2
    said=$("$gmcast" "$@" 2>&1)
    got=$?
    if [ "$got" != "$want" ]; then
        echo "FAIL: gmcast $*: exit $got, not $want: $said"
        failures=$((failures + 1))
        return
    fi
    case $said in
    *"$pattern"*) ;;
    *)
        echo "FAIL: gmcast $*: \"$pattern\" is not in: $said"
        failures=$((failures + 1))
        ;;
    esac
}

touch file
expect 1 'Usage: gmcast'
expect 0 'Usage: gmcast' --help
expect 0 'gmcast ' --version
expect 1 'there is no command "stag"' stag
expect 1 'option --gateway needs a value' --gateway
expect 1 'option --nonsense' --nonsense stage

for command in stage watch status tree peers doctor add resume cancel ca; do
    expect 0 "Usage: gmcast $command" $command --help
    expect 1 "Try: gmcast $command --help" $command --nonsense
done

expect 1 'needs at least one source' stage --to b
expect 1 'needs --to' stage file
expect 1 'is no target' stage file --to ''
expect 1 'is no target' stage file --to a,,b
expect 1 'is no target' stage file --to a/
expect 1 'is no target' stage file --to :x
expect 1 'has 4096 bytes; 4095 are possible' stage file --to "a,b:$(printf %04096d 0)"
expect 1 'is no rate' stage file --to b --rate fast
expect 1 'cannot find missing' stage missing --to b
expect 1 '"" is no source' stage file '' --to b
expect 1 '"" is no NAME' node add ''
expect 1 'cannot find no/where' stage no/where --to b
expect 1 'all sources have to be at one domain' stage a:/x b:/y --to c
expect 1 'all sources have to be at one domain' stage file a:/x --to c
expect 1 'option -t needs a value' stage file -t
expect 1 'watch needs one channel' watch
expect 1 'tree needs one channel' tree
expect 1 'cancel needs one channel' cancel
expect 1 'resume needs one channel' resume a b
expect 1 'add needs --to' add 0123
expect 1 'add needs one channel' add --to b
expect 1 '--follow needs a channel' status --follow
expect 1 'takes no arguments' peers x
expect 1 'no domain stands before the /' sub /alerts

# Nobody there: at once, and said what to look at.
for command in "stage file --to b" "watch 0123" "status" "tree 0123" peers "add 0123 --to b" \
    "resume 0123" "cancel 0123"; do
    # shellcheck disable=SC2086 # a list of words
    expect 1 'is gatewayd running? (systemctl status gatewayd)' $command
done
expect 5 'is gatewayd running?' doctor
expect 5 '"check":"gateway","level":"fail"' doctor --json
expect 1 'is no endpoint' --gateway nonsense doctor
expect 1 'is no endpoint' --gateway nonsense status
expect 1 '"result":"failed"' stage file --to b --json
for command in "missing --to b --json" "--to b --json" "file --rate fast --to b --json" \
    "file --nonsense --to b --json" "file --to , --json" "missing --to b"; do
    # shellcheck disable=SC2086 # a list of words
    expect 1 '"result":"failed"' stage $command
done
expect 1 'nobody' -g "ipc://$folder/nobody" peers --json

# A file in the socket's place that nobody listens at: times out instead of hanging.
expect 1 'no gateway answers' --gateway "ipc://$folder/file" cancel 0123

# The authority.
expect 1 'ca needs one of' ca
expect 1 'needs the directory' ca list
expect 1 'ca init needs --name' ca init here
expect 1 'gmcast ca init makes one' ca list here
expect 0 'made the CA' ca init here --name 'Test CA'
expect 1 'not overwritten' ca init here --name 'Test CA'
expect 1 'is not a DNS name' ca issue here 'a b'
expect 1 'is no number of days' ca issue here a.example --days 0
expect 1 'p256 or ed25519' ca issue here a.example --algorithm rsa
expect 0 'issued a.example.crt and a.example.key' ca issue here A.example
expect 1 'not overwritten' ca issue here a.example
long=$(printf %060d 1 | tr 01 ab)
expect 0 'issued long.crt' ca issue here "$long.$long.$long.$long.example" --out long
expect 0 'valid ' ca list here
expect 0 'revoked 1 certificate' ca revoke here a.example
expect 0 'revoked 0 certificates' ca revoke here a.example
expect 1 'no certificate of "b.example"' ca revoke here b.example
expect 0 'number 4' ca crl here
if [ "$(stat -c %a a.example.key)" != 600 ] || [ "$(stat -c %a here/ca.key)" != 600 ]; then
    echo "FAIL: a key can be read by others"
    failures=$((failures + 1))
fi

[ "$failures" = 0 ] || exit 1
echo "all messages and exit codes are as they should be"
