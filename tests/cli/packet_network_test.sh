#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Session groups on a network of packets: flows alone, permutations against published runs and the fluid model,
# losses, links that fail, and errors of configurations.
. "$(dirname "$0")/program.sh"
fail() { complain "$*"; }

config=$FLITWISE_SOURCE_DIR/configs/checks/srdma.yaml
run() { "$FLITWISE" run "$config" --json "$@" 2>/dev/null; }
# figures PYTHON: of the result on stdin, `r`; flows are `f`.
figures() { python3 -c "
import json, statistics, sys
r = json.load(sys.stdin); f = r['network']['flows']
bad = [c for c in r['checks'] if not c['ok']]
assert not bad, bad
$1"; }

# A flow that has the network for itself takes its ideal time, by any way through the model.
for keys in topology=cable topology=switch 'topology=switch network.switching=cut_through'; do
  for more in srdma.congestion.kind=none srdma.congestion.kind=dcqcn_qp srdma.congestion.kind=window \
    srdma.congestion.kind=window_group srdma.congestion.kind=dcqcn_session srdma.receive=in_order srdma.receive=ddp srdma.secured=true srdma.mtu=1024 \
    'srdma.enabled=false --set device.srdma.congestion.kind=none'; do
    # shellcheck disable=SC2086
    run --set network.${keys// / --set } --set device.$more --set network.hosts=2 --set workload.flows.pattern=incast \
      --set workload.flows.bytes=1000000B --set device.srdma.sessions=1 | figures "
ratio = f[0]['fct_ns'] / f[0]['ideal_ns']
assert len(f) == 1 and 0.99999 < ratio < 1.002, ('$keys', '$more', ratio)" || fail "alone: $keys $more"
  done
done

# Incast: N x B / C at the port of the receiver, whatever the number of sessions. [anchors 3.7, W6]
for sessions in 1 16; do
  run --set workload.flows.pattern=incast --set workload.flows.bytes=2000000B --set device.srdma.sessions=$sessions |
    figures "
last = max(x['fct_ns'] for x in f); due = 15 * 2e6 * 4178 / 4096 * 0.08
assert len(f) == 15 and due < last < due * 1.03, (last, due)" || fail "incast with $sessions sessions"
done

# A permutation: mean FCT over ideal (1,625 us). [anchors 2.3, 3.5] Five seeds; of one session forty.
mean() {  # SESSIONS SEEDS
  for seed in $(seq 1 "$2"); do
    run --seed "$seed" --set device.srdma.sessions="$1" |
      figures "print(statistics.mean(x['fct_ns'] / 1.625e6 for x in f))" || exit 1
  done | python3 -c 'import sys; all = [float(x) for x in sys.stdin]; print(sum(all) / len(all))'
}
within() { python3 -c "import sys; sys.exit(not $2 <= $1 <= $3)" || fail "$4: $1, due $2 to $3"; }
within "$(mean 4 5)" 1.122 1.518 "4 sessions"
within "$(mean 16 5)" 1.003 1.357 "16 sessions"
within "$(mean 64 5)" 0.918 1.242 "64 sessions"
within "$(mean 1 40)" 1.45 1.80 "1 session"

# What is lost is sent again, and each byte arrives once and in order: small queues, without marks.
for how in 'receive=in_order' 'receive=reorder --set device.srdma.recovery=selective' \
  'receive=reorder --set device.srdma.sack=true' 'receive=ddp'; do
  # shellcheck disable=SC2086
  run --set network.switch.queue=64KiB --set network.ecn.enabled=false --set device.srdma.congestion.kind=none \
    --set device.srdma.sessions=8 --set workload.flows.bytes=2000000B --set device.srdma.timeout=5 \
    --set device.srdma.$how | figures "
drops = sum(p['drops'] for p in r['network']['ports'])
kinds = {e['kind']: e['count'] for e in r['errors']}
resent, full = (kinds.get(kind, 0) for kind in ('resent', 'network_queue_full'))
assert len(f) == 16 and full == drops > 100 and resent > 100, (len(f), drops, kinds)" || fail "losses: $how"
done

# A link that fails: packets to it are lost until that is noticed, and no flow is. [NW-C5]
run --set network.fault.link=leaf0-spine1 --set network.fault.at=300us --set network.timing.detect=500us | figures "
lost = {e['kind']: e['count'] for e in r['errors']}.get('network_link_down', 0)
assert len(f) == 16 and lost > 10, (len(f), lost)" || fail "a link that fails"
# One that loses packets by chance, for a time: 1 % of those that pass it then, and no flow. [NW-8]
run --set network.fault.link=leaf0-spine1 --set network.fault.at=100us --set network.fault.lasts=1ms --set network.fault.loss=0.01 | figures "
lost = {e['kind']: e['count'] for e in r['errors']}.get('network_lost', 0)
drops = sum(p['drops'] for p in r['network']['ports'])
assert len(f) == 16 and 40 < lost == drops < 200, (len(f), lost, drops)" || fail "a link that loses packets"
# A slow one: sessions with weights go around it, turns do not. [W4]
slow() { run --set network.fault.link=leaf0-spine1 --set network.fault.rate=25Gb/s --set device.srdma.policy=$1 \
  --set workload.flows.bytes=10000000B | figures "print(max(x['fct_ns'] for x in f))"; }
turns=$(slow oblivious) weighted=$(slow lowest_weight)
python3 -c "import sys; sys.exit(not $weighted < $turns)" || fail "a slow link: $weighted by weight, $turns in turn"

# A queue pair that gives up: the run ends, and names it.
expect 3 run "$config" --set network.fault.link=leaf0-spine1 --set network.fault.at=20us --set network.timing.detect=1s \
  --set device.srdma.sessions=1 --set device.srdma.retry_cnt=1 --set workload.flows.bytes=1000000B --set run.deadlock_after=50ms
said "the queue pair has given up, after 2 time-outs"
# Packets that overtake each other, a receiver of plain RoCEv2 and a window: slow, but none gives up. [LR-1]
run --seed 3 --set device.srdma.sessions=1 --set device.srdma.adaptive_routing=true --set device.srdma.receive=in_order \
  --set workload.flows.bytes=200000B --set run.deadlock_after=50ms | figures "
assert len(f) == 16 and r['checks'], len(f)" || fail "go-back-N with a window"

# Sweeps take its results.
printf 'base: %s\nseeds: [1, 2]\nset: {workload.flows.bytes: 100000B}\naxes: {device.srdma.sessions: [1, 4]}\n' "$config" >"$work/sweep.yaml"
expect 0 sweep run "$work/sweep.yaml" -o "$work/sweep"
[[ $(cut -d, -f1 "$work/sweep/points.csv" | wc -l) == 3 ]] || fail "a sweep has not a row a point"
grep -q fct_all_mean_slowdown "$work/sweep/points.csv" || fail "a sweep has no times of flows"

# Same configuration and seed, same bytes; another seed, other figures.
strip() { grep -v host_seconds; }
cmp -s <(run --set workload.flows.bytes=500000B | strip) <(run --set workload.flows.bytes=500000B | strip) ||
  fail "two runs differ"
cmp -s <(run --set workload.flows.bytes=500000B | strip) <(run --seed 2 --set workload.flows.bytes=500000B | strip) &&
  fail "the seed changes nothing"

# Each pattern ends, and keeps its books.
for pattern in all_to_all ring_all_reduce 'sizes --set workload.sizes=google_rpc_2008 --set workload.flows.count=2000'; do
  # shellcheck disable=SC2086
  run --set workload.flows.pattern=$pattern --set workload.flows.bytes=100000B --set device.srdma.sessions=4 | figures "
low = min(x['fct_ns'] / x['ideal_ns'] for x in f)
assert f and low > 0.96, low" || fail "$pattern"
done

# Of 64 sessions in turn no weight is looked at, and no probe asks for one: all to all ends with the ports of hosts, where
# probes of 960 sessions a host would be more packets than data. [MO-3]
run --set workload.flows.pattern=all_to_all --set workload.flows.bytes=200000B --set device.srdma.congestion.kind=dcqcn_qp | figures "
data, echoes = (sum(s[what] for g in r['srdma'] for s in g['sessions']) for what in ('packets', 'echoes'))
assert echoes < 1.05 * data, (data, echoes)
last = max(x['fct_ns'] for x in f); due = 15 * 200000 * (4178 + 98) / 4096 * 0.08
assert due < last < due * 1.1, (last, due)" || fail "probes of sessions in turn"

# Errors name keys and say what is expected.
refused() {  # PATTERN KEYS...
  local pattern=$1 seen; shift
  seen=$("$FLITWISE" check "$config" "$@" 2>&1) && fail "taken: $*"
  grep -q -- "$pattern" <<<"$seen" || fail "$*: $seen"
}
refused "expected a multiple of the leaves" --set network.hosts=18
refused "expected k^3 / 4" --set network.topology=fat_tree --set network.hosts=20
refused "expected network.hosts 2" --set network.topology=cable
refused "no link is called leaf0-leaf1" --set network.fault.link=leaf0-leaf1
refused "expected relaxed up to the threshold" --set device.srdma.control.enabled=true \
  --set device.srdma.control.relaxed=0.9
refused "expected 8388607 packets at most" --set workload.flows.bytes=2GiB --set device.srdma.mtu=256
refused "ports 4791 to 4791, which no session may have" --set device.srdma.first_port=4791 --set device.srdma.last_port=4791
refused "expected none or dcqcn_qp" --set device.srdma.enabled=false
refused "expected none or dcqcn_qp" --set device.srdma.enabled=false --set device.srdma.congestion.kind=window_group
expect 2 run "$config" --trace packets="$work/trace.csv"
said "expected network.mode full"

finish
