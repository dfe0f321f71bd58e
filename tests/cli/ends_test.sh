# Runs that make no progress end by themselves and say who repeats what; one that only keeps its own pace is no deadlock.
. "$(dirname "$0")/program.sh"
configs="$FLITWISE_SOURCE_DIR/configs"

# ends ARGUMENTS...: ends by itself; where it fails it says why.
ends() {
  local seen=0
  timeout 60 "$FLITWISE" run "$@" --quiet -o "$work/result" >"$work/out" 2>"$work/err" </dev/null || seen=$?
  [[ $seen == 0 || $seen == 3 ]] || complain "flitwise run $*: exit code $seen: $(head -c 300 "$work/err")"
  [[ $seen == 0 ]] || { said "no progress"; said "what repeats:"; }
  code=$seen
}
# done_or_failed N: as many requests of the last run were done or refused.
done_or_failed() {
  python3 - "$work/result/result.json" "$1" <<'P' || complain "not every request was done or failed: $(head -c 200 "$work/err")"
import json, sys
result = json.load(open(sys.argv[1]))
done = sum(l["count"] for l in result["latency"] if l["name"] in ("dma_write", "dma_read"))
failed = sum(e["count"] for e in result["errors"] if e["kind"].split(".")[0] in ("outside_dma_window", "untrusted_request", "malformed_tlp", "completion_timeout", "page_refused"))
assert done + failed >= int(sys.argv[2]), (done, failed)
P
}

for c in checks/saturated examples/cxl_cache examples/cxl_hdm_db bench/flit_mode_posted_write_64B; do  # replays for ever
  ends "$configs/$c.yaml" --set workload.requests=1500 --set link.error_rate=0.1
  [[ $code == 3 ]] || complain "$c: a link that delivers nothing ended with $code"
  said "rp0-ep0: damaged on the wire or sent again"
  ! grep "accesses to devices" "$work/err" || complain "$c: counts what repeats from the boot on"
done
# A Nak has hundreds of TLPs sent again, and each time some more get through: that is progress, whatever the seed.
for seed in 1 2 3; do
  ends "$configs/bench/read_64B.yaml" --set workload.requests=1500 --set link.error_rate=0.001 --set run.seed=$seed
  [[ $code == 0 ]] || complain "a link on which one TLP in three is damaged, seed $seed: exit code $code: $(head -c 300 "$work/err")"
done
for c in handles_under_zipf switch_two_devices; do  # flushes that are refused, or have no answer
  for s in host.pasid=false host.dma_window.size=1B host.dma_window.size=1MiB host.trusted_window.size=64TiB faults.drop_completions=1000000000000; do
    ends "$configs/examples/$c.yaml" --set workload.requests=1500 --set run.warmup=0 --set "$s"
    [[ $code == 0 ]] || complain "$c with $s: exit code $code: $(head -c 300 "$work/err")"
    done_or_failed 1500
  done
done
ends "$configs/presets/gen5x16.yaml" --set link.identity=dhi --set device.dhi.bits=3 --set device.dhi.trusted=true --set host.dhi.grant=configured \
  --set host.dhi.granted.trusted=true --set workload.kind=posted_write --set workload.domains=32 --set workload.requests=2000 \
  --set host.trusted_window.size=64GiB --set host.memory.size=16GiB
python3 - "$work/result/result.json" <<'P' || complain "a trusted device cannot write to trusted memory"
import json, sys
result = json.load(open(sys.argv[1]))
assert not [e for e in result["errors"] if e["kind"] in ("untrusted_request", "flush_failed")], result["errors"]
assert {l["name"]: l["count"] for l in result["latency"]}["dma_write"] == 2000
P

# Reads that time out while they wait in a switch: nobody else gets their handles. [DHI S2]
ends "$configs/examples/switch_two_devices.yaml" --set workload.requests=1500 --set run.warmup=0 --set system.instances.rp0-sw0.link.credits.nonposted_headers=2 \
  --set system.instances.rp0-sw0.link.timing.propagation=200ns --set device.timing.completion_timeout=1us
