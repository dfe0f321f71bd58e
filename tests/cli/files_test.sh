# Files in and out: pipes, what cannot be read or written, one folder for two runs, what a stopped run leaves.
. "$(dirname "$0")/program.sh"

# names FOLDER: what it holds, hidden files as well.
names() { (cd "$1" && find . -mindepth 1 -printf '%P\n' | sort | tr '\n' ' '); }

# Read once: a pipe is as good as a file, and a bad config in one is a bad config.
printf 'link: {mps: 257B}\n' >"$work/bad.yaml"
printf 'link: {mps: 128B}\n' >"$work/good.yaml"
piped() { # CODE COMMAND FILE...: the file comes from a FIFO
  local code="$1" seen=0
  mkfifo "$work/fifo"
  timeout 20 cat "${@: -1}" >"$work/fifo" &
  timeout 20 "$FLITWISE" "${@:2:$#-2}" "$work/fifo" >"$work/out" 2>"$work/err" </dev/null || seen=$?
  wait $!
  rm "$work/fifo"
  [[ $seen == "$code" ]] || complain "a FIFO for ${*:2}: exit code $seen, expected $code: $(head -c 200 "$work/err")"
}
piped 2 check "$work/bad.yaml"
said "link.mps"
piped 0 check "$work/good.yaml"
printed "fifo: ok"
piped 0 run "${small[@]}" --quiet "$work/good.yaml"
printf 'base: %s\nset: {workload.requests: 100}\naxes: {link.mps: [128B, 256B]}\n' "$config" >"$work/study.yaml"
piped 0 check "$work/study.yaml"
printed "a sweep of 2 points"
piped 0 sweep run -o "$work/piped" "$work/study.yaml"
printed "2 rows"
echo '{"op":"run","for":"1us"}' >"$work/script.jsonl"
piped 0 script "$work/script.jsonl"
printed '"done"'
a_case=$(grep -rL 'base:' "$FLITWISE_SOURCE_DIR/tests/cases/tags" | sort | head -1)
piped 0 conform "$a_case"
printed " 0 failed"

# What cannot be read is no empty file, and not missing.
for command in check run "sweep run -o $work/o" conform script; do
  # shellcheck disable=SC2086
  refuse 2 $command /proc/self/mem
  # shellcheck disable=SC2086
  refuse 2 $command "$work"
done
refuse 2 check /proc/self/mem
said "cannot be read: "
refuse 2 run "$config" --set workload.kind=trace --set workload.trace=/proc/self/mem
said "cannot be read any further"
refuse 2 run "$config" --set workload.sizes=/proc/self/mem
refuse 2 run "$config" --set workload.kind=trace --set workload.trace=/dev/null
said "'/dev/null' is a pipe or a device"
truncate -s 1G "$work/sparse.yaml"
refuse 2 check "$work/sparse.yaml"
said "more than 16 MiB"

# Many mistakes take as long as they are many.
python3 -c 'print("\n".join(f"unknown_{i}: 1" for i in range(200000)))' >"$work/many.yaml"
timeout 60 "$FLITWISE" check "$work/many.yaml" >"$work/out" 2>"$work/err"
[[ $? == 2 ]] || complain "200,000 unknown keys are not refused in time"
[[ $(wc -l <"$work/err") == 200000 ]] || complain "not every unknown key is told"

printf 'system:\n  instances:\n    ep0:\n' >"$work/many.yaml"
python3 -c 'print("\n".join(f"      device.dhi.bitz{i}: 1" for i in range(100000)))' >>"$work/many.yaml"
timeout 60 "$FLITWISE" check "$work/many.yaml" >"$work/out" 2>"$work/err"
[[ $? == 2 ]] || complain "100,000 unknown keys of an instance are not refused in time"
printf 'base: %s\naxes:\n' "$config" >"$work/many.yaml"
python3 -c 'print("\n".join(f"  key{i}: [1]" for i in range(50000)))' >>"$work/many.yaml"
timeout 60 "$FLITWISE" check "$work/many.yaml" >"$work/out" 2>"$work/err"
[[ $? == 2 ]] || complain "50,000 unknown axes are not refused in time"

