#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What limits flows in a network of packets, as --explain says it: the key that it names is changed, and flows are faster.
. "$(dirname "$0")/program.sh"
fail() { complain "$*"; }

config=$FLITWISE_SOURCE_DIR/configs/checks/srdma.yaml
run() { "$FLITWISE" run "$config" --json --set workload.flows.bytes=2000000B "$@" 2>"$work/err"; }
# figures PYTHON: of the result on stdin, `r`; `one` is its explanation, `last` the time at which the last flow is over.
figures() { python3 -c "
import json, sys
r = json.load(sys.stdin); [one] = r['explain']; limit = one['limit']
bad = [c for c in r['checks'] if not c['ok']]
assert not bad, bad
assert (one['link'], one['direction'], one['kind']) == ('network', 'down', 'write'), one
last = max(f['start_ns'] + f['fct_ns'] for f in r['network']['flows'])
ports = r['network']['ports']; waits = {(w['at'], w['resource']): w for w in r['waits']}
errors = {e['kind']: e['count'] for e in r['errors']}
$1"; }
time_of() { run "$@" | figures 'print(last)'; }
# faster FACTOR BEFORE AFTER WHAT
faster() { python3 -c "import sys; sys.exit(not $2 > $1 * $3)" || fail "$4: $2 ns, and then $3"; }

# One receiver: its wire. It carries more at twice the rate.
incast=(--set workload.flows.pattern=incast --set device.srdma.congestion.kind=window_group)
before=$(run "${incast[@]}" | figures "
assert limit['at'] == 'leaf0.0' and limit['resource'] == 'port' and limit['share'] > 0.95, one
assert limit['key'] == 'network.rate' and limit['larger'] == '200Gb/s', one
[port] = [p for p in ports if p['name'] == 'leaf0.0']
assert port['to'] == 'h0', port
# The share is that of the bytes that left in the time of the run.
share = waits['leaf0.0', 'port']['busy']
assert abs(share - port['bytes'] * 0.08 / last) < 0.01, (share, port, last)
print(last)") || fail "the wire of one receiver"
faster 1.3 "$before" "$(time_of "${incast[@]}" --set network.rate=200Gb/s)" "one receiver"

# Few links between switches: more of them.
narrow=(--set network.leaf_spine.spines=1 --set device.srdma.congestion.kind=window_group)
before=$(run "${narrow[@]}" | figures "
assert '.' in limit['at'] and limit['resource'] == 'port' and limit['share'] > 0.75, one
[port] = [p for p in ports if p['name'] == limit['at']]
assert 'spine0' in (port['to'], port['name'].split('.')[0]), port
assert limit['key'] == 'network.leaf_spine.spines' and limit['larger'] == '2', one
print(last)") || fail "one spine"
faster 1.5 "$before" "$(time_of "${narrow[@]}" --set network.leaf_spine.spines=2)" "one spine"

# A window of few packets, on a network that does nothing else.
window=(--set network.hosts=2 --set network.topology=switch --set workload.flows.pattern=incast --set device.srdma.sessions=1
  --set device.srdma.congestion.kind=none)
before=$(run "${window[@]}" --set device.srdma.window=4 | figures "
assert (limit['at'], limit['resource']) == ('h1', 'window'), one
assert limit['key'] == 'device.srdma.window' and limit['larger'] == '8', one
# Its wire works or stands still.
wire, still = waits['h1', 'port']['busy'], waits['h1', 'window']['blocked_ns'] / last
assert 0.97 < wire + still <= 1, (wire, still)
print(last)") || fail "a window of four"
faster 1.9 "$before" "$(time_of "${window[@]}" --set device.srdma.window=8)" "a window"
# With room for all the wire of the host is what is left.
run "${window[@]}" | figures "
assert limit['at'] in ('h1', 'switch.0') and limit['resource'] == 'port' and limit['share'] > 0.95, one" || fail "a flow alone"

# Rates that fell: DCQCN of one session that collides.
rates=(--set device.srdma.sessions=1 --set workload.flows.bytes=4000000B)
before=$(run "${rates[@]}" --set device.srdma.congestion.kind=dcqcn_qp | figures "
assert limit['resource'] == 'session_room' and limit['key'] == 'device.srdma.congestion.kind', one
assert limit['larger'] == 'window_group', one
wait = waits[limit['at'], 'session_room']
assert wait['waits'] > 100 and abs(wait['blocked_ns'] / last - limit['share']) < 0.01, (wait, one)
print(last)") || fail "rates of one session"
faster 2 "$before" "$(time_of "${rates[@]}" --set device.srdma.congestion.kind=window_group)" "rates"

# What is dropped has one name in both modes, and ports have counted it.
run "${incast[@]}" --set device.srdma.congestion.kind=none --set network.ecn.enabled=false --set network.switch.queue=64KiB | figures "
assert errors['network_queue_full'] == sum(p['drops'] for p in ports) > 10, errors" || fail "drops of full queues"
run "${incast[@]}" --set network.background.kind=poisson --set network.background.load=0.1 | figures "
assert errors['network_early_drop'] > 0, errors" || fail "drops of what cannot be marked"

# A run has a line of it; a network without limits of its own is no machine that asked for nothing.
expect 0 run "$config" --set workload.flows.bytes=2000000B "${incast[@]}" --explain
printed "Limit: network down write: leaf0.0 port"
printed "; try network.rate=200Gb/s"

finish
