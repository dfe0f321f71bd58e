# flitwise compare: two runs, two sweeps, conditions, pages, and what is refused.
. "$(dirname "$0")/program.sh"

# holds EXPRESSION: of c, which is the JSON of the last run.
holds() {
  python3 -c 'import json, sys; c = json.load(open(sys.argv[1])); sys.exit(not eval(sys.argv[2]))' "$work/out" "$1" ||
    complain "not so: $1: $(head -c 300 "$work/out")"
}

for identity in dhi bdf_pasid; do
  expect 0 run "$config" --quiet "${small[@]}" --set link.identity=$identity -o "$work/$identity"
done
a="$work/dhi" b="$work/bdf_pasid"
expect 0 compare "$a" "$b"
printed "link.identity  dhi  bdf_pasid"
printed "up_goodput_gbps"
printed "Other figures, the largest relative change first:"
printed "more that changed less"
lines=$(wc -l <"$work/out")
expect 0 compare "$a/result.json" "$b/result.json" --all
[[ $(wc -l <"$work/out") -gt $lines ]] || complain "--all shows no more"
expect 0 compare "$a" "$a"
printed "Both have the same configuration."
printed "All figures are the same."
expect 0 compare "$a" "$b" --json
holds 'list(c)[:3] == ["config", "figures", "failed"] and c["failed"] == []'
holds 'c["config"] == [{"key": "link.identity", "a": "dhi", "b": "bdf_pasid"}]'
holds 'all(list(f) == ["point", "name", "a", "b", "delta", "percent", "ci95"] and f["point"] == "" and f["ci95"] is None for f in c["figures"])'
holds 'any(f["name"] == "up_goodput_gbps" and f["delta"] == f["b"] - f["a"] < 0 and abs(f["percent"] - 100 * f["delta"] / f["a"]) < 1e-9 for f in c["figures"])'
holds '[f["name"] for f in c["figures"] if f["name"] == "host_seconds"] == []'
holds '(lambda p: p == sorted(p, reverse=True))([abs(f["percent"]) if f["percent"] is not None else float("inf") for f in c["figures"]])'

expect 1 compare "$a" "$b" --fail-if 'up_goodput_gbps < -2%'
said "up_goodput_gbps < -2%: -"
printed "up_goodput_gbps"
expect 1 compare "$a" "$b" --json --fail-if 'up_goodput_gbps > 0' --fail-if 'simulated_ns > 1'
holds 'len(c["failed"]) == 1 and c["failed"][0].startswith("simulated_ns > 1: +")'
expect 0 compare "$a" "$b" --fail-if 'up_goodput_gbps < -50%' --fail-if 'errors_unsupported_request > 0'
refuse 2 compare "$a" "$b" --fail-if 'up_goodput_gps < -2%'
said "nearest figure 'up_goodput_gbps'"
refuse 2 compare "$a" "$b" --fail-if 'up_goodput_gbps < fast'
said "--fail-if:1:19: 'up_goodput_gbps < fast'; expected a number"
refuse 64 compare "$a"
refuse 64 compare "$a" "$b" --all --json

expect 0 compare "$a" "$b" -o "$work/page.html"
grep -q '<td>up_goodput_gbps</td>' "$work/page.html" || complain "the page has no goodput"
expect 1 compare "$a" "$b" -o "$work/page.html" --fail-if 'simulated_ns > 1'
grep -q 'class="bad">simulated_ns &gt; 1' "$work/page.html" || complain "the page does not say what failed"
refuse 64 compare "$a/result.json" "$b" -o "$a/result.json"
refuse 2 compare "$a" "$b" -o "$a/result.json/page.html"

cat >"$work/study.yaml" <<Y
base: $config
seeds: [1, 2, 3]
set: {link.identity: dhi, workload.requests: 100}
axes: {workload.payload: [64B, 256B]}
Y
sed 's/dhi/bdf_pasid/; s/256B/256B, 512B/' "$work/study.yaml" >"$work/other.yaml"
sed 's/1, 2, 3/4, 5/' "$work/study.yaml" >"$work/seeds.yaml"
for name in study other seeds; do
  expect 0 sweep run "$work/$name.yaml" -o "$work/$name" -j 2
done
expect 0 compare "$work/study" "$work/other" --json
holds 'c["config"] == [{"key": "link.identity", "a": "dhi", "b": "bdf_pasid"}]'
holds '{f["point"] for f in c["figures"]} == {"workload.payload=64 B", "workload.payload=256 B"}'
holds 'all(f["ci95"] is not None for f in c["figures"])'
holds 'c["only_in_a"] == [] and c["only_in_b"] == ["workload.payload=512 B"] and c["missing_in_b"] == []'
python3 - "$work" <<'P' || complain "the interval is not that of pairs"
import json, math, sqlite3, sys
work = sys.argv[1]
def runs(name):
    table = sqlite3.connect(f"{work}/{name}/results.sqlite").execute('SELECT up_goodput_gbps FROM run WHERE "workload.payload" = 64 ORDER BY seed')
    return [value for value, in table]
gains = [b - a for a, b in zip(runs("study"), runs("other"))]
mean = sum(gains) / 3
half = 4.302653 * math.sqrt(sum((g - mean) ** 2 for g in gains) / 2 / 3)
found, = [f for f in json.load(open(f"{work}/out"))["figures"] if f["name"] == "up_goodput_gbps" and f["point"] == "workload.payload=64 B"]
assert abs(found["delta"] - mean) < 1e-9 and abs(found["ci95"] - half) <= 1e-6 * half + 1e-9, (found, mean, half)
P
expect 1 compare "$work/study" "$work/other" --fail-if 'up_goodput_gbps < -2%'
said "at workload.payload=64 B"
printed "1 point is in B alone: workload.payload=512 B"
printed "2 points are in both"
expect 0 compare "$work/study/results.sqlite" "$work/other/results.sqlite"
printed "name the folders of the sweeps to see what differs"
expect 0 compare "$work/study" "$work/seeds" --json
holds 'c["config"] == [{"key": "run.seed", "a": "1, 2, 3", "b": "4, 5"}]'
expect 0 compare "$work/study" "$work/seeds"
printed "chance"
rm "$(ls "$work"/other/points/*.json | head -n 1)"
expect 0 compare "$work/study" "$work/other"
printed "1 run of B has no result: main: workload.payload="
refuse 2 compare "$a" "$work/study"
said "a sweep beside"
refuse 2 compare "$a" "$work/nowhere"
said "$work/nowhere: "
head -c 1000 "$a/result.json" >"$work/cut.json"
refuse 2 compare "$a" "$work/cut.json"
said "$work/cut.json: no result of a run"
python3 - "$a/result.json" "$work/odd.json" <<'P'
import json, sys
result = json.load(open(sys.argv[1]))
result["errors"] = [{"kind": "\x1b[31m", "count": 3}]
json.dump(result, open(sys.argv[2], "w"))
P
expect 0 compare "$a" "$work/odd.json"
! grep -q $'\x1b' "$work/out" || complain "a control character of a file reaches the terminal"
finish