# A terminal is not commanded by a config, nor flooded by one value.
printf 'link: {mps: "\\e[31m"}\n"a\\x07": 1\n' >"$work/evil.yaml"
refuse 2 check "$work/evil.yaml"
! grep -q $'[\x07\x1b]' "$work/err" || complain "control characters reach the terminal"
python3 -c 'print("link: {mps: " + "x" * 1000000 + "}")' >"$work/large.yaml"
refuse 2 check "$work/large.yaml"
[[ $(wc -c <"$work/err") -lt 1000 ]] || complain "a value of a megabyte is printed in full"
refuse 64 run "$config" $'--\e[31m'
! grep -q $'\x1b' "$work/err" || complain "an unknown option reaches the terminal as it is"

# Two runs into one folder: the second one is refused, and what lies there is of one run.
long=(--set workload.requests=100000000 --quiet)
"$FLITWISE" run "$config" "${long[@]}" --seed 1 -o "$work/two" 2>/dev/null &
child=$!
sleep 1
refuse 2 run "$config" "${small[@]}" --seed 2 -o "$work/two"
said "another flitwise"
refuse 4 sweep plan "$work/study.yaml" -o "$work/two"
kill -TERM "$child"
wait "$child"
[[ $? == 130 ]] || complain "SIGTERM did not end the run with 130"
[[ $(names "$work/two") == "result.json result.sqlite " ]] || complain "left in the folder: $(names "$work/two")"

# A folder that is taken away while the run writes a trace there: nothing is put in place of what is gone.
for is_link in no yes; do
  mkdir -p "$work/elsewhere"
  "$FLITWISE" run "$config" "${long[@]}" -o "$work/gone" --trace packets="$work/gone/p" 2>"$work/err" &
  child=$!
  sleep 1
  mv "$work/gone" "$work/moved.$is_link"
  [[ $is_link == no ]] || ln -s elsewhere "$work/gone"
  kill -TERM "$child"
  wait "$child"
  [[ $? == 2 ]] || complain "a run whose trace is gone did not end with 2"
  said "has been taken away meanwhile"
  [[ -z $(ls -A "$work/gone/" 2>/dev/null) ]] || complain "left in place of a folder that is gone: $(ls -A "$work/gone/")"
  rm -rf -- "$work/gone" "$work/moved.$is_link"
done

python3 - "$work/two" <<'P' || complain "an interrupted run does not say so"
import json, sqlite3, sys
result = json.load(open(sys.argv[1] + "/result.json"))
assert result["flitwise"]["interrupted"] is True and result["flitwise"]["seed"] == 1
assert all(check["ok"] for check in result["checks"])
assert sqlite3.connect(sys.argv[1] + "/result.sqlite").execute("SELECT interrupted, seed FROM run").fetchall() == [(1, 1)]
P
expect 0 report "$work/two" -o "$work/two.html"
grep -q Interrupted "$work/two.html" || complain "the report of an interrupted run does not say so"
! grep -qi "check failed" "$work/two.html" || complain "a check is called failed for an interrupted run"
"$FLITWISE" run "$config" "${small[@]}" --json | grep -q interrupted && complain "a whole run is called interrupted"

# What cannot be written ends with 2 and leaves what was there.
expect 0 run "$config" "${small[@]}" --quiet --seed 3 -o "$work/full"
before=$(cat "$work/full"/result.* | sha256sum)
for kilobytes in 0 1 8 32; do
  code=0
  (ulimit -f "$kilobytes"; exec "$FLITWISE" run "$config" "${small[@]}" --quiet --seed 4 -o "$work/full" 2>/dev/null) || code=$?
  [[ $code == 2 ]] || complain "files of at most $kilobytes KiB: exit code $code, expected 2"
  [[ $(cat "$work/full"/result.* | sha256sum) == "$before" ]] || complain "a full disk changed the results"
  [[ $(names "$work/full") == "result.json result.sqlite " ]] || complain "a full disk left $(names "$work/full")"
done
expect 0 sweep plan "$work/study.yaml" -o "$work/fullsweep"
code=0
(ulimit -f 8; exec "$FLITWISE" sweep run "$work/fullsweep" --retries 0 >/dev/null 2>&1) || code=$?
[[ $code == 4 ]] || complain "a sweep that cannot write ended with $code, expected 4"
refuse 4 sweep plan "$work/study.yaml" -o /proc/no/such/folder
code=0
"$FLITWISE" sweep run "$work/piped" >/dev/full 2>/dev/null || code=$?
[[ $code == 4 ]] || complain "a sweep that cannot print ended with $code, expected 4"

