# flitwise run: what goes to stdout, what goes into the folder, and that a seed is a seed.
. "$(dirname "$0")/program.sh"

expect 0 run "$config" "${small[@]}"
printed "link efficiency"
expect 0 run "$config" "${small[@]}" --quiet -o "$work/a"
[[ ! -s $work/out ]] || complain "--quiet printed something"
[[ -s $work/a/result.json && -s $work/a/result.sqlite ]] || complain "the folder is not complete"
expect 0 run "$config" "${small[@]}" --json --quiet
python3 - "$work/out" "$work/a/result.json" <<'P' || complain "--json differs from result.json"
import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
for result in (a, b):
    result["flitwise"].pop("host_seconds")
assert a == b
for key in "flitwise config links latency dhi iommu ats pio hca srdma network errors checks".split():
    assert key in a, key
P

# What the kernel warns of is no part of a result: the memory of "a" has the name of the other device.
expect 0 run "$FLITWISE_SOURCE_DIR/configs/examples/cxl_memory.yaml" --set workload.requests=20 --set system.topology=graph --json --quiet \
  --set 'system.nodes=[{name: a, kind: device}, {name: a_memory, kind: device}]' --set 'system.edges=[{from: rp0, to: a}, {from: rp1, to: a_memory}]'
[[ $(head -c 1 "$work/out") == "{" ]] || complain "a warning of the kernel is on stdout"

seed() { "$FLITWISE" run "$config" "${small[@]}" --set workload.kind=read_write --json "$@" | grep -v host_seconds | sha256sum; }
[[ $(seed --seed 7) == "$(seed --set run.seed=7)" ]] || complain "--seed 7 is not run.seed=7"
[[ $(seed --seed 7 --set run.seed=8) == "$(seed --seed 7)" ]] || complain "--seed does not beat --set run.seed"
[[ $(seed --seed 7) != "$(seed --seed 8)" ]] || complain "another seed changes nothing"

# Another seed is another run even where nothing is drawn but the moment of the SKPs.
figures() { # CONFIG SEED: latencies and counters, without the seed itself
  "$FLITWISE" run "$1" --set workload.requests=5000 --seed "$2" --json --quiet | python3 -c '
import json, sys
result = json.load(sys.stdin)
print(json.dumps([result["links"], result["latency"]]))'
}
for one in "$config" "$FLITWISE_SOURCE_DIR/configs/bench/posted_write_64B.yaml"; do
  [[ $(figures "$one" 1) == "$(figures "$one" 1)" ]] || complain "$one: the same seed gives other figures"
  [[ $(figures "$one" 1) != "$(figures "$one" 2)" ]] || complain "$one: another seed gives the same figures"
done

# A name is but a label: random numbers go by position.
named() { # DEVICE DEVICE: figures of two writers below root ports of a graph, without names
  "$FLITWISE" run "$FLITWISE_SOURCE_DIR/configs/presets/gen5x16.yaml" --set workload.requests=2000 --set link.error_rate=1e-6 --json --quiet \
    --set system.topology=graph --set "system.nodes=[{name: $1, kind: device}, {name: $2, kind: device}]" \
    --set "system.edges=[{from: rp0, to: $1}, {from: rp1, to: $2}]" | python3 -c '
import json, sys
result = json.load(sys.stdin)
print([(one["up"], one["down"]) for one in result["links"]], result["latency"])'
}
[[ $(named ep0 ep1) == "$(named a_long_name ep0)" ]] || complain "a name moves figures"

# A replay timer that leaves an Ack no time is allowed, and warned of; by itself the timer has room. [LNK-7.18]
long=(--set link.preset=gen3x8 --set link.timing.propagation=200ns)
expect 0 run "$config" "${small[@]}" "${long[@]}" --quiet
[[ ! -s $work/err ]] || complain "warned of an automatic replay timer"
expect 0 run "$config" "${small[@]}" "${long[@]}" --set link.timing.replay_timeout=400ns --quiet
said "warning: link.timing.replay_timeout: 400.0 ns"
printf 'base: %s\nlink: {preset: gen3x8, timing: {propagation: 200ns, replay_timeout: 400ns}}\n' "$config" >"$work/short.yaml"
expect 0 check "$work/short.yaml"
printed "ok"
said "short.yaml:2:69: warning: link.timing.replay_timeout: 400.0 ns"

# Goodput is of the wire, utilisation of the whole window: where they are apart the summary says what drained.
expect 0 run "$config" --set workload.requests=5000 --set host.memory.bandwidth=10Gb/s
printed "rp0-ep0 up: goodput is of"
printed "; host memory drained for"
expect 0 run "$config" --set workload.requests=20000
if grep -q "goodput is of" "$work/out"; then complain "a window that ends with the wire was explained"; fi

# What a user reads has one name for one link.
"$FLITWISE" run "$config" "${small[@]}" --json --quiet --trace packets="$work/names.csv" >"$work/out"
python3 - "$work/out" "$work/names.csv" <<'P' || complain "checks or trace have other names for a link than the results"
import csv, json, sys
result = json.load(open(sys.argv[1]))
names = {link["name"] for link in result["links"]}
assert names == {"rp0-ep0"}
assert {row["link"] for row in csv.DictReader(open(sys.argv[2]))} == names
assert {c["name"].split()[0] for c in result["checks"] if "wire bits add up" in c["name"]} == names
P

# An issue interval paces the engine, the first request lying somewhere in it.
expect 0 run "$config" "${small[@]}" --set device.dma.issue_interval=100ns --json --quiet
python3 - "$work/out" <<'P' || complain "an issue interval of 100 ns does not pace 500 requests"
import json, sys
simulated = json.load(open(sys.argv[1]))["flitwise"]["simulated_ns"]
assert 49900 < simulated < 50600, simulated
P
[[ $(seed --seed 7 --trace packets="$work/p.csv") == "$(seed --seed 7)" ]] || complain "tracing changes results"
[[ $(grep -c ',MWr,' "$work/p.csv") -gt 100 ]] || complain "the packet trace lacks the writes"

# What a CXL link carries has its names in the trace: flits, control flits, messages. [CXL-2.11]
"$FLITWISE" run "$config" "${small[@]}" --quiet --trace packets="$work/cxl.csv" --set link.preset=cxl68_gen5x16 --set device.cxl.memory=8GiB \
  --set workload.via=cxl_mem --set workload.kind=read --set link.error_rate=1e-5 >"$work/out"
for type in flit LLCRD RETRY.Frame RETRY.Req RETRY.Ack 'M2S Req' 'S2M DRS'; do
  grep -q ",$type," "$work/cxl.csv" || complain "the packet trace of a CXL link lacks $type"
done

# The effective config of a result is itself a config that gives the same result.
python3 -c 'import json,sys; json.dump(json.load(open(sys.argv[1]))["config"], open(sys.argv[2], "w"))' \
  "$work/a/result.json" "$work/again.yaml"
expect 0 run "$work/again.yaml" --quiet -o "$work/b"
cmp -s <(grep -v host_seconds "$work/a/result.json") <(grep -v host_seconds "$work/b/result.json") ||
  complain "the effective config gives another result"

# Interrupted: exit code 130, results written.
"$FLITWISE" run "$config" --set workload.requests=100000000 --quiet -o "$work/i" 2>"$work/err" &
child=$!
sleep 1
kill -INT "$child"
wait "$child"
code=$?
[[ $code == 130 ]] || complain "interrupted run ended with $code: $(cat "$work/err")"
[[ -s $work/i/result.json ]] || complain "the interrupted run left no result"
finish
