# --trace perfetto, vcd, sqlite and pcapng of links: each held against the CSV trace and the results of the same run, by
# readers of their own.
. "$(dirname "$0")/program.sh"

traces=$(dirname "$0")/traces.py
# traced NAME CONFIG ARGUMENTS...: all traces of a run.
traced() {
  local name="$1"
  shift
  expect 0 run "$@" --json --set trace.capture=links --trace packets="$work/$name.csv" --trace perfetto="$work/$name.pftrace" \
    --trace vcd="$work/$name.vcd" --trace sqlite="$work/$name.db" --trace pcapng="$work/$name.pcapng"
  cp "$work/out" "$work/$name.json"
  for kind in perfetto=pftrace vcd=vcd sqlite=db pcapng=pcapng; do
    python3 "$traces" "${kind%=*}" "$work/$name.${kind#*=}" "$work/$name.csv" "$work/$name.json" >"$work/said" 2>&1 ||
      complain "$name: ${kind%=*}: $(tail -n 3 "$work/said" | head -c 600)"
  done
}
examples="$FLITWISE_SOURCE_DIR/configs/examples"
traced reads "$config" --set workload.kind=read --set workload.requests=2000 --set workload.domains=16 --set link.identity=bdf_pasid
traced writes "$config" --set workload.requests=3000 --set run.warmup=100 --set workload.domains=300 --set device.dhi.bits=4
traced errors "$config" --set workload.kind=read_write --set workload.requests=500 --set link.error_rate=1e-6
traced damage "$config" --set workload.kind=read_write --set workload.requests=500 --set link.error_rate=1e-5
traced flits "$config" --set link.preset=gen6x16 --set workload.kind=read --set workload.requests=500 --set link.error_rate=1e-6
traced handles "$config" --set workload.kind=read --set workload.requests=500 --set workload.domains=64 --set device.dhi.bits=4 --set link.error_rate=1e-6
traced tree "$examples/switch_tree.yaml" --set workload.kind=read --set workload.requests=100
traced hosts "$examples/two_hosts.yaml" --set workload.kind=read --set workload.requests=100
traced peers "$examples/peer_to_peer.yaml" --set workload.requests=200
traced lines "$examples/cxl_cache.yaml" --set workload.requests=200

# The same bytes again, and the same results without.
expect 0 run "$config" --json --set workload.kind=read --set workload.requests=2000 --set workload.domains=16 --set link.identity=bdf_pasid
cmp <(grep -v host_seconds "$work/out") <(grep -v host_seconds "$work/reads.json") || complain "traces change results"
for kind in pftrace vcd pcapng; do mv "$work/reads.$kind" "$work/first.$kind"; done
traced reads "$config" --set workload.kind=read --set workload.requests=2000 --set workload.domains=16 --set link.identity=bdf_pasid
for kind in pftrace vcd pcapng; do cmp "$work/reads.$kind" "$work/first.$kind" || complain "another $kind of the same run"; done

