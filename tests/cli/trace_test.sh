# flitwise trace: each figure a second way, what people read, and what is refused.
. "$(dirname "$0")/program.sh"

# summarised NAME CONFIG ARGUMENTS...: a run with a trace, whose summary holds.
summarised() {
  local name="$1"
  shift
  expect 0 run "$@" --json --trace sqlite="$work/$name.db"
  cp "$work/out" "$work/$name.json"
  expect 0 trace "$work/$name.db" --json --slowest 40
  cp "$work/out" "$work/$name.summary.json"
  python3 "$(dirname "$0")/trace_summary.py" "$work/$name.summary.json" "$work/$name.db" "$work/$name.json" >"$work/said" 2>&1 ||
    complain "$name: $(tail -n 3 "$work/said" | head -c 600)"
}
examples="$FLITWISE_SOURCE_DIR/configs/examples"
summarised both "$config" --set workload.kind=read_write --set workload.requests=800 --set workload.domains=16 --set device.functions.count=4
summarised errors "$config" --set workload.kind=read_write --set workload.requests=400 --set link.error_rate=1e-6 --set run.warmup=100
summarised flits "$config" --set link.preset=gen6x16 --set workload.kind=read --set workload.requests=300
summarised tree "$examples/switch_tree.yaml" --set workload.kind=read --set workload.requests=50
summarised lines "$examples/cxl_cache.yaml" --set workload.requests=50

# For people: 80 columns, and a transaction alone ends at its latency.
expect 0 trace "$work/tree.db"
for text in "where their time goes" "through a switch to " "The slowest 5"; do printed "$text"; done
[[ $(wc -L <"$work/out") -le 80 ]] || complain "more than 80 columns: $(awk 'length > 80' "$work/out" | head -n 1)"
uid=$(grep -m 1 -oP '^#\K\d+' "$work/out")
expect 0 trace "$work/tree.db" --transaction "$uid"
printed "#$uid MRd"
printed "completion on "
expect 0 trace "$work/tree.db" --transaction "$uid" --json
python3 -c 'import json, sys; one = json.load(sys.stdin); assert one["uid"] == int(sys.argv[1]) and one["steps"][-1]["until_ps"] == one["done_ps"]' "$uid" \
  <"$work/out" || complain "--transaction --json"
expect 0 trace "$work/tree.db" --slowest 0
! grep -q slowest "$work/out" || complain "--slowest 0 shows some"

# What is no such trace, and no such transaction.
expect 0 run "$config" "${small[@]}" --quiet --trace pcapng="$work/x.pcapng" --trace packets="$work/x.csv" --trace vcd="$work/x.vcd" \
  --trace perfetto="$work/x.pftrace" --trace series="$work/x.series" -o "$work/result"
for kind in pcapng=x.pcapng packets=x.csv vcd=x.vcd perfetto=x.pftrace series=x.series; do
  refuse 2 trace "$work/${kind#*=}"
  said "a trace of kind ${kind%=*}; expected a trace of kind sqlite"
done
head -c 10000 "$work/tree.db" >"$work/cut.db"
for file in result result/result.json result/result.sqlite cut.db none; do
  refuse 2 trace "$work/$file"
  said "--trace sqlite=FILE"
done
refuse 2 trace "$work/tree.db" --transaction 999999999
said "nothing in the trace has the uid 999999999"
refuse 64 trace "$work/tree.db" --transaction x
refuse 64 trace "$work/tree.db" --slowest 3 --transaction "$uid"
refuse 64 trace
finish
