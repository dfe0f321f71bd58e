#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Adapters behind PCIe in networks of several switches: one run in both modes held against each other, what switches do to
# their frames, and errors of configurations.
. "$(dirname "$0")/program.sh"
fail() { complain "$*"; }

modes=$FLITWISE_SOURCE_DIR/configs/checks/network_modes.yaml
graph=$FLITWISE_SOURCE_DIR/configs/examples/network_graph.yaml

# figures PYTHON FILE...: of results, `r` the list of them; no check has failed.
figures() { python3 -c "
import json, sys
r = [json.load(open(name)) for name in sys.argv[1:]]
bad = [c for one in r for c in one['checks'] if not c['ok']]
assert not bad, bad
kinds = lambda one: {e['kind']: e['count'] for e in one['errors']}
$1" "${@:2}"; }

# Completion times agree within 2 %, or $most; so do ideal times and what ports have carried.
both() {  # WHAT ARGUMENTS...
  local what=$1 most=${most:-0.02}; shift
  expect 0 run "$modes" --json "$@"; cp "$work/out" "$work/full.json"
  expect 0 run "$modes" --json "$@" --set network.mode=packet; cp "$work/out" "$work/packet.json"
  figures "
full, packet = ({(f['id'], f['source'], f['destination']): f for f in one['network']['flows']} for one in r)
assert len(full) >= 7 and full.keys() == packet.keys(), (full.keys(), packet.keys())
for who, f in full.items():
    p = packet[who]
    assert f['bytes'] == p['bytes'] and abs(f['ideal_ns'] - p['ideal_ns']) < 1, (who, f, p)
    assert abs(f['fct_ns'] / p['fct_ns'] - 1) < $most, (who, f['fct_ns'], p['fct_ns'])
    assert f['fct_ns'] > 0.999 * f['ideal_ns'], f
wires = [sum(row['bytes'] for row in one['network']['ports']) for one in r]
assert abs(wires[0] / wires[1] - 1) < 0.03, wires  # packet mode acknowledges more often" "$work/full.json" "$work/packet.json" || fail "$what"
}
both "a permutation"
both "incast" --set workload.flows.pattern=incast
# Flows that wait for others, and several receivers of each sender, which have their turns.
four=(--set system.hosts=4 --set network.hosts=4)
both "a ring" "${four[@]}" --set workload.flows.pattern=ring_all_reduce --set workload.flows.bytes=4000000B
# Here ports of hosts are full, and acknowledgements, of which packet mode has more, take 2 % of them.
most=0.03 both "all to all" "${four[@]}" --set workload.flows.pattern=all_to_all --set workload.flows.bytes=1000000B
groups=(--set device.srdma.enabled=true --set device.srdma.sessions=4 --set device.srdma.policy=oblivious
  --set device.srdma.congestion.kind=none)
both "session groups" "${groups[@]}"
both "secured sessions" "${groups[@]}" --set device.srdma.secured=true
both "leaves and a spine, cut-through" --set network.topology=leaf_spine --set network.leaf_spine.leaves=4 \
  --set network.leaf_spine.spines=1 --set network.switching=cut_through

# A graph in both modes; its slow way is used.
for mode in full packet; do
  expect 0 run "$graph" --json --set network.mode=$mode
  cp "$work/out" "$work/$mode.json"
done
figures "
assert all(len(one['network']['flows']) == 4 for one in r)
assert [len(one['network']['ports']) for one in r] == [12, 12]" "$work/full.json" "$work/packet.json" || fail "a graph"

# What switches do to frames of adapters: marks, pauses, a link that fails, other traffic; runs repeat to the byte.
odd=(--set network.topology=leaf_spine --set network.leaf_spine.leaves=2 --set network.leaf_spine.spines=2
  --set workload.flows.bytes=1000000B)
expect 0 run "$graph" --json "${odd[@]}" --set workload.flows.pattern=incast; cp "$work/out" "$work/marks.json"
figures "
assert sum(row['ce'] for row in r[0]['network']['ports']) > 50, r[0]['network']['ports']" "$work/marks.json" || fail "marks"
expect 0 run "$graph" --json "${odd[@]}" --set workload.flows.pattern=incast --set network.pfc.enabled=true \
  --set network.pfc.headroom=100KiB; cp "$work/out" "$work/pauses.json"
figures "
ports = r[0]['network']['ports']
assert sum(row['drops'] for row in ports) == 0 and sum(row['pause_ns'] for row in ports) > 0, ports
pauses = [row for row in r[0]['waits'] if row['resource'] == 'pause']
assert pauses and all(row['waits'] > 0 and row['wait_ns'] > 0 for row in pauses), pauses" "$work/pauses.json" ||
  fail "pauses"
expect 0 run "$graph" --json "${odd[@]}" --set network.fault.link=leaf0-spine0 --set network.fault.at=20us \
  --set network.fault.lasts=100us --set network.timing.detect=20us --set device.rdma.timeout=4; cp "$work/out" "$work/fault.json"
figures "assert len(r[0]['network']['flows']) == 4" "$work/fault.json" || fail "a link that fails"
expect 0 run "$graph" --json --set network.fault.link=h0-tor0 --set network.fault.loss=0.05 --set device.rdma.timeout=4
cp "$work/out" "$work/lossy.json"
figures "assert len(r[0]['network']['flows']) == 4 and kinds(r[0])['network_lost'] > 20, kinds(r[0])" "$work/lossy.json" ||
  fail "a link that loses frames by chance"
# Five adapters at the first of eight hosts.
for file in other again; do
  expect 0 run "$FLITWISE_SOURCE_DIR/configs/examples/rdma_incast.yaml" --json --set network.topology=leaf_spine \
    --set network.leaf_spine.leaves=4 --set network.leaf_spine.spines=2 --set workload.requests=100 --set network.background.kind=poisson --set network.background.load=0.3 \
    --set network.hosts=8 --trace pcapng="$work/$file.pcapng"
  cp "$work/out" "$work/$file.json"
done
figures "
more = sum(row['packets'] for row in r[0]['network']['ports'])
assert len(r[0]['network']['ports']) == 24 and more > 3000, more" "$work/other.json" || fail "other traffic"
cmp <(grep -v host_seconds "$work/other.json") <(grep -v host_seconds "$work/again.json") || fail "two runs differ"
cmp "$work/other.pcapng" "$work/again.pcapng" || fail "two captures differ"

# What is no network is refused where it stands.
refused() {  # FILE TEXT ARGUMENTS...
  local file=$1 text=$2; shift 2
  "$FLITWISE" check "$file" "$@" >"$work/out" 2>&1 && fail "taken: $file $*"
  grep -qF -- "$text" "$work/out" || fail "$file $*: $(head -c 400 "$work/out")"
}
own() {  # TEXT EDGES SWITCHES
  printf 'network:\n  mode: packet\n  topology: graph\n  hosts: 2\n  graph:\n    switches: [%s]\n    edges:\n%s' "$3" "$2" >"$work/own.yaml"
  refused "$work/own.yaml" "$1"
}
own "own.yaml:9:24: network.graph.edges[1].to: unknown node 's1'; expected a host, h0 to h1, or a switch" \
  $'      - {from: h0, to: s0}\n      - {from: h1, to: s1}\n' s0
own "own.yaml:10:16: network.graph.edges[2].from: a second edge of host h1, which has one to s0; expected one edge a host" \
  $'      - {from: h0, to: s0}\n      - {from: h1, to: s0}\n      - {from: h1, to: s0}\n' s0
own "no way leads from h0 to h1" $'      - {from: h0, to: s0}\n      - {from: h1, to: s1}\n' "s0, s1"
own "own.yaml:8:34: network.graph.edges: rate 1Mb/s; expected 1Gb/s to 10Tb/s" \
  $'      - {from: h0, to: s0, rate: 1Mb/s}\n      - {from: h1, to: s0}\n' s0
own "a second node s0" $'      - {from: h0, to: s0}\n      - {from: h1, to: s0}\n' "s0, s0"
cat >"$work/ring.yaml" <<'Y'
network:
  mode: packet
  hosts: 4
  topology: graph
  graph:
    switches: [s0, s1, s2, s3]
    edges:
      - {from: h0, to: s0}
      - {from: h1, to: s1}
      - {from: h2, to: s2}
      - {from: h3, to: s3}
      - {from: s0, to: s1}
      - {from: s1, to: s2}
      - {from: s2, to: s3}
      - {from: s3, to: s0}
Y
refused "$work/ring.yaml" "ring.yaml:4:13: network.topology: routes lead in a circle, s0 > s1 > s2 > s3 > s0; expected none"
refused "$graph" "5 adapters, and 4 hosts; expected a host for each" --set system.hosts=5
printf 'time_ns,src,dst,bytes\n0,0,1,1000\n' >"$work/two.csv"
refused "$graph" "no flow from or to" --set workload.flows.pattern=trace --set workload.trace="$work/two.csv"
refused "$graph" "expected network.topology switch" --set network.topology=cable
refused "$graph" "a slow link h0-tor0 of an adapter" --set network.fault.link=h0-tor0 --set network.fault.rate=50Gb/s

finish
