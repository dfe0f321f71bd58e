#!/usr/bin/env bash
# flitwise conform from outside: listing, filters, verdicts, exit codes, JUnit, campaigns and their small cases.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "$*" >&2; exit 1; }

cat >"$folder/write.yaml" <<'Y'
id: LNK-9.14/first
title: A write across 4 KiB is malformed
cites: [LNK-9.14]
variants:
  - {name: crosses, address: "0x1ffc", kind: malformed_tlp}
  - {name: wrong, address: "0x1000", kind: malformed_tlp}
stimulus:
  - tlp: {tlp: {type: MWr, requester_id: "01:00.0", address: "${address}", length_dw: 2, first_be: 15, last_be: 15, payload: 1122334455667788}}
  - run: idle
expect:
  - {event: wire, type: MWr, direction: up}
  - {event: error, kind: "${kind}", at: rp0}
Y

list=$("$FLITWISE" conform "$folder" --list)
[[ $list == $'LNK-9.14/first/crosses\tA write across 4 KiB is malformed\n'* ]] || fail "list: $list"

out=$("$FLITWISE" conform "$folder" --case '*/crosses' -j 2)
[[ $out == ok*"1 passed, 0 failed" ]] || fail "one that passes: $out"

code=0
out=$("$FLITWISE" conform "$folder" --junit "$folder/out.xml") || code=$?
[[ $code == 1 ]] || fail "exit code $code where a case fails"
[[ $out == *"write.yaml:12:5: expected error kind=malformed_tlp at=rp0"* ]] || fail "where it fails: $out"
[[ $out == *"committed addr=0x1000"* ]] || fail "what came instead: $out"
[[ $out == *$'\n1 passed, 1 failed' ]] || fail "last line: $out"
grep -q 'tests="2" failures="1" errors="0"' "$folder/out.xml" || fail "JUnit"

# All events of the cases, in the order of the cases and not of their ends.
code=0
"$FLITWISE" conform "$folder" --events "$folder/events.jsonl" -j 2 >/dev/null || code=$?
[[ $code == 1 ]] || fail "exit code $code with --events"
grep -q '^{"case":"LNK-9.14/first/crosses","event":"error",.*"kind":"malformed_tlp"' "$folder/events.jsonl" || fail "events: $(cat "$folder/events.jsonl")"
grep -q '^{"case":"LNK-9.14/first/wrong","event":"committed",' "$folder/events.jsonl" || fail "events of a case that fails: $(cat "$folder/events.jsonl")"
[[ $(cut -d, -f1 "$folder/events.jsonl" | uniq) == $'{"case":"LNK-9.14/first/crosses"\n{"case":"LNK-9.14/first/wrong"' ]] || fail "events of several cases are mixed"

# Addresses of CXL messages stand in hexadecimal digits, as those of TLPs.
mkdir "$folder/cxl"
printf 'id: X\ntitle: T\ncites: []\nconfig: {set: {link.preset: cxl68_gen5x16, device.cxl.memory: 8GiB, workload.via: cxl_mem, workload.kind: read, workload.requests: 4}}\nstimulus: [{start: {}}]\nexpect: [{event: wire, type: M2S Req}]\n' >"$folder/cxl/read.yaml"
"$FLITWISE" conform "$folder/cxl" --events "$folder/cxl/events.jsonl" >/dev/null || fail "reads of CXL memory"
grep -q '"type":"M2S Req",.*"address":"0x[0-9a-f]*"' "$folder/cxl/events.jsonl" || fail "addresses: $(grep M2S "$folder/cxl/events.jsonl" | head -1)"
rm -r "$folder/cxl"

