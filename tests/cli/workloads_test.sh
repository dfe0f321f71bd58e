# What a workload asks of a machine that does not have it is known before anything runs: exit code 2, and the place.
. "$(dirname "$0")/program.sh"

# trace FILE LINES...: a trace and a config that replays it; sets $traced.
trace() {
  local name="$1"
  shift
  { echo time_ns,domain,op,address,bytes && printf '%s\n' "$@"; } >"$work/$name.csv"
  traced="$work/$name.yaml"
  printf 'base: %s\nworkload: {kind: trace, trace: %s.csv}\nrun: {warmup: 0}\n' "$config" "$name" >"$traced"
}

trace inside 0,0,write,0x3fffffff0,16
expect 0 check "$traced"
expect 0 run "$traced" --quiet
trace beyond 0,0,write,0x400000000,64 10,0,read,0x3fffffff0,17
for command in check run; do
  refuse 2 "$command" "$traced"
  said "beyond.csv:2:11: address is '0x400000000'; expected an address in host memory, 0x0 to 0x3ffffffff (host.memory.size is 16GiB)"
  said "beyond.csv:3:23: bytes is '17'; expected an end in host memory"
done
expect 0 run "$traced" --quiet --set host.memory.size=32GiB

trace many $(for i in {1..60}; do echo "$i,0,write,0x400000000,64"; done)
refuse 2 run "$traced"
[[ $(grep -c "expected an address" "$work/err") == 50 ]] || complain "not 50 problems of 60 are told"
said "many.csv: and 10 more"

# A peer below the same switch has BARs; whether one is at the address is known when software has placed them.
trace bar 0,0,write,0x10000000000,64
refuse 2 check "$traced"
said "expected an address in host memory"
expect 0 run "$FLITWISE_SOURCE_DIR/configs/examples/peer_to_peer.yaml" --quiet

# Each domain has a Domain ID of the translation agent, of 16 bits.
domains=(--set workload.buffer_size=4KiB --set workload.domains=65536 --set link.identity=bdf_pasid)
expect 0 run "$config" "${small[@]}" "${domains[@]}" --quiet
refuse 2 run "$config" "${small[@]}" "${domains[@]}" --set iommu.translation=first_stage
said "--set iommu.translation=first_stage: translation for 65536 domains of ep0"
said "expected workload.domains up to 65535"

# Functions that carry the workload are there.
printf 'base: %s\nsystem:\n  devices: 2\n  instances:\n    ep1: {workload.functions: [1, 9]}\ndevice: {functions: {count: 4}}\nworkload: {functions: vfs, domains: 8}\n' "$config" >"$work/functions.yaml"
refuse 2 check "$work/functions.yaml"
said "functions.yaml:5:31: "
said "function 9 of a device that has 4; expected device.functions.count of at least 10"
sed -i 's/9/3/' "$work/functions.yaml"
expect 0 run "$work/functions.yaml" "${small[@]}" --quiet
# A trace that is changed while it is replayed is bad input. The run waits for who reads its packets.
trace changed $(for i in {1..20000}; do echo "$((i * 100)),0,write,0x1000,64"; done)
mkfifo "$work/packets"
timeout 60 "$FLITWISE" run "$traced" --quiet --trace packets="$work/packets" >"$work/out" 2>"$work/err" &
running=$!
timeout 60 python3 - "$work/packets" "$work/changed.csv" <<'P'
import sys
packets = open(sys.argv[1], "rb", 0)
packets.read(1)
open(sys.argv[2], "r+").truncate(100)
while packets.read(65536):
    pass
P
seen=0
wait "$running" || seen=$?
[[ $seen == 2 ]] || complain "a trace that has changed: exit code $seen: $(head -c 300 "$work/err")"
said "the file changed after it was checked"
[[ $(wc -l <"$work/err") == 1 ]] || complain "more than one line on a trace that has changed: $(cat "$work/err")"
finish
