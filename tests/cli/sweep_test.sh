# flitwise sweep: plan, run, cache, merge, failure, report.
. "$(dirname "$0")/program.sh"

cat >"$work/study.yaml" <<Y
base: $config
set: {workload.requests: 200, workload.domains: 16}
blocks:
- name: forms
  axes: {link.identity: [bdf_pasid, dhi], workload.payload: {range: 64B..256B:*2}}
- name: seeds
  seeds: [1, 2]
  set: {workload.kind: read_write}
Y
expect 0 check "$work/study.yaml"
printed "a sweep of 8 points"
expect 0 sweep plan "$work/study.yaml" -o "$work/s"
printed "8 points"
[[ $(wc -l <"$work/s/manifest.jsonl") == 8 ]] || complain "the manifest has not 8 lines"
expect 4 sweep status "$work/s"
expect 0 sweep point --manifest "$work/s/manifest.jsonl" --index 3 --out "$work/s"
expect 0 sweep point --manifest "$work/s/manifest.jsonl" --index 3 --out "$work/s"
printed "cached"
expect 4 sweep merge "$work/s"
said "has no result"
expect 0 sweep run "$work/study.yaml" -o "$work/s" -j 2
said "1 had a result"
printed "7 rows of 8 runs"
expect 0 sweep status "$work/s"
expect 0 sweep run "$work/s"
said "8 had a result"
python3 - "$work/s" <<'P' || complain "the merged files disagree"
import csv, sqlite3, sys
rows = list(csv.DictReader(open(sys.argv[1] + "/points.csv")))
data = sqlite3.connect(sys.argv[1] + "/results.sqlite").execute('SELECT "workload.payload", up_link_efficiency FROM point').fetchall()
assert len(rows) == len(data) == 7
assert [r["seeds"] for r in rows] == ["1"] * 6 + ["2"] and rows[6]["up_goodput_gbps_ci95"] != "" and rows[0]["up_goodput_gbps_ci95"] == ""
runs = sqlite3.connect(sys.argv[1] + "/results.sqlite").execute("SELECT seed, up_goodput_gbps FROM run WHERE block = 'seeds'").fetchall()
mean = sum(value for _, value in runs) / 2
assert [seed for seed, _ in runs] == [1, 2] and abs(float(rows[6]["up_goodput_gbps"]) - mean) < 1e-9
# t of one degree is 12.706; the deviation of a mean of two is half their difference.
assert abs(float(rows[6]["up_goodput_gbps_ci95"]) - 12.7062 * abs(runs[0][1] - runs[1][1]) / 2) < 1e-4 * mean
assert [(float(r["workload.payload"]), float(r["up_link_efficiency"])) for r in rows] == [(float(a), b) for a, b in data]
P
expect 0 report "$work/s" -o "$work/s/report.html"
# Checks that failed in points are said: in a study of isolation they are a result.
cp -r "$work/s" "$work/failed"
python3 - "$work/failed" <<'P'
import glob, json, sys
path = sorted(glob.glob(sys.argv[1] + "/points/*.json"))[0]
result = json.load(open(path))
result["checks"][0]["ok"] = False
json.dump(result, open(path, "w"))
P
expect 0 sweep merge "$work/failed"
said "checks failed in 1 of 8 points"
grep -q '<figure' "$work/s/report.html" || complain "the report has no chart"
expect 0 report "$work/s/results.sqlite" -o "$work/plain.html" --plain
! grep -q '<figure\|<script' "$work/plain.html" || complain "the plain report has a chart"

# Axes of the command line, over a config and over a study; how far it is, for programs and for nobody.
expect 0 sweep run "$config" "${small[@]}" --axis link.identity=bdf_pasid,dhi --axis 'workload.payload=64B..128B:*2' \
  --zip "device.dhi.bits=2,4 workload.domains=4,16" -o "$work/axes" --progress json --timeout 5m
printed "8 rows"
[[ $(grep -c '^{"event":"progress","total":8,"done":[0-8],"cached":0,"failed":0,"elapsed_s":' "$work/err") == 9 ]] || complain "not a line of JSON a point: $(cat "$work/err")"
expect 0 sweep resume "$work/axes" --progress none
[[ ! -s $work/err ]] || complain "--progress none says something: $(cat "$work/err")"
expect 0 sweep plan "$work/study.yaml" --axis link.mps=128B,256B --seeds 1..3 -o "$work/more"
printed "42 points"
refuse 2 sweep plan "$config" --axis link.mps=128B,100B -o "$work/more2"
said "command line: link.mps: 100B"
refuse 64 sweep run "$work/axes" --axis link.mps=128B

# A point that hangs ends at its limit.
expect 4 sweep run "$config" --set workload.requests=100000000 --axis link.mps=256B -o "$work/slow" --timeout 0.2s --retries 0
said "has no result; log: $work/slow/logs/"
grep -q "ended at its time limit of 0.2 s" "$work"/slow/logs/*.log || complain "the log does not name the time limit"

printf 'base: %s\naxes: {device.dhi.bits: [2, 13], link.mps: [100]}\n' "$config" >"$work/bad.yaml"
refuse 2 sweep plan "$work/bad.yaml" -o "$work/b"
said "bad.yaml:2:8: device.dhi.bits: 13"
said "100"

# A warning about points is said once, with their number, by check and before the points run.
cat >"$work/warned.yaml" <<Y
base: $config
set: {workload.requests: 200, link.preset: gen3x8, link.timing.propagation: 200ns}
axes: {link.timing.replay_timeout: [auto, 400ns], link.mps: [128B, 256B], workload.payload: [64B, 128B]}
Y
warned="warned.yaml: link.timing.replay_timeout: 400.0 ns"
for command in check "sweep plan -o $work/w" "sweep run -o $work/w"; do
  # shellcheck disable=SC2086
  expect 0 $command "$work/warned.yaml"
  said "$warned"
  [[ $(grep -cF "$warned" "$work/err") == 2 && $(grep -c "(2 of 8 points)" "$work/err") == 2 ]] || complain "$command: $(grep warning "$work/err")"
done
expect 0 check "$work/study.yaml"
[[ ! -s $work/err ]] || complain "a sweep without fault is warned of"

# Each stage of each RDMA adapter has columns of its own.
cat >"$work/adapters.yaml" <<Y
base: $FLITWISE_SOURCE_DIR/configs/checks/rdma.yaml
columns: [written]
figures: {written: {is: hca_stage_ep0_dma_validation_accesses + 1000 * hca_stage_ep1_dma_validation_accesses}}
blocks:
- {name: writes, set: {workload.requests: 50, run.warmup: 0}, axes: {workload.payload: [64B]}}
Y
expect 0 sweep run "$work/adapters.yaml" -o "$work/adapters"
printed "50000"  # none at the end that posts WRITEs, 50 at its peer

# A point that fails: exit code 4, its log is named, the others are merged.
mkdir -p "$work/f"
python3 - "$work/s/manifest.jsonl" "$work/f/manifest.jsonl" <<'P'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
lines[1]["config"]["link"]["mps"] = "nonsense"
lines[1]["id"] = "0123456789abcdef"
with open(sys.argv[2], "w") as out:
    for line in lines[:3]:
        out.write(json.dumps(line) + "\n")
P
expect 4 sweep run "$work/f" --retries 0
said "logs/0123456789abcdef.log"
printed "2 rows"
grep -q nonsense "$work/f/logs/0123456789abcdef.log" || complain "the log does not say why"
finish