# Steps of a repeat that cannot be done are one failure, which names the first round.
mkdir "$folder/rounds"
printf 'id: X\ntitle: T\ncites: []\nstimulus:\n- repeat: {times: 300, as: i, steps: [{poke: {addr: "${1 + i * 1099511627776}", u8: 1}}]}\nnever: [{event: check}]\n' >"$folder/rounds/far.yaml"
code=0
out=$("$FLITWISE" conform "$folder/rounds") || code=$?
[[ $code == 1 ]] || fail "exit code $code where steps cannot be done"
[[ $out == *"far.yaml:5:39: expected a step that can be done, with i = 1"* ]] || fail "the first round: $out"
[[ $out == *"outside of host memory  (and 298 more)"* ]] || fail "how many rounds: $out"
[[ $(grep -c "a step that can be done" <<<"$out") == 1 ]] || fail "each round is told: $out"
rm -r "$folder/rounds"

# A file that cannot be written takes no other one with it; where a campaign cannot write is known before.
code=0
"$FLITWISE" conform "$folder" --case '*/crosses' --junit /dev/full --events "$folder/kept.jsonl" >/dev/null 2>&1 || code=$?
[[ $code == 2 && -s $folder/kept.jsonl ]] || fail "exit code $code; events beside a full device: $(ls "$folder")"
code=0
"$FLITWISE" conform --campaign 1000000 -o "$folder/write.yaml/below" >/dev/null 2>"$folder/err" || code=$?
[[ $code == 2 ]] || fail "exit code $code where a campaign cannot write"
grep -q "write.yaml is no folder; expected a folder that can be written to" "$folder/err" || fail "$(cat "$folder/err")"

# What a final check asks of a machine that lacks it is known before any case runs; so is a file that is named twice.
mkdir "$folder/lacks"
printf 'id: X\ntitle: T\ncites: []\nstimulus: [{run: idle}]\nfinal: {counters: {links.7.up.tlps: 1}}\n' >"$folder/lacks/link.yaml"
code=0
out=$("$FLITWISE" conform "$folder/lacks" 2>"$folder/err") || code=$?
[[ $code == 2 && -z $out ]] || fail "exit code $code, $out"
grep -q 'link.yaml:5:20: final.counters: no link 7 in this machine; expected links.0 to links.0' "$folder/err" || fail "$(cat "$folder/err")"
rm -r "$folder/lacks"
code=0
"$FLITWISE" conform "$folder/write.yaml" "$folder/write.yaml" >/dev/null 2>"$folder/err" || code=$?
[[ $code == 2 ]] || fail "exit code $code for a file that is named twice"
grep -q "comes twice from this file; expected a file that is named once" "$folder/err" || fail "$(cat "$folder/err")"

code=0
"$FLITWISE" conform "$folder" --case none >/dev/null 2>&1 || code=$?
[[ $code == 64 ]] || fail "exit code $code where nothing matches"

printf 'id: X\ntitle: T\ncites: [X]\nstimulus: [{peeek: {}}]\nnever: [{event: check}]\n' >"$folder/bad.yaml"
code=0
out=$("$FLITWISE" conform "$folder/bad.yaml" 2>"$folder/err") || code=$?
[[ $code == 2 && -z $out ]] || fail "a bad file: exit code $code, $out"
grep -q "bad.yaml:4:13: .*unknown op 'peeek'.*nearest op 'peek'" "$folder/err" || fail "$(cat "$folder/err")"

printf 'id: X\ntitle: T\ncites: [%s]\nstimulus: [{run: idle}]\nnever: [{event: check}]\n' LNK-9.99 >"$folder/bad.yaml"
code=0
out=$("$FLITWISE" conform "$folder/bad.yaml" 2>"$folder/err") || code=$?
[[ $code == 2 && -z $out ]] || fail "a rule that no page states: exit code $code, $out"
grep -q "bad.yaml:1:1: .*no rule 'LNK-9.99'" "$folder/err" || fail "$(cat "$folder/err")"

