# Devices with RDMA adapters: closed forms of latency and goodput, all kinds of work requests, caches and memories that are
# too small, a report of who waits for whom.
. "$(dirname "$0")/program.sh"
rdma="$FLITWISE_SOURCE_DIR/configs/checks/rdma.yaml"

# The link above ep1 is far slower than the cable, and the memory for frames that wait there holds two.
cat >"$work/slow.yaml" <<Y
base: $rdma
system: {instances: {h1.rp0-ep1: {link.preset: gen1x1}}}
workload: {payload: 4KiB, buffer_size: 2MiB, requests: 100}
device: {rdma: {payload_ram: 8348B, port: {rate: 400Gb/s}}}
Y
python3 "$(dirname "$0")/rdma_device.py" "$FLITWISE" "$rdma" "$work/slow.yaml" || complain "times or rates are not those of the parts"

# Both ends name each other, work both ways, and all of it is checked; results are the same each time.
both="$FLITWISE_SOURCE_DIR/configs/examples/rdma_two_hosts.yaml"
expect 0 run "$both" --set workload.requests=400 --json
grep -v host_seconds "$work/out" >"$work/first"
printed '"name": "ep0: each work request completed once, in order"'
printed '"name": "ep1: what was written last to each place is in the memory of the peer"'
printed '"name": "ep1: messages that the peer sent were taken"'
expect 0 run "$both" --set workload.requests=400 --json
sed -i /host_seconds/d "$work/out"
cmp -s "$work/out" "$work/first" || complain "two runs of one seed differ"

# Incast: the port of the switch limits, and the key that says its rate is named.
expect 0 run "$FLITWISE_SOURCE_DIR/configs/examples/rdma_incast.yaml" --set workload.requests=100
printed "Limit: h1.rp0-ep1 down write: network.ep0 port 95 %, next ep1_hca port 24 %; try device.rdma.port.rate=200Gb/s"
grep -qE "^network\.ep4 +ep4 +8\.60 kB +100 +0 " "$work/out" || complain "the port of ep4 is not as expected: $(grep network.ep4 "$work/out")"

# A frame is dropped, and the timer that brings it again runs for longer than a run waits; or there is none: who waits for
# whom.
expect 0 run "$work/slow.yaml" --set device.rdma.timeout=16
expect 3 run "$work/slow.yaml" --set device.rdma.timeout=0
said "work requests wait for acknowledgement of"
said "ep0_hca: queue pair"
said "ep0_verbs: "
said "work requests without a completion, the oldest of queue pair"
finish
