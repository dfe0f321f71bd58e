#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# RDMA adapters whose queue pairs have session groups: bytes from memory to memory on a bad cable, handshakes, keys, and
# a peer that forges frames.
. "$(dirname "$0")/program.sh"
config="$FLITWISE_SOURCE_DIR/configs/examples/srdma_two_hosts.yaml"
run() { "$FLITWISE" run "$config" --set workload.requests=300 --json "$@" >"$work/out" 2>"$work/err"; }
# figures NAME PYTHON: of the result, `r`; its sessions are `s`, its errors by kind `e`.
figures() {
  python3 - "$work/out" <<P || complain "$1: $(head -c 300 "$work/err")"
import json, sys
r = json.load(open(sys.argv[1])); e = {}
s = [dict(one, device=group['device']) for group in r['srdma'] for one in group['sessions']]
for one in r['errors']: e[one['kind']] = e.get(one['kind'], 0) + one['count']
bad = [c for c in r['checks'] if not c['ok']]
assert not bad, bad
$2
P
}
bad_cable="--set device.rdma.cable.loss=0.01 --set device.rdma.cable.duplication=0.01 --set device.rdma.cable.reordering=0.05"

# What each work request has moved is compared with what it should be by the software of both hosts.
for keys in receive=reorder receive=ddp receive=in_order 'receive=reorder --set device.srdma.recovery=go_back_n' sack=true \
  secured=true 'secured=true --set device.srdma.receive=ddp' congestion.kind=none congestion.kind=window \
  congestion.kind=dcqcn_session policy=lowest_weight policy=hash_table granularity=message control.enabled=true; do
  # shellcheck disable=SC2086
  run $bad_cable --set device.srdma.$keys
  figures "$keys" "
assert len(s) >= 8 and {one['device'] for one in s} == {'ep0', 'ep1'}, s
assert min(one['packets'] for one in s) > 0 and sum(one['losses'] for one in s) > 0, s
assert all(0 <= one['weight'] <= 1 and 0 <= one['level'] <= 1 for one in s), s
assert len({(one['src_port'], one['dst_port']) for one in s}) == len(s), 'ports'
assert 'status_retry_exc_err' not in e, e"
done

# Each frame leaves by the tuple of a session, with the ICRC that this takes; nothing else changes with a capture.
captures() { python3 "$(dirname "$0")/pcapng.py" "$@"; }
run --set trace.capture=ports --trace pcapng="$work/run.pcapng"
captures srdma "$work/run.pcapng" "$work/out" >"$work/said" || complain "the capture is not that of the run"
grep -v host_seconds "$work/out" >"$work/first"
run
cmp -s <(grep -v host_seconds "$work/out") "$work/first" || complain "two runs of one seed differ"

# Keys are changed many times in a run, by the adapter and by software; one that is not changed in time ends.
keys="--set device.rdma.cable.loss=0 --set device.srdma.secured=true --set device.srdma.keys.lifetime=80us --set device.srdma.keys.refresh_margin=40us"
for engine in hw "sw --set device.srdma.keys.rekey_delay=5us"; do
  # shellcheck disable=SC2086
  run $keys --set device.srdma.keys.rekey_engine=$engine --set trace.capture=ports --trace pcapng="$work/keys.pcapng"
  figures "keys $engine" "assert 'rx_auth' not in e and 'timeouts' not in e, e"
  [[ $(captures epochs "$work/keys.pcapng") -ge 3 ]] || complain "keys $engine: epoch $(captures epochs "$work/keys.pcapng")"
done

# The handshake on a cable that loses every fourth frame, and on one that loses all.
run --set device.rdma.cable.loss=0.4 --set device.rdma.timeout=4 --set workload.requests=20 --set device.srdma.timing.handshake=10us
figures "a handshake with losses" "assert e['cm_resent'] > 0, e"
if run --set device.rdma.cable.loss=1 --set device.srdma.timing.handshake=10us; then complain "no handshake, and no end"; fi
said "the handshake with adapter 1 has failed: TIMEOUT"