# Killed: what it left goes with the next run.
"$FLITWISE" run "$config" "${long[@]}" -o "$work/killed" --trace packets="$work/killed/p.csv" 2>/dev/null &
child=$!
sleep 1
kill -KILL "$child"
wait "$child" 2>/dev/null
[[ $(names "$work/killed") == .flitwise-*.tmp" " ]] || complain "a killed run left $(names "$work/killed")"
expect 0 run "$config" "${small[@]}" --quiet -o "$work/killed" --trace packets="$work/killed/p.csv"
[[ $(names "$work/killed") == "p.csv result.json result.sqlite " ]] || complain "left in the folder: $(names "$work/killed")"

# A run that fails has no result, and its trace tells why.
expect 3 run "$config" --set link.error_rate=0.1 "${small[@]}" -o "$work/failed" --trace packets="$work/failed/p.csv"
[[ $(names "$work/failed") == "p.csv " ]] || complain "a run that fails left $(names "$work/failed")"

# What a run that worked left there goes with one that fails.
expect 0 run "$config" "${small[@]}" --quiet --trace packets="$work/mixed/old.csv" -o "$work/mixed"
[[ $(names "$work/mixed") == "old.csv result.json result.sqlite " ]] || complain "left in the folder: $(names "$work/mixed")"
expect 3 run "$config" --set link.error_rate=0.1 "${small[@]}" -o "$work/mixed" --trace packets="$work/mixed/p.csv"
[[ $(names "$work/mixed") == "p.csv " ]] || complain "a run that fails stands beside another: $(names "$work/mixed")"

# The result names what the run wrote beside it, and the next run takes that away: nothing else.
extra=(--trace packets="$work/named/a/p.csv" --config-space "$work/named/space")
expect 0 run "$config" "${small[@]}" --json "${extra[@]}" -o "$work/named"
cmp -s "$work/out" "$work/named/result.json" || complain "--json differs from result.json"
python3 - "$work/named" <<'P' || complain "the result does not name the files of its run"
import json, sys
assert json.load(open(sys.argv[1] + "/result.json"))["flitwise"]["files"] == ["a/p.csv", "space"]
P
echo mine >"$work/named/notes"
expect 0 run "$config" "${small[@]}" --quiet --seed 2 --trace packets="$work/elsewhere.csv" -o "$work/named"
[[ $(names "$work/named") == "a notes result.json result.sqlite " ]] || complain "left in the folder: $(names "$work/named")"
! grep -q '"files"' "$work/named/result.json" || complain "a file of another folder is named"
mkdir "$work/named/sub"
ln -s "$work/elsewhere.csv" "$work/named/link"
ln -s "$work" "$work/named/up"
python3 - "$work/named/result.json" "$work/elsewhere.csv" <<'P'
import json, sys
result = json.load(open(sys.argv[1]))
result["flitwise"]["files"] = ["../elsewhere.csv", sys.argv[2], "link", "up/elsewhere.csv", "sub", "", ".", 5, None, "none"]
json.dump(result, open(sys.argv[1], "w"))
P
expect 0 run "$config" "${small[@]}" --quiet -o "$work/named"
[[ -s $work/elsewhere.csv && -L $work/named/link && -d $work/named/sub ]] || complain "a name in a result takes away what is no file of the folder"

# The reader of a FIFO goes away: an error of that file, by name.
mkfifo "$work/gone"
head -c 100 "$work/gone" >/dev/null &
expect 2 run "$config" "${small[@]}" --set workload.requests=3000 --quiet -o "$work/read" --trace packets="$work/gone"
said "$work/gone"
wait

# Before the config is read there is nothing to write, whichever signal it is.
mkfifo "$work/no.yaml"
for signal in INT TERM HUP; do
  env --default-signal=$signal "$FLITWISE" run "$work/no.yaml" -o "$work/early" >"$work/out" 2>"$work/err" &
  child=$!
  sleep 1
  kill -$signal "$child"
  wait "$child"
  [[ $? == 130 ]] || complain "SIG$signal while the config is read did not end the run with 130"
  [[ ! -e $work/early ]] || complain "SIG$signal while the config is read leaves a folder"
