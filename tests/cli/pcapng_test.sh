# --trace pcapng: frames of network ports in the eyes of tshark, against what the run counts.
. "$(dirname "$0")/program.sh"

captures() { python3 "$(dirname "$0")/pcapng.py" "$@"; }
two="$FLITWISE_SOURCE_DIR/configs/examples/pio_two_devices.yaml"
short=(--set workload.requests=300 --quiet)

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

# Nothing to capture is said before anything runs, and leaves no file.
refuse 2 run "$config" "${small[@]}" --trace pcapng="$work/none.pcapng"
said "nothing to capture"
refuse 2 run "$FLITWISE_SOURCE_DIR/configs/checks/pio.yaml" --trace pcapng="$work/none.pcapng"
said "device.pio.egress.peer"
[[ ! -e $work/none.pcapng ]] || complain "an empty capture"

# A file that cannot be kept.
refuse 2 run "$two" "${short[@]}" --trace pcapng=/dev/full
said "/dev/full"
refuse 64 run "$two" "${short[@]}" --trace pcapng="$work/same" --trace packets="$work/same"
size=$(($(stat -c %s "$work/pio.pcapng") / 2048))
(ulimit -f "$size" && "$FLITWISE" run "$two" "${short[@]}" --trace pcapng="$work/full.pcapng" >"$work/out" 2>"$work/err"); seen=$?
[[ $seen == 2 ]] || complain "a full disk: exit code $seen"
said "$work/full.pcapng: "
[[ -z $(find "$work" -maxdepth 1 \( -name 'full.pcapng' -o -name '.flitwise-*' \)) ]] || complain "left: $(ls -A "$work")"

if ! command -v tshark >/dev/null && [[ $failures == 0 ]]; then
  echo "SKIPPED in part, MISSING: tshark. scripts/setup installs it"
  exit 77
fi
finish