printf 'id: X\ntitle: T\ncites: [X]\nconfig:\n  set: {link.mps: 128B, link.mrrs: 100B}\nstimulus: [{run: idle}]\nnever: [{event: check}]\n' >"$folder/bad.yaml"
code=0
out=$("$FLITWISE" conform "$folder/bad.yaml" 2>"$folder/err") || code=$?
[[ $code == 2 && -z $out ]] || fail "a setting that is wrong: exit code $code, $out"
grep -q "bad.yaml:5:25: config.set.link.mrrs: case X: 100B; expected" "$folder/err" || fail "$(cat "$folder/err")"

# Files that are wrong are one error each, and the others run: what cannot be read, what has a problem in one of its cases, an id that is taken.
mkdir "$folder/mixed"
printf 'id: X/good\ntitle: T\ncites: []\nstimulus: [{run: idle}]\nnever: [{event: check}]\n' | tee "$folder/mixed/good.yaml" >"$folder/mixed/taken.yaml"
printf 'id: X/unknown\nexpect: [{event: wire, nosuchfield: 1}]\n' >"$folder/mixed/unreadable.yaml"
cp "$folder/bad.yaml" "$folder/mixed/setting.yaml"
code=0
out=$("$FLITWISE" conform "$folder/mixed" --junit "$folder/mixed.xml" 2>"$folder/err") || code=$?
[[ $code == 2 && $out == "ok    X/good  "*$'\n1 passed, 0 failed, files refused: 3' ]] || fail "one file of four is good: exit code $code, $out"
grep -q 'tests="4" failures="0" errors="3"' "$folder/mixed.xml" || fail "JUnit of files that are wrong: $(cat "$folder/mixed.xml")"
for name in taken unreadable setting; do
  [[ $(grep -c "<testcase.*$name.yaml" "$folder/mixed.xml") == 1 ]] || fail "not one test case for $name.yaml: $(cat "$folder/mixed.xml")"
  grep -q "mixed/$name.yaml:[0-9]" "$folder/err" || fail "nothing told of $name.yaml: $(cat "$folder/err")"
done
grep -q '<error message="[^"]*unreadable.yaml:1:1: title: is missing' "$folder/mixed.xml" || fail "the first problem is no message: $(cat "$folder/mixed.xml")"
[[ $(grep -c "unreadable.yaml:[0-9]*:[0-9]*: " "$folder/mixed.xml") == $(grep -c "mixed/unreadable.yaml:[0-9]" "$folder/err") ]] || fail "problems are missing in JUnit: $(cat "$folder/mixed.xml")"
code=0
out=$("$FLITWISE" conform "$folder/mixed" --list 2>"$folder/err") || code=$?
[[ $code == 2 && -z $out ]] || fail "a list beside files that are wrong: exit code $code, $out"

# Cases that have to be the same are compared event by event.
cat >"$folder/same.yaml" <<'Y'
id: X/writes
title: Two writes of which the second goes elsewhere
cites: [X]
variants:
  - {name: one, address: "0x1004"}
  - {name: other, address: "0x1008"}
stimulus:
  - tlp: {tlp: {type: MWr, requester_id: "01:00.0", address: 0x1000, length_dw: 1, payload: "01010101"}}
  - tlp: {tlp: {type: MWr, requester_id: "01:00.0", address: "${address}", length_dw: 1, payload: "02020202"}}
  - run: idle
same_as: {case: X/writes/one, events: [{event: committed}]}
Y
code=0
out=$("$FLITWISE" conform "$folder/same.yaml") || code=$?
[[ $code == 1 && $out == *"event 2 differs from case X/writes/one"*'here:  {'*0x1008*'there: {'*0x1004* ]] || fail "another event: $out"
rm "$folder/same.yaml"

# A fault that finds nothing to strike proves nothing.
printf 'id: X\ntitle: T\ncites: [X]\nstimulus: [{fault: {direction: up, do: drop, unit: CfgRd1}}]\nnever: [{event: wire, lost: true}]\n' >"$folder/miss.yaml"
code=0
out=$("$FLITWISE" conform "$folder/miss.yaml") || code=$?
[[ $code == 1 && $out == *"miss.yaml:4:"*"expected no missed_fault"* ]] || fail "a fault that misses: exit code $code, $out"