done

# Stopped in the warm-up: nothing was measured, and everything says so.
for signal in INT HUP TERM; do
  rm -rf -- "$work/warm"
  env --default-signal=$signal "$FLITWISE" run "$config" --set run.warmup=100000000 --set workload.requests=100 --set system.devices=2 -o "$work/warm" >"$work/out" 2>"$work/err" &
  child=$!
  sleep 2
  kill -$signal "$child"
  wait "$child"
  [[ $? == 130 ]] || complain "SIG$signal in the warm-up did not end the run with 130"
  [[ $(names "$work/warm") == "result.json result.sqlite " ]] || complain "SIG$signal in the warm-up leaves $(names "$work/warm")"
done
said "interrupted before the measured window began; nothing was measured"
printed "Interrupted before the measured window began: nothing was measured"
python3 - "$work/warm" <<'P' || complain "a run stopped in its warm-up has figures"
import json, sqlite3, sys
result = json.load(open(sys.argv[1] + "/result.json"))
assert result["flitwise"]["interrupted"] is True and result["flitwise"]["window_began"] is False
assert result["flitwise"]["simulated_ns"] == 0
for link in result["links"]:
    for way in ("up", "down"):
        one = link[way]
        assert one["tlps"] == one["payload_bytes"] == one["wire_bytes"]["total"] == 0, one
        assert one["goodput_gbps"] is None and one["utilisation"] is None, one
        assert not any(one["stall_ns"].values()), one
assert len(result["links"]) == 2
assert all(one["count"] == 0 for one in result["latency"])
assert all(one["waits"] == one["wait_ns"] == 0 for one in result["waits"])
assert all(one["requests"] == 0 for one in result["iommu"])
row = sqlite3.connect(sys.argv[1] + "/result.sqlite").execute("SELECT interrupted, window_began FROM run")
assert row.fetchall() == [(1, 0)]
P
expect 0 report "$work/warm" -o "$work/warm.html"
grep -q "Interrupted before the measured window" "$work/warm.html" || complain "the report of a run stopped in its warm-up does not say so"

# Broken point files are made again; a sweep ends with 130 whenever it is interrupted.
for broken in '{"point":{"id":5}}' '' '[1]' 'null'; do
  for file in "$work"/piped/points/*.json; do
    printf '%s' "$broken" >"$file"
  done
  expect 4 sweep status "$work/piped"
  expect 0 sweep run "$work/piped"
  said "warning: "
  printed "2 rows"
done
python3 - "$work/piped/manifest.jsonl" "$work/out.jsonl" <<'P'
import json, sys
point = json.loads(open(sys.argv[1]).readline())
point["id"] = "../../../escape0"
open(sys.argv[2], "w").write(json.dumps(point) + "\n")
P
refuse 2 sweep point --manifest "$work/out.jsonl" --index 0 --out "$work/piped"
for pause in 0.02 0.1 0.3 0.6; do
  env --default-signal=INT "$FLITWISE" sweep run "$work/study.yaml" -o "$work/early" --set workload.requests=20000000 \
    >/dev/null 2>&1 &
  child=$!
  sleep "$pause"
  kill -INT "$child"
  wait "$child"
  code=$?
  [[ $code == 130 ]] || complain "a sweep interrupted after $pause s ended with $code"
done
# A disk that is full is told with the file that was asked for.
"$FLITWISE" run "$config" --quiet --trace packets="$work/full.csv" >/dev/null 2>&1 || complain "a trace"
size=$(($(stat -c %s "$work/full.csv") / 2048))
rm "$work/full.csv"
(ulimit -f "$size" && "$FLITWISE" run "$config" --quiet --trace packets="$work/full.csv" >"$work/out" 2>"$work/err"); seen=$?
[[ $seen == 2 ]] || complain "a full disk: exit code $seen"
said "$work/full.csv: "
[[ -z $(find "$work" -maxdepth 1 \( -name 'full.csv' -o -name '.flitwise-*' \)) ]] || complain "left: $(ls -A "$work")"
finish