# Windows, words and triggers: the lines of the whole trace that they ask for, no others, and the same results.
part() { # NAME PYTHON ARGUMENTS...: where PYTHON is true of a row r of the whole trace, first and last its times in ns
  local name="$1" wanted="$2"
  shift 2
  expect 0 run "$config" --json "${errors[@]}" --trace packets="$work/part.csv" --trace sqlite="$work/part.db" --trace vcd="$work/part.vcd" "$@"
  cmp <(grep -v host_seconds "$work/out") <(grep -v host_seconds "$work/errors.json") || complain "$name: other results"
  python3 - "$work/errors.csv" "$work/part.csv" "$work/part.db" "$wanted" <<'P' || complain "$name: other lines than asked for"
import csv, sqlite3, sys
whole, part = (list(csv.DictReader(open(path))) for path in sys.argv[1:3])
faults = [float(r["first_ns"]) for r in whole if r["damaged"] == "1" or r["replay"] == "1"]
due = [r for r in whole if eval(sys.argv[4], {"r": r, "first": float(r["first_ns"]), "fault": min(faults)})]
units = sqlite3.connect(sys.argv[3]).execute("SELECT count(*) FROM unit").fetchone()[0]
sys.exit(not due or part != due or units != len(due) or len(due) > len(whole) // 2)
P
}
errors=(--set workload.kind=read_write --set workload.requests=500 --set link.error_rate=1e-6 --set trace.capture=links)
begin=$(awk -F, 'NR == 100 { printf "%d", $1 }' "$work/errors.csv")
part window "$begin <= first <= $begin + 300" --trace-window "${begin}ns..$((begin + 300))ns"
part words 'r["type"] in ("CplD", "Ack") and r["link"] == "rp0-ep0"' --trace-only type=CplD,Ack --trace-only link=rp0-ep0
part fault 'fault - 200 <= first <= fault + 100' --trace-trigger fault --trace-around 200ns..100ns
begin=$(awk -F, 'NR == 600 { printf "%d", $1 }' "$work/errors.csv")
part requester 'r["requester_id"] == "01:00.0" and first >= '"$begin" --trace-only requester=01:00.0 --trace-only type=MRd,CplD,MWr --trace-window "${begin}ns.."
expect 0 run "$config" "${small[@]}" --quiet --trace packets="$work/part.csv" --trace-trigger slow=1s --trace-only type=MRdd
said "it never came" && said "type=MRdd: there was none"
[[ $(wc -l <"$work/part.csv") == 1 ]] || complain "a trigger that never came shows something"
for wrong in --trace-window=5us --trace-window=9us..1us --trace-window=.. --trace-only=type --trace-only=color=red --trace-trigger=now --trace-trigger=slow=x; do
  refuse 64 run "$config" --trace packets="$work/part.csv" "$wrong"
done
refuse 64 run "$config" --trace packets="$work/part.csv" --trace-around 1us..2us
refuse 64 run "$config" --trace-window 1us..
refuse 2 run "$FLITWISE_SOURCE_DIR/configs/examples/rdma_two_hosts.yaml" --trace pcapng="$work/part.pcapng" --trace-trigger fault

# Figures over time: bytes, units and requests add up to those of the whole trace and the result; never too many spans.
expect 0 run "$config" --json --set workload.kind=read_write --set workload.requests=4000 --trace series="$work/series.csv" --trace sqlite="$work/series.db"
python3 - "$work/out" "$work/series.csv" "$work/series.db" <<'P' || complain "series do not add up"
import csv, json, sqlite3, sys
result, rows = json.load(open(sys.argv[1])), list(csv.DictReader(open(sys.argv[2])))
data = sqlite3.connect(sys.argv[3])
number = lambda r, key: float(r[key])
span = lambda r: number(r, "until_ns") - number(r, "from_ns")
for side in ("up", "down"):
    mine = [r for r in rows if r["link"] == "rp0-ep0" and r["direction"] == side]
    units, payload, busy = data.execute("SELECT count(*), sum(payload_bytes), sum(last_ps - first_ps) / 1e3 FROM unit WHERE direction = ? AND requester_id NOT NULL", (side,)).fetchone()
    assert sum(int(r["units"]) for r in mine) == units > 0
    assert abs(sum(number(r, "goodput_gbps") * span(r) for r in mine) / 8 / payload - 1) < 1e-4
    whole = sum(number(r, "busy") * span(r) for r in mine)
    assert 0.75 * busy < whole <= busy and whole <= number(mine[-1], "until_ns") - number(mine[0], "from_ns")
for kind, type in (("read", "MRd"), ("write", "MWr")):
    mine = [r for r in rows if r["link"] == "requests" and r["direction"] == kind and r["latency_ns"]]
    count, total = data.execute("SELECT count(*), sum(done_ps - issue_ps) / 1e3 FROM request WHERE type = ?", (type,)).fetchone()
    assert sum(int(r["units"]) for r in mine) == count > 0
    assert abs(sum(int(r["units"]) * number(r, "latency_ns") for r in mine) / total - 1) < 1e-4
assert 1024 <= len({r["from_ns"] for r in rows}) <= 2048 or span(rows[0]) == 16, len(rows)
P
expect 0 report "$work/series.csv" -o "$work/series.html"
grep -q "class=\"over-time" "$work/series.html" && grep -q uPlot "$work/series.html" || complain "no charts over time"
sed -i '5s/,.*//' "$work/series.csv"
refuse 2 report "$work/series.csv" -o "$work/series.html"
said "series.csv:5:1: 1 cells; expected the 10 of a trace"

# Tools of others, where they are.
if command -v vcd2fst >/dev/null; then
  vcd2fst "$work/reads.vcd" "$work/reads.fst" >"$work/said" 2>&1 || complain "vcd2fst: $(head -c 300 "$work/said")"
fi

# Nothing is left of what cannot be kept, and what has no links is refused.
for kind in perfetto vcd sqlite; do
  refuse 2 run "$config" "${small[@]}" --quiet --trace "$kind=$work"
  refuse 2 run "$FLITWISE_SOURCE_DIR/configs/checks/srdma.yaml" --trace "$kind=$work/none"
done
refuse 2 run "$config" "${small[@]}" --quiet --trace perfetto=/dev/full
said "/dev/full"
finish