# Where JUnit XML goes to a FIFO or through a link, these stay; that it cannot be written is known before a case runs.
printf 'id: X\ntitle: T\ncites: [X]\nstimulus: [{run: idle}]\nnever: [{event: error}]\n' >"$folder/good.yaml"
touch "$folder/target.xml"
ln -s target.xml "$folder/link.xml"
"$FLITWISE" conform "$folder/good.yaml" --junit "$folder/link.xml" >/dev/null || fail "JUnit XML through a link"
[[ -L $folder/link.xml && $(cat "$folder/target.xml") == *"<testsuite"* ]] || fail "a link was replaced"
mkfifo "$folder/pipe.xml"
cat "$folder/pipe.xml" >"$folder/piped.xml" &
"$FLITWISE" conform "$folder/good.yaml" --junit "$folder/pipe.xml" >/dev/null || fail "JUnit XML to a FIFO"
wait "$!"
[[ -p $folder/pipe.xml ]] && grep -q "<testsuite" "$folder/piped.xml" || fail "a FIFO was replaced"
mkdir "$folder/full.xml"
code=0
out=$("$FLITWISE" conform "$folder/good.yaml" --junit "$folder/full.xml" 2>/dev/null) || code=$?
[[ $code == 2 && -z $out ]] || fail "JUnit XML to a folder: exit code $code, $out"
code=0
out=$("$FLITWISE" conform "$folder/good.yaml" --junit "$folder/new.xml" --events "$folder/full.xml" 2>&1) || code=$?
[[ $code == 2 && $out == *"full.xml: Is a directory" ]] || fail "events to a folder: exit code $code, $out"
[[ ! -e $folder/new.xml ]] || fail "JUnit XML of a regression that did not run"
code=0
out=$("$FLITWISE" conform "$folder/good.yaml" --junit /dev/full 2>/dev/null) || code=$?
[[ $code == 2 && $out == *"1 passed, 0 failed" ]] || fail "JUnit XML to a full device: exit code $code, $out"
compgen -G "$folder/*.tmp*" >/dev/null && fail "a temporary file was left"

# What runs no case writes no file of cases.
for asked in --list --coverage; do
  for file in --junit --events; do
    code=0
    out=$("$FLITWISE" conform "$folder/good.yaml" "$asked" "$file" "$folder/none" 2>&1) || code=$?
    [[ $code == 64 && $out == *"$file has no meaning with $asked"* ]] || fail "$asked $file: exit code $code, $out"
  done
done

# Ctrl-C ends it early, with what is known by then.
{
  printf 'id: X\ntitle: T\ncites: [X]\nmatrix: {n: [%s]}\n' "$(seq -s, 500)"
  # shellcheck disable=SC2016
  printf 'stimulus: [{peek: {addr: "${n}"}}, {run: idle}]\nexpect: [{event: memory}]\n'
} >"$folder/many.yaml"
"$FLITWISE" conform "$folder/many.yaml" -j 1 >"$folder/out" 2>"$folder/err" &
child=$!
for ((i = 0; i < 200; i++)); do
  [[ ! -s $folder/out ]] || break
  sleep 0.05
done
kill -INT "$child"
code=0
wait "$child" || code=$?
[[ $code == 130 ]] || fail "exit code $code after an interrupt"
[[ $(tail -n 1 "$folder/out") == *" passed, 0 failed" ]] || fail "no verdict after an interrupt"
grep -q "interrupted" "$folder/err" || fail "nothing said of the interrupt"

code=0
"$FLITWISE" conform --seed 3 >/dev/null 2>&1 || code=$?
[[ $code == 64 ]] || fail "exit code $code for a seed without a campaign"

