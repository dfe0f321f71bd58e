#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Session groups whose handshake takes time, on a network of packets: connections, control of sessions, keys, several
# queue pairs of a group, and captures.
. "$(dirname "$0")/program.sh"
fail() { complain "$*"; }

config=$FLITWISE_SOURCE_DIR/configs/checks/srdma.yaml
run() { "$FLITWISE" run "$config" --json --set device.srdma.connect=first_flow "$@" 2>"$work/err"; }
# figures PYTHON: of the result on stdin, `r`; flows are `f`, events of sessions `e`, errors by kind `errors`.
figures() { python3 -c "
import collections, json, sys
r = json.load(sys.stdin); f = r['network']['flows']; e = r['srdma_events']
errors = collections.Counter({one['kind']: one['count'] for one in r['errors']})
def times(event, **more):
    return [x['t_ns'] for x in e if x['event'] == event and all(x[k] == v for k, v in more.items())]
bad = [c for c in r['checks'] if not c['ok']]
assert not bad, bad
$1"; }
two=(--set network.topology=switch --set network.hosts=2 --set workload.flows.pattern=incast
  --set workload.flows.bytes=2000000B --set device.srdma.sessions=4)

# The first flow waits for CONNECT_REQ and its reply, 2 us of links each way; or the group connects before it. [HS-1]
run "${two[@]}" --set device.srdma.connect=standing | figures "
assert not e; print(f[0]['fct_ns'])" >"$work/standing" || fail "standing"
run "${two[@]}" | figures "
standing = $(cat "$work/standing")
assert 4000 < f[0]['fct_ns'] - standing < 4200, f[0]['fct_ns'] - standing
assert len(times('group_up')) == 2 and len(times('session_up')) == 8, e
assert {s['state'] for g in r['srdma'] for s in g['sessions']} == {'active'}" || fail "first_flow"
run "${two[@]}" --set device.srdma.connect=before | figures "
assert f[0]['start_ns'] == times('group_up', device='h1')[0] > 4000, f
assert abs(f[0]['fct_ns'] - $(cat "$work/standing")) < 200, f[0]['fct_ns']" || fail "before"

# What is lost is sent again each 100 us, so often and no more. [HS-4]
down=(--set network.fault.link=h0-switch --set network.timing.detect=100ms)
run "${two[@]}" "${down[@]}" --set network.fault.lasts=250us | figures "
assert errors['cm_resent'] == 3 and 304000 < times('group_up', device='h1')[0] < 305000, (errors, e)" ||
  fail "lost requests"
expect 3 run "$config" --set device.srdma.connect=first_flow "${two[@]}" "${down[@]}" --set device.srdma.cm_retries=2 \
  --set run.deadlock_after=1ms
said "h1 to h0: the queue pair has given up, as its handshake has failed: TIMEOUT"

# Both ends of all pairs ask at once, and have one group. [HS-6]
run --set network.topology=switch --set network.hosts=6 --set workload.flows.pattern=all_to_all \
  --set workload.flows.bytes=100000B --set device.srdma.sessions=4 | figures "
assert len(f) == 30 and len(times('group_up')) == 30 and len(times('connect')) == 30, e
assert len(times('session_up')) == 120, len(times('session_up'))" || fail "both ask at once"

# Another policy of weights, other receivers, losses of data and of control messages: all flows end, exactly once.
for how in receive=in_order receive=ddp congestion.kind=dcqcn_session secured=true cm_plain=true; do
  run --set device.srdma.$how --set workload.flows.bytes=500000B --set device.srdma.sessions=8 \
    --set network.switch.queue=96KiB --set device.srdma.timeout=5 | figures "
assert len(f) == 16" || fail "$how"
done

# ---- keys: a lifetime of 200 us; a new one is asked for 50 us before. [KY-1]
keys=(--set device.srdma.secured=true --set device.srdma.keys.lifetime=200us --set device.srdma.keys.refresh_margin=50us
  --set device.srdma.keys.grace=20us --set workload.flows.bytes=10000000B)
run "${two[@]}" --set device.srdma.secured=true --set workload.flows.bytes=10000000B | figures "
assert not times('refreshed'); print(f[0]['fct_ns'])" >"$work/long" || fail "no refresh"
# KY-C1: by hardware there is no gap; software stops each session from the request until it has the key in use.
run "${two[@]}" "${keys[@]}" | figures "
assert f[0]['fct_ns'] < 1.001 * $(cat "$work/long"), f[0]['fct_ns']
first = times('refreshing', device='h1', cause='refresh_margin')
assert len(first) >= 16 and abs(first[0] - times('session_up', device='h1')[0] - 150000) < 0.01, first
assert not times('session_expired') and not times('group_down') and errors['rx_bad_key'] == 0, e" || fail "KY-C1 hw"
sw=(--set device.srdma.keys.rekey_engine=sw --set device.srdma.keys.rekey_delay=20us)
run "${two[@]}" "${keys[@]}" "${sw[@]}" | figures "
gaps = [b - a for a, b in zip(times('group_down', device='h1'), times('group_back', device='h1'))]
assert len(gaps) >= 4 and all(24000 < gap < 25000 for gap in gaps), gaps
lost = f[0]['fct_ns'] - $(cat "$work/long")
assert 0.8 * sum(gaps) < lost < 1.3 * sum(gaps), (lost, gaps)" || fail "KY-C1 sw"

# KY-C2: nothing comes through until not_after: the session expires then, what it had on its way is sent again at once by
# others, without a time-out, and one in its place is asked for.
run "${two[@]}" "${keys[@]}" "${down[@]}" --set network.fault.at=100us --set network.fault.lasts=250us | figures "
up, expired = times('session_up', device='h1'), times('session_expired', device='h1')
assert len(expired) == 4 and all(abs(t - up[0] - 200000) < 0.001 for t in expired), (up, expired)
assert times('group_down', device='h1') == expired[:1], e
assert 400000 < times('group_back', device='h1')[0] < 420000 and len(up) == 5, e
assert errors['resent'] > 10 and errors['timeouts'] == 0 and len(f) == 1, errors" || fail "KY-C2"

# KY-C3: nothing comes through ever again: the group is down, its packets wait, and its queue pairs give up.
expect 3 run "$config" --set device.srdma.connect=first_flow "${two[@]}" "${keys[@]}" "${down[@]}" \
  --set network.fault.at=100us --set device.srdma.timing.down=300us --set run.deadlock_after=2ms \
  --set device.srdma.timeout=12
said "h1 to h0: the queue pair has given up, as its session group has no session"

# ---- control of sessions whose exchanges fail, or meet. Any queue at all is congestion here.
adding=(--set device.srdma.policy=lowest_weight --set device.srdma.control.enabled=true --set device.srdma.control.mode=any
  --set device.srdma.control.threshold=0 --set device.srdma.control.relaxed=0 --set device.srdma.congestion.kind=window_group
  --set device.srdma.sessions=4)
# Sessions that stand: both ends draw from four pairs of ports, and no two sessions of two hosts have the same. [SG-2]
run "${adding[@]}" --set device.srdma.connect=standing --set network.topology=switch --set network.hosts=4 --set device.srdma.sessions=1 \
  --set workload.flows.pattern=all_to_all --set workload.flows.bytes=2000000B --set device.srdma.first_port=50000 --set device.srdma.last_port=50001 |
  figures "
assert len(f) == 12, f
for g in r['srdma']:
    ports = [(s['src_port'], s['dst_port']) for s in g['sessions'] if s['state'] == 'active']
    assert 1 < len(ports) == len(set(ports)), ports" || fail "SG-2 of sessions that stand"
# CT-C8: the way of control messages is dead for a while, whichever of four it is. An add that fails makes control wait, twice
# as long each time; its ports are free again (nine pairs are all that there are), and flows go on by other ways.
lost_adds=0
for spine in 0 1 2 3; do
  run "${adding[@]}" --set network.hosts=4 --set network.leaf_spine.leaves=2 --set workload.flows.pattern=incast \
    --set workload.flows.bytes=8000000B --set device.srdma.cm_retries=1 --set device.srdma.timing.handshake=20us \
    --set device.srdma.first_port=50000 --set device.srdma.last_port=50002 --set device.srdma.max_sessions=6 \
    --set network.fault.link=leaf1-spine$spine --set network.fault.at=50us --set network.fault.lasts=1200us --set network.timing.detect=100ms --set device.srdma.timeout=5 | figures "
assert len(f) == 3, f
failed = 0
for host in ('h2', 'h3'):
    asked, ended = times('add', device=host), times('failed', device=host)
    assert all(x['cause'] == 'TIMEOUT' for x in e if x['event'] == 'failed' and x['device'] == host), e
    for i, end in enumerate(ended):
        again = [t for t in asked if t > end]
        assert not again or again[0] - end >= 50000 * 2**i, (host, i, end, again)
    failed += len(ended)
    assert len(ended) > 0 or len(times('session_up', device=host)) == 6, e
print(failed)" >"$work/failed" || fail "CT-C8 spine $spine"
  lost_adds=$((lost_adds + $(cat "$work/failed")))
done
((lost_adds >= 6)) || fail "CT-C8: $lost_adds adds have failed"
# CT-C10: both ends decide within the time of an exchange: two sessions, or one where only one fits, of the higher address.
printf 'time_ns,src,dst,bytes\n0,0,1,3000000\n0,1,0,3000000\n' >"$work/both.csv"
for most in 64 5; do
  run "${adding[@]}" --set network.topology=switch --set network.hosts=2 --set network.timing.hop=5us --set workload.flows.pattern=trace \
    --set workload.trace="$work/both.csv" --set device.srdma.timing.control=2us --set device.srdma.max_sessions=$most | figures "
adds = sorted(times('add', device=host)[0] for host in ('h0', 'h1'))
assert adds[1] - adds[0] < 20000, adds
for g in r['srdma']:
    ports = [(s['src_port'], s['dst_port']) for s in g['sessions']]
    assert len(set(ports)) == len(ports), ports
new = [{x['session'] for x in e if x['event'] == 'session_up' and x['device'] == host and x['t_ns'] > adds[0]} for host in ('h0', 'h1')]
assert new[0] == new[1] and len(new[0]) == 1 if $most == 5 else len(new[0] & new[1]) >= 2, new
if $most == 5: assert [x['device'] for x in e if x['cause'] == 'BUSY'] == ['h0'], e" || fail "CT-C10, $most at most"
done

# ---- several queue pairs of a group share its sessions, and each has its own order. [SG-C5]
printf 'time_ns,src,dst,bytes\n' >"$work/pairs.csv"
for i in $(seq 0 39); do printf '%d,0,1,%d\n' $((i * 2000)) $((50000 + i * 100)) >>"$work/pairs.csv"; done
for connect in standing first_flow; do
  run --set network.topology=switch --set network.hosts=2 --set workload.flows.pattern=trace \
    --set workload.trace="$work/pairs.csv" --set workload.flows.queue_pairs=4 --set device.srdma.sessions=4 \
    --set device.srdma.connect=$connect | figures "
assert len(f) == 40 and len(r['srdma']) == 1 and len(r['srdma'][0]['sessions']) == 4, r['srdma']
assert sum(s['packets'] for s in r['srdma'][0]['sessions']) >= 40 * 13
last = [0] * 4
for x in sorted(f, key=lambda x: x['id']):
    end = x['start_ns'] + x['fct_ns']
    assert end > last[x['id'] % 4], 'flows of one queue pair end in their order'
    last[x['id'] % 4] = end
assert $( [[ $connect == first_flow ]] && echo "len(times('session_up')) == 8" || echo True )" || fail "SG-C5 $connect"
done
# One that waits for nothing but room takes nothing from the others: the window is the group's.
run --set workload.flows.queue_pairs=3 --set workload.flows.pattern=sizes --set workload.sizes=google_rpc_2008 \
  --set workload.flows.count=3000 --set device.srdma.sessions=4 | figures "assert len(r['network']['times']) > 1" ||
  fail "queue pairs and sizes"

# RO-C10: two links to the peer, one of them 40 us longer. What one queue pair has ahead of its gaps fills its window and is
# dropped; the other queue pair of the group has room for its own, and its flows take what the longer link takes.
cat >"$work/two_links.yaml" <<Y
base: $config
network:
  topology: graph
  hosts: 2
  graph:
    switches: [s0, s1]
    edges: [{from: h0, to: s0}, {from: s0, to: s1}, {from: s0, to: s1, delay: 40us}, {from: s1, to: h1}]
Y
printf 'time_ns,src,dst,bytes\n0,0,1,4000000\n' >"$work/quota.csv"
for i in $(seq 1 20); do printf '%d,0,1,%d\n' $((i * 60000)) $((i % 2 == 0 ? 1 : 32768)) >>"$work/quota.csv"; done
"$FLITWISE" run "$work/two_links.yaml" --json --set workload.flows.pattern=trace --set workload.trace="$work/quota.csv" \
  --set workload.flows.queue_pairs=2 --set device.srdma.sessions=8 --set device.srdma.ooo_window=8 --set device.srdma.congestion.kind=none \
  --set device.srdma.timing.gap=300us 2>"$work/err" | figures "
assert errors['rx_ooo_overflow'] > 100, errors
own = [x for x in f if x['id'] % 2 == 1]
assert len(own) == 10 and all(40000 < x['fct_ns'] < 60000 for x in own), [x['fct_ns'] for x in own]" || fail "RO-C10"

# ---- plain RoCEv2: a source port for each queue pair, and flows that take all of them. [CC-9]
run "${two[@]}" --set device.srdma.connect=standing --set device.srdma.enabled=false --set device.srdma.congestion.kind=none \
  --set workload.flows.bytes=400001B --set workload.flows.queue_pairs=8 --set workload.flows.parts=8 | figures "
assert len(f) == 1 and f[0]['bytes'] == 400001 and f[0]['fct_ns'] >= 0.999 * f[0]['ideal_ns'], f
rows = [s for g in r['srdma'] if g['device'] == 'h1' for s in g['sessions']]
assert len(rows) == 8 and len({s['src_port'] for s in rows}) == 8 and {s['dst_port'] for s in rows} == {4791}, rows
assert [s['packets'] for s in rows] == [13] * 8, rows" || fail "queue pairs of plain RoCEv2"

# ---- captures of chosen hosts: headers of packets as bytes, which a stranger reads; results do not change. [OB-1]
seen=("${two[@]}" --set workload.flows.bytes=100000B --set device.srdma.cm_plain=true)
run "${seen[@]}" >"$work/plain.json"
run "${seen[@]}" --set trace.hosts=[1] --trace pcapng="$work/h1.pcapng" >"$work/result.json"
cmp <(grep -v host_seconds "$work/plain.json") <(grep -v host_seconds "$work/result.json") || fail "a capture changes results"
run "${seen[@]}" --set trace.hosts=[1] --trace pcapng="$work/again.pcapng" >"$work/result.json"
cmp "$work/h1.pcapng" "$work/again.pcapng" || fail "another capture of the same run"
dissect() {  # CAPTURE FIELDS...: a line a packet
  tshark -r "$1" -d udp.port==49152-65535,infiniband --disable-protocol rpcordma -o ip.check_checksum:TRUE -T fields \
    "${@:2}" 2>"$work/tshark.err"
}
if command -v tshark >/dev/null; then
  fields=(-e frame.interface_name -e frame.packet_flags_direction -e infiniband.bth.opcode -e infiniband.bth.psn -e frame.len
    -e frame.cap_len -e frame.comment -e ip.checksum.status -e frame.time_epoch)
  dissect "$work/h1.pcapng" "${fields[@]}" >"$work/tshark.tsv" || fail "tshark: $(head -c 300 "$work/tshark.err")"
  python3 - "$work/tshark.tsv" "$work/result.json" <<'P' || fail "tshark sees other packets"
import collections, json, sys
rows = [line.rstrip("\n").split("\t") for line in open(sys.argv[1])]
result = json.load(open(sys.argv[2]))
kinds = collections.Counter((row[1][-1], int(row[2])) for row in rows)
# CONNECT_REQ and READY leave, the reply comes; FIRST, 23 MIDDLE and LAST leave; their ACKs come.
assert kinds["2", 100] == 2 and kinds["1", 100] == 1, kinds
assert [kinds["2", opcode] for opcode in (6, 7, 8)] == [1, 23, 1] and kinds["1", 17] >= 4, kinds
sent = sum(s["packets"] for g in result["srdma"] for s in g["sessions"] if g["device"] == "h1")
assert sent == 25, sent
for name, way, opcode, psn, length, captured, comment, checksum, time in rows:
    assert name == "h1" and checksum == "1", (name, checksum)
    has_payload = int(opcode) in (6, 7, 8)
    assert int(captured) == {6: 70, 7: 54, 8: 54}.get(int(opcode), int(length)), (opcode, captured, length)
    assert not has_payload or int(length) - int(captured) >= 100000 % 4096, (length, captured)
    exact, unit = comment.split()
    assert unit == "ps" and int(float(exact)) // 1000 == round(float(time) * 1e9), (comment, time)
psns = [int(row[3]) for row in rows if row[2] in "678"]
assert all((b - a) % 2**24 == 1 for a, b in zip(psns, psns[1:])), psns
P
  # What is secured ends behind UDP; background has no BTH; lengths are those of the frames.
  run "${seen[@]}" --set device.srdma.secured=true --set device.srdma.cm_plain=false --set network.background.kind=cbr \
    --trace pcapng="$work/secured.pcapng" >"$work/result.json"
  dissect "$work/secured.pcapng" -e frame.interface_name -e frame.cap_len -e frame.len -e udp.length -e ip.checksum.status |
    awk '$2 != 42 || $3 != $4 + 34 || $5 != 1 || $1 !~ /^h[01]$/ {bad = 1} {n++} END {exit bad || n < 100}' ||
    fail "a capture of secured packets"
fi
refuse 2 run "$config" --set trace.hosts=[3,16] --trace pcapng="$work/none.pcapng"
said "host 16 of 16; expected numbers below that"

finish