[[ $code == 0 ]] || complain "timeouts behind a switch: exit code $code: $(head -c 300 "$work/err")"
kept() {  # EXPECTED EXPRESSION
  python3 - "$work/result/result.json" "$1" <<'P' || complain "handles that are kept: expected $1"
import json, sys
result = json.load(open(sys.argv[1]))
kept = sum(e["count"] for e in result["errors"] if e["kind"] == "handle_kept")
evictions = sum(d["evictions"] for d in result["dhi"])
assert kept == sum(d["handles_kept"] for d in result["dhi"])
assert not any(d["wrong_domain"] for d in result["dhi"])
assert sum(e["count"] for e in result["errors"] if e["kind"] == "completion_timeout") > 40
assert eval(sys.argv[2]), (kept, evictions)
P
}
lost=(--set workload.kind=read --set workload.requests=3000 --set faults.drop_completions=300 --set device.timing.completion_timeout=50us --set device.dhi.bits=4)
ends "$configs/examples/switch_two_devices.yaml" "${lost[@]}"
kept "16 <= kept <= 32"  # of two devices, 16 handles each
"$FLITWISE" run "$configs/examples/switch_two_devices.yaml" "${lost[@]}" >"$work/out" 2>&1
grep -Eq '^Device handles .* kept$' "$work/out" || complain "the table of handles has no column of those that are kept: $(cat "$work/out")"
grep -Eq '^handle_kept +[1-9]' "$work/out" || complain "the summary does not say that handles are kept: $(tail -12 "$work/out")"
# The link to a root port keeps a lost read and the next ALLOC in order, in each form.
for form in rid_direct prefix; do
  ends "$configs/examples/handles_under_zipf.yaml" "${lost[@]}" --set run.warmup=0 --set link.dhi_form=$form
  kept "kept == 0 and evictions > 100"
done

# Reads that time out while their completions are under way: these are unexpected, and answer no other request. [LNK-9.18]
ends "$configs/presets/gen5x16.yaml" --set workload.requests=1500 --set workload.kind=read --set workload.payload=2KiB --set device.timing.completion_timeout=1us \
  --set host.memory.timing.latency=900ns
[[ $code == 0 ]] || complain "completions that are late: exit code $code: $(head -c 300 "$work/err")"
python3 - "$work/result/result.json" <<'P' || complain "completions that are late answer other requests, or fit none"
import json, sys
result = json.load(open(sys.argv[1]))
errors = {e["kind"]: e["count"] for e in result["errors"]}
assert all(c["ok"] for c in result["checks"]), [c for c in result["checks"] if not c["ok"]]
assert errors["completion_timeout"] > 1000 and errors["unexpected_completion"] >= errors["completion_timeout"], errors
assert set(errors) == {"completion_timeout", "unexpected_completion"}, errors
P
# With answers that never come, tags are held back for 50 ms, not for ever.
ends "$configs/presets/gen5x16.yaml" --set workload.requests=400 --set workload.kind=read --set device.timing.completion_timeout=1us --set device.tag_bits=5 \
  --set faults.drop_completions=1000000000000 --set run.warmup=0 --set run.deadlock_after=60ms
[[ $code == 0 ]] || complain "tags for which nothing comes: exit code $code: $(head -c 300 "$work/err")"

# Transfers that never come to their data: the driver refuses their pages, or their Translation Request has no answer.
translated=(--set workload.kind=read --set workload.domains=4 --set iommu.translation=first_stage --set device.atc.enabled=true --set run.warmup=0)
ends "$configs/checks/saturated.yaml" "${translated[@]}" --set workload.requests=200 --set device.pri.enabled=true --set host.iommu_driver.enabled=true \
  --set host.iommu_driver.premapped=0 --set host.iommu_driver.refuse_fraction=1
[[ $code == 0 ]] || complain "pages that are refused: exit code $code: $(head -c 300 "$work/err")"
done_or_failed 200
ends "$configs/presets/gen5x16.yaml" "${translated[@]}" --set workload.requests=500 --set host.pasid=false
python3 - "$work/result/result.json" <<'P' || complain "behind a Translation Request without an answer transfers vanish"
import json, sys
result = json.load(open(sys.argv[1]))
errors = {e["kind"]: e["count"] for e in result["errors"]}
assert errors["translation_failed"] == 500 and errors["completion_timeout"] < 500, errors
assert [c["detail"] for c in result["checks"] if c["name"] == "ep0: every transfer is done or has failed"] == ["500 given out, 0 done, 500 failed"]
P

# A machine that never comes up, since what it sends goes again for ever: it says so, and a signal ends it before.
for c in "bench/flit_mode_posted_write_64B --set link.timing.propagation=1us --set link.timing.replay_timeout=100ns" \
  "examples/cxl_memory --set link.timing.propagation=10us --set link.timing.replay_timeout=200ns --set run.warmup=0"; do
  ends "$configs/"${c/ /.yaml }
  [[ $code == 3 ]] || complain "$c ended with $code"
  said "the machine does not come up"