out=$("$FLITWISE" conform --campaign 6 --seed 100 -o "$folder/small") || fail "campaign: $out"
[[ $out == "6 seeds, 0 failed" ]] || fail "campaign: $out"

# A rule that is broken on purpose is found, a line a seed; one case of each kind is made small and told by steps.
code=0
out=$("$FLITWISE" conform --campaign 4 --seed 3 --set 'faults.break=[credits]' -j 2 -o "$folder/found" 2>/dev/null) || code=$?
[[ $code == 1 ]] || fail "exit code $code for a campaign that finds something"
failed=$(grep -c '^FAIL  seed [0-9]*: expected never violation rule=LNK-8.3' <<<"$out") || true
[[ $failed -ge 2 && $(tail -n 1 <<<"$out") == "4 seeds, $failed failed" && $(wc -l <<<"$out") -eq $((failed + 1)) ]] ||
  fail "a broken rule: $out"
[[ $(grep -c ', as seed ' <<<"$out") -eq $((failed - 1)) ]] || fail "not one of a kind: $out"
while read -r drawn; do  # those that fail as an earlier one are made small too
  [[ $(sed -nE 's/.*; ([0-9]+) of ([0-9]+) steps, .*/\1 \2/p' <<<"$drawn") =~ ^([0-9]+)\ ([0-9]+)$ ]] || fail "no steps: $drawn"
  ((BASH_REMATCH[1] < BASH_REMATCH[2])) || grep -q '"dma"' "${drawn##*, in }" || fail "not made small: $drawn"
done < <(grep ', as seed ' <<<"$out")
small=$(grep -v ', as seed ' <<<"$out" | sed -n 's/^FAIL.*, in //p')
steps=$(sed -n '/^stimulus:/,/^[a-rt-z]/s/^  - .*/step/p' "$small" | wc -l)
[[ $steps -ge 1 && $steps -le 10 ]] || fail "$steps steps: $(cut -c1-200 "$small")"
grep -q '"dma"' "$small" && ! grep -q '"start"' "$small" || fail "not told by steps: $(cut -c1-200 "$small")"
code=0
out=$("$FLITWISE" conform "$small") || code=$?
[[ $code == 1 && $out == *LNK-8.3* ]] || fail "a small case that does not fail: $out"
[[ $out == *"seen: "*"violation rule=LNK-8.3"*" packet=#"*" other=#"* && $out == *$'\n        > '*"violation rule=LNK-8.3"* ]] ||
  fail "packets of a violation, and what is around it: $out"
sed -i '/faults.break/d' "$small"
"$FLITWISE" conform "$small" >/dev/null || fail "a small case that fails with the rule kept"

# What never arrives is made small as well, and the small case blames the machine alone.
code=0
out=$("$FLITWISE" conform --campaign 2 --seed 16 --set faults.drop_completions=1 --set device.timing.completion_timeout=60us \
  -j 2 -o "$folder/never" 2>/dev/null) || code=$?
[[ $code == 1 && $out == *"seed 16: expected data hex="* ]] || fail "exit code $code for completions that are dropped: $out"
small=$folder/never/seed-16.yaml
grep -q '"kind": *"read"' "$small" || fail "a case that asks for nothing: $(cut -c1-200 "$small")"
sed -i '/faults.drop_completions/d' "$small"
"$FLITWISE" conform "$small" >/dev/null || fail "a small case that fails where no completion is dropped"

# SIGTERM ends a campaign at once, also while a case is made small.
"$FLITWISE" conform --campaign 500 --set 'faults.break=[sequence]' -j 1 -o "$folder/stopped" >"$folder/out" 2>"$folder/err" &
child=$!
sleep 1
start=$SECONDS
kill -TERM "$child"
code=0
wait "$child" || code=$?
[[ $code == 130 && $((SECONDS - start)) -le 5 ]] || fail "exit code $code, $((SECONDS - start)) s after SIGTERM"
grep -q "interrupted after" "$folder/err" || fail "nothing said of the interrupt"
