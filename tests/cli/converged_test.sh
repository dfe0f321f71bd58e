# run.until: converged ends a run once its figures are known, and says how well.
. "$(dirname "$0")/program.sh"

# figures CODE: of the last result, r.
figures() { python3 -c "import json,sys
r = json.load(open('$work/out'))
$1" || complain "converged: $1"; }

# Much less than all, and within the tolerance of the long run. Checks of a finished run hold.
expect 0 run "$config" --json --set workload.requests=60000 --set link.error_rate=1e-7
cp "$work/out" "$work/long"
expect 0 run "$config" --json --set workload.requests=1000000 --set link.error_rate=1e-7 --set run.until=converged --set run.converged.tolerance=1%
figures "c = r['converged'][0]; long = json.load(open('$work/long'))['links'][0]['up']
assert c['figure'] == 'up_goodput_gbps' and c['reached'] and c['batches'] == 40, c
assert 600 < r['links'][0]['up']['tlps'] < 200000, r['links'][0]['up']['tlps']
assert c['half_width'] <= 0.01 * c['mean'] and abs(c['mean'] - long['goodput_gbps']) < 0.03 * c['mean'], (c, long['goodput_gbps'])
assert all(check['ok'] for check in r['checks']) and r['checks']"
cp "$work/out" "$work/first"
expect 0 run "$config" --json --set workload.requests=1000000 --set link.error_rate=1e-7 --set run.until=converged --set run.converged.tolerance=1%
cmp <(grep -v host_seconds "$work/out") <(grep -v host_seconds "$work/first") || complain "another run with the same seed"
# A finer tolerance takes longer; several figures all have to be known; the most is said where it does not do.
expect 0 run "$config" --json --set workload.requests=1000000 --set workload.kind=read --set workload.payload=64B --set link.error_rate=1e-7 \
  --set run.until=converged --set run.converged.tolerance=2% --set run.converged.figures=[dma_read_mean_ns,down_goodput_gbps]
figures "assert [c['figure'] for c in r['converged']] == ['down_goodput_gbps', 'dma_read_mean_ns'] and all(c['reached'] for c in r['converged']), r['converged']
mean = next(l for l in r['latency'] if l['name'] == 'dma_read')['mean']
assert abs(r['converged'][1]['mean'] - mean) < 0.02 * mean, (r['converged'], mean)"
expect 0 run "$config" --json --set workload.requests=1000 --set run.until=converged
figures "c = r['converged'][0]; assert not c['reached'] and c['half_width'] is None and r['links'][0]['up']['tlps'] == 1000, c"
expect 0 run "$config" --set workload.requests=100000 --set run.until=converged
printed "up_goodput_gbps"
expect 0 run "$config" --json "${small[@]}"
figures "assert r['converged'] == []"

# A sweep hands the share on, and each of its points ends by itself.
printf 'base: %s\nseeds: [1, 2]\nset: {workload.requests: 200000, run.until: converged, run.converged.tolerance: 2%%}\naxes: {workload.payload: [64B, 1KiB]}\n' "$config" >"$work/study.yaml"
expect 0 sweep run "$work/study.yaml" -o "$work/sweep"
[[ $(wc -l <"$work/sweep/points.csv") == 3 ]] || complain "a sweep of runs that converge has not two rows"

# What is no figure, no share, or without effect is said.
refuse 2 run "$config" --set run.until=converged --set run.converged.figures=[goodput]
said "up_goodput_gbps"
refuse 2 run "$config" --set run.until=converged --set run.converged.tolerance=0.01
said "expected"
expect 0 run "$config" "${small[@]}" --quiet --set run.converged.tolerance=2%
said "run.converged.tolerance"
finish
