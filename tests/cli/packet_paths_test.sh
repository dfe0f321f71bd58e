#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Several ways in time: ways of different lengths, one that fails, choices that swing between two, and sessions that come
# and go with the load.
. "$(dirname "$0")/program.sh"
fail() { complain "$*"; }

config=$FLITWISE_SOURCE_DIR/configs/checks/srdma.yaml
run() { "$FLITWISE" run "$config" --json --set network.hosts="$1" --set network.leaf_spine.leaves=2 "${@:2}" 2>"$work/err"; }
# figures PYTHON: of the result on stdin, `r`; flows are `f`, events of sessions `e`, errors by kind `errors`.
figures() { python3 -c "
import collections, json, sys
r = json.load(sys.stdin); f = r['network']['flows']; e = r.get('srdma_events', [])
errors = collections.Counter({one['kind']: one['count'] for one in r['errors']})
queues = {p['name']: p['max_queue_bytes'] for p in r['network']['ports']}
# Gb/s of flows that arrive between two times, each spread over the time since the one before it of its source.
def goodput(begin, end):
    last, bits = collections.Counter(), 0
    for x in sorted(f, key=lambda x: x['start_ns'] + x['fct_ns']):
        over, before = x['start_ns'] + x['fct_ns'], last[x['source']] - 0.001
        last[x['source']] = over
        bits += 8 * x['bytes'] * max(0, min(end, over) - max(begin, before)) / (over - before)
    return bits / (end - begin)
bad = [c for c in r['checks'] if not c['ok']]
assert not bad, bad
$1"; }
# trace NAME SECONDS...: a CSV of flows.
trace() { printf 'time_ns,src,dst,bytes\n' >"$work/$1.csv"; printf '%s\n' "${@:2}" >>"$work/$1.csv"; }
from() { echo "workload.trace=$work/$1.csv"; }

# RO-C1, RO-C2: two ways, of 4 us and of 23 us. A receiver that takes nothing out of order asks for each gap once and gets
# little through; one that holds what comes early loses nothing.
trace one '0,0,1,5000000'
long=(--set workload.flows.pattern=trace --set "$(from one)" --set device.srdma.sessions=8
  --set device.srdma.congestion.kind=none)
{
  sed '/^network:/d' "$config"
  echo 'network:'
  echo '  {mode: packet, topology: graph, hosts: 2, graph: {switches: [a, b, near, far], edges: ['
  echo '    {from: h0, to: a}, {from: h1, to: b}, {from: a, to: near}, {from: near, to: b},'
  echo '    {from: a, to: far, delay: 20us}, {from: far, to: b}]}}'
} >"$work/ways.yaml"
ways() { "$FLITWISE" run "$work/ways.yaml" --json "${long[@]}" "$@" 2>"$work/err"; }
ways | figures "
assert errors['resent'] == 0 and errors['sequence_naks'] == 0, errors
assert goodput(0, f[0]['fct_ns']) > 80, f" || fail "RO-C2"
ways --set device.srdma.receive=in_order | figures "
assert errors['sequence_naks'] > 20 and errors['resent'] > 20 * errors['sequence_naks'] / 10, errors
assert goodput(0, f[0]['fct_ns']) < 30, goodput(0, f[0]['fct_ns'])" || fail "RO-C1"

# NW-C5: one of four ways fails. Once switches know, goodput is (n - 1) / n of what it was, or more.
trace four $(for i in $(seq 60); do for host in 0 1 2 3; do echo "0,$host,$((host + 4)),500000"; done; done)
run 8 --set network.leaf_spine.spines=4 --set workload.flows.pattern=trace --set "$(from four)" \
  --set device.srdma.policy=weighted_hash --set device.srdma.sessions=16 --set network.fault.link=leaf0-spine1 \
  --set network.fault.at=400us --set network.timing.detect=500us | figures "
before, broken, after = goodput(100e3, 400e3), goodput(500e3, 900e3), goodput(1000e3, 2000e3)
assert errors['network_link_down'] > 10 and broken < 0.6 * before, (before, broken, errors)
assert after > 0.75 * before, (before, after)" || fail "NW-C5"

# SEL-C8: all packets take the way that looked best when weights were updated last, until the other one does: the queue
# swings. With packets in flight as part of the weight it does so much less.
trace two '0,0,2,10000000' '0,1,3,10000000'
swing() { run 4 --set network.leaf_spine.spines=2 --set workload.flows.pattern=trace --set "$(from two)" \
  --set device.srdma.policy=lowest_weight --set device.srdma.sessions=8 --set device.srdma.congestion.kind=none \
  --set network.switch.queue=4MiB --set device.srdma.beta="$1" |
  figures "print(max(queues['leaf0.2'], queues['leaf0.3']), max(x['fct_ns'] for x in f))"; }
read -r plain_queue plain_time <<<"$(swing off)"
read -r corrected_queue corrected_time <<<"$(swing 64)"
python3 -c "import sys; sys.exit(not ($plain_queue > 5 * $corrected_queue and $plain_time > 1.2 * $corrected_time))" ||
  fail "SEL-C8: $plain_queue bytes and $plain_time ns without, $corrected_queue and $corrected_time with the correction"

# CT-C7: the load of four hosts goes up and down again: sessions rise, then fall to what their cost allows. Each decision is
# an exchange of its own; none is within an interval, or the cool-down of five round trips, of the one before it.
trace load $(for t in $(seq 0 10 990); do for h in 0 1 2 3; do echo "${t}000,$h,$((h + 4)),8000"; done; done
  for t in $(seq 1000 40 3960); do for h in 0 1 2 3; do echo "${t}000,$h,$((h + 4)),480000"; done; done
  for t in $(seq 4000 10 8990); do for h in 0 1 2 3; do echo "${t}000,$h,$((h + 4)),8000"; done; done)
run 8 --set network.leaf_spine.spines=4 --set workload.flows.pattern=trace --set "$(from load)" \
  --set device.srdma.connect=first_flow --set device.srdma.sessions=1 --set device.srdma.policy=weighted_hash \
  --set device.srdma.algorithm=latency_norm --set device.srdma.control.enabled=true --set device.srdma.control.cost=2 \
  --set device.srdma.control.threshold=0.3 --set device.srdma.control.relaxed=0.2 \
  --set device.srdma.timing.control=20us | figures "
changed = collections.defaultdict(list)
for x in e:
    if x['event'] in ('add', 'remove'): changed[x['device']].append((x['t_ns'], x['event']))
senders = [changed[f'h{host}'] for host in range(4)]
for one in senders:
    high = count = 1
    for t, what in one:
        assert t > 1e6, one
        count += 1 if what == 'add' else -1
        high = max(high, count)
    assert high >= 3 and count == 2, one  # cost: 2 sessions
assert sum(what == 'remove' for one in senders for t, what in one if t < 4e6) <= 2, senders
for one in changed.values():
    times = [t for t, _ in one]
    assert all(b - a >= 40000 - 1 for a, b in zip(times, times[1:])), times
assert errors['cm_failed'] == 0, errors" || fail "CT-C7"

finish