# A peer that forges frames: nothing goes where software has not let it, and with keys nothing of it counts.
for keys in secured=false secured=true; do
  run --set device.rdma.hostile_frames=300 --set device.rdma.timeout=4 --set device.srdma.$keys
  figures "forged, $keys" "assert e['frame_forged'] > 20, e
if '$keys' == 'secured=true': assert e['rx_auth'] > 0 and e['rx_replay'] > 0 and 'queue_pair_in_error' not in e, e"
done

# Forged frames that came ahead of others are left in reorder buffers, and nowhere else.
for seed in 3 4 5; do
  run --seed $seed --set device.rdma.hostile_frames=100 --set device.rdma.cable.loss=0.2 --set device.rdma.cable.reordering=0.1 \
    --set workload.domains=8 --set workload.requests=50
  figures "forged and held, seed $seed" "assert any('reorder buffers' in c['name'] for c in r['checks']), r['checks']"
done

# Over four spines: sessions of each pair of adapters take all ways, and packets of the adaptive class find them as well.
for keys in sessions=16 'sessions=2 --set device.srdma.adaptive_routing=true'; do
  # shellcheck disable=SC2086
  "$FLITWISE" run "$FLITWISE_SOURCE_DIR/configs/examples/network_graph.yaml" --json --set network.topology=leaf_spine --set network.leaf_spine.leaves=2 \
    --set network.leaf_spine.spines=4 --set network.timing.hop=500ns --set device.srdma.enabled=true --set device.srdma.policy=oblivious \
    --set device.srdma.$keys >"$work/out" 2>"$work/err"
  figures "spines: $keys" "
up = [p['bytes'] for p in r['network']['ports'] if p['name'][:4] == 'leaf' and p['name'][-1] in '2345']
assert len(up) == 8 and min(up) > 50000, r['network']['ports']"
done

# A READ that waits for its answer alone waits for no room of a session.
run --set system.instances.ep1.device.rdma.peer=none --set device.rdma.cable.loss=0 --set device.rdma.cable.reordering=0 \
  --set workload.domains=1 --set device.rdma.queue=1 --set device.srdma.congestion.kind=dcqcn_qp --set workload.payload=64B \
  --set workload.rdma.write=0 --set workload.rdma.send=0 --set workload.rdma.fetch_add=0 --set workload.rdma.cas=0
figures "one READ at a time" "
assert r['verbs'][0]['reads'] == 300, r['verbs']
assert not [w for w in r['waits'] if w['resource'] == 'session_room' and w['waits']], r['waits']"

# Data of READs are data: they find all ways as well. [NW-4]
run --set network.topology=leaf_spine --set network.hosts=2 --set network.leaf_spine.leaves=2 --set network.leaf_spine.spines=4 \
  --set device.rdma.cable.loss=0 --set device.rdma.cable.reordering=0 --set system.instances.ep1.device.rdma.peer=none \
  --set workload.rdma.write=0 --set workload.rdma.send=0 --set workload.rdma.fetch_add=0 --set workload.rdma.cas=0 \
  --set device.srdma.sessions=1 --set device.srdma.adaptive_routing=true
figures "READs, adaptive routing" "
up = [p['bytes'] for p in r['network']['ports'] if p['name'].startswith('leaf1.') and p['bytes'] > 500000]
assert len(up) == 4, [(p['name'], p['bytes']) for p in r['network']['ports']]"

# What does not fit together.
refuse 2 run "$config" --set device.srdma.secured=true --set device.srdma.keys.lifetime=1us
said "expected a lifetime of at least refresh_margin"
refuse 2 run "$config" --set device.srdma.first_port=60000 --set device.srdma.last_port=50000
said "ports 60000 to 50000"
cat >"$work/one.yaml" <<Y
base: $config
system: {instances: {ep1: {device.srdma.enabled: false}}}
Y
refuse 2 run "$work/one.yaml"
said "device.srdma.enabled"
finish