done
# timeout sends it to its child and to its group: twice, which counts as once.
for signal in INT TERM; do
  seen=0
  timeout --signal=$signal --kill-after=20 2 "$FLITWISE" run "$configs/checks/saturated.yaml" --set link.timing.propagation=1us \
    --set link.timing.replay_timeout=100ns --set run.deadlock_after=1000s --quiet -o "$work/result" >"$work/out" 2>"$work/err" </dev/null || seen=$?
  [[ $seen == 124 ]] || complain "SIG$signal during bring-up: exit code $seen"
  said "interrupted before the measured window began"
done

# A device that is never reached does not answer, and software repeats after a minute each: four simulated minutes, in some
# two seconds of the processor (not of the clock: the machine may have other things to do), some thirty without optimisation.
seen=0
(ulimit -t 60 && exec "$FLITWISE" run "$configs/presets/gen5x16.yaml" --set link.identity=dhi --set device.dhi.management=software --set device.atc.enabled=true \
  --set host.dhi.unknown_domain=error --set iommu.translation=first_stage --set host.iommu_driver.enabled=true --set host.iommu_driver.teardown_rate=50000 \
  --set workload.kind=read_write --set workload.domains=64 --set workload.requests=3000 --set workload.arrival=poisson --set workload.rate=8Mreq/s \
  --quiet -o "$work/result") >"$work/out" 2>"$work/err" || seen=$?
[[ $seen == 3 ]] || complain "$seen: software that polls for four simulated minutes takes more than 60 seconds of the processor: $(head -c 300 "$work/err")"
said "invalidation_timeout: "
said "the teardown of the context 01:00.0 PASID "
said "the device to invalidate its translations, ordered again 3 times since no answer came in time"

# Page requests that nobody will ever answer, since their queue had no room for them.
expect 3 run "$configs/checks/saturated.yaml" "${translated[@]}" --set workload.requests=3000 --set workload.buffer_size=16MiB --set workload.placement=random \
  --set device.pri.enabled=true --set device.pri.allocation=1000 --set device.pri.capacity=1000 --set host.iommu_driver.enabled=true \
  --set host.iommu_driver.premapped=0 --set host.iommu_driver.page_request_queue=4KiB --set iommu.page_requests.overflow=drop --quiet
said "warning: iommu.page_requests.overflow: drop with up to 1000 page requests out at once"
grep -Eq 'iommu0: [0-9]+ page requests were dropped, since their queue had no room, and will never be answered' "$work/err" || complain "dropped page requests are not reported: $(cat "$work/err")"

# Its own pace: an interval, and arrivals, of a second; a driver that takes 200 ms.
for pace in device.dma.issue_interval=1s "workload.arrival=poisson --set workload.rate=1req/s" "workload.arrival=on_off --set workload.rate=1req/s"; do
  ends "$configs/checks/saturated.yaml" --set workload.requests=5 --set $pace
  [[ $code == 0 ]] || complain "a pace of $pace: exit code $code: $(head -c 300 "$work/err")"
done
ends "$configs/checks/saturated.yaml" --set workload.requests=20 --set workload.kind=read --set workload.domains=4 --set iommu.translation=first_stage \
  --set device.atc.enabled=true --set device.pri.enabled=true --set host.iommu_driver.enabled=true --set host.iommu_driver.premapped=0 --set host.iommu_driver.map_latency=200ms
[[ $code == 0 ]] || complain "a driver that takes its time: exit code $code: $(head -c 300 "$work/err")"

# Handles that are short while each miss stalls: said, and no error.
short=("$configs/checks/saturated.yaml" --set link.identity=dhi --set device.dhi.bits=4)
expect 0 run "${short[@]}" --set workload.domains=64 --set workload.requests=200 --quiet
said "warning"
said "device.dhi.on_miss"
expect 0 run "${short[@]}" --set workload.domains=16 --set workload.requests=200 --quiet
[[ ! -s $work/err ]] || complain "a warning where handles are enough: $(cat "$work/err")"
printf 'link: {identity: dhi}\ndevice: {dhi: {bits: 4}}\nworkload: {domains: 64}\n' >"$work/short.yaml"
expect 0 check "$work/short.yaml"
said "short.yaml:3:21: warning: device.dhi.on_miss"
finish
