# --trace pcapng: frames of network ports in the eyes of tshark and scapy, against what the run counts. [ROCE-1] [ROCE-4]
. "$(dirname "$0")/program.sh"

# The first python3 that has scapy: Debian's may stand behind another in the path.
python=""
for candidate in python3 /usr/bin/python3; do
  "$candidate" -c 'import scapy' 2>/dev/null && { python="$candidate"; break; }
done
missing=""
[[ -n $python ]] || missing+=" python3-scapy"
command -v tshark >/dev/null || missing+=" tshark"
captures() { python3 "$(dirname "$0")/pcapng.py" "$@"; }
two="$FLITWISE_SOURCE_DIR/configs/examples/pio_two_devices.yaml"
short=(--set workload.requests=300 --set trace.capture=ports --quiet)

# Blocks as they stand, with the counts and the wire of the run.
expect 0 run "$two" "${short[@]}" --json --trace pcapng="$work/pio.pcapng"
cp "$work/out" "$work/result.json"
captures pio "$work/pio.pcapng" "$work/result.json" || complain "the capture is not that of the run"
expect 0 run "$two" "${short[@]}" --json --trace pcapng="$work/again.pcapng" --trace packets="$work/links.csv"
cmp "$work/pio.pcapng" "$work/again.pcapng" || complain "another capture of the same run"
expect 0 run "$two" "${short[@]}" --json
cmp <(grep -v host_seconds "$work/out") <(grep -v host_seconds "$work/result.json") || complain "a capture changes results"

if command -v tshark >/dev/null; then
  tshark -r "$work/pio.pcapng" -T fields -e frame.interface_name -e frame.interface_description -e frame.packet_flags_direction \
    -e frame.packet_id -e frame.time_epoch -e frame.comment -e frame.len >"$work/tshark.tsv" 2>"$work/tshark.err" ||
    complain "tshark: $(head -c 300 "$work/tshark.err")"
  captures tshark "$work/pio.pcapng" "$work/tshark.tsv" || complain "tshark sees other packets"
fi

# RDMA: every kind of work request, in one packet and in several. Frames are RoCEv2 to the last byte.
rdma=(run "$FLITWISE_SOURCE_DIR/configs/checks/rdma.yaml" --json --set workload.requests=2500 --set workload.payload=300B
  --set workload.buffer_size=256KiB --set device.rdma.mtu=256 --set device.rdma.port.propagation=123ns --set trace.capture=ports)
for kind in write=2 read=2 send=2 fetch_add=1 cas=1; do rdma+=(--set "workload.rdma.$kind"); done
expect 0 "${rdma[@]}" --trace pcapng="$work/rdma.pcapng"
cp "$work/out" "$work/result.json"
captures rdma "$work/rdma.pcapng" "$work/result.json" || complain "the capture is not that of the run"
expect 0 "${rdma[@]}"
cmp <(grep -v host_seconds "$work/out") <(grep -v host_seconds "$work/result.json") || complain "a capture changes results"
expect 0 "${rdma[@]}" --trace pcapng="$work/again.pcapng"
cmp "$work/rdma.pcapng" "$work/again.pcapng" || complain "another capture of the same run"
expect 0 "${rdma[@]}" --seed 2 --trace pcapng="$work/other.pcapng"
if cmp -s "$work/rdma.pcapng" "$work/other.pcapng"; then complain "the same frames with another seed"; fi
if command -v tshark >/dev/null; then
  for capture in rdma other; do
    tshark -r "$work/$capture.pcapng" --disable-protocol rpcordma -T fields -e infiniband.bth.opcode -e infiniband.bth.destqp \
      -e infiniband.bth.psn -e _ws.malformed -e _ws.expert.message >"$work/tshark.tsv" 2>"$work/tshark.err" ||
      complain "tshark: $(head -c 300 "$work/tshark.err")"
    captures roce "$work/$capture.pcapng" "$work/tshark.tsv" || complain "tshark sees other frames"
  done
fi
if [[ -n $python ]]; then
  captures outbound "$work/rdma.pcapng" "$work/outbound.pcap" >"$work/count"
  "$python" "$(dirname "$0")/roce_frames.py" scapy "$work/outbound.pcap" "$(cat "$work/count")" || complain "scapy works out another ICRC"
fi

# A cable that loses, repeats, damages and reorders frames: both ends show what it did, and the run's checks hold.
for fault in loss duplication corruption reordering; do rdma+=(--set "device.rdma.cable.$fault=0.01"); done
expect 0 "${rdma[@]}" --set device.rdma.timeout=4 --trace pcapng="$work/cable.pcapng"
captures cable "$work/cable.pcapng" "$work/out" || complain "the cable did other things than the run counts"

# Five adapters on a switch, whose ports are captured as well.
incast=(run "$FLITWISE_SOURCE_DIR/configs/examples/rdma_incast.yaml" --json --set workload.requests=100 --set trace.capture=ports)
expect 0 "${incast[@]}" --trace pcapng="$work/network.pcapng"
captures network "$work/network.pcapng" "$work/out" || complain "the switch sent other frames than it took, or than the run counts"

# Nothing to capture is said before anything runs, and leaves no file.
refuse 2 run "$config" "${small[@]}" --set trace.capture=ports --trace pcapng="$work/none.pcapng"
said "nothing to capture"
refuse 2 run "$FLITWISE_SOURCE_DIR/configs/checks/pio.yaml" --set trace.capture=ports --trace pcapng="$work/none.pcapng"
said "device.pio.egress.peer"
[[ ! -e $work/none.pcapng ]] || complain "an empty capture"

# A file that cannot be kept.
refuse 2 run "$two" "${short[@]}" --trace pcapng=/dev/full
said "/dev/full"
# A network of packets notices it in mid-run.
refuse 2 run "$FLITWISE_SOURCE_DIR/configs/checks/srdma.yaml" --set workload.flows.bytes=1000000B --set trace.hosts=[0] --trace pcapng=/dev/full
said "flitwise: /dev/full"
refuse 64 run "$two" "${short[@]}" --trace pcapng="$work/same" --trace packets="$work/same"
size=$(($(stat -c %s "$work/pio.pcapng") / 2048))
(ulimit -f "$size" && "$FLITWISE" run "$two" "${short[@]}" --trace pcapng="$work/full.pcapng" >"$work/out" 2>"$work/err"); seen=$?
[[ $seen == 2 ]] || complain "a full disk: exit code $seen"
said "$work/full.pcapng: "
[[ -z $(find "$work" -maxdepth 1 \( -name 'full.pcapng' -o -name '.flitwise-*' \)) ]] || complain "left: $(ls -A "$work")"

if [[ -n $missing && $failures == 0 ]]; then
  echo "SKIPPED in part, MISSING:$missing. scripts/setup installs them"
  exit 77
fi
finish
